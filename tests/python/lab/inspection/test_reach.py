"""Unreachable tokens: what is proved is never found by brute force, and what is reachable has a text."""

import itertools
import random
import re
from collections.abc import Callable

import numpy as np
import pytest
from conftest import Soup

import toksmith
from toksmith import Tokenizer, patterns
from toksmith.lab.inspection import inside, utf8

BYTES = {byte: bytes([byte]) for byte in range(256)}


def used(tokenizer: Tokenizer, texts: list[str]) -> set[int]:
    ids, _ = tokenizer.encode_batch_to_numpy(texts, special=False)
    return set(np.unique(ids).tolist())


def random_vocabulary(rng: random.Random, letters: list[bytes]) -> dict[int, bytes]:
    """Tokens of two to six bytes of letters, also parts of them, in random order."""
    tokens: dict[bytes, None] = {}
    while len(tokens) < rng.randrange(3, 12):
        whole = b"".join(rng.choices(letters, k=rng.randrange(1, 5)))
        start = rng.randrange(len(whole))
        token = whole[start : rng.randrange(start, len(whole)) + 1]
        if len(token) > 1:
            tokens[token] = None
    order = list(tokens)
    rng.shuffle(order)
    return BYTES | dict(enumerate(order, 256))


def random_merges(rng: random.Random, letters: list[bytes]) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Merges of tokens that are there, in random order, and so some that never apply."""
    known = list(dict.fromkeys(bytes([byte]) for letter in letters for byte in letter))
    merges: dict[tuple[bytes, bytes], None] = {}
    for _ in range(rng.randrange(3, 10)):
        pair = rng.choice(known), rng.choice(known)
        merges[pair] = None
        if pair[0] + pair[1] not in known:
            known.append(pair[0] + pair[1])
    order = list(merges)
    rng.shuffle(order)
    made = dict.fromkeys(left + right for left, right in order)
    return BYTES | dict(enumerate(made, 256)), order


PATTERNS = [None, "gpt2", "cl100k", "o200k", r"a+|b|é+|-", r"(?:ab)+|\w|-", r"a{1,2}|[bé]+(?!a)|a|-", r"b*a+?|-"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_text_of_a_few_characters_gives_an_unreachable_token(pattern: str | None) -> None:
    """All texts of up to six characters are encoded: an unreachable token is never there, all others mostly are."""
    rng = random.Random(str(pattern))
    letters = ["a", "b", "é", "-"]
    texts = ["".join(text) for size in range(1, 7) for text in itertools.product(letters, repeat=size)]
    unreachable = undecided = 0
    for number in range(6):
        encoded = [letter.encode() for letter in letters]
        if number % 2:
            tokens, merges = random_merges(rng, encoded)
            tokenizer = Tokenizer(tokens, merges, pattern=pattern, unmatched="drop", ignore_merges=number % 4 == 1)
        else:
            tokens = random_vocabulary(rng, encoded)
            tokenizer = Tokenizer(tokens, None, pattern=pattern, unmatched="drop")
        found = toksmith.lab.inspect(tokenizer).reach
        given = used(tokenizer, texts)
        assert not given & {one.id for one in found.unreachable}, (pattern, number)
        assert not given & {one.id for one in found.undecided}, (pattern, number)
        unreachable += sum(one.reason != "utf8" for one in found.unreachable)
        undecided += len(found.undecided)
        assert found.reachable + len(found.unreachable) + len(found.undecided) == len(tokens)
    assert unreachable > (2 if pattern not in (None, "gpt2") else 0)
    # Where a text was found by brute force the search found one too; what is left has no proof, and is rare.
    assert undecided <= unreachable


def test_what_merges_instead() -> None:
    tokens = BYTES | {256: b"ab", 257: b"bc", 258: b"abc"}
    merging = Tokenizer(tokens, [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")], pattern=None)
    [one] = [one for one in toksmith.lab.inspect(merging).reach.unreachable if one.reason == "merges"]
    assert (one.id, one.token, one.instead) == (258, b"abc", (97, 257))
    # The rule of whole pretokens gives it back, unless the pattern cuts it.
    wholes = Tokenizer(tokens, merging.merges, pattern=None, ignore_merges=True)
    assert toksmith.lab.inspect(wholes).reach.by_reason == {"utf8": 13}
    cut = Tokenizer(tokens, merging.merges, pattern="a|[bc]+", unmatched="drop", ignore_merges=True)
    reasons = {one.token: one.reason for one in toksmith.lab.inspect(cut).reach.unreachable if one.id > 255}
    assert reasons == {b"abc": "merges and pattern", b"ab": "pattern"}


def test_gpt2_and_its_list_of_merges(gpt2: Tokenizer, gpt2_ranks: Tokenizer) -> None:
    """All tokens but the 13 bytes that are in no UTF-8 text are reachable."""
    for tokenizer in (gpt2, gpt2_ranks):
        found = toksmith.lab.inspect(tokenizer).reach
        assert (found.by_reason, found.undecided) == ({"utf8": 13}, ())
        assert {one.token for one in found.unreachable} == {
            bytes([byte]) for byte in [0xC0, 0xC1, *range(0xF5, 0x100)]
        }


@pytest.mark.usefixtures("shared_data")
def test_a_token_of_o200k_that_no_text_gives(o200k: Tokenizer) -> None:
    """Id 439, "о" and the first byte of many Cyrillic letters: small ones merge with that byte first, and the pattern
    cuts before large ones."""
    token = o200k.token_bytes(439)
    assert token == "о".encode() + b"\xd0"
    found = toksmith.lab.inspect(o200k).reach
    assert (found.by_reason, found.undecided) == ({"neighbours": 1, "utf8": 13}, ())
    assert [one.id for one in found.unreachable if one.reason == "neighbours"] == [439]
    letters = [
        text for code in range(0x400, 0x440) for text in (f"о{chr(code)}", f"оо{chr(code)}а", f" О{chr(code)}")
    ]
    assert 439 not in used(
        o200k, [before + text for text in letters for before in ("", " ", "а", "о", "-", "\u0301")]
    )


@pytest.mark.usefixtures("shared_data")
def test_qwen_and_thai(published: Callable[[str, str], Tokenizer], corpora: dict[str, str]) -> None:
    """Qwen's pattern takes no combining mark as a part of a word, and so has 1,679 tokens that no text gives."""
    qwen = published("qwen3", "qwen2")
    found = toksmith.lab.inspect(qwen).reach
    assert (found.by_reason, found.undecided) == ({"pattern": 1679, "utf8": 13}, ())
    unreachable = {one.id: one.token for one in found.unreachable}
    assert unreachable[123828] == "ที่".encode()
    texts = [one.decode("utf-8", "ignore") for one in unreachable.values()]
    around = ("", " ", "a", "ท", "\u0e35", "\n", "1", ".")
    tried = [f"{before}{text}{after}" for text in texts for before in around for after in around]
    assert not used(qwen, tried) & set(unreachable)
    assert not used(qwen, [corpora["multi"][:1_000_000]]) & set(unreachable)


@pytest.mark.long
def test_all_texts_of_the_corpora_have_reachable_tokens_alone(
    published: Callable[[str, str], Tokenizer], corpora: dict[str, str]
) -> None:
    kinds = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k", "qwen3": "qwen2"}
    for name, pattern in kinds.items():
        tokenizer = published(name, pattern)
        found = toksmith.lab.inspect(tokenizer).reach
        assert found.undecided == ()
        assert not used(tokenizer, list(corpora.values())) & {one.id for one in found.unreachable}, name


# What the proofs stand on


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "cl100k_old", "o200k", "qwen2", "nanochat", "qwen3.5", "tekken"])
def test_all_that_is_inside_a_pretoken_may_be(name: str, soup: Soup, corpora: dict[str, str]) -> None:
    pattern = patterns.resolve(name)
    automaton = inside.of_pattern(pattern)
    assert automaton is not None
    rng = random.Random(name)
    texts = [soup(rng, 3000), corpora["code"][:60_000], corpora["multi"][:60_000]]
    pretokens = {one.decode() for text in texts for one in pattern.core().split(text.encode())}
    for pretoken in pretokens:
        start = rng.randrange(len(pretoken))
        end = rng.randrange(start, len(pretoken)) + 1
        assert automaton.may_be(pretoken), pretoken
        assert automaton.may_hold(pretoken[start:end]), (pretoken, start, end)
        if end < len(pretoken):
            last = utf8.shape(pretoken[end].encode()[:-1]).last
            assert automaton.may_hold(pretoken[start:end], (), last)
        if start > 0 and pretoken[start - 1] > "\x7f":
            firsts = utf8.shape(pretoken[start - 1].encode()[1:] + b"a").firsts
            assert automaton.may_hold(pretoken[start:end], firsts)
            firsts = utf8.shape(pretoken[start - 1].encode()[1:2]).firsts
            assert automaton.may_hold("", firsts)


def test_what_no_pretoken_has_inside() -> None:
    automaton = inside.of_pattern(patterns.resolve("cl100k"))
    assert automaton is not None
    for text, may in {
        "a b": False,
        "1234": False,
        "123": True,
        "ab": True,
        " a": True,
        "a1": False,
        "\na": False,
    }.items():
        assert automaton.may_hold(text) is may, text
    digits, letters = np.arange(ord("0"), ord("9") + 1), np.arange(ord("A"), ord("Z") + 1)
    assert not automaton.may_hold("a", (), digits)
    assert automaton.may_hold("a", (), np.concatenate([digits, letters]))
    assert not automaton.may_hold("1", [letters])
    assert automaton.may_be("ab")
    assert not automaton.may_be("ab!")


def test_bytes_that_are_in_some_text() -> None:
    """All bytes of up to three are compared with all characters, two side by side where it matters."""
    characters = [chr(code).encode() for code in range(0x80, 0x110000, 7) if not 0xD800 <= code < 0xE000]
    pieces = {text[at : at + size] for text in characters for size in (1, 2, 3) for at in range(len(text) - size + 1)}
    assert all(map(utf8.is_in_text, pieces))
    rng = random.Random(1)
    for _ in range(3000):
        text = b"".join(rng.choices(characters, k=3))
        start = rng.randrange(len(text))
        piece = text[start : rng.randrange(start, len(text)) + 1]
        assert utf8.is_in_text(piece)
        found = utf8.shape(piece)
        # The characters that the piece has a part of.
        before = text[:start].decode("utf-8", "ignore")
        behind = text[start + len(piece) :].decode("utf-8", "ignore")
        touched = text.decode()[len(before) : len(text.decode()) - len(behind)]
        whole = found.text
        assert whole in touched
        assert len(touched) == bool(found.firsts) + len(whole) + (found.last is not None)
        assert not found.firsts or any(ord(touched[0]) in one for one in found.firsts)
        assert found.last is None or ord(touched[-1]) in found.last
        tried = list(itertools.islice(utf8.texts_with(piece), 5))
        assert all(piece in one.encode() for one in tried)
        assert tried or re.fullmatch(rb"[\x80-\xbf]+", piece)
    for wrong in (b"\xc0", b"\xf5", b"\xed\xa0", b"\xe0\x80", b"\xf4\x90", b"a\x80", b"\x80" * 4, b"\xc3\xc3"):
        assert not utf8.is_in_text(wrong)
