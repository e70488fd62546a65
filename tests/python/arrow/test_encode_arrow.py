"""Columns of Arrow to lists of ids: the ids of `encode` of each text, whatever the column is like."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from conftest import Soup

from toksmith import Tokenizer, _core
from toksmith.engines import count_arrow, encode_arrow

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

END = "<|end|>"
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
TYPES = [*TEXT_TYPES, pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.fixture(scope="module")
def tokenizer(small: Tokenizer) -> Tokenizer:
    return Tokenizer(small.vocab, small.merges, [END])


@pytest.fixture(scope="module")
def texts(soup: Soup) -> list[str | None]:
    """Texts of all lengths, some of them null, some empty, around the lengths that views have inside."""
    rng = random.Random(5)
    made: list[str | None] = [soup(rng, rng.randrange(30)) for _ in range(80)]
    made += [None, "", None, *("x" * count for count in range(10, 16)), f"the{END}theatre", END, None]
    rng.shuffle(made)
    return made


def expected(tokenizer: Tokenizer, texts: list[Any], special: bool = True) -> list[list[int] | None]:
    def ids(text: str | bytes) -> list[int]:
        data = text if isinstance(text, bytes) else text.encode()
        return tokenizer.encode(data, special=special)

    return [None if text is None else ids(text) for text in texts]


def lengths(lists: list[list[int] | None]) -> list[int | None]:
    return [None if ids is None else len(ids) for ids in lists]


def column(texts: list[str | None], kind: Any) -> Any:
    if kind in TEXT_TYPES:
        return pa.array(texts, kind)
    return pa.array([None if text is None else text.encode() for text in texts], kind)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_columns_of_all_types_and_their_slices(kind: Any, tokenizer: Tokenizer, texts: list[str | None]) -> None:
    whole, ids = column(texts, kind), expected(tokenizer, texts)
    for start, end in ((0, len(texts)), (1, len(texts)), (3, 50), (8, 16), (9, 9), (len(texts), len(texts))):
        made = encode_arrow(tokenizer, whole[start:end])
        made.validate(full=True)
        assert made.type == pa.list_(pa.uint32())
        assert made.to_pylist() == ids[start:end]
        assert made.null_count == ids[start:end].count(None)
        counts = count_arrow(tokenizer, whole[start:end])
        assert counts.type == pa.int64()
        assert counts.to_pylist() == lengths(ids[start:end])
    ordinary = encode_arrow(tokenizer, whole, special=False)
    assert ordinary.to_pylist() == expected(tokenizer, texts, special=False)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_chunks_become_one_array(kind: Any, tokenizer: Tokenizer, texts: list[str | None]) -> None:
    whole, ids = column(texts, kind), expected(tokenizer, texts)
    parts = [(0, 10), (10, 10), (2, 30), (40, len(texts))]
    chunked = pa.chunked_array([whole[start:end] for start, end in parts])
    joined = list(itertools.chain.from_iterable(ids[start:end] for start, end in parts))
    for dtype, large in itertools.product(("uint16", "uint32"), (False, True)):
        made = encode_arrow(tokenizer, chunked, dtype=dtype, large=large)
        made.validate(full=True)
        values = pa.uint16() if dtype == "uint16" else pa.uint32()
        assert made.type == (pa.large_list(values) if large else pa.list_(values))
        assert made.to_pylist() == joined
    assert count_arrow(tokenizer, chunked).to_pylist() == lengths(joined)
    assert encode_arrow(tokenizer, pa.chunked_array([], kind)).to_pylist() == []


def test_columns_without_text(tokenizer: Tokenizer) -> None:
    for empty in (pa.array([], pa.string()), pa.array([None] * 9, pa.large_string()), pa.nulls(9)):
        made = encode_arrow(tokenizer, empty)
        made.validate(full=True)
        assert made.to_pylist() == count_arrow(tokenizer, empty).to_pylist() == [None] * len(empty)


def test_a_table_of_one_column_is_that_column(tokenizer: Tokenizer) -> None:
    table = pa.table({"text": ["the", None, "there", "theatre"]})
    ids = expected(tokenizer, table["text"].to_pylist())
    assert encode_arrow(tokenizer, table).to_pylist() == ids
    assert encode_arrow(tokenizer, table.to_batches()[0]).to_pylist() == ids
    assert encode_arrow(tokenizer, table.to_batches()[0][1:3]).to_pylist() == ids[1:3]
    assert encode_arrow(tokenizer, pa.array([{"text": "the"}, {"text": "there"}])[1:]).to_pylist() == ids[2:3]
    assert encode_arrow(tokenizer, table.to_reader()).to_pylist() == ids
    with pytest.raises(TypeError, match="has 2 columns: give one"):
        encode_arrow(tokenizer, table.append_column("n", [[1, 2, 3, 4]]))
    rows = pa.array([{"text": "the"}, None, {"text": "there"}])
    for some in (rows, rows[1:]):
        with pytest.raises(ValueError, match="a row of the table is null"):
            encode_arrow(tokenizer, some)
    assert encode_arrow(tokenizer, rows[2:]).to_pylist() == ids[2:3]


def test_many_texts_on_threads(tokenizer: Tokenizer, texts: list[str | None]) -> None:
    many = column(texts * 300, pa.string())
    ids = encode_arrow(tokenizer, column(texts, pa.string()))
    repeated = pa.concat_arrays([ids] * 300)
    for workers in (1, 2, 5):
        assert encode_arrow(tokenizer, many, workers=workers).equals(repeated)
        narrow = encode_arrow(tokenizer, many, workers=workers, dtype="uint16", large=True)
        assert narrow.cast(pa.list_(pa.uint32())).equals(repeated)
        counts = count_arrow(tokenizer, many, workers=workers)
        assert counts.equals(repeated.value_lengths().cast(pa.int64()))


def test_the_whole_corpora(corpora: dict[str, str], gpt2: Tokenizer) -> None:
    for corpus in corpora.values():
        lines = corpus[: 1 << 20].splitlines(keepends=True)
        ids, starts = gpt2.encode_batch_to_numpy(lines)
        made = encode_arrow(gpt2, pa.array(lines))
        assert made.offsets.to_numpy().tolist() == starts.tolist()
        assert (made.values.to_numpy() == ids).all()


def test_bytes_that_are_not_utf8(tokenizer: Tokenizer) -> None:
    data = [b"\xff", b"th\xe9", b"\xf0\x9f", b"the"]
    assert encode_arrow(tokenizer, pa.array(data)).to_pylist() == expected(tokenizer, data)
    lies = pa.array(data).cast(pa.large_binary()).view(pa.large_string())
    assert encode_arrow(tokenizer, lies).to_pylist() == expected(tokenizer, data)


def test_patterns_that_run_in_regex(texts: list[str | None]) -> None:
    tokenizer = Tokenizer(pattern=r"\w+|\W+|(?<=a)b")
    made = encode_arrow(tokenizer, column(texts, pa.string()), workers=2)
    assert made.to_pylist() == [None if text is None else tokenizer.encode(text) for text in texts]


def test_ids_that_do_not_fit(tokenizer: Tokenizer) -> None:
    high = Tokenizer(None, None, {END: 2**16})
    texts = pa.array(["the"])
    with pytest.raises(ValueError, match="ids up to 65536, which do not fit into uint16"):
        encode_arrow(high, texts, dtype="uint16")
    with pytest.raises(ValueError, match="dtype is uint16 or uint32, not int64"):
        encode_arrow(tokenizer, texts, dtype="int64")
    assert encode_arrow(high, texts).to_pylist() == [[*b"the"]]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.bool_(), pa.list_(pa.string()), pa.date32()])
def test_other_types_are_refused_by_name(kind: Any, tokenizer: Tokenizer) -> None:
    with pytest.raises(TypeError, match="texts are string, large_string, string_view, binary"):
        encode_arrow(tokenizer, pa.array([], kind))


def test_what_is_no_column(tokenizer: Tokenizer) -> None:
    with pytest.raises(TypeError, match="cast it to its type of text"):
        encode_arrow(tokenizer, pa.array(["a"]).dictionary_encode())
    for wrong in (["a"], "a", None, 5):
        with pytest.raises(TypeError, match="is not an Arrow array: it has neither"):
            encode_arrow(tokenizer, wrong)


class Exporter:
    """An Arrow array of no library."""

    def __init__(self, **methods: Any) -> None:
        self.__dict__ |= methods


def test_arrays_of_other_libraries(tokenizer: Tokenizer, texts: list[str | None]) -> None:
    array = column(texts, pa.string())
    ids = expected(tokenizer, texts)
    chunked = pa.chunked_array([array[:20], array[20:]])
    for other in (
        Exporter(__arrow_c_array__=array.__arrow_c_array__),
        Exporter(__arrow_c_stream__=chunked.__arrow_c_stream__),
    ):
        made = encode_arrow(tokenizer, other)
        assert isinstance(made, _core.ArrowArray)
        assert len(made) == len(texts)
        assert f"of {len(texts)} values" in repr(made)
        # It can be taken more than once, and stays when its maker is gone.
        first, second = pa.array(made), pa.array(made)
        assert pa.field(made).type == pa.list_(pa.uint32())
        del made
        assert first.to_pylist() == second.to_pylist() == ids
        child = pa.array(encode_arrow(tokenizer, other)).values
        assert child.to_pylist() == [id for each in ids for id in each or []]


def test_capsules_that_are_wrong(tokenizer: Tokenizer) -> None:
    array = pa.array(["the"])
    schema, data = array.__arrow_c_array__()
    for exported in (None, (1, 2), (data, schema), (schema,)):
        with pytest.raises((TypeError, ValueError)):
            encode_arrow(tokenizer, Exporter(__arrow_c_array__=lambda exported=exported: exported))
    pa.array(Exporter(__arrow_c_array__=lambda *_: (schema, data)))
    with pytest.raises(ValueError, match="released already"):
        encode_arrow(tokenizer, Exporter(__arrow_c_array__=lambda: (schema, data)))
    schema, _ = array.__arrow_c_array__()
    with pytest.raises(ValueError, match="released already"):
        encode_arrow(tokenizer, Exporter(__arrow_c_array__=lambda: (schema, data)))

    def broken() -> Any:
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        encode_arrow(tokenizer, Exporter(__arrow_c_array__=broken))


def test_a_stream_that_fails(tokenizer: Tokenizer) -> None:
    def batches() -> Any:
        yield pa.record_batch({"text": ["the"]})
        raise RuntimeError("no more of this")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), batches())
    with pytest.raises(OSError, match=r"the Arrow stream failed with errno \d+: .*no more of this"):
        encode_arrow(tokenizer, reader)
