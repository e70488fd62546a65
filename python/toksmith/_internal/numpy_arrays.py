"""Makes NumPy ready for the core: imported by the core before its first array."""

import numpy  # noqa: F401

from .._core import make_first_arrays

make_first_arrays()
