"""On Ray Data, on a cluster of two nodes of this machine: what one machine makes, for any blocks and after kills."""

from __future__ import annotations

import os
import random
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Soup

from toksmith import PretokenCounts, Tokenizer, count_pretokens_from_iterator, train

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
ray: Any = pytest.importorskip("ray", reason="Ray is not installed: `make test-distributed` installs it")

import engine_example  # noqa: E402

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
    return count_pretokens_from_iterator([text for text in texts if text is not None], special_tokens=[END])


def dataset(texts: list[str | None], blocks: int) -> Any:
    """A dataset of texts with their numbers."""
    size = -(-len(texts) // blocks)
    table = pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.string())})
    return ray.data.from_arrow([table.slice(start, size) for start in range(0, len(texts), size)])


def ids_of(encoded: Any) -> list[Any]:
    """The ids of each text, by its number: Ray does not keep the order of blocks."""
    tables = [ray.get(block) for block in encoded.to_arrow_refs()]
    return pa.concat_tables(tables).sort_by("n")["input_ids"].to_pylist()


def killing_once(mark: Path) -> Any:
    """What kills the worker that runs it first, in the middle of a block."""

    def function(block: Any) -> Any:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return block
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    return function


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("blocks", [1, 7, 64])
def test_any_blocks(blocks: int, texts: list[str | None], whole: PretokenCounts, small: Tokenizer) -> None:
    from toksmith.distributed import ray as on_ray

    own = dataset(texts, blocks)
    counts = on_ray.count_pretokens(own, "text", special_tokens=[END], partitions=4)
    assert counts.items() == sorted(whole.items())
    encoded = on_ray.encode(own, "text", small, dtype="uint16")
    assert encoded.schema().names == ["n", "text", "input_ids"]
    assert ids_of(encoded) == [None if text is None else small.encode(text) for text in texts]


@pytest.mark.usefixtures("cluster")
def test_training_and_rare_pretokens(texts: list[str | None], whole: PretokenCounts) -> None:
    from toksmith.distributed import ray as on_ray

    own = dataset(texts, 5)
    made = on_ray.train(own, "text", 400, special_tokens=[END], min_pretoken_count=2, partitions=3, ties="ids")
    assert made == train(whole.at_least(2), 400, special_tokens=[END], ties="ids")


@pytest.mark.usefixtures("cluster")
def test_a_killed_worker(texts: list[str | None], whole: PretokenCounts, small: Tokenizer, tmp_path: Path) -> None:
    from toksmith.distributed import ray as on_ray

    blocks: dict[str, Any] = {"batch_format": "pyarrow", "batch_size": None}
    for name in ("counting", "encoding"):
        killed = dataset(texts, 6).map_batches(killing_once(tmp_path / name), **blocks)
        if name == "counting":
            counts = on_ray.count_pretokens(killed, "text", special_tokens=[END], partitions=4)
            assert counts.items() == sorted(whole.items())
        else:
            expected = [None if text is None else small.encode(text) for text in texts]
            assert ids_of(on_ray.encode(killed, "text", small)) == expected
        assert (tmp_path / name).exists()


def test_the_example(cluster: str, texts: list[str | None], tmp_path: Path) -> None:
    engine_example.check("ray_tokenizer.py", tmp_path, texts, {**os.environ, "RAY_ADDRESS": cluster})


def test_wrong_options_are_refused_before_anything_runs() -> None:
    from toksmith.distributed import ray as on_ray

    nothing: Any = None
    with pytest.raises(ValueError, match="which blocks do not tell: choose another rule"):
        on_ray.train(nothing, "text", 300, ties="first")
    for wrong in ({"pattern": "cl100q"}, {"errors": "ignore"}, {"memory_limit": 0}, {"min_pretoken_count": -1}):
        with pytest.raises(ValueError, match=r"cl100k|errors|memory_limit|min_pretoken_count"):
            on_ray.count_pretokens(nothing, "text", **wrong)
