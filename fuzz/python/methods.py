"""Every method of the public classes with any arguments: a result, or an exception of a documented type."""

from __future__ import annotations

import array
import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from choices import Input

import toksmith
from toksmith import Encoding, PretokenCounts, Tokenizer

# LookupError is `bytes.decode`'s for an error handler that is none, KeyError for an id.
DOCUMENTED = (ValueError, TypeError, LookupError, OverflowError, OSError, MemoryError)

VALUES: list[Callable[[], Any]] = [
    lambda: None, lambda: True, lambda: 0, lambda: 1, lambda: -1, lambda: 3, lambda: 97, lambda: 300, lambda: 2**31,
    lambda: 2**32, lambda: 2**64, lambda: -(2**70), lambda: 1.5, lambda: float("nan"), lambda: 1j,
    lambda: "", lambda: "a", lambda: "ab low<|end|> é中😀", lambda: "\ud800", lambda: "\0", lambda: "a" * 500,
    lambda: b"", lambda: b"ab", lambda: b"\xff\xc3", lambda: bytearray(b"ab \xe4"), lambda: memoryview(b"abcd")[::2],
    list, lambda: [97, 98], lambda: [2**40], lambda: [-1], lambda: [300], lambda: [1.5], lambda: ["a",
    "ab low"],
    lambda: ["a", None], lambda: [b"ab", "a"], lambda: [[97], [98, 99]], lambda: [("a", True), ("<|end|>", False)],
    lambda: ("a", "b"), lambda: {"a": 1}, lambda: {"<|end|>": 300}, lambda: {97: b"a"}, lambda: {b"low": 5, b"": 1},
    lambda: {byte: bytes([byte]) for byte in range(256)}, lambda: {bytes([byte]): byte for byte in range(256)},
    lambda: {"<|end|>"}, lambda: iter(["a", "b"]), lambda: itertools.repeat(97, 5), lambda: range(5),
    lambda: object(),
    lambda: np.array([97, 98], np.uint16), lambda: np.array([[97]], np.int64), lambda: np.array([-1]),
    lambda: np.array([1.0]),
    lambda: np.array(["a"]), lambda: np.array([97, 98, 99], ">u4")[::-1], lambda: array.array("I", [97, 98]),
    lambda: np.uint8(97), lambda: np.str_("ab"), lambda: "all", lambda: "strict", lambda: "replace", lambda: "gpt2",
    lambda: "drop", lambda: r"\w+", lambda: "(", lambda: type, lambda: Ellipsis, lambda: _Odd(), lambda: 5 * [97],
    lambda: _tokenizer(), lambda: _encoding(), lambda: PretokenCounts({b"low": 2}), lambda: "huggingface",
    lambda: "first",
]  # fmt: skip

NAMES = [
    "special", "workers", "errors", "overlap", "max_tokens", "prompt", "allowed_special", "disallowed_special",
    "num_threads",
    "special_tokens", "pattern", "unmatched", "merges", "vocab", "ignore_merges", "ties", "ids",
    "min_frequency", "max_token_length", "forced_tokens", "base", "memory_limit", "min_pretoken_count", "pat_str",
    "mergeable_ranks", "explicit_n_vocab", "document_separator", "dtype", "n", "ids", "text",
]  # fmt: skip


class _Odd:
    """An object that pretends."""

    def __index__(self) -> int:
        raise ValueError("no index")

    def __len__(self) -> int:
        return 2**40

    def __iter__(self) -> Any:
        return iter([97, "a", None])


@functools.cache
def _tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower lowest ab ab"]), 265, special_tokens=["<|end|>"])


@functools.cache
def _encoding() -> Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"lo": 257}
    return Encoding("tiny", pat_str=r"\w+|\s+", mergeable_ranks=ranks, special_tokens={"<|end|>": 258})


# What writes files, or reads what it is given the name of, is for other targets.
_FILES = ("save", "load", "from_", "train_bpe", "get_encoding", "encoding_for_model", "encode_file", "registry")


def _of_texts(function: Any, texts: Any, *arguments: Any, **options: Any) -> Any:
    return function(iter(texts), *arguments, **options)


@functools.cache
def _calls() -> list[tuple[str, Any]]:
    calls: list[tuple[str, Any]] = [
        ("Tokenizer", Tokenizer),
        ("Encoding", Encoding),
        ("PretokenCounts", PretokenCounts),
    ]
    calls += [("train", functools.partial(_of_texts, toksmith.train))]
    calls += [("count_pretokens", functools.partial(_of_texts, toksmith.count_pretokens))]
    for target in (_tokenizer(), _encoding(), PretokenCounts({b"low": 2, b"ab": 3})):
        for name in dir(target):
            if not name.startswith(("_", *_FILES)) and callable(getattr(type(target), name, None)):
                calls.append((name, getattr(target, name)))
    return calls


def _value(input: Input) -> Any:
    return input.pick(VALUES)()


def arguments(data: bytes) -> None:
    """Call something with something."""
    input = Input(data)
    name, call = input.pick(_calls())
    positional = [_value(input) for _ in range(input.below(4))]
    named = {input.pick(NAMES): _value(input) for _ in range(input.below(3))}
    try:
        result = call(*positional, **named)
        if hasattr(result, "__next__"):
            result = list(itertools.islice(result, 1000))
    except DOCUMENTED as error:
        assert len(str(error)) < 3000, name
    except AssertionError as error:
        # tiktoken's own, for two arguments.
        assert "explicit_n_vocab" in str(error) or name == "is_special_token"
