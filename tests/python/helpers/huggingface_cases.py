"""What the tests of Hugging Face files share: small tokenizers, texts that try them, and the comparison."""

import json
import random
from collections.abc import Sequence
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

from toksmith import Tokenizer
from toksmith._core import EncodingSettings, HuggingFaceEncoding, spell
from toksmith.reference import GPT2_BYTE_ORDER


def encoded(tokenizer: Tokenizer, text: str) -> HuggingFaceEncoding:
    """Return ids, tokens and offsets of `text`, before a template puts tokens around it."""
    return EncodingSettings("[null, null]", None).encode(tokenizer._core, [text], (False, True, False, False, 1))


# Letters of both cases, a contraction, digits of several scripts, whitespace, marks in and out of order, letters that
# compose and decompose, characters that fold or expand, CJK, Hangul in parts, emoji, special tokens.
PIECES = (
    *"ab the,!x",
    *("the", "King", "ing", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u200b", "\ufeff", "\x1f", "\x85"),
    *(
        "é",
        "e\u0301",
        "\u0301",
        "A\u0316\u0301",
        "a\u0301\u0316",
        "\u0344",
        "Å",
        "ﬁ",
        "ß",
        "ΑΣ",
        "İ",
        "ſ",
        "K",
        "'S",
        "'ll",
    ),
    *("日本", "か\u3099", "한", "ᄒ\u1161\u11ab", "1", "23", "4567", "٣", "²", "Ⅷ", "😀", "—", "_", "^", "$x"),
    *("<s>", "<|end|>", "[M]", "<m>", " [M] ", "<|END|>"),
)
# Merges over these make tokens that the pieces above reach.
SEEDS = (
    "the",
    " the",
    "King",
    " King",
    "ing",
    "  ",
    "日本",
    "1234",
    "ab",
    " a",
    "\n\n",
    "é",
    "<|e",
    "nd|>",
    "e\u0301",
)

DEEPSEEK = (
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)


# The normalizers without options.
NORMALIZERS: dict[str, Any] = {
    "NFC": normalizers.NFC(),
    "NFD": normalizers.NFD(),
    "NFKC": normalizers.NFKC(),
    "NFKD": normalizers.NFKD(),
    "Lowercase": normalizers.Lowercase(),
    "StripAccents": normalizers.StripAccents(),
    "Nmt": normalizers.Nmt(),
}


def split(pattern: str, behavior: str = "isolated", invert: bool = False) -> Any:
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(**options: Any) -> Any:
    return pre_tokenizers.ByteLevel(**{"add_prefix_space": False, **options})


def sequence(*parts: Any) -> Any:
    return pre_tokenizers.Sequence([*parts])


def vocab_and_merges(rng: random.Random, count: int = 60) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The 256 bytes and some merges, most of them of parts of the seeds."""
    vocab = {spell(bytes([byte])): i for i, byte in enumerate(GPT2_BYTE_ORDER)}
    merges = []
    while len(merges) < count:
        if rng.random() < 0.8:
            data = rng.choice(SEEDS).encode()
            cut = rng.randrange(1, len(data)) if len(data) > 1 else 0
            left, right = spell(data[:cut]), spell(data[cut:])
        else:
            left, right = rng.choice(list(vocab)), rng.choice(list(vocab))
        if left not in vocab or right not in vocab:
            start = rng.randrange(len(data) - 1) if len(data) > 1 else 0
            left, right = spell(data[start : start + 1]), spell(data[start + 1 : start + 2])
        if left and right and (left, right) not in merges and len(left + right) < 12:
            merges.append((left, right))
            vocab.setdefault(left + right, len(vocab))
    return vocab, merges


def make(
    pre_tokenizer: Any = None, normalizer: Any = None, added: Sequence[Any] = (), seed: int = 0, **options: Any
) -> Any:
    """A `tokenizers.Tokenizer` with random merges."""
    vocab, merges = vocab_and_merges(random.Random(seed), options.pop("count", 60))
    made = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges, **options))
    made.pre_tokenizer = pre_tokenizer or byte_level()
    if normalizer is not None:
        made.normalizer = normalizer
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<s>", "<|end|>"])
    if added:
        made.add_tokens([*added])
    return made


def content(made: Any) -> dict[str, Any]:
    """The JSON of a tokenizer, to be changed."""
    found: dict[str, Any] = json.loads(made.to_str())
    return found


def text_of(rng: random.Random, pieces: int) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(pieces + 1)))


def assert_same(ours: Tokenizer, theirs: Any, text: str) -> None:
    """Compare ids, tokens and offsets, before anything is put around the text."""
    truth = theirs.encode(text, add_special_tokens=False)
    found = encoded(ours, text)
    context = (text, theirs.to_str()[:2000])
    assert found.ids == truth.ids, context
    assert ours.encode(text) == truth.ids, context
    assert found.tokens == truth.tokens, context
    assert found.offsets == truth.offsets, context


def assert_same_everywhere(theirs: Any, seed: int = 0, texts: int = 150) -> Tokenizer:
    rng = random.Random(seed)
    ours = Tokenizer.from_huggingface(theirs)
    for _ in range(texts):
        assert_same(ours, theirs, text_of(rng, 12))
    return ours


ADDED = (
    AddedToken("[M]", lstrip=True, special=True, normalized=False),
    AddedToken("<m>", lstrip=True, rstrip=True),
    AddedToken("ing", single_word=True),
    AddedToken("King"),
    AddedToken("the "),
)
