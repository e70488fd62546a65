"""`toksmith train --dry-run`: how close the estimate is to what a training takes, and what it reads."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import run_command

import toksmith
from toksmith.cli import dry_runs
from toksmith.files import inputs
from toksmith.training import sampling
from toksmith.training.estimate import Estimate, estimate
from toksmith.training.options import Options


def run(*arguments: object, cwd: Path, status: int = 0) -> str:
    done = run_command("train", *arguments, "--dry-run", cwd=cwd)
    assert done.returncode == status, done.stderr.decode()
    assert (done.stderr if status == 0 else done.stdout) == b""
    return (done.stderr if status else done.stdout).decode()


# How close it is


@pytest.fixture(scope="module")
def mixed(corpora: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English, code and many scripts, 45 MB, in lines that are mixed as those of a real collection are not sorted."""
    path = tmp_path_factory.mktemp("mixed") / "mixed.txt"
    pieces = [text[start : start + 50_000] for text in corpora.values() for start in range(0, len(text), 50_000)]
    path.write_text("".join(pieces[number::17] and "".join(pieces[number::17]) for number in range(17)))
    return path


@pytest.mark.parametrize("share", [8, 32])
def test_pretokens_of_real_text(share: int, mixed: Path) -> None:
    """From an eighth of the text within a factor of 1.5, from 1/32 within 2.5."""
    size = mixed.stat().st_size
    found = estimate(mixed, Options(300), sample_bytes=size // share)
    real = len(toksmith.count_pretokens(mixed))
    factor = 1.5 if share == 8 else 2.5
    assert real / factor < found.pretokens < real * factor
    assert found.text_bytes == pytest.approx(size, rel=0.01)
    assert 0.4 < found.growth < 1


@pytest.mark.memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_memory_of_a_real_training(mixed: Path) -> None:
    """The peak of the process is between a third of what is announced and all of it and a fifth."""
    found = estimate(mixed, Options(8000), sample_bytes=mixed.stat().st_size // 8, workers=2)
    code = f"""import toksmith
toksmith.train({str(mixed)!r}, 8000, workers=2)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    peak = int(done.stdout) * 1024
    assert found.memory / 3 < peak < found.memory * 1.2


@pytest.mark.long
@pytest.mark.alone
def test_time_of_a_real_training(mixed: Path) -> None:
    """Counting and learning take between a quarter and four times of what is announced."""
    found = estimate(mixed, Options(20_000), sample_bytes=mixed.stat().st_size // 8, workers=1)
    code = f"""import time, toksmith
start = time.perf_counter()
counts = toksmith.count_pretokens({str(mixed)!r}, workers=1)
counted = time.perf_counter()
toksmith.train(counts, 20_000, workers=1)
print(counted - start, time.perf_counter() - counted)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    real = [float(seconds) for seconds in done.stdout.split()]
    for announced, took in zip((found.count_seconds, found.learn_seconds), real, strict=True):
        assert announced / 4 < took < announced * 4


def test_a_sample_that_is_all_is_exact(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"the lowest of {number}\n" * 30_000)
    found = estimate(tmp_path, Options(300, special_tokens=["of"]))
    real = toksmith.count_pretokens(tmp_path, special_tokens=["of"])
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert (found.files, found.file_bytes, found.text_bytes, found.sample_bytes) == (5, size, size, size)
    assert found.is_whole
    assert found.pretokens == found.sample_pretokens == len(real)


# What is read


def lines(count: int) -> list[str]:
    return [f"line {number} of žluťoučký 日本 text" for number in range(count)]


def test_the_sample_is_lines_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "STRETCH_BYTES", 1000)
    monkeypatch.setattr(sampling, "_MOST_TEXT", 4000)
    texts = lines(3000)
    plain = "\n".join(texts).encode()
    records = "\n".join(json.dumps({"text": text, "n": 1}) for text in texts).encode()
    (tmp_path / "a.txt").write_bytes(plain)
    (tmp_path / "b.jsonl").write_bytes(records)
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(plain))
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(records))
    known = set(texts)
    for name in ("a.txt", "b.jsonl", "c.txt.gz", "d.jsonl.gz"):
        sources = inputs.of_files(tmp_path / name, None, None)
        for most in (1, 5000, 10**9):
            taken = list(sampling.stretches(sources, most))
            found = [line for one in taken for text in one.texts for line in text.split("\n") if line]
            if name.startswith("c"):
                found.pop()  # what is cut off by the end of a piece
            assert found
            assert known.issuperset(found)
            assert all(one.text_bytes == sum(len(text.encode()) for text in one.texts) for one in taken)
        if name in ("a.txt", "b.jsonl"):
            assert found == texts


def test_many_small_files_are_sampled_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "STRETCH_BYTES", 1000)
    for number in range(400):
        (tmp_path / f"{number:03}.txt").write_text(f"file {number}\n" * 5)
    sources = inputs.of_files(tmp_path, None, None)
    taken = list(sampling.stretches(sources, 5000))
    assert sum(one.text_bytes for one in taken) == pytest.approx(5000, rel=0.1)
    numbers = [int(one.texts[0].split()[1]) for one in taken if one.texts[0]]
    assert min(numbers) < 50
    assert max(numbers) > 300


def test_text_without_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "STRETCH_BYTES", 1000)
    (tmp_path / "a.txt").write_text("日本語" * 10_000)
    taken = list(sampling.stretches(inputs.of_files(tmp_path / "a.txt", None, None), 5000))
    assert sum(one.text_bytes for one in taken) > 4000


@pytest.mark.parametrize("suffix", [".txt.gz", ".jsonl.gz", ".parquet"])
def test_size_of_text_that_is_compressed(suffix: str, corpora: dict[str, str], tmp_path: Path) -> None:
    text = corpora["en"][:4_000_000]
    path = tmp_path / f"a{suffix}"
    if suffix == ".parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.table({"text": text.split("\n")}), path)
    else:
        records = "\n".join(json.dumps({"text": line}) for line in text.split("\n"))
        path.write_bytes(gzip.compress((text if suffix == ".txt.gz" else records).encode(), 1))
    size = len(text.encode()) - (0 if suffix == ".txt.gz" else text.count("\n"))
    found = estimate(path, Options(300), sample_bytes=1 << 19)
    assert found.text_bytes == pytest.approx(size, rel=0.25)
    assert not found.is_whole


# The command


def test_it_says_what_a_training_takes_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the lowest of the low\n" * 1000)
    shown = run("a.txt", "--vocab-size", 270, "-o", "t.json", "--workers", 2, cwd=tmp_path)
    rows = dict(line.split(":", 1) for line in shown.splitlines())
    assert rows["files"].strip() == "1, 22.0 KB on the disk"
    assert rows["text"].strip() == "22.0 KB"
    assert rows["sample"].strip() == "all of it, 6 different pretokens"
    assert rows["counting"].strip() == "about a second, with 2 threads"
    assert rows["learning"].strip() == "about a second, for 14 merges"
    assert rows["memory"].strip().startswith("up to about ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert run("a.txt", "--vocab-size", 270, cwd=tmp_path).splitlines()[0] == shown.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("nope.txt", "--vocab-size", 300), 1, "nope.txt: No such file"),
        (("-", "--vocab-size", 300), 2, "standard input can be read once only"),
        (("a.txt", "--vocab-size", 20), 1, "--vocab-size is 20, less than"),
        (("empty", "--vocab-size", 300), 1, "the files have no text to train on"),
        (("/dev/zero", "--vocab-size", 300), 1, "no regular file, and can be read once only"),
        (("bad.jsonl", "--vocab-size", 300), 1, "bad.jsonl: the line at byte 14: there is no field"),
        (("a.gz.txt", "--vocab-size", 300), 1, "gzip-compressed"),
    ],
)
def test_errors(arguments: tuple[object, ...], status: int, expected: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the")
    (tmp_path / "empty").write_text("")
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{"body": "b"}\n')
    (tmp_path / "a.gz.txt").write_bytes(gzip.compress(b"the"))
    message = run(*arguments, cwd=tmp_path, status=status)
    assert expected in message
    assert len(message.splitlines()) == 1


def test_a_training_needs_an_output(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the")
    done = run_command("train", "a.txt", "--vocab-size", 270, cwd=tmp_path)
    assert done.returncode == 2
    assert b"Missing option '-o' / '--output': name the file to write, or give --dry-run" in done.stderr


def test_what_will_not_fit() -> None:
    found = Estimate(1, 10**12, 10**12, 10**7, 10**5, 10**9, 0.7, 7000.0, 90.0, 10**11, 10**14, 4)
    shown = dry_runs.shown(found, Options(50_000), "2GB")
    assert "pretokens: about 1,000,000,000 different ones (they grow as the text to the power of 0.70)" in shown
    assert "counting:  about 1 h 56 min, with 4 threads" in shown
    assert "they may take 1.0 GB, half of --memory-limit: raise it" in shown
    assert "this machine has too little memory" in shown
