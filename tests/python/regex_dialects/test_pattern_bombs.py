"""Patterns of a few characters that would take gigabytes once compiled: refused at every door, before that."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import regex
from huggingface_cases import DEEPSEEK

import toksmith
from toksmith import Encoding, PretokenCounts, Tokenizer, _core, patterns
from toksmith.compat import minbpe, rustbpe
from toksmith.compat import tiktoken as compat_tiktoken

BOMB = "(?:(?:a{1000}){1000}){50}"
REFUSED = r"come(s|) to \d+ parts"
KIMI = (
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
RANKS = {bytes([byte]): byte for byte in range(256)}


def huggingface(folder: Path, **parts: Any) -> Path:
    """Write a `tokenizer.json` of bytes, with these parts."""
    folder.mkdir(exist_ok=True)
    Tokenizer(pattern="gpt2").save_huggingface(folder, verify=False)
    content = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(content | parts))
    return folder / "tokenizer.json"


def byte_level(**split: Any) -> dict[str, Any]:
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "type": "Sequence",
        "pretokenizers": [{"type": "Split", "behavior": "Isolated", "invert": False} | split, level],
    }


def replace(pattern: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": "b"}


def edited(path: Path, old: str, new: str) -> Path:
    """Put another pattern into a saved file."""
    text = path.read_text()
    assert json.dumps(old)[1:-1] in text
    path.write_text(text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1]))
    return path


def native(folder: Path) -> Path:
    path = folder / "native.json"
    Tokenizer(pattern="aab+").save(path)
    return edited(path, "aab+", BOMB)


def counts(folder: Path) -> Path:
    """A file of counts with a bomb for its pattern, and a right checksum."""
    path = folder / "counts"
    PretokenCounts({b"aab": 1}, pattern="aab+").save(path)
    data = path.read_bytes()[:-32].replace(b"aab+", BOMB.encode())
    path.write_bytes(data + hashlib.sha256(data).digest())
    return path


def rank_file(folder: Path) -> Path:
    path = folder / "ranks.tiktoken"
    Tokenizer().save(path, format="tiktoken")
    return path


def minbpe_model(folder: Path) -> Path:
    path = folder / "x.model"
    path.write_text(f"minbpe v1\n{BOMB}\n0\n")
    return path


def forged_pickle() -> Any:
    """Return what a pickle of an encoding with the bomb restores."""
    state = {"name": "x", "pat_str": BOMB, "mergeable_ranks": RANKS, "special_tokens": {}}
    return Encoding.__new__(Encoding).__setstate__(state)


DOORS: dict[str, Callable[[Path], Any]] = {
    "Tokenizer": lambda _: Tokenizer(pattern=BOMB),
    "a compiled pattern's source": lambda _: patterns.of_source(BOMB, regex.I, "keep"),
    "train": lambda _: toksmith.train(iter(["aa"]), 257, pattern=BOMB),
    "count_pretokens": lambda _: toksmith.count_pretokens(iter(["aa"]), pattern=BOMB),
    "PretokenCounts": lambda _: PretokenCounts({b"a": 1}, pattern=BOMB),
    "PretokenCounts.load": lambda folder: PretokenCounts.load(counts(folder)),
    "Encoding": lambda _: Encoding("x", pat_str=BOMB, mergeable_ranks=RANKS, special_tokens={}),
    "Encoding.from_tiktoken": lambda folder: Encoding.from_tiktoken(rank_file(folder), pattern=BOMB),
    "compat.tiktoken": lambda _: compat_tiktoken.Encoding(
        "x", pat_str=BOMB, mergeable_ranks=RANKS, special_tokens={}
    ),
    "from_tiktoken": lambda folder: Tokenizer.from_tiktoken(rank_file(folder), pattern=BOMB),
    "load": lambda folder: Tokenizer.load(native(folder)),
    "Split": lambda folder: Tokenizer.from_huggingface(
        huggingface(folder, pre_tokenizer=byte_level(pattern={"Regex": BOMB}))
    ),
    "Replace": lambda folder: Tokenizer.from_huggingface(huggingface(folder, normalizer=replace(BOMB))),
    "many of Replace": lambda folder: Tokenizer.from_huggingface(
        huggingface(
            folder, normalizer={"type": "Sequence", "normalizers": [replace(f"a{{1000{i}}}") for i in range(10)]}
        )
    ),
    "minbpe": lambda _: minbpe.RegexTokenizer(BOMB),
    "minbpe load": lambda folder: minbpe.RegexTokenizer().load(minbpe_model(folder)),
    "rustbpe": lambda _: rustbpe.Tokenizer().train_from_iterator(["aa"], 256, pattern=BOMB),
    "unpickled Encoding": lambda _: forged_pickle(),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_bomb_is_refused_at_every_door(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = regex.compile

    def compile_small(pattern: Any, *args: Any, **named: Any) -> Any:
        assert "a{1000" not in str(pattern), "it was compiled"
        return compiled(pattern, *args, **named)

    monkeypatch.setattr(regex, "compile", compile_small)
    with pytest.raises(ValueError, match=REFUSED):
        DOORS[door](tmp_path)


BOMBS = [
    BOMB,
    "(?:a{300}){300}",
    "(?>a{300}){300,}+",
    "(?=a{300}){300}?b",
    "(?:a{300})(?i){300}",  # a quantifier behind flags belongs to what is before them
    "[" + "a" * 1000 + "]{100}",
    "(?V1)[[a-z]--[(]](?:a{300}){300}[)]",
    "(?x)#[\n(?:a{300}){300}#]",
    "(?x)(?:a{ 3 00}){3 #5\n00}",
    "(?#[)(?:a{300}){300}(?#])",
    "(?:(?:a{300}[[:alpha:])]b){300}",
    r"(?:a{300}[\]){]b){300}",
    "(?if)(?:[a-\U0010ffff]|ab){1000}",
    "(a)(?:(?1){300}){300}",
    "a" * 50_001,
    "a{99999999999999999999}",
    "a{" + "9" * 10_000 + "}",
]


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
def test_bombs(bomb: str) -> None:
    with pytest.raises(ValueError, match="it is not compiled") as caught:
        Tokenizer(pattern=bomb)
    assert len(str(caught.value)) < 400


def test_flags_are_part_of_the_bound() -> None:
    verbose = "#[\n(?:a{300}){300}#]"
    _core.check_pattern_size(verbose)
    for flags in (regex.VERBOSE, regex.V1):
        with pytest.raises(ValueError, match=REFUSED):
            _core.check_pattern_size(verbose, flags)


def test_published_patterns_pass() -> None:
    written = [DEEPSEEK, KIMI, *patterns.NAMED.values(), *patterns.SPELLINGS]
    for text in written:
        _core.check_pattern_size(text, regex.VERBOSE)
        assert _core.check_pattern_size(text) < 1000
        with contextlib.suppress(ValueError):
            assert _core.check_pattern_size(_core.from_oniguruma(text)[0]) < 5000
        with contextlib.suppress(ValueError):
            assert _core.check_pattern_size(_core.from_fancy_regex(text)) < 5000
    for text in (
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?:\.\d{3})?|\s+|.",
        ".{1,100000}",
        r"(?s:.{0,60000})",
        "a|" * 10_000,
    ):
        Tokenizer(pattern=text)


def test_translation_does_not_blow_up() -> None:
    """A symmetric difference has both sides twice; each part is of some bytes."""
    for pattern in (
        "[" + "~~".join("abcdefghijklmnopqrstuvwxyz" * 2) + "]",
        functools.reduce(lambda s, _: f"[a~~{s}]", range(40), "[b]"),
    ):
        with pytest.raises(ValueError, match="operations on sets that take more than"):
            _core.from_fancy_regex(pattern)
    assert _core.from_fancy_regex("[a~~b]") == "(?:(?![b])[a]|(?![a])[b])"
    for pattern in (r"\b" * 8000, "(?i)" + "ss" * 8000, "(?i)" + r"[^\p{L}]" * 2000):
        with pytest.raises(ValueError, match="more than"):
            _core.from_oniguruma(pattern)


def test_normalizers_have_a_number_of_steps(tmp_path: Path) -> None:
    plain = {"type": "Replace", "pattern": {"String": "a"}, "content": "a"}
    path = huggingface(tmp_path, normalizer={"type": "Sequence", "normalizers": [plain] * 257})
    with pytest.raises(ValueError, match=r"\$\.normalizer: more than 256 parts"):
        Tokenizer.from_huggingface(path)
    huggingface(tmp_path, normalizer={"type": "Sequence", "normalizers": [plain] * 256})
    assert Tokenizer.from_huggingface(path).encode("aa") == Tokenizer(pattern="gpt2").encode("aa")


def test_large_patterns_are_not_kept_by_regex() -> None:
    before = len(regex._main._cache)
    Tokenizer(pattern="kept{3}|[a-z]+")
    assert len(regex._main._cache) == before
