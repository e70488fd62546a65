"""tiktoken's module `core`."""

from ...tiktoken.checks import raise_disallowed_special_token as raise_disallowed_special_token
from ...tiktoken.encoding import Encoding as Encoding
