"""The published patterns: each compiles in its own engine, cuts as it is said to, and is on the page of patterns."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken
import tokenizers
from part_steps import steps_of
from tokenizers import Regex
from tokenizers import pre_tokenizers as originals

import toksmith
from toksmith import patterns

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").is_file())
sys.path.append(str(ROOT / "scripts"))

import write_patterns_page as page  # noqa: E402

ENTRIES = {entry["id"]: entry for entry in page.entries()}
FIELDS = {"id", "family", "models", "dialect", "stages", "source", "evidence"}
DIALECTS = {"huggingface", "tiktoken", "regex", "llama.cpp"}
OF_HUGGING_FACE = [name for name, entry in ENTRIES.items() if entry["dialect"] == "huggingface"]
EQUAL = [name for name in OF_HUGGING_FACE if "same_as" in ENTRIES[name]]
# A name for code of llama.cpp, which is no regular expression.
NO_EXPRESSIONS = {r"\p{AFMoE_digits}"}

# A text of every class that the patterns tell apart.
PIECES = [*"aZéſ'12½٣Ⅷǅ \t\n\r!/.+_-日カ・한🚀", "'s", "'LL", "\u0301", "\u200d", "\xa0", "\0"]


# Text that comes with the project.
ENGLISH = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))


def text(chance: random.Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(1, 12)))


def of_huggingface(stages: list[Any]) -> Any:
    """Return the pre-tokenizer that `tokenizers` reads from a file."""
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    parts: dict[str, Any] = {"normalizer": None, "post_processor": None, "decoder": None, "added_tokens": []}
    pipeline = {"type": "Sequence", "pretokenizers": stages}
    content = json.dumps({"version": "1.0", **parts, "pre_tokenizer": pipeline, "model": model})
    return tokenizers.Tokenizer.from_str(content).pre_tokenizer


def cuts_of(splitter: Any, text: str) -> list[int]:
    return [start for _, (start, end) in splitter.pre_tokenize_str(text) if end > start]


@pytest.mark.parametrize("name", ENTRIES)
def test_the_form_of_an_entry(name: str) -> None:
    entry = ENTRIES[name]
    assert FIELDS <= set(entry) <= FIELDS | {"note", "same_as"}
    assert entry["dialect"] in DIALECTS
    assert entry["evidence"] in ("file", "quoted")
    assert entry["models"]
    assert entry["stages"]
    assert entry.get("same_as", "gpt2") in patterns.NAMED
    assert "://" not in entry["source"]
    kinds = {"type"} if entry["dialect"] == "huggingface" else {"pattern"}
    assert all(kinds <= set(stage) for stage in entry["stages"])


def test_no_pipeline_is_there_twice() -> None:
    pipelines = [json.dumps([entry["dialect"], entry["stages"]]) for entry in ENTRIES.values()]
    assert len(set(pipelines)) == len(pipelines) == len(page.entries())


@pytest.mark.parametrize("name", ENTRIES)
def test_it_compiles_in_its_own_engine(name: str) -> None:
    entry, sample = ENTRIES[name], text(random.Random(name))
    if entry["dialect"] == "huggingface":
        assert cuts_of(of_huggingface(entry["stages"]), sample)
        return
    for stage in entry["stages"]:
        if entry["dialect"] == "tiktoken":
            ranks = {bytes([byte]): byte for byte in range(256)}
            encoding = tiktoken.Encoding(name, pat_str=stage["pattern"], mergeable_ranks=ranks, special_tokens={})
            assert encoding.encode(sample)
        elif entry["dialect"] == "regex":
            regex.compile(stage["pattern"])
        elif stage["pattern"] not in NO_EXPRESSIONS:
            originals.Split(Regex(stage["pattern"]), "isolated").pre_tokenize_str(sample)


# Cuts inside characters, which no stage behind ByteLevel may do here.
REFUSED = {"falcon"}


@pytest.mark.parametrize("name", [name for name in OF_HUGGING_FACE if name not in REFUSED])
def test_it_cuts_as_the_original_does(name: str) -> None:
    stages = ENTRIES[name]["stages"]
    original = of_huggingface(stages)
    ours = steps_of(pre_tokenizer={"type": "Sequence", "pretokenizers": stages})
    chance = random.Random(11)
    for number in range(1500):
        sample = ENGLISH[number * 50 :][:400] if number % 10 == 0 else text(chance)
        assert ours.pre_tokenize(sample) == [part for part in original.pre_tokenize_str(sample) if part[0]], sample


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry["dialect"] == "tiktoken"])
def test_it_encodes_as_tiktoken_does(name: str) -> None:
    [stage] = ENTRIES[name]["stages"]
    ranks = {bytes([byte]): byte for byte in range(256)}
    for piece in regex.findall(r"\S\S|\S\S\S|\s\S", ENGLISH[:3000]) + PIECES:
        ranks.setdefault(piece.encode(), len(ranks))
    how: dict[str, Any] = {"pat_str": stage["pattern"], "mergeable_ranks": ranks, "special_tokens": {}}
    original, ours = tiktoken.Encoding(name, **how), toksmith.Encoding(name, **how)
    chance = random.Random(12)
    for number in range(1500):
        sample = ENGLISH[number * 50 :][:400] if number % 10 == 0 else text(chance)
        assert ours.encode_ordinary(sample) == original.encode_ordinary(sample), sample


@pytest.mark.parametrize("name", EQUAL)
def test_it_cuts_as_the_named_pattern_does(name: str) -> None:
    splitter = of_huggingface(ENTRIES[name]["stages"])
    named = regex.compile(patterns.NAMED[ENTRIES[name]["same_as"]])
    chance = random.Random(7)
    for sample in (text(chance) for _ in range(1500)):
        assert cuts_of(splitter, sample) == [match.start() for match in named.finditer(sample)], sample


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in OF_HUGGING_FACE])
def test_a_spelling_that_is_the_same_is_known(name: str) -> None:
    entry = ENTRIES[name]
    if "same_as" in entry:
        [stage] = entry["stages"]
        assert patterns.SPELLINGS[stage["pattern"]] == entry["same_as"]


def test_the_page_is_that_of_the_entries() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run: python scripts/write_patterns_page.py"
