"""A stand-in for tiktoken: `import toksmith.compat.tiktoken as tiktoken` is all that a program changes.

It has what tiktoken 0.14 has under these names, its modules `core`, `load`, `model` and `registry` included, with the
same ids, errors and rules for special tokens. Rank files in tiktoken's cache folder are found.
"""

from ...tiktoken import registry as _registry
from . import core as core
from . import load as load
from . import model as model
from . import registry as registry
from .core import Encoding as Encoding
from .model import encoding_for_model as encoding_for_model
from .model import encoding_name_for_model as encoding_name_for_model
from .registry import get_encoding as get_encoding
from .registry import list_encoding_names as list_encoding_names

__version__ = _registry.TIKTOKEN_VERSION
"""The version of tiktoken that this stands in for, for programs that ask."""
