"""A changed unfinished folder: an error that names the file, or the bytes of an undisturbed run."""

import contextlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import shards_oracle
from command import run_command
from reading import corpus_of

import toksmith
from toksmith import Tokenizer
from toksmith.data import tokenize as module
from toksmith.data.manifest import FORMATS as FORMS

FORMATS: dict[str, dict[str, Any]] = {
    "bin": {"shard_size": 170, "split": "val=0.3"},
    "nanogpt": {},
    "npy": {"shard_size": 170, "pack": 17, "pad": "<|endoftext|>", "shuffle_buffer": 40},
    "llm.c": {"shard_size": 170},
    "megatron": {"shard_size": 170, "shuffle": 3, "shuffle_buffer": 40},
    "parquet": {"shard_size": 170},
}
TEXTS = [f"low lower {number} é中" * (number % 5) for number in range(40)]
UNFINISHED = ".toksmith-unfinished"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower newest"] * 9), 262, special_tokens=["<|endoftext|>"])


@pytest.fixture(autouse=True)
def many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SNAPSHOT_SECONDS", 0.0)
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)


class Begun:
    """A folder whose run was ended after most of its documents, and the files of the whole run."""

    def __init__(self, place: Path, tokenizer: Tokenizer, format: str) -> None:
        self.place, self.tokenizer, self.options = place, tokenizer, {"format": format, **FORMATS[format]}
        self.finish(place / "whole")
        self.whole = shards_oracle.files(place / "whole")
        with pytest.raises(RuntimeError, match="ended"):
            toksmith.tokenize(self.ending(), tokenizer, place / "begun", workers=1, **self.options)
        found = (path for path in (place / "begun").rglob("*") if path.is_file())
        self.files = sorted(str(path.relative_to(place / "begun")) for path in found)
        assert f"{UNFINISHED}/state.json" in self.files

    def ending(self) -> Iterator[str]:
        yield from TEXTS[:32]
        raise RuntimeError("ended")

    def finish(self, out: Path) -> None:
        toksmith.tokenize(iter(TEXTS), self.tokenizer, out, workers=1, **self.options)

    def check(self, name: str, change: Callable[[Path], None]) -> bool:
        """Change a file, and go on: an error, or what an undisturbed run writes. Return whether it was an error."""
        out = self.place / "out"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(self.place / "begun", out)
        change(out / name)
        try:
            self.finish(out)
        except (ValueError, OSError) as error:
            assert str(out) in str(error) or Path(name).name in str(error), error
            assert name == "manifest.json" or not (out / "manifest.json").exists()
            return True
        found = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
        assert {name: found.get(name) for name in self.whole} == self.whole, name
        return False


@pytest.fixture(params=FORMATS)
def begun(request: pytest.FixtureRequest, tokenizer: Tokenizer, tmp_path: Path) -> Begun:
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    return Begun(tmp_path, tokenizer, request.param)


def test_the_run_goes_on(begun: Begun) -> None:
    assert not begun.check(f"{UNFINISHED}/state.json", lambda path: None)


def test_flipped_bits(begun: Begun) -> None:
    rng = random.Random(5)

    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)

    refused = sum(begun.check(name, flip) for name in begun.files for _ in range(8))
    assert refused > 8


def test_every_bit_of_an_index_and_of_ids_counts(begun: Begun) -> None:
    """Headers are written anew; all else is what the run had written."""
    for suffix, head in ((".ids", FORMS[begun.options["format"]].header_bytes), (".index", 128)):
        name = next(name for name in reversed(begun.files) if name.endswith(suffix))
        state = (begun.place / "begun" / UNFINISHED / "state.json").read_text()
        assert '"checksums"' in state
        size = (begun.place / "begun" / name).stat().st_size
        for at in range(head, size):

            def flip(path: Path, at: int = at) -> None:
                data = bytearray(path.read_bytes())
                data[at] ^= 1 << at % 8
                path.write_bytes(data)

            if at % 7 == 0:
                assert begun.check(name, flip), (name, at)


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _missing(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [_emptied, _shortened, _folder, _pipe, _missing])
def test_other_files_in_their_place(change: Callable[[Path], None], begun: Begun) -> None:
    if change is _pipe and not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    for name in begun.files:
        begun.check(name, change)


def test_links_are_not_written_through(begun: Begun) -> None:
    target = begun.place / "target"
    for name in [*begun.files, "manifest.json", "tokenizer.toksmith", f"{UNFINISHED}/train-00000.parquet"]:
        for content in (b"mine", None):

            def link(path: Path, content: bytes | None = content) -> None:
                data = path.read_bytes() if content is None and path.exists() else b"mine"
                target.write_bytes(data)
                path.unlink(missing_ok=True)
                path.symlink_to(target)

            begun.check(name, link)
            assert target.read_bytes() in (b"mine", _content(begun, name))
            target.unlink()


def _content(begun: Begun, name: str) -> bytes | None:
    path = begun.place / "begun" / name
    return path.read_bytes() if path.exists() else None


def test_a_linked_tokenizer_is_replaced_by_a_repair(tokenizer: Tokenizer, tmp_path: Path) -> None:
    source, out, mine = tmp_path / "a.txt", tmp_path / "out", tmp_path / "mine"
    source.write_text("low")
    (tmp_path / "real").mkdir()
    out.symlink_to(tmp_path / "real")  # the folder itself may be a link
    toksmith.tokenize(source, tokenizer, out)
    mine.write_text("mine")
    (out / "tokenizer.toksmith").unlink()
    (out / "tokenizer.toksmith").symlink_to(mine)
    with pytest.warns(UserWarning, match="1 damaged file"):
        toksmith.tokenize(source, tokenizer, out, verify=True)
    assert mine.read_text() == "mine"
    assert Tokenizer.load(out / "tokenizer.toksmith") == tokenizer
    assert not (out / "tokenizer.toksmith").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_in_place_of_files_are_errors_at_once(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out/manifest.json")
    pipe = str(tmp_path / "out/manifest.json")
    for call in (
        lambda: toksmith.tokenize(iter(TEXTS), tokenizer, tmp_path / "out"),
        lambda: toksmith.data.open(tmp_path / "out"),
        lambda: Tokenizer.load(pipe),
        lambda: Tokenizer.from_tiktoken(pipe, pattern="gpt2"),
        lambda: toksmith.PretokenCounts.load(pipe),
        lambda: toksmith.train(iter(["aa"]), 257, checkpoint=pipe),
    ):
        with pytest.raises(OSError, match=r"not a regular file|manifest\.json"):
            call()


CORRECTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "field": ({}, {"field": "content"}),
    "on_error": ({}, {"on_error": "skip"}),
    "errors": ({"on_error": "skip"}, {"errors": "replace", "field": "content"}),
    "append": ({"append": "<|endoftext|>"}, {"append": "none", "field": "content"}),
    "prepend": ({"prepend": "<|endoftext|>"}, {"field": "content"}),
    "format": ({"format": "npy"}, {"format": "llm.c", "field": "content"}),
    "dtype": ({"dtype": "uint32"}, {"dtype": "uint16", "field": "content"}),
    "shard_size": ({"shard_size": 9}, {"shard_size": 99, "field": "content"}),
    "split": ({"split": "val=0.5"}, {"split": "test=0.1", "field": "content"}),
    "seed": ({"seed": 1}, {"seed": 2, "field": "content"}),
    "shuffle": ({"shuffle": 1}, {"shuffle": 2, "field": "content"}),
    "special": ({"special": False}, {"special": True, "field": "content"}),
}


@pytest.mark.parametrize("name", CORRECTED)
@pytest.mark.filterwarnings("ignore:.*left out", "ignore:the documents have no token")
def test_a_corrected_call_begins(name: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Where nothing was written, nothing keeps another call from the folder."""
    before, after = CORRECTED[name]
    source = tmp_path / "a.jsonl"
    source.write_text('{"content": "low"}\n' * 30)
    with contextlib.suppress(ValueError):
        toksmith.tokenize(source, tokenizer, tmp_path / "out", **{**before, "on_error": "stop"})
    assert not (tmp_path / "out" / UNFINISHED / "state.json").exists()
    options = {**after}
    corpus = corpus_of(source, options)
    toksmith.tokenize(corpus, tokenizer, tmp_path / "out", **options)
    toksmith.tokenize(corpus, tokenizer, tmp_path / "whole", **options)
    assert shards_oracle.files(tmp_path / "out") == shards_oracle.files(tmp_path / "whole")


def test_a_corrected_command_begins(tokenizer: Tokenizer, tmp_path: Path) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_text('{"content": "low"}\n' * 30)
    tokenizer.save(tmp_path / "t.json")
    command = ["tokenize", str(source), "-t", str(tmp_path / "t.json"), "-o", str(out), "--append", "none"]
    assert run_command(*command).returncode == 1
    assert run_command(*command, "--field", "content").returncode == 0
    assert toksmith.data.open(out).manifest["totals"]["documents"] == 30


def test_special_tokens_of_the_text_are_counted(tokenizer: Tokenizer, tmp_path: Path) -> None:
    texts = ["low<|endoftext|>", "lower", "<|endoftext|><|endoftext|>"] * 20
    count: Callable[..., int] = lambda *arguments, **options: (  # noqa: E731
        toksmith.tokenize(*arguments, append="<|endoftext|>", **options)["totals"]["special_tokens"]
    )
    assert count(iter(texts), tokenizer, tmp_path / "a") == 60
    assert count(iter(texts), tokenizer, tmp_path / "b", workers=3, shuffle=1, shuffle_buffer=9) == 60
    assert count(iter(texts), tokenizer, tmp_path / "c", special=False) == 0

    def ending() -> Iterator[str]:
        yield from texts[:31]
        raise RuntimeError("ended")

    for number, options in enumerate(({}, {"shuffle": 1, "shuffle_buffer": 9})):
        with pytest.raises(RuntimeError, match="ended"):
            count(ending(), tokenizer, tmp_path / f"d{number}", **options)
        assert count(iter(texts), tokenizer, tmp_path / f"d{number}", **options) == 60
    (tmp_path / "a.txt").write_text(texts[0])
    tokenizer.save(tmp_path / "t.json")
    command = ["tokenize", str(tmp_path / "a.txt"), "-t", str(tmp_path / "t.json"), "-o", str(tmp_path / "e")]
    told = run_command(*command, "--append", "none").stderr
    assert "1 special token in the text" in str(told)
    assert "special tokens in the text: 1" in str(run_command("data", str(tmp_path / "e")).stdout)


@pytest.mark.parametrize(
    "option", ["append", "prepend", "shard_size", "seed", "shuffle", "shuffle_buffer", "pack", "pad", "workers"]
)
def test_numbers_are_not_truth_values(option: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"{option}(: an id)? is a whole number, not True"):
        options = {"pack": 9} if option == "pad" else {}
        toksmith.tokenize(iter(TEXTS), tokenizer, tmp_path / "out", **{option: True} | options)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()
