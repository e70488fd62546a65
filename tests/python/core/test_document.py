"""`Document`: a text under edits, and its ids."""

from __future__ import annotations

import collections
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toksmith import Document, Tokenizer

sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz/python"))
with warnings.catch_warnings():
    import documents
    from splitting import outcomes


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_random_edits_give_the_ids_of_the_whole_text(first: int) -> None:
    """The short form of `fuzz/python/campaign.py documents`."""
    outcomes.clear()
    for seed in range(first, first + 100):
        documents.documents(random.Random(seed).randbytes(320))
    compared: collections.Counter[str] = collections.Counter()
    for outcome, count in outcomes.items():
        compared[outcome.partition(",")[0]] += count
    assert compared["compared"] > 2000


def test_enough_compiled_patterns_are_tried() -> None:
    assert len(documents.compiled()) >= 20


def test_arrays_stay_as_they_are(small: Tokenizer) -> None:
    document = Document(small, "one two")
    first = document.ids
    assert first.dtype == np.uint32 and not first.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1
    old = first.tolist()
    document.append(" three")
    second = document.ids
    assert np.shares_memory(first, second), "what is added is written behind what is there"
    document.replace(0, 3, "four")
    assert first.tolist() == old
    assert second.tolist() == small.encode("one two three")
    assert document.ids.tolist() == small.encode("four two three")
    del document
    assert second.tolist() == small.encode("one two three")


def test_an_edit_changes_only_what_is_near(gpt2: Tokenizer) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 5000
    document = gpt2.document(text)
    assert document.is_bounded and document.changed == 0
    at = len(text) // 2
    before = document.ids
    document.replace(at, at, "!")
    assert abs(document.changed - len(before) // 2) < 300
    document.update(document.text)
    assert document.changed == len(document)
    document.append("")
    assert document.changed == len(document)
    document.update("")
    assert (document.text, document.ids.tolist(), document.changed) == ("", [], 0)


def test_places_are_characters(small: Tokenizer) -> None:
    document = small.document("aé中😀b" * 400)
    document.replace(3, 4, "é")
    document.replace(1999, 2000, "")
    assert document.text == "aé中é" + ("b" + "aé中😀") * 399
    assert document.ids.tolist() == small.encode(document.text)


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (0, 4), (2, 1), (4, 4), (2**62, 2**62)])
def test_what_is_no_range(small: Tokenizer, start: int, end: int) -> None:
    document = small.document("abc")
    with pytest.raises(ValueError, match=f"{start} to {end} is no range of a text of 3 characters"):
        document.replace(start, end, "")
    assert document.text == "abc"


def test_arguments(small: Tokenizer) -> None:
    with pytest.raises(TypeError, match=r"tokenizer is a Tokenizer, the name or path of one, .* not int"):
        Document(1, "")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a text is a str, not int"):
        Document(small, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="chunk_bytes is at least 1, not 0"):
        Document(small, "", chunk_bytes=0)
    document = Document(small, "abc")
    wrong: list[Any] = ["\ud800", "a" * 2000 + "\udfff"]
    for text in wrong:
        with pytest.raises(ValueError, match="lone surrogate"):
            document.append(text)
        with pytest.raises(ValueError, match="lone surrogate"):
            document.update(text)
    assert document.text == "abc"


def test_without_a_rule_for_cuts_the_whole_text_is_encoded() -> None:
    tokenizer = Tokenizer(pattern=r"(?<=b)a|b|a| ")
    document = tokenizer.document("ab ab")
    assert not document.is_bounded
    document.replace(2, 3, "")
    assert document.ids.tolist() == tokenizer.encode("abab")
    assert not Tokenizer(pattern=None).document().is_bounded


def test_changed_may_be_before_the_first_changed_id() -> None:
    """Ids that repeat around an edit may go on being the same after the chunk that was encoded again."""
    tokenizer = Tokenizer(pattern=r"(?:\w+\s?)+|.")
    text, edited = "a bbab                 a  a", "a bbab                a  a"
    document = Document(tokenizer, text, chunk_bytes=1)
    document.replace(6, 8, " ")
    pairs = zip(tokenizer.encode(text), tokenizer.encode(edited), strict=False)
    first = next(index for index, (before, after) in enumerate(pairs) if before != after)
    assert (document.text, document.changed, first) == (edited, 20, 22)


def test_sampled_ids_stay_until_an_edit_is_near(small: Tokenizer) -> None:
    rng, ids_of = random.Random(4), [id for id, token in small.vocab.items() if token.isascii()]
    for _ in range(300):
        chunk_bytes = rng.choice((1, 8, 64, 512))
        ids = rng.choices(ids_of, k=rng.choice((0, 3, 200)))
        document = Document.from_ids(small, iter(ids), chunk_bytes=chunk_bytes)
        text = small.decode(ids)
        assert (document.ids.tolist(), document.text, len(document)) == (ids, text, len(ids))
        at = rng.randint(0, len(text))
        document.replace(at, at, " one two ")
        assert document.text == text[:at] + " one two " + text[at:]
        assert small.decode(document.ids) == document.text
        kept = document.changed
        assert document.ids[:kept].tolist() == ids[:kept]
        if chunk_bytes < 64 and at > 300:
            assert kept > 0, "ids far before the edit stay"
        if chunk_bytes < 64 and len(text) - at > 300:
            assert document.ids[-1] == ids[-1], "and those far behind it"
        document.update("")
        assert document.ids.tolist() == []
        document.append(text)
        assert document.ids.tolist() == small.encode(text)


def test_ids_that_are_no_text(small: Tokenizer) -> None:
    with pytest.raises(KeyError, match="index 1"):
        Document.from_ids(small, [97, 10**6])
    with pytest.raises(ValueError, match="the ids end inside a character"):
        Document.from_ids(small, [0xC3])
    with pytest.raises(ValueError, match="chunk_bytes is at least 1, not 0"):
        Document.from_ids(small, [97], chunk_bytes=0)
