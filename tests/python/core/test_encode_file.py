"""Files to arrays and to files of ids: the same ids as `encode`, however the file is cut and whoever encodes it."""

import errno
import os
import random
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from small_sizes import encode_file

from toksmith import Tokenizer, _core, train

SPECIALS = ["<|endoftext|>", "<|end|>", "a b", "\n\n", "x \ufffd"]
TRAINED = train(iter(["the thé 中文 low lower\n\n  newer <|end|> a b 12\r\n"] * 3), 280)
PATTERNS: dict[str, Any] = {
    "gpt2": "gpt2",
    "cl100k": "cl100k",
    "o200k": "o200k",
    "none": None,
    "compiled": r"\w+|\W",
    "regex": r"\w+|\W|(?<=a)b",
}
SEVERAL = {name: Tokenizer(TRAINED.vocab, TRAINED.merges, SPECIALS, pattern=p) for name, p in PATTERNS.items()}
GPT2 = SEVERAL["gpt2"]


def write(folder: Path, data: bytes) -> Path:
    path = folder / "text"
    path.write_bytes(data)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path


# The same ids


@pytest.mark.parametrize("texts", [4, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("name", SEVERAL)
def test_any_window_and_any_number_of_workers(name: str, workers: int, texts: int, folder: Path) -> None:
    tokenizer = SEVERAL[name]
    rng = random.Random(name)
    parts = [
        "low",
        " lower",
        "\n\n",
        "  ",
        "é",
        "中文",
        "<|end|>",
        "<|endoftext|>",
        "a b",
        "'ll",
        "12",
        "!\n",
        "x",
        "\r\n",
    ]
    for _ in range(texts):
        text = "".join(rng.choices(parts, k=rng.randint(1, 300)))
        path = write(folder, text.encode())
        for special in (True, False):
            expected = tokenizer.encode(text, special=special)
            for window in (1, 7, 64, 1000, None):
                options: dict[str, Any] = {"workers": workers, "special": special, "window_bytes": window}
                ids = encode_file(tokenizer, path, **options)
                assert ids.dtype == np.uint32
                assert ids.tolist() == expected
                assert encode_file(tokenizer, path, folder / "out" / "ids.npy", **options) == len(expected)
                assert np.load(folder / "out" / "ids.npy").tolist() == expected


@given(
    data=st.binary(max_size=40) | st.text("a \n<|end>b\ufffdxé", max_size=60).map(str.encode),
    window=st.integers(1, 9),
)
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, window: int) -> None:
    path = write(tmp_path_factory.getbasetemp(), data)
    try:
        _core.check_head("text", data, plain=True)
    except ValueError:
        assume(False)  # refused: it begins as a file of another kind
    for tokenizer in SEVERAL.values():
        expected = tokenizer.encode(data.decode(errors="replace"))
        found = encode_file(tokenizer, path, errors="replace", workers=2, window_bytes=window)
        assert found.tolist() == expected
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            with pytest.raises(ValueError, match=f"text: not UTF-8 at byte {error.start}: "):
                encode_file(tokenizer, path, workers=2, window_bytes=window)
        else:
            found = encode_file(tokenizer, path, workers=2, window_bytes=window)
            assert found.tolist() == tokenizer.encode(text)


@pytest.mark.parametrize("size", [4_000_000, pytest.param(None, marks=pytest.mark.long, id="whole")])
def test_corpora(gpt2: Tokenizer, corpora: dict[str, str], folder: Path, size: int | None) -> None:
    for corpus in corpora.values():
        text = corpus[:size]
        path = write(folder, text.encode())
        expected = gpt2.encode_to_numpy(text)
        for workers in (1, 2, 3):
            assert np.array_equal(gpt2.encode_file(path, workers=workers), expected)
        assert np.array_equal(encode_file(gpt2, path, workers=2, window_bytes=10_000), expected)
        assert gpt2.encode_file(path, folder / "ids.bin", workers=2) == len(expected)
        assert np.array_equal(np.fromfile(folder / "ids.bin", "<u2"), expected)


def test_an_empty_file(folder: Path) -> None:
    path = write(folder, b"")
    assert GPT2.encode_file(path).shape == (0,)
    assert GPT2.encode_file(path, folder / "a.npy") == 0
    assert GPT2.encode_file(path, folder / "a.bin") == 0
    assert np.load(folder / "a.npy").shape == (0,)
    assert (folder / "a.bin").read_bytes() == b""


def test_bytes_are_taken_as_they_are(folder: Path) -> None:
    text = "\ufeffa\r\nb\rc\0"
    assert GPT2.encode_file(write(folder, text.encode())).tolist() == GPT2.encode(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=(folder / "pipe").write_bytes, args=(b"low lower",))
    writer.start()
    assert GPT2.encode_file(folder / "pipe").tolist() == GPT2.encode("low lower")
    writer.join()


# Types and forms

WIDE = Tokenizer(TRAINED.vocab, TRAINED.merges, {"<wide>": 70_000, "<fits>": 65_535})


def test_types(folder: Path) -> None:
    path = write(folder, b"low <fits> low")
    expected = WIDE.encode("low <fits> low")
    for dtype in ("uint16", np.uint16, np.dtype("<u2"), "u2"):
        ids = WIDE.encode_file(path, dtype=dtype)
        assert (ids.dtype, ids.tolist()) == (np.uint16, expected)
    assert WIDE.encode_file(path).dtype == WIDE.encode_file(path, dtype="uint32").dtype == np.uint32
    for tokenizer, dtype, found in (
        (WIDE, None, "<u4"),
        (WIDE, "uint16", "<u2"),
        (GPT2, None, "<u2"),
        (GPT2, np.uint32, "<u4"),
    ):
        expected = tokenizer.encode("low <fits> low")
        assert tokenizer.encode_file(path, str(folder / "a.npy"), dtype=dtype) == len(expected)
        loaded = np.load(folder / "a.npy", mmap_mode="r")
        assert (loaded.dtype.str, loaded.tolist()) == (found, expected)
        assert tokenizer.encode_file(path, folder / "a.bin", dtype=dtype) == len(expected)
        assert np.fromfile(folder / "a.bin", found).tolist() == expected
    for wrong in ("int32", ">u2", float, "uint64", "u1"):
        with pytest.raises(ValueError, match="dtype is uint16 or uint32, not"):
            WIDE.encode_file(path, dtype=wrong)
    with pytest.raises(TypeError):
        WIDE.encode_file(path, dtype="no type")


def test_an_id_that_does_not_fit(folder: Path) -> None:
    path = write(folder, b"low <wide> low " * 1000)
    for out in (None, folder / "out" / "a.npy", folder / "out" / "a.bin"):
        with pytest.raises(ValueError, match='id 70000 does not fit into uint16: give dtype="uint32"'):
            encode_file(WIDE, path, out, dtype="uint16", window_bytes=100)
    assert list((folder / "out").iterdir()) == []


# Errors leave no file


def broken(folder: Path) -> Callable[..., Any]:
    path = write(folder, b"low lower " * 1000 + b"\xff" + b" low" * 1000)
    return lambda out: encode_file(GPT2, path, out, workers=2, window_bytes=100)


@pytest.mark.parametrize("name", ["ids.npy", "ids.bin", "ids"])
def test_a_file_that_is_there_stays_as_it_was(name: str, folder: Path) -> None:
    out = folder / "out" / name
    with pytest.raises(ValueError, match="text: not UTF-8 at byte 10000: give errors="):
        broken(folder)(out)
    assert list((folder / "out").iterdir()) == []
    out.write_bytes(b"before")
    with pytest.raises(ValueError, match="not UTF-8"):
        broken(folder)(out)
    assert [path.name for path in (folder / "out").iterdir()] == [name]
    assert out.read_bytes() == b"before"
    out.chmod(0o640)
    assert GPT2.encode_file(write(folder, b"low"), out) == 1 or name
    assert out.stat().st_mode & 0o777 == 0o640
    assert out.read_bytes() != b"before"


def test_the_first_invalid_byte_is_named(folder: Path) -> None:
    data = bytearray(b"low lower " * 5000)
    for at in (49_000, 31_300, 31_234, 777):
        data[at] = 0xFF
        path = write(folder, bytes(data))
        for workers in (1, 2, 8):
            with pytest.raises(ValueError, match=f"not UTF-8 at byte {at}:"):
                encode_file(GPT2, path, workers=workers, window_bytes=64)


def test_files_that_cannot_be_read_or_written(folder: Path) -> None:
    path = write(folder, b"low")
    with pytest.raises(FileNotFoundError, match="nothing"):
        GPT2.encode_file(folder / "nothing")
    with pytest.raises(FileNotFoundError, match="nothing"):
        GPT2.encode_file(folder / "nothing", folder / "out" / "ids")
    with pytest.raises(OSError, match="irectory"):
        GPT2.encode_file(folder)
    with pytest.raises(FileNotFoundError, match="no_folder"):
        GPT2.encode_file(path, folder / "no_folder" / "ids")
    with pytest.raises(OSError, match="no regular file"):
        GPT2.encode_file(path, folder / "out")
    for wrong in ({"workers": 0}, {"errors": "ignore"}):
        with pytest.raises(ValueError):
            GPT2.encode_file(path, **wrong)
    for nothing in (None, 5, b"low"):
        with pytest.raises((TypeError, OSError)):
            GPT2.encode_file(nothing)
    assert list((folder / "out").iterdir()) == []


def test_a_full_disk(folder: Path) -> None:
    path = write(folder, b"low lower " * 100_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    code = (
        "import resource, signal, sys; from toksmith import Tokenizer\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: Tokenizer().encode_file(sys.argv[1], sys.argv[2], workers=2)\n"
        "except OSError as error: print(error.errno, str(error.filename) == sys.argv[2])\n"
    )
    out = folder / "out" / "ids.npy"
    done = subprocess.run([sys.executable, "-c", code, path, out], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(errno.EFBIG), "True"], done
    assert list((folder / "out").iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before


def test_a_file_that_changes_meanwhile(folder: Path) -> None:
    words = b"low lower newer " * 20_000
    path = write(folder, words)

    def change(size: int) -> Callable[..., None]:
        def report(stage: str, done: int, total: int) -> None:
            assert (stage, total) == ("encode", len(words))
            with path.open("rb+") as file:
                file.truncate(size)

        return report

    # Called at the start.
    with pytest.raises(OSError, match="text: the file became longer while it was read"):
        encode_file(GPT2, path, progress=change(10 * len(words)), workers=1, window_bytes=1000)
    path.write_bytes(words)
    with pytest.raises(OSError, match="text: the file became shorter while it was read"):
        encode_file(GPT2, path, folder / "out" / "a", progress=change(1000), workers=1, window_bytes=500)
    assert list((folder / "out").iterdir()) == []


def test_progress(folder: Path) -> None:
    path = write(folder, b"low lower " * 10_000)
    seen: list[tuple[str, int, int]] = []
    for workers in (1, 2):
        GPT2.encode_file(path, workers=workers, progress=lambda *now: seen.append(now))
        assert seen[-1] == ("encode", 100_000, 100_000)
        seen.clear()

    def stop(*_: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        encode_file(GPT2, path, folder / "out" / "ids", progress=stop, window_bytes=10)
    assert list((folder / "out").iterdir()) == []
