"""Functions that a process of an engine keeps, so that it makes a tokenizer once, and not for each batch."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from typing import Any

_KEPT: dict[str, KeptFunction] = {}
"""The functions of this process by the digest of their pickles, the most recently used one at the end."""
_MAX_KEPT = 8
"""Functions that a process keeps; each may hold a tokenizer of some ten megabytes."""


class KeptFunction:
    """Calls a function. Unpickled in another process, it uses the equal function that the process made before."""

    __slots__ = ("_data", "_digest", "_function")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._data = pickle.dumps(function)
        self._digest = hashlib.sha256(self._data).hexdigest()

    def __call__(self, *arguments: Any) -> Any:
        """Return what the function returns."""
        return self._function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return _kept, (self._digest, self._data)


def _kept(digest: str, data: bytes) -> KeptFunction:
    """Return the function of a pickle that this process keeps."""
    function = _KEPT.pop(digest, None) or KeptFunction(pickle.loads(data))
    _KEPT[digest] = function
    while len(_KEPT) > _MAX_KEPT:
        _KEPT.pop(next(iter(_KEPT)), None)
    return function
