"""Counting: the same pretokens, counts and first places, however text comes in and wherever memory ends."""

import functools
import gzip
import hashlib
import json
import lzma
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Soup
from small_sizes import count_pretokens
from training_data import END, assert_equal, pattern_source

from toksmith import Corpus, PretokenCounts, _core, patterns, reference, train

NAMED = ["gpt2", "cl100k", "cl100k_old", "qwen2", "o200k", "qwen3.5", "tekken"]
# Tables of a few KB: nearly all that is counted goes through the temporary file.
TINY = 1 << 10


@functools.lru_cache(maxsize=8)
def places(documents: tuple[str, ...], specials: tuple[str, ...], pattern: Any) -> list[tuple[bytes, int, int]]:
    """Return each pretoken with its count and first place, straight from the definition."""
    found: dict[bytes, tuple[int, int]] = {}
    place = 0
    for document in documents:
        for part, is_special in reference.split_special(document, specials):
            pieces = [part] if is_special else reference.pretokenize(part, pattern_source(pattern))
            for piece in pieces:
                data = piece.encode()
                if not is_special:
                    count, first = found.get(data, (0, place))
                    found[data] = (count + 1, first)
                place += len(data)
    return [(pretoken, *rest) for pretoken, rest in found.items()]


def check(counts: PretokenCounts, documents: list[str], specials: list[str], pattern: Any, what: Any = "") -> None:
    expected = places(tuple(documents), tuple(specials), pattern)
    found = [(*item, first) for item, first in zip(counts.items(), counts.first_places(), strict=True)]
    assert_equal(found, expected, what)
    assert counts.total == sum(count for _, count, _ in expected)


@pytest.fixture(scope="module")
def documents(soup: Soup) -> list[str]:
    """Some hundred kilobytes of all kinds of text; also long pretokens, the same ones again, and empty documents."""
    rng = random.Random(7)
    made = [soup(rng, rng.randrange(400)).replace(END, "") for _ in range(60)]
    long = ["x" * 5000, "日本" * 3000, "x" * 5000 + " " + "y" * 40, "", "x" * 16 + " " + "x" * 15, "\0" * 15 + " \0"]
    made += [*long, f"{END}a{END}{END} b", "a", ""]
    rng.shuffle(made)
    return made


@pytest.mark.parametrize("pattern", [*NAMED, None, r"\p{L}+|\s+", r"\p{L}+|\s+|(?<=a)b"])
def test_counts_are_those_of_the_definition(pattern: str | None, documents: list[str], tmp_path: Path) -> None:
    own = documents if pattern is not None else documents[:20]
    files = []
    for number, document in enumerate(own):
        files.append(tmp_path / f"{number:03}.txt")
        files[-1].write_bytes(document.encode())
    for limit in (None, TINY):
        for workers in (1, 2, 8):
            options: dict[str, Any] = {"special_tokens": [END], "pattern": pattern, "table_bytes": limit}
            found = count_pretokens(iter(own), workers=workers, **options)
            check(found, own, [END], pattern, (limit, workers))
            for chunk in (None, 3000):
                found = count_pretokens(files, workers=workers, chunk_bytes=chunk, **options)
                check(found, own, [END], pattern, (limit, workers, chunk))


def test_the_reference_agrees(documents: list[str]) -> None:
    expected = reference.count_pretokens(documents, [END], pattern_source("gpt2"))
    assert_equal(count_pretokens(iter(documents), special_tokens=[END]).items(), list(expected.items()))


def test_a_small_limit_uses_a_file_and_a_large_one_does_not(documents: list[str]) -> None:
    for limit, is_used in ((TINY, True), (10**9, False)):
        counting = _core.Counting([], patterns.resolve("gpt2").core(), table_bytes=limit, workers=2)
        counting.texts(documents)
        assert (counting.spills() > 0) == is_used


def test_many_documents_on_threads(documents: list[str]) -> None:
    many = documents * 15  # beyond what is counted before threads are started
    assert sum(len(document.encode()) for document in many) > 1 << 20
    for workers in (2, 5):
        for limit in (None, TINY):
            found = count_pretokens(iter(many), special_tokens=[END], workers=workers, table_bytes=limit)
            check(found, many, [END], "gpt2", (workers, limit))


def packed(data: bytes, suffix: str) -> bytes:
    zstd: Any = pytest.importorskip("pyarrow") if suffix == ".zst" else None
    if suffix == ".gz":
        return gzip.compress(data)
    if suffix == ".xz":
        return lzma.compress(data)
    return zstd.compress(data, "zstd", asbytes=True) if suffix == ".zst" else data


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz"])
@pytest.mark.parametrize("pattern", ["gpt2", "o200k", r"\p{L}+|\s+", r"\p{L}+|\s+|(?<=a)b", None])
def test_compressed_files(suffix: str, pattern: str | None, documents: list[str], tmp_path: Path) -> None:
    own = ["".join(documents[:30]), "".join(documents[30:])]
    files = [tmp_path / f"{number}.txt{suffix}" for number in range(2)]
    for file, text in zip(files, own, strict=True):
        half = len(text.encode()) // 2
        # Two streams one behind the other are one text.
        file.write_bytes(packed(text.encode()[:half], suffix) + packed(text.encode()[half:], suffix))
    for workers, chunk in ((1, None), (2, 1000), (8, 20_000)):
        found = count_pretokens(files, special_tokens=[END], pattern=pattern, workers=workers, chunk_bytes=chunk)
        check(found, own, [END], pattern, (workers, chunk))
    replaced = count_pretokens(Corpus(files, errors="replace"), special_tokens=[END], pattern=pattern, workers=2)
    check(replaced, own, [END], pattern)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz"])
def test_lines_of_json(suffix: str, documents: list[str], tmp_path: Path) -> None:
    file = tmp_path / f"web.jsonl{suffix}"
    lines = [
        json.dumps({"id": [1, {"text": "no"}], "text": one}, ensure_ascii=n % 2 == 0)
        for n, one in enumerate(documents)
    ]
    file.write_bytes(packed("\ufeff".encode() + "\r\n\n".join(lines).encode(), suffix))
    for workers, chunk, limit in ((1, None, None), (2, 500, None), (8, 9000, TINY)):
        found = count_pretokens(file, special_tokens=[END], workers=workers, table_bytes=limit, chunk_bytes=chunk)
        check(found, documents, [END], "gpt2", (workers, chunk, limit))
    named = tmp_path / "named.ndjson"
    named.write_text('{"body": "a b", "text": "c"}\n')
    assert count_pretokens(Corpus(named, field="body")).items() == [(b"a", 1), (b" b", 1)]


def test_parquet_and_mixed_files(documents: list[str], tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    from pyarrow import parquet

    parquet.write_table(
        pa.table({"text": documents, "n": range(len(documents))}), tmp_path / "b.parquet", row_group_size=7
    )
    (tmp_path / "a.txt").write_bytes("".join(documents[:9]).encode())
    (tmp_path / "c.jsonl").write_text(json.dumps({"text": "last one"}))
    order = ["".join(documents[:9]), *documents, "last one"]
    for workers in (1, 2):
        check(count_pretokens(tmp_path, special_tokens=[END], workers=workers), order, [END], "gpt2", workers)
    file = tmp_path / "b.parquet"
    with pytest.raises(ValueError, match="no column 'body', only"):
        count_pretokens(Corpus(file, column="body"))
    with pytest.raises(ValueError, match="the column 'n' holds int64, not text"):
        count_pretokens(Corpus(file, column="n"))
    parquet.write_table(pa.table({"text": ["a", "b", None]}), file)
    with pytest.raises(ValueError, match=r"b\.parquet: row 2: the column 'text' holds no text"):
        count_pretokens(file)
    fixed, wrapped = pa.array([b"ab", b"cd"], pa.binary(2)), pa.array(["1", "{}"], pa.json_())
    parquet.write_table(pa.table({"fixed": fixed, "wrapped": wrapped}), file)
    assert count_pretokens(Corpus(file, column="fixed")).items() == [(b"ab", 1), (b"cd", 1)]
    assert count_pretokens(Corpus(file, column="wrapped")).items() == [(b"1", 1), (b"{}", 1)]
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match="not a Parquet file"):
        count_pretokens(file)


def test_what_is_wrong_in_a_file_is_said(tmp_path: Path) -> None:
    cases = {
        "x.gz": (gzip.compress(b"text" * 1000)[:-9], "x.gz: not a complete gzip file"),
        "y.gz": (b"plain text", "y.gz: not a complete gzip file"),
        "x.xz": (lzma.compress(b"text" * 1000)[:-9], "x.xz: not a complete xz file"),
        "x.zst": (b"plain text", "x.zst: not a complete Zstandard file"),
        "z.gz": (gzip.compress(b"abc \xff"), "z.gz: not UTF-8 at byte 4"),
        "a.jsonl": (b'{"text": "a"}\n\n{"body": 1}', r"a.jsonl: line 3 \(byte 15\): there is no field .text., only"),
        "b.jsonl": (b'{"text": null}', "b.jsonl: line 1 .*is null"),
        "c.jsonl": (b'{"text": "a"}\nnonsense', r"c.jsonl: line 2 \(byte 14\): expected"),
        "d.jsonl": (b'{"text": "a\xff"}', "d.jsonl: not UTF-8 at byte 11"),
        "e.jsonl.gz": (gzip.compress(b'{"text": 5}'), "e.jsonl.gz: line 1 .*integer `5`"),
    }
    for name, (data, message) in cases.items():
        (tmp_path / name).write_bytes(data)
        for workers in (1, 4):
            with pytest.raises(ValueError, match=message):
                count_pretokens(tmp_path / name, workers=workers)
    # The first failure in the order of the files and lines, for any number of workers.
    good = tmp_path / "good.txt"
    good.write_bytes(b"good text " * 100_000)
    lines = b'{"text": "good"}\n' * 5000
    (tmp_path / "late.jsonl").write_bytes(lines + b"bad\n" + lines + b"worse\n")
    for _ in range(5):
        with pytest.raises(ValueError, match=r"late.jsonl: line 5001 "):
            count_pretokens([good, tmp_path / "late.jsonl", tmp_path / "y.gz"], workers=4, chunk_bytes=2000)


def test_separators_of_documents(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("ab\ncd<s>\nef")
    found = count_pretokens(Corpus(file, document_separator="\n"), special_tokens=["<s>"])
    assert found.items() == [(b"ab", 1), (b"cd", 1), (b"ef", 1)]
    assert list(train(found, 259).special_tokens) == ["<s>"]
    found = count_pretokens(Corpus(iter(["ab--cd", "--"]), document_separator="--"))
    assert found.items() == [(b"ab", 1), (b"cd", 1)]
    for wrong, kind in (("", ValueError), (5, TypeError), ("\ud800", ValueError)):
        with pytest.raises(kind):
            count_pretokens(Corpus(file, document_separator=wrong))  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_read_as_it_comes(documents: list[str], tmp_path: Path) -> None:
    text = "".join(documents)
    (tmp_path / "text").write_bytes(text.encode())
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(f"cat {tmp_path}/text > {tmp_path}/pipe", shell=True):
        found = count_pretokens([tmp_path / "pipe", tmp_path / "text"], special_tokens=[END], workers=3)
    check(found, [text, text], [END], "gpt2")


def test_sums_of_parts_are_the_whole(documents: list[str], tmp_path: Path) -> None:
    whole = count_pretokens(iter(documents), special_tokens=[END])
    for size in (1, 7, 40):
        parts = PretokenCounts({}, special_tokens=[END])
        for start in range(0, len(documents), size):
            part = count_pretokens(iter(documents[start : start + size]), special_tokens=[END], table_bytes=TINY)
            part.save(tmp_path / "part")
            parts = parts + PretokenCounts.load(tmp_path / "part")
        check(parts, documents, [END], "gpt2", size)
        for ties in ("first", "bytes"):
            assert train(parts, 320, ties=ties).merges == train(whole, 320, ties=ties).merges  # type: ignore[arg-type]

    # Places are numbers of 64 bits: where they would not fit, only their order is kept.
    def core(pretokens: list[bytes], counts: list[int], firsts: list[int]) -> _core.PretokenCounts:
        columns = [pa.array(pretokens), pa.array(counts, pa.uint64()), pa.array(firsts, pa.uint64())]
        return _core.PretokenCounts.from_arrow(*map(_core.ArrowColumn, columns), 0)

    pa = pytest.importorskip("pyarrow")
    far = core([b"b", b"a"], [1, 2], [2**64 - 5, 7])
    assert far.plus(far).items(0, 9) == [(b"a", 4), (b"b", 2)]
    other = core([b"c", b"a"], [1, 1], [2**63, 9])
    assert far.plus(other).items(0, 9) == [(b"a", 3), (b"b", 1), (b"c", 1)]


def test_saved_counts_come_back(documents: list[str], tmp_path: Path) -> None:
    cases = [
        count_pretokens(iter(documents), special_tokens=[END], pattern=r"\w+", unmatched="drop"),
        PretokenCounts({b"big": 2**62, b"\xff": 2**33, b"x" * 100: 1}, pattern=None),
        PretokenCounts({}),
    ]
    for counts in cases:
        counts.save(tmp_path / "counts")
        loaded = PretokenCounts.load(tmp_path / "counts")
        assert (loaded.items(), loaded.first_places()) == (counts.items(), counts.first_places())
        assert (loaded._pattern, loaded._special_tokens) == (counts._pattern, counts._special_tokens)
        assert (counts + loaded).total == 2 * counts.total if counts.total < 2**62 else True
        assert [file.name for file in tmp_path.iterdir()] == ["counts"]


def test_damaged_files_of_counts_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    PretokenCounts({b"low": 5, b"lower": 2}).save(file)
    data = file.read_bytes()
    for at in range(len(data)):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]):
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match="counts: "):
                PretokenCounts.load(file)
    file.write_bytes(data + b"x")
    with pytest.raises(ValueError, match="damaged"):
        PretokenCounts.load(file)
    with pytest.raises(FileNotFoundError):
        PretokenCounts.load(tmp_path / "none")


def test_numbers_in_the_head_of_a_file_have_64_bits(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    PretokenCounts({b"low": 5}).save(file)
    magic, head, body = file.read_bytes()[:-32].split(b"\n", 2)
    for field in ("unique", "bytes"):
        for number in (-1, 2**64):
            content = b"\n".join((magic, json.dumps(json.loads(head) | {field: number}).encode(), body))
            file.write_bytes(content + hashlib.sha256(content).digest())
            with pytest.raises(ValueError, match="counts: the head of the file"):
                PretokenCounts.load(file)


def test_counts_beyond_32_bits_and_their_end() -> None:
    counts = PretokenCounts({b"aa": 3_000_000_000, b"bc": 10})
    assert (counts + counts)[b"aa"] == 6_000_000_000
    assert train(counts + counts, 257).merges == [(b"a", b"a")]
    half = PretokenCounts({b"aa": 2**62})
    assert (half + half).total == 2**63
    with pytest.raises(ValueError, match=r"2\^63"):
        half + half + PretokenCounts({b"b": 1})


def test_looking_at_counts() -> None:
    counts = PretokenCounts({b"b": 2, b"a": 3, b"c": 2, b"x" * 40: 1})
    assert counts.most_common() == [(b"a", 3), (b"b", 2), (b"c", 2), (b"x" * 40, 1)]
    assert [counts.most_common(n) for n in (-(2**70), 0, 1, 2)] == [[], [], [(b"a", 3)], [(b"a", 3), (b"b", 2)]]
    assert (len(counts), counts.total, counts[b"c"], counts[b"x" * 40], counts[b"x" * 39], counts[b""]) == (
        4,
        8,
        2,
        1,
        0,
        0,
    )
    assert counts.at_least(2).items() == [(b"b", 2), (b"a", 3), (b"c", 2)]
    assert counts.at_least(2).total == 7


def test_counts_read_like_a_mapping() -> None:
    words = {b"%d" % number: number + 1 for number in range(10_000)}
    counts = PretokenCounts(words)
    assert list(counts) == counts.keys() == [*words]
    assert counts.values() == [*words.values()]
    assert dict(counts) == words
    assert b"7" in counts and b"x" not in counts and b"" not in counts and counts[b"x"] == 0
    for call in (lambda: "7" in counts, lambda: counts["7"], lambda: counts[7]):  # type: ignore[index]
        with pytest.raises(TypeError, match="a pretoken is bytes, not "):
            call()
    with pytest.raises(TypeError, match="counted already; give them to train"):
        count_pretokens(counts)


def test_messages_show_the_beginning_of_a_pattern_and_of_names() -> None:
    pattern, names = "|".join(f"(?:a{number})" for number in range(900)), [f"<{'s' * 500}>"]
    counts = PretokenCounts({b"a": 1}, pattern=pattern, special_tokens=names)
    for other in (PretokenCounts({b"a": 1}), PretokenCounts({b"a": 1}, pattern=pattern)):
        with pytest.raises(ValueError, match="cannot be added") as failed:
            counts + other
        assert len(str(failed.value)) < 300
    with pytest.raises(ValueError, match="the counts were made under Pattern") as failed:
        train(counts, 257, pattern="gpt2")
    assert len(str(failed.value)) < 300


def test_rare_pretokens_can_be_left_out(documents: list[str]) -> None:
    whole = count_pretokens(iter(documents), special_tokens=[END])
    for least in (0, 1, 2, 5):
        for limit in (None, TINY):
            found = count_pretokens(
                iter(documents), special_tokens=[END], min_pretoken_count=least, table_bytes=limit
            )
            assert_equal(found.items(), [item for item in whole.items() if item[1] >= least], (least, limit))
    with pytest.raises(ValueError, match="min_pretoken_count"):
        count_pretokens(iter([]), min_pretoken_count=-1)


def test_too_many_pretokens_for_the_limit_are_told_with_numbers() -> None:
    texts = [" ".join(str(number) for number in range(start, start + 1000)) for start in range(0, 100_000, 1000)]
    with pytest.raises(
        MemoryError, match=r"there are 1\d\d\d\d\d different pretokens.*min_pretoken_count=2, which keeps"
    ):
        count_pretokens(iter([*texts, texts[0]]), memory_limit="1MB", table_bytes=1 << 20)
    limits: Any = {"memory_limit": "1MB", "table_bytes": 1 << 20}
    found = count_pretokens(iter([*texts, texts[0]]), **limits, min_pretoken_count=2)
    assert 900 < len(found) < 2000


def test_limits_are_read_and_checked() -> None:
    for wrong in ("2 cups", "", "-1", "GB", 0, -5):
        with pytest.raises(ValueError, match="memory_limit"):
            count_pretokens(iter([]), memory_limit=wrong)
    with pytest.raises(TypeError):
        count_pretokens(iter([]), memory_limit=1.5)  # type: ignore[arg-type]
    for good in (1, 2**70, "1kb", "0.5 GiB"):
        assert count_pretokens(iter(["a"]), memory_limit=good).total == 1


def test_fields_and_columns_need_their_files(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    for name in ("field", "column"):
        with pytest.raises(ValueError, match=f"{name}='text' is for files of records"):
            count_pretokens(Corpus(tmp_path, **{name: "text"}))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=name):
            count_pretokens(Corpus(tmp_path, **{name: 5}))  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_full_disk_is_a_clear_error(tmp_path: Path) -> None:
    program = """
import resource, signal, sys, tempfile, toksmith.training.counting, os
tempfile.tempdir = sys.argv[1]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    toksmith.training.counting.TABLE_BYTES = 1000
    toksmith.count_pretokens((f"{n} {n * 7}" for n in range(100_000)))
except OSError as error:
    print(type(error).__name__, error)
print(os.listdir(sys.argv[1]))
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=60)
    assert "OSError" in done.stdout and "temporary file of counting" in done.stdout, done
    assert "TMPDIR" in done.stdout and "[]" in done.stdout, done


def test_patterns_of_regex(documents: list[str], tmp_path: Path) -> None:
    pattern = r"\p{L}+|\s+|(?<=a)b|."
    joined = END.join(documents)
    (tmp_path / "a.txt").write_bytes(joined.encode())
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(joined.encode()))
    (tmp_path / "c.jsonl").write_text("\n".join(json.dumps({"text": one}) for one in documents))
    order = [joined, joined, *documents]
    check(count_pretokens(tmp_path, special_tokens=[END], pattern=pattern, workers=4), order, [END], pattern)
    (tmp_path / "b.txt").write_bytes(b"abc \xff")
    with pytest.raises(ValueError, match=r"b.txt: not UTF-8 at byte 4"):
        count_pretokens(tmp_path, special_tokens=[END], pattern=pattern, workers=3)


LIMITED = """
import sys, toksmith
from toksmith import _core
from toksmith.training import counting

class Counting:
    def __init__(self, *given, **options):
        self.core = _core.Counting(*given, **options)
    def __getattr__(self, name):
        return getattr(self.core, name)
    def finish(self, refuse=None):
        self.spilled = self.core.spills()
        return self.core.finish(refuse)

class Core:
    def __getattr__(self, name):
        return getattr(_core, name)
    def Counting(self, *given, **options):
        self.counting = Counting(*given, **options)
        return self.counting

counting._core = core = Core()
def peak():
    # Not `ru_maxrss`, which has the memory of the process that started this one.
    status = open("/proc/self/status").read() if sys.platform == "linux" else "VmHWM: 0"
    return int(status.partition("VmHWM:")[2].split()[0])
toksmith.count_pretokens  # imports what it needs
before = peak()
options = {"special_tokens": ["<|endoftext|>"], "workers": 2}
try:
    counts = toksmith.count_pretokens(sys.argv[1], memory_limit=sys.argv[2], **options)
    result = len(counts), counts.total
except MemoryError:
    result = 0, 0
print(before * 1024, peak() * 1024, *result, core.counting.spilled)
"""


def check_limits(file: Path, text_bytes: int, limits: list[int]) -> None:
    """Count under limits in bytes: memory, and how much and how often is written, which is what takes time."""
    results = set()
    for limit in limits:
        command = [sys.executable, "-c", LIMITED, file, str(limit)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        before, peak, unique, total, spills = map(int, said.split())
        what = f"{limit} bytes: {said}"
        if sys.platform == "linux":
            assert peak - before < limit + 30_000_000, what
        # The result needs room in three quarters of the limit.
        if unique:
            results.add((unique, total))
        # A table has a 64th of a third of the limit, or of 32 MB. At least a sixth of that is written at a time, and
        # less than the text in all.
        table = max(limit, 32 << 20) // 3 // 64
        assert spills <= 6 * text_bytes // table + 1, what
    assert len(results) == 1


# From 2 MB to 1 GB.
LIMITS = [round(2_000_000 * 500 ** (step / 19)) for step in range(20)]


def corpus(size: str) -> bytes:
    script = Path(__file__).resolve().parents[3] / "scripts/make_corpus.py"
    return subprocess.run([sys.executable, script, "-", size], capture_output=True, check=True).stdout


@pytest.mark.memory
def test_limits_do_not_degenerate(tmp_path: Path) -> None:
    """Short words, then many that are different and long, then short ones again: tables grow at bad moments."""
    rng = random.Random(3)
    short = [f" {rng.randrange(1 << 40):x}" for _ in range(300_000)]
    long = [" " + "x" * (20 + number % 300) + str(number) for number in range(30_000)]
    file = tmp_path / "text"
    file.write_text("".join(short + long + short + [" " + "y" * 2_000_000] + short[::-1] + long))
    check_limits(file, 4 * file.stat().st_size, LIMITS[::4])


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_limit_holds(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"corpus.txt{suffix}"
    made = corpus("300MB")
    file.write_bytes(gzip.compress(made, 1) if suffix else made)
    check_limits(file, len(made), LIMITS)


def test_equal_counts() -> None:
    words = {b"%d" % number: number + 1 for number in range(5000)}
    counts = PretokenCounts(words)
    turned = PretokenCounts(dict(reversed(words.items())))
    assert counts == PretokenCounts(words) == turned
    assert counts + PretokenCounts({}) == counts
    assert counts != counts + PretokenCounts({b"4999": 1})
    assert counts != PretokenCounts({**words, b"4999": 1})
    assert counts != PretokenCounts({**words, b"new": 1})
    assert counts != PretokenCounts(words, pattern="o200k")
    assert counts != PretokenCounts(words, special_tokens=["<s>"])
    specials = (PretokenCounts(words, special_tokens=names) for names in (["<s>", "<e>"], ["<e>", "<s>"]))
    assert next(specials) == next(specials)
    assert counts != words
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)
