"""Ids to text: the exact inverse of encoding, and what is said of ids that are none."""

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toksmith import Tokenizer, train

BYTES = {byte: bytes([byte]) for byte in range(256)}
EOT = "<|endoftext|>"
MERGED = train(iter(["the théâtre, 中文 the thé 👍🏽 中文中 <|a|>\n\n  "] * 2), 288, special_tokens=[EOT])
SEVERAL = [
    MERGED,
    Tokenizer(MERGED.vocab, None, ["é", "中", "\n"], pattern="o200k"),
    Tokenizer(MERGED.vocab, MERGED.merges, ["<|a|>"], pattern=None),
    Tokenizer(MERGED.vocab, MERGED.merges, pattern=r"\w+(?<=e)"),
]

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.text("the é中👍\n <|a>\u0301", max_size=60)


@pytest.mark.parametrize("tokenizer", SEVERAL, ids=["gpt2", "o200k", "none", "custom"])
@given(text=ANY_TEXT)
def test_decoding_gives_the_text_back(tokenizer: Tokenizer, text: str) -> None:
    for special in (True, False):
        ids = tokenizer.encode(text, special=special)
        assert tokenizer.decode(ids) == text
        assert tokenizer.decode(ids, errors="strict") == text
        assert tokenizer.decode_bytes(ids) == text.encode()
        assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()


@given(text=ANY_TEXT)
def test_published_vocabularies_give_the_text_back(
    gpt2: Tokenizer, cl100k: Tokenizer, o200k: Tokenizer, text: str
) -> None:
    for tokenizer in (gpt2, cl100k, o200k):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_whole_corpora(gpt2: Tokenizer, corpora: dict[str, str]) -> None:
    for text in corpora.values():
        ids = gpt2.encode_to_numpy(text)
        assert gpt2.decode(ids) == text
        assert gpt2.decode(ids[:100_000].tolist()) == gpt2.decode_bytes(ids[:100_000]).decode(errors="replace")


@given(data=st.binary())
def test_bytes_are_given_back(data: bytes) -> None:
    for tokenizer in SEVERAL:
        assert tokenizer.decode_bytes(tokenizer.encode(data)) == data
        assert tokenizer.decode(tokenizer.encode(data)) == data.decode(errors="replace")


@pytest.mark.parametrize("errors", ["replace", "ignore", "backslashreplace", "surrogateescape"])
@given(ids=st.lists(st.sampled_from(sorted(MERGED.vocab))))
def test_errors_follow_python(errors: str, ids: list[int]) -> None:
    data = b"".join(MERGED.vocab[id] for id in ids)
    assert MERGED.decode_bytes(ids) == data
    assert MERGED.decode(ids, errors) == MERGED.decode(ids, errors=errors) == data.decode(errors=errors)


def test_strict_errors_and_unknown_modes() -> None:
    with pytest.raises(UnicodeDecodeError, match="0xff in position 1"):
        Tokenizer().decode([97, 0xFF], errors="strict")
    with pytest.raises(LookupError):
        Tokenizer().decode([97, 0xFF], errors="no such mode")
    assert Tokenizer().decode([97, 0xFF]) == "a\ufffd"


# Ids in every form

FORMS: dict[str, Callable[[list[int]], Any]] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "generator": lambda ids: (id for id in ids),
    "range": lambda ids: ids if ids != [97, 98, 99] else range(97, 100),
    "array": lambda ids: array.array("I", ids),
    "array of long": lambda ids: array.array("q", ids),
    "object array": lambda ids: np.array(ids, object),
    "list of numpy": lambda ids: [np.uint16(id) for id in ids],
    "strided": lambda ids: np.repeat(np.array(ids, np.uint32), 3)[::3],
    "backwards": lambda ids: np.array(ids[::-1], np.int64)[::-1],
    "read-only": lambda ids: np.frombuffer(np.array(ids, np.uint32).tobytes(), np.uint32),
    **{
        dtype: (lambda ids, dtype=dtype: np.array(ids, dtype))
        for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")
    },
    **{
        dtype: (lambda ids, dtype=dtype: np.array(ids, dtype))
        for dtype in (">u2", ">i4", ">u4", ">i8", "<u4", "<i8", "=u2")
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_ids_in_every_form(form: str) -> None:
    tokenizer = Tokenizer()
    for ids in ([97, 98, 99], [], [5], [0, 127]):
        expected = bytes(ids)
        assert tokenizer.decode_bytes(FORMS[form](ids)) == expected
        assert tokenizer.decode(FORMS[form](ids)) == expected.decode()
        assert tokenizer.decode_batch([FORMS[form](ids), [97]]) == [expected.decode(), "a"]


def test_high_ids_in_every_width() -> None:
    tokenizer = Tokenizer(BYTES | {300: b"ab", 70_000: b"cd", 2**32 - 1: b"ef"}, [])
    assert tokenizer.decode([300, 70_000, 2**32 - 1]) == "abcdef"
    for dtype in ("u4", "u8", "i8", ">u4", ">i8"):
        assert tokenizer.decode(np.array([300, 70_000, 2**32 - 1], dtype)) == "abcdef"
    assert tokenizer.decode(np.array([300], np.uint16)) == "ab"
    assert tokenizer.decode(np.array([300, 70_000], np.int32)) == "abcd"


def test_more_ids_than_are_looked_at_in_one_go() -> None:
    ids = [97] * 70_000 + [256] + [98] * 3
    with pytest.raises(KeyError, match=r"id 256 \(at index 70000\)"):
        Tokenizer().decode(ids)
    with pytest.raises(KeyError, match=r"id 256 \(at index 70000\)"):
        Tokenizer().decode(np.array(ids))
    assert Tokenizer().decode(ids[:70_000]) == "a" * 70_000


def test_lists_are_read_in_place_only_where_that_is_the_same() -> None:
    class Id(int):
        def __index__(self) -> int:
            return 98

    class Backwards(list[int]):
        def __iter__(self) -> Any:
            return reversed(self[:])

    tokenizer = Tokenizer()
    assert tokenizer.decode([97, True, Id(97), np.int8(99)]) == tokenizer.decode((97, True, Id(97), np.int8(99)))
    assert tokenizer.decode([97, True, np.int8(99)]) == "a\x01c"
    assert tokenizer.decode(Backwards([97, 98])) == "ba"
    wide = Tokenizer(BYTES | {2**30 - 1: b"AA", 2**30: b"BB", 2**32 - 1: b"CC"}, [])
    assert wide.decode([0, 2**30 - 1, 2**30, 2**32 - 1, 255 - 158]) == "\0AABBCCa"


def test_a_list_that_changes_while_it_is_read() -> None:
    class Changes:
        def __init__(self, change: Callable[[], None]) -> None:
            self.change = change

        def __index__(self) -> int:
            self.change()
            return 120

    for count in (0, 1, 5, 2000):
        ids: list[Any] = [97] * count
        ids[count:] = [Changes(ids.clear), *[98] * count]
        assert Tokenizer().decode(ids) == "a" * count + "x"
        ids = [97] * count
        ids[count:] = [Changes(lambda ids=ids, count=count: ids.extend([99] * count)), 98]
        assert Tokenizer().decode(ids) == "a" * count + "xb" + "c" * count


def test_the_first_error_in_the_list_is_raised() -> None:
    for count in (0, 3, 1023, 1024, 5000):
        with pytest.raises(KeyError, match=rf"id 256 \(at index {count}\)"):
            Tokenizer().decode([97] * count + [256, "a"])
        with pytest.raises(TypeError, match=rf"not str \(at index {count}\)"):
            Tokenizer().decode([97] * count + ["a", 256])
        with pytest.raises(KeyError, match=rf"id -1 \(at index {count}\)"):
            Tokenizer().decode(np.array([97] * count + [-1, 256]))


LENGTHS = Tokenizer(
    BYTES | {300 + n: bytes([97 + n % 26]) * n + b"xy" for n in range(1, 40)} | {400: "é".encode(), 401: b"\xf0\x9f"},
    [],
)


@given(ids=st.lists(st.sampled_from(sorted(LENGTHS.vocab)), max_size=200), times=st.sampled_from([1, 1, 40]))
def test_tokens_of_every_length(ids: list[int], times: int) -> None:
    ids *= times
    data = b"".join(LENGTHS.vocab[id] for id in ids)
    for form in (ids, tuple(ids), np.array(ids, np.uint32), np.array(ids, np.int64)):
        assert LENGTHS.decode_bytes(form) == data
        assert LENGTHS.decode(form) == data.decode(errors="replace")


@given(text=st.text(st.sampled_from("aé߿ࠀ￿中\U00010000\U0010ffff\x7f\x80ÿĀ"), max_size=70), ascii=st.integers(0, 40))
def test_text_of_every_width(text: str, ascii: int) -> None:
    for whole in (text, "a" * ascii + text, text + "a" * ascii, (text + "b" * ascii) * 30):
        if not any("\ud800" <= c <= "\udfff" for c in whole):
            decoded = Tokenizer().decode(list(whole.encode()))
            assert decoded == whole
            assert hash(decoded) == hash(whole)


# Ids that are none


@pytest.mark.parametrize(
    "wrong", [-1, 256, 257, 2**31, 2**32 - 1, 2**32, 2**32 + 97, 2**63, 2**64, 2**64 + 97, -(2**63), 10**30]
)
def test_unknown_ids(wrong: int) -> None:
    tokenizer = Tokenizer()
    message = rf"there is no token of id {wrong} \(at index 2\)"
    for ids in ([97, 98, wrong, 99], (97, 98, wrong), iter([97, 98, wrong])):
        for method in (tokenizer.decode, tokenizer.decode_bytes, lambda ids: tokenizer.decode_batch([[97], ids])):
            ids = list(ids) if not isinstance(ids, (list, tuple)) else ids
            with pytest.raises(KeyError, match=message):
                method(ids)
    with pytest.raises(KeyError, match=f"there is no token of id {wrong}'"):
        tokenizer.token_bytes(wrong)


@pytest.mark.parametrize(
    ("dtype", "wrong"), [("i1", -1), ("i2", -5), ("i4", -(2**31)), ("i8", -1), ("u2", 256), ("u4", 2**32 - 1)]
)
@pytest.mark.parametrize("order", ["<", ">"])
def test_unknown_ids_in_arrays(dtype: str, wrong: int, order: str) -> None:
    with pytest.raises(KeyError, match=rf"there is no token of id {wrong} \(at index 1\)"):
        Tokenizer().decode(np.array([97, wrong], order + dtype))


@pytest.mark.parametrize("wrong", [2**32 + 97, 2**63 - 1])
def test_wide_ids_in_arrays_are_not_cut_short(wrong: int) -> None:
    for dtype in ("i8", "u8", ">i8", ">u8"):
        with pytest.raises(KeyError, match=f"id {wrong} "):
            Tokenizer().decode(np.array([wrong], dtype))
    with pytest.raises(KeyError, match=f"id {2**64 - 1} "):
        Tokenizer().decode(np.array([2**64 - 1], np.uint64))


@pytest.mark.parametrize(
    "wrong",
    [None, 1.0, "a", b"a", "97", [97], (97,), {}, object(), np.float64(97), np.array([97])],
    ids=lambda wrong: type(wrong).__name__,
)
def test_what_is_no_id(wrong: Any) -> None:
    tokenizer = Tokenizer()
    name = type(wrong).__name__
    with pytest.raises(TypeError, match=rf"a token id is an int, not {name} \(at index 1\)"):
        tokenizer.decode([97, wrong])
    with pytest.raises(TypeError, match=f"a token id is an int, not {name}$"):
        tokenizer.token_bytes(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        97,
        1.5,
        "text",
        np.array(97),
        np.array([97.0]),
        np.array([97.0], np.float32),
        np.array([True]),
        np.array([[97, 98], [99, 100]]),
        np.array([[97], [98]], np.uint32),
        np.array([[97, 98]], np.uint8),
        np.array([[97]], ">i8"),
        np.array(["a"]),
    ],
    ids=repr,
)
def test_what_is_no_list_of_ids(wrong: Any) -> None:
    for method in (Tokenizer().decode, Tokenizer().decode_bytes, lambda ids: Tokenizer().decode_batch([ids])):
        with pytest.raises(TypeError):
            method(wrong)


def test_an_error_while_ids_are_read_is_not_hidden() -> None:
    class Broken:
        def __index__(self) -> int:
            raise OSError("no id today")

    with pytest.raises(OSError, match="no id today"):
        Tokenizer().decode([Broken()])
    with pytest.raises(ZeroDivisionError):
        Tokenizer().decode(97 // n for n in (1, 0))


@pytest.mark.usefixtures("shared_data")
def test_unused_ids_of_cl100k(cl100k: Tokenizer) -> None:
    unused = sorted(set(range(cl100k.max_id + 1)) - set(cl100k.vocab))
    assert len(unused) == 16
    assert (cl100k.vocab_size, cl100k.max_id) == (100261, 100276)
    for id in unused:
        with pytest.raises(KeyError, match=rf"there is no token of id {id} \(at index 2\)"):
            cl100k.decode([15339, 1917, id])
        with pytest.raises(KeyError, match=str(id)):
            cl100k.token_bytes(id)
    assert cl100k.decode([100257, 100276]) == "<|endoftext|><|endofprompt|>"


def test_ids_that_are_far_apart() -> None:
    # So sparse that no table holds them.
    vocab = {byte * 16_000_000: bytes([byte]) for byte in range(256)}
    tokenizer = Tokenizer(vocab, [])
    assert tokenizer.encode("ab") == [97 * 16_000_000, 98 * 16_000_000]
    assert tokenizer.decode(tokenizer.encode("añb")) == "añb"
    with pytest.raises(KeyError, match=r"id 16000001 \(at index 0\)"):
        tokenizer.decode([16_000_001])


def test_batches() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.decode_batch([]) == []
    assert tokenizer.decode_batch([[97, 98], [], np.array([99])]) == ["ab", "", "c"]
    assert tokenizer.decode_batch(iter([[0xFF]]), errors="ignore") == [""]
    texts = ["a", "", "é中👍", EOT]
    ids, starts = MERGED.encode_batch_to_numpy(texts)
    assert MERGED.decode_batch(np.split(ids, starts[1:-1])) == texts
    for form in (ids, ids.tolist(), ids.astype(np.int64)):
        assert MERGED.decode_batch(form, starts=starts) == texts
        assert MERGED.decode_batch(form, starts=starts.tolist()) == texts
        assert MERGED.decode_batch(form, starts=starts[1:3]) == texts[1:2]
    assert MERGED.decode_batch([], starts=[0]) == MERGED.decode_batch([], starts=[]) == []
    with pytest.raises(KeyError, match=r"id 256 \(at index 1\)"):
        tokenizer.decode_batch([97, 98, 256], starts=[0, 1, 3])
    for bad in ([0, 2, 1], [-1, 2], [0, 4], [5]):
        with pytest.raises(ValueError, match="starts must rise within 0 to 3"):
            tokenizer.decode_batch([97, 98, 99], starts=bad)
    with pytest.raises(UnicodeDecodeError):
        tokenizer.decode_batch([[97], [0xFF]], errors="strict")
    for wrong in (None, 5, [97, 98], [[97], None]):
        with pytest.raises(TypeError):
            tokenizer.decode_batch(wrong)


def test_ids_and_tokens() -> None:
    for tokenizer in SEVERAL:
        specials = set(tokenizer.special_tokens.values())
        for id, token in tokenizer.vocab.items():
            assert tokenizer.token_bytes(id) == tokenizer.token_bytes(np.int64(id)) == token
            if id not in specials:
                assert tokenizer.token_id(token) == id
    assert MERGED.token_id(EOT) == MERGED.token_id(EOT.encode()) == MERGED.special_tokens[EOT]
    for missing in (b"no such token", "no such token", b"", ""):
        with pytest.raises(KeyError, match="there is no token"):
            MERGED.token_id(missing)
