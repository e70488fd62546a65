"""`toksmith count`: the numbers are those of `encode`, for every kind of file that training reads."""

import gzip
import json
import lzma
import random
import signal
import subprocess
from pathlib import Path

import pytest
from command import TOKSMITH, run_command

import toksmith
from toksmith import Corpus, Tokenizer
from toksmith.encoding import text_streaming

SPECIAL = "<|endoftext|>"
TEXTS = ["the lowest of the low", "", f"žluťoučký{SPECIAL} 日本\r\n", "low\u2028 lower\n\n new"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(TEXTS * 3), 290, special_tokens=[SPECIAL])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    folder = tmp_path_factory.mktemp("count")
    tokenizer.save(folder / "t.json")
    lines = "".join(json.dumps({"n": 1, "body": text}) + "\n" for text in TEXTS).encode()
    (folder / "in").mkdir()
    for number, text in enumerate(TEXTS):
        (folder / f"in/{number}.txt").write_bytes(text.encode())
    (folder / "in/4.txt.gz").write_bytes(gzip.compress(TEXTS[2].encode() * 9))
    (folder / "lines.jsonl").write_bytes(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\n \n"))
    (folder / "lines.jsonl.xz").write_bytes(lzma.compress(lines[:-1]))
    (folder / "bad.txt").write_bytes(b"ab\xff")
    (folder / "bad.jsonl").write_bytes(b'{"body": "a"}\n{"other": 1}\n')
    return folder


def run(*arguments: object, cwd: Path, status: int = 0, stdin: bytes = b"") -> str:
    done = run_command("count", *arguments, cwd=cwd, stdin=stdin)
    assert done.returncode == status, done.stderr.decode()
    assert (done.stdout == b"") is (status != 0)
    return (done.stderr if status else done.stdout).decode()


def row(tokenizer: Tokenizer, texts: list[str], special: bool = True) -> list[int]:
    return [
        sum(len(tokenizer.encode(text, special=special)) for text in texts),
        len(texts),
        sum(len(text.encode()) for text in texts),
    ]


def test_every_kind_of_file(folder: Path, tokenizer: Tokenizer) -> None:
    stdin = json.dumps({"body": TEXTS[2]}).encode()
    shown = run("-t", "t.json", "in", "lines.jsonl*", "-", "--field", "body", cwd=folder, stdin=stdin)
    found = {line.split(maxsplit=3)[3]: [int(word) for word in line.split()[:3]] for line in shown.splitlines()}
    expected = {f"in/{number}.txt": row(tokenizer, [text]) for number, text in enumerate(TEXTS)}
    expected["in/4.txt.gz"] = row(tokenizer, [TEXTS[2] * 9])
    expected |= dict.fromkeys(("lines.jsonl", "lines.jsonl.xz"), row(tokenizer, TEXTS))
    expected["standard input"] = row(tokenizer, [TEXTS[2]])
    total = [sum(numbers) for numbers in zip(*expected.values(), strict=True)]
    assert found == expected | {"total": total}
    assert list(found) == [*expected, "total"]


def test_parquet(tmp_path: Path, tokenizer: Tokenizer) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    tokenizer.save(tmp_path / "t.json")
    parquet.write_table(pa.table({"text": TEXTS, "raw": [text.encode() for text in TEXTS]}), tmp_path / "a.parquet")
    for options in ([], ["--column", "raw"]):
        shown = run("-t", "t.json", "a.parquet", *options, cwd=tmp_path)
        assert [int(word) for word in shown.split()[:3]] == row(tokenizer, TEXTS)
    assert "name one with --column NAME" in run("-t", "t.json", "a.parquet", "--column", "x", cwd=tmp_path, status=1)


def test_zstandard(tmp_path: Path, tokenizer: Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow")
    tokenizer.save(tmp_path / "t.json")
    text = " ".join(TEXTS) * 20_000
    (tmp_path / "a.txt.zst").write_bytes(pa.compress(text.encode(), "zstd", asbytes=True))
    assert run("-t", "t.json", "a.txt.zst", cwd=tmp_path).split()[:3] == list(map(str, row(tokenizer, [text])))


def test_standard_input_is_the_default(folder: Path, tokenizer: Tokenizer) -> None:
    tokens, _, size = row(tokenizer, [TEXTS[0]])
    assert run("-t", "t.json", cwd=folder, stdin=TEXTS[0].encode()) == f"{tokens} 1 {size} standard input\n"
    assert run("--model", "t.json", cwd=folder) == "0 1 0 standard input\n"


def test_no_special(folder: Path, tokenizer: Tokenizer) -> None:
    shown = run("-t", "t.json", "--no-special", "in/2.txt", cwd=folder)
    assert [int(word) for word in shown.split()[:3]] == row(tokenizer, [TEXTS[2]], special=False)


@pytest.mark.parametrize("separator", [SPECIAL, "\n", "low", "lolow", "aa"])
def test_documents_between_separators(separator: str, folder: Path, tokenizer: Tokenizer) -> None:
    rng = random.Random(separator)
    text = "".join(rng.choice([separator, separator[:1], separator[1:], "the low ", "a", "lo"]) for _ in range(300))
    texts = [part for part in text.split(separator) if part]
    (folder / "separated").write_text(text, newline="")
    expected = row(tokenizer, texts)
    for files, stdin in ((["separated"], b""), ([], text.encode())):
        shown = run("-t", "t.json", "--document-separator", separator, *files, cwd=folder, stdin=stdin)
        assert [int(word) for word in shown.split()[:3]] == expected


def test_json(folder: Path, tokenizer: Tokenizer) -> None:
    found = json.loads(run("-t", "t.json", "in/0.txt", "in/2.txt", "--json", cwd=folder))
    names = ("tokens", "documents", "bytes")
    rows = [row(tokenizer, [TEXTS[number]]) for number in (0, 2)]
    assert found["files"] == [
        {"name": name} | dict(zip(names, numbers, strict=True))
        for name, numbers in zip(("in/0.txt", "in/2.txt"), rows, strict=True)
    ]
    assert found["total"] == dict(zip(names, map(sum, zip(*rows, strict=True)), strict=True))


def test_bytes_that_are_not_utf8(folder: Path) -> None:
    message = run("-t", "t.json", "bad.txt", cwd=folder, status=1)
    assert message == (
        "toksmith: error: bad.txt: not UTF-8 at byte 2: give --errors replace to read invalid bytes as U+FFFD\n"
    )
    assert run("-t", "t.json", "bad.txt", "--errors", "replace", cwd=folder).split()[:3] == ["5", "1", "5"]


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("in/nope.txt",), 1, "in/nope.txt: No such file"),
        (("nope*",), 1, "no file matches"),
        (("bad.jsonl", "--field", "body"), 1, "bad.jsonl: line 2 (byte 14): there is no field"),
        (("in", "--field", "body"), 1, "--field 'body' is for files of records: there is none"),
        (("t.json", "--workers", "0"), 1, "--workers is at least 1"),
        (("--frobnicate",), 2, "No such option"),
    ],
)
def test_errors(arguments: tuple[str, ...], status: int, expected: str, folder: Path) -> None:
    message = run("-t", "t.json", *arguments, cwd=folder, status=status)
    assert expected in message.replace("--field body is", "--field 'body' is")
    assert len(message.splitlines()) == 1


def test_a_tokenizer_is_needed(folder: Path) -> None:
    assert "Missing option '-t'" in run("in", cwd=folder, status=2)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_end_while_reading(sent: signal.Signals, folder: Path) -> None:
    command = [*TOKSMITH, "count", "-t", str(folder / "t.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdin.write(b"the low " * 200_000)  # more than a pipe holds: it reads
        child.send_signal(sent)
        output, errors = child.communicate(timeout=60)
    assert (output, errors) == (b"", b"")
    assert child.returncode == (130 if sent is signal.SIGINT else 143)


# What it stands on


@pytest.mark.parametrize("pattern", ["gpt2", r"\w+|\W", r"(?<!x)\w+|\W+", None])
def test_counting_pieces_is_counting_the_whole(pattern: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_streaming, "CHUNK_CHARACTERS", 200)
    monkeypatch.setattr(text_streaming, "_TAIL_CHARACTERS", 50)
    rng = random.Random(2)
    tokenizer = toksmith.train(iter(TEXTS * 3), 280, special_tokens=[SPECIAL], pattern=pattern)
    text = "".join(rng.choice([*TEXTS, "a" * 300, SPECIAL[:4]]) for _ in range(60))
    cuts = sorted(rng.choices(range(len(text)), k=80))
    pieces = [text[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    for special in (True, False):
        assert text_streaming.count(tokenizer._core, pieces, special, 2) == tokenizer.count(text, special=special)


def test_documents_are_those_of_training(folder: Path) -> None:
    """The texts of all kinds of files, read in Python, have the counts that the core reads from the files."""
    names = [folder / "in", folder / "lines.jsonl", folder / "lines.jsonl.xz"]
    texts = ["".join(document.pieces) for document in Corpus(names, field="body").documents()]
    assert len(texts) == 5 + 2 * len(TEXTS)
    counted = toksmith.count_pretokens(toksmith.Corpus(names, field="body"))
    assert toksmith.count_pretokens(iter(texts)).items() == counted.items()


def test_records_over_the_borders_of_blocks(tmp_path: Path) -> None:
    rng = random.Random(4)
    texts = ["é" * rng.randrange(300_000) for _ in range(12)]
    lines = "\r\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts)
    (tmp_path / "a.jsonl").write_bytes(lines.encode())
    corpus = Corpus(tmp_path / "a.jsonl")
    read: list[int] = []
    assert ["".join(document.pieces) for document in corpus.documents(read.append)] == texts
    assert sum(read) == (tmp_path / "a.jsonl").stat().st_size
