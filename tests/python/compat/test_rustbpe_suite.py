"""rustbpe's own tests, from its source distribution, with toksmith in its place; nothing of them is kept."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from source_archives import source_archive

pytest.importorskip("rustbpe")

SHIM = """
import sys
import toksmith.compat.rustbpe

sys.modules["rustbpe"] = toksmith.compat.rustbpe
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """The file with rustbpe's tests, of the version that is installed."""
    folder = tmp_path_factory.mktemp("rustbpe")
    with tarfile.open(source_archive("rustbpe", pytestconfig, folder)) as archive:
        member = next(one for one in archive.getmembers() if one.name.endswith("tests/python/test_tokenizer.py"))
        content = archive.extractfile(member)
        assert content is not None
        path = folder / "alone/test_tokenizer.py"
        path.parent.mkdir()
        path.write_bytes(content.read())
    return path


@pytest.mark.long
def test_the_suite_of_rustbpe_passes(suite: Path, corpora: dict[str, str], tmp_path: Path) -> None:
    # The tests want the text enwik8 in a cache folder. Another one does, and no network is needed: one in whose first
    # 100,000 characters no two pairs tie, since the tests compare with libraries that break ties in other ways.
    cache = tmp_path / "cache/rustbpe"
    cache.mkdir(parents=True)
    (cache / "enwik8").write_text(corpora["en"][100_000:], encoding="utf-8")
    (tmp_path / "rustbpe.py").write_text(SHIM)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(suite)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=suite.parent, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "7 passed" in done.stdout.splitlines()[-1], done.stdout[-2000:]
