"""On Spark, on a cluster of two executors of this machine: what one machine makes, however the work is cut."""

from __future__ import annotations

import functools
import os
import pickle
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import local_spark
import pytest
from conftest import Soup

import toksmith
from toksmith import PretokenCounts, Tokenizer, count_pretokens, engines, train
from toksmith.engines import batch_function

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
if why := local_spark.missing():
    pytest.skip(why, allow_module_level=True)

import engine_example  # noqa: E402
import killing  # noqa: E402
from parts_engine import check_equal  # noqa: E402

from toksmith.engines import spark as on_spark  # noqa: E402

pytestmark = [pytest.mark.alone, pytest.mark.filterwarnings("ignore")]

END = "<|end|>"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with local_spark.cluster(tmp_path_factory.mktemp("spark")) as made:
        yield made


@pytest.fixture(scope="module")
def texts(soup: Soup) -> list[str | None]:
    rng = random.Random(13)
    made: list[str | None] = [soup(rng, rng.randrange(80)) for _ in range(120)]
    return [*made, None, "", f"a{END}b"]


@pytest.fixture(scope="module")
def whole(texts: list[str | None]) -> PretokenCounts:
    return count_pretokens(iter([text for text in texts if text is not None]), special_tokens=[END])


@pytest.fixture(scope="module")
def tokenizer(small: Tokenizer) -> Tokenizer:
    return Tokenizer(small.vocab, small.merges, [END])


OPTIONS: dict[str, Any] = {"append": END, "shard_size": 600, "split": {"val": 0.2}}


@pytest.fixture(scope="module")
def shards(texts: list[str | None], tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that one machine makes."""
    out = tmp_path_factory.mktemp("shards") / "one"
    toksmith.tokenize(iter([text for text in texts if text is not None]), tokenizer, out, **OPTIONS)
    return out


@pytest.fixture(scope="module")
def expected(texts: list[str | None], small: Tokenizer) -> list[Any]:
    return [None if text is None else small.encode(text) for text in texts]


def frame(session: Any, texts: list[str | None], partitions: int) -> Any:
    """A data frame of texts with their numbers."""
    made = session.createDataFrame(pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.string())}))
    return made.repartition(partitions)


def ids_of(encoded: Any, column: str = "input_ids") -> list[Any]:
    """The ids of each text, by its number."""
    return encoded.select("n", column).toArrow().sort_by("n")[column].to_pylist()


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_any_partitions(
    partitions: int,
    session: Any,
    texts: list[str | None],
    whole: PretokenCounts,
    small: Tokenizer,
    expected: list[Any],
    tokenizer: Tokenizer,
    shards: Path,
    tmp_path: Path,
) -> None:
    own = frame(session, texts, partitions)
    counts = on_spark.count_pretokens(own, "text", special_tokens=[END], partitions=4)
    assert counts.items() == sorted(whole.items())
    assert train(counts, 400, special_tokens=[END]) == train(whole, 400, special_tokens=[END])
    encoded = on_spark.encode(own, "text", small)
    assert encoded.dtypes == [("n", "bigint"), ("text", "string"), ("input_ids", "array<int>")]
    assert ids_of(encoded) == expected
    told = on_spark.tokenize(own, "text", tokenizer, tmp_path / "out", order="n", **OPTIONS)
    assert told == check_equal(tmp_path / "out", shards)
    assert told["sources"][0]["name"] == "pyspark.sql.DataFrame"


def test_documents_in_the_order_of_partitions(
    session: Any, texts: list[str | None], tokenizer: Tokenizer, shards: Path, tmp_path: Path
) -> None:
    rows = pa.table({"t.x": pa.array(texts, pa.string()), "n": [1] * len(texts)})
    own = session.createDataFrame(rows)
    assert own.rdd.getNumPartitions() > 1
    on_spark.tokenize(own, "t.x", tokenizer, tmp_path / "out", **OPTIONS)
    check_equal(tmp_path / "out", shards)
    with pytest.raises(Exception, match="column 'n' has the number 1 more than once"):
        on_spark.tokenize(own, "t.x", tokenizer, tmp_path / "refused", order="n")
    assert list((tmp_path / "refused").iterdir()) == []
    with pytest.raises(ValueError, match="the data frame needs exactly one column 'm'"):
        on_spark.tokenize(own, "t.x", tokenizer, tmp_path / "refused", order="m")


@pytest.mark.long
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_a_whole_corpus(name: str, session: Any, corpora: dict[str, str], tmp_path: Path) -> None:
    """Also with a tokenizer that Spark sends as a broadcast."""
    documents: list[str | None] = [f"{text}\n\n" for text in corpora[name].split("\n\n")]
    counted = count_pretokens(text for text in documents if text is not None)
    tokenizer = train(counted, 20_000)
    assert len(pickle.dumps(batch_function(tokenizer, "text"))) > 200_000
    expected = [tokenizer.encode(text) for text in documents if text is not None]
    toksmith.tokenize(
        iter([text for text in documents if text is not None]), tokenizer, tmp_path / "one", shard_size=500_000
    )
    for partitions in (1, 7, 64):
        own = frame(session, documents, partitions)
        assert on_spark.count_pretokens(own, "text").items() == sorted(counted.items())
        assert on_spark.train(own, "text", 20_000) == tokenizer
        assert ids_of(on_spark.encode(own, "text", tokenizer)) == expected
        on_spark.tokenize(own, "text", tokenizer, tmp_path / str(partitions), order="n", shard_size=500_000)
        check_equal(tmp_path / str(partitions), tmp_path / "one")


def test_training_and_rare_pretokens(session: Any, texts: list[str | None], whole: PretokenCounts) -> None:
    made = on_spark.train(
        frame(session, texts, 5), "text", 400, special_tokens=[END], min_pretoken_count=2, ties="ids"
    )
    assert made == train(whole.at_least(2), 400, special_tokens=[END], ties="ids")
    limited = on_spark.count_pretokens(frame(session, texts, 5), "text", special_tokens=[END], memory_limit="50MB")
    assert limited.items() == sorted(whole.items())


def test_functions_in_a_plan_of_ones_own(
    session: Any, texts: list[str | None], whole: PretokenCounts, small: Tokenizer, expected: list[Any]
) -> None:
    own = frame(session, texts, 3)
    count = functools.partial(engines.count_batches, column="text", special_tokens=[END])
    sums = own.mapInArrow(count, on_spark.COUNTS).groupBy("pretoken").sum("count")
    counts = engines.sum_counts([sums.toDF("pretoken", "count").toArrow()], special_tokens=[END])
    assert counts.items() == sorted(whole.items())

    encode = on_spark.encode_udf(small)
    assert ids_of(own.withColumn("ids", encode("text")), "ids") == expected
    session.udf.register("token_ids", encode)
    own.createOrReplaceTempView("texts")
    assert ids_of(session.sql("SELECT n, token_ids(CAST(text AS BINARY)) AS ids FROM texts"), "ids") == expected


def test_columns(session: Any, small: Tokenizer) -> None:
    """Odd names, columns that are replaced or left out, and columns that hold no texts."""
    own = session.createDataFrame(
        [("the", 1.5, None), ("he", 2.5, [1])], "`a.b``c` string, ids double NOT NULL, n array<int>"
    )
    counts = on_spark.count_pretokens(own, "a.b`c")
    assert counts.items() == [(b"he", 1), (b"the", 1)]
    encoded = on_spark.encode(own, "a.b`c", small, out="ids")
    assert encoded.columns == own.columns
    assert sorted(map(tuple, encoded.collect())) == [
        ("he", small.encode("he"), [1]),
        ("the", small.encode("the"), None),
    ]
    alone = on_spark.encode(own, "a.b`c", small, keep=False)
    assert sorted(row[0] for row in alone.collect()) == sorted(map(small.encode, ("he", "the")))
    for run in (on_spark.count_pretokens, functools.partial(on_spark.encode, tokenizer=small)):
        with pytest.raises(
            ValueError, match=r"the data frame needs exactly one column 'text': it has 'a\.b`c', 'ids', 'n'"
        ):
            run(own, "text")
        with pytest.raises(TypeError, match="column 'ids' is of type double: texts are of type string or binary"):
            run(own, "ids")


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_sums_beyond_64_bits_are_refused(ansi: str, session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ANSI mode is off, `sum` of Spark would wrap without a word."""

    def huge(batches: Any, column: str, **options: Any) -> Iterator[Any]:
        for batch in batches:
            yield pa.record_batch({"pretoken": [b"a"] * batch.num_rows, "count": [2**62] * batch.num_rows})

    session.conf.set("spark.sql.ansi.enabled", ansi)
    monkeypatch.setattr(on_spark, "KeptFunction", lambda function: functools.partial(huge, column="text"))
    assert on_spark.count_pretokens(frame(session, ["a"], 1), "text").items() == [(b"a", 2**62)]
    for least in (1, 5):
        with pytest.raises(OverflowError, match=r"more than 2\^63 - 1 times"):
            on_spark.count_pretokens(frame(session, ["a"] * 4, 3), "text", min_pretoken_count=least)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the executor as on Linux")
@pytest.mark.parametrize("kill_executor", [False, True])
def test_a_killed_worker(
    kill_executor: bool,
    session: Any,
    texts: list[str | None],
    whole: PretokenCounts,
    tokenizer: Tokenizer,
    shards: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the middle of counting, of sums after the shuffle, of encoding, and of writing pieces."""
    names = ("count", "shuffle", "encode", "pieces")
    kill = {name: killing.once(tmp_path / name, kill_executor) for name in names}
    own = frame(session, texts, 6)
    summed = on_spark._summed

    def killed_after_the_shuffle(*arguments: Any) -> Any:
        return summed(*arguments).mapInArrow(killing.batches(kill["shuffle"]), on_spark.COUNTS)

    monkeypatch.setattr(on_spark, "_summed", killed_after_the_shuffle)
    killed = own.mapInArrow(killing.batches(kill["count"]), own.schema)
    assert on_spark.count_pretokens(killed, "text", special_tokens=[END]).items() == sorted(whole.items())
    killed = own.mapInArrow(killing.batches(kill["encode"]), own.schema)
    expected = [None if text is None else tokenizer.encode(text) for text in texts]
    assert ids_of(on_spark.encode(killed, "text", tokenizer)) == expected
    monkeypatch.setattr(on_spark, "KeptFunction", lambda function: function)  # it takes no nested functions
    killing.while_tokenizing(on_spark._Spark, kill["pieces"], monkeypatch)
    on_spark.tokenize(own, "text", tokenizer, tmp_path / "out", order="n", **OPTIONS)
    check_equal(tmp_path / "out", shards)
    assert {path.name for path in tmp_path.iterdir()} == {*kill, "out"}


def test_wrong_options_are_refused_before_anything_runs(small: Tokenizer) -> None:
    nothing: Any = None
    with pytest.raises(ValueError, match="which partitions do not tell: choose another rule"):
        on_spark.train(nothing, "text", 300, ties="first")
    for wrong in ({"pattern": "cl100q"}, {"errors": "ignore"}, {"memory_limit": 0}, {"min_pretoken_count": -1}):
        with pytest.raises(ValueError, match=r"cl100k|errors|memory_limit|min_pretoken_count"):
            on_spark.count_pretokens(nothing, "text", **wrong)
    far = Tokenizer(small.vocab, small.merges, {"<|far|>": 2**31})
    for run in (functools.partial(on_spark.encode, nothing, "text"), on_spark.encode_udf):
        with pytest.raises(ValueError, match=f"has ids up to {2**31}: the integers of Spark go up to {2**31 - 1}"):
            run(far)


def python_without_toksmith(path: Path) -> None:
    """Write a program that runs Python without the packages of this one."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" -S "$@"\n')  # type: ignore[attr-defined]
    path.chmod(0o700)


def test_workers_without_toksmith(
    session: Any, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_without_toksmith(tmp_path / "python3")
    monkeypatch.setattr(session.sparkContext, "pythonExec", str(tmp_path / "python3"))
    own = frame(session, ["a"], 1)
    message = "the Python of Spark's workers has no module toksmith: set the environment variable PYSPARK_PYTHON"
    with pytest.raises(ModuleNotFoundError, match=message):
        on_spark.count_pretokens(own, "text")
    with pytest.raises(ModuleNotFoundError, match=message):
        on_spark.tokenize(own, "text", tokenizer, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_the_example(texts: list[str | None], tmp_path: Path) -> None:
    """Run by the path of a Python that has toksmith, where the `python3` of the PATH has not."""
    python_without_toksmith(tmp_path / "bin/python3")
    options = [f"--conf {name}={value}" for name, value in local_spark.settings(tmp_path).items()]
    submit = " ".join(["--master local[2]", *options, "pyspark-shell"])
    variables = {**os.environ, **local_spark.environment(tmp_path), "PYSPARK_SUBMIT_ARGS": submit}
    variables["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{variables['PATH']}"
    del variables["PYSPARK_PYTHON"]
    engine_example.check("spark_tokenizer.py", tmp_path, texts, variables)
