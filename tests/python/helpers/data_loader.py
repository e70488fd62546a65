"""A worker of PyTorch's `DataLoader`, as far as it meets a data set; a process of its own imports nothing else."""

from typing import Any

import numpy as np


class Fetcher:
    """What a worker of PyTorch's `DataLoader` does with a map-style data set (torch/utils/data/_utils/fetch.py)."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def fetch(self, indices: list[int]) -> Any:
        if hasattr(self.dataset, "__getitems__") and self.dataset.__getitems__:
            samples = self.dataset.__getitems__(indices)
        else:
            samples = [self.dataset[index] for index in indices]
        assert all(sample.flags.writeable for sample in samples)  # torch.from_numpy warns of others
        return np.stack(samples)  # default_collate of arrays


def work(dataset: Any, batches: list[list[int]]) -> list[Any]:
    return [Fetcher(dataset).fetch(batch) for batch in batches]
