"""Every input of the corpus once through its fuzz target, without the fuzzer."""

import lzma
import sys
import warnings
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[3] / "fuzz"
sys.path[:0] = [str(FUZZ), str(FUZZ / "python")]
with warnings.catch_warnings():
    import archive
    import targets


@pytest.mark.parametrize("name", targets.ALL)
@pytest.mark.filterwarnings("ignore")
def test_the_corpus_holds(name: str) -> None:
    for path, data in archive.read(name).items():
        try:
            targets.ALL[name](data)
        except Exception as error:
            raise AssertionError(path) from error


def test_an_archive_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive.unpack(tmp_path / "inputs")
    monkeypatch.setattr(archive, "ARCHIVE", tmp_path / "corpus.tar.xz")
    archive.pack(tmp_path / "inputs")
    made, stored = (lzma.decompress(path.read_bytes()) for path in (archive.ARCHIVE, FUZZ / "corpus.tar.xz"))
    assert made == stored


def test_the_targets_in_rust_are_locked_to_the_same_crates() -> None:
    """`make test` does not build them, so nothing else sees that their `Cargo.lock` is old."""
    tomllib = pytest.importorskip("tomllib")
    locked = [tomllib.loads((folder / "Cargo.lock").read_text())["package"] for folder in (FUZZ.parent, FUZZ)]
    ours, theirs = ({package["name"]: package for package in packages} for packages in locked)
    manifest = tomllib.loads((FUZZ.parent / "Cargo.toml").read_text())
    given = manifest["dependencies"] | manifest["target"]['cfg(target_os = "linux")']["dependencies"]
    found = {name.split(" ")[0] for name in theirs["toksmith"]["dependencies"]}
    assert found == given.keys(), "run cargo metadata --manifest-path fuzz/Cargo.toml"
    own = theirs.keys() - ours.keys()
    assert own == {"arbitrary", "libfuzzer-sys", "toksmith-fuzz"}
    for name in theirs.keys() - own:
        assert theirs[name]["version"] == ours[name]["version"], name
