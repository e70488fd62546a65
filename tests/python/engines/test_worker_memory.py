"""A worker of an engine keeps the memory limit of counting beside its batch, as `benches/engines memory` measures."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import local_spark
import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
from pyarrow import parquet  # noqa: E402

BENCH = Path(__file__).resolve().parents[3] / "benches/engines"
LIMIT = 300
REPEATED, RANDOM = 900, 70
"""Megabytes of text that repeats itself, and of words that hardly come twice, which take more than the limit."""
STEP = 1_000_000
"""Characters of a document of the file, which the bench cuts."""
BATCH = 10_000 * 4000 / 2**20
"""Megabytes of a batch of Spark: rows of it, by characters of a document of the bench."""


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory, corpora: dict[str, str]) -> Path:
    letters = np.frombuffer(b"etaoinshrdlucmfw", np.uint8)[np.random.default_rng(14).integers(0, 16, RANDOM * STEP)]
    letters[::8] = ord(" ")
    words = letters.tobytes().decode("ascii")
    real = "".join(corpora.values())
    documents = [words[start : start + STEP] for start in range(0, len(words), STEP)]
    repeated = [real[start : start + STEP] for start in range(0, len(real), STEP)]
    documents += [repeated[number % len(repeated)] for number in range(REPEATED)]
    random.Random(14).shuffle(documents)
    path = tmp_path_factory.mktemp("text") / "text.parquet"
    parquet.write_table(pa.table({"text": pa.array(documents, pa.large_string())}), path, row_group_size=64)
    return path


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as on Linux")
@pytest.mark.parametrize(("engine", "package", "batches"), [("ray", "ray", 0), ("spark", "pyspark", 2)])
def test_a_worker_keeps_the_limit(engine: str, package: str, batches: int, text: Path) -> None:
    """The private memory of a worker: a block of Ray is in shared memory, Spark's reader holds two batches."""
    pytest.importorskip(package, reason="not installed: `make test-distributed` installs it")
    if engine == "spark" and (why := local_spark.missing()):
        pytest.skip(why)
    command = [sys.executable, str(BENCH), "memory", str(text), "--engines", engine, "--limit", f"{LIMIT}MB"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r" ([\d,]+) different .* and (-?[\d,]+) MB private", done.stdout)
    assert found, done.stdout
    different, private = (int(number.replace(",", "")) for number in found.groups())
    assert different > 7_000_000  # the limit was reached: a different pretoken takes over 40 bytes
    assert private < LIMIT + batches * BATCH, done.stdout
