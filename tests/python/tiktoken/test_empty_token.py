"""Rank files as they are in the wild beside tiktoken: Whisper's ends in an empty token, others begin with a BOM."""

import base64
import pickle
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from tiktoken.load import load_tiktoken_bpe as load_theirs

import toksmith
from toksmith import Encoding, Tokenizer
from toksmith.compat.tiktoken.load import dump_tiktoken_bpe, load_tiktoken_bpe

TOKENS = [bytes([byte]) for byte in range(256)] + [b"th", b"the", b" the"]
LINES = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(TOKENS))
EMPTY = len(TOKENS)
WHISPER = LINES + b"= %d\n" % EMPTY
PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
SPECIALS = {"<|endoftext|>": EMPTY + 1, "<|startoftranscript|>": EMPTY + 2}
TEXT = "the other thesis, then 12  spaces\n"

FILES = {
    "empty": WHISPER,
    "empty of two": LINES + b"== %d\n" % EMPTY,
    "empty, first": b"= %d\n" % EMPTY + LINES,
    "mark": b"\xef\xbb\xbf" + LINES,
    "mark and empty": b"\xef\xbb\xbf= %d\n" % EMPTY + LINES,
    "mark, CRLF": b"\xef\xbb\xbf" + WHISPER.replace(b"\n", b"\r\n"),
    "blank lines": b"\n" + WHISPER.replace(b"\n", b"\n\n"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "multilingual.tiktoken"
    path.write_bytes(WHISPER)
    return path


@pytest.fixture
def pair() -> tuple[Encoding, tiktoken.Encoding]:
    arguments: dict[str, Any] = {
        "pat_str": PATTERN,
        "mergeable_ranks": {**{token: rank for rank, token in enumerate(TOKENS)}, b"": EMPTY},
        "special_tokens": SPECIALS,
        "explicit_n_vocab": EMPTY + 3,
    }
    return Encoding("multilingual", **arguments), tiktoken.Encoding("multilingual", **arguments)


@pytest.mark.parametrize("name", FILES)
def test_files_are_read_as_tiktoken_reads_them(name: str, tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(FILES[name])
    ranks = load_theirs(str(path))
    assert load_tiktoken_bpe(str(path)) == ranks
    theirs = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens=SPECIALS)
    ours = Encoding.from_tiktoken(path, pattern=PATTERN, special_tokens=SPECIALS)
    tokenizer = Tokenizer.from_tiktoken(path, pattern="gpt2", special_tokens=SPECIALS)
    assert ours._mergeable_ranks == ranks
    assert ours.encode(TEXT) == theirs.encode(TEXT) == tokenizer.encode(TEXT)
    assert ours.n_vocab == theirs.n_vocab
    if b"" in ranks:
        assert ours.decode([EMPTY]) == theirs.decode([EMPTY]) == tokenizer.decode([EMPTY]) == ""


# tiktoken drops what is not base64 from a token, and reads another one. That is refused here, by its line.
@pytest.mark.parametrize("line", [b"Y*Q== 0", b"-_-_ 0", b" 5", b"YWI=YWI= 5", b"=YQ== 0", b"YQ== 0\nYQ== 1", b"x"])
def test_damaged_lines_are_refused(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(LINES + line + b"\n")
    for call in (
        lambda: load_tiktoken_bpe(str(path)) and Encoding.from_tiktoken(path, pattern="gpt2"),
        lambda: Encoding.from_tiktoken(path, pattern="gpt2"),
        lambda: Tokenizer.from_tiktoken(path, pattern="gpt2"),
    ):
        with pytest.raises(ValueError, match=r"line \d+|two ids"):
            call()


CALLS = [
    lambda e: e.encode(TEXT),
    lambda e: e.encode("", allowed_special="all"),
    lambda e: e.encode("<|endoftext|>the", allowed_special="all"),
    lambda e: e.encode_ordinary(TEXT),
    lambda e: e.encode_batch([TEXT, ""]),
    lambda e: e.encode_single_token(b""),
    lambda e: e.encode_single_token(""),
    lambda e: e.decode([EMPTY]),
    lambda e: e.decode([256, EMPTY, 257, EMPTY, EMPTY]),
    lambda e: e.decode_bytes([EMPTY, EMPTY, 255]),
    lambda e: e.decode_tokens_bytes([EMPTY, 97]),
    lambda e: e.decode_single_token_bytes(EMPTY),
    lambda e: e.decode_batch([[EMPTY], [97, EMPTY]]),
    lambda e: e.decode_bytes_batch([[EMPTY], [97, EMPTY]]),
    lambda e: e.token_byte_values(),
    lambda e: (e.n_vocab, e.max_token_value, e.eot_token, e.is_special_token(EMPTY)),
    lambda e: e._encode_single_piece(b""),
    lambda e: e._encode_single_piece(b"thethe"),
    lambda e: e._encode_only_native_bpe(TEXT),
    lambda e: e._encode_bytes(b"the\xff"),
    lambda e: sorted(e.encode_with_unstable("the th")[1]),
    lambda e: e.encode_with_unstable("the ")[0],
    lambda e: sorted(e._mergeable_ranks.items()),
]


@pytest.mark.parametrize("call", CALLS)
def test_every_method_with_an_empty_token(call: Any, pair: tuple[Encoding, tiktoken.Encoding]) -> None:
    ours, theirs = pair
    assert call(ours) == call(theirs)
    assert call(pickle.loads(pickle.dumps(ours))) == call(theirs)


def test_offsets_of_an_empty_token(pair: tuple[Encoding, tiktoken.Encoding]) -> None:
    # tiktoken looks at the first byte of every token.
    ours, theirs = pair
    with pytest.raises(IndexError):
        theirs.decode_with_offsets([97, EMPTY, 98])
    assert ours.decode_with_offsets([97, EMPTY, 98]) == ("ab", [0, 1, 1])


def test_a_tokenizer_with_an_empty_token(path: Path, tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_tiktoken(path, pattern="gpt2", special_tokens=SPECIALS)
    assert tokenizer.vocab[EMPTY] == b"" and tokenizer.token_bytes(EMPTY) == b"" and tokenizer.token_id(b"") == EMPTY
    assert tokenizer.decode([256, EMPTY, 257]) == "ththe"
    assert tokenizer.decode_batch([[EMPTY], [EMPTY, 97]]) == ["", "a"]
    stream = toksmith.DecodeStream(tokenizer)
    assert [stream.push(id) for id in (256, EMPTY, 97)] == ["th", "", "a"]
    ids, _ = tokenizer.encode_with_offsets(TEXT)
    assert EMPTY not in ids and ids == tokenizer.encode(TEXT)
    tokenizer.save(tmp_path / "saved.json")
    for again in (Tokenizer.load(tmp_path / "saved.json"), pickle.loads(pickle.dumps(tokenizer))):
        assert again == tokenizer and again.encode(TEXT) == ids and again.decode([EMPTY]) == ""


def test_writing_the_empty_token(path: Path, tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_tiktoken(path, pattern="gpt2", special_tokens=SPECIALS)
    saved, dumped = tmp_path / "saved.tiktoken", tmp_path / "dumped.tiktoken"
    tokenizer.save(saved, format="tiktoken")
    dump_tiktoken_bpe(load_tiktoken_bpe(str(path)), dumped)
    assert saved.read_bytes() == dumped.read_bytes() == WHISPER
    assert load_theirs(str(saved)) == load_theirs(str(path))


def test_under_a_merges_list() -> None:
    vocab = {**dict(enumerate(TOKENS[:256])), 256: b"", 257: b"th"}
    tokenizer = Tokenizer(vocab, [(b"t", b"h")], pattern="gpt2")
    assert tokenizer.encode("the") == [257, 101] and tokenizer.decode([257, 256, 101]) == "the"
    for pair in [(b"", b"t"), (b"t", b""), (b"", b"")]:
        with pytest.raises(ValueError, match=r"merge number 0 .*needs the token b\"\""):
            Tokenizer(vocab, [pair])


def test_other_formats(path: Path, tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_tiktoken(path, pattern="gpt2", special_tokens=SPECIALS)
    tokenizer.save_huggingface(tmp_path)
    again = Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    assert again.encode(TEXT) == tokenizer.encode(TEXT) and again.decode([EMPTY, 97]) == "a"
    theirs = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.encode(TEXT).ids == tokenizer.encode(TEXT) and theirs.decode([EMPTY, 97]) == "a"
    tokenizer.save(tmp_path / "gpt2", format="gpt2")
