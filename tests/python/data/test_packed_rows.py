"""Rows of whole documents: every id once, in the rows of `pack`, the same for every process."""

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training_folder import write_folder

import toksmith
from toksmith.data import TrainingData, pack
from toksmith.data import rows as rows_module

BORDERS = [0, 1, 1, 7, 50, 99, 100, 250, 333, 400, 512, 513, 800, 1003]
DOCUMENTS = [list(range(a, b)) for a, b in itertools.pairwise(BORDERS)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    folder = tmp_path_factory.mktemp("rows")
    write_folder(folder, {"train": DOCUMENTS}, shard_size=100)
    return toksmith.data.open(folder)


@pytest.mark.parametrize("length", [1, 7, 64, 200, 5000])
@pytest.mark.parametrize("long", ["split", "truncate", "drop"])
def test_rows_are_those_of_the_rule(length: int, long: Any, data: TrainingData) -> None:
    parts, starts = pack([len(document) for document in DOCUMENTS], length, long=long)
    rows = data.rows(length, long=long, dtype="int32")
    assert len(rows) == len(starts) - 1
    for row, (start, end) in zip(rows, itertools.pairwise(starts.tolist()), strict=True):
        expected = [DOCUMENTS[document][first:last] for document, first, last in parts[start:end].tolist()]
        assert row.ids.tolist() == [id for part in expected for id in part]
        assert row.ids.dtype == np.int32
        assert row.positions.tolist() == [place for part in expected for place in range(len(part))]
        assert row.cu_seqlens.tolist() == [0, *itertools.accumulate(map(len, expected))]
        assert row.cu_seqlens.dtype == np.int32
        assert row.documents.tolist() == parts[start:end, 0].tolist()
    used = sum(len(row.ids) for row in rows)
    assert rows.padding == pytest.approx(1 - used / (len(rows) * length))
    if long == "split":
        assert sorted(id for row in rows for id in row.ids.tolist()) == list(range(1003))


def test_ranks_share_the_rows(data: TrainingData) -> None:
    whole = [row.ids.tolist() for row in data.rows(20, seed=3, epoch=1)]
    assert whole == [row.ids.tolist() for row in pickle.loads(pickle.dumps(data.rows(20, seed=3, epoch=1)))]
    assert whole != [row.ids.tolist() for row in data.rows(20, seed=3, epoch=2)]
    assert sorted(whole) == sorted(row.ids.tolist() for row in data.rows(20))
    shares = [data.rows(20, seed=3, epoch=1, rank=rank, ranks=3) for rank in range(3)]
    assert [share[0].ids.tolist() for share in shares] == whole[:3]
    assert {len(share) for share in shares} == {len(whole) // 3}
    assert "rank 1 of 3" in repr(shares[1])
    assert shares[0][-1].ids.tolist() == whole[(len(whole) // 3 - 1) * 3]
    with pytest.raises(IndexError, match="there is no row"):
        shares[0][len(whole)]


def test_what_is_refused(data: TrainingData, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 rows: too few for 2 ranks"):
        data.rows(5000, ranks=2)
    with pytest.raises(ValueError, match="cannot hold ids"):
        data.rows(5, dtype="int8")
    with pytest.raises(ValueError, match="rank is 3"):
        data.rows(5, rank=3, ranks=2)
    write_folder(tmp_path / "empty", {"train": [[]]}, shard_size=100)
    with pytest.raises(ValueError, match="0 rows: too few for 1 ranks"):
        toksmith.data.open(tmp_path / "empty").rows(5)


@pytest.mark.parametrize("group", [1, 2, 3, 5, 12, 13, 100])
def test_groups_are_packed_apart(group: int, data: TrainingData, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are those of each group of documents, and a seed shuffles groups, and the rows in each."""
    monkeypatch.setattr(rows_module, "_GROUP", group)
    expected = []
    for first in range(0, len(DOCUMENTS), group):
        parts, starts = pack([len(document) for document in DOCUMENTS[first : first + group]], 64)
        expected.append([(parts[a:b, 0] + first).tolist() for a, b in itertools.pairwise(starts.tolist())])
    rows = data.rows(64)
    assert [row.documents.tolist() for row in rows] == [row for of_group in expected for row in of_group]
    assert sorted(id for row in rows for id in row.ids.tolist()) == list(range(1003))
    shuffled = [row.documents.tolist() for row in data.rows(64, seed=2)]
    assert shuffled == [row.documents.tolist() for row in pickle.loads(pickle.dumps(data.rows(64, seed=2)))]
    assert sorted(shuffled) == sorted(row for of_group in expected for row in of_group)
    of_groups = [documents[0] // group for documents in shuffled]
    assert len([*itertools.groupby(of_groups)]) == len(set(of_groups))
    if len(expected) > 3:
        assert of_groups != sorted(of_groups)


@pytest.mark.parametrize("group_ids", [1, 100, 1 << 20])
@pytest.mark.parametrize("is_masked", [False, True])
def test_a_packed_file_has_the_rows(
    group_ids: int, is_masked: bool, data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(rows_module, "ROW_GROUP_IDS", group_ids)
    if is_masked:
        monkeypatch.setattr(TrainingData, "has_mask", True)
        monkeypatch.setattr(TrainingData, "read_mask", lambda _, start, stop: np.arange(start, stop) % 3 == 0)
    rows = data.rows(64, seed=5)
    rows.to_parquet(tmp_path / "packed.parquet")
    expected = []
    for row in rows:
        starts = row.cu_seqlens.tolist()[:-1]
        labels = [
            -100 if place in starts or (is_masked and id % 3) else id for place, id in enumerate(row.ids.tolist())
        ]
        lengths = [end - start for start, end in itertools.pairwise(row.cu_seqlens.tolist())]
        expected.append({"input_ids": row.ids.tolist(), "labels": labels, "seq_lengths": lengths})
    file = parquet.ParquetFile(tmp_path / "packed.parquet")
    assert file.read().to_pylist() == expected
    assert {str(column.type) for column in file.schema_arrow} == {"list<element: int32>"}
    with pytest.raises(FileNotFoundError, match="missing"):
        rows.to_parquet(tmp_path / "missing/packed.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["packed.parquet"]
