"""Random `.model` files of SentencePiece: the ids of texts and the texts of ids beside the library."""

from __future__ import annotations

import functools
import random
import struct
from typing import Any

from checks import written
from splitting import outcomes

from toksmith import Tokenizer

LETTERS = ["a", "b", "é", "漢", "\u2581", "\u2581", "<", "0", "x", "4", "1", "e", "2", "+", "A", ">"]
TEXTS = ["a", "b", "é", "漢", " ", " ", "   ", "\u2581", "<0x41>", "<0xe2>", "字", "\t"]
FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6

Piece = tuple[str, float, int]


def _field(number: int, content: bytes | int) -> bytes:
    """Return a field of a message: a number of variable length, or a content with its length."""
    kind = 2 if isinstance(content, bytes) else 0
    numbers = [number << 3 | kind, len(content) if isinstance(content, bytes) else content]
    head = bytearray()
    for rest in numbers:
        while rest >= 128:
            head.append(rest & 127 | 128)
            rest >>= 7
        head.append(rest)
    return bytes(head) + (content if isinstance(content, bytes) else b"")


def model_of(pieces: list[Piece], unk_surface: str | None = None, **flags: bool) -> bytes:
    """Return the `.model` of pieces: the text, the score and the type of each."""
    trainer = _field(3, 2)
    for number, name in ((24, "treat_whitespace_as_suffix"), (35, "byte_fallback")):
        trainer += _field(number, int(flags.get(name, False)))
    if unk_surface is not None:
        trainer += _field(44, unk_surface.encode())
    normalizer = b"".join(_field(number, int(flags.get(name, True))) for number, name in enumerate(FLAGS, 3))
    rows = [
        _field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + _field(3, kind)
        for text, score, kind in pieces
    ]
    return b"".join(_field(1, row) for row in rows) + _field(2, trainer) + _field(3, normalizer)


def random_model(rng: random.Random) -> tuple[list[Piece], bytes]:
    """Return the pieces and the content of a model, of whose pieces many have one score."""
    falls_back = rng.random() < 0.5
    named: dict[str, tuple[float, int]] = {"<unk>": (0, UNKNOWN), "<s>": (0, CONTROL), "</s>": (0, CONTROL)}
    if falls_back:
        named |= {f"<0x{byte:02X}>": (0, BYTE) for byte in range(256)}
    letters = dict.fromkeys(LETTERS)
    named |= {letter: (rng.choice([-9.0, -50.0]), NORMAL) for letter in letters}
    scores = [float(-score) for score in range(rng.choice([1, 2, 5, 40]))]
    made = list(letters)
    for _ in range(rng.randrange(25)):
        text = rng.choice(made) + rng.choice(made)
        if len(text) < 12 and text not in named:
            named[text] = (rng.choice(scores), NORMAL)
            made.append(text)
    for text in rng.sample(["<0x41>", "<0xe2>", "<0x+A>", "ab", "\u2581\u2581a", "<ctl>", "b a"], 3):
        named.setdefault(text, (rng.choice(scores), rng.choice([NORMAL, CONTROL, USER_DEFINED])))
    pieces = [(text, *rest) for text, rest in named.items()]
    flags = {name: rng.random() < 0.5 for name in (*FLAGS, "treat_whitespace_as_suffix")}
    unk_surface = rng.choice([None, None, "", "?", "\u2581u"])
    return pieces, model_of(pieces, unk_surface, byte_fallback=falls_back, **flags)


def random_ids(rng: random.Random, pieces: list[Piece]) -> list[int]:
    """Return ids, among them runs of bytes and of leading spaces."""
    kinds = [[id for id, (_, _, kind) in enumerate(pieces) if kind == wanted] for wanted in (1, 2, 3, 4, 6)]
    spaces = [id for id, (text, _, _) in enumerate(pieces) if text.startswith("\u2581")]
    pools = [pool for pool in (*kinds, spaces) if pool]
    ids = rng.choices(spaces, k=rng.randrange(4)) if rng.random() < 0.5 else []
    for _ in range(rng.randrange(6)):
        pool = rng.choice(pools)
        if kinds[4] and rng.random() < 0.3:
            ids += [
                kinds[4][byte] for byte in rng.choice(["é", "漢", " ", "A", "\u2581"]).encode()[: rng.randrange(4)]
            ]
        ids += rng.choices(pool, k=rng.randrange(4))
    return ids


@functools.cache
def library() -> Any:
    import sentencepiece

    return sentencepiece


def compare(rng: random.Random, count: int) -> int:
    """Compare `count` texts and lists of ids of a random model; return how many, 0 for a model that is refused."""
    pieces, model = random_model(rng)
    path = written("random.model", model)
    try:
        tokenizer = Tokenizer.from_pretrained(path)
    except ValueError as error:
        outcomes[f"refused: {str(error).rpartition(':')[2].strip()[:50]}"] += 1
        return 0
    processor = library().SentencePieceProcessor(model_proto=model)
    for _ in range(count):
        text = "".join(rng.choices(TEXTS, k=rng.choice([3, 10, 40])))
        assert tokenizer.encode(text, special=False) == processor.encode(text), (pieces, text)
        ids = random_ids(rng, pieces)
        decoded = tokenizer.decode(ids)
        assert decoded == processor.decode(ids), (model, ids, decoded, processor.decode(ids))
        stream = tokenizer.decode_stream()
        shown = "".join(stream.push(id) for id in ids) + stream.flush()
        assert shown == decoded, (model, ids, shown, decoded)
        if "\ufffd" not in decoded:
            assert tokenizer.decode_bytes(ids) == decoded.encode(), (model, ids)
    return count


def sentencepiece_models(data: bytes) -> None:
    """Random models beside sentencepiece, with random texts and ids."""
    count = compare(random.Random(data), 20)
    outcomes["compared lists of ids, and as many texts"] += count
