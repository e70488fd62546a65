"""Messages about files of strangers: short, and without a character that a terminal obeys, wherever a value is."""

from __future__ import annotations

import copy
import functools
import json
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer, patterns
from toksmith._core import spell
from toksmith._internal import messages
from toksmith.compat.minbpe import RegexTokenizer

HOSTILE: list[Any] = [
    "\x1b[31m\x1b]0;title\x07",
    "\u202e" + "z" * 20_000,
    ["\x1b[2J"],
    {"\x1b[2J": "\x1b[2J" * 500},
    10**400,
]
INSERTED = [b"\x1b[31m\x07", b"z" * 20_000, "\u202e".encode() + b"q" * 3000, b"\x1b", b"\x00", b"9" * 5000]
MOST = 1500  # characters: some messages show several values, and list the names there are


def check(call: Callable[[], object]) -> None:
    """Check what a call says, by an error of a documented type or by warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        said = []
        try:
            call()
        except (ValueError, OSError, KeyError) as error:
            said.append(str(error))
    for message in [*said, *(str(one.message) for one in warned)]:
        assert len(message) < MOST, message[:200]
        assert message.replace("\n", "").isprintable(), message


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of values in JSON; of long lists and objects the first and last ones."""
    yield path
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    for key in keys if len(keys) < 12 else [*keys[:2], *keys[-3:]]:
        yield from places(value[key], (*path, key))


def changed(value: Any) -> Iterator[Any]:
    """Yield JSON with a hostile value, or name, in each place."""
    for path in places(value):
        for hostile in HOSTILE:
            if not path:
                yield hostile
                continue
            whole = copy.deepcopy(value)
            holder = whole
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = hostile
            yield whole
            if isinstance(holder, dict) and isinstance(hostile, str):
                del holder[path[-1]]
                holder[hostile] = value if len(path) == 1 else path[-1]
                yield whole


def huggingface(**parts: Any) -> dict[str, Any]:
    tokens = [spell(bytes([byte])) for byte in range(256)] + ["ab"]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": 257, "content": "<s>", "special": True, **flags}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {token: id for id, token in enumerate(tokens)}, "merges": [["a", "b"]]},
    }
    return content | parts


def huggingface_in_stages() -> dict[str, Any]:
    split = {"type": "Split", "pattern": {"Regex": r"\p{L}+|\d{1,3}|\s+|."}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [257], "tokens": ["<s>"]}},
    }
    replace = {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}
    return huggingface(
        truncation={"direction": "Right", "max_length": 9, "strategy": "LongestFirst", "stride": 0},
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, replace]},
        pre_tokenizer={"type": "Sequence", "pretokenizers": [split, level]},
        post_processor=template,
    )


def test_values_of_tokenizer_files(tmp_path: Path) -> None:
    path = tmp_path / "native"
    for pattern in ("gpt2", r"\w+|\s"):
        Tokenizer({byte: bytes([byte]) for byte in range(256)} | {256: b"ab"}, pattern=pattern).save(path)
        for content in changed(json.loads(path.read_text())):
            path.write_text(json.dumps(content))
            check(lambda: Tokenizer.load(path))
    path = tmp_path / "tokenizer.json"
    good = huggingface_in_stages()
    path.write_text(json.dumps(good))
    assert Tokenizer.from_huggingface(path).encode("aab", special=False)
    for content in changed(good):
        path.write_text(json.dumps(content))
        check(lambda: Tokenizer.from_huggingface(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "tokenizer_config.json",
            {
                "tokenizer_class": "GPT2Tokenizer",
                "bos_token": "<s>",
                "eos_token": {"content": "<s>", "lstrip": False},
                "auto_map": {"AutoTokenizer": ["a.b", None]},
                "model_max_length": 1024,
                "added_tokens_decoder": {"257": {"content": "<s>", "special": True}},
                "extra_special_tokens": {"image": "<s>"},
                "chat_template": "x",
            },
        ),
        ("special_tokens_map.json", {"bos_token": "<s>", "additional_special_tokens": ["<s>"]}),
        ("generation_config.json", {"bos_token_id": 1, "eos_token_id": [1, 257]}),
        ("config.json", {"model_type": "gpt2", "bos_token_id": 257}),
    ],
)
def test_values_of_files_beside_a_tokenizer(name: str, content: dict[str, Any], tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps(huggingface()))
    for one in changed(content):
        (folder / name).write_text(json.dumps(one))
        check(lambda: Tokenizer.from_huggingface(folder).save_huggingface(out))


def test_values_of_a_manifest(tmp_path: Path) -> None:
    tokenizer = toksmith.train(iter(["low lower newest"] * 9), 262, special_tokens=["<|endoftext|>"])
    toksmith.tokenize(iter(["low lower"] * 20), tokenizer, tmp_path, split={"val": 0.2})
    path = tmp_path / "manifest.json"

    def read() -> None:
        for difference in toksmith.data.differences(tmp_path):
            raise ValueError(difference)
        opened = toksmith.data.open(tmp_path)
        warnings.warn(repr(opened), stacklevel=1)
        opened.documents.text(0)

    for content in changed(json.loads(path.read_text())):
        path.write_text(json.dumps(content))
        check(read)


@pytest.mark.parametrize("kind", ["native", "ranks", "merges", "counts", "minbpe", "lines"])
def test_bytes_of_other_files(kind: str, tmp_path: Path) -> None:
    name = {"minbpe": "t.model", "lines": "t.jsonl"}.get(kind, "t")
    path = tmp_path / name
    (tmp_path / "vocab").write_text(json.dumps(huggingface()["model"]["vocab"]))
    if kind == "native":
        toksmith.train(iter(["low lower lowest"]), 262, special_tokens=["<s>"]).save(path)
    elif kind == "ranks":
        Tokenizer({byte: bytes([byte]) for byte in range(256)} | {256: b"ab"}, pattern="gpt2").save(
            path, format="tiktoken"
        )
    elif kind == "counts":
        toksmith.count_pretokens(iter(["low lower"])).save(path)
    elif kind == "minbpe":
        model = RegexTokenizer()
        model.train("low lower lowest " * 9, 262)
        model.register_special_tokens({"<s>": 300})
        model.save(str(path.with_suffix("")))
    else:
        path.write_bytes({"merges": b"#version: 0.2\na b\n", "lines": b'{"a": 1, "text": "low"}\n' * 4}[kind])
    loaders: dict[str, Callable[[], object]] = {
        "native": lambda: Tokenizer.load(path),
        "ranks": lambda: Tokenizer.from_tiktoken(path, pattern="gpt2"),
        "merges": lambda: Tokenizer.from_files(tmp_path / "vocab", path),
        "counts": lambda: toksmith.PretokenCounts.load(path),
        "minbpe": lambda: RegexTokenizer().load(str(path)),
        "lines": lambda: toksmith.count_pretokens(path),
    }
    loaders[kind]()
    good = path.read_bytes()
    rng = random.Random(0)
    for _ in range(100):
        data = bytearray(good)
        at = rng.randrange(len(data) + 1)
        data[at : at + rng.choice([0, 0, 1, 5])] = rng.choice(INSERTED)
        path.write_bytes(data)
        check(loaders[kind])


PARTS = [
    *(r"\p{", r"\P{^", "}", "(?", "(?<", "(?P<", ">", "[[:", ":]]", "[", "]", "(?i", "{", "{1,", "\\", r"\x{", r"\u"),
    *(r"\k<", r"\g<", "(?#", "(*", "(?:", "|", "+", "a", "'", "-", ")", "\x1b[31m", "\x07", "\u202e", "z" * 3000),
]


def test_patterns(tmp_path: Path) -> None:
    rng = random.Random(0)
    path = tmp_path / "tokenizer.json"
    for _ in range(500):
        pattern = "".join(rng.choice(PARTS) for _ in range(rng.randint(1, 6)))
        check(functools.partial(Tokenizer, pattern=pattern))
        check(functools.partial(patterns.explain, pattern))
        file = huggingface_in_stages()
        file["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": pattern}
        path.write_text(json.dumps(file))
        check(lambda: Tokenizer.from_huggingface(path))


def test_what_is_not_printable_is_escaped() -> None:
    for text in ("", "plain", "é中 😀", "back\\slash 'quoted'"):
        assert messages.printable(text) == text
    assert messages.printable("\x1b]0;a\x07\n\u202e\u2028\ud800") == r"\x1b]0;a\x07\n\u202e\u2028\ud800"
