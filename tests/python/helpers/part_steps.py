"""Parts of a `tokenizer.json`, run by toksmith alone."""

import json
from typing import Any

from toksmith import _core


def steps_of(**parts: Any) -> _core.Pipeline:
    """Return the steps of parts, each as the file has it."""
    return _core.Pipeline(json.dumps(parts))
