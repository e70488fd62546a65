"""Counting and encoding in parts: the sum over any parts is that of the whole, and so is the tokenizer."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Soup

from toksmith import PretokenCounts, Tokenizer, count_pretokens, engines, train
from toksmith.engines import engine
from toksmith.training import counting

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

from parts_engine import PartsEngine  # noqa: E402

END = "<|end|>"
TIES: Any = ("bytes", "ids", "smallest_ids", "huggingface")


@pytest.fixture(scope="module")
def texts(soup: Soup) -> list[str | None]:
    rng = random.Random(11)
    made: list[str | None] = [soup(rng, rng.randrange(120)) for _ in range(150)]
    # Words that hardly come twice, for tables to overflow.
    made += [" ".join("".join(rng.choices("etaoinsh", k=6)) for _ in range(500)) for _ in range(40)]
    rng.shuffle(made)
    return [*made, None, "", f"a{END}b", "x" * 5000, None]


@pytest.fixture(scope="module")
def whole(texts: list[str | None]) -> PretokenCounts:
    return count_pretokens(iter([text for text in texts if text is not None]), special_tokens=[END])


def parts(texts: list[str | None], count: int, kind: Any = None) -> list[Any]:
    """Tables of texts, beside another column; some parts have none."""
    rng = random.Random(count)
    cuts = [0, *sorted(rng.randrange(len(texts) + 1) for _ in range(count - 1)), len(texts)]
    spans = [texts[start:end] for start, end in itertools.pairwise(cuts)]
    return [pa.table({"n": range(len(own)), "text": pa.array(own, kind or pa.string())}) for own in spans]


def batches(part: Any) -> Iterator[Any]:
    return iter(part.to_batches(max_chunksize=7))


@pytest.mark.parametrize("table_bytes", [None, 1 << 12])
@pytest.mark.parametrize("count", [1, 7, 64])
def test_any_parts_have_the_counts_of_the_whole(
    count: int,
    table_bytes: int | None,
    texts: list[str | None],
    whole: PretokenCounts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "TABLE_BYTES", table_bytes)
    counted = [
        batch
        for part in parts(texts, count)
        for batch in engines.count_batches(batches(part), "text", special_tokens=[END], memory_limit="4MB")
    ]
    assert {batch.schema for batch in counted} == {engines.counts_schema()}
    if count == 1:
        # Under a small limit one part is counted in several runs.
        assert (len(counted) > 1) == (table_bytes is not None)
    random.Random(count).shuffle(counted)
    for form in (counted, [pa.Table.from_batches(counted)]):
        summed = engines.sum_counts(form, special_tokens=[END])
        assert summed.items() == sorted(whole.items())
    for ties in TIES:
        assert train(summed, 400, ties=ties) == train(whole, 400, ties=ties)


@pytest.mark.parametrize("pattern", ["o200k", r"\w+|\W+", r"\w+|\W+|(?<=a)b", None])
def test_all_kinds_of_patterns(pattern: str | None, texts: list[str | None]) -> None:
    own = texts[:20]
    expected = count_pretokens(iter([text for text in own if text is not None]), pattern=pattern)
    counted = [
        batch
        for part in parts(own, 5, pa.string_view())
        for batch in engines.count_batches([part], "text", pattern=pattern, workers=2)
    ]
    assert engines.sum_counts(counted, pattern=pattern).items() == sorted(expected.items())


def test_counts_are_taken_together_after_the_sum(texts: list[str | None], whole: PretokenCounts) -> None:
    """An engine that sums by itself gives each pretoken once."""
    counted = [
        batch
        for part in parts(texts, 7)
        for batch in engines.count_batches(batches(part), "text", special_tokens=[END])
    ]
    by_engine = pa.Table.from_batches(counted).group_by("pretoken").aggregate([("count", "sum")])
    renamed = by_engine.rename_columns(["pretoken", "count"])
    assert engines.sum_counts([renamed]).items() == sorted(whole.items())
    assert engines.sum_counts([]).items() == []


@pytest.mark.parametrize("table_bytes", [None, 1 << 12])
def test_a_sum_stays_below_a_limit(
    table_bytes: int | None, texts: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "TABLE_BYTES", table_bytes)
    counted = [batch for part in parts(texts, 5) for batch in engines.count_batches(batches(part), "text")]
    expected = engines.sum_counts(counted)
    assert engines.sum_counts(iter(counted), memory_limit="2MB").items() == expected.items()
    assert engines.sum_counts([pa.Table.from_batches(counted)], memory_limit="2MB").items() == expected.items()
    if table_bytes is not None:
        with pytest.raises(MemoryError, match=r"three quarters of memory_limit. Raise it, or leave rare ones out"):
            engines.sum_counts(counted, memory_limit="100kB")
    with pytest.raises(ValueError, match="number 0 is negative: -1"):
        engines.sum_counts([pa.table({"pretoken": [b"a"], "count": [-1]})])
    with pytest.raises(ValueError, match=r"the table holds no counts: .*count.* of type double|double"):
        engines.sum_counts([pa.table({"pretoken": [b"a"], "count": [0.5]})])


def test_the_limit_of_an_engine_is_that_of_learning_too(
    texts: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sums: list[PretokenCounts] = []
    original = engine.sum_counts

    def kept(*arguments: Any, **options: Any) -> PretokenCounts:
        sums.append(original(*arguments, **options))
        return sums[-1]

    monkeypatch.setattr(engine, "sum_counts", kept)
    tables = parts(texts, 5)
    expected = PartsEngine().train(tables, "text", 400)
    assert PartsEngine().train(tables, "text", 400, memory_limit="2MB") == expected
    assert [len(counts) for counts in sums] == [0, 0]  # freed, since nobody else has them
    with pytest.raises(
        MemoryError, match=r"training on them takes at least \d MB, and memory_limit is 1 MB: raise it"
    ):
        PartsEngine().train(tables, "text", 40_000, memory_limit="0.6MB")
    assert len(sums[-1]) > 10_000


def test_ties_by_the_order_of_the_text_are_refused(whole: PretokenCounts, tmp_path: Path) -> None:
    summed = engines.sum_counts([whole.to_arrow()], special_tokens=[END])
    summed.save(tmp_path / "counts")
    for counts in (
        summed,
        summed + summed,
        whole + summed,
        summed.at_least(2),
        PretokenCounts.load(tmp_path / "counts"),
        PretokenCounts.from_arrow(summed.to_arrow()),
    ):
        with pytest.raises(ValueError, match="which sums of parts do not tell: choose another rule"):
            train(counts, 300, special_tokens=[END], ties="first")
    train(whole, 300, ties="first")


def test_what_cannot_be_counted(texts: list[str | None]) -> None:
    part = parts(texts, 1)[0]
    with pytest.raises(ValueError, match="there is no column 'body': the batch has 'n', 'text'"):
        list(engines.count_batches([part], "body"))
    with pytest.raises(TypeError, match="is of type int: texts are"):
        list(engines.count_batches([part], "n"))
    with pytest.raises(TypeError, match=r"a batch must be a pyarrow.RecordBatch or a pyarrow\.Table, not str"):
        list(engines.count_batches(["the"], "text"))
    twice = pa.Table.from_arrays([["the"], ["low"]], names=["text", "text"])
    with pytest.raises(ValueError, match="the batch has 2 columns 'text': rename all but one of them"):
        list(engines.count_batches([twice], "text"))
    broken = pa.table({"text": [b"the", b"th\xff"]})
    with pytest.raises(ValueError, match="not UTF-8 at byte 2"):
        list(engines.count_batches([broken], "text"))
    [replaced] = engines.count_batches([broken], "text", errors="replace")
    assert replaced["pretoken"].to_pylist() == [b"the", b"th", "\ufffd".encode()]
    for wrong in ({"memory_limit": 0}, {"errors": "ignore"}, {"pattern": "cl100q"}, {"workers": 0}):
        with pytest.raises(ValueError, match=r"memory_limit|errors|cl100k|workers"):
            engines.count_batches([part], "text", **wrong)


def test_ids_of_any_parts(texts: list[str | None], small: Tokenizer) -> None:
    tokenizer = Tokenizer(small.vocab, small.merges, [END])
    expected = [None if text is None else tokenizer.encode(text) for text in texts]
    for count in (1, 7, 64):
        found = []
        for part in parts(texts, count, pa.large_string()):
            for batch in engines.encode_batches(batches(part), "text", tokenizer, dtype="uint16"):
                assert batch.column_names == ["n", "text", "input_ids"]
                assert batch.schema.field("input_ids").type == pa.list_(pa.uint16())
                found += batch.column(2).to_pylist()
        assert found == expected


# Counts a part of words that hardly come twice under a limit, and says what that took.
PROGRAM = """
import resource, sys
import numpy as np, pyarrow as pa
from toksmith import engines

alphabet = np.frombuffer(b"etaoinshrdlucmfw", np.uint8)

def batches(megabytes):
    below = np.random.default_rng(1)
    for _ in range(megabytes):
        letters = alphabet[below.integers(0, 16, 1 << 20)]
        letters[::8] = 32
        offsets = np.arange(0, (1 << 20) + 1, 1 << 14, dtype=np.int32)
        texts = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(letters))
        yield pa.record_batch({"text": texts})

def total(megabytes):
    counted = engines.count_batches(batches(megabytes), "text", memory_limit=sys.argv[2])
    return sum(int(np.sum(batch["count"].to_numpy())) for batch in counted)

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

total(1)
before = most()
print(total(int(sys.argv[1])), before, most())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as on Linux")
@pytest.mark.parametrize(
    ("megabytes", "limit"), [(24, 40), pytest.param(1000, 300, marks=pytest.mark.long, id="1GB")]
)
def test_memory_stays_under_the_limit(megabytes: int, limit: int) -> None:
    arguments = [sys.executable, "-c", PROGRAM, str(megabytes), f"{limit}MB"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    total, before, after = map(int, done.stdout.split())
    assert total == megabytes << 17
    assert after - before < limit, (before, after)


@pytest.mark.long
def test_a_sum_of_more_bytes_than_32_bits_count() -> None:
    rows = pa.table({"pretoken": [b"a" * (50 << 20), b"b" * (50 << 20)], "count": [1, 2]})
    assert rows["pretoken"].type == pa.binary()
    summed = engines.sum_counts([pa.concat_tables([rows] * 21)])
    assert [(pretoken[:1], len(pretoken), count) for pretoken, count in summed.items()] == [
        (b"a", 50 << 20, 21),
        (b"b", 50 << 20, 42),
    ]
