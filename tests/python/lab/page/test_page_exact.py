"""The page of tokens in a browser: its ids and spans are Python's."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser
import huggingface_cases
import page_texts
import pytest
from tokenizers import pre_tokenizers

from toksmith import Tokenizer, train_from_iterator
from toksmith.lab import page

Published = Callable[[str, str], Tokenizer]

SPECIAL = ["<|endoftext|>", "<|end|>", "<|end", "é|>", "\ufffd!", " two words "]


def check(chromium: browser.Browser, path: Path, tokenizers: dict[str, Tokenizer], texts: list[str]) -> None:
    """Compare ids and spans of all texts, with special tokens read and as text, and name the first difference."""
    page.write(path, tokenizers)
    chromium.open(path)
    for name, tokenizer in tokenizers.items():
        for special in (True, False):
            call = (
                f"{json.dumps(texts)}.map((text) => toksmith.encode({json.dumps(name)}, text, {json.dumps(special)}))"
            )
            found = chromium.evaluate(call)
            for text, result in zip(texts, found, strict=True):
                assert result == page_texts.expected(tokenizer, text, special), (name, special, text)
    assert chromium.complaints() == []
    assert chromium.requests() == [path.as_uri()]


def all_kinds(published: Published, corpora: dict[str, str]) -> dict[str, Tokenizer]:
    """Published vocabularies, and one trained here on several scripts.

    Llama 3's ranks are not at hand: its pattern has those of cl100k_base.
    """
    return {
        "gpt2": published("gpt2", "gpt2"),
        "cl100k": published("cl100k_base", "cl100k"),
        "o200k": published("o200k_base", "o200k"),
        "llama3": published("cl100k_base", "llama3"),
        "qwen": published("qwen3", "qwen2"),
        "trained": train_from_iterator([corpora["multi"][:300_000]], 2000, special_tokens=SPECIAL),
    }


def specials_of(tokenizers: dict[str, Tokenizer]) -> list[str]:
    return sorted({name for tokenizer in tokenizers.values() for name in tokenizer.special_tokens})


def test_ids_and_spans_of_trained_tokenizers(
    chromium: browser.Browser, tmp_path: Path, soup: page_texts.Soup, small: Tokenizer
) -> None:
    tokenizers = of_all_patterns(small)
    check(chromium, tmp_path / "page.html", tokenizers, page_texts.texts(60, soup, SPECIAL))


def test_ids_after_each_edit(
    chromium: browser.Browser, tmp_path: Path, soup: page_texts.Soup, small: Tokenizer
) -> None:
    """What is kept from the text before changes no id."""
    specials = Tokenizer(dict(small.vocab), list(small.merges), SPECIAL, pattern="o200k")
    stages = huggingface_cases.make(huggingface_cases.sequence(*STAGES))
    tokenizers = {"o200k": specials, "stages": Tokenizer.from_huggingface(stages)}
    check(chromium, tmp_path / "page.html", tokenizers, edits(random.Random(3), soup, 150))


def edits(rng: random.Random, soup: page_texts.Soup, count: int) -> list[str]:
    """Return a text after each of many random edits."""
    texts, text = [], "aaaa  \n\n  bbb" + soup(rng, 30)
    for _ in range(count):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 0, 1, 1, 2, 30]))
        inserted = rng.choice(["", "a", " ", "\n", "<|end|>", soup(rng, 3), text[start:end] * 2])
        text = (text[:start] + inserted + text[end:])[:400]
        texts.append(text)
    return texts


# All behaviors, all kinds of matchers, and patterns that leave text out.
STAGES = [
    huggingface_cases.split(r"\d{1,3}", "isolated"),
    huggingface_cases.split(r"[a-z]+\s?", "merged_with_previous"),
    huggingface_cases.split(r"\p{Lu}", "merged_with_next"),
    huggingface_cases.split(r"[.,]|--", "contiguous", invert=True),
    huggingface_cases.split("aab", "removed"),
    huggingface_cases.byte_level(),
]
OTHER_STAGES = [
    pre_tokenizers.Digits(individual_digits=True),
    pre_tokenizers.Punctuation("merged_with_next"),
    pre_tokenizers.CharDelimiterSplit("x"),
    pre_tokenizers.WhitespaceSplit(),
    huggingface_cases.split(huggingface_cases.DEEPSEEK, "isolated"),
    huggingface_cases.byte_level(use_regex=False),
]


BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
PATTERNS = [r"\s+", r"\p{L}+", r"\p{N}{1,3}", r"[^\s\p{L}]+|'ll", r"\w+|[^\w\s]+", "(?i:the|k)", r"\s+$"]


def of_random_stages(rng: random.Random) -> Tokenizer:
    stages = [
        huggingface_cases.split(rng.choice(PATTERNS), rng.choice(BEHAVIORS), rng.random() < 0.5)
        for _ in range(rng.randrange(1, 4))
    ]
    last = huggingface_cases.byte_level(use_regex=rng.random() < 0.5)
    return Tokenizer.from_huggingface(huggingface_cases.make(huggingface_cases.sequence(*stages, last)))


def test_long_runs_of_one_kind(chromium: browser.Browser, tmp_path: Path, small: Tokenizer) -> None:
    """A quadratic step would take minutes: cutting, merging and drawing are linear."""
    tokenizers = {name: Tokenizer(dict(small.vocab), list(small.merges), pattern=name) for name in ("gpt2", "o200k")}
    runs = ["\u0301" * 10_000, "e\u0301" * 5_000, " " * 10_000, "a" * 10_000]
    check(chromium, tmp_path / "page.html", tokenizers, runs)
    shown = "document.querySelector('.tokens').textContent.length"
    for run in runs:
        chromium.evaluate(
            f"(box => {{ box.value = {json.dumps(run)}; box.dispatchEvent(new Event('input')) }})(text)"
        )
        chromium.wait_for(f"{shown} >= {len(run)}")


def test_ids_and_spans_of_several_stages(chromium: browser.Browser, tmp_path: Path) -> None:
    rng = random.Random(2)
    tokenizers = {
        name: Tokenizer.from_huggingface(huggingface_cases.make(huggingface_cases.sequence(*stages)))
        for name, stages in {"one": STAGES, "two": OTHER_STAGES}.items()
    }
    tokenizers |= {f"random {i}": of_random_stages(rng) for i in range(12)}
    check(chromium, tmp_path / "page.html", tokenizers, [huggingface_cases.text_of(rng, 12) for _ in range(100)])


def of_all_patterns(small: Tokenizer) -> dict[str, Tokenizer]:
    """Small tokenizers of every pattern and merge rule."""
    vocab = dict(small.vocab)
    merges = list(small.merges)
    patterns: dict[str, Any] = {
        name: {"pattern": name}
        for name in ("gpt2", "cl100k", "llama3", "o200k", "qwen2", "nanochat", "qwen3.5", "tekken")
    }
    patterns |= {
        "none": {"pattern": None},
        "kept": {"pattern": r"[a-z]+|\d{2}", "unmatched": "keep"},
        "dropped": {"pattern": r"[a-z]+|\d{2}|\s*x", "unmatched": "drop"},
        "backwards": {"pattern": r"a*b|a|[^ab]+?\s|."},
    }
    made = {name: Tokenizer(vocab, merges, SPECIAL, **options) for name, options in patterns.items()}
    made["ranks"] = Tokenizer(vocab, None, SPECIAL)
    made["wholes"] = Tokenizer(vocab, merges[5:], SPECIAL, ignore_merges=True)
    made["gaps"] = Tokenizer({3 * id + 7: token for id, token in vocab.items()}, merges[::-1], SPECIAL)
    return made


def test_ids_and_spans_of_published_vocabularies(
    chromium: browser.Browser, tmp_path: Path, soup: page_texts.Soup, published: Published, corpora: dict[str, str]
) -> None:
    tokenizers = all_kinds(published, corpora)
    texts = page_texts.texts(200, soup, specials_of(tokenizers))
    check(chromium, tmp_path / "page.html", tokenizers, texts)


@pytest.mark.long
def test_ids_and_spans_of_published_vocabularies_long(
    chromium: browser.Browser, tmp_path: Path, soup: page_texts.Soup, published: Published, corpora: dict[str, str]
) -> None:
    tokenizers = all_kinds(published, corpora)
    texts = page_texts.texts(2000, soup, specials_of(tokenizers))
    for start in range(0, len(texts), 200):
        check(chromium, tmp_path / f"{start}.html", tokenizers, texts[start : start + 200])
    whole = [corpora[name][at : at + 20_000] for name in corpora for at in range(0, 200_000, 20_000)]
    check(chromium, tmp_path / "whole.html", tokenizers, whole)
