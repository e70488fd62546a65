"""`Encoding` beside the installed tiktoken: every method, random ranks, patterns and special tokens."""

import copy
import functools
import inspect
import pickle
import random
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import regex
import tiktoken
from hypothesis import assume, given, reject
from tiktoken_pieces import SHARED_POINTS, differing, fixed

from toksmith import Encoding, patterns

PATTERNS = [
    *sorted(patterns.SPELLINGS),
    r"\w+|\s+",
    r"[a-z&&[^aeiou]]+|.",
    r"(?i)[a-c]+|\d{1,3}|\s+(?!\S)|\s|[^\s\d]+$",
    ".",
    r"(?s).+",
    r"\p{Han}+|[^\p{Han}]",
]
ALPHABET = "abcdefgz AZ01239\n\t\r'.!</|>_éßЖ中日ひ한🙂\u0301\u3000"


def tokens_of(rng: random.Random) -> dict[bytes, int]:
    """Ranks of random tokens, some of which no merge makes; with gaps, in no order."""
    tokens = [bytes([byte]) for byte in range(256)]
    common = [bytes([byte]) for byte in "abc 01é\n中".encode()]
    for _ in range(rng.randrange(60)):
        count = rng.choice([2, 2, 2, 3, 4])
        token = b"".join(rng.choice(common) for _ in range(count))
        if token not in tokens:
            tokens.append(token)
            common.append(token)
    ranks = rng.sample(range(len(tokens) + rng.choice([0, 50])), len(tokens))
    if rng.random() < 0.5:
        ranks.sort()
    return dict(zip(tokens, ranks, strict=True))


def specials_of(rng: random.Random, ranks: dict[bytes, int]) -> dict[str, int]:
    """Special tokens of which none begins with another: tiktoken's choice between such follows no rule."""
    names: list[str] = []
    for _ in range(rng.randrange(5)):
        name = "".join(rng.choice("ab<|>é中 ") for _ in range(rng.randrange(1, 5)))
        if not any(name.startswith(other) or other.startswith(name) for other in names):
            names.append(name)
    free = [id for id in range(400) if id not in ranks.values()]
    ids = rng.sample(free, len(names))
    if names and rng.random() < 0.3:
        ids[0] = rng.choice(list(ranks.values()))
    if rng.random() < 0.3 and not any(name[0] == "<" for name in names):
        names.append("<|endoftext|>")
        ids.append(1000)
    return dict(zip(names, ids, strict=True))


@functools.lru_cache(maxsize=256)
def pair(seed: int) -> tuple[Encoding, tiktoken.Encoding]:
    rng = random.Random(seed)
    ranks = tokens_of(rng)
    arguments: dict[str, Any] = {
        "pat_str": rng.choice(PATTERNS),
        "mergeable_ranks": ranks,
        "special_tokens": specials_of(rng, ranks),
    }
    # `regex` takes entries out of a full cache at random, and hypothesis forbids that where cases are made.
    state = random.getstate()
    try:
        return Encoding("random", **arguments), tiktoken.Encoding("random", **arguments)
    finally:
        random.setstate(state)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        result = call()
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            reject()
        return type(error)
    return result.tolist() if isinstance(result, np.ndarray) else result


def same(ours: Encoding, theirs: tiktoken.Encoding, call: Callable[[Any], Any]) -> Any:
    result = outcome(lambda: call(ours))
    assert result == outcome(lambda: call(theirs))
    return result


@st.composite
def cases(draw: st.DrawFn) -> tuple[Encoding, tiktoken.Encoding, str, dict[str, Any]]:
    ours, theirs = pair(draw(st.integers(0, 199)))
    names = sorted(ours.special_tokens_set)
    piece = st.sampled_from(
        [*ALPHABET, *names, *(name[:-1] or "a" for name in names), "ab", "  ", "aaa", "'s", "'ll"]
    )
    text = "".join(draw(st.lists(piece | st.sampled_from(SHARED_POINTS), max_size=25)))
    some = st.sets(st.sampled_from([*names, "ab", "unknown"]))
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        options["allowed_special"] = draw(st.just("all") | some)
    if draw(st.booleans()):
        options["disallowed_special"] = draw(st.sampled_from(["all", (), []]) | some | some.map(sorted))
    return ours, theirs, text, options


@given(cases())
def test_encoding_a_text(case: tuple[Encoding, tiktoken.Encoding, str, dict[str, Any]]) -> None:
    ours, theirs, text, options = case
    ids = same(ours, theirs, lambda one: one.encode(text, **options))
    same(ours, theirs, lambda one: one.encode_ordinary(text))
    assert outcome(lambda: ours.encode_to_numpy(text, **options)) == ids
    same(ours, theirs, lambda one: one.encode_batch([text, "ab", text[:4]], **options))
    same(ours, theirs, lambda one: one.encode_ordinary_batch([text, ""]))
    same(ours, theirs, lambda one: one._encode_single_piece(text) if text else [])
    same(ours, theirs, lambda one: one._encode_bytes(text.encode()))


@given(cases(), st.binary(max_size=6), st.booleans())
def test_encoding_bytes(
    case: tuple[Encoding, tiktoken.Encoding, str, dict[str, Any]], tail: bytes, cut: bool
) -> None:
    ours, theirs, text, _ = case
    data = text.encode()[: -1 if cut else None] + tail
    assume(not differing() & set(data.decode(errors="ignore")))
    same(ours, theirs, lambda one: one._encode_bytes(data))


@given(cases())
def test_unstable(case: tuple[Encoding, tiktoken.Encoding, str, dict[str, Any]]) -> None:
    ours, theirs, text, options = case
    ours_found = outcome(lambda: ours.encode_with_unstable(text[:12], **options))
    theirs_found = outcome(lambda: theirs.encode_with_unstable(text[:12], **options))
    if isinstance(theirs_found, type):
        assert ours_found == theirs_found
        return
    assert ours_found[0] == theirs_found[0]
    assert len(ours_found[1]) == len(theirs_found[1])
    assert set(map(tuple, ours_found[1])) == set(map(tuple, theirs_found[1]))


@given(st.integers(0, 199), st.lists(st.integers(0, 330) | st.just(1000), max_size=12))
def test_decoding(seed: int, ids: list[int]) -> None:
    ours, theirs = pair(seed)
    for given_ids in (ids, tuple(ids), np.array(ids, np.uint32)):
        same(ours, theirs, lambda one, given_ids=given_ids: one.decode_bytes(given_ids))
    for errors in ("replace", "strict", "ignore"):
        same(ours, theirs, lambda one, errors=errors: one.decode(ids, errors=errors))
    same(ours, theirs, lambda one: one.decode_tokens_bytes(ids))
    same(ours, theirs, lambda one: one.decode_with_offsets(ids))
    same(ours, theirs, lambda one: one.decode_batch([ids, []]))
    same(ours, theirs, lambda one: one.decode_bytes_batch([ids, ids[:1]], num_threads=2))
    for id in ids:
        same(ours, theirs, lambda one, id=id: one.decode_single_token_bytes(id))
        same(ours, theirs, lambda one, id=id: one.is_special_token(id))


@pytest.mark.parametrize("seed", range(200))
def test_what_an_encoding_says_of_itself(seed: int) -> None:
    ours, theirs = pair(seed)
    for name in ("name", "max_token_value", "n_vocab", "eot_token", "special_tokens_set", "_pat_str"):
        same(ours, theirs, lambda one, name=name: getattr(one, name))
    assert repr(ours) == repr(theirs)
    assert ours.token_byte_values() == theirs.token_byte_values()
    assert (ours._mergeable_ranks, ours._special_tokens) == (theirs._mergeable_ranks, theirs._special_tokens)
    for token in [*ours._mergeable_ranks, *ours._special_tokens, "nothing", b"nothing", b"\xff\xfe"]:
        same(ours, theirs, lambda one, token=token: one.encode_single_token(token))
    again = pickle.loads(pickle.dumps(ours))
    assert again is not ours
    for one in (again, copy.copy(ours), copy.deepcopy(ours)):
        assert one.encode("ab a<|>中 11 '", disallowed_special=()) == ours.encode(
            "ab a<|>中 11 '", disallowed_special=()
        )
        assert one.__getstate__() == ours.__getstate__()


def test_text_alone_native() -> None:
    ours, theirs = pair(3)
    assert ours._encode_only_native_bpe("ab 12\n é") == ours.encode_ordinary("ab 12\n é")
    assert theirs.encode_ordinary("ab 12\n é") == ours.encode_ordinary("ab 12\n é")


MISUSE: list[Callable[[Any], Any]] = [
    lambda one: one.encode(None),
    lambda one: one.encode(b"ab"),
    lambda one: one.encode("ab", allowed_special=["<|a|>"]),
    lambda one: one.encode("ab", allowed_special=["<|a|>"], disallowed_special=()),
    lambda one: one.encode("ab", allowed_special={1}, disallowed_special=()),
    lambda one: one.encode("ab", allowed_special={"\ud800"}, disallowed_special=()),
    lambda one: one.encode("ab", disallowed_special=[1]),
    lambda one: one.encode("ab", disallowed_special=[""]),
    lambda one: one.encode("ab", disallowed_special=["b"]),
    lambda one: one.encode("ab", disallowed_special="b"),
    lambda one: one.encode("x", disallowed_special="all", allowed_special="some"),
    lambda one: one.encode("a\ud800", disallowed_special=["\ud800"]),
    lambda one: one.encode("a\ud800<|a|>"),
    lambda one: one.encode("a\ud800<|a|>", allowed_special="all"),
    lambda one: one.encode("a\ud83d\udc4d\ud800", disallowed_special=()),
    lambda one: one.encode("\ud83d\udc4d<|👍|>", disallowed_special=()),
    lambda one: one.encode("<|\ud83d\udc4d|>"),
    lambda one: one.encode("<|\ud83d\udc4d|>", allowed_special="all"),
    lambda one: one.encode_ordinary("a\ud83d\udc4d\ud800"),
    lambda one: one.encode_ordinary(1),
    lambda one: one.encode_to_numpy("a\ud800"),
    lambda one: one.encode_to_numpy("a\ud800<|a|>"),
    lambda one: one.encode_with_unstable("a\ud800"),
    lambda one: one.encode_with_unstable(b"a"),
    lambda one: one.encode_with_unstable(["a"]),
    lambda one: one.encode_batch(["a", "a\ud800", "\ud83d\udc4d"]),
    lambda one: one.encode_batch(["a", "<|a|>"]),
    lambda one: one.encode_batch(["a", "<|a|>\ud800"]),
    lambda one: one.encode_batch(["a", 1]),
    lambda one: one.encode_batch("ab"),
    lambda one: one.encode_batch(iter(["ab", "b\ud800"])),
    lambda one: one.encode_batch(["ab"], disallowed_special=["", "b"]),
    lambda one: one.encode_batch(["ab"], num_threads=0),
    lambda one: one.encode_batch(5),
    lambda one: one.encode_ordinary_batch(["a", "a\ud800"]),
    lambda one: one.encode_ordinary_batch(["a"], num_threads=-1),
    lambda one: one.encode_single_token("\ud800"),
    lambda one: one.encode_single_token(5),
    lambda one: one.encode_single_token(b""),
    lambda one: one.decode([-1]),
    lambda one: one.decode([2**32]),
    lambda one: one.decode([300, -1]),
    lambda one: one.decode(["a"]),
    lambda one: one.decode([1.0]),
    lambda one: one.decode("ab"),
    lambda one: one.decode(5),
    lambda one: one.decode(None),
    lambda one: one.decode([255], errors="strict"),
    lambda one: one.decode([97], errors="nothing"),
    lambda one: one.decode([255], errors="nothing"),
    lambda one: one.decode_bytes([900]),
    lambda one: one.decode_bytes([-1]),
    lambda one: one.decode_single_token_bytes(-1),
    lambda one: one.decode_single_token_bytes(900),
    lambda one: one.decode_single_token_bytes("a"),
    lambda one: one.decode_tokens_bytes([97, -1]),
    lambda one: one.decode_with_offsets([255]),
    lambda one: one.decode_with_offsets([900]),
    lambda one: one.decode_with_offsets([]),
    lambda one: one.decode_batch([[97], [900]]),
    lambda one: one.decode_batch([[97]], num_threads=0),
    lambda one: one.is_special_token("a"),
    lambda one: one.eot_token,
]


@pytest.mark.parametrize("call", MISUSE, ids=lambda call: inspect.getsource(call).strip()[12:].rstrip(","))
def test_misuse_is_the_same_error(call: Callable[[Any], Any]) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    specials = {"<|a|>": 256, "<|👍|>": 257}
    arguments: dict[str, Any] = {"pat_str": ".", "mergeable_ranks": ranks, "special_tokens": specials}
    same(Encoding("bytes", **arguments), tiktoken.Encoding("bytes", **arguments), call)


def test_construction() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}

    def make(**change: Any) -> Any:
        arguments = {"pat_str": ".", "mergeable_ranks": ranks, "special_tokens": {"<|a|>": 256}} | change
        return lambda kind: kind("bytes", **arguments).n_vocab

    for change in (
        {"explicit_n_vocab": 257},
        {"explicit_n_vocab": 256},
        {"explicit_n_vocab": 258, "special_tokens": {"<|a|>": 256, "<|b|>": 300}},
        {"pat_str": "("},
        {"pat_str": 5},
        {"mergeable_ranks": {}},
        {"special_tokens": {"<|a|>": 10**6}},
    ):
        assert outcome(lambda change=change: make(**change)(Encoding)) == outcome(
            lambda change=change: make(**change)(tiktoken.Encoding)
        )
    # tiktoken panics at the first text with the byte, or at once.
    with pytest.raises(ValueError, match="0x00"):
        make(mergeable_ranks={bytes([byte]): byte for byte in range(1, 256)})(Encoding)
    with pytest.raises(ValueError, match=r"rank 5 is given to b'ab' and to b'\\x05'"):
        make(mergeable_ranks={**ranks, b"ab": 5})(Encoding)
    with pytest.raises(ValueError, match="back reference"):
        make(pat_str=r"(a)\1")(Encoding)


def test_the_longest_of_special_tokens() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = Encoding(
        "bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={"<a": 300, "<a>": 301, "<a>>": 302}
    )
    assert encoding.encode("<a>><a<a>", allowed_special="all") == [302, 300, 301]
    assert encoding.encode("<a>>", allowed_special={"<a", "<a>"}, disallowed_special=()) == [301, 62]
    with pytest.raises(ValueError, match="'<a>>'"):
        encoding.encode("x<a>>")


def test_many_sets_of_special_tokens() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    names = [f"<{number}>" for number in range(300)]
    encoding = Encoding(
        "b", pat_str=".", mergeable_ranks=ranks, special_tokens={n: 1000 + i for i, n in enumerate(names)}
    )
    for index, name in enumerate(names * 2):
        allowed = {name}
        assert encoding.encode(name, allowed_special=allowed) == [1000 + index % 300]
        with pytest.raises(ValueError, match="disallowed special token"):
            encoding.encode(names[0] + names[1] + name, allowed_special=allowed)
    with pytest.raises(ValueError, match="disallowed special token"):
        encoding.encode(names[7])


def test_methods_and_signatures_are_those_of_tiktoken() -> None:
    for name, theirs in vars(tiktoken.Encoding).items():
        if name.startswith("__") and name not in ("__init__", "__repr__", "__getstate__", "__setstate__"):
            continue
        ours = inspect.getattr_static(Encoding, name)
        if inspect.isfunction(theirs):
            shape = [(p.name, p.kind, p.default) for p in inspect.signature(theirs).parameters.values()]
            assert [(p.name, p.kind, p.default) for p in inspect.signature(ours).parameters.values()] == shape, name
        else:
            # Before Python 3.12 a cached property holds a lock that a forked child could wait for.
            kinds = {functools.cached_property: property}
            assert kinds.get(type(ours), type(ours)) is kinds.get(type(theirs), type(theirs)), name


# The vocabularies by the names of their patterns, and characters of each corpus.
PUBLISHED = [
    *[("gpt2", 30_000), ("cl100k", 30_000)],
    *(pytest.param(pattern, 500_000, marks=pytest.mark.long) for pattern in ("gpt2", "cl100k", "o200k", "qwen2")),
]


@pytest.mark.parametrize(("pattern", "size"), PUBLISHED)
def test_published_ranks(data: Any, corpora: dict[str, str], pattern: str, size: int) -> None:
    from published_data import VOCABULARIES, of_tiktoken, read_specials

    name = VOCABULARIES[pattern]
    theirs = of_tiktoken(data, pattern)
    path, specials = data / f"vocabs/{name}.tiktoken", read_specials(data, name)
    loaded = Encoding.from_tiktoken(path, pattern=pattern, special_tokens=specials)
    made = Encoding(name, pat_str=theirs._pat_str, mergeable_ranks=theirs._mergeable_ranks, special_tokens=specials)
    assert (loaded.name, loaded.n_vocab, loaded._mergeable_ranks) == (name, theirs.n_vocab, theirs._mergeable_ranks)
    for text in corpora.values():
        text = fixed(text[:size])
        expected = theirs.encode(text, allowed_special="all")
        for ours in (loaded, made):
            assert ours.encode(text, allowed_special="all") == expected
            assert ours.encode_to_numpy(text, allowed_special="all").tolist() == expected
            assert ours.encode(text, disallowed_special=()) == theirs.encode(text, disallowed_special=())
            assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)
            assert ours.decode_tokens_bytes(expected[:500]) == theirs.decode_tokens_bytes(expected[:500])
            assert ours.decode_with_offsets(expected) == theirs.decode_with_offsets(expected)
    for text in ("hello fanta", "today\n \n", "  ", "def f(x):\n    retu", "我非常渴", "நடிக", " a\u3000", "''"):
        ours_found, theirs_found = loaded.encode_with_unstable(text), theirs.encode_with_unstable(text)
        assert ours_found[0] == theirs_found[0]
        assert set(map(tuple, ours_found[1])) == set(map(tuple, theirs_found[1]))


def test_long_texts_with_some_special_tokens(data: Any, corpora: dict[str, str]) -> None:
    """Longer than what is encoded on one thread; the special tokens that are looked for are cut around."""
    from published_data import of_tiktoken, read_specials

    theirs = of_tiktoken(data, "cl100k")
    specials = read_specials(data, "cl100k_base")
    ours = Encoding.from_tiktoken(data / "vocabs/cl100k_base.tiktoken", pattern="cl100k", special_tokens=specials)
    rng = random.Random(5)
    text = fixed(corpora["en"][:1_000_000])
    names = sorted(specials)
    pieces = regex.split("(?<=\\.)", text)
    text = "".join(piece + (rng.choice(names) if rng.random() < 0.1 else "") for piece in pieces)
    for allowed in ({"<|fim_prefix|>"}, {"<|fim_prefix|>", "<|endoftext|>"}, set(names)):
        expected = theirs.encode(text, allowed_special=allowed, disallowed_special=())
        assert ours.encode(text, allowed_special=allowed, disallowed_special=()) == expected
        batch = [text[: 400_000 + 1000 * part] for part in range(3)]
        assert ours.encode_batch(batch, allowed_special=allowed, disallowed_special=()) == theirs.encode_batch(
            batch, allowed_special=allowed, disallowed_special=()
        )


def test_a_rank_file_with_a_special_token_on_a_rank(tmp_path: Any) -> None:
    import base64

    path = tmp_path / "odd.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256)))
    encoding = Encoding.from_tiktoken(path, pattern=r"\s+|\S+", special_tokens={"<x>": 7, "<y>": 256, "<z>": 256})
    assert encoding.encode("<x><y><z>", allowed_special="all") == [7, 256, 256]
    assert encoding.decode([7, 256]) == "\x07<y>"
    assert encoding.encode_single_token("<z>") == 256
    assert (encoding.name, encoding.n_vocab) == ("odd", 257)
    path.write_bytes(b"YQ== 1 2\n")
    with pytest.raises(ValueError, match=r"odd\.tiktoken: line 1"):
        Encoding.from_tiktoken(path, pattern="gpt2")
    with pytest.raises(FileNotFoundError):
        Encoding.from_tiktoken(tmp_path / "none", pattern="gpt2")


def test_disallowed_special_may_be_an_iterator() -> None:
    ranks = {bytes([i]): i for i in range(256)}
    encoding = Encoding("bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={"<|x|>": 256})
    batch: Any = encoding.encode_batch
    calls: list[Any] = [encoding.encode, encoding.encode_to_numpy, lambda text, **sets: batch([text], **sets)]
    for call in calls:
        with pytest.raises(ValueError, match="disallowed special token"):
            call("<|x|>", disallowed_special=iter(["<|x|>"]))
