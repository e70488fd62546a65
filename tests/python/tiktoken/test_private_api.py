"""What programs use of tiktoken beside its documented methods, beside the installed tiktoken: the same results."""

import contextlib
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiktoken
import tiktoken._educational as their_lessons
import tiktoken_ext.openai_public as their_public

from toksmith import Encoding
from toksmith.compat import tiktoken as ours
from toksmith.compat.tiktoken import _educational as lessons
from toksmith.compat.tiktoken._tiktoken import CoreBPE
from toksmith.compat.tiktoken_ext import openai_public

RANKS = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256, b" a": 257, b"abab": 258}
SPECIALS = {"<e>": 300, "<|endoftext|>": 301}
PATTERN = r" ?\w+|\s+|[^\s\w]+"
ARGUMENTS: dict[str, Any] = {"pat_str": PATTERN, "mergeable_ranks": RANKS, "special_tokens": SPECIALS}


@pytest.fixture
def pair() -> tuple[Encoding, tiktoken.Encoding]:
    return Encoding("x", **ARGUMENTS), tiktoken.Encoding("x", **ARGUMENTS)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        result = call()
    except Exception as error:
        return type(error)
    return result.tolist() if isinstance(result, np.ndarray) else result


# Arguments that are None, and ids of which several are wrong in different ways

IDS: list[Any] = [
    [999, "a"], ["a", 999], [999, -1], [-1, 999], [999, 2**40], [2**40, 999], [-1, "a"], ["a", -1], [999, None],
    [97, 1.5], [1.5, -1], [999, 1.5], [97, 999, "a"], (999, "a"), (-1, 999), [[97]], [True], [], [97, 256],
]  # fmt: skip
CALLS: list[Callable[[Any], Any]] = [
    lambda e: e.encode("a<e>", disallowed_special=None),
    lambda e: e.encode("a<e>", disallowed_special=False),
    lambda e: e.encode("a<e>", disallowed_special=0),
    lambda e: e.encode("a<e>", disallowed_special=""),
    lambda e: e.encode("a<e>", allowed_special={"<e>"}, disallowed_special=None),
    lambda e: e.encode("a<e>", allowed_special=None, disallowed_special=None),
    lambda e: e.encode("a<e>\ud800", disallowed_special=None),
    lambda e: e.encode_to_numpy("a<e>", disallowed_special=None),
    lambda e: e.encode_with_unstable("a<e>", disallowed_special=None),
    lambda e: e.encode_batch(["ab"], num_threads=None),
    lambda e: e.encode_ordinary_batch(["ab"], num_threads=None),
    lambda e: e.encode_ordinary_batch(["ab"], num_threads=2.5),
    lambda e: e.encode_ordinary_batch(["ab"], num_threads=0.5),
    lambda e: e.encode_ordinary_batch(["ab"], num_threads=0),
    lambda e: e.encode_ordinary_batch(["ab"], num_threads="4"),
    lambda e: e.decode_batch([[97]], num_threads=None),
    lambda e: e.decode_bytes_batch([[97]], num_threads=None),
    lambda e: e.decode_bytes_batch([[97]], num_threads=-1),
    lambda e: list(e.special_tokens_set),
    lambda e: "tiktoken" in str(type(e)),
]


@pytest.mark.parametrize("call", CALLS)
def test_arguments_that_are_none(call: Callable[[Any], Any], pair: tuple[Encoding, tiktoken.Encoding]) -> None:
    assert outcome(lambda: call(pair[0])) == outcome(lambda: call(pair[1]))


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("name", ["decode", "decode_bytes", "decode_tokens_bytes", "decode_with_offsets"])
def test_which_of_several_wrong_ids_counts(ids: Any, name: str, pair: tuple[Encoding, tiktoken.Encoding]) -> None:
    mine, peer = (outcome(lambda one=one: getattr(one, name)(ids)) for one in pair)
    assert mine == peer


def test_the_order_of_many_special_tokens() -> None:
    # Whisper lists its languages in this order.
    names = {f"<|{number}|>": 300 + number for number in range(100)}
    made = [one("x", **{**ARGUMENTS, "special_tokens": names}) for one in (Encoding, tiktoken.Encoding)]
    assert list(made[0].special_tokens_set) == list(made[1].special_tokens_set)


# The extension's class

TEXTS = ["", "ab abab<e>", "a<|endoftext|>b  ", "é<e", "ab\ud800"]
CORE_CALLS: list[Callable[[Any], Any]] = [
    *(lambda c, text=text: c.encode(text, set()) for text in TEXTS),
    *(lambda c, text=text: c.encode(text, {"<e>", "unknown"}) for text in TEXTS),
    *(lambda c, text=text: c.encode_ordinary(text) for text in TEXTS),
    *(lambda c, text=text: bytes(c.encode_to_tiktoken_buffer(text, {"<e>"})) for text in TEXTS),
    lambda c: c.encode("ab<e>", frozenset(["<e>"])),
    lambda c: memoryview(c.encode_to_tiktoken_buffer("ab<e>", set())).nbytes,
    lambda c: memoryview(c.encode_to_tiktoken_buffer("ab<e>", set())).readonly,
    lambda c: np.frombuffer(c.encode_to_tiktoken_buffer("ab<e>", set()), dtype=np.uint32).tolist(),
    lambda c: (c.encode_with_unstable("ab a", set())[0], sorted(c.encode_with_unstable("ab a", set())[1])),
    lambda c: c.encode_with_unstable("ab\ud800", set()),
    lambda c: c.encode_single_piece(b"abab ab"),
    lambda c: c.encode_single_piece(piece=b"ab<e>"),
    lambda c: c.encode_single_piece("ab"),
    lambda c: c.encode_single_piece(bytearray(b"ab")),
    lambda c: [c.encode_single_token(token) for token in (b"ab", b"<e>", b"\xff")],
    lambda c: c.encode_single_token(b"zzz"),
    lambda c: c.encode_single_token(b"\xff\xfe"),
    lambda c: c.encode_single_token("ab"),
    lambda c: c.decode_bytes([256, 300, 97]),
    lambda c: [c.decode_single_token_bytes(id) for id in (97, 256, 300)],
    lambda c: c.decode_single_token_bytes(999),
    lambda c: c.decode_single_token_bytes(-1),
    *(lambda c, ids=ids: c.decode_bytes(ids) for ids in IDS),
    lambda c: c.token_byte_values(),
    lambda c: c._encode_bytes(b"ab\xff"),
    lambda c: c._encode_bytes("ab"),
    lambda c: c.encode("ab"),
    lambda c: c.encode("ab", None),
    lambda c: c.encode("ab", ["<e>"]),
    lambda c: c.encode("ab", {5}),
    lambda c: c.encode_ordinary(b"ab"),
    lambda c: c.nothing,
    pickle.dumps,
]


@pytest.mark.parametrize("call", CORE_CALLS)
def test_core_bpe(call: Callable[[Any], Any], pair: tuple[Encoding, tiktoken.Encoding]) -> None:
    expected = outcome(lambda: call(pair[1]._core_bpe))
    assert outcome(lambda: call(pair[0]._core_bpe)) == expected
    made = ours._tiktoken.CoreBPE(RANKS, SPECIALS, PATTERN)
    assert outcome(lambda: call(made)) == expected


def test_the_names_of_core_bpe() -> None:
    theirs = {name for name in dir(tiktoken._tiktoken.CoreBPE) if not name.startswith("__")}
    assert theirs <= set(dir(CoreBPE))
    for wrong in ((5, {}, "x"), (RANKS, 5, "x"), (RANKS, {}, "(")):
        kinds = (CoreBPE, tiktoken._tiktoken.CoreBPE)
        mine, peer = (outcome(lambda kind=kind, wrong=wrong: kind(*wrong)) for kind in kinds)
        assert mine is peer


def test_a_vocabulary_that_is_cut() -> None:
    # As programs do that want a small vocabulary of a published one.
    results = []
    for library in (ours, tiktoken):
        encoding: Any = library.Encoding("x", **ARGUMENTS)
        encoding._mergeable_ranks = dict(list(encoding._mergeable_ranks.items())[:257])
        encoding._special_tokens = {"<|endoftext|>": 257}
        encoding._core_bpe = library._tiktoken.CoreBPE(
            encoding._mergeable_ranks, encoding._special_tokens, encoding._pat_str
        )
        text = "abab ab<|endoftext|>"
        results.append(
            [
                encoding.encode(text, allowed_special="all"),
                encoding.encode_ordinary(text),
                encoding.encode_batch([text], allowed_special="all"),
                outcome(lambda one=encoding, text=text: one.encode(text)),
                encoding.decode([256, 257]),
                outcome(lambda one=encoding: one.decode([258])),
                encoding.eot_token,
                len(encoding._mergeable_ranks),
                pickle.loads(pickle.dumps(encoding)).encode("abab"),
            ]
        )
    assert results[0] == results[1]


# The lessons

LESSON = "low low lower lowest, the newest of the widest 你好\n" * 2
WORDS = r"\w+|\s+|[^\s\w]+"


def printed(call: Callable[[], Any]) -> tuple[Any, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        return call(), out.getvalue()


@pytest.mark.parametrize("visualise", ["colour", "color", "simple", None])
def test_lessons_encode(visualise: str | None) -> None:
    ranks = their_lessons.bpe_train(LESSON, 276, WORDS, visualise=None)
    assert lessons.bpe_train(LESSON, 276, WORDS, visualise=None) == ranks
    mine = lessons.SimpleBytePairEncoding(pat_str=WORDS, mergeable_ranks=ranks)
    peer = their_lessons.SimpleBytePairEncoding(pat_str=WORDS, mergeable_ranks=ranks)
    for text in (LESSON, "", "lowest of all: 好"):
        expected = printed(lambda text=text: peer.encode(text, visualise=visualise))
        assert printed(lambda text=text: mine.encode(text, visualise=visualise)) == expected
        ids = expected[0]
        assert (mine.decode(ids), mine.decode_bytes(ids)) == (peer.decode(ids), peer.decode_bytes(ids))
        assert mine.decode_tokens_bytes(ids) == peer.decode_tokens_bytes(ids)
    assert mine.decode([255]) == peer.decode([255]) == "\ufffd"


def test_lessons_train_and_load() -> None:
    mine, shown = printed(lambda: lessons.SimpleBytePairEncoding.train(LESSON, 270, WORDS))
    peer, _ = printed(lambda: their_lessons.SimpleBytePairEncoding.train(LESSON, 270, WORDS))
    assert mine.mergeable_ranks == peer.mergeable_ranks and shown.count("is token") == 14
    encoding = Encoding("x", **ARGUMENTS)
    assert lessons.SimpleBytePairEncoding.from_tiktoken(encoding).encode("abab", visualise=None) == [258]
    simple, shown = printed(lessons.train_simple_encoding)
    assert len(simple.mergeable_ranks) == 600 and "hello world" in shown
    with pytest.raises(ValueError, match="vocab_size must be at least 256"):
        lessons.bpe_train("a", 255, ".")
    with pytest.raises(ValueError, match="no pair is left after 1 merges"):
        lessons.bpe_train("ab", 300, "..", visualise=None)
    names = {"SimpleBytePairEncoding", "bpe_encode", "bpe_train", "visualise_tokens", "train_simple_encoding"}
    assert names <= set(dir(lessons)) and names <= set(dir(their_lessons))


def test_the_plug_in_of_published_encodings(monkeypatch: pytest.MonkeyPatch, tiktoken_cache: Any) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tiktoken_cache))
    assert openai_public.ENCODING_CONSTRUCTORS.keys() == their_public.ENCODING_CONSTRUCTORS.keys()
    for name in ("ENDOFTEXT", "FIM_PREFIX", "FIM_MIDDLE", "FIM_SUFFIX", "ENDOFPROMPT", "r50k_pat_str"):
        assert getattr(openai_public, name) == getattr(their_public, name)
    for name in ("gpt2", "p50k_base", "cl100k_base"):
        assert getattr(openai_public, name)() == getattr(their_public, name)()


# Phrases that programs look for in messages

PHRASES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda t: t.Encoding("x", **ARGUMENTS).encode("a<e>"), "disallowed special token '<e>'"),
    (lambda t: t.Encoding("x", **ARGUMENTS).decode([999]), "Invalid token for decoding"),
    (lambda t: t.get_encoding("no_such"), "Unknown encoding"),
    (lambda t: t.get_encoding(5), "Expected a string in get_encoding"),
    (lambda t: t.encoding_for_model("no-such"), "Could not automatically map no-such to a tokeniser"),
]


@pytest.mark.parametrize(("call", "phrase"), PHRASES)
def test_phrases_of_messages(call: Callable[[Any], Any], phrase: str) -> None:
    for library in (ours, tiktoken):
        with pytest.raises(Exception) as caught:
            call(library)
        assert phrase in str(caught.value).split("\n")[0]


def test_phrases_of_the_readers(tmp_path: Any) -> None:
    import tiktoken.load

    path = tmp_path / "ranks"
    path.write_text("YQ== x\n")
    for load in (ours.load.load_tiktoken_bpe, tiktoken.load.load_tiktoken_bpe):
        with pytest.raises(ValueError, match="Error parsing line"):
            load(str(path))
    with pytest.raises(ValueError, match="Hash mismatch for"):
        ours.load.load_tiktoken_bpe(str(path), "0" * 64)
