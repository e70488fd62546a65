"""A finished folder with missing or damaged files: the same call writes these files again, and no other one."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shards_oracle
import steps

import toksmith
from toksmith import Tokenizer
from toksmith.data import tokenize as module

END = "<|endoftext|>"
STORIES = [f"low lower newest {number} " * (number % 7) for number in range(300)]
FORMATS = ("bin", "nanogpt", "llm.c", "megatron", "npy", "parquet")
OPTIONS: dict[str, Any] = {"append": END, "shard_size": 900, "split": {"val": 0.3}, "workers": 2}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower newest"] * 9), 262, special_tokens=[END])


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 700)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in STORIES))
    return path


@pytest.fixture
def out(source: Path, tokenizer: Tokenizer, tmp_path: Path) -> Path:
    toksmith.tokenize(source, tokenizer, tmp_path / "out", **OPTIONS)
    return tmp_path / "out"


@pytest.mark.parametrize("format", ["bin", "megatron", "parquet"])
def test_checksums_of_shards_with_many_documents(
    format: Any, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files of a shard are longer than what is hashed at a time: the mask, the index, or Megatron's."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 1 << 20)
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out"
    pairs = ({"prompt": "low" * (number % 5), "completion": " newest"} for number in range(9000))
    source.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    options: dict[str, Any] = {"messages": format != "megatron", "format": format, "append": END}
    reading = toksmith.Corpus(source, field="completion") if format == "megatron" else source
    toksmith.tokenize(reading, tokenizer, out, **options)
    assert [*toksmith.data.differences(out)] == []
    before = stamps(out)
    toksmith.tokenize(reading, tokenizer, out, verify=True, **options)
    assert stamps(out) == before


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}


def flip(path: Path) -> None:
    """Change a byte in the middle, but not the size."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def check_repaired(folder: Path, damage: dict[str, Callable[[Path], Any]], again: Callable[..., Any]) -> None:
    """Damage files, call again, and compare the bytes of all files, and the stamps of those that were whole."""
    expected, before = shards_oracle.files(folder), stamps(folder)
    for name, change in damage.items():
        change(folder / name)
    with pytest.warns(UserWarning) as caught:
        told = again()
    said = [str(one.message) for one in caught]
    assert f"{len(damage)} damaged file" in said[0]
    assert len(damage) > 5 or all(name in said[0] for name in damage)
    assert told == json.loads(expected["manifest.json"])
    assert shards_oracle.files(folder) == expected
    after = stamps(folder)
    assert {name for name in before if before[name] == after[name]} == set(before) - set(damage)
    assert again() == told, "nothing is damaged any more, so there is no warning"


@pytest.mark.parametrize(
    "options",
    [{}, {"shuffle": 5, "shuffle_buffer": 1200}, {"pack": 100, "shuffle_buffer": 1200}],
    ids=["in order", "shuffled", "packed"],
)
@pytest.mark.parametrize("form", FORMATS)
def test_each_format(form: str, options: dict[str, Any], source: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
        options = {name: value for name, value in options.items() if name != "pack"}
    folder = tmp_path / "folder"

    def again(**more: Any) -> Any:
        return toksmith.tokenize(source, tokenizer, folder, format=form, **OPTIONS | options | more)

    if form == "nanogpt":
        options = options | {"shard_size": 100_000_000}
    shards = again()["splits"]
    assert form == "nanogpt" or min(len(split["shards"]) for split in shards.values()) > 2
    train, val = shards["train"]["shards"], shards["val"]["shards"]
    check_repaired(
        folder, {train[-1]["file"]: Path.unlink, val[0]["file"]: cut, train[0]["index"]: Path.unlink}, again
    )
    check_repaired(folder, {train[0]["file"]: flip, val[-1]["index"]: flip}, lambda: again(verify=True))
    if form == "megatron":
        check_repaired(folder, {"train-00001.idx": Path.unlink}, again)
        check_repaired(folder, {"train-00001.idx": flip}, lambda: again(verify=True))


def test_bytes_are_only_compared_on_demand(source: Path, out: Path, tokenizer: Tokenizer) -> None:
    flip(out / "train-00000.bin")
    toksmith.tokenize(source, tokenizer, out, **OPTIONS)
    with pytest.warns(UserWarning, match=r"train-00000\.bin: checksum mismatch"):
        toksmith.tokenize(source, tokenizer, out, verify=True, **OPTIONS)
    assert list(toksmith.data.differences(out)) == []


def test_every_shard_and_the_tokenizer(source: Path, out: Path, tokenizer: Tokenizer) -> None:
    def again() -> Any:
        return toksmith.tokenize(source, tokenizer, out, **OPTIONS)

    names = [path.name for path in out.iterdir() if path.name != "manifest.json"]
    check_repaired(out, dict.fromkeys(sorted(names), Path.unlink), again)


@pytest.mark.parametrize("damage", [flip, lambda path: path.write_bytes(b"")])
def test_a_damaged_tokenizer(damage: Callable[[Path], Any], source: Path, out: Path, tokenizer: Tokenizer) -> None:
    def again() -> Any:
        return toksmith.tokenize(source, tokenizer, out, **OPTIONS)

    check_repaired(out, {"tokenizer.toksmith": damage}, again)


def test_the_tokenizer_alone_is_saved_without_reading_documents(
    source: Path, out: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_encode", None)

    def again() -> Any:
        return toksmith.tokenize(source, tokenizer, out, verify=True, **OPTIONS)

    check_repaired(out, {"tokenizer.toksmith": Path.unlink}, again)
    (out / "tokenizer.toksmith").write_bytes(b"{}")
    with pytest.warns(UserWarning, match=r"1 damaged file to be written again: tokenizer\.toksmith"):
        again()
    assert list(toksmith.data.differences(out)) == []


@pytest.mark.parametrize("lost", ["missing", "no JSON"])
def test_a_folder_without_its_manifest_is_left_alone(
    lost: str, source: Path, out: Path, tokenizer: Tokenizer
) -> None:
    path = out / "manifest.json"
    if lost == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-9])
    before = shards_oracle.files(out)
    with pytest.raises((FileExistsError, ValueError), match=r"has no unfinished run|manifest"):
        toksmith.tokenize(source, tokenizer, out, **OPTIONS)
    assert shards_oracle.files(out) == before


def test_sources_and_options_that_differ(source: Path, out: Path, tokenizer: Tokenizer) -> None:
    (out / "train-00001.bin").unlink()
    before = shards_oracle.files(out)
    with pytest.raises(ValueError, match="had shard_size 900, not 901"):
        toksmith.tokenize(source, tokenizer, out, **OPTIONS | {"shard_size": 901})
    status = source.stat()
    with source.open("a") as file:
        file.write("\n")
    with pytest.raises(ValueError, match=r"had the source .*a\.jsonl' of \d+ bytes, which are \d+ now"):
        toksmith.tokenize(source, tokenizer, out, **OPTIONS)
    text = source.read_text()
    source.write_text(text[:-1].replace("low lower newest", "low newest lower"))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.warns(UserWarning), pytest.raises(ValueError, match=r"cannot be repaired.* Nothing was changed"):
        toksmith.tokenize(source, tokenizer, out, **OPTIONS)
    source.unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.jsonl"):
        toksmith.tokenize(source, tokenizer, out, **OPTIONS)
    assert shards_oracle.files(out) == before


def test_texts_of_an_iterable(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """The checksums say whether they are the same."""
    folder = tmp_path / "folder"
    toksmith.tokenize(iter(STORIES), tokenizer, folder, **OPTIONS)
    expected = shards_oracle.files(folder)
    cut(folder / "val-00001.bin")
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="cannot be repaired"):
        toksmith.tokenize(iter(STORIES[::-1]), tokenizer, folder, **OPTIONS)
    with pytest.warns(UserWarning):
        toksmith.tokenize(iter(STORIES), tokenizer, folder, **OPTIONS)
    assert shards_oracle.files(folder) == expected
    with pytest.raises(FileExistsError, match="has a finished run"):
        toksmith.tokenize(iter(STORIES), tokenizer, folder, **OPTIONS)


def test_a_repair_takes_up_one_that_ended(
    source: Path, out: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if other files are damaged by then: a file that the first repair has dropped is made again."""
    monkeypatch.setattr(module, "SNAPSHOT_SECONDS", 0.0)
    expected = shards_oracle.files(out)
    last = sorted(expected)[-3]

    def stopping() -> Callable[[str, int, int], None]:
        def report(_stage: str, done: int, total: int) -> None:
            if 2 * done > total:
                raise RuntimeError("mine")

        return report

    for more in ([], ["train-00000.bin"], ["train-00000.index.npy", last]):
        (out / "train-00001.bin").unlink()
        with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="mine"):
            toksmith.tokenize(source, tokenizer, out, progress=stopping(), **OPTIONS)
        assert (out / ".toksmith-repair/.toksmith-unfinished/state.json").exists()
        for name in more:
            (out / name).unlink()
        with pytest.warns(UserWarning, match=f"{1 + len(more)} damaged file"):
            toksmith.tokenize(source, tokenizer, out, **OPTIONS)
        assert shards_oracle.files(out) == expected


KILLED = (
    steps.KILL_BEFORE
    + r"""
import os, signal, sys, warnings
import toksmith
from toksmith.data import tokenize as module

warnings.simplefilter("ignore")
module.CHUNK_BYTES, module.SNAPSHOT_SECONDS = 3000, 0.0
step, options = int(sys.argv[1]), eval(sys.argv[2])
tokenizer = toksmith.Tokenizer.load("out/tokenizer.toksmith")
kill_before(step)
toksmith.tokenize("a.jsonl", tokenizer, "out", **options)
"""
)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed as POSIX has it")
def test_a_repair_that_is_killed_is_repeated(
    tokenizer: Tokenizer, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repair is killed before a step that touches a file, and another one before a later step."""
    folder = source.parent
    whole, out, environment = folder / "whole", folder / "out", steps.environment(tmp_path)

    def run(step: int) -> int:
        command = [sys.executable, "-c", KILLED, str(step), repr(OPTIONS)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.returncode

    out.mkdir()
    monkeypatch.chdir(folder)
    toksmith.tokenize("a.jsonl", tokenizer, whole, **OPTIONS)
    expected = shards_oracle.files(whole)
    for step in range(0, 400, 23):
        shutil.rmtree(out)
        shutil.copytree(whole, out)
        for name in ("train-00001.bin", "train-00001.index.npy", "val-00000.bin"):
            (out / name).unlink()
        ended = run(step)
        if not ended:
            break
        assert run(step // 2) in (0, -signal.SIGKILL)
        run(10**9)
        assert shards_oracle.files(out) == expected, step
    assert step > 60


def test_two_repairs_at_once(source: Path, out: Path, tokenizer: Tokenizer) -> None:
    (out / "train-00001.bin").unlink()

    def report(_stage: str, done: int, total: int) -> None:
        if done == total:  # the last report comes when all is done
            return
        with (
            pytest.warns(UserWarning),
            pytest.raises(BlockingIOError, match="another process is writing"),
        ):
            toksmith.tokenize(source, tokenizer, out, **OPTIONS)

    with pytest.warns(UserWarning):
        toksmith.tokenize(source, tokenizer, out, progress=report, **OPTIONS)
    assert list(toksmith.data.differences(out)) == []
