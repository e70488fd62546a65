"""Files that change while they are read: an error that names the file, never a result of some of its bytes."""

import functools
import gzip
import json
import lzma
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from child import run

from toksmith import Corpus, Tokenizer, count_pretokens, train
from toksmith import tokenizer as tokenizer_module
from toksmith.cli import streams
from toksmith.files import reading, tables
from toksmith.files.inputs import Source
from toksmith.training import counting

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")

END = "<|endoftext|>"
# A pattern that is not compiled: the look behind is never tried.
IN_REGEX = r"\p{L}+|\s+|.|(?<=a)b"
TEXT = "".join(f"low lower newest {n * 7919 % 10007}{END if n % 9 == 8 else ' '}" for n in range(3_000))


def parquet_file(text: str) -> bytes:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"text": [text] * 40}), sink, row_group_size=1)
    return bytes(sink.getvalue())


def zstd(data: bytes) -> bytes:
    packed: bytes = pytest.importorskip("pyarrow", reason="needs pyarrow").compress(data, "zstd", asbytes=True)
    return packed


def lines(text: str) -> bytes:
    return "".join(json.dumps({"text": part}) + "\n" for part in text.split(END)).encode()


KINDS: dict[str, Callable[[str], bytes]] = {
    "a.txt": str.encode,
    "a.txt.gz": lambda text: gzip.compress(text.encode()),
    "a.txt.zst": lambda text: zstd(text.encode()),
    "a.txt.xz": lambda text: lzma.compress(text.encode()),
    "a.jsonl": lines,
    "a.jsonl.gz": lambda text: gzip.compress(lines(text)),
    "a.parquet": parquet_file,
}


def shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def lengthen(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def rewrite(path: Path) -> None:
    """Other bytes, as many."""
    data = path.read_bytes()
    before = path.stat().st_mtime_ns
    with path.open("rb+") as file:
        file.write(data[:50] + bytes([data[50] ^ 1]) + data[51:])
    while path.stat().st_mtime_ns == before:  # some clocks of file systems tick slowly
        os.utime(path)


def replace(path: Path) -> None:
    """Another file under the same name."""
    other = path.with_name("other")
    other.write_bytes(path.read_bytes() + b"\n")
    other.replace(path)


CHANGES: dict[Callable[[Path], None], str] = {
    shorten: "became shorter while it was read, from [0-9]+ to [0-9]+ bytes: wait until",
    empty: "became shorter while it was read, from [0-9]+ to 0 bytes: wait until",
    lengthen: "became longer while it was read, from [0-9]+ to [0-9]+ bytes: wait until",
    rewrite: "was changed while it was read: wait until",
    replace: "became longer while it was read",
}


@pytest.fixture
def behind_a_pipe(tmp_path: Path) -> Iterator[Callable[[Callable[[], None]], Path]]:
    """A pipe to be listed in front of a file.

    All files are looked at before the first is read. The change is made when the pipe is opened for reading, and only
    then the pipe ends: so, on one worker, it is always after the first look and before the file behind it is read.
    """
    threads = []

    def make(change: Callable[[], None]) -> Path:
        pipe = tmp_path / f"pipe{len(threads)}"
        os.mkfifo(pipe)

        def feed() -> None:
            with pipe.open("wb") as end:
                change()
                end.write(b"before")

        threads.append(threading.Thread(target=feed, daemon=True))
        threads[-1].start()
        return pipe

    yield make
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def in_chunks(files: Any, *, chunk_bytes: int, **options: Any) -> Any:
    with mock.patch.object(counting, "CHUNK_BYTES", chunk_bytes):
        return count_pretokens(files, **options)


@pytest.mark.parametrize("change", list(CHANGES))
@pytest.mark.parametrize("name", [name for name in KINDS if name != "a.parquet"])
def test_counting(
    name: str, change: Callable[[Path], None], tmp_path: Path, behind_a_pipe: Callable[..., Path]
) -> None:
    file = tmp_path / name
    data = KINDS[name](TEXT)
    options: dict[str, Any] = {"special_tokens": [END], "workers": 1}
    calls: list[Callable[[Any], Any]] = [
        lambda files: count_pretokens(files, **options),
        lambda files: in_chunks(Corpus(files, errors="replace"), **options, memory_limit="2MB", chunk_bytes=5000),
        lambda files: count_pretokens(files, **options, pattern=None),
        lambda files: count_pretokens(files, **options, pattern=IN_REGEX),
        lambda files: train(files, 300, special_tokens=[END]),
    ]
    for call in calls:
        file.write_bytes(data)
        pipe = behind_a_pipe(functools.partial(change, file))
        with pytest.raises(OSError, match=f"{file}: the file {CHANGES[change]}"):
            call([pipe, file, file])


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.jsonl"])
@pytest.mark.parametrize("change", [shorten, lengthen])
def test_counting_that_is_under_way(name: str, change: Callable[[Path], None], tmp_path: Path) -> None:
    """A change while the file itself is read, by as many workers as there are: in a file that takes long enough."""
    file = tmp_path / name
    for size in (100, 300, 1000):
        file.write_bytes(KINDS[name](TEXT) * size)
        changed: list[int] = []

        def report(_: str, done: int, total: int, changed: list[int] = changed) -> None:
            if not changed and 0 < done < total:
                changed.append(done)
                change(file)

        try:
            in_chunks(file, special_tokens=[END], progress=report, chunk_bytes=20_000)
        except OSError as error:
            # Linux sets the time of change before the size: a look in between finds the time alone.
            assert changed and re.search(f"{file}: the file (became|was changed)", str(error))
            return
        # The last bytes may have been read, and found unchanged, before that.
        assert not changed or change is lengthen, "the change was not seen"
    pytest.skip("it was read too quickly to be changed")


def test_a_column(tmp_path: Path) -> None:
    for change, message in CHANGES.items():
        if change is replace:
            continue  # the open file is read to its end
        file = tmp_path / "a.parquet"
        file.write_bytes(parquet_file(TEXT))
        cells = tables.texts([Source(str(file), format="parquet")], "strict")
        next(cells)
        change(file)
        with pytest.raises(OSError, match=f"{file}: the file {message}"):
            list(cells)


@pytest.mark.parametrize("change", list(CHANGES))
def test_changes_before_a_file_is_opened(change: Callable[[Path], None], tmp_path: Path) -> None:
    for name in ("a.txt", "a.txt.gz", "a.jsonl"):
        file = tmp_path / name
        file.write_bytes(KINDS[name](TEXT))
        corpus = Corpus([file])
        change(file)
        with pytest.raises(OSError, match=f"^{file}: the file {CHANGES[change]}"):
            count_pretokens(corpus)


@pytest.mark.parametrize("change", [change for change in CHANGES if change is not replace])
@pytest.mark.parametrize("pattern", ["gpt2", r"\p{L}+|\s+|.", IN_REGEX, None])
def test_encode_file(change: Callable[[Path], None], pattern: str | None, tmp_path: Path) -> None:
    tokenizer = Tokenizer(dict(enumerate(bytes([n]) for n in range(256))), [], [END], pattern=pattern)
    file, out = tmp_path / "a.txt", tmp_path / "out" / "ids.npy"
    out.parent.mkdir()
    for to in (None, out):
        file.write_text(TEXT)
        changed: list[bool] = []

        # One worker is the calling thread, which reports before it reads.
        def report(*_: Any, changed: list[bool] = changed) -> None:
            if not changed:
                changed.append(True)
                change(file)

        small = mock.patch.object(tokenizer_module, "WINDOW_BYTES", 5000)
        with small, pytest.raises(OSError, match=f"{file}: the file {CHANGES[change]}"):
            tokenizer.encode_file(file, to, progress=report, workers=1)
        assert not list(out.parent.iterdir())


def test_an_empty_file_that_is_filled(tmp_path: Path, behind_a_pipe: Callable[..., Path]) -> None:
    file = tmp_path / "a.txt"
    file.touch()
    pipe = behind_a_pipe(functools.partial(lengthen, file))
    with pytest.raises(OSError, match=f"{file}: the file became longer while it was read, from 0 to 4 bytes"):
        count_pretokens([pipe, file], workers=1)


def test_windows_of_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    for change, message in CHANGES.items():
        if change is replace:
            continue
        for read in (streams.Input.windows, streams.Input.text):
            file.write_text(TEXT * 30)
            windows = read(streams.Input(str(file), None))
            next(windows)
            change(file)
            with pytest.raises(OSError, match=f"{file}: the file {message}"):
                list(windows)


def test_the_command_line(tmp_path: Path, behind_a_pipe: Callable[..., Path]) -> None:
    file, out = tmp_path / "a.txt", tmp_path / "tokenizer.json"
    file.write_text(TEXT * 4)
    command = [sys.executable, "-m", "toksmith"]
    made = [*command, "train", file, "--vocab-size", "260", "-o", out]
    subprocess.run(made, check=True, capture_output=True)
    pipe = behind_a_pipe(functools.partial(shorten, file))
    other = [*command, "train", pipe, file, "--workers", "1", "--vocab-size", "260", "-o", tmp_path / "none.json"]
    done = subprocess.run(other, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"toksmith: error: {file}: the file became shorter while it was read" in done.stderr
    assert not (tmp_path / "none.json").exists()
    file.write_text(TEXT * 60)
    with subprocess.Popen(
        [*command, "encode", "-t", out, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as encoding:
        assert encoding.stdout is not None
        encoding.stdout.read(1000)  # it waits now, with a full pipe
        lengthen(file)
        _, said = encoding.communicate(timeout=60)
    assert encoding.returncode == 1
    assert f"toksmith: error: {file}: the file became longer while it was read" in said
    file.write_text(TEXT)
    with file.open("rb") as stdin:
        done = subprocess.run([*command, "encode", "-t", out], stdin=stdin, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_checkpoint_is_not_begun_of_a_changed_file(tmp_path: Path, behind_a_pipe: Callable[..., Path]) -> None:
    file, checkpoint = tmp_path / "a.txt", tmp_path / "checkpoint"
    file.write_text(TEXT)
    pipe = behind_a_pipe(functools.partial(shorten, file))
    with pytest.raises(OSError, match="became shorter"):
        train([pipe, file], 300, checkpoint=checkpoint)
    assert not checkpoint.exists()
    file.write_text(TEXT)
    first = train(file, 300, checkpoint=checkpoint)
    assert train(file, 300, checkpoint=checkpoint) == first


def test_what_never_changes_in_this_sense(tmp_path: Path, behind_a_pipe: Callable[..., Path]) -> None:
    """Pipes and devices, files that say that they are empty, and a file that is only read, or renamed meanwhile."""
    pipe = behind_a_pipe(lambda: None)
    found = count_pretokens([pipe, "/dev/null", *(["/proc/version"] if sys.platform == "linux" else [])])
    assert found[b"before"] == 1
    file = tmp_path / "a.txt"
    file.write_text("low lower")
    seen = reading.stamp(str(file))
    file.read_bytes()
    file = file.rename(tmp_path / "b.txt")
    reading.check_unchanged(str(file), seen, "b.txt")
    assert reading.stamp(str(tmp_path)) is None
    assert train(file, 258).merges


def test_what_both_sides_say(tmp_path: Path) -> None:
    """The core and the package use the same words."""
    file = tmp_path / "a.txt"
    tokenizer = Tokenizer()
    for change in (shorten, lengthen, rewrite):
        file.write_text(TEXT)
        seen = reading.stamp(str(file))

        def report(*_: Any, change: Callable[[Path], None] = change, seen: Any = seen) -> None:
            if reading.stamp(str(file)) == seen:
                change(file)

        with pytest.raises(OSError) as core:
            tokenizer.encode_file(file, progress=report)
        with pytest.raises(OSError) as package:
            reading.check_unchanged(str(file), seen, str(file))
        assert str(core.value) == str(package.value)


LARGE = """
import sys, threading, toksmith
from pathlib import Path
path = Path(sys.argv[1])
with path.open("wb") as file:
    for _ in range(30):
        file.write(b"low lower newest widest " * (10_000_000 // 24))
def cut():
    with path.open("rb+") as file:
        file.truncate(1_000_000)
timer = threading.Timer(0.05, cut)
timer.start()
try:
    print(toksmith.train(path, 300).vocab_size)
except OSError as error:
    print(error)
timer.join()
"""


@pytest.mark.long
def test_three_hundred_megabytes_that_become_one(tmp_path: Path) -> None:
    for number in range(5):
        outcome = run(LARGE, tmp_path / f"{number}.txt")
        assert "the file became shorter while it was read" in outcome.out, outcome.told
        (tmp_path / f"{number}.txt").unlink()
