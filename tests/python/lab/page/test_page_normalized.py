"""The page in a browser with what stands before a tokenizer: normalizers, added tokens, a space in front."""

import itertools
import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import browser
import huggingface_cases
import page_texts
import pytest
from test_page_exact import Published, check
from test_page_use import click, content
from tokenizers import AddedToken, normalizers, pre_tokenizers

from toksmith import Tokenizer
from toksmith.formats.huggingface.file_patterns import steps_of
from toksmith.lab import page
from toksmith.lab.page import preprocessing

FORMS = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")
ADDED = [
    "<m>",
    AddedToken("É|", normalized=True),
    AddedToken("e\u0301!", normalized=False),
    AddedToken("<|ends|>", normalized=False),
    AddedToken("か\u3099x", normalized=True),
]


def normalizer_of(name: str) -> Any:
    return getattr(normalizers, name)()


def tokenizers() -> dict[str, Tokenizer]:
    made = {form: huggingface_cases.make(None, normalizer_of(form), ADDED) for form in FORMS}
    made["several"] = huggingface_cases.make(
        None, normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase(), normalizers.NFC()]), ADDED
    )
    made["added"] = huggingface_cases.make(None, None, ADDED)
    made["space"] = huggingface_cases.make(huggingface_cases.byte_level(add_prefix_space=True), None, ADDED)
    made["both"] = huggingface_cases.make(
        huggingface_cases.byte_level(add_prefix_space=True), normalizers.NFC(), ADDED
    )
    made["stages"] = huggingface_cases.make(
        pre_tokenizers.Sequence(
            [huggingface_cases.split(r"\p{N}{1,3}"), huggingface_cases.byte_level(use_regex=False)]
        ),
        normalizers.NFC(),
        ADDED,
    )
    return {name: Tokenizer.from_huggingface(one) for name, one in made.items()}


def texts(count: int, seed: int) -> list[str]:
    """Pieces that are normalized, words of all scripts with marks, added tokens."""
    rng = random.Random(seed)

    def soup(rng: random.Random, pieces: int) -> str:
        return huggingface_cases.text_of(rng, pieces)

    marks = [chr(code) for code in preprocessing._classes()]
    names = [token if isinstance(token, str) else token.content for token in ADDED]
    found = page_texts.texts(count, soup, names)
    for i in range(0, count, 3):
        at = rng.randrange(len(found[i]) + 1)
        found[i] = found[i][:at] + "".join(rng.choices(marks, k=rng.randrange(1, 5))) + found[i][at:]
    return found


def test_ids_and_spans(chromium: browser.Browser, tmp_path: Path) -> None:
    check(chromium, tmp_path / "page.html", tokenizers(), texts(100, 1))


@pytest.mark.long
def test_ids_and_spans_long(chromium: browser.Browser, tmp_path: Path) -> None:
    for seed in range(10):
        check(chromium, tmp_path / f"{seed}.html", tokenizers(), texts(200, seed))


ALL = [code for code in range(0x110000) if code not in range(0xD800, 0xE000)]
MANY = [range(0x800), range(0x1100, 0x1200), range(0x1E00, 0x2400), range(0x10000, 0x20000), range(0x2F800, 0x2FA80)]
SOME = list(itertools.chain.from_iterable(MANY))


@pytest.mark.parametrize("codes", [SOME, pytest.param(ALL, marks=pytest.mark.long)], ids=["some", "all"])
def test_every_character_and_every_pair(codes: list[int], chromium: browser.Browser, tmp_path: Path) -> None:
    """Each form gives what Python's gives, whatever Unicode the browser has."""
    made = {form: huggingface_cases.make(None, normalizer_of(form), count=1) for form in FORMS}
    page.write(tmp_path / "page.html", {name: Tokenizer.from_huggingface(one) for name, one in made.items()})
    chromium.open(tmp_path / "page.html")
    composed = preprocessing._pairs()
    marks = [*map(chr, preprocessing._classes()), "\u1161", "\u11a8", "\u11a7", "가", "각", "ᄀ", "a"]
    bases = {chr(left) for left, _, _ in composed} | {*marks, "é", "日"}
    rng = random.Random(1)
    texts = [*map(chr, codes), *(chr(left) + chr(right) for left, right, _ in composed)]
    texts += [left + right for left in sorted(bases) for right in rng.sample(marks, 10)]
    texts += ["".join(rng.choices(marks, k=6)) for _ in range(2000)]
    whole = json.dumps("\n".join(texts), ensure_ascii=False)
    for form in FORMS:
        found = chromium.evaluate(f"toksmith.prepared({json.dumps(form)}, {whole})")
        expected = steps_of(normalizer={"type": form}).normalize("\n".join(texts))
        if found != expected:
            both = zip(expected.split("\n"), found.split("\n"), texts, strict=False)
            assert [one for one in both if one[0] != one[1]][:5] == [], form
        assert found == expected


@pytest.mark.long
def test_a_published_vocabulary_with_a_normalizer(
    chromium: browser.Browser, tmp_path: Path, published: Published, corpora: dict[str, str]
) -> None:
    """As Qwen's own file: NFC, and added tokens of which some are not special."""
    published("qwen3", "qwen2").save_huggingface(tmp_path / "qwen")
    file = tmp_path / "qwen/tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["normalizer"] = {"type": "NFC"}
    for row in content["added_tokens"][5:]:
        row["special"] = False
    file.write_text(json.dumps(content), encoding="utf-8")
    names = [row["content"] for row in content["added_tokens"]]
    rng = random.Random(4)
    text = unicodedata.normalize("NFD", corpora["multi"][:60_000])
    cut = [text[at : at + 2000] + rng.choice(names) for at in range(0, len(text), 2000)]
    check(chromium, tmp_path / "page.html", {"qwen": Tokenizer.from_huggingface(file)}, cut + texts(50, 5))


def test_tokens_of_a_changed_text_are_shown_where_they_come_from(chromium: browser.Browser, tmp_path: Path) -> None:
    named = {
        "NFC": Tokenizer.from_huggingface(huggingface_cases.make(None, normalizers.NFC(), count=1)),
        "as it is": Tokenizer(),
    }
    page.write(tmp_path / "page.html", named, text="xe\u0301y")
    chromium.open(tmp_path / "page.html")
    click(chromium, "#panels > :nth-child(1) .token", 1)
    facts = content(chromium, ".facts")
    assert "U+00E9" in facts
    assert "2 of 4 in NFC, from character 1" in facts
    assert chromium.evaluate("document.querySelectorAll('#panels > :nth-child(2) .same').length") == 1
    click(chromium, "#panels > :nth-child(1) .token", 3)
    assert "4 of 4 in NFC, from character 3" in content(chromium, ".facts")
    chromium.press("Escape", 27)
    click(chromium, "#panels > :nth-child(2) .token", 1)
    assert chromium.evaluate("document.querySelectorAll('#panels > :nth-child(1) .same').length") == 2
