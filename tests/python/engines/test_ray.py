"""On Ray Data, on a cluster of two nodes of this machine: what one machine makes, for any blocks and after kills."""

from __future__ import annotations

import functools
import os
import random
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Soup

import toksmith
from toksmith import PretokenCounts, Tokenizer, count_pretokens, train

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
ray: Any = pytest.importorskip("ray", reason="Ray is not installed: `make test-distributed` installs it")

import engine_example  # noqa: E402
import killing  # noqa: E402
from parts_engine import check_equal  # noqa: E402

from toksmith.engines import engine  # noqa: E402
from toksmith.engines import ray as on_ray  # noqa: E402

pytestmark = [pytest.mark.alone, pytest.mark.filterwarnings("ignore")]

END = "<|end|>"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of two nodes of one core each, on loopback, which are ended with the tests."""
    from ray.cluster_utils import Cluster

    token = tmp_path_factory.mktemp("ray") / "token"
    token.write_text(secrets.token_hex(32))
    settings = {
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        node = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False}
        made = Cluster(initialize_head=True, head_node_args=node)
        made.add_node(num_cpus=1, object_store_memory=100 << 20)
        ray.init(address=made.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield made.address
        ray.shutdown()
        made.shutdown()


@pytest.fixture(scope="module")
def texts(soup: Soup) -> list[str | None]:
    rng = random.Random(12)
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


def dataset(texts: list[str | None], blocks: int) -> Any:
    """A dataset of texts with their numbers."""
    size = -(-len(texts) // blocks)
    table = pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.string())})
    return ray.data.from_arrow([table.slice(start, size) for start in range(0, len(texts), size)])


def ids_of(encoded: Any) -> list[Any]:
    """The ids of each text, by its number: Ray does not keep the order of blocks."""
    tables = [ray.get(block) for block in encoded.to_arrow_refs()]
    return pa.concat_tables(tables).sort_by("n")["input_ids"].to_pylist()


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("blocks", [1, 7, 64])
def test_any_blocks(
    blocks: int, texts: list[str | None], whole: PretokenCounts, tokenizer: Tokenizer, shards: Path, tmp_path: Path
) -> None:
    own = dataset(texts, blocks)
    counts = on_ray.count_pretokens(own, "text", special_tokens=[END], partitions=4)
    assert counts.items() == sorted(whole.items())
    assert train(counts, 400, special_tokens=[END]) == train(whole, 400, special_tokens=[END])
    encoded = on_ray.encode(own, "text", tokenizer, dtype="uint16")
    assert encoded.schema().names == ["n", "text", "input_ids"]
    assert ids_of(encoded) == [None if text is None else tokenizer.encode(text) for text in texts]
    told = on_ray.tokenize(own, "text", tokenizer, tmp_path / "out", **OPTIONS)
    assert told == check_equal(tmp_path / "out", shards)
    assert told["sources"][0]["name"] == "ray.data.Dataset"


@pytest.mark.usefixtures("cluster")
def test_blocks_that_end_in_another_order(
    texts: list[str | None], tokenizer: Tokenizer, shards: Path, tmp_path: Path
) -> None:
    def slow_at_first(block: Any) -> Any:
        time.sleep(3 if block["n"][0].as_py() == 0 else 0)
        return block

    own = dataset(texts, 5).map_batches(slow_at_first, batch_format="pyarrow", batch_size=None)
    on_ray.tokenize(own, "text", tokenizer, tmp_path / "out", **OPTIONS)
    check_equal(tmp_path / "out", shards)
    assert not own.context.execution_options.preserve_order


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("blocks", [1, 7])
def test_documents_in_the_order_of_numbers(
    blocks: int, texts: list[str | None], tokenizer: Tokenizer, shards: Path, tmp_path: Path
) -> None:
    mixed = dataset(texts, blocks).random_shuffle(seed=blocks)
    on_ray.tokenize(mixed, "text", tokenizer, tmp_path / "out", order="n", **OPTIONS)
    check_equal(tmp_path / "out", shards)
    with pytest.raises(Exception, match="column 'same' has the number 1 more than once"):
        doubled = mixed.add_column("same", lambda batch: [1] * len(batch), batch_format="pandas")
        on_ray.tokenize(doubled, "text", tokenizer, tmp_path / "refused", order="same")
    assert list((tmp_path / "refused").iterdir()) == []


@pytest.mark.usefixtures("cluster")
def test_a_shuffle_has_the_partitions_that_its_data_need(
    texts: list[str | None], whole: PretokenCounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray's own number is 200, whatever the data."""
    partitions: list[int | None] = []
    groupby = ray.data.Dataset.groupby

    def recorded(own: Any, key: str, num_partitions: int | None = None) -> Any:
        partitions.append(num_partitions)
        return groupby(own, key, num_partitions=num_partitions)

    monkeypatch.setattr(ray.data.Dataset, "groupby", recorded)
    table = pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.string())})
    pq.write_table(table, tmp_path / "texts.parquet")
    read = ray.data.read_parquet(str(tmp_path / "texts.parquet"))
    count = functools.partial(on_ray.count_pretokens, read, "text", special_tokens=[END], min_pretoken_count=2)
    assert count().items() == sorted(whole.at_least(2).items())
    assert partitions == []  # there is nothing to shuffle
    monkeypatch.setattr(on_ray, "_PARTITION_BYTES", 3000)
    assert count().items() == sorted(whole.at_least(2).items())
    assert 2 <= partitions[0] <= 20
    assert on_ray._ENGINE._encoded(read, "text", "n", lambda _: ["a part"]) == ["a part"]


@pytest.mark.usefixtures("cluster")
def test_nothing_to_count() -> None:
    empty = ray.data.from_arrow(pa.table({"text": pa.array([], pa.string())}))
    for partitions in (None, 3):
        assert on_ray.count_pretokens(empty, "text", partitions=partitions).items() == []


@pytest.mark.usefixtures("cluster")
def test_training_and_rare_pretokens(texts: list[str | None], whole: PretokenCounts) -> None:
    own = dataset(texts, 5)
    made = on_ray.train(own, "text", 400, special_tokens=[END], min_pretoken_count=2, partitions=3, ties="ids")
    assert made == train(whole.at_least(2), 400, special_tokens=[END], ties="ids")
    limited = on_ray.count_pretokens(own, "text", special_tokens=[END], partitions=3, memory_limit="50MB")
    assert limited.items() == sorted(whole.items())


@pytest.mark.long
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_a_whole_corpus(name: str, corpora: dict[str, str], tmp_path: Path) -> None:
    documents: list[str | None] = [f"{text}\n\n" for text in corpora[name].split("\n\n")]
    given = [text for text in documents if text is not None]
    counted = count_pretokens(iter(given))
    tokenizer = train(counted, 20_000)
    expected = [tokenizer.encode(text) for text in given]
    toksmith.tokenize(iter(given), tokenizer, tmp_path / "one", shard_size=500_000)
    for blocks in (1, 7, 64):
        own = dataset(documents, blocks)
        assert on_ray.count_pretokens(own, "text", partitions=8).items() == sorted(counted.items())
        assert on_ray.train(own, "text", 20_000, partitions=8) == tokenizer
        assert ids_of(on_ray.encode(own, "text", tokenizer)) == expected
        on_ray.tokenize(own, "text", tokenizer, tmp_path / str(blocks), shard_size=500_000)
        check_equal(tmp_path / str(blocks), tmp_path / "one")


@pytest.mark.usefixtures("cluster")
def test_sums_beyond_64_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Sum` of Ray wraps without a word."""

    def huge(batches: Any, column: str, **options: Any) -> Iterator[Any]:
        for batch in batches:
            counts = pa.array([2**62 + 2**31 - 1] * batch.num_rows, pa.int64())
            yield pa.record_batch({"pretoken": pa.array([b"a"] * batch.num_rows, pa.binary()), "count": counts})

    monkeypatch.setattr(on_ray, "KeptFunction", lambda function: function)
    monkeypatch.setattr(engine, "count_batches", huge)
    with pytest.raises(OverflowError, match=r"more than 2\^63 - 1 times"):
        on_ray.count_pretokens(dataset(["a"] * 2, 2), "text", min_pretoken_count=5, partitions=2)


def test_sums_of_halves() -> None:
    """Against whole numbers of Python, around all borders."""
    rng = random.Random(3)
    for _ in range(200):
        near = [0, 2**31, 2**32, 2**62, 2**63 - 1]
        counts = [max(0, min(rng.choice(near) + rng.randrange(-2, 3), 2**63 - 1)) for _ in range(rng.randrange(1, 5))]
        group = pa.table({"pretoken": [b"a"] * len(counts), "count": pa.array(counts, pa.int64())})
        total = sum(counts) if sum(counts) < 2**63 else None
        kept = [] if total is not None and total < 3 else [total]
        assert on_ray._sum(group, 3)["count"].to_pylist() == kept, counts


@pytest.mark.usefixtures("cluster")
def test_a_killed_worker(
    texts: list[str | None],
    whole: PretokenCounts,
    tokenizer: Tokenizer,
    shards: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the middle of counting, of sums after the shuffle, of encoding, and of writing pieces."""
    kill = {name: killing.once(tmp_path / name) for name in ("count", "shuffle", "encode", "pieces")}
    blocks: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None}
    own = dataset(texts, 6)
    sums = on_ray._sum

    def summed(group: Any, minimum: int) -> Any:
        kill["shuffle"]()
        return sums(group, minimum)

    monkeypatch.setattr(on_ray, "_sum", summed)
    killed = own.map_batches(killing.block(kill["count"]), **blocks)
    counts = on_ray.count_pretokens(killed, "text", special_tokens=[END], partitions=4)
    assert counts.items() == sorted(whole.items())
    encoded = on_ray.encode(own.map_batches(killing.block(kill["encode"]), **blocks), "text", tokenizer)
    assert ids_of(encoded) == [None if text is None else tokenizer.encode(text) for text in texts]
    killing.while_tokenizing(on_ray._Ray, kill["pieces"], monkeypatch)
    on_ray.tokenize(own, "text", tokenizer, tmp_path / "out", **OPTIONS)
    check_equal(tmp_path / "out", shards)
    assert {path.name for path in tmp_path.iterdir()} == {*kill, "out"}


def test_the_example(cluster: str, texts: list[str | None], tmp_path: Path) -> None:
    engine_example.check("ray_tokenizer.py", tmp_path, texts, {**os.environ, "RAY_ADDRESS": cluster})


def test_wrong_options_are_refused_before_anything_runs() -> None:
    nothing: Any = None
    with pytest.raises(ValueError, match="which blocks do not tell: choose another rule"):
        on_ray.train(nothing, "text", 300, ties="first")
    for wrong in ({"pattern": "cl100q"}, {"errors": "ignore"}, {"memory_limit": 0}, {"min_pretoken_count": -1}):
        with pytest.raises(ValueError, match=r"cl100k|errors|memory_limit|min_pretoken_count"):
            on_ray.count_pretokens(nothing, "text", **wrong)
