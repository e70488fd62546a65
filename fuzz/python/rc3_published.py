"""`tokenizers` 1.0 against 0.23 on what is published: `rc3_published.py FOLDER [tokenizer.json TEXT ...]`.

Without files: the pretokenizers of `tests/data/published_patterns.json`, and normalizers and pre-tokenizers on all
code points. With files: the ids of the texts in pieces of 4,000 characters, and what they decode to; .gz is unpacked.
"""

from __future__ import annotations

import gzip
import itertools
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tokenizers
from answers import answers, process
from pipeline_files import BYTES
from splitting import LETTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PUBLISHED = Path(__file__).parents[2] / "tests/data/published_patterns.json"
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
POINTS = [chr(point) for point in (*range(1, 0xD800), *range(0xE000, 0x32400), *range(0xE0000, 0xE0200))]
WITHOUT_OPTIONS = {
    "normalizer": ["NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Lowercase", "Nmt"],
    "pre_tokenizer": ["Whitespace", "WhitespaceSplit", "UnicodeScripts", "BertPreTokenizer"],
}
WITH_OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("normalizer", {"type": "Strip", "strip_left": True, "strip_right": True}),
    ("normalizer", {"type": "Replace", "pattern": {"Regex": r"\w"}, "content": "<"}),
    ("normalizer", {"type": "Replace", "pattern": {"Regex": r"\s"}, "content": "<"}),
    ("pre_tokenizer", {"type": "Punctuation", "behavior": "Isolated"}),
    ("pre_tokenizer", {"type": "Digits", "individual_digits": True}),
]


def file_of(**parts: Any) -> dict[str, Any]:
    """Return a file whose ids show what a normalizer makes of a text, or where a pre-tokenizer cuts it."""
    model: dict[str, Any] = {"type": "BPE", "vocab": {"?": 0}, "merges": [], "unk_token": "?", "fuse_unk": True}
    if "normalizer" in parts:
        return file_of(pre_tokenizer=BYTE_LEVEL) | parts
    if "ByteLevel" in json.dumps(parts):
        merges = list(itertools.product(BYTES, BYTES[1:]))  # 1.0 panics at 65,536
        vocab = {token: id for id, token in enumerate([*BYTES, *map("".join, merges)])}
        model = {"type": "BPE", "vocab": vocab, "merges": merges}
    return {"version": "1.0", "model": model, **parts}


def files() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is compared, by name."""
    for row in json.loads(PUBLISHED.read_text("utf-8")):
        if row["dialect"] == "huggingface":
            yield row["id"], file_of(pre_tokenizer={"type": "Sequence", "pretokenizers": row["stages"]})
    for name, kinds in WITHOUT_OPTIONS.items():
        yield from ((kind, file_of(**{name: {"type": kind}})) for kind in kinds)
    yield from ((f"{part}", file_of(**{name: part})) for name, part in WITH_OPTIONS)


def compare(ask: Callable[..., Any], name: str, content: str, texts: list[str], questions: list[str]) -> list[str]:
    """Print in how many texts the two libraries differ, and return these texts."""
    theirs = tokenizers.Tokenizer.from_str(content)
    ids = [[theirs.encode(text).ids] if "decode" in questions else [] for text in texts]
    newer = ask(content, texts, ids, questions)
    refused = newer if isinstance(newer, dict) else newer[0][questions[0]]
    if "error" in refused:
        print(f"{name}: {refused['error'][:100]}")
        return []
    expected = answers(theirs, texts, ids, tuple(questions))
    differ = [text for text, old, new in zip(texts, expected, newer, strict=True) if old != new]
    print(f"{name}: {len(differ):,} of {len(texts):,} texts differ", flush=True)
    return differ


def main(ask: Callable[..., Any], file: str = "", *paths: str) -> None:
    for path in paths:
        data = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
        text = data.decode()
        pieces = [text[at : at + 4000] for at in range(0, len(text), 4000)]
        compare(ask, f"{file}, {path}", Path(file).read_text("utf-8"), pieces, ["encode", "decode"])
    rng = random.Random(0)
    for name, content in files() if not file else ():
        texts = ["".join(rng.choices(LETTERS, k=rng.randrange(1, 14))) for _ in range(20000)]
        print(*map(ascii, compare(ask, f"{name}, random", json.dumps(content), texts, ["encode"])[:4]))
        texts = [f"a{point}1{point}{point} {point}a.{point}" for point in POINTS]
        print(
            *(
                f"{ord(text[1]):X}"
                for text in compare(ask, f"{name}, points", json.dumps(content), texts, ["encode"])[:99]
            )
        )


if __name__ == "__main__":
    with process(sys.argv[1]) as ask:
        main(ask, *sys.argv[2:])
