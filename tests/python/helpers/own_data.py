"""Corpora and vocabularies that the project makes of its own samples, for tests where ../shared/data is not there.

They depend on nothing that changes with the code, so that tests have the same text in each run.
"""

import base64
import gzip
import itertools
import json
import random
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

from published_data import spelled_bytes

from toksmith import IdOrder, Tokenizer, patterns, train

SAMPLES = Path(__file__).resolve().parents[3] / "python/toksmith/samples"
EOT = "<|endoftext|>"
CORPUS_CHARACTERS = 10_000_000
DOCUMENT_CHARACTERS = 3000

SCRIPTS = re.findall(r"\S+", "Aa Ǆʯ Άϻ Ѐӿ Աև את ؠي ऄह ஃஹ กะ Ⴠჿ ሀፚ ぁゖ ァヺ 一鿕 가힣 Ḁỿ 𐐀𐑏")
"""The first and the last letter of each."""

NAMES = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k", "qwen3": "qwen2"}
"""The names of the rank files, and their patterns."""
SPECIALS = {
    "gpt2": [EOT],
    "cl100k_base": [EOT, "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|endofprompt|>"],
    "o200k_base": [EOT, "<|endofprompt|>"],
    "qwen3": [EOT, "<|im_start|>", "<|im_end|>"],
}
VOCAB_SIZE = 6000


def sample(name: str) -> str:
    return gzip.decompress((SAMPLES / name).read_bytes()).decode()


def english(rng: random.Random) -> Callable[[], str]:
    """Makes paragraphs in which each word follows one that it follows in the guides."""
    words = re.findall(r"\S+\s*", sample("guides.txt.gz"))
    followers: dict[str, list[str]] = {}
    for word, follower in itertools.pairwise(words):
        followers.setdefault(word, []).append(follower)

    def paragraph() -> str:
        made = [rng.choice(words)]
        for _ in range(rng.randrange(20, 120)):
            made.append(rng.choice(followers.get(made[-1], words)))
        return "".join(made).rstrip() + "\n\n"

    return paragraph


def code(rng: random.Random) -> Callable[[], str]:
    """Makes functions of the sources, each with another name for one of its words."""
    blocks = sample("sources.txt.gz").split("\n\n")

    def block() -> str:
        text = rng.choice(blocks)
        word = rng.choice(re.findall(r"\w+", text) or ["x"])
        return text.replace(word, f"{word}_{rng.randrange(10_000)}") + "\n\n"

    return block


def languages(rng: random.Random) -> Callable[[], str]:
    """Makes articles in eight languages, and sentences of random words in the letters of a script."""
    files = sorted(SAMPLES.glob("human_rights/*.txt"))
    articles = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    scripts = [
        [chr(point) for point in range(ord(ends[0]), ord(ends[1]) + 1) if unicodedata.category(chr(point))[0] in "LM"]
        for ends in SCRIPTS
    ]
    words = [["".join(rng.choices(letters, k=rng.randrange(1, 10))) for _ in range(3000)] for letters in scripts]

    def paragraph() -> str:
        if rng.random() < 0.3:
            return rng.choice(articles) + "\n"
        known = rng.choice(words)
        # The most frequent of 3,000 words is 3,000 times as frequent as the last.
        made = [known[int(3000 ** rng.random()) - 1] for _ in range(rng.randrange(5, 60))]
        mark = rng.choice(("-", "(2026)", "12", "👍🏽", "“x”"))
        return f"{' '.join(made)} {mark} {''.join(made[:9])}。\n"

    return paragraph


def text_of(paragraph: Callable[[], str], characters: int) -> str:
    """Return so many characters of documents, with `EOT` between them."""
    parts, size, document = [], 0, 0
    while size < characters:
        part = paragraph()
        if document > DOCUMENT_CHARACTERS:
            part, document = EOT + part, 0
        parts.append(part)
        size += len(part)
        document += len(part)
    return "".join(parts)[:characters]


def corpora() -> dict[str, str]:
    makers = {"en": english, "code": code, "multi": languages}
    return {name: text_of(make(random.Random(name)), CORPUS_CHARACTERS) for name, make in makers.items()}


def write_vocabularies(folder: Path) -> None:
    """Write rank files and their special tokens, under the names of published ones, below a folder."""
    (folder / "vocabs").mkdir()
    texts = [text_of(make(random.Random(0)), 400_000) for make in (english, code, languages)]
    for name, pattern in NAMES.items():
        trained = train(iter(texts), VOCAB_SIZE, pattern=patterns.NAMED[pattern], ids=IdOrder(single_bytes="gpt2"))
        lines = [base64.b64encode(token) + b" %d\n" % id for id, token in sorted(trained.vocab.items())]
        (folder / f"vocabs/{name}.tiktoken").write_bytes(b"".join(lines))
        ids = {special: VOCAB_SIZE + number for number, special in enumerate(SPECIALS[name])}
        (folder / f"vocabs/{name}.special.json").write_text(json.dumps(ids), encoding="utf-8")
        if name == "gpt2":
            write_gpt2_files(folder / "vocabs", trained, ids)


def write_gpt2_files(folder: Path, trained: Tokenizer, specials: dict[str, int]) -> None:
    """Write GPT-2's `vocab.json` and `merges.txt` of a tokenizer."""
    characters = spelled_bytes()

    def spell(token: bytes) -> str:
        return "".join(characters[byte] for byte in token)

    vocab = {spell(token): id for id, token in trained.vocab.items()} | specials
    merges = [f"{spell(left)} {spell(right)}\n" for left, right in trained.merges]
    (folder / "gpt2_vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    (folder / "gpt2_merges.txt").write_text("".join(merges), encoding="utf-8")


def unescaped(text: str) -> bytes:
    r"""Return the token that a text in toksmith's own file stands for: a byte is `\xNN`, a backslash is doubled."""
    parts = re.split(r"\\(\\|x[0-9a-f]{2})", text)
    escapes = (b"\\" if part == "\\" else bytes.fromhex(part[1:]) for part in parts[1::2])
    return b"".join(part.encode() + next(escapes, b"") for part in parts[::2])
