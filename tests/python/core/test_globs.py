"""Globs: the files of `glob.glob`, but each once where links lead to a folder in several ways."""

import glob
import itertools
import os
import random
from pathlib import Path

import pytest

import toksmith
from toksmith.files import inputs

NAMES = ("a", "b", "[s]", ".h", "c d")
PARTS = ("**", "*", "a", "b*", "[ab]", "[[]s]", ".h", ".*", "a**", "x.txt")


def tree(folder: Path, rng: random.Random, depth: int = 3) -> None:
    folder.mkdir()
    for name in ("x.txt", "y.md", ".z.txt"):
        (folder / name).touch()
    if depth:
        for name in rng.sample(NAMES, rng.randrange(3)):
            tree(folder / name, rng, depth - 1)


def files(paths: list[str]) -> list[str]:
    return sorted(path for path in paths if os.path.isfile(path))  # noqa: PTH113  Path takes x.txt/


def test_globs_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    for number in range(3):
        tree(tmp_path / str(number), rng)
        monkeypatch.chdir(tmp_path / str(number))
        for parts in itertools.product(PARTS, PARTS, (*PARTS, "")):
            for pattern in ("/".join(parts), f"{glob.escape(str(Path.cwd()))}/{'/'.join(parts)}"):
                found = files(inputs.glob_matches(pattern))
                assert found == sorted({*files(glob.glob(pattern, recursive=True))}), pattern


@pytest.fixture
def circles(tmp_path: Path) -> Path:
    """A corpus with two circles of links, a link to a folder elsewhere, and links to files."""
    corpus, other = tmp_path / "corpus", tmp_path / "other"
    for folder in (corpus / "a" / "b", other):
        folder.mkdir(parents=True)
    for path in (corpus / "one.txt", corpus / "a" / "two.txt", corpus / "a" / "b" / "three.txt", other / "four.txt"):
        path.write_text("some words\n")
    try:
        (corpus / "0self").symlink_to(".")
        (corpus / "a" / "up").symlink_to("..")
        (corpus / "a" / "b" / "top").symlink_to(corpus)
        (corpus / "away").symlink_to(other)
        (corpus / "same.txt").symlink_to("one.txt")
    except OSError:
        pytest.skip("no symbolic links here")
    return corpus


OWN = ["a/b/three.txt", "a/two.txt", "one.txt", "same.txt"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**", ["a/b/three.txt", "a/two.txt", "away/four.txt", "one.txt", "same.txt"]),
        ("**/*.txt", ["a/b/three.txt", "a/two.txt", "away/four.txt", "one.txt", "same.txt"]),
        ("**/**/three.txt", ["a/b/three.txt"]),
        ("**/b/**/t*.txt", ["a/b/three.txt", "a/b/top/a/two.txt"]),
        ("*/two.txt", ["a/two.txt"]),
        ("", OWN),
    ],
)  # fmt: skip
def test_each_file_once(circles: Path, pattern: str, expected: list[str]) -> None:
    found = inputs.expand(circles / pattern)
    assert sorted(Path(path).relative_to(circles).as_posix() for path in found) == expected


def test_documents_are_not_repeated(circles: Path, tmp_path: Path) -> None:
    assert toksmith.count_pretokens(circles / "**" / "o*.txt")[b"some"] == 1
    tokenizer = toksmith.Tokenizer()
    assert toksmith.tokenize(circles / "**", tokenizer, tmp_path / "out")["totals"]["documents"] == 5
    assert toksmith.tokenize(circles, tokenizer, tmp_path / "out2")["totals"]["documents"] == 4
