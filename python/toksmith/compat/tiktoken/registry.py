"""tiktoken's module `registry`."""

from ...tiktoken import registry as _registry
from ...tiktoken.encoding import Encoding as Encoding
from ...tiktoken.registry import ENCODINGS as ENCODINGS
from ...tiktoken.registry import get_encoding as get_encoding
from ...tiktoken.registry import list_encoding_names as list_encoding_names


def __getattr__(name: str) -> object:
    """Return a name whose value is replaced when the plug-ins are found."""
    if name == "ENCODING_CONSTRUCTORS":
        return _registry.ENCODING_CONSTRUCTORS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
