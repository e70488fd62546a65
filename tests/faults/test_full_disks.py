"""A full disk: the error names the file, the old file is as it was, and nothing is left behind."""

import contextlib
import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from child import Limits, run
from watching import names

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="disks are filled as Linux has them")

# Each writer writes an old file, then a larger one, for which there may be no room: the result is told as JSON.
PROGRAM = r"""
import contextlib, hashlib, io, json, os, random, sys, warnings
from pathlib import Path

if "named" in sys.argv:
    del os.O_TMPFILE  # as on a system that has no files without a name
import toksmith
from toksmith import PretokenCounts, Tokenizer
from toksmith.formats.published import rank_cache
from toksmith.cli import app
from toksmith.compat import huggingface, minbpe
from toksmith.compat.tiktoken import load

warnings.simplefilter("ignore")
folder, kind, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
rng = random.Random(0)
words = {rng.randbytes(rng.randint(2, 9)): rng.randint(1, 50) for _ in range(3000)}
few = PretokenCounts({b"low": 5, b"lower": 2}, pattern="gpt2")
many = PretokenCounts(words, pattern="gpt2")
small, large = toksmith.train(few, 258), toksmith.train(many, 1500)
Path("small").write_text("low lower")
Path("large").write_text(" ".join(f"{rng.random()}" for _ in range(20_000)))
small.save("t.json")


def basic(is_large, path):
    tokenizer = minbpe.BasicTokenizer()
    tokenizer.train(Path("large").read_text()[:2000], 400 if is_large else 257)
    tokenizer.save(path)


def text(is_large):
    return "large" if is_large else "small"


def size(is_large):
    return 1500 if is_large else 258


def command(*args):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        status = app.run([str(arg) for arg in args])
    if status:
        assert status == 1, status
        raise OSError(0, "the command says " + errors.getvalue())


WRITERS = {
    "save": lambda is_large: (large if is_large else small).save(folder / "t.json"),
    "save_tiktoken": lambda is_large: (large if is_large else small).save(folder / "t.tiktoken", format="tiktoken"),
    "save_gpt2": lambda is_large: (large if is_large else small).save(folder / "gpt2", format="gpt2"),
    "save_huggingface": lambda is_large: (large if is_large else small).save_huggingface(folder / "hf"),
    "huggingface": lambda is_large: huggingface.Tokenizer(large if is_large else small).save(folder / "hf.json"),
    "minbpe": lambda is_large: basic(is_large, folder / "basic"),
    "dump": lambda is_large: load.dump_tiktoken_bpe(
        {token: id for id, token in (large if is_large else small).vocab.items()}, folder / "ranks"
    ),
    "counts": lambda is_large: (many if is_large else few).save(folder / "counts"),
    "encode_file": lambda is_large: Tokenizer().encode_file(text(is_large), folder / "ids.npy", workers=2),
    "encode_file, raw": lambda is_large: Tokenizer().encode_file(text(is_large), folder / "ids", workers=1),
    "log": lambda is_large: toksmith.train(many if is_large else few, size(is_large), log=folder / "log.csv"),
    "cache": lambda is_large: rank_cache.write(folder / "cache", bytes(100_000 if is_large else 100)),
    "checkpoint": lambda is_large: checkpoint(is_large),
    "toksmith train": lambda is_large: command(
        "train", text(is_large), "--vocab-size", 900 if is_large else 260, "-o", folder / "t.json"
    ),
    "toksmith encode": lambda is_large: command("encode", "-t", "t.json", text(is_large), "-o", folder / "ids"),
    "toksmith encode npy": lambda is_large: command(
        "encode", "-t", "t.json", text(is_large), "-o", folder / "ids.npy"
    ),
}


def begun():
    from toksmith.training.checkpoint import Checkpoint

    made = Checkpoint(folder / "ck", {"vocab_size": 2000})
    made.begin("0" * 32)
    return made


def checkpoint(is_large):
    # A long training: its own checkpoint, which beginning wrote, becomes larger.
    begun_training.save(bytes(20 * (1500 if is_large else 1)))


def state():
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "filler")
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


write = WRITERS[name]
if name == "checkpoint":
    begun_training = begun()
if "old" in sys.argv:
    write(False)
before = state()
if kind == "limit":
    limit()
else:
    with (folder / "filler").open("wb", 0) as file:
        with contextlib.suppress(OSError):
            while file.write(bytes(1024)):
                pass
        file.truncate(max(os.fstat(file.fileno()).st_size - int(kind), 0))
try:
    write(True)
    result = None
except OSError as error:
    result = {"errno": error.errno, "file": str(error.filename), "said": str(error)}
found = state()
print(json.dumps({"error": result, "is_old": found == before, "left": sorted(found)}))
"""
FILES = {
    "save": ["t.json"],
    "save_tiktoken": ["t.tiktoken"],
    "save_gpt2": ["gpt2/vocab.json", "gpt2/merges.txt"],
    "save_huggingface": [
        f"hf/{name}"
        for name in (
            "tokenizer.json",
            "vocab.json",
            "merges.txt",
            "tokenizer_config.json",
            "special_tokens_map.json",
        )
    ],
    "huggingface": ["hf.json"],
    "minbpe": ["basic.model", "basic.vocab"],
    "dump": ["ranks"],
    "counts": ["counts"],
    "encode_file": ["ids.npy"],
    "encode_file, raw": ["ids"],
    "log": ["log.csv"],
    "cache": ["cache"],
    "checkpoint": ["ck"],
    "toksmith train": ["t.json"],
    "toksmith encode": ["ids"],
    "toksmith encode npy": ["ids.npy"],
}
FULL = (errno.EFBIG, errno.ENOSPC)


def check_failed(folder: Path, name: str, out: str, is_there: bool) -> None:
    found = json.loads(out)
    error = found["error"]
    assert error is not None, "there was room"
    paths = [str(folder / file) for file in FILES[name]]
    if name.startswith("toksmith"):
        assert any(f"toksmith: error: {path}: " in error["said"] for path in paths), error
    else:
        assert error["errno"] in FULL, error
        assert error["file"] in paths, error
    assert found["is_old"], found
    assert found["left"] == (sorted(FILES[name]) if is_there or name == "checkpoint" else [])


@pytest.mark.parametrize("name", FILES)
def test_a_limit_on_the_size_of_a_file(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    is_there = len(name) % 2 == 0  # half of them each way
    options = ["old"] if is_there else []
    limits = Limits(file_bytes=2500)
    outcome = run(PROGRAM, folder, "limit", name, *options, limits=limits, cwd=tmp_path, timeout=600)
    assert outcome.status == 0, outcome.told
    check_failed(folder, name, outcome.out, is_there)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    if done.returncode:
        pytest.skip(f"this process may not mount a file system: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def check_disk(folder: Path, name: str, room: int, *options: str, may_fit: bool = False) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    outcome = run(PROGRAM, folder, room, name, *options, cwd=folder.parent, timeout=600)
    assert outcome.status == 0, outcome.told
    found = json.loads(outcome.out)
    if may_fit and found["error"] is None:
        assert found["left"] == sorted(FILES[name])
        return
    check_failed(folder, name, outcome.out, "old" in options)


SHORT_DISK = ["save", "save_gpt2", "counts", "encode_file", "checkpoint", "toksmith encode"]


@pytest.mark.parametrize("name", SHORT_DISK)
def test_a_full_file_system(name: str, small_disk: Path) -> None:
    check_disk(small_disk, name, 8192, "old")


@pytest.mark.long
@pytest.mark.parametrize("room", [0, 4096, 8192, 12288])
@pytest.mark.parametrize("name", FILES)
def test_a_full_file_system_at_many_places(name: str, room: int, small_disk: Path) -> None:
    for options in ((), ("old",), ("named",), ("named", "old")):
        # minbpe's two files are so small that the largest room may be enough for them.
        check_disk(small_disk, name, room, *options, may_fit=(name, room) == ("minbpe", 12288))


SPILL = """
import json, sys, toksmith
from pathlib import Path
import random
rng = random.Random(0)
text = Path("text")
text.write_text(" ".join(f"{rng.randrange(10**7)}" for _ in range(400_000)))
limit()
try:
    toksmith.count_pretokens(text, memory_limit="2MB", min_pretoken_count=3)
except OSError as error:
    print(json.dumps([error.errno, str(error.filename), str(error)]))
"""


def check_spill(folder: Path, cwd: Path, limits: Limits) -> None:
    outcome = run(SPILL, limits=limits, cwd=cwd, environment={"TMPDIR": str(folder)}, timeout=600)
    assert outcome.status == 0, outcome.told
    number, name, said = json.loads(outcome.out)
    assert number in FULL
    assert name == str(folder) or str(folder) in said
    assert names(folder) == []


def test_counting_that_spills_into_a_limit(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    check_spill(folder, tmp_path, Limits(file_bytes=100_000))


def test_counting_that_spills_into_a_full_file_system(small_disk: Path) -> None:
    check_spill(small_disk, small_disk.parent, Limits())


STANDARD_OUTPUT = {
    "train": ["train", "text", "--vocab-size", "300", "-o", "-"],
    "encode": ["encode", "-t", "t.json", "text"],
    "decode": ["decode", "-t", "t.json", "ids"],
    "explain": ["explain", "-t", "t.json", "--text", "the lowest price"],
    "inspect": ["inspect", "t.json", "--on", "text"],
}


@pytest.mark.parametrize("command", STANDARD_OUTPUT)
def test_standard_output_on_a_full_disk(command: str, tmp_path: Path) -> None:
    import toksmith

    toksmith.Tokenizer().save(tmp_path / "t.json")
    (tmp_path / "text").write_text("low lower lowest " * 1000)
    (tmp_path / "ids").write_text("108 111 119 " * 1000)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "toksmith", *STANDARD_OUTPUT[command]],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
    assert done.stderr.endswith("toksmith: error: standard output: No space left on device\n")
    assert done.returncode == 1
    assert names(tmp_path) == ["ids", "t.json", "text"]


def test_files_that_no_path_names_are_written_as_they_stand(tmp_path: Path) -> None:
    import toksmith

    toksmith.Tokenizer().save(tmp_path / "t.json")
    reading, writing = os.pipe()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, reading)
        removed = stack.enter_context((tmp_path / "removed").open("w+b"))
        (tmp_path / "removed").unlink()
        toksmith.Tokenizer().save(f"/proc/self/fd/{writing}")
        os.close(writing)
        with open(reading, "rb", closefd=False) as file:
            assert file.read() == (tmp_path / "t.json").read_bytes()
        toksmith.Tokenizer().save(f"/proc/self/fd/{removed.fileno()}")
        assert removed.read() == (tmp_path / "t.json").read_bytes()
    assert names(tmp_path) == ["t.json"]
