"""Reading folders of training data, which `toksmith tokenize` writes: ids, documents, windows for a training loop.

NumPy is imported when a folder is opened, and pyarrow if its shards are Parquet files; nothing else is needed.
"""

from __future__ import annotations

from .checking import differences
from .dataset import Documents, TrainingData, open
from .windows import Permutation, Windows

__all__ = ["Documents", "Permutation", "TrainingData", "Windows", "differences", "open"]
