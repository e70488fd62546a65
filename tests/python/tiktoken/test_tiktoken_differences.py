"""The rows of the table in docs/tiktoken.md that no other test holds: what tiktoken does, and what is done here."""

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
import tiktoken

from toksmith import Encoding, Tokenizer

RANKS = {bytes([byte]): byte for byte in range(256)}


def pair(**changes: Any) -> tuple[Encoding, tiktoken.Encoding]:
    arguments: dict[str, Any] = {
        "pat_str": r"\w+|\W",
        "mergeable_ranks": RANKS,
        "special_tokens": {"<e>": 300},
        **changes,
    }
    return Encoding("x", **arguments), tiktoken.Encoding("x", **arguments)


def assert_fails(call: Any) -> None:
    """A panic of tiktoken's engine is no `Exception`."""
    with pytest.raises(BaseException) as caught:
        call()
    assert isinstance(caught.value, Exception) or type(caught.value).__name__ == "PanicException"


def test_unicode_of_later_versions() -> None:
    # U+088F ARABIC LETTER NOON WITH RING ABOVE is a letter since Unicode 17.
    ours, theirs = pair(pat_str=r"\p{L}+")
    assert ours.encode("\u088f") != [] and theirs.encode("\u088f") == []
    # U+0295 LATIN LETTER PHARYNGEAL VOICED FRICATIVE is a lower-case letter there.
    ours, theirs = pair(pat_str=r"\p{Ll}+")
    assert ours.encode("\u0295") == [] and theirs.encode("\u0295") != []


def test_matches_of_no_characters() -> None:
    ours, theirs = pair(pat_str=r"a?")
    assert ours.encode("ab") == [97]
    assert_fails(lambda: theirs.encode("ab"))
    ours, theirs = pair(pat_str=r"a?", mergeable_ranks={**RANKS, b"": 256})
    assert ours.encode("b") == [] and 256 in theirs.encode("b")


def test_an_empty_match_directly_behind_a_match(tmp_path: Path) -> None:
    ours, theirs = pair(pat_str=r"(?=a)|.")
    assert ours.encode("ba") == theirs.encode("ba") == ours._encode_only_native_bpe("ba") == [98]
    tokenizer = ours.tokenizer
    tokenizer.save(tmp_path / "saved.json")
    for same in (Tokenizer.load(tmp_path / "saved.json"), pickle.loads(pickle.dumps(tokenizer))):
        assert same.encode("ba") == [98] and same == tokenizer


def test_a_scoped_flag_leaves_other_parts_alone() -> None:
    ours, theirs = pair(pat_str=r"[^\p{Lu}]+|(?<=x)(?i:s)k")
    assert ours.encode("ab") == theirs.encode("ab") == ours._encode_only_native_bpe("ab") == [97, 98]


def test_long_special_tokens() -> None:
    long = "<" * 4097
    assert pair(special_tokens={"<" * 4096: 300})[0].encode("<" * 4096, allowed_special="all") == [300]
    with pytest.raises(ValueError, match=r"4096|4,096"):
        Encoding("x", pat_str=".", mergeable_ranks=RANKS, special_tokens={long: 300})
    ours, theirs = pair()
    assert theirs.encode("a", disallowed_special={long}) == [97]
    with pytest.raises(ValueError, match=r"4096|4,096"):
        ours.encode("a", disallowed_special={long})


def test_ids_that_are_no_sequence() -> None:
    ours, theirs = pair()
    for make in (lambda: iter([97, 98]), lambda: {97: 1, 98: 2}, lambda: {97: 1, 98: 2}.keys()):
        assert ours.decode(make()) == "ab"
        with pytest.raises(TypeError):
            theirs.decode(make())
    assert ours.decode("") == ""
    with pytest.raises(TypeError):
        theirs.decode("")


def test_no_disallowed_special_tokens_in_a_batch() -> None:
    ours, theirs = pair()
    assert ours.encode_batch(["a<e>"], disallowed_special=None) == [ours.encode("a<e>", disallowed_special=())]
    with pytest.raises(TypeError):
        theirs.encode_batch(["a<e>"], disallowed_special=None)


def test_decoding_a_batch_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pair()
    started: list[str] = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: (started.append(self.name), start(self))[1])
    assert ours.decode_batch([[97], [98]], num_threads=4) == ["a", "b"] and not started
    assert theirs.decode_batch([[97], [98]], num_threads=4) == ["a", "b"] and started
