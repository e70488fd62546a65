"""tiktoken's module `core`."""

from .checks import raise_disallowed_special_token as raise_disallowed_special_token
from .encoding import Encoding as Encoding
