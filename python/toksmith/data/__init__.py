"""Folders of training data: `toksmith.tokenize` writes them, `open` reads them.

- Writing: `tokenize`, its `options`, the `folder` of a run, `repair`, `progress`, `table_texts`.
- Reading: `dataset`, with windows in the order of a `permutation`, and `rows` of whole documents; the `order` in
  which processes share them; `checking` against the manifest.
- `packing`: which documents share a row.
- Both: the `manifest`, and `shards` in their formats.

NumPy is imported when a folder is opened, and pyarrow if its shards are Parquet files; nothing else is needed.
"""

from .checking import differences
from .dataset import Documents, TrainingData, Windows, open
from .packing import pack
from .permutation import Permutation

__all__ = ["Documents", "Permutation", "TrainingData", "Windows", "differences", "open", "pack"]
