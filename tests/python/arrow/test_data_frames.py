"""Columns of Polars, DuckDB and pandas: in by Arrow's interface, and out again."""

from __future__ import annotations

from typing import Any

import pytest

from toksmith import PretokenCounts, Tokenizer, count_pretokens
from toksmith.engines import count_arrow, encode_arrow

pytest.importorskip("pyarrow", reason="needs pyarrow")

TEXTS = ["the theatre", None, "", "a long text of more than twelve bytes: žluťoučký", "the there"]
INSTALL = "is not installed: `make test-distributed` installs it"


def expected(tokenizer: Tokenizer) -> list[list[int] | None]:
    return [None if text is None else tokenizer.encode(text) for text in TEXTS]


def lengths(tokenizer: Tokenizer) -> list[int | None]:
    return [None if ids is None else len(ids) for ids in expected(tokenizer)]


def test_polars(small: Tokenizer) -> None:
    pl: Any = pytest.importorskip("polars", reason=f"Polars {INSTALL}")
    frame = pl.DataFrame({"text": TEXTS, "n": range(5)})
    for series, rows in ((frame["text"], slice(0, 5)), (frame["text"][1:4], slice(1, 4))):
        found = pl.Series("ids", encode_arrow(small, series))
        assert found.dtype == pl.List(pl.UInt32)
        assert found.to_list() == expected(small)[rows]
        narrow = pl.Series(encode_arrow(small, series, dtype="uint16"))
        assert narrow.dtype == pl.List(pl.UInt16)
        assert narrow.to_list() == expected(small)[rows]
        assert pl.Series(count_arrow(small, series)).to_list() == lengths(small)[rows]
    chunks = pl.concat([frame, frame], rechunk=False)["text"]
    assert pl.Series(encode_arrow(small, chunks)).to_list() == expected(small) * 2
    assert pl.Series(encode_arrow(small, frame.select("text"))).to_list() == expected(small)
    with pytest.raises(TypeError, match="cast it to its type of text"):
        encode_arrow(small, frame["text"].cast(pl.Categorical))
    with pytest.raises(TypeError, match="is of type int: texts are string"):
        encode_arrow(small, frame["n"])
    counts = count_pretokens(iter([text or "" for text in TEXTS]))
    assert PretokenCounts.from_arrow(pl.DataFrame(counts.to_arrow())).items() == counts.items()


def test_duckdb(small: Tokenizer) -> None:
    duckdb: Any = pytest.importorskip("duckdb", reason=f"DuckDB {INSTALL}")
    pa: Any = pytest.importorskip("pyarrow")
    with duckdb.connect() as connection:
        connection.execute("create table t (n integer, text varchar)")
        connection.executemany("insert into t values (?, ?)", list(enumerate(TEXTS)))
        found = encode_arrow(small, connection.sql("select text from t order by n"))
        assert pa.array(found).to_pylist() == expected(small)
        assert encode_arrow(small, connection.sql("select text from t").arrow()).to_pylist() == expected(small)
        with pytest.raises(TypeError, match="has 2 columns: give one"):
            encode_arrow(small, connection.sql("select * from t"))
        counts = count_pretokens(iter([text or "" for text in TEXTS]))
        table = counts.to_arrow()
        connection.register("counted", table)
        summed = connection.sql("select pretoken, sum(count)::bigint as count from counted group by pretoken")
        assert dict(PretokenCounts.from_arrow(summed).items()) == dict(counts.items())


def test_pandas(small: Tokenizer) -> None:
    pd: Any = pytest.importorskip("pandas", reason=f"pandas {INSTALL}")
    pa: Any = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"text": TEXTS, "n": range(5)})
    for series in (frame["text"], frame["text"].astype(pd.ArrowDtype(pa.large_string()))):
        assert pa.array(encode_arrow(small, series)).to_pylist() == expected(small)
        made = pd.Series(pa.array(encode_arrow(small, series)).to_pandas(types_mapper=pd.ArrowDtype))
        assert [None if ids is pd.NA else list(ids) for ids in made] == expected(small)
        assert pa.array(encode_arrow(small, series[1:4])).to_pylist() == expected(small)[1:4]
    assert pa.array(encode_arrow(small, frame[["text"]])).to_pylist() == expected(small)
