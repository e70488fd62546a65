"""Streams: text that arrives in pieces to the ids of the whole, ids that arrive one by one to whole characters."""

import codecs
import copy
import itertools
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
from conftest import Soup

from toksmith import DecodeStream, Tokenizer, patterns

Published = Callable[[str, str], Tokenizer]

EOT = "<|endoftext|>"
SPECIALS = [EOT, "<|a|>", "<|a|><|b|>", "aba", "bab", "ab ", "\n\n", " \n x", "é", "👍🏽"]


def cut(rng: random.Random, text: str) -> list[str]:
    """Cut a text at random places, sometimes at the same one; in a third of the cases into single characters."""
    if rng.random() < 0.33:
        return list(text)
    places = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(1 + min(30, len(text)))))
    return [text[a:b] for a, b in itertools.pairwise([0, *places, len(text)])]


def check(tokenizer: Tokenizer, text: str, rng: random.Random) -> None:
    for special in (True, False):
        expected = tokenizer.encode(text, special=special)
        for pieces in (cut(rng, text), cut(rng, text), list(text)):
            assert list(tokenizer.encode_iterable(pieces, special=special)) == expected, (pieces, special)


# Encoding

NAMED = ["gpt2", "cl100k", "cl100k_old", "llama3", "qwen2", "nanochat", "o200k", "qwen3.5", "tekken"]
OTHERS: dict[str, tuple[Any, str]] = {
    "none": (None, "keep"),
    "words kept": (r"\p{L}+", "keep"),
    "words": (r"\p{L}+", "drop"),
    "lookaround": (r"(?<=\s)\S+(?=\s*$)|(?<!a)b+|\s+(?!\S)", "keep"),
    "to the end": (r"a.*\Z|\w+", "keep"),
    "flags": (regex.compile("THE.*?they|\\s+", regex.IGNORECASE | regex.DOTALL), "drop"),
}


@pytest.mark.parametrize("name", [*NAMED, *OTHERS])
def test_equals_the_joined_text(small: Tokenizer, soup: Soup, name: str) -> None:
    pattern, unmatched = OTHERS.get(name, (name, "keep"))
    rng = random.Random(name)
    for specials in ([], SPECIALS):
        tokenizer = Tokenizer(small.vocab, small.merges, specials, pattern=pattern, unmatched=unmatched)
        for _ in range(80):
            text = soup(rng, rng.randrange(25))
            for _ in range(rng.randrange(6) if specials else 0):
                at = rng.randrange(len(text) + 1)
                text = text[:at] + rng.choice(SPECIALS) * rng.randrange(1, 3) + text[at:]
            check(tokenizer, text, rng)


# What a pattern could decide late: whitespace runs, newlines after punctuation, contractions, capitals, digits.
ALPHABET = ["a", "B", "'", "l", "s", " ", "\n", "\r", "1", ".", "/", "é", "ǅ", "中", "\u0301", "\u2028", "\t"]


@pytest.fixture(scope="module")
def telling() -> Callable[..., Tokenizer]:
    """A tokenizer whose ids tell where pretokens end: any two bytes of the alphabet are a token."""
    letters = sorted({bytes([byte]) for character in ALPHABET for byte in character.encode()})
    pairs = [left + right for left, right in itertools.product(letters, repeat=2)]
    random.Random(1).shuffle(pairs)
    vocab = {byte: bytes([byte]) for byte in range(256)} | dict(enumerate(pairs, 256))
    return lambda pattern, specials=(): Tokenizer(vocab, None, list(specials), pattern=pattern)


@pytest.mark.parametrize("pattern", NAMED)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_short_text_before_and_after_others(
    telling: Callable[..., Tokenizer], pattern: str, length: int
) -> None:
    # The margin of what is held back is a dozen bytes: each short text stands between texts of about that length.
    tokenizer = telling(pattern)
    rng = random.Random(f"{pattern} {length}")
    texts = ["".join(letters) for letters in itertools.product(ALPHABET, repeat=length)]
    for text in rng.sample(texts, min(len(texts), 1200)):
        whole = text + rng.choice(["", "a", " ", "l" * 11, " " * 13, "1" * 12, "\n" * 14, "a b" * 5]) + text
        expected = tokenizer.encode(whole)
        at = rng.randrange(len(whole) + 1)
        assert list(tokenizer.encode_iterable(whole)) == expected, whole
        assert list(tokenizer.encode_iterable([whole[:at], whole[at:]])) == expected, (whole, at)


def test_contractions_that_come_letter_by_letter(telling: Callable[..., Tokenizer]) -> None:
    for pattern in NAMED:
        tokenizer = telling(pattern)
        for text in ("a'll'll", "'l'll'lll", "a 'll", "all's'llB", "'sl'ls", "B'll'lll'l"):
            assert list(tokenizer.encode_iterable(text)) == tokenizer.encode(text), (pattern, text)


@pytest.mark.parametrize("pattern", NAMED)
def test_words_whose_end_a_last_letter_decides(telling: Callable[..., Tokenizer], pattern: str) -> None:
    # o200k: capitals and caseless letters are one word if a small letter follows, else two.
    tokenizer = telling(pattern)
    rng = random.Random(pattern)
    for _ in range(400):
        word = "".join(
            rng.choice(["B", "B", "B", "中", "ǅ", "\u0301", "a"][: rng.choice((4, 6, 7))]) for _ in range(40)
        )
        text = rng.choice(["", " ", "1"]) + word + rng.choice(["", "a", "'s", "'ll", "1", " ", "中", ".\n"])
        assert list(tokenizer.encode_iterable(text)) == tokenizer.encode(text), text


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "whole"])
@pytest.mark.parametrize("pattern", [*NAMED, None])
def test_runs_that_are_longer_than_any_window(small: Tokenizer, pattern: str | None, is_whole: bool) -> None:
    tokenizer = Tokenizer(small.vocab, small.merges, ["<|a|>"], pattern=pattern)
    rng = random.Random(13)
    for run in ("a", " ", "\n", "A", "1", ".", "é", "中", "\u0301", " \n", "Aa", "'s", "\r\n", "\u3000"):
        texts = [run * 5000, "x" + run * 5000 + "b", run * 4090 + "<|a|>" + run * 10]
        for text in texts if is_whole else [rng.choice(texts)]:
            expected = tokenizer.encode(text)
            pieces = [text[at : at + 700] for at in range(0, len(text), 700)]
            assert list(tokenizer.encode_iterable(pieces)) == expected, run
            assert list(tokenizer.encode_iterable(cut(rng, text))) == expected, run


def test_published_vocabularies(gpt2: Tokenizer, published: Published, corpora: dict[str, str]) -> None:
    rng = random.Random(14)
    tokenizers = [gpt2, *(published("cl100k_base", name) for name in NAMED if name not in ("gpt2", "o200k"))]
    for tokenizer in (*tokenizers, published("o200k_base", "o200k"), published("cl100k_base", r"\w+|\s")):
        for corpus in corpora.values():
            at = rng.randrange(len(corpus) - 40_000)
            text = corpus[at : at + 40_000]
            expected = tokenizer.encode(text)
            assert list(tokenizer.encode_iterable(text.splitlines(keepends=True))) == expected
            assert list(tokenizer.encode_iterable(cut(rng, text))) == expected
            assert list(tokenizer.encode_iterable(text[:3000])) == tokenizer.encode(text[:3000])


def test_cuts_inside_special_tokens(small: Tokenizer) -> None:
    specials = ["<|a|>", "<|a|><|b|>", "<|", "|><|a", "aaa", "aa"]
    for pattern in ("gpt2", "o200k", None):
        tokenizer = Tokenizer(small.vocab, small.merges, specials, pattern=pattern)
        for text in (
            "<|a|><|b|",
            "x<|a|><|b|>y",
            "<|a|><|a|><|b|>",
            "a" * 8,
            "<|a|><|c|>",
            "<|<|a|>",
            "<",
            "<|a|><|b|><|a|",
        ):
            expected = tokenizer.encode(text)
            for at in range(len(text) + 1):
                for other in range(at, len(text) + 1):
                    pieces = [text[:at], text[at:other], text[other:]]
                    assert list(tokenizer.encode_iterable(pieces)) == expected, pieces


def test_pieces_may_be_empty_and_of_any_iterable(small: Tokenizer) -> None:
    expected = small.encode("they see")
    assert list(small.encode_iterable([])) == []
    assert list(small.encode_iterable(["", "", ""])) == []
    assert list(small.encode_iterable(["", "they", "", " see", ""])) == expected
    assert list(small.encode_iterable("they see")) == expected
    assert list(small.encode_iterable(piece for piece in ("they s", "ee"))) == expected
    assert list(small.encode_iterable({"they": 1, " see": 2})) == expected


def test_two_streams_at_once(small: Tokenizer) -> None:
    first, second = small.encode_iterable("the they them" * 9), small.encode_iterable("a b c d " * 9)
    interleaved = list(itertools.zip_longest(first, second))
    assert [a for a, _ in interleaved if a is not None] == small.encode("the they them" * 9)
    assert [b for _, b in interleaved if b is not None] == small.encode("a b c d " * 9)


def test_pieces_that_are_no_text(small: Tokenizer) -> None:
    for wrong in (None, 5):
        with pytest.raises(TypeError):
            list(small.encode_iterable(wrong))
    for wrong in ([b"a"], [None], ["a", 5]):
        with pytest.raises(TypeError):
            list(small.encode_iterable(wrong))
    with pytest.raises(ValueError, match="lone surrogate at character 1"):
        list(small.encode_iterable(["abc", "d\ud83d"]))

    def broken() -> Iterator[str]:
        yield "some text and more "
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(small.encode_iterable(broken()))


class Feed:
    """Hands out pieces and knows how many characters were taken."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces, self.taken = pieces, 0

    def __iter__(self) -> Iterator[str]:
        for piece in self.pieces:
            self.taken += len(piece)
            yield piece


@pytest.mark.parametrize("pattern", NAMED)
def test_is_lazy_and_holds_back_little(small: Tokenizer, pattern: str) -> None:
    tokenizer = Tokenizer(small.vocab, small.merges, [EOT], pattern=pattern)
    words = [" They'll", " see", " 12345", ".\n", "Next", " 中文", " é", "!"] * 200
    feed = Feed(list("".join(words)))
    given = 0
    longest = 0
    for id in tokenizer.encode_iterable(feed):
        given += len(tokenizer.token_bytes(id))
        longest = max(longest, len("".join(words)[: feed.taken].encode()) - given)
    # The longest pretoken has 8 bytes, the special token 13; what decides them is less than 16 more.
    assert longest <= 8 + 13 + 16


def test_without_a_known_pattern_it_waits_for_a_special_token(small: Tokenizer) -> None:
    for pattern in (None, r"\w+|\W"):
        tokenizer = Tokenizer(small.vocab, small.merges, [EOT], pattern=pattern)
        feed = Feed(["one two ", "three ", EOT, "four five six seven", "eight"])
        ids = tokenizer.encode_iterable(feed)
        first = tokenizer.encode("one two three " + EOT)
        assert list(itertools.islice(ids, len(first))) == first
        assert feed.taken < len("".join(feed.pieces))
        assert list(ids) == tokenizer.encode("four five six seveneight")


def test_nothing_is_read_before_it_is_asked_for(small: Tokenizer) -> None:
    feed = Feed(["a b c d e f g h i j k l m n o p"] * 3)
    ids = small.encode_iterable(feed)
    assert feed.taken == 0
    next(ids)
    assert feed.taken < 3 * len(feed.pieces[0])


# Memory

MEASURE = """
import sys
from pathlib import Path
from toksmith import Tokenizer

def peak():
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)

saved, path, consume = sys.argv[1:]
tokenizer = Tokenizer.load(saved)
with open(path, encoding="utf-8", newline="") as file:
    # What a thread keeps from call to call has its full size from some text on.
    sum(1 for _ in tokenizer.encode_iterable([file.read(1 << 21)]))
    file.seek(0)
    line = next(file)
    Path("/proc/self/clear_refs").write_text("5")
    sum(1 for _ in tokenizer.encode_iterable([line]))
    before = peak()
    file.seek(0)
    ids = tokenizer.encode_iterable(file)
    count = len(list(zip(ids))) if consume == "list" else sum(1 for _ in ids)
print(count, peak() - before)
"""


def raised(tokenizer: Tokenizer, path: Path, consume: str = "count") -> tuple[int, int]:
    """In a fresh process: the ids of a file read in lines, and by how many KB that raises the peak over one line.

    The tokenizer should be a small one: what loading a large one leaves free would hide as much.
    """
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("needs Linux's /proc/self/clear_refs to measure a peak from a point in time on")
    tokenizer.save(path.with_name("tokenizer"))
    command = [sys.executable, "-c", MEASURE, str(path.with_name("tokenizer")), str(path), consume]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    count, kilobytes = map(int, done.stdout.split())
    return count, kilobytes


def file_of(path: Path, text: str, megabytes: int) -> int:
    """Write so many copies of a text that they pass a size; returns how many."""
    data = text.encode()
    copies = megabytes * 1_000_000 // len(data) + 1
    with path.open("wb") as file:
        for _ in range(copies):
            file.write(data)
    return copies


@pytest.mark.memory
def test_memory_does_not_follow_the_file(small: Tokenizer, corpora: dict[str, str], tmp_path: Path) -> None:
    tokenizer = Tokenizer(small.vocab, small.merges, [EOT])
    text = corpora["en"][:3_000_000] + EOT
    copies = file_of(tmp_path / "text", text, 12)
    count, kilobytes = raised(tokenizer, tmp_path / "text")
    assert count == copies * tokenizer.count(text)
    assert kilobytes < 4 * 1024
    # The measurement would see what is held: a list has 8 bytes for each of its objects, and these are new ones.
    assert raised(tokenizer, tmp_path / "text", "list")[1] > count * 8 // 1024 > 16 * 1024


@pytest.mark.long
def test_memory_over_200_and_400_megabytes(small: Tokenizer, corpora: dict[str, str], tmp_path: Path) -> None:
    tokenizer = Tokenizer(small.vocab, small.merges, [EOT])
    text = corpora["en"] + EOT
    peaks = []
    for megabytes in (200, 400):
        copies = file_of(tmp_path / "text", text, megabytes)
        count, kilobytes = raised(tokenizer, tmp_path / "text")
        assert count == copies * tokenizer.count(text)
        peaks.append(kilobytes)
    assert max(peaks) < 16 * 1024
    assert peaks[1] <= peaks[0] + 1024  # what two runs on the same file differ by


# Decoding

ERRORS = ["replace", "ignore", "backslashreplace", "surrogateescape"]


@pytest.fixture(scope="module")
def tokenizers(small: Tokenizer) -> list[Tokenizer]:
    # The second has tokens that end and begin inside characters.
    inside = {
        256 + i: t
        for i, t in enumerate([b"\xf0\x9f", b"\x9f\x91", b"\x8d\xf0", b"\xc3", b"a\xe4", b"\xb8\xad\xe4"][:3])
    }
    return [small, Tokenizer({i: bytes([i]) for i in range(256)} | inside, None, ["👍🏽", EOT])]


@pytest.mark.parametrize("errors", ERRORS)
def test_decoding_equals_pythons_decoder(tokenizers: list[Tokenizer], soup: Soup, errors: str) -> None:
    rng = random.Random(15)
    for tokenizer in tokenizers:
        ids_in_use = list(tokenizer.vocab)
        for _ in range(150):
            if rng.random() < 0.5:
                ids = tokenizer.encode(soup(rng, rng.randrange(20)))
            else:
                ids = [rng.choice(ids_in_use) for _ in range(rng.randrange(40))]
            stream = tokenizer.decode_stream(errors=errors)
            assert isinstance(stream, DecodeStream)
            decoder = codecs.getincrementaldecoder("utf-8")(errors)
            parts = [(stream.push(id), decoder.decode(tokenizer.token_bytes(id))) for id in ids]
            parts.append((stream.flush(), decoder.decode(b"", True)))
            assert all(ours == theirs for ours, theirs in parts)
            whole = tokenizer.decode(ids, errors)
            assert "".join(ours for ours, _ in parts) == whole
            pieces = list(tokenizer.decode_stream(iter(ids), errors=errors))
            assert "".join(pieces) == whole
            assert "" not in pieces


def test_never_half_a_character(tokenizers: list[Tokenizer], soup: Soup) -> None:
    rng = random.Random(16)
    for tokenizer in tokenizers:
        for _ in range(100):
            text = soup(rng, 20).replace("\ufffd", "?") + "👍🏽中é"
            ids = tokenizer.encode(text)
            stream = tokenizer.decode_stream()
            shown = ""
            for n, id in enumerate(ids, 1):
                shown += stream.push(id)
                assert "\ufffd" not in shown
                # All that is complete is there: what is missing is less than a character.
                have = tokenizer.decode_bytes(ids[:n])
                assert shown == have.decode("utf-8", "ignore")
            assert shown + stream.flush() == text


def test_a_prompt_is_not_repeated(tokenizers: list[Tokenizer], soup: Soup) -> None:
    rng = random.Random(17)
    for tokenizer in tokenizers:
        for _ in range(150):
            text = "Hello world " + soup(rng, 12).replace("\ufffd", "?") + "👍🏽中é"
            ids = tokenizer.encode(text)
            at = rng.randrange(len(ids) + 1)
            prompt, rest = ids[:at], ids[at:]
            # A character that the cut splits is given out whole by the stream, and by nothing before it.
            shown = tokenizer.decode_bytes(prompt).decode("utf-8", "ignore")
            assert shown + "".join(tokenizer.decode_stream(rest, prompt=prompt)) == text
            stream = tokenizer.decode_stream(prompt=np.array(prompt, np.int64))
            assert shown + "".join(map(stream.push, rest)) + stream.flush() == text


@pytest.mark.usefixtures("shared_data")
def test_a_prompt_that_ends_in_a_cut_emoji(gpt2: Tokenizer) -> None:
    ids = gpt2.encode("Hello world 👍!")
    cut_at = next(n for n in range(len(ids)) if gpt2.decode_bytes(ids[:n]).endswith(b" \xf0\x9f\x91"))
    stream = gpt2.decode_stream(prompt=ids[:cut_at])
    assert [stream.push(id) for id in ids[cut_at:]] == ["👍", "!"]
    assert stream.flush() == ""


@pytest.mark.parametrize("copied", [lambda stream: pickle.loads(pickle.dumps(stream)), copy.copy, copy.deepcopy])
def test_a_stream_is_copied_in_the_middle(tokenizers: list[Tokenizer], copied: Callable[[Any], Any]) -> None:
    for tokenizer in tokenizers:
        ids = list("a👍🏽中".encode())
        for at in range(len(ids) + 1):
            for errors in ERRORS:
                stream = tokenizer.decode_stream(errors=errors)
                before = "".join(map(stream.push, ids[:at]))
                other = copied(stream)
                assert before + "".join(map(other.push, ids[at:])) + other.flush() == "a👍🏽中"
                # The original is where it was, whatever happened to the copy.
                assert before + stream.flush() == bytes(ids[:at]).decode("utf-8", errors)
                assert stream.push(98) + other.push(99) == "bc"


def test_strict_errors(small: Tokenizer) -> None:
    stream = small.decode_stream(errors="strict")
    assert stream.push(0xC3) == ""
    with pytest.raises(UnicodeDecodeError):
        stream.push(0x41)
    stream = small.decode_stream(errors="strict")
    stream.push(0xC3)
    with pytest.raises(UnicodeDecodeError):
        stream.flush()
    with pytest.raises(UnicodeDecodeError):
        small.decode_stream(prompt=[0xFF], errors="strict")
    with pytest.raises(LookupError):
        small.decode_stream(prompt=[0xFF], errors="no such mode")


def test_ids_that_are_none(small: Tokenizer) -> None:
    stream = small.decode_stream()
    stream.push(0xC3)
    for wrong in (-1, small.max_id + 1, 2**32, 2**70):
        with pytest.raises(KeyError, match=f"there is no token of id {wrong}"):
            stream.push(wrong)
    for wrong_type in (None, 1.0, "a", b"a"):
        with pytest.raises(TypeError):
            stream.push(wrong_type)
    # Nothing is lost by that.
    assert stream.push(0xA9) == "é"
    with pytest.raises(KeyError, match="id 9999 "):
        small.decode_stream(prompt=[1, 9999])
    ids = small.decode_stream(iter([104, 105, 9999]))
    assert [next(ids), next(ids)] == ["h", "i"]
    with pytest.raises(KeyError, match="9999"):
        next(ids)


def test_decoding_is_lazy(small: Tokenizer) -> None:
    texts = small.decode_stream(itertools.cycle(b"ab"))
    assert list(itertools.islice(texts, 5)) == ["a", "b", "a", "b", "a"]


def test_flush_starts_anew(small: Tokenizer) -> None:
    stream = small.decode_stream()
    assert stream.push(0xE4) == ""
    assert stream.flush() == "\ufffd"
    assert stream.flush() == ""
    assert "".join(map(stream.push, "中".encode())) == "中"


def test_named_patterns_are_all_here() -> None:
    assert set(NAMED) | {"r50k"} == set(patterns.NAMED)
