"""The page of tokens in a browser: its ids and places are Python's."""

import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser
import page_texts
import pytest

from toksmith import Superwords, Tokenizer, train
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
        "trained": train(iter([corpora["multi"][:300_000]]), 2000, special_tokens=SPECIAL),
        "superwords": train(
            deque([corpora["en"][:300_000]]), 2000, superwords=Superwords(transition=0.8), special_tokens=SPECIAL
        ),
    }


def specials_of(tokenizers: dict[str, Tokenizer]) -> list[str]:
    return sorted({name for tokenizer in tokenizers.values() for name in tokenizer.special_tokens})


def test_ids_and_spans_of_trained_tokenizers(
    chromium: browser.Browser, tmp_path: Path, soup: page_texts.Soup, small: Tokenizer
) -> None:
    tokenizers = of_all_patterns(small)
    check(chromium, tmp_path / "page.html", tokenizers, page_texts.texts(60, soup, SPECIAL))


def test_long_runs_of_one_kind(chromium: browser.Browser, tmp_path: Path, small: Tokenizer) -> None:
    """A quadratic step would take minutes: cutting, merging and drawing are linear."""
    tokenizers = {name: Tokenizer(dict(small.vocab), list(small.merges), pattern=name) for name in ("gpt2", "o200k")}
    runs = ["\u0301" * 10_000, "e\u0301" * 5_000, " " * 10_000, "a" * 10_000]
    check(chromium, tmp_path / "page.html", tokenizers, runs)
    for run in runs:
        chromium.evaluate(
            f"(box => {{ box.value = {json.dumps(run)}; box.dispatchEvent(new Event('input')) }})(text)"
        )
        count = f"{tokenizers['gpt2'].count(run):,}"
        chromium.wait_for(f"document.querySelector('.count').textContent === '{count}'")


def of_all_patterns(small: Tokenizer) -> dict[str, Tokenizer]:
    """Small tokenizers of every pattern and merge rule."""
    vocab = dict(small.vocab)
    merges = list(small.merges)
    patterns: dict[str, Any] = {
        name: {"pattern": name}
        for name in ("gpt2", "cl100k", "llama3", "o200k", "qwen2", "nanochat", "qwen3.5", "tekken")
    }
    patterns |= {
        "none": {"pattern": None, "unmatched": "drop"},
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
