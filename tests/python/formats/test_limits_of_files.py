"""Limits on what is read and made: endless files and ids, texts that grow, long messages and pretokens."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from part_steps import steps_of

import toksmith
from toksmith import Encoding, PretokenCounts, Tokenizer, _core, reference
from toksmith._internal.messages import shown
from toksmith.compat import minbpe
from toksmith.compat.tiktoken import load as tiktoken_load
from toksmith.files import reading, text_files
from toksmith.lab import explanation

RANKS = {bytes([byte]): byte for byte in range(256)}


def encoding() -> Encoding:
    return Encoding("bytes", pat_str=".", mergeable_ranks=RANKS, special_tokens={"<|end|>": 256})


# Files

LOADERS: dict[str, Callable[[Path], Any]] = {
    "Tokenizer.load": Tokenizer.load,
    "from_files": lambda path: Tokenizer.from_files(path, path),
    "from_tiktoken": lambda path: Tokenizer.from_tiktoken(path, pattern=None),
    "Encoding.from_tiktoken": lambda path: Encoding.from_tiktoken(path, pattern="."),
    "from_huggingface": Tokenizer.from_huggingface,
    "PretokenCounts.load": PretokenCounts.load,
    "minbpe": lambda path: minbpe.RegexTokenizer().load(path),
    "tiktoken.load": lambda path: tiktoken_load.load_tiktoken_bpe(str(path)),
    "read_file": lambda path: tiktoken_load.read_file(str(path)),
    "checkpoint": lambda path: toksmith.train(iter(["aa"]), 257, checkpoint=path),
}


@pytest.mark.parametrize("loader", LOADERS)
def test_a_sparse_file_of_a_terabyte(loader: str, tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match=r"x\.model"):
        LOADERS[loader](path)


@pytest.mark.parametrize("loader", LOADERS)
def test_a_folder_is_an_error_of_the_system(loader: str, tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.mkdir()
    with pytest.raises(OSError, match=r"x\.model"):
        LOADERS[loader](path)


def test_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for size in (0, 1, 100, 1 << 20, (1 << 20) + 1):
        path.write_bytes(b"x" * size)
        assert len(reading.read(path, size)) == len(reading.read(path)) == size
        if size:
            with pytest.raises(ValueError, match=rf"file: larger than {size - 1} bytes"):
                reading.read(path, size - 1)
    if Path("/proc/self/status").exists():  # of size 0, and not empty
        assert b"VmPeak" in reading.read("/proc/self/status")
    with pytest.raises(TypeError):
        reading.read(0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        ("1" * 5000, "Exceeds the limit"),
        ("," * 20_000_001, "more than 20000000 values"),
        ("{", "line 1: not JSON"),
    ],
)
def test_json_of_strangers(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        text_files.parse(text, "file", "kind")
    assert len(str(caught.value)) < 200


def test_heads_of_counts(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    for head in (b"[" * 100_000, b"\xff", b"1" * 5000, b"7"):
        path.write_bytes(b"toksmith counts 1\n" + head + b"\n")
        data = path.read_bytes()
        path.write_bytes(data + hashlib.sha256(data).digest())
        with pytest.raises(ValueError, match="counts"):
            PretokenCounts.load(path)


# Ids without end


def endless(first: int) -> Any:
    return itertools.chain([97, first], itertools.repeat(97))


@pytest.mark.parametrize("bad", [300, -1, 2**40])
def test_the_first_bad_id_ends_the_call(bad: int) -> None:
    tiny, tokenizer = encoding(), Tokenizer()
    for call in (tiny.decode, tiny.decode_bytes, tiny.decode_tokens_bytes, tiny.decode_with_offsets):
        with pytest.raises((KeyError, OverflowError)) as caught:
            call(endless(bad))
        assert caught.type is (KeyError if bad == 300 else OverflowError)
    for call in (tokenizer.decode, tokenizer.decode_bytes):
        with pytest.raises(KeyError, match=str(bad)):
            call(endless(bad))
    with pytest.raises(KeyError):
        list(tokenizer.decode_stream(endless(bad)))
    with pytest.raises(KeyError):
        tokenizer.decode_batch(itertools.repeat(endless(bad)))
    with pytest.raises((KeyError, OverflowError)):
        tiny.decode_batch(itertools.repeat(endless(bad)))  # type: ignore[arg-type]


def test_long_ranges_of_ids() -> None:
    tiny = encoding()
    for call in (
        tiny.decode,
        tiny.decode_bytes,
        tiny.decode_tokens_bytes,
        tiny.decode_with_offsets,
        Tokenizer().decode,
    ):
        with pytest.raises(KeyError, match=r"25[67]"):
            call(range(10**12))
    with pytest.raises(ValueError, match="starts must rise within 0 to 3"):
        Tokenizer().decode_batch(np.array([97, 98, 99]), starts=range(10**12))
    with pytest.raises(OverflowError):
        tiny.decode([97, 300, 2**40])  # as tiktoken, which converts a list first
    assert tiny.decode_with_offsets(iter([97, 0xC3, 0xA9, 98])) == ("aéb", [0, 1, 1, 2])  # type: ignore[arg-type]


# Texts that grow


def pipeline(folder: Path, normalizer: dict[str, Any]) -> Tokenizer:
    Tokenizer(pattern="gpt2").save_huggingface(folder, verify=False)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"normalizer": normalizer}))
    return Tokenizer.from_huggingface(path)


def replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def test_replace_may_not_multiply_without_end(tmp_path: Path) -> None:
    tokenizer = pipeline(tmp_path, {"type": "Sequence", "normalizers": [replace("a", "a" * 100)] * 20})
    assert tokenizer.encode("b c") == [98, 32, 99]
    for call in (tokenizer.encode, tokenizer.count, tokenizer.encode_with_offsets, tokenizer.encode_to_numpy):
        with pytest.raises(ValueError, match=r"step 3 of the normalizer \(Replace\) makes more than 16777216 bytes"):
            call("aaaaaa")


def test_stretches_share_the_limit(tmp_path: Path) -> None:
    """A text of many stretches between special tokens makes no more than one of the same size without them."""
    folder = tmp_path / "hf"
    base = Tokenizer(pattern="gpt2", special_tokens=["<|end|>"])
    base.save_huggingface(folder, verify=False)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"normalizer": replace("a", "a" * 1_000_000)}))
    tokenizer = Tokenizer.from_huggingface(path)
    assert tokenizer.count("a<|end|>" * 3) == 3_000_003
    for call in (tokenizer.count, tokenizer.encode_with_offsets):
        with pytest.raises(ValueError, match="step 0 of the normalizer"):
            call("a<|end|>" * 40)


def test_what_real_normalizers_make_is_within_the_limit(tmp_path: Path) -> None:
    text = "\ufdfa" * 200_000  # the longest decomposition: 18 characters of one
    tokenizer = pipeline(tmp_path, {"type": "NFKD"})
    assert tokenizer.count(text[:1000]) == 33_000
    assert steps_of(normalizer={"type": "NFKD"}).normalize(text).count(" ") == 3 * len(text)
    spaces = pipeline(
        tmp_path, {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")]}
    )
    assert spaces.count(" " * 1_000_000) == 3_000_003


def test_templates_multiply_little() -> None:
    def read(pieces: list[Any], ids: int = 1) -> Any:
        special = {"id": "<s>", "ids": [1] * ids, "tokens": ["<s>"] * ids}
        content = {"type": "TemplateProcessing", "single": pieces, "pair": [], "special_tokens": {"<s>": special}}
        return _core.PostProcessor(json.dumps(content))

    text, token = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<s>", "type_id": 0}}
    assert read([token, text, token]).added(False) == 2
    for pieces, ids, message in (
        ([text] * 5, 1, "the text A is there more than 4 times"),
        ([token] * 257, 1, "more than 256 pieces"),
        ([token] * 5, 1000, "more than 4096 tokens"),
    ):
        with pytest.raises(ValueError, match=message):
            read(pieces, ids)
    padding = {"length": 10**12, "pad_id": 0, "pad_type_id": 0, "pad_token": "", "direction": "left"}
    with pytest.raises(ValueError, match="is not a length from 0 to"):
        _core.EncodingSettings(json.dumps([None, padding]), None)


# Messages


def test_messages_are_short(tmp_path: Path) -> None:
    long = "y" * 100_000
    path = tmp_path / "t.json"
    Tokenizer().save(path)
    content = json.loads(path.read_text())
    calls: list[Callable[[], Any]] = [
        lambda: Tokenizer(pattern="(" + "y" * 40_000),
        lambda: Tokenizer(special_tokens={long: -1}),
        lambda: Tokenizer(special_tokens=[long, long]),
        lambda: Tokenizer(special_tokens=[long + "\ud800"]),
        lambda: Tokenizer(special_tokens=long),
        lambda: Tokenizer(dict(enumerate(RANKS)) | {256: long.encode(), 257: long.encode()}),
        lambda: Tokenizer(dict(enumerate(RANKS)), [(long.encode(), b"y")]),
        lambda: Tokenizer(dict(enumerate(RANKS)), [(long, b"y")]),  # type: ignore[list-item]
        lambda: Tokenizer().token_id(long),
        lambda: Tokenizer({-1: long.encode()}),
        lambda: PretokenCounts({long.encode(): -1}),
        lambda: PretokenCounts({long: 1}),  # type: ignore[dict-item]
        lambda: Tokenizer.load(edited(path, content, tokens=[[0, long], [0, long]])),
        lambda: Tokenizer.load(edited(path, content, tokens=[[long, long]])),
        lambda: Tokenizer.load(edited(path, content, merges=[[long, long]])),
        lambda: Tokenizer.load(edited(path, content, version=long)),
        lambda: Tokenizer.load(edited(path, content, unmatched=long)),
        lambda: toksmith.train(iter(["a"]), 300, ties=long),  # type: ignore[arg-type]
        lambda: encoding().encode_single_token(long),
        lambda: encoding().encode("<|end|>"),
        lambda: Encoding("x", pat_str=long, mergeable_ranks=RANKS, special_tokens={}),
        lambda: toksmith.get_encoding(long),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError, KeyError)) as caught:
            call()
        if not isinstance(caught.value, KeyError) or len(caught.value.args[0]) != len(long):
            assert len(str(caught.value)) < 1500, str(caught.value)[:300]


def edited(path: Path, content: dict[str, Any], **fields: Any) -> Path:
    path.write_text(json.dumps(content | fields))
    return path


def test_values_in_messages() -> None:
    for value in (
        b"a" * 10**7,
        "é" * 10**7,
        10**100_000,
        [10**10_000] * 100,
        {"a" * 10**6: [[[[1] * 9] * 9] * 9] * 9},
    ):
        assert len(shown(value)) < 250
    assert [shown(value) for value in ("a", b"a", 7, None, True, [1, "x"])] == [
        "'a'",
        "b'a'",
        "7",
        "None",
        "True",
        "[1, 'x']",
    ]


def test_arguments_of_encoding() -> None:
    arguments: dict[str, Any] = {"name": "x", "pat_str": ".", "mergeable_ranks": RANKS, "special_tokens": {}}
    for name, wrong in (
        ("special_tokens", ["<|end|>"]),
        ("special_tokens", None),
        ("special_tokens", {7: 300}),
        ("special_tokens", {"<|end|>": "300"}),
        ("mergeable_ranks", list(RANKS)),
        ("pat_str", b"."),
    ):
        with pytest.raises(TypeError):
            Encoding(**(arguments | {name: wrong}))


# Long pretokens


def test_steps_are_those_of_the_reference() -> None:
    rng = random.Random(3)
    text = "".join(rng.choice("abc ") for _ in range(3000))
    merging = toksmith.train(iter([text]), 320, pattern=None)
    for tokenizer in (merging, Tokenizer(merging.vocab, None, pattern=None)):
        table: Any = tokenizer.merges if tokenizer._core.has_merges() else {t: i for i, t in tokenizer.vocab.items()}
        rank_of = reference.rank_function(table)
        for _ in range(200):
            word = "".join(rng.choice("abc ") for _ in range(rng.randint(1, 40))).encode()
            expected = list(reference.encode_steps(word, rank_of))
            merges = explanation.merges_of(word, rank_of)
            steps = [explanation.Step(word, merges, count) for count in range(1, len(merges) + 1)]
            assert [tuple(step) for step in steps] == [tuple(step) for step in expected]


def test_explain_of_a_long_pretoken() -> None:
    """The states of 50,000 bytes after each merge would be gigabytes: they are made when they are asked for."""
    tokenizer = toksmith.train(iter(["ab" * 100]), 258, pattern=None)
    [found] = toksmith.lab.explain(tokenizer, "ab" * 25_000)
    assert found.ids == tokenizer.encode("ab" * 25_000)
    assert len(found.steps) >= 25_000
    assert len(found.steps[-1].pieces) == len(found.ids)
    assert (found.steps[0].left, found.steps[0].right) == (b"a", b"b")


# Links


@pytest.mark.parametrize("save", ["save", "tiktoken", "gpt2", "save_huggingface", "counts", "encode_file"])
def test_a_circle_of_links(save: str, tmp_path: Path) -> None:
    circle, other = tmp_path / "a", tmp_path / "b"
    circle.symlink_to(other)
    other.symlink_to(circle)
    text = tmp_path / "text"
    text.write_text("a")
    tokenizer = Tokenizer(pattern="gpt2")
    calls: dict[str, Callable[[], Any]] = {
        "counts": lambda: PretokenCounts({b"a": 1}).save(circle),
        "encode_file": lambda: tokenizer.encode_file(text, circle),
        "gpt2": lambda: tokenizer.save(circle, format="gpt2"),
        "tiktoken": lambda: tokenizer.save(circle, format="tiktoken"),
    }
    with pytest.raises(OSError, match="a") as caught:
        calls.get(save, lambda: getattr(tokenizer, save)(circle))()
    assert caught.value.errno == errno.ELOOP
    assert circle.readlink() == other
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "text"]


@pytest.mark.parametrize("pretoken", [b"again", b"a pretoken that is longer than a slot"])
def test_counts_with_a_pretoken_that_comes_twice_are_refused(pretoken: bytes, tmp_path: Path) -> None:
    path, other = tmp_path / "counts", bytes(reversed(pretoken))
    PretokenCounts({pretoken: 5, b"x": 1, other: 7}).save(path)
    data = path.read_bytes()[:-32].replace(other, pretoken)
    path.write_bytes(data + hashlib.sha256(data).digest())
    with pytest.raises(ValueError, match=rf"counts: the pretoken b\"{pretoken.decode()}\" occurs twice in the file"):
        PretokenCounts.load(path)
