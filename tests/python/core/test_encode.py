"""Text to ids: against the reference on random text, against tiktoken on whole corpora, and method against method."""

import itertools
import operator
import random
import string
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
import tiktoken
from conftest import Soup
from published_data import of_tiktoken
from training_data import train_as_asked

import toksmith
from toksmith import Tokenizer, _core, patterns, reference

PINNED_REGEX = pytest.mark.skipif(
    regex.__version__ != _core.REGEX_VERSION, reason="the regex installed has other classes of characters"
)
Published = Callable[[str, str], Tokenizer]

BYTES = {byte: bytes([byte]) for byte in range(256)}
EOT = "<|endoftext|>"


def vocab_of(*tokens: bytes, start: int = 256) -> dict[int, bytes]:
    """The 256 bytes, then these tokens."""
    return BYTES | dict(enumerate(tokens, start))


def first_difference(ours: list[int], theirs: list[int]) -> int:
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(ours), len(theirs)))


class Oracle:
    """`reference.encode` with the tables of one tokenizer prepared."""

    def __init__(self, tokenizer: Tokenizer, pattern: Any, unmatched: str = "keep") -> None:
        specials = set(tokenizer.special_tokens.values())
        self.vocab = dict(tokenizer.vocab)
        self.specials = dict(tokenizer.special_tokens)
        self.pattern, self.unmatched = pattern, unmatched
        self.merges = None
        if tokenizer._core.has_merges():
            self.merges = reference.rank_function(tokenizer.merges)
        self.ordinary = {token: id for id, token in self.vocab.items() if id not in specials}

    def __call__(self, text: str | bytes, special: bool = True) -> list[int]:
        return reference.encode(
            text,
            self.vocab,
            self.merges,
            self.specials,
            pattern=self.pattern,
            unmatched=self.unmatched,
            special=special,
        )


def with_specials(rng: random.Random, text: str, specials: Iterable[str]) -> str:
    """Put special tokens, and pieces of them, at random places into `text`, often side by side."""
    names = list(specials)
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(text) + 1)
        name = rng.choice(names)
        insert = name * rng.randrange(1, 3) if rng.random() < 0.7 else name[: rng.randrange(1, len(name) + 1)]
        text = text[:at] + insert + text[at:]
    return text


# Against the reference

PATTERNS: dict[str, tuple[Any, str]] = {
    "gpt2": ("gpt2", "keep"),
    "gpt2 by regex": (patterns.GPT2 + "|(?!)", "keep"),  # no published spelling: no scanner
    "cl100k": ("cl100k", "keep"),
    "cl100k_old": ("cl100k_old", "keep"),
    "qwen2": ("qwen2", "keep"),
    "nanochat": ("nanochat", "keep"),
    "o200k": ("o200k", "keep"),
    "qwen3.5": ("qwen3.5", "keep"),
    "tekken": ("tekken", "keep"),
    "none": (None, "keep"),
    "words kept": (r"\p{L}+", "keep"),
    "words": (r"\p{L}+", "drop"),
    "groups": (r"(\p{L})(\p{L}*)|(?P<number>\p{N}+)|(\s)(?=(\s*))", "keep"),
    "groups dropped": (r"(\p{L})(\p{L}*)|(?P<number>\p{N}+)", "drop"),
    "lookbehind": (r"(?<=\s)\S+|(?<!\s)\s+|\B.", "keep"),
    "lookbehind dropped": (r"(?<=a)\w|(?<=\s\s)\S+", "drop"),
    "empty matches": (r"\d*", "keep"),
    "kept out": (r"\s\K\S+", "keep"),
    "invalid bytes": (r"[\ud800-\udfff]+|[^\ud800-\udfff]", "keep"),
    "ignorecase": (regex.compile("THE|b+", regex.IGNORECASE), "drop"),
    "sets": (regex.compile(r"[\w--[a-f]]+|\W+", regex.V1), "keep"),
}


def spelled(pattern: Any) -> Any:
    return patterns.NAMED.get(pattern, pattern) if isinstance(pattern, str) else pattern


@pytest.mark.parametrize("texts", [50, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("semantics", ["merges", "ranks"])
def test_equals_the_reference(small: Tokenizer, soup: Soup, name: str, semantics: str, texts: int) -> None:
    pattern, unmatched = PATTERNS[name]
    specials = [EOT, "<|a|>", "<|a|><|b|>", "a.b*", "the the", "ž|", " \n"]
    merges = small.merges if semantics == "merges" else None
    tokenizer = Tokenizer(small.vocab, merges, specials, pattern=pattern, unmatched=unmatched)
    oracle = Oracle(tokenizer, spelled(pattern), unmatched)
    rng = random.Random(f"{name} {semantics}")
    for _ in range(texts):
        text = with_specials(rng, soup(rng, rng.randrange(12)), specials)
        assert tokenizer.encode(text) == oracle(text), text
        assert (
            tokenizer.encode(text, special=False) == tokenizer.encode(text, special=False) == oracle(text, False)
        ), text
        data = bytearray(text.encode())
        for _ in range(rng.randrange(1, 5)):
            data.insert(
                rng.randrange(len(data) + 1), rng.choice((0x80, 0xC3, 0xE6, 0xED, 0xF0, 0xFF, rng.randrange(256)))
            )
        assert tokenizer.encode(bytes(data)) == oracle(bytes(data)), bytes(data)
        assert tokenizer.encode(bytes(data), special=False) == oracle(bytes(data), False), bytes(data)
        if unmatched == "keep":
            assert tokenizer.decode_bytes(tokenizer.encode(bytes(data))) == data


@PINNED_REGEX
@pytest.mark.parametrize("name", ["gpt2 files", "gpt2", "cl100k", "o200k"])
def test_published_vocabularies_equal_the_reference(
    gpt2: Tokenizer, published: Published, soup: Soup, name: str
) -> None:
    tokenizer = gpt2 if name == "gpt2 files" else published(name if name == "gpt2" else f"{name}_base", name)
    oracle = Oracle(tokenizer, patterns.NAMED[name.split(" ")[0]])
    rng = random.Random(name)
    for _ in range(12):
        text = with_specials(rng, soup(rng, 100), tokenizer.special_tokens)
        assert tokenizer.encode(text) == oracle(text), text
        assert tokenizer.encode(text, special=False) == oracle(text, False), text
        data = text.encode()[1:-1].replace(b"a", b"\xff")
        assert tokenizer.encode(data) == oracle(data), data


LETTERS = (b"a", b"b", b"c")


def random_vocab(rng: random.Random, merges: int) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """A vocabulary over three letters whose merges no training would give: any order, any shape, unused ids."""
    tokens, pairs = list(LETTERS), []
    while len(pairs) < merges:
        pair = (rng.choice(tokens), rng.choice(tokens))
        if len(pair[0] + pair[1]) < 12 and pair not in pairs:
            pairs.append(pair)
            if pair[0] + pair[1] not in tokens:
                tokens.append(pair[0] + pair[1])
    if rng.random() < 0.5:
        rng.shuffle(pairs)
    made = tokens[3:]
    rng.shuffle(made)
    return BYTES | dict(zip(rng.sample(range(256, 400), len(made)), made, strict=True)), pairs


def test_vocabularies_that_no_training_makes() -> None:
    # Merges into a token that another merge made, merges before their parts, ids in any order.
    rng = random.Random(1)
    for _ in range(300):
        vocab, merges = random_vocab(rng, rng.randrange(1, 12))
        texts = [
            "".join(rng.choice("abc") for _ in range(rng.choice((3, 9, 30, 47, 48, 49, 50, 90)))) for _ in range(8)
        ]
        for given in (merges, None):
            tokenizer = Tokenizer(vocab, given, pattern=None)
            for text in texts:
                assert tokenizer.encode(text) == reference.encode(text, vocab, given, pattern=None), (
                    vocab,
                    given,
                    text,
                )


def test_a_token_that_merging_does_not_reach() -> None:
    # Ranks: a whole pretoken that is a token stands for itself, inside a longer one it is out of reach.
    ranks = vocab_of(b"bc", b"abcd")
    tokenizer = Tokenizer(ranks, None, pattern=r"\w+")
    assert tokenizer.encode("abcd") == [257]
    assert tokenizer.encode("abcde") == [97, 256, 100, 101]
    assert tokenizer.encode("abcd abcd") == [257, 32, 257]
    # A merges list: only what is listed merges.
    assert Tokenizer(ranks, [(b"b", b"c")], pattern=r"\w+").encode("abcd") == [97, 256, 100]


def test_ranks_merge_any_pair_and_merges_only_what_is_listed() -> None:
    vocab = vocab_of(b"ab", b"bc", b"abc")
    # Of (ab, c) and (a, bc) a merges list has one.
    merges = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    assert Tokenizer(vocab, merges, pattern=None).encode("abcx") == [256, 99, 120]
    assert Tokenizer(vocab, None, pattern=None).encode("abcx") == [258, 120]


def test_the_highest_id_merges_like_any_other() -> None:
    top = 2**32 - 1
    ranks = Tokenizer(BYTES | {top: b"ab"}, None, pattern=None)
    assert ranks.encode("ab") == [top]
    assert ranks.encode("abab") == [top, top]
    assert ranks.encode("ab" * 40) == [top] * 40
    assert list(ranks.merges) == [(b"a", b"b")]
    assert ranks.decode([top, 97]) == "aba"
    merges = Tokenizer(BYTES | {top: b"ab"}, [(b"a", b"b")], pattern=None)
    assert merges.encode("abab") == [top, top]
    with pytest.raises(ValueError, match=r"no id left for special token b\"x\|\""):
        Tokenizer(BYTES | {top: b"ab"}, None, ["x|"])


@pytest.mark.usefixtures("shared_data")
def test_merges_of_ranks_equal_gpt2s_merges(
    gpt2: Tokenizer, gpt2_ranks: Tokenizer, gpt2_files: tuple[Path, Path]
) -> None:
    assert gpt2_ranks.merges == gpt2.merges
    lines = gpt2_files[1].read_text(encoding="utf-8").split("\n")
    assert len(gpt2.merges) == sum(1 for line in lines if line and not line.startswith("#version")) == 50000
    assert (b"#", b"#") in gpt2.merges


def test_merges_of_ranks_are_what_the_reference_reaches() -> None:
    rng = random.Random(2)
    for _ in range(200):
        vocab, _ = random_vocab(rng, 8)
        ranks = {token: id for id, token in vocab.items()}
        expected = []
        for id, token in sorted(vocab.items()):
            lower = {token: rank for token, rank in ranks.items() if rank < id}
            pieces = reference.encode_word(token, lower)
            if len(token) > 1 and len(pieces) == 2:
                expected.append(pieces)
        assert list(Tokenizer(vocab, None).merges) == expected


# Against tiktoken


def pieces_of(text: str, size: int) -> Iterator[str]:
    """Pieces of about `size` characters that end before a special token: both sides encode them as they stand."""
    for piece in ("<|endoftext|>" + rest for rest in text.split("<|endoftext|>")):
        yield from (piece[at : at + size] for at in range(0, len(piece), size))


def class_of(character: str, engine: Callable[[str, str], bool]) -> str:
    return next((name for name in ("L", "N", "M", "s") if engine(name, character)), "other")


def classes_of_tiktoken() -> Callable[[str, str], bool]:
    """Ask tiktoken's own engine for the class of a character: an encoding whose pattern matches nothing else."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    asked = {
        name: tiktoken.Encoding(
            name, pat_str=rf"\{name}" if name == "s" else rf"\p{{{name}}}", mergeable_ranks=ranks, special_tokens={}
        )
        for name in ("L", "N", "M", "s")
    }
    return lambda name, character: bool(asked[name].encode_ordinary(character))


def classes_of_regex(name: str, character: str) -> bool:
    return regex.match(rf"\{name}" if name == "s" else rf"\p{{{name}}}", character) is not None


def assert_equal_but_for_classes(tokenizer: Tokenizer, other: tiktoken.Encoding, texts: Iterable[str]) -> list[str]:
    """Compare documents; where one differs, it must hold characters whose class differs between the two engines, and
    must be equal once those are gone. Returns them."""
    found: set[str] = set()
    engine = classes_of_tiktoken()
    for text in texts:
        ours, theirs = tokenizer.encode(text), other.encode(text, allowed_special="all")
        if ours == theirs:
            continue
        differing = {c for c in set(text) if not c.isascii() and class_of(c, engine) != class_of(c, classes_of_regex)}
        at = first_difference(ours, theirs)
        context = tokenizer.decode(ours[max(0, at - 3) : at + 3])
        assert differing, f"first at token {at}: {ours[at : at + 5]} for {theirs[at : at + 5]}, in {context!r}"
        without = text.translate({ord(c): "." for c in differing})
        assert tokenizer.encode(without) == other.encode(without, allowed_special="all")
        found |= differing
    return sorted(found)


@pytest.mark.parametrize("size", [4_000_000, pytest.param(None, marks=pytest.mark.long, id="whole")])
@pytest.mark.parametrize("corpus", ["en", "code", "multi"])
def test_gpt2_equals_tiktoken_on_corpora(
    data: Path, corpora: dict[str, str], gpt2: Tokenizer, gpt2_ranks: Tokenizer, corpus: str, size: int | None
) -> None:
    text = corpora[corpus][:size]
    assert text.count(EOT) > 100
    # No character in the corpora is one that the two engines class differently, so the ids are all the same.
    theirs = of_tiktoken(data, "gpt2").encode_to_numpy(text, allowed_special="all")
    for ours in (gpt2.encode_to_numpy(text), gpt2_ranks.encode_to_numpy(text)):
        if not np.array_equal(ours, theirs):
            at = first_difference(ours.tolist(), theirs.tolist())
            pytest.fail(f"first at token {at}: {ours[at : at + 5]} for {theirs[at : at + 5]}")


@pytest.mark.parametrize(("name", "pattern"), [("cl100k_base", "cl100k"), ("o200k_base", "o200k")])
@pytest.mark.parametrize("corpus", ["en", "code", "multi"])
def test_other_vocabularies_equal_tiktoken(
    data: Path, corpora: dict[str, str], published: Published, corpus: str, name: str, pattern: str
) -> None:
    other = of_tiktoken(data, pattern)
    documents = list(pieces_of(corpora[corpus][-1_500_000:], 1 << 18))
    assert assert_equal_but_for_classes(published(name, pattern), other, documents) == []


@PINNED_REGEX
def test_a_difference_to_tiktoken_is_one_of_classes() -> None:
    # "!" and the first byte of the character are a token, which only a character that is no letter lets come about.
    characters = "\U0003d000\u1c89\u088f\u0378é!"  # letters since Unicode 18, 16 and 14, never one, always one, none
    vocab = vocab_of(*sorted({b"!" + c.encode()[:1] for c in characters}))
    ranks = {token: id for id, token in vocab.items()}
    other = tiktoken.Encoding("!", pat_str=patterns.GPT2, mergeable_ranks=ranks, special_tokens={})
    engine = classes_of_tiktoken()
    expected = sorted(c for c in characters if class_of(c, engine) != class_of(c, classes_of_regex))
    assert "\U0003d000" in expected
    assert assert_equal_but_for_classes(Tokenizer(vocab), other, ["a!" + c for c in characters]) == expected


# Method against method


@pytest.fixture(scope="module")
def several(small: Tokenizer, gpt2: Tokenizer, cl100k: Tokenizer) -> list[Tokenizer]:
    specials = [EOT, "<|a|>", "é"]
    return [
        gpt2,
        cl100k,
        Tokenizer(small.vocab, small.merges, specials),
        Tokenizer(small.vocab, None, specials, pattern=None),
        Tokenizer(small.vocab, small.merges, specials, pattern=r"\w+", unmatched="drop"),
    ]


@pytest.mark.parametrize("texts", [20, pytest.param(500, marks=pytest.mark.long)])
def test_every_method_gives_the_ids_of_encode(several: list[Tokenizer], soup: Soup, texts: int) -> None:
    rng = random.Random(3)
    for tokenizer in several:
        for _ in range(texts):
            text = with_specials(rng, soup(rng, rng.randrange(40)), tokenizer.special_tokens)
            for special in (True, False):
                ids = tokenizer.encode(text, special=special)
                array = tokenizer.encode_to_numpy(text, special=special)
                assert array.dtype == np.uint32
                assert array.shape == (len(ids),)
                assert array.tolist() == ids
                assert tokenizer.count(text, special=special) == len(ids)
                assert tokenizer.encode_with_offsets(text, special=special)[0] == ids
                assert tokenizer.encode(text.encode(), special=special) == ids
                assert list(tokenizer.encode_iterable([text], special=special)) == ids
                assert [
                    id for step in toksmith.lab.explain(tokenizer, text, special=special) for id in step.ids
                ] == ids


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_batches(several: list[Tokenizer], soup: Soup, workers: int) -> None:
    rng = random.Random(4)
    for tokenizer in several:
        many = [soup(rng, rng.randrange(30)) + EOT * rng.randrange(2) for _ in range(300)]
        # Over 256 KB a thread: so that threads are in fact started.
        long = [
            "",
            *many,
            *(["x y z " * 60_000] if tokenizer.pattern is not None else []),
            *many,
            soup(rng, 60_000),
            "",
        ]
        for texts in ([], [""], ["", "a", ""], many, long):
            expected = [tokenizer.encode(text) for text in texts]
            assert tokenizer.encode_batch(texts, workers=workers) == expected
            assert tokenizer.encode_batch(iter(texts), workers=workers) == expected
            ids, starts = tokenizer.encode_batch_to_numpy(texts, workers=workers)
            assert (ids.dtype, starts.dtype) == (np.uint32, np.int64)
            assert starts.shape == (len(texts) + 1,)
            assert [ids[a:b].tolist() for a, b in itertools.pairwise(starts)] == expected
        ordinary = [tokenizer.encode(text, special=False) for text in many]
        assert tokenizer.encode_batch(many, special=False, workers=workers) == ordinary


def test_batches_refuse_what_is_no_list_of_texts(small: Tokenizer) -> None:
    for method in (small.encode_batch, small.encode_batch_to_numpy):
        for wrong in ("text", b"text", None, 5, ["a", None], ["a", b"b"]):
            with pytest.raises(TypeError):
                method(wrong)
        with pytest.raises(ValueError, match=r"text number 1 of the batch: .* a lone surrogate at character 1"):
            method(["a", "b\ud800"])
        for workers in (0, -1):
            with pytest.raises(ValueError, match="workers"):
                method(["a"], workers=workers)


def encoded_wrongly(tokenizer: Tokenizer, texts: list[str], expected: list[list[int]], seed: int) -> list[object]:
    """Encode the texts in an order of its own, in every way that has state."""
    wrong: list[object] = []
    for i in random.Random(seed).sample(range(len(texts)), len(texts)):
        wrong += [i] * (tokenizer.encode(texts[i]) != expected[i])
        wrong += [(i, "stream")] * (list(tokenizer.encode_iterable([texts[i]])) != expected[i])
    return wrong + ["batch"] * (tokenizer.encode_batch(texts, workers=2) != expected)


def test_many_threads_on_one_tokenizer(several: list[Tokenizer], soup: Soup) -> None:
    rng = random.Random(5)
    for tokenizer in several:
        texts = [soup(rng, rng.choice((5, 50, 4000))) for _ in range(12)]
        expected = [tokenizer.encode(text) for text in texts]
        with ThreadPoolExecutor(8) as pool:
            runs = [pool.submit(encoded_wrongly, tokenizer, texts, expected, seed) for seed in range(8)]
        assert [run.result() for run in runs] == [[]] * 8


def test_text_that_is_no_text(small: Tokenizer) -> None:
    methods = [
        small.encode,
        small.encode_to_numpy,
        small.count,
        small.encode_with_offsets,
        lambda text: toksmith.lab.explain(small, text),
        lambda text: small.truncate(text, 1),
        lambda text: small.split(text, 1),
        lambda text: list(small.encode_iterable([text])),
        lambda text: small.encode_parts([(text, True)]),
        lambda text: small.encode_parts([(text, False)]),
        lambda text: small.encode_batch([text]),
    ]
    for method in methods:
        for wrong in (None, 5, 1.5, ["a"]):  # `encode` takes bytes
            with pytest.raises(TypeError):
                method(wrong)
        for surrogate, at in (("\ud83d", 0), ("a\ud83d b", 1), ("é\ud83d\udc4d", 1)):
            with pytest.raises(ValueError, match=f"lone surrogate at character {at}"):
                method(surrogate)


def test_bytes_that_are_no_bytes(small: Tokenizer) -> None:
    assert small.encode(bytearray(b"abc")) == small.encode(memoryview(b"abc")) == small.encode("abc")
    assert small.encode(np.frombuffer(b"abc", np.uint8)) == small.encode("abc")
    for wrong in (None, 5, ["a"], [1, 2]):
        with pytest.raises(TypeError):
            small.encode(wrong)
        with pytest.raises(TypeError):
            small.token_id(wrong)


# Spans


def check_spans(tokenizer: Tokenizer, text: str) -> None:
    ids, spans = tokenizer.encode_with_offsets(text, unit="bytes")
    data = text.encode()
    assert spans.dtype == np.int64
    assert spans.shape == (len(ids), 2)
    assert [data[a:b] for a, b in spans.tolist()] == [tokenizer.token_bytes(id) for id in ids]
    ends = [0, *(b for _, b in spans.tolist())]
    assert all(end <= a for end, (a, _) in zip(ends, spans.tolist(), strict=False))
    # In characters, from the definition: the character that holds the first byte, and the one after the last byte's.
    character_of = [i for i, character in enumerate(text) for _ in character.encode()]
    expected = [[character_of[a], character_of[b - 1] + 1] for a, b in spans.tolist()]
    assert tokenizer.encode_with_offsets(text)[1].tolist() == expected


def test_spans(several: list[Tokenizer], soup: Soup) -> None:
    rng = random.Random(6)
    for tokenizer in several:
        check_spans(tokenizer, "")
        for _ in range(60):
            check_spans(tokenizer, with_specials(rng, soup(rng, rng.randrange(40)), tokenizer.special_tokens))


def test_starts_of_spans_equal_tiktoken(data: Path, cl100k: Tokenizer, soup: Soup) -> None:
    other = of_tiktoken(data, "cl100k")
    rng = random.Random(7)
    for _ in range(60):
        text = with_specials(rng, soup(rng, 40), cl100k.special_tokens)
        ids, spans = cl100k.encode_with_offsets(text)
        assert other.decode_with_offsets(ids) == (text, spans[:, 0].tolist())


def test_spans_of_dropped_text_have_gaps(small: Tokenizer) -> None:
    tokenizer = Tokenizer(small.vocab, small.merges, ["<|a|>"], pattern=r"\p{L}+", unmatched="drop")
    text = "..é, 12 ž<|a|>!"
    ids, spans = tokenizer.encode_with_offsets(text)
    covered = {i for a, b in spans.tolist() for i in range(a, b)}
    assert "".join(text[i] for i in sorted(covered)) == "éž<|a|>"
    assert tokenizer.decode(ids) == "éž<|a|>"


def test_units_of_spans(small: Tokenizer) -> None:
    for wrong in ("words", "", None, "Bytes"):
        with pytest.raises(ValueError, match="unit"):
            small.encode_with_offsets("a", unit=wrong)


# Trusted and untrusted parts


def expected_parts(tokenizer: Tokenizer, oracle: Oracle, parts: list[tuple[str, bool]]) -> list[int]:
    """From the definition: mark the special tokens inside trusted stretches, encode what lies between as one text."""
    ids: list[int] = []
    plain = ""
    for trusted, group in itertools.groupby(filter(operator.itemgetter(0), parts), key=operator.itemgetter(1)):
        stretch = "".join(text for text, _ in group)
        pieces = reference.split_special(stretch, tokenizer.special_tokens) if trusted else [(stretch, False)]
        for piece, is_special in pieces:
            if is_special:
                ids += [*oracle(plain, False), tokenizer.special_tokens[piece]]
                plain = ""
            else:
                plain += piece
    return ids + oracle(plain, False)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", None])
def test_parts(small: Tokenizer, soup: Soup, pattern: str | None) -> None:
    specials = ["<|a|>", "<|a|><|b|>", "|>", "<|", "ab", "abab"]
    tokenizer = Tokenizer(small.vocab, small.merges, specials, pattern=pattern)
    oracle = Oracle(tokenizer, spelled(pattern))
    rng = random.Random(8)
    for _ in range(400):
        text = with_specials(rng, soup(rng, rng.randrange(5)), specials) + rng.choice(("", "<|a|><|b|>", "ababab"))
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(5)))
        texts = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
        parts = [(part, rng.random() < 0.5) for part in texts]
        got = tokenizer.encode_parts(parts)
        assert got == expected_parts(tokenizer, oracle, parts), parts
        assert tokenizer.decode(got) == text
        assert tokenizer.encode_parts([(part, True) for part in texts]) == tokenizer.encode(text)
        assert tokenizer.encode_parts((part, False) for part in texts) == tokenizer.encode(text, special=False)


def test_no_special_token_comes_from_an_untrusted_part(several: list[Tokenizer], soup: Soup) -> None:
    rng = random.Random(9)
    for tokenizer in several[:3]:
        ids_of = set(tokenizer.special_tokens.values())
        for _ in range(100):
            hostile = with_specials(rng, soup(rng, 6), tokenizer.special_tokens)
            name = rng.choice(list(tokenizer.special_tokens))
            cut = rng.randrange(1, len(name) + 1)
            # A special token begun in the trusted part and completed by the user, and the other way round.
            parts = [
                ("system ", True),
                (name[:cut], cut == 0),
                (name[cut:] + hostile + name[:cut], False),
                (name[cut:], True),
            ]
            got = tokenizer.encode_parts(parts)
            assert not ids_of & set(got), parts
            framed = tokenizer.encode_parts([(EOT, True), (hostile, False), (EOT, True)])
            eot = tokenizer.special_tokens[EOT]
            assert framed == [eot, *tokenizer.encode(hostile, special=False), eot]


def test_parts_that_are_none(small: Tokenizer) -> None:
    assert small.encode_parts([]) == []
    assert small.encode_parts([("", True), ("", False)]) == []


@pytest.mark.parametrize(
    "wrong, message",
    [
        ([("hi<|endoftext|>", "user")], r"part 0 is \(str, str\): write \(str, bool\)"),
        ([{"role": "user", "content": "x"}], "part 0 is .*: write a pair of a str and a bool"),
        ([("a", True), "ab"], "part 1 is 'ab': write a pair"),
        ([("a", 1)], r"part 0 is \(str, int\)"),
        ([("a", None)], r"part 0 is \(str, NoneType\)"),
        ([(b"a", True)], r"part 0 is \(bytes, bool\)"),
        ([("a",)], "part 0 is"),
        ([("a", True, 1)], "part 0 is"),
        ({"a": True}, r"parts is a list of \(text, trusted\) pairs, not dict"),
        ("text", r"parts is a list of \(text, trusted\) pairs, not str"),
        (None, "not iterable"),
    ],
)
def test_parts_that_are_none_of_text_and_bool(wrong: Any, message: str, small: Tokenizer) -> None:
    """Nothing is trusted but what says so: "user" would be true."""
    with pytest.raises(TypeError, match=message):
        small.encode_parts(wrong)


# Truncate and split


def expected_prefix(tokenizer: Tokenizer, text: str, max_tokens: int, special: bool = True) -> str:
    """The definition, one candidate after the other."""
    ids, spans = tokenizer.encode_with_offsets(text, unit="bytes", special=special)
    data = text.encode()
    if len(ids) <= max_tokens:
        return text
    for end in reversed([0, *spans[:max_tokens, 1].tolist()]):
        try:
            prefix = data[:end].decode()
        except UnicodeDecodeError:
            continue
        if tokenizer.count(prefix, special=special) <= max_tokens:
            return prefix
    raise AssertionError("the empty prefix always fits")


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", None, "dropped"])
def test_truncate(small: Tokenizer, soup: Soup, pattern: str | None) -> None:
    specials = [EOT, "<|a|>", "<|a|><|b|>", "a b", "\n "]
    options = {"pattern": r"\w+", "unmatched": "drop"} if pattern == "dropped" else {"pattern": pattern}
    tokenizer = Tokenizer(small.vocab, small.merges, specials, **options)
    rng = random.Random(10)
    shortened = 0
    for _ in range(300):
        text = with_specials(rng, soup(rng, rng.choice((2, 10, 80))), specials)
        special = rng.random() < 0.7
        total = tokenizer.count(text, special=special)
        for max_tokens in {0, 1, rng.randrange(20), rng.randrange(total + 2), total}:
            prefix = tokenizer.truncate(text, max_tokens, special=special)
            assert text.startswith(prefix)
            assert tokenizer.count(prefix, special=special) <= max_tokens
            assert prefix == expected_prefix(tokenizer, text, max_tokens, special), (text, max_tokens)
            shortened += prefix != text
    assert shortened > 300


def test_truncate_is_shortened_until_it_fits() -> None:
    # Three spaces and a letter are (two spaces) and (space, letter); three spaces alone are one pretoken.
    tokenizer = Tokenizer(vocab_of(b" a", b"  "), [(b" ", b"a"), (b" ", b" ")])
    assert tokenizer.encode("x   ay") == [120, 257, 256, 121]
    assert tokenizer.truncate("x   ay", 2) == "x  "
    # Without the letter the last space stays: of (x)(space)(space) the first two fit, and are no more on their own.
    single = Tokenizer(vocab_of(b"'l", b"le"), [(b"'", b"l"), (b"l", b"e")])
    # "'lle" is 'll and e; cut after 'l, the apostrophe and the letter are two pretokens.
    assert single.encode("'lle") == [256, 108, 101]
    assert single.encode("'l") == [39, 108]
    assert single.truncate("'lle", 1) == ""
    assert single.truncate("'lle", 2) == "'ll"


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", None])
def test_long_special_tokens_stay_whole_in_pieces(small: Tokenizer, pattern: str | None) -> None:
    # Whatever part of the text is looked at first, it does not end inside one of them, where text could be cut.
    long = "w" * 90 + " w" * 30 + "\nw"
    tokenizer = Tokenizer(small.vocab, small.merges, [long], pattern=pattern)
    for before in ("", "a", "a " * 20, "a " * 40):
        for max_tokens in range(1, 60):
            text = before + long * 4 + " b"
            assert tokenizer.truncate(text, max_tokens) == expected_prefix(tokenizer, text, max_tokens)
    assert tokenizer.split(long * 3, 1) == [long] * 3


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", None, "dropped"])
def test_split(small: Tokenizer, soup: Soup, pattern: str | None) -> None:
    specials = [EOT, "<|a|>", "a b", "\n "]
    options = {"pattern": r"\w+", "unmatched": "drop"} if pattern == "dropped" else {"pattern": pattern}
    tokenizer = Tokenizer(small.vocab, small.merges, specials, **options)
    rng = random.Random(11)
    for _ in range(100):
        text = with_specials(rng, soup(rng, rng.choice((0, 2, 10, 60))), specials)
        max_tokens = rng.choice((4, 5, 7, 20, 1000))
        pieces = tokenizer.split(text, max_tokens)
        assert "".join(pieces) == text
        assert all(pieces)
        rest = text
        for piece in pieces:
            assert tokenizer.count(piece) <= max_tokens
            assert piece == (tokenizer.truncate(rest, max_tokens) or rest[0])
            rest = rest[len(piece) :]
        overlap = rng.randrange(max_tokens)
        check_overlapping(tokenizer, text, max_tokens, overlap)


def check_overlapping(tokenizer: Tokenizer, text: str, max_tokens: int, overlap: int) -> None:
    """Follow the pieces through the text: each starts inside or at the end of the last, after its start."""
    pieces = tokenizer.split(text, max_tokens, overlap)
    start = end = 0
    for number, piece in enumerate(pieces):
        assert tokenizer.count(piece) <= max_tokens
        if number:
            # Where it starts is not in the result: some place that fits must be there, the earliest allowed one.
            previous = text[start:end]
            _, spans = tokenizer.encode_with_offsets(text[start:], unit="bytes")
            ends = [int(b) for b in spans[:, 1] if b <= len(previous.encode())]
            allowed = {
                start + len(text[start:].encode()[:e].decode(errors="ignore")) for e in ends[-overlap - 1 :]
            } | {end}
            starts = [at for at in sorted(allowed) if start < at <= end and text.startswith(piece, at)]
            assert starts, (pieces, number)
            start = starts[0]
        end = start + len(piece)
    assert end == len(text)


@pytest.mark.usefixtures("shared_data")
def test_split_with_overlap_repeats_that_many_tokens(gpt2: Tokenizer) -> None:
    text = " one two three four five six seven eight nine ten"
    assert gpt2.count(text) == 10
    assert gpt2.split(text, 4, 0) == [" one two three four", " five six seven eight", " nine ten"]
    assert gpt2.split(text, 4, 1) == [" one two three four", " four five six seven", " seven eight nine ten"]
    assert gpt2.split(text, 4, 3)[1] == " two three four five"
    assert gpt2.split("", 4) == []


def test_a_character_that_is_too_long_for_a_piece(gpt2: Tokenizer) -> None:
    assert gpt2.count("abc") == 1
    assert gpt2.count("🫨") == 3
    with pytest.raises(ValueError, match=r"byte 3 alone is 3 tokens, more than the 2"):
        gpt2.split("abc🫨", 2)
    assert gpt2.split("abc🫨", 3) == ["abc", "🫨"]
    assert gpt2.truncate("abc🫨", 3) == "abc"
    assert gpt2.truncate("🫨", 2) == ""


def test_limits_that_are_none(small: Tokenizer) -> None:
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="max_tokens"):
            small.split("abc", wrong)
    with pytest.raises(ValueError, match="max_tokens"):
        small.truncate("abc", -1)
    for overlap in (-1, 3, 10):
        with pytest.raises(ValueError, match="overlap"):
            small.split("abc", 3, overlap)
    for wrong_type in (None, 1.5, "3"):
        with pytest.raises(TypeError):
            small.truncate("abc", wrong_type)
        with pytest.raises(TypeError):
            small.split("abc", wrong_type)
    assert small.truncate("abc", 2**100) == "abc"
    assert small.split("abc", 2**100) == ["abc"]


# Long pretokens


@pytest.mark.usefixtures("shared_data")
def test_a_long_word(gpt2: Tokenizer, gpt2_ranks: Tokenizer) -> None:
    rng = random.Random(0)
    word = "".join(rng.choice(string.ascii_lowercase) for _ in range(100_000))
    ids = gpt2.encode(word)
    assert len(ids) == 59_736
    assert gpt2_ranks.encode(word) == ids
    assert gpt2.encode_batch([word] * 8, workers=2) == [ids] * 8
    assert gpt2.count(word) == 59_736
    assert gpt2.decode(ids) == word
    # Cut into single characters, it is still one pretoken.
    assert list(gpt2.encode_iterable(word)) == ids


@pytest.mark.parametrize("length", [47, 48, 49, 500])
def test_both_ways_to_merge_equal_the_reference(small: Tokenizer, length: int) -> None:
    tokenizer = Tokenizer(small.vocab, small.merges, pattern=None)
    rank = reference.rank_function(small.merges)
    rng = random.Random(length)
    for letters in ("a", "ab", "the ", "aeiou nrst", string.printable):
        for _ in range(2 if length == 500 else 20):
            text = "".join(rng.choice(letters) for _ in range(length))
            pieces = reference.encode_word(text.encode(), rank)
            assert [tokenizer.token_bytes(id) for id in tokenizer.encode(text)] == list(pieces)


# Special tokens

HOSTILE = [
    (["<|a|>", "<|a|><|b|>"], "<|a|><|a|><|b|><|b|><|a|>"),
    (["ab", "bc", "abcd"], "abcabcdbcabc"),
    (["aa", "aaa"], "a" * 11),
    ([".*", "(", "[a-z]", "a|b", "^", "$", "\\", "\\d"], "a.*b([a-z]a|b^$\\d\\x"),
    ([" ", "  x", "\n\n"], "a   x\n\n\n b"),
    (["é", "👍", "👍🏽", "\u0301"], "é👍🏽e\u0301👍"),
    (["\x00", "\ufeff", "\U0010ffff"], "\ufeffa\x00\U0010ffff"),
    (["a", "th"], "that a cat"),
    (["x" * 300, "x" * 299], "x" * 1000),
]


@pytest.mark.parametrize(("specials", "text"), HOSTILE)
@pytest.mark.parametrize("semantics", ["merges", "ranks"])
def test_special_tokens(small: Tokenizer, specials: list[str], text: str, semantics: str) -> None:
    merges = small.merges if semantics == "merges" else None
    tokenizer = Tokenizer(small.vocab, merges, specials)
    oracle = Oracle(tokenizer, patterns.GPT2)
    for whole in (text, text * 2, f" {text} ", text[::-1], f"{specials[0]}{text}{specials[-1]}"):
        ids = tokenizer.encode(whole)
        assert ids == oracle(whole), whole
        assert tokenizer.decode(ids) == whole
        assert tokenizer.encode(whole, special=False) == oracle(whole, False)
        assert not set(tokenizer.special_tokens.values()) & set(tokenizer.encode(whole, special=False))
        cut = reference.split_special(whole, specials)
        found = [i for i in ids if i in tokenizer.special_tokens.values()]
        assert found == [tokenizer.special_tokens[piece] for piece, is_special in cut if is_special]


@pytest.mark.parametrize(("specials", "text"), HOSTILE)
def test_the_order_of_special_tokens_does_not_matter(small: Tokenizer, specials: list[str], text: str) -> None:
    ids = {name: 1000 + i for i, name in enumerate(specials)}
    first = Tokenizer(small.vocab, small.merges, ids)
    for order in itertools.islice(itertools.permutations(specials), 24):
        other = Tokenizer(small.vocab, small.merges, {name: ids[name] for name in order})
        assert other.encode(text * 2) == first.encode(text * 2)
        assert other == first


def test_a_special_token_equal_to_an_ordinary_one(small: Tokenizer) -> None:
    the = small.token_id(b" the")
    tokenizer = Tokenizer(small.vocab, small.merges, [" the", "a"])
    assert tokenizer.special_tokens == {" the": small.max_id + 1, "a": small.max_id + 2}
    assert tokenizer.encode("in the a") == [*small.encode("in"), small.max_id + 1, 32, small.max_id + 2]
    assert tokenizer.encode("in the", special=False) == small.encode("in the")
    assert the in tokenizer.encode("in the", special=False)
    assert tokenizer.token_id(" the") == the
    assert tokenizer.token_bytes(small.max_id + 1) == b" the"
    # With two ids of these bytes, the lower is special.
    twice = Tokenizer(vocab_of(b"xy", b"xy"), [(b"x", b"y")], ["xy"])
    assert twice.special_tokens == {"xy": 256}
    assert twice.encode("xy") == [256]
    assert twice.encode("xy", special=False) == [257]


def test_where_special_tokens_get_their_ids(small: Tokenizer) -> None:
    vocab = vocab_of(b"<|x|>")
    assert Tokenizer(vocab, [], ["<|y|>", "<|x|>", "<|z|>"]).special_tokens == {
        "<|y|>": 257,
        "<|x|>": 256,
        "<|z|>": 258,
    }
    assert Tokenizer(vocab, [], {"<|y|>": 1000, "<|x|>": 256}).special_tokens == {"<|y|>": 1000, "<|x|>": 256}
    # Not listed: an ordinary token, which no merge makes.
    assert Tokenizer(vocab, []).encode("<|x|>") == [*b"<|x|>"]
    for specials, message in [
        ([""], "special token number 0 is empty"),
        (["a|", ""], "special token number 1 is empty"),
        (["a|", "b|", "a|"], r"b\"a\|\" is there twice, as number 0 and 2"),
        ({"a|": 97}, r"id 97 is given to b\"a\|\" but belongs to b\"a\""),
        ({"a|": 300, "b|": 300}, "id 300 is given to"),
        ({"a|": -1}, "is -1"),
        ({"a|": 2**32}, str(2**32)),
        ({"a": 97}, r"b\"a\" is given id 97, which is the ordinary token"),
        (["a\ud800"], "lone surrogate at 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            Tokenizer(BYTES, [], specials)
    for specials in ("<|a|>", b"<|a|>", [b"<|a|>"], [None], {"a|": None}, {"a|": "5"}, {"a|": 1.5}, 5):
        with pytest.raises(TypeError):
            Tokenizer(BYTES, [], specials)


def test_vocabularies_that_are_not_consistent() -> None:
    for vocab, merges, message in [
        (BYTES | {256: b"", 257: b""}, None, r"b\"\" has two ids, 256 and 257"),
        (BYTES | {256: b"ab", 257: b"ab"}, None, r"b\"ab\" has two ids, 256 and 257"),
        ({i: t for i, t in BYTES.items() if i != 7}, None, "single byte 0x07"),
        ({}, None, "single byte 0x00"),
        (BYTES | {-1: b"ab"}, None, "is -1"),
        (BYTES | {2**32: b"ab"}, None, str(2**32)),
        (BYTES | {256: "ab"}, None, "id 256 is not bytes: 'ab'"),
        (BYTES | {256: None}, None, "id 256 is not bytes: None"),
        (BYTES | {"x": b"ab"}, None, "'x'"),
        (BYTES, [(b"a", b"b")], r"merge number 0 \(b\"a\", b\"b\"\) needs the token b\"ab\""),
        (vocab_of(b"abc"), [(b"ab", b"c")], r"needs the token b\"ab\""),
        (vocab_of(b"ab"), [(b"a", b"b"), (b"a", b"b")], "merge number 1 .* same as number 0"),
        (vocab_of(b"ab"), [(b"a", b"b"), (b"a",)], r"merge number 1 is \(b'a',\)"),
        (vocab_of(b"ab"), [("a", "b")], "merge number 0"),
        (vocab_of(b"ab"), [b"ab"], "merge number 0"),
        (vocab_of(b"ab"), [None], "merge number 0"),
        (vocab_of(b"ab"), [(b"", b"ab")], r"needs the token b\"\""),
    ]:
        with pytest.raises(ValueError, match=message):
            Tokenizer(vocab, merges)


def test_patterns_that_are_none() -> None:
    for wrong in (
        "(",
        "[",
        r"\p{Nothing}",
        "a{2,1}",
        "(?P<n>",
        "(" * 5000 + ")" * 5000,
        r"\L<names>",
        "a{99999999999}",
    ):
        with pytest.raises(ValueError, match="pattern"):
            Tokenizer(pattern=wrong)
    import re

    with pytest.raises(ValueError, match="regex"):
        Tokenizer(pattern=re.compile("a"))
    with pytest.raises(ValueError, match="named lists"):
        Tokenizer(pattern=regex.compile(r"\L<names>", names=["a"]))
    for wrong_type in (5, b"a", ["a"], regex.compile(b"a")):
        with pytest.raises(TypeError, match="pattern"):
            Tokenizer(pattern=wrong_type)
    for unmatched in ("lose", None, ""):
        with pytest.raises(ValueError, match="unmatched"):
            Tokenizer(unmatched=unmatched)


def test_patterns_that_match_backwards_are_refused() -> None:
    # Their matches come from the end of the text: not a way to read it.
    for wrong in (r"(?r)\w+", regex.compile(r"\w+", regex.REVERSE)):
        with pytest.raises(ValueError, match="backwards"):
            Tokenizer(pattern=wrong)


def test_a_compiled_pattern_is_no_name(small: Tokenizer) -> None:
    text = "a gpt2 b"
    compiled = Tokenizer(small.vocab, small.merges, pattern=regex.compile("gpt2"))
    assert compiled.encode(text) == Oracle(compiled, "gpt2")(text)
    assert compiled.pattern.pattern == "gpt2"


def test_a_tokenizer_of_bytes_alone() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.encode("é") == [0xC3, 0xA9]
    assert tokenizer.vocab_size == 256
    assert tokenizer.max_id == 255
    assert Tokenizer(None, None, ["<|x|>"]).encode("a<|x|>") == [97, 256]


def test_training_and_encoding_cut_alike(soup: Soup) -> None:
    # What was one token in training is one in encoding, whatever the pattern.
    rng = random.Random(12)
    for pattern, unmatched in (("gpt2", "keep"), ("o200k", "keep"), (r"\w+|\s", "drop"), (None, "keep")):
        text = soup(rng, 60)
        tokenizer = train_as_asked(iter([text] * 2), 280, pattern=pattern, unmatched=unmatched, special_tokens=[EOT])
        assert tokenizer.encode(text + EOT) == Oracle(tokenizer, spelled(pattern), unmatched)(text + EOT)


def test_memory_of_large_arrays_is_used_again_only_when_nobody_needs_it(gpt2: Tokenizer) -> None:
    """An array, or a view of one, keeps its ids whatever is encoded after it; who writes to one changes no other."""
    first, second = " a b" * 600_000, " c d" * 600_000
    expected = [gpt2.encode(text) for text in (first, second)]
    assert len(expected[0]) > 1 << 20
    one = gpt2.encode_to_numpy(first)
    view = one[5:-5]
    del one
    other = gpt2.encode_to_numpy(second)
    batch, starts = gpt2.encode_batch_to_numpy([first, second])
    assert view.tolist() == expected[0][5:-5]
    assert other.tolist() == expected[1]
    assert batch.tolist() == expected[0] + expected[1]
    assert starts.tolist() == [0, len(expected[0]), len(expected[0]) + len(expected[1])]
    for _ in range(3):
        del view, other
        view, other = gpt2.encode_to_numpy(first), gpt2.encode_to_numpy(second)
        view[:] = 0
        assert other.tolist() == expected[1]
        assert gpt2.encode_to_numpy(first).tolist() == expected[0]
        assert gpt2.encode(second) == expected[1]
    assert batch.tolist() == expected[0] + expected[1]
