"""What is encoded: the corpora without special tokens, and strings made to be slow."""

import gzip
import random
import re
import string
from collections.abc import Iterable
from pathlib import Path

SEPARATOR = "<|endoftext|>"
CORPORA = ("en", "code", "multi", "cjk")

# Han, kana and their punctuation, in full width too.
CJK = re.compile(
    "[\u2e80-\u2fdf\u3000-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def is_cjk(line: str) -> bool:
    """Tell whether more than half of the characters of a line are Han, kana or their punctuation."""
    return len(CJK.findall(line)) * 2 > len(line.strip()) > 0


def cjk_lines(document: str) -> str:
    return "".join(line for line in document.splitlines(keepends=True) if is_cjk(line))


def without(text: str, names: Iterable[str]) -> str:
    """Take special tokens out of a text, also those that come about by taking others out."""
    pattern = re.compile("|".join(map(re.escape, names)))
    while pattern.search(text):
        text = pattern.sub("", text)
    return text


def write_corpora(data: Path, folder: Path, names: Iterable[str]) -> None:
    """Write each corpus as plain text: documents without special tokens, the separator between them."""
    folder.mkdir(parents=True, exist_ok=True)
    specials = list(names)
    for corpus in CORPORA:
        source = data / "corpora" / f"{'multi' if corpus == 'cjk' else corpus}.txt.gz"
        documents = gzip.decompress(source.read_bytes()).decode().split(SEPARATOR)
        if corpus == "cjk":
            documents = [cjk_lines(document) for document in documents]
        plain = [without(document, specials) for document in documents]
        plain = [document for document in plain if document]
        joined = "".join(plain)
        if without(joined, specials) != joined:
            raise SystemExit(f"{corpus}: a special token comes about where two documents meet")
        (folder / f"{corpus}.txt").write_bytes(SEPARATOR.join(plain).encode())


def read_documents(folder: Path, corpus: str, limit: int | None = None) -> list[str]:
    """The documents of a corpus, about the first `limit` characters of them."""
    documents = (folder / f"{corpus}.txt").read_bytes().decode().split(SEPARATOR)
    if limit is None:
        return documents
    taken, total = [], 0
    for document in documents:
        if total >= limit:
            break
        taken.append(document)
        total += len(document)
    return taken


def read_text(folder: Path, corpus: str, limit: int | None = None) -> str:
    """The documents of a corpus as one text."""
    return "".join(read_documents(folder, corpus, limit))


def strings(text: str, length: int, number: int) -> list[str]:
    """Different strings of one length, spread evenly over a text."""
    step = max(length, len(text) // number)
    found = dict.fromkeys(text[at : at + length] for at in range(0, len(text) - length, step))
    return list(found)[:number]


LENGTHS = (20, 200, 2000)


def small_strings(folder: Path, corpus: str, limit: int | None) -> dict[int, list[str]]:
    """Different strings of each length, 4 MB of each at most; under 0 some of another part of the text to warm up."""
    text = read_text(folder, corpus, min(limit or 6_000_000, 6_000_000))
    rest = len(text) // 20
    found = {length: strings(text[rest:], length, min(20_000, 4_000_000 // length)) for length in LENGTHS}
    return {0: strings(text[:rest], 100, 200)} | found


DOCUMENT_BYTES = (512, 4096, 32768)
DOCUMENTS = 400


def fresh_documents(folder: Path, corpus: str, size: int, limit: int | None) -> list[str]:
    """Different documents of `size` bytes each, spread evenly over a corpus."""
    data = read_text(folder, corpus, limit).encode()
    step = max(size, len(data) // DOCUMENTS)
    starts = range(0, len(data) - size + 1, step)
    return [data[at : at + size].decode("utf-8", "ignore") for at in starts][:DOCUMENTS]


SLICE_BYTES = (140, 4096)


def slices(folder: Path, corpus: str, size: int, limit: int | None) -> list[str]:
    """About the first 4 MB of a corpus in texts of `size` bytes each."""
    data = read_text(folder, corpus, min(limit or 4_000_000, 4_000_000)).encode()
    return [data[at : at + size].decode("utf-8", "ignore") for at in range(0, len(data) - size + 1, size)]


HOSTILE = ("spaces", "^", "0", "a", "'s", "newlines", "letters")
"""The first three of the inputs that broke others: a million of something, and a long word of random letters."""

HOSTILE_COUNTS: dict[str, dict[str, int]] = {
    "gpt2": {"^": 250_000, "0": 62_500, "a": 250_000, "'s": 1_000_000, "newlines": 500_000, "letters": 59_736},
    "cl100k": {"^": 250_000, "0": 333_334, "a": 125_000, "'s": 1_000_000, "newlines": 31_250},
    "o200k": {"spaces": 7_813, "^": 125_000, "0": 333_334, "a": 125_000, "'s": 1_000_000, "newlines": 62_500},
}
"""How many tokens they are (openai/tiktoken#15, #195, #245)."""


def hostile(name: str, scale: int = 1) -> str:
    """One of `HOSTILE`; with `scale=2` twice as long."""
    if name == "letters":
        rng = random.Random(0)
        return "".join(rng.choice(string.ascii_lowercase) for _ in range(100_000 * scale))
    return {"spaces": " ", "newlines": "\n"}.get(name, name) * (1_000_000 * scale)
