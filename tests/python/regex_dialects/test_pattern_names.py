"""Names of patterns: aliases, names that are nearly right, and expressions that match almost nothing."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken
from command import run_command
from training_data import train_as_asked

import toksmith
import toksmith.compat.minbpe as minbpe
import toksmith.compat.rustbpe as rustbpe
from toksmith import Encoding, PretokenCounts, Tokenizer, patterns
from toksmith.formats.published import encodings

TEXT = "the lowest of the low, the newest of the new\n" * 50
RANKS = {bytes([byte]): byte for byte in range(256)}
NEARLY = {
    "GPT2": "gpt2",
    "gpt-2": "gpt2",
    "gpt_2": "gpt2",
    "cl100k-base": "cl100k_base",
    "cl100_base": "cl100k_base",
    "CL100K": "cl100k",
    "cl 100k": "cl100k",
    "o200k_bas": "o200k_base",
    "0200k": "o200k",
    "Llama3": "llama3",
    "llama-3.1": "llama3",
    "qwen2.5": "qwen2",
    "nano-chat": "nanochat",
    "none": "None",
}
LITERAL = ["ab", "whitespace", "x y", "éé"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT)
    toksmith.train(iter([TEXT]), 270, ids=toksmith.IdOrder("last")).save(tmp_path / "t.tiktoken", format="tiktoken")
    ranks = Tokenizer.from_tiktoken(tmp_path / "t.tiktoken", pattern="gpt2")
    toksmith.surgery.shrink(ranks, 256).save(tmp_path, format="gpt2")
    return tmp_path


# Each of them takes a pattern that may be a name.
DOORS: dict[str, Callable[[Path, Any], Any]] = {
    "Tokenizer": lambda folder, pattern: Tokenizer(pattern=pattern),
    "train": lambda folder, pattern: toksmith.train(folder / "text.txt", 260, pattern=pattern),
    "train_bpe": lambda folder, pattern: toksmith.train_bpe(folder / "text.txt", 260, [], pattern=pattern),
    "count_pretokens": lambda folder, pattern: toksmith.count_pretokens(folder / "text.txt", pattern=pattern),
    "iterator": lambda folder, pattern: toksmith.count_pretokens(iter([TEXT]), pattern=pattern),
    "PretokenCounts": lambda folder, pattern: PretokenCounts({b"low": 5}, pattern=pattern),
    "counts": lambda folder, pattern: toksmith.train(PretokenCounts({b"a": 1}, pattern="gpt2"), 256, pattern=pattern),
    "base": lambda folder, pattern: toksmith.train(folder / "text.txt", 257, base=Tokenizer(), pattern=pattern),
    "from_files": lambda folder, pattern: Tokenizer.from_files(
        folder / "vocab.json", folder / "merges.txt", pattern=pattern
    ),
    "from_tiktoken": lambda folder, pattern: Tokenizer.from_tiktoken(folder / "t.tiktoken", pattern=pattern),
    "Encoding.from_tiktoken": lambda folder, pattern: Encoding.from_tiktoken(folder / "t.tiktoken", pattern=pattern),
}


def pattern_of(tokenizer: Tokenizer | Encoding) -> patterns.Pattern:
    """Return the pattern of a tokenizer or an encoding."""
    return patterns.of_core(tokenizer._core) if isinstance(tokenizer, Tokenizer) else tokenizer._core_bpe._pattern


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_what_looks_like_a_name(door: str, files: Path) -> None:
    for name, meant in NEARLY.items():
        with pytest.raises(ValueError, match="looks like the name of a pattern") as caught:
            DOORS[door](files, name)
        suggested = meant if meant == "None" else repr(meant)
        assert f"did you mean {suggested}?" in str(caught.value), name
    for text in LITERAL:
        with pytest.raises(ValueError, match=regex.escape(f"An expression for these very characters is (?:{text})")):
            DOORS[door](files, text)


def test_the_command_line_refuses_it_too(files: Path) -> None:
    for arguments in (
        ("train", "text.txt", "--vocab-size", "260", "-o", "out.json", "--pattern", "GPT2"),
        ("encode", "-t", "t.tiktoken", "--pattern", "GPT2", "text.txt"),
        ("verify", "t.tiktoken", "--pattern", "GPT2", "--against", "tiktoken"),
    ):
        done = run_command(*arguments, cwd=files)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"did you mean 'gpt2'?" in done.stderr


@pytest.mark.parametrize("door", ["Tokenizer", "train", "from_files", "from_tiktoken", "Encoding.from_tiktoken"])
def test_the_names_of_published_encodings_are_names(door: str, files: Path) -> None:
    for alias, name in patterns.ALIASES.items():
        made, expected = DOORS[door](files, alias), DOORS[door](files, name)
        text = "It's 1234567 o'clock,\n\n  HELLOWorld 'LL\t\n"
        assert pattern_of(made) == pattern_of(expected)
        assert made.encode(text) == expected.encode(text)


def test_every_published_encoding_has_an_alias_of_its_own_pattern() -> None:
    for name, published in encodings.ENCODINGS.items():
        assert patterns.resolve(name).name == patterns.SPELLINGS[published.pat_str], name


def test_literal_expressions_have_a_spelling() -> None:
    for pattern in ("(?:ab)", regex.compile("ab"), "a[b]"):
        assert Tokenizer(pattern=pattern)._core.encode("abab", True) == [97, 98, 97, 98]
    for separator in (" ", "\n", "\t", ",", "--", "a", "é"):
        assert Tokenizer(pattern=separator).pattern.pattern == separator
    assert Tokenizer(pattern="").encode("a b") == [97, 32, 98]


def test_no_expression_that_is_in_use_looks_like_a_name() -> None:
    in_use = [r"\w+", r"\S+|\s+", ".", "a|b", "aab+", r"\d", "kept{3}|[a-z]+", r"\p{L}", "(?i)abc", "[a-z]"]
    for text in (*patterns.SPELLINGS, *in_use):
        assert patterns.expression(text) == text


def test_stand_ins_take_what_the_originals_take_and_warn() -> None:
    # These libraries know no names: there a name is an expression, and the ids stay those of the original.
    specials: dict[str, int] = {}
    for text in ("gpt2", "cl100k_base", "GPT2"):
        with pytest.warns(UserWarning, match="taken as a regular expression"):
            ours = Encoding("x", pat_str=text, mergeable_ranks=RANKS, special_tokens=specials)
        theirs = tiktoken.Encoding("x", pat_str=text, mergeable_ranks=RANKS, special_tokens=specials)
        for sample in (f"a {text} b", "nothing of it"):
            assert ours.encode(sample) == theirs.encode(sample)
        with pytest.warns(UserWarning, match="taken as a regular expression"):
            assert minbpe.RegexTokenizer(text).encode(f"a {text} b") == list(text.encode())
        with pytest.warns(UserWarning, match="taken as a regular expression"):
            rustbpe.Tokenizer().train_from_iterator([text * 99], 256, pattern=text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("ab", ".", r"\w+", "a"):
            Encoding("x", pat_str=text, mergeable_ranks=RANKS, special_tokens=specials)
            minbpe.RegexTokenizer(text)


@pytest.mark.parametrize("unmatched", ["keep", "drop"])
def test_a_pattern_that_matches_almost_nothing_warns(unmatched: Any, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    for pattern in ("(?:xyz)", r"\p{Han}+", "(?:cl100k_base)"):
        with pytest.warns(UserWarning, match="matches 0% of the text"):
            toksmith.count_pretokens(tmp_path / "text.txt", pattern=pattern, unmatched=unmatched)
        with pytest.warns(UserWarning, match="matches 0% of the text"):
            train_as_asked(iter([TEXT]), 256, pattern=pattern, unmatched=unmatched)
    rare = f"{'a' * 100_000}xyz"
    with pytest.warns(UserWarning, match="matches 0.003% of the text"):
        toksmith.count_pretokens(iter([rare]), pattern="(?:xyz)", unmatched=unmatched)


@pytest.mark.parametrize("unmatched", ["keep", "drop"])
def test_a_pattern_that_matches_a_part_does_not_warn(unmatched: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pattern in (r"\w+", r"\n", " ", r"(?:low)", r"[\s\S]+", r"\s+(?!\S)|\S+", None, "gpt2"):
            toksmith.count_pretokens(iter([TEXT]), pattern=pattern, unmatched=unmatched)
        toksmith.count_pretokens(iter(["short"]), pattern=r"\d", unmatched=unmatched)
        toksmith.count_pretokens(iter([]), pattern=r"\d", unmatched=unmatched)
        toksmith.count_pretokens(iter([TEXT * 50]), pattern=r"\d", unmatched="keep", min_pretoken_count=2)
