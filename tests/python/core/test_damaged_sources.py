"""Damaged sources: whatever reads a file, the error says which file it is."""

import gzip
import lzma
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toksmith

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = [f"hello world, naïve 日本 {number % 17}" for number in range(200)]
TABLES: dict[str, dict[str, Any]] = {
    "plain": {"compression": "none", "use_dictionary": False},
    "snappy": {"compression": "snappy"},
    "zstd": {"compression": "zstd", "use_dictionary": False, "data_page_version": "2.0"},
}
TOKENIZER = toksmith.Tokenizer()


def table(path: Path, kind: str) -> bytes:
    parquet.write_table(pa.table({"text": TEXTS}), path, row_group_size=90, **TABLES[kind])
    return path.read_bytes()


def damaged(data: bytes, count: int) -> Iterator[bytes]:
    """Yield the data with one bit changed, or without its end."""
    rng = random.Random(1)
    for number in range(count):
        at = rng.randrange(len(data))
        yield data[:at] if number % 9 == 0 else data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def check_named(path: Path, call: Callable[[], Any]) -> bool:
    """Check that an error names the file; return whether there was one."""
    try:
        call()
    except (ValueError, OSError) as error:
        assert str(error).startswith(f"{path}: ") or error.filename == str(path), repr(error)
        return True
    return False


@pytest.mark.parametrize("door", ["train", "replace", "tokenize", "inspect"])
@pytest.mark.parametrize("kind", TABLES)
def test_parquet(door: str, kind: str, tmp_path: Path, one_in: int) -> None:
    path = tmp_path / "a.parquet"
    calls: dict[str, Callable[[str], Any]] = {
        "train": lambda _: toksmith.count_pretokens(path),
        "replace": lambda _: toksmith.count_pretokens(toksmith.Corpus(path, errors="replace")),
        "tokenize": lambda out: toksmith.tokenize(path, TOKENIZER, tmp_path / out),
        "inspect": lambda _: toksmith.lab.inspect(TOKENIZER, path),
    }
    errors = 0
    for number, data in enumerate(damaged(table(path, kind), (15 if door == "inspect" else 60) // one_in)):
        path.write_bytes(data)
        errors += check_named(path, lambda: calls[door](f"out{number}"))  # noqa: B023
    assert errors


def test_damaged_metadata_ends_no_process(tmp_path: Path) -> None:
    """pyarrow 26 ends the process where it is asked for some damaged metadata of a column."""
    path = tmp_path / "a.parquet"
    table(path, "zstd")
    code = """if True:
        import sys
        from pathlib import Path
        from toksmith.files import tables
        from toksmith.files.inputs import Source
        path = Path(sys.argv[1])
        data = path.read_bytes()
        for at in range(len(data) - int.from_bytes(data[-8:-4], "little") - 8, len(data)):
            for bit in (1, 3):
                path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
                try:
                    list(tables.texts([Source(str(path), format="parquet")], "strict"))
                except ValueError as error:
                    assert str(error).startswith(f"{path}: "), repr(error)
    """
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_text_that_is_not_utf8(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    cells = pa.Array.from_buffers(kind, 2, pa.array([b"ab", b"c\xff"], pa.binary()).buffers())
    parquet.write_table(pa.table({"text": cells}), path)
    with pytest.raises(ValueError, match=r"a\.parquet: row 1: not UTF-8 at byte 1: give errors="):
        toksmith.count_pretokens(path)
    assert "\ufffd".encode() in toksmith.count_pretokens(toksmith.Corpus(path, errors="replace"))


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
@pytest.mark.parametrize("form", [".txt", ".jsonl"])
def test_compressed_files(suffix: str, compress: Callable[[bytes], bytes], form: str, tmp_path: Path) -> None:
    line = '{"text": "%s"}\n' if form == ".jsonl" else "%s\n"
    path = tmp_path / f"a{form}{suffix}"
    errors = 0
    for number, data in enumerate(damaged(compress("".join(line % text for text in TEXTS).encode()), 40)):
        path.write_bytes(data)
        errors += check_named(path, lambda: toksmith.count_pretokens(path))
        check_named(path, lambda: toksmith.tokenize(path, TOKENIZER, tmp_path / f"out{number}"))  # noqa: B023
    assert errors


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".counts"])
def test_counts(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"counts{suffix}"
    toksmith.count_pretokens(iter(TEXTS)).save(path)
    for data in damaged(path.read_bytes(), 200):
        path.write_bytes(data)
        try:
            toksmith.PretokenCounts.load(path)
        except ValueError as error:
            assert str(error).startswith(str(path)), repr(error)


def test_counts_with_a_broken_pattern_are_named() -> None:
    table = toksmith.count_pretokens(iter(TEXTS), pattern=r"\w+|\W+").to_arrow()
    metadata = {key: value.replace(rb"|\\W+", b"|(") for key, value in table.schema.metadata.items()}
    broken = table.replace_schema_metadata(metadata)
    with pytest.raises(ValueError, match=r"^the metadata of the table: the pattern .* is broken"):
        toksmith.PretokenCounts.from_arrow(broken)
