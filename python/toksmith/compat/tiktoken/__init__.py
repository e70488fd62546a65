"""A stand-in for tiktoken: a program changes only its import, to `import toksmith.compat.tiktoken as tiktoken`.

It has the names of tiktoken 0.14, including its modules `core`, `load`, `model`, `registry` and `_educational`, with
the same ids, errors and rules for special tokens. Rank files in tiktoken's cache folder are found.

Other people's programs import it as `tiktoken` after `install()`.
"""

from .. import aliases as _aliases
from . import _educational as _educational
from . import _tiktoken as _tiktoken
from . import core as core
from . import load as load
from . import model as model
from . import registry as registry
from .core import Encoding as Encoding
from .model import encoding_for_model as encoding_for_model
from .model import encoding_name_for_model as encoding_name_for_model
from .registry import get_encoding as get_encoding
from .registry import list_encoding_names as list_encoding_names


def install() -> _aliases.Installation:
    """Make `import tiktoken` import this module, until `uninstall` of the result, or the end of a `with` block.

    Call it before any module imports tiktoken: a module that has imported tiktoken keeps it.

    >>> with install():
    ...     from tiktoken.load import load_tiktoken_bpe
    >>> load_tiktoken_bpe.__module__
    'toksmith.compat.tiktoken.load'
    """
    return _aliases.Installation("tiktoken")


__version__ = "0.14.0"
"""The version of tiktoken that this package replaces, for programs that read it."""
