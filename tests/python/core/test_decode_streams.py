"""Streams of ids that become text: stop strings, and many streams at once."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith import DecodeStream, DecodeStreams, Tokenizer

ERRORS = ["replace", "ignore", "backslashreplace", "surrogateescape"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower stop stopped é中é 中中"] * 3), 275, special_tokens=["<s>"])


def naive(text: str, stop: list[str]) -> tuple[str, str | None]:
    """Return the text before the first stop string to be complete, and this string: the longest of several."""
    for end in range(len(text) + 1):
        complete = [string for string in stop if text[:end].endswith(string)]
        if complete:
            longest = max(complete, key=len)
            return text[: end - len(longest)], longest
    return text, None


@pytest.mark.parametrize("errors", ERRORS)
def test_a_stop_string_is_cut_off_exactly(tokenizer: Tokenizer, errors: str) -> None:
    rng = random.Random(errors)
    strings = ["st", "stop", "op", "中é", "é", "pp", "low", "�", "<s>", " ", "\udcc3", "\\xff", "lower s"]
    valid = [string for string in strings if string.isprintable()]
    for _ in range(1500):
        ids = tokenizer.encode("".join(rng.choices(["stop", "low", "er", " ", "é", "中", "<s>", "p", "x"], k=8)))
        ids = [rng.randrange(256) if rng.random() < 0.1 else id for id in ids]
        stop = rng.sample(valid, k=rng.randrange(1, 4))
        stream = DecodeStream(tokenizer, errors=errors, stop=stop)
        shown = [stream.push(id) for id in ids]
        stopped = stream.stopped
        text, expected = naive(tokenizer.decode(ids, errors), stop)
        whole = "".join(shown) + stream.flush()
        assert (whole, stream.stopped) == (text, expected), (ids, stop)
        assert stopped in (None, expected)
        assert "".join(DecodeStream(tokenizer, errors=errors, stop=stop).pieces(ids)) == text
        assert stream.push(tokenizer.token_id("a")) == "a", "it starts anew"
        assert stream.stopped is None


def test_streams_are_those_of_single_ones(tokenizer: Tokenizer) -> None:
    rng = random.Random(3)
    for _ in range(100):
        count = rng.randrange(5)
        options: dict[str, Any] = {
            "errors": rng.choice(ERRORS),
            "skip_special": rng.random() < 0.5,
            "unknown": "skip",
            "stop": rng.sample(["st", "op", "é"], k=rng.randrange(3)),
        }
        prompts = [[rng.randrange(280) for _ in range(rng.randrange(5))] for _ in range(count)]
        streams = DecodeStreams(tokenizer, prompts, **options)
        single = [DecodeStream(tokenizer, prompt=prompt, **options) for prompt in prompts]
        assert len(streams) == count
        for _ in range(12):
            ids = [rng.choice((None, rng.randrange(280), tokenizer.token_id("stop"))) for _ in range(count)]
            expected = ["" if id is None else stream.push(id) for stream, id in zip(single, ids, strict=True)]
            assert streams.push(ids) == expected
            if rng.random() < 0.2:
                streams = pickle.loads(pickle.dumps(streams))
                single = pickle.loads(pickle.dumps(single))
            assert streams.stopped == [stream.stopped for stream in single]
        assert streams.flush() == [stream.flush() for stream in single]


def test_all_ids_are_checked_before_a_stream_advances(tokenizer: Tokenizer) -> None:
    streams = DecodeStreams(tokenizer, [[], []])
    for wrong in ([0xC3, 9999], [0xC3, -1], [0xC3], [0xC3, 0xC3, 0xC3]):
        with pytest.raises((KeyError, ValueError)):
            streams.push(wrong)
    with pytest.raises(KeyError, match=r"there is no token of id 9999 \(at index 1\)"):
        streams.push([97, 9999])
    with pytest.raises(ValueError, match="there are 2 streams, but 3 ids: give one for each, or None"):
        streams.push([97, 97, 97])
    byte = tokenizer.token_id
    assert streams.push(np.array([byte(b"\xc3"), byte(b"a")])) == ["", "a"]
    assert streams.push([byte(b"\xa9"), None]) == ["é", ""]


def test_stop_strings_that_are_none(tokenizer: Tokenizer) -> None:
    for stop in (["a", ""], ["a", "é" * 2049]):
        with pytest.raises(ValueError, match=r"a stop string has 1 to 4,096 bytes, but stop\[1\] has"):
            DecodeStream(tokenizer, stop=stop)
    with pytest.raises(TypeError, match=r"stop is a list of strings: \['stop'\]"):
        DecodeStream(tokenizer, stop="stop")
    with pytest.raises(TypeError):
        DecodeStream(tokenizer, stop=[1])  # type: ignore[list-item]


def test_streams_join_and_leave(tokenizer: Tokenizer) -> None:
    rng = random.Random(8)
    for _ in range(200):
        streams, alone = DecodeStreams(tokenizer, []), list[DecodeStream]()
        for _ in range(30):
            if rng.random() < 0.2:
                prompt = rng.choices(range(256), k=rng.randrange(3)) if rng.random() < 0.5 else None
                assert streams.join(prompt) == len(alone)
                alone.append(DecodeStream(tokenizer, prompt=prompt))
            if alone and rng.random() < 0.1:
                index = rng.randrange(len(alone))
                assert streams.leave(index) == alone.pop(index).flush()
            ids = [rng.choice((None, rng.randrange(270))) for _ in alone]
            single = ["" if id is None else stream.push(id) for stream, id in zip(alone, ids, strict=True)]
            assert streams.push(ids) == single
        assert len(streams) == len(alone)
    for index in (9, -1):
        with pytest.raises(IndexError, match=f"there is no stream {index}: there are"):
            streams.leave(index)
