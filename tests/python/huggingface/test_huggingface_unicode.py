"""Every code point through everything that asks Unicode, against `tokenizers`."""

import json
import random
from typing import Any

import pytest
import regex
from huggingface_cases import NORMALIZERS, split
from part_steps import steps_of
from tokenizers import normalizers, pre_tokenizers

from toksmith import _core

EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
# From U+34000 on there are tags, and characters that are unassigned or private: of these, one in fifty.
RNG = random.Random(0)
MOST = [c for c in EVERY if c < "\U00034000" or "\U000e0000" <= c < "\U000e1000" or RNG.random() < 0.02]
CHARACTERS = [pytest.param(MOST, id="most"), pytest.param(EVERY, id="every", marks=pytest.mark.long)]
ALL: dict[str, Any] = {
    **NORMALIZERS,
    "BertNormalizer": normalizers.BertNormalizer(),
    "cleaned": normalizers.BertNormalizer(True, False, False, False),
    "spaced": normalizers.BertNormalizer(False, True, True, False),
    "ByteLevel": normalizers.ByteLevel(),
}
STARTERS = "aA ΣΥ가ᄀα"
MARKS = "\u0301\u0316\u0345\u0f72\u0f73\u1161\u11a8\u3099\u0344"


@pytest.mark.parametrize("characters", CHARACTERS)
@pytest.mark.parametrize("name", ALL)
def test_normalizers_on_code_points(name: str, characters: list[str]) -> None:
    rng = random.Random(name)
    theirs = ALL[name]
    normalize = steps_of(normalizer=json.loads(theirs.__getstate__())).normalize
    for around in (("", "\0"), (rng.choice(STARTERS), rng.choice(MARKS))):
        text = "".join(f"{around[0]}{c}{around[1]}" for c in characters)
        changed = theirs.normalize_str(text)
        if normalize(text) != changed:
            wrong = next(c for c in characters if normalize(c) != theirs.normalize_str(c))
            raise AssertionError(f"{name} of U+{ord(wrong):04X}")
    for _ in range(500):
        text = "".join(rng.choices([*rng.sample(EVERY, 20), *MARKS, *STARTERS], k=6))
        assert normalize(text) == theirs.normalize_str(text)


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"ByteLevel"}))  # which leaves nothing beyond ASCII
def test_what_is_left_alone_is_left_alone_in_parts(name: str) -> None:
    rng = random.Random(name)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False}
    parts = {"normalizer": json.loads(ALL[name].__getstate__()), "pre_tokenizer": byte_level}
    normalize = steps_of(**parts).normalize
    vocab = {_core.spell(bytes([byte])): byte for byte in range(256)}
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    core = _core.Tokenizer.of_huggingface(json.dumps({**parts, "model": model}).encode())
    alphabet = [*MARKS, *STARTERS, *rng.sample(EVERY, 60), "é", "\u1100\u1161", "ﬁ", "\t"]
    left = 0
    for _ in range(3000):
        text = normalize("".join(rng.choices(alphabet, k=5)))
        if core.leaves(text, True):
            left += 1
            for start in range(len(text)):
                for end in range(start, len(text) + 1):
                    assert normalize(text[start:end]) == text[start:end]
        else:
            assert name in ("Lowercase", "BertNormalizer") or normalize(text) != text
    assert left > 1500


KINDS: dict[str, Any] = {
    "numeric": pre_tokenizers.Digits(True),
    "punctuation": pre_tokenizers.Punctuation("isolated"),
    "whitespace": pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit()]),
}


@pytest.mark.parametrize("characters", CHARACTERS)
@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_characters(name: str, characters: list[str]) -> None:
    # Letters stand between the characters, so that each is a piece of its own only where it is of the kind.
    text = "".join(f"a{c}" for c in characters) + "a"
    part = json.loads(KINDS[name].__getstate__())
    assert steps_of(pre_tokenizer=part).pre_tokenize(text) == KINDS[name].pre_tokenize_str(text)


@pytest.mark.parametrize("characters", CHARACTERS)
def test_scripts(characters: list[str]) -> None:
    theirs = pre_tokenizers.UnicodeScripts()
    pre_tokenize = steps_of(pre_tokenizer={"type": "UnicodeScripts"}).pre_tokenize
    for around in ("", "a", "あ", "?"):
        text = around + around.join(characters)
        assert pre_tokenize(text) == theirs.pre_tokenize_str(text)
    assert all(pre_tokenize(c) == theirs.pre_tokenize_str(c) for c in characters[::7])


def test_classes_differ_where_the_original_has_no_character_yet() -> None:
    """docs/huggingface.md: Oniguruma is at Unicode 16, `regex` and the scanners may be later."""
    text = "\n".join(MOST)
    parts = ["\n".join(MOST[start : start + 1000]) for start in range(0, len(MOST), 1000)]

    def of_original(name: str) -> set[str]:
        theirs = split(f"\\p{{{name}}}", "removed", True)
        return {c for part in parts for piece, _ in theirs.pre_tokenize_str(part) for c in piece}

    unassigned = of_original("Cn")
    for name in ("L", "N", "M", "P", "S", "Z", "Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Pc"):
        ours = set(regex.findall(f"\\p{{{name}}}", text))
        different = ours ^ of_original(name)
        assert different - unassigned <= ({"\u0295"} if name in ("Ll", "Lo") else set()), name
