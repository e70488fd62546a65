"""A published rank file without its special tokens gets a warning, whoever loads it."""

import base64
import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import run_command

import toksmith
from toksmith import Tokenizer
from toksmith.formats.published import encodings as published

DOORS: dict[str, Callable[..., Any]] = {
    "from_tiktoken": Tokenizer.from_tiktoken,
    "from_pretrained": Tokenizer.from_pretrained,
    "Encoding.from_tiktoken": toksmith.Encoding.from_tiktoken,
}


@pytest.fixture(scope="module")
def vocabs(shared_data: Path) -> Path:
    return shared_data / "vocabs"


def ranks(path: Path, count: int) -> Path:
    """A rank file of so many tokens: the bytes, then numbers."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"%06d" % number for number in range(count - 256)]
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % id for id, token in enumerate(tokens)))
    return path


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("gpt2", "gpt2", "is the rank file of gpt2, and lacks its special tokens '<|endoftext|>'"),
        (
            "cl100k_base",
            "cl100k",
            "is the rank file of cl100k_base, and lacks its special tokens .* and 2 more",
        ),
        ("o200k_base", "o200k", "is the rank file of o200k_base, and lacks"),
        ("qwen3", "qwen2", "is the rank file of Qwen, which has at least 3 special tokens, from id 151643 on"),
    ],
)
def test_a_published_file(door: str, name: str, pattern: str, expected: str, vocabs: Path) -> None:
    path = vocabs / f"{name}.tiktoken"
    specials = json.loads((vocabs / f"{name}.special.json").read_text())
    with pytest.warns(UserWarning, match=expected):
        DOORS[door](path, pattern=pattern)
    DOORS[door](path, pattern=pattern, special_tokens=specials)
    DOORS[door](path, pattern=pattern, special_tokens={})  # none on purpose
    DOORS[door](path, pattern=pattern, special_tokens=dict(list(specials.items())[:1]))  # some of them on purpose


def test_llama_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ranks(tmp_path / "llama3.tiktoken", 128_000)
    says = "is the rank file of Llama 3, which has at least 256 special tokens, from id 128000 on"
    with pytest.warns(UserWarning, match=says):
        Tokenizer.from_tiktoken(path, pattern="llama3")
    all_of_them = {f"<|reserved_special_token_{number}|>": 128_000 + number for number in range(256)}
    Tokenizer.from_tiktoken(path, pattern="llama3", special_tokens=all_of_them)
    Tokenizer.from_tiktoken(path, pattern="gpt2")
    (tmp_path / "special.json").write_text(json.dumps(all_of_them))
    arguments = ("convert", path, tmp_path / "out.json", "--to", "toksmith", "--pattern", "llama3")
    assert b"give them in --special-tokens\n" in run_command(*arguments).stderr
    assert b"warning" not in run_command(*arguments, "--special-tokens", tmp_path / "special.json").stderr
    assert Tokenizer.load(tmp_path / "out.json").special_tokens == all_of_them
    monkeypatch.setattr(published, "_LLAMA3", hashlib.sha256(path.read_bytes()).hexdigest())
    with pytest.warns(UserWarning, match=says), pytest.warns(UserWarning, match="whose pattern is llama3"):
        Tokenizer.from_tiktoken(path, pattern="gpt2")


def test_others_get_none(tmp_path: Path) -> None:
    Tokenizer.from_tiktoken(ranks(tmp_path / "own.tiktoken", 1000), pattern="llama3")


def test_saving_a_published_encoding(tiktoken_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tiktoken_cache))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Tokenizer.from_pretrained("gpt2").save(tmp_path / "ranks.tiktoken", format="tiktoken")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("name", "of", "pattern", "same"),
    [
        ("gpt2", "gpt2 and r50k_base", "gpt2", ["gpt2", "r50k_base", published.ENCODINGS["gpt2"].pat_str]),
        ("cl100k_base", "cl100k_base", "cl100k", ["cl100k", published.ENCODINGS["cl100k_base"].pat_str]),
        ("o200k_base", "o200k_base and o200k_harmony", "o200k", ["o200k", "o200k_harmony"]),
    ],
)
def test_a_published_file_under_another_pattern(
    door: str, name: str, of: str, pattern: str, same: list[str], vocabs: Path
) -> None:
    path, load = vocabs / f"{name}.tiktoken", DOORS[door]
    for other in ({"gpt2", "cl100k", "o200k", "cl100k_old"} - {pattern}) | {r"\w+|\W+"}:
        with pytest.warns(
            UserWarning, match=f"the rank file of {of}, whose pattern is {pattern}.*pattern=.{pattern}"
        ):
            load(path, pattern=other, special_tokens={})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for spelled in same:
            load(path, pattern=spelled, special_tokens={})
        load(vocabs / "qwen3.tiktoken", pattern="gpt2", special_tokens={})


def test_the_command_line_names_the_option(vocabs: Path) -> None:
    done = run_command("encode", "-t", vocabs / "gpt2.tiktoken", "--pattern", "o200k", "--text", "it's 1234")
    assert b"whose pattern is gpt2. Under another one many ids differ" in done.stderr
    assert b"give --pattern gpt2\n" in done.stderr
