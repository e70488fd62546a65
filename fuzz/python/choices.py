"""The bytes of an input, read as choices; and changes of files that are made by them."""

from __future__ import annotations

import copy
import json
from typing import Any

# What a file of a stranger may say in any place.
VALUES: list[Any] = [
    None, True, 0, 1, -1, 255, 256, 300, 2**31, 2**32 - 1, 2**32, 2**64, 1.5, float("inf"), "", "a", "ab", " ", "Ġ",
    "Ġa", "é", "\n", "\0", "\ud800", "�", "a" * 300, "<|end|>", r"\p{L}+|\s", "(?i:a|b)+", "(", "gpt2", "drop",
    [], {}, [[]], ["a", "b"], [0, "a"], {"a": 1}, {"Regex": r"\w+"}, {"String": "a"},
    "NFC", "NFKD", "Lowercase", "Strip", "StripAccents", "Prepend", "Replace", "Sequence", "ByteLevel", "Split",
    "Digits",
    "Whitespace", "WhitespaceSplit", "Punctuation", "Isolated", "Removed", "MergedWithNext", "TemplateProcessing",
    "WordLevel", "Unigram", {"id": "a", "type_id": 0}, {"Sequence": {"id": "A", "type_id": 0}},
]  # fmt: skip

# What is written into files of text.
PARTS = [b"", b"a", b"b", b" ", b"\n", b"\r\n", b"\0", b"\xff", b'"', b"[", b"{", b"0", b"256", b"=", b"YWI= 256\n",
b"a b\n",
         "Ġ".encode(), b"\\u", b"-1", b"e9", b"99999999999", b"#version", b"<|end|> 300\n", b"97 98\n"]  # fmt: skip


class Input:
    """Reads choices from the front; an input that is too short reads as zeros."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def byte(self) -> int:
        first, self.rest = self.rest[:1], self.rest[1:]
        return first[0] if first else 0

    def below(self, limit: int) -> int:
        if limit <= 256:
            return self.byte() % limit
        return (self.byte() << 8 | self.byte()) % limit

    def pick(self, some: Any) -> Any:
        return some[self.below(len(some))]

    def text(self, alphabet: list[str], longest: int = 1 << 16) -> str:
        taken, self.rest = self.rest[:longest], self.rest[longest:]
        return "".join(alphabet[byte % len(alphabet)] for byte in taken)


def changed_value(base: str, input: Input) -> Any:
    """Return a value of JSON with up to three changes at any depth."""
    whole = [json.loads(base)]
    for _ in range(input.below(4)):
        _change(whole, input)
    return whole[0]


def _change(holder: Any, input: Input) -> None:
    key: Any = 0
    while True:
        inner = holder[key]
        if not isinstance(inner, (list, dict)) or not inner or input.below(6) == 0:
            break
        holder, keys = inner, list(inner) if isinstance(inner, dict) else range(len(inner))
        # Of long lists mostly the last ones: the first 256 are bytes.
        key = keys[len(keys) - 1 - input.below(min(len(keys), 16))] if input.below(4) else input.pick(keys)
    old = holder[key]
    kind = input.below(6)
    if kind == 0 and (isinstance(holder, dict) or len(holder) > 1):
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(old))
    elif kind == 2 and isinstance(holder, dict):
        holder[str(input.pick(VALUES))] = old
    elif kind == 3 and isinstance(old, str):
        at = input.below(len(old) + 1)
        holder[key] = old[:at] + str(input.pick(VALUES)) + old[at + input.below(3) :]
    elif kind == 3 and isinstance(old, int):
        holder[key] = old + input.below(5) - 2
    else:
        holder[key] = copy.deepcopy(input.pick(VALUES))


def changed_bytes(base: bytes, input: Input) -> bytes:
    """Return the bytes of a file with up to four changes."""
    data = base
    for _ in range(input.below(5)):
        at = input.below(len(data) + 1)
        if input.below(2):  # near the end, where what is not bytes stands
            at = max(0, len(data) - at % 64)
        kind, count = input.below(6), input.below(40)
        if kind == 0:
            data = data[:at] + bytes([input.byte()]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + input.pick(PARTS) + data[at:]
        elif kind == 2:
            data = data[:at] + data[at + count :]
        elif kind == 3:
            data = data[:at] + data[at : at + count] * 2 + data[at + count :]
        elif kind == 4:
            data = data[:at]
        else:
            data = data[:at] + input.pick(PARTS) + data[at + 1 :]
    return data
