"""tiktoken's module `model`."""

from ...published.models import MODEL_PREFIX_TO_ENCODING as MODEL_PREFIX_TO_ENCODING
from ...published.models import MODEL_TO_ENCODING as MODEL_TO_ENCODING
from ...published.models import encoding_name_for_model as encoding_name_for_model
from ...tiktoken.encoding import Encoding as Encoding
from ...tiktoken.registry import encoding_for_model as encoding_for_model
from ...tiktoken.registry import get_encoding as get_encoding
