"""Cases of which a few run on every change."""

from collections.abc import Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], count: int) -> list[Any]:
    """Return parameters of a test, of which `make test` runs the first `count`, and `make test-long` the others."""
    return [
        pytest.param(value, marks=() if number < count else pytest.mark.long) for number, value in enumerate(values)
    ]
