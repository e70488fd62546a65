"""Pretoken counts as tables of Arrow, and back."""

from __future__ import annotations

from typing import Any

import pytest

from toksmith import PretokenCounts, Tokenizer, _core, count_pretokens, patterns, train

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

TEXTS = ["the theatre the there<|end|>", "", "x" * 40, "the žluť", "\0 \0\0"]


def counted(**options: Any) -> PretokenCounts:
    return count_pretokens(iter(TEXTS), special_tokens=["<|end|>"], **options)


def content(counts: PretokenCounts) -> Any:
    return counts.items(), counts.first_places(), counts._core.end_place(), counts._pattern, counts._special_tokens


@pytest.mark.parametrize("pattern", ["gpt2", "o200k", r"\w+|\W+", None])
def test_there_and_back(pattern: str | None) -> None:
    counts = counted(pattern=pattern)
    table = counts.to_arrow()
    table.validate(full=True)
    assert [*zip(*(table[name].to_pylist() for name in ("pretoken", "count")), strict=True)] == counts.items()
    assert table["first"].to_pylist() == counts.first_places()
    for other in (table, table.slice(0), pa.Table.from_batches(table.to_batches(max_chunksize=2))):
        assert content(PretokenCounts.from_arrow(other)) == content(counts)
    assert content(PretokenCounts.from_arrow(table.to_reader())) == content(counts)
    empty = counts.at_least(100)
    assert content(PretokenCounts.from_arrow(empty.to_arrow())) == content(empty)


def test_tables_of_other_programs() -> None:
    counts = counted()
    table = counts.to_arrow().replace_schema_metadata(None)
    options: Any = {"special_tokens": ["<|end|>"]}
    for kind, number in ((pa.string(), pa.int64()), (pa.binary_view(), pa.int32()), (pa.large_string(), pa.uint8())):
        cast = pa.table({"count": table["count"].cast(number), "pretoken": table["pretoken"].cast(kind)})
        found = PretokenCounts.from_arrow(cast, **options)
        assert found.items() == counts.items()
        assert found.first_places() == [*range(len(counts))]
        assert train(found, 270) == train(counts, 270)
    # Sums of parts, in any order.
    parts = pa.concat_tables([table, table.slice(2)]).select(["pretoken", "count"])
    shuffled = parts.take(pa.array([*range(len(parts))][::-1]))
    summed = PretokenCounts.from_arrow(shuffled, **options)
    assert dict(summed.items()) == {
        pretoken: count * (2 if row >= 2 else 1) for row, (pretoken, count) in enumerate(counts.items())
    }
    assert train(summed, 270) == train(PretokenCounts(dict(summed.items()), **options), 270)


def test_arguments_must_agree_with_the_metadata() -> None:
    table = counted(pattern="o200k").to_arrow()
    assert PretokenCounts.from_arrow(table, pattern="o200k").items()
    with pytest.raises(ValueError, match="the counts were made under"):
        PretokenCounts.from_arrow(table, pattern="cl100k")
    with pytest.raises(ValueError, match="with the special tokens"):
        PretokenCounts.from_arrow(table, special_tokens=["<s>"])


def test_tables_that_hold_no_counts() -> None:
    table = counted().to_arrow()
    plain = table.replace_schema_metadata(None)
    with pytest.raises(ValueError, match="the table holds 3 pretokens, its head says"):
        PretokenCounts.from_arrow(table.slice(0, 3))
    with pytest.raises(ValueError, match="no one column 'count': it has 'pretoken', 'first'"):
        PretokenCounts.from_arrow(plain.drop_columns(["count"]))
    for wrong, message in (
        ({"pretoken": [b"a", None], "count": [1, 1]}, "a pretoken is null"),
        ({"pretoken": [b"a", b"b"], "count": [1, None]}, "number 1 is null"),
        ({"pretoken": [b"a", b"b"], "count": [1, -5]}, "number 1 is negative: -5"),
        ({"pretoken": [b"a", b"b"], "count": [0.5, 1.0]}, "is of type double: counts are of a type of whole numbers"),
        ({"pretoken": [1, 2], "count": [1, 1]}, "the table holds no counts: .* is of type int: texts are string"),
        ({"pretoken": [b"a", b"b"], "count": [2**62, 2**62 + 1]}, "passes 2"),
    ):
        with pytest.raises(ValueError, match=message):
            PretokenCounts.from_arrow(pa.table(wrong))
    for metadata in (b"{", b"7", b"{}", b"\xff", b"[" * 100_000):
        with pytest.raises(ValueError, match="the metadata of the table"):
            PretokenCounts.from_arrow(table.replace_schema_metadata({b"toksmith": metadata}))


def test_columns_of_texts_are_counted() -> None:
    texts = pa.chunked_array([[*TEXTS, None], ["the there"]])
    core = patterns.of_core(Tokenizer()._core).core()
    for workers in (1, 2):
        counting = _core.Counting(["<|end|>"], core, workers=workers)
        counting.column(_core.ArrowColumn(texts), False)
        expected = count_pretokens(iter([*TEXTS, "the there"]), special_tokens=["<|end|>"])
        found = counting.finish()
        assert found.items(0, 99) == expected.items()
        assert found.first_places() == expected.first_places()
        assert found.end_place() == expected._core.end_place()


def test_columns_that_are_not_utf8_are_not_counted() -> None:
    column = _core.ArrowColumn(pa.array([b"the", b"th\xff"]))
    core = patterns.of_core(Tokenizer()._core).core()
    with pytest.raises(ValueError, match="text 1: not UTF-8 at byte 2"):
        _core.Counting([], core).column(column, False)
    counting = _core.Counting([], core)
    counting.column(column, True)
    assert counting.finish().items(0, 9) == [(b"the", 1), (b"th", 1), ("\ufffd".encode(), 1)]
