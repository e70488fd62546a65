"""tiktoken's module `core`."""

from ...encoding import Encoding as Encoding
from ...encoding_checks import raise_disallowed_special_token as raise_disallowed_special_token
