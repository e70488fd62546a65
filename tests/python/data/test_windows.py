"""Windows for training loops: their order is a bijection, the same everywhere, and ranks share it without overlap."""

import itertools
import math
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections import Counter
from typing import Any

import numpy as np
import pytest
from data_loader import work
from hypothesis import given
from hypothesis import strategies as st
from training_folder import write_folder

import toksmith
from toksmith.data import Permutation, TrainingData, Windows

TOTAL = 1003


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    """The ids 0 to 1002, in documents of all lengths and shards of about 100 ids."""
    folder = tmp_path_factory.mktemp("windows")
    borders = [0, 1, 1, 7, 50, 99, 100, 250, 333, 400, 512, 513, 800, TOTAL]
    documents = [list(range(a, b)) for a, b in itertools.pairwise(borders)]
    write_folder(folder, {"train": documents}, shard_size=100)
    return toksmith.data.open(folder)


# The permutation


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 7, 16, 17, 99, 100, 101, 1000])
def test_it_is_a_bijection(size: int) -> None:
    for seed in range(20):
        order = Permutation(size, seed)
        found = [order[i] for i in range(size)]
        assert sorted(found) == list(range(size))
        assert order.many(np.arange(size)).tolist() == found


@given(st.integers(1, 3000), st.integers(-(2**70), 2**70))
def test_any_size_and_seed_is_a_bijection(size: int, seed: int) -> None:
    assert np.array_equal(np.sort(Permutation(size, seed).many(np.arange(size))), np.arange(size))


@pytest.mark.parametrize("size", [2**31 + 11, 10**12, 2**53 + 1, 2**62])
def test_large_sizes(size: int) -> None:
    """No two of many places share a number, and both ways of asking agree."""
    order = Permutation(size, 1, 2)
    far = np.geomspace(1, size // 2, 1000).astype(np.int64)
    places = np.unique(np.concatenate([np.arange(50_000), size - 1 - np.arange(50_000), far]))
    numbers = order.many(places)
    assert len(np.unique(numbers)) == len(places)
    assert numbers.min() >= 0
    assert numbers.max() < size
    some = [*range(200), *(size - 1 - np.arange(200)).tolist()]
    assert order.many(np.array(some)).tolist() == [order[i] for i in some]


def test_all_orders_of_four_come_up_about_equally_often() -> None:
    seeds = 4800
    found = Counter(tuple(Permutation(4, seed)[i] for i in range(4)) for seed in range(seeds))
    assert len(found) == math.factorial(4)
    expected = seeds / 24
    assert sum((count - expected) ** 2 / expected for count in found.values()) < 60


def test_neighbours_end_up_far_apart() -> None:
    """Their mean distance is that of two random places, a third; each tenth gets a tenth of each tenth."""
    numbers = Permutation(100_000, 9).many(np.arange(100_000))
    assert abs(np.abs(np.diff(numbers)).mean() / 100_000 - 1 / 3) < 0.005
    table = np.histogram2d(np.arange(100_000), numbers, bins=10)[0]
    assert np.abs(table - 1000).max() < 160  # five standard deviations


def test_it_is_the_same_in_every_version() -> None:
    """These orders are promised: a training that is resumed with a later toksmith must go on in the same order."""
    assert [Permutation(10, 7)[i] for i in range(10)] == [6, 9, 0, 7, 3, 5, 1, 8, 4, 2]
    assert [Permutation(10**12, 1, 2)[i] for i in range(3)] == [156581829699, 713276054965, 680373264754]


def test_places_that_are_not_there() -> None:
    for wrong in (-1, 10):
        with pytest.raises(IndexError, match=f"place {wrong} of 10"):
            Permutation(10, 1)[wrong]
    with pytest.raises(ValueError, match=r"size is between 0 and 2\^62"):
        Permutation(-1, 1)


# Windows in order


@pytest.mark.parametrize("length", [1, 2, 8, 99, 100, 101, 500, 1002])
@pytest.mark.parametrize("targets", [False, True])
@pytest.mark.parametrize("stride", [None, 1, 3, 2000])
def test_windows_in_order(length: int, targets: bool, stride: int | None, data: TrainingData) -> None:
    size, step = length + targets, stride or length
    expected = [list(range(start, start + size)) for start in range(0, TOTAL - size + 1, step)]
    windows = data.windows(length, targets=targets, stride=stride)
    assert len(windows) == len(expected)
    assert [window.tolist() for window in windows] == expected
    assert [window.tolist() for window in windows.__getitems__(range(len(windows)))] == expected
    assert windows[-1].tolist() == expected[-1]


def test_each_id_is_a_target_once(data: TrainingData) -> None:
    targets = [window[1:].tolist() for window in data.windows(8, targets=True, seed=1)]
    assert sorted(itertools.chain(*targets)) == list(range(1, 1001))


def test_arrays_are_new_and_of_the_type_that_was_asked_for(data: TrainingData) -> None:
    assert data.windows(8)[0].dtype == np.int64
    for dtype in ("int32", "uint16", np.uint32, np.dtype("int64")):
        windows = data.windows(8, dtype=dtype)
        for window in (windows[0], *windows.__getitems__([0, 1])):
            assert window.dtype == dtype
            window[:] = 0
        assert windows[0].tolist() == list(range(8))
    for wrong in ("int16", "float32", "uint8"):
        with pytest.raises(ValueError, match="cannot hold ids of uint16"):
            data.windows(8, dtype=wrong)


# Windows in a seeded order


def order_of(windows: Windows) -> list[int]:
    return [int(window[0]) for window in windows]


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_ranks_share_all_windows(ranks: int, data: TrainingData) -> None:
    for seed in (None, 0, 1, -5, 2**80):
        whole = order_of(data.windows(9, seed=seed))
        shares = [order_of(data.windows(9, seed=seed, rank=rank, ranks=ranks)) for rank in range(ranks)]
        assert {len(share) for share in shares} == {len(whole) // ranks}
        assert [one for step in zip(*shares, strict=True) for one in step] == whole[: len(whole) // ranks * ranks]
        assert sorted(whole) == list(range(0, TOTAL - 8, 9))


def test_seeds_and_epochs_are_other_orders(data: TrainingData) -> None:
    orders = [order_of(data.windows(4, seed=seed, epoch=epoch)) for seed in (1, 2, 12) for epoch in (0, 1, 2)]
    assert len({tuple(order) for order in orders}) == len(orders)
    assert order_of(data.windows(4, epoch=3)) == sorted(orders[0])


def test_another_process_has_the_same_order(data: TrainingData) -> None:
    code = f"""import toksmith
windows = toksmith.data.open({str(data.folder)!r}).windows(4, seed=11, epoch=2)
print([int(window[0]) for window in windows])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(order_of(data.windows(4, seed=11, epoch=2)))


def test_no_memory_for_each_window(data: TrainingData, monkeypatch: pytest.MonkeyPatch) -> None:
    """A split of a billion ids has its order at once."""
    monkeypatch.setattr(TrainingData, "__len__", lambda _: 10**15)
    windows = data.windows(1, seed=3)
    assert len(windows) == 10**15
    assert len({windows.start(i) for i in range(1000)}) == 1000


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"length": 0}, "length is at least 1, not 0"),
        ({"length": 4, "stride": 0}, "stride is at least 1"),
        ({"length": 4, "ranks": 0}, "ranks is at least 1"),
        ({"length": 4, "rank": -1}, "rank is at least 0"),
        ({"length": 4, "rank": 2, "ranks": 2}, "rank is 2, and ranks are numbered from 0 to 1"),
        ({"length": 4, "epoch": -1}, "epoch is at least 0"),
        ({"length": 1004}, "has 1,003 ids, which are 0 windows of 1,004 ids: too few for 1 ranks"),
        ({"length": 1003, "targets": True}, "0 windows of 1,004 ids"),
        ({"length": 500, "ranks": 3}, "2 windows of 500 ids: too few for 3 ranks"),
    ],
)
def test_windows_that_make_no_sense(options: dict[str, Any], expected: str, data: TrainingData) -> None:
    with pytest.raises(ValueError, match=expected):
        data.windows(**options)


def test_indices_that_are_not_there(data: TrainingData) -> None:
    windows = data.windows(100, seed=1)
    for wrong in (10, -11):
        with pytest.raises(IndexError, match=f"no window {wrong}: there are 10"):
            windows[wrong]
        with pytest.raises(IndexError, match=f"no window {wrong}: there are 10"):
            windows.__getitems__([0, wrong])
    with pytest.raises(TypeError):
        windows[1.0]  # type: ignore[index]
    assert windows[np.int64(3)].tolist() == windows[3].tolist()
    assert windows.__getitems__([]) == []


# In the loops of others


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader(method: str, data: TrainingData) -> None:
    windows = data.windows(8, targets=True, seed=4)
    windows[0]  # files are open before the workers start
    batches = [list(range(start, min(start + 16, len(windows)))) for start in range(0, len(windows), 16)]
    count = 2 if method == "fork" else 1  # an interpreter takes long to start
    with multiprocessing.get_context(method).Pool(count) as pool:
        shares = pool.starmap(work, [(windows, batches[number::2]) for number in range(2)])
    found = [batch for step in itertools.zip_longest(*shares) for batch in step if batch is not None]
    assert np.concatenate(found).tolist() == [window.tolist() for window in windows]


def test_a_source_of_grain(data: TrainingData) -> None:
    """Of a source grain takes `__len__`, `__getitem__` from threads, and a `repr` that tells it apart."""
    windows = data.windows(8, seed=4)
    assert repr(pickle.loads(pickle.dumps(windows))) == repr(windows)
    assert repr(windows) != repr(data.windows(8, seed=5))
    found: dict[int, list[int]] = {}

    def read(numbers: range) -> None:
        for number in numbers:
            found[number] = windows[number].tolist()

    threads = [threading.Thread(target=read, args=(range(number, len(windows), 4),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(len(windows))] == [window.tolist() for window in windows]
