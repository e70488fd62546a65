"""Decoders against `tokenizers`: random ones over random tokens, and the streams of every kind of file."""

import functools
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
from character_cases import KINDS, META, ids_of, text_of
from character_cases import make as of_characters
from huggingface_cases import make as of_bytes
from part_steps import steps_of
from tokenizers import AddedToken, Regex, decoders

import toksmith
from toksmith import Tokenizer
from toksmith.compat import huggingface
from toksmith.compat.huggingface import DecodeStream

TOKENS = (
    *(
        "",
        " ",
        "  ",
        "a",
        "aa",
        "ab",
        "b",
        " a ",
        META,
        f"{META}a",
        f"a{META}",
        META * 2,
        "é",
        "漢",
        "Ġa",
        "Ã©",
        "Ã",
        "©",
    ),
    *(f"<0x{byte:02X}>" for byte in (0x20, 0x41, 0xC3, 0xA9, 0xE6, 0xBC, 0xA2, 0xFF)),
    *("<0x4>", "<0xzz>", "<0x+A>", "<0xé>", "<0x0a>", "<0x411>", "<0", "x41>", "</w>", "a</w>", "##a", "##", "<pad>"),
    *("|", "do", "not", ".", "n't", "'", " ' ", "\ufffd", "\n"),
)
PATTERNS = (
    "a",
    "ab",
    "aab",
    META,
    " ",
    "</w>",
    "é",
    Regex("a+"),
    Regex(r"\s"),
    Regex("(?:a|b) ?"),
    Regex("[^a]b"),
    Regex("a*"),
    Regex(r"\b"),
)


def simple(rng: random.Random) -> Any:
    contents = ("", " ", "a", "ab", META, "é", "\ufffd")
    return rng.choice(
        (
            decoders.ByteLevel,
            decoders.ByteFallback,
            decoders.ByteFallback,
            decoders.Fuse,
            decoders.Fuse,
            lambda: decoders.Replace(rng.choice(PATTERNS), rng.choice(contents)),
            lambda: decoders.Replace(rng.choice(PATTERNS), rng.choice(contents)),
            lambda: decoders.Strip(rng.choice(" aé"), rng.randrange(3), rng.randrange(3)),
            lambda: decoders.Metaspace(rng.choice((META, "a")), rng.choice(("always", "first", "never"))),
            lambda: decoders.BPEDecoder(suffix=rng.choice(("</w>", "", "a"))),
            lambda: decoders.WordPiece(rng.choice(("##", "a", "")), rng.random() < 0.5),
            lambda: decoders.CTC(rng.choice(("<pad>", "a", "")), rng.choice(("|", "b", "")), rng.random() < 0.5),
        )
    )()


def decoder_of(rng: random.Random, depth: int = 2) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return simple(rng)
    return decoders.Sequence([decoder_of(rng, depth - 1) for _ in range(rng.randrange(4))])


def content_of(decoder: Any) -> Any:
    return json.loads(decoder.__getstate__())


def or_panic(call: Callable[[], Any]) -> Any:
    """Return what a call of the original returns; None where it panics, as Strip does on short tokens."""
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


@pytest.mark.parametrize("seed", range(4))
def test_random_decoders(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(400):
        theirs = decoder_of(rng)
        steps = steps_of(decoder=content_of(theirs))
        for _ in range(8):
            tokens = rng.choices(TOKENS, k=rng.randrange(9))
            expected = or_panic(lambda: theirs.decode(tokens))  # noqa: B023
            if expected is not None:
                assert steps.decode(tokens) == expected, (content_of(theirs), tokens)


# Streams


def with_decoder(made: Any, decoder: Any) -> Any:
    changed = json.loads(made.to_str()) | {"decoder": None if decoder is None else content_of(decoder)}
    return tokenizers.Tokenizer.from_str(json.dumps(changed))


ADDED = [AddedToken("the", normalized=True), AddedToken("<n>", normalized=False), AddedToken(" of ", normalized=True)]


def respelled() -> Any:
    """A file whose added tokens are normalized to other texts; one of them is an ordinary token."""
    made = of_characters("llama")
    made.add_tokens(ADDED)
    return made


def byte_respelled() -> Any:
    """A file with an added token that has the name of a byte, and another one once it is normalized."""
    made = with_decoder(of_characters("llama"), decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()]))
    made.add_tokens([AddedToken("<0x41>", normalized=True)])
    return made


FILES: dict[str, Callable[[], Any]] = {
    **{kind: functools.partial(of_characters, kind) for kind in KINDS},
    "respelled": respelled,
    "fallback_then_metaspace": lambda: with_decoder(
        of_characters("metaspace_first_True"), decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    ),
    "byte_respelled": byte_respelled,
    "unknown": lambda: of_characters("llama", byte_fallback=False),
    "bytes": lambda: of_bytes(added=["<n>"]),
    "bytes_in_sequence": lambda: with_decoder(
        of_bytes(), decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    ),
    "bytes_suffixed": lambda: with_decoder(of_bytes(), decoders.BPEDecoder()),
    "bytes_of_words": lambda: with_decoder(of_bytes(), decoders.WordPiece("Ġ", True)),
    "bytes_replaced": lambda: with_decoder(
        of_bytes(), decoders.Sequence([decoders.ByteLevel(), decoders.Replace(Regex(r"\s+"), " ")])
    ),
}


@functools.cache
def loaded(kind: str) -> tuple[Any, Tokenizer]:
    theirs = FILES[kind]()
    return theirs, Tokenizer.from_huggingface(theirs)


def random_ids(kind: str, rng: random.Random, theirs: Any) -> list[int]:
    if kind.startswith("bytes"):
        return rng.choices(range(theirs.get_vocab_size()), k=rng.randrange(12))
    added = [*theirs.get_added_tokens_decoder()]
    return [rng.choice(added) if rng.random() < 0.2 else id for id in ids_of(rng, 12)]


@pytest.mark.parametrize("kind", FILES)
def test_streams_equal_whole_texts(kind: str) -> None:
    theirs, ours = loaded(kind)
    rng = random.Random(kind)
    for _ in range(300):
        ids = random_ids(kind, rng, theirs)
        expected = theirs.decode(ids, skip_special_tokens=False)
        assert ours.decode(ids) == expected, ids
        assert "".join(ours.decode_stream(ids)) == expected, ids
        without = theirs.decode(ids, skip_special_tokens=True)
        if kind == "old_llama":  # there, special tokens that are normalized are shown all the same
            special = set(ours.special_tokens.values())
            without = ours.decode([id for id in ids if id not in special])
        assert "".join(toksmith.DecodeStream(ours, skip_special=True).pieces(ids)) == without, ids
        padded = [id for known in ids for id in (known, 1 << 30)]
        assert "".join(toksmith.DecodeStream(ours, unknown="skip").pieces(padded)) == expected, ids
        if "\ufffd" not in expected:
            assert ours.decode_bytes(ids) == expected.encode(), ids


@pytest.mark.parametrize("kind", FILES)
def test_a_prompt_is_not_repeated(kind: str) -> None:
    theirs, ours = loaded(kind)
    rng = random.Random(f"prompt {kind}")
    for _ in range(100):
        ids = random_ids(kind, rng, theirs) if rng.random() < 0.5 else ours.encode(text_of(rng, 8))
        text = ours.decode(ids)
        for cut in range(len(ids) + 1):
            shown = ours.decode(ids[:cut])
            stream = ours.decode_stream(prompt=ids[:cut])
            behind = "".join(map(stream.push, ids[cut:])) + stream.flush()
            if text.startswith(shown) and not shown.endswith("\ufffd"):
                assert shown + behind == text, (ids, cut)


@pytest.mark.parametrize("seed", range(2))
def test_streams_of_random_decoders(seed: int) -> None:
    rng = random.Random(f"decoders {seed}")
    for _ in range(20):
        kind = rng.choice(("llama", "bare", "bytes"))
        theirs = with_decoder(loaded(kind)[0], decoder_of(rng))
        ours = Tokenizer.from_huggingface(theirs)
        for _ in range(20):
            ids = random_ids(kind, rng, theirs)
            expected = or_panic(lambda: theirs.decode(ids, skip_special_tokens=False))  # noqa: B023
            text = ours.decode(ids)
            assert "".join(ours.decode_stream(ids)) == text
            if expected is not None:
                assert text == expected, (theirs.to_str()[:3000], ids)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("skips", [False, True])
def test_pieces_of_the_stand_in(kind: str, skips: bool) -> None:
    theirs = loaded(kind)[0]
    ours = huggingface.Tokenizer.from_str(theirs.to_str())
    rng = random.Random(f"pieces {kind}")
    for _ in range(60):
        ids = random_ids(kind, rng, theirs) if rng.random() < 0.5 else theirs.encode(text_of(rng, 8)).ids
        prompt = ids[: rng.choice((0, 0, 3))]
        there, here = decoders.DecodeStream(prompt, skips), DecodeStream(prompt, skips)
        for id in ids[len(prompt) :]:
            try:
                expected = there.step(theirs, id)
            except Exception as error:
                with pytest.raises(type(error), match="Invalid prefix"):
                    here.step(ours, id)
                break
            assert here.step(ours, id) == expected, (ids, id)
