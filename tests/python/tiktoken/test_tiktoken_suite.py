"""tiktoken's own tests, from its source distribution, with toksmith in its place; nothing of them is kept."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from source_archives import source_archive

# Nothing but the alias: submodules are found through it.
SHIM = """
import toksmith.compat.tiktoken

toksmith.compat.tiktoken.install()
"""

NO_NETWORK = """
import sys

def refuse(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple):
        raise OSError("the tests use no network")

sys.addaudithook(refuse)
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """The folder with tiktoken's tests, of the version that is installed; the archive is downloaded once."""
    folder = tmp_path_factory.mktemp("tiktoken")
    with tarfile.open(source_archive("tiktoken", pytestconfig, folder)) as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
    # Away from the sources of tiktoken, which lie beside them.
    tests = folder / "alone" / "tests"
    tests.parent.mkdir()
    return next(folder.glob("tiktoken-*/tests")).rename(tests)


def test_the_suite_of_tiktoken_passes(suite: Path, tiktoken_cache: Path, tmp_path: Path) -> None:
    shim = tmp_path / "shim"
    shim.mkdir()
    (shim / "tiktoken.py").write_text(SHIM)
    (shim / "sitecustomize.py").write_text(NO_NETWORK)
    environment = {
        **os.environ,
        "PYTHONPATH": str(shim),
        "TIKTOKEN_CACHE_DIR": str(tiktoken_cache),
        "TOKSMITH_CACHE_DIR": str(tmp_path / "own"),
    }
    check = "import tiktoken, sys; assert tiktoken.__name__ == 'toksmith.compat.tiktoken', tiktoken"
    subprocess.run([sys.executable, "-c", check], env=environment, check=True)
    # Hypothesis tries strings that it finds in sources, "<|endoftext|>" among them: tiktoken refuses that in text,
    # too, and its test does not expect it. With a fixed seed a run does not fail by chance.
    options = ["-q", "-p", "no:cacheprovider", "-rA", "--hypothesis-seed=0"]
    pytest_run = [sys.executable, "-m", "pytest", *options, str(suite)]
    done = subprocess.run(pytest_run, env=environment, capture_output=True, text=True, cwd=suite.parent, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout.splitlines()[-1]
