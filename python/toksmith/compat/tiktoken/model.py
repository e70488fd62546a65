"""tiktoken's module `model`."""

from ...formats.published.encodings import MODEL_PREFIX_TO_ENCODING as MODEL_PREFIX_TO_ENCODING
from ...formats.published.encodings import MODEL_TO_ENCODING as MODEL_TO_ENCODING
from ...formats.published.encodings import encoding_name_for_model as encoding_name_for_model
from .core import Encoding as Encoding
from .registry import encoding_for_model as encoding_for_model
from .registry import get_encoding as get_encoding
