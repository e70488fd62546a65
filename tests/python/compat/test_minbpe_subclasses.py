"""Classes that people derive from minbpe's, on `toksmith.compat.minbpe`: what they set and override is what counts.

minbpe is in no package index. Its rules are spelled out by the plain functions of `pair_oracle` and of its README.
"""

from pathlib import Path
from typing import Any

import pytest
import regex
import tiktoken
from pair_oracle import chunks_of, encoded, first_of_most_frequent, trained
from tiktoken._educational import bpe_encode

from toksmith.compat.minbpe import BasicTokenizer, GPT4Tokenizer, RegexTokenizer, Tokenizer
from toksmith.compat.minbpe.base import get_stats, merge
from toksmith.compat.minbpe.gpt4 import GPT4_SPECIAL_TOKENS, GPT4_SPLIT_PATTERN, bpe, recover_merges
from toksmith.compat.tiktoken.load import load_tiktoken_bpe

TEXT = "low low lower lowest, the newest of the widest\n" * 3
OTHER = "the slowest of all: lowering\n"


class Own(Tokenizer):
    """As the exercises of minbpe have it: everything by the attributes of the base."""

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        ids = list(text.encode())
        self.merges = {}
        self.vocab = {byte: bytes([byte]) for byte in range(256)}
        for id in range(256, vocab_size):
            stats = get_stats(ids)
            pair = max(stats, key=lambda one: stats[one])
            ids = merge(ids, pair, id)
            self.merges[pair] = id
            self.vocab[id] = self.vocab[pair[0]] + self.vocab[pair[1]]

    def encode(self, text: str) -> list[int]:
        ids = list(text.encode())
        while len(ids) >= 2:
            pair = min(get_stats(ids), key=lambda one: self.merges.get(one, float("inf")))
            if pair not in self.merges:
                break
            ids = merge(ids, pair, self.merges[pair])
        return ids

    def decode(self, ids: Any) -> str:
        return b"".join(self.vocab[id] for id in ids).decode("utf-8", errors="replace")


def test_a_class_of_the_base(tmp_path: Path) -> None:
    own, ours = Own(), BasicTokenizer()
    assert (own.merges, own.pattern, own.special_tokens, len(own.vocab)) == ({}, "", {}, 256)
    own.train(TEXT, 280)
    ours.train(TEXT, 280)
    assert own.merges == ours.merges and own.vocab == ours.vocab
    assert own.encode(OTHER) == ours.encode(OTHER) == own.tokenizer.encode(OTHER)
    assert own.decode(own.encode(OTHER)) == OTHER
    own.save(tmp_path / "own")
    ours.save(tmp_path / "ours")
    for suffix in (".model", ".vocab"):
        assert (tmp_path / f"own{suffix}").read_bytes() == (tmp_path / f"ours{suffix}").read_bytes()
    again = Own()
    again.load(str(tmp_path / "own.model"))
    assert again.merges == own.merges and again.vocab == own.vocab and again.encode(OTHER) == own.encode(OTHER)
    own.special_tokens["<|x|>"] = 280
    assert own._build_vocab()[280] == b"<|x|>" and own.tokenizer.special_tokens == {"<|x|>": 280}


def test_a_vocabulary_that_is_assigned_decodes() -> None:
    for tokenizer in (BasicTokenizer(), RegexTokenizer()):
        tokenizer.train(TEXT, 270)
        ids = tokenizer.encode(TEXT)
        mine = dict(tokenizer.vocab)
        tokenizer.vocab = mine
        assert tokenizer.vocab is mine and tokenizer.decode(ids) == TEXT
        mine[108] = b"L"
        assert tokenizer.decode([108, 111]) == "Lo"
        tokenizer.train(TEXT, 270)
        assert tokenizer.decode([108, 111]) == "lo"
        with pytest.raises(TypeError):
            tokenizer.vocab = 5  # type: ignore[assignment]
    tokenizer.register_special_tokens({"<|x|>": 300})
    tokenizer.vocab = {97: b"A"}
    assert tokenizer.decode([97, 300]) == "A<|x|>"
    with pytest.raises(ValueError, match="invalid token id: 98"):
        tokenizer.decode([98])


class Reversed(RegexTokenizer):
    """Each chunk backwards: what encodes is the method of the subclass."""

    def _encode_chunk(self, text_bytes: bytes) -> list[int]:
        return super()._encode_chunk(text_bytes[::-1])


def test_a_chunk_of_a_subclass() -> None:
    tokenizer = Reversed()
    tokenizer.train(TEXT, 270)
    tokenizer.register_special_tokens({"<|x|>": 300, "<|x|>y": 301})
    merges, _ = trained(chunks_of([TEXT], GPT4_SPLIT_PATTERN), 270, first_of_most_frequent)

    def expected(text: str) -> list[int]:
        chunks = [chunk.encode()[::-1] for chunk in regex.findall(GPT4_SPLIT_PATTERN, text)]
        return encoded([list(chunk) for chunk in chunks], merges)

    assert tokenizer.encode_ordinary(OTHER) == tokenizer.encode(OTHER) == expected(OTHER)
    found = tokenizer.encode(f"<|x|>{OTHER}<|x|>y", allowed_special="all")
    assert found == [300, *expected(OTHER), 300, *expected("y")]
    assert tokenizer.encode("<|x|>low", allowed_special="none") == expected("<|x|>low")
    with pytest.raises(ValueError, match="special token"):
        tokenizer.encode("<|x|>")

    assert Reversed(r"[^\p{Lu}]+|(?<=x)(?i:s)k").encode_ordinary("ab") == [98, 97]


def test_encode_chunk() -> None:
    tokenizer = RegexTokenizer()
    tokenizer.train(TEXT, 270)
    merges, _ = trained(chunks_of([TEXT], GPT4_SPLIT_PATTERN), 270, first_of_most_frequent)
    for chunk in (b"", b"l", b" lowest", b"low low", b"\xff\xfelow"):
        assert tokenizer._encode_chunk(chunk) == encoded([list(chunk)], merges)


class ShuffledBytes(RegexTokenizer):
    """As the GPT-4 tokenizers that people derive: recovered merges, the bytes in the order of the rank file."""

    def __init__(self, ranks: dict[bytes, int]) -> None:
        super().__init__(pattern=GPT4_SPLIT_PATTERN)
        self.merges = recover_merges(ranks)
        vocab = {byte: bytes([byte]) for byte in range(256)}
        for (left, right), id in self.merges.items():
            vocab[id] = vocab[left] + vocab[right]
        self.vocab = vocab
        self.byte_shuffle = {byte: ranks[bytes([byte])] for byte in range(256)}
        self.inverse_byte_shuffle = {id: byte for byte, id in self.byte_shuffle.items()}
        self.register_special_tokens(GPT4_SPECIAL_TOKENS)

    def _encode_chunk(self, text_bytes: bytes) -> list[int]:
        return super()._encode_chunk(bytes(self.byte_shuffle[byte] for byte in text_bytes))

    def decode(self, ids: Any) -> str:
        shuffled = b"".join(self.vocab[id] for id in ids)
        return bytes(self.inverse_byte_shuffle[byte] for byte in shuffled).decode("utf-8", errors="replace")


def test_recovered_merges_make_gpt4(shared_data: Path) -> None:
    path = shared_data / "vocabs/cl100k_base.tiktoken"
    ranks = load_tiktoken_bpe(str(path))
    merges = recover_merges(ranks)
    gpt4 = GPT4Tokenizer(path)
    assert merges == gpt4.merges and list(merges.values()) == [rank for rank in ranks.values() if rank >= 256]
    for token in list(ranks)[256:100_000:997]:
        parts = bpe(ranks, token, ranks[token])
        assert len(parts) == 2 and merges[ranks[parts[0]], ranks[parts[1]]] == ranks[token]
    assert [ranks[part] for part in bpe(ranks, b"hello world", None)] == bpe_encode(ranks, b"hello world", None)
    own = ShuffledBytes(ranks)
    theirs = tiktoken.Encoding(
        "cl100k", pat_str=GPT4_SPLIT_PATTERN, mergeable_ranks=ranks, special_tokens=GPT4_SPECIAL_TOKENS
    )
    for text in (OTHER, "hello 世界! 👍 123456  x", "<|endoftext|>hello"):
        ids = theirs.encode(text, allowed_special="all")
        assert own.encode(text, allowed_special="all") == gpt4.encode(text, allowed_special="all") == ids
    assert own.decode(own.encode("hello 世界")) == "hello 世界"
    assert gpt4._encode_chunk(" wörld".encode()) == theirs._encode_single_piece(" wörld")


def test_merges_that_cannot_be_recovered() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    with pytest.raises(ValueError, match=r"b'abc' of rank 256 is not made of two tokens"):
        recover_merges({**ranks, b"abc": 256})
    with pytest.raises(ValueError, match="single byte"):
        recover_merges({b"ab": 256})
    assert recover_merges({**ranks, b"ab": 256, b"abc": 257}) == {(97, 98): 256, (256, 99): 257}


def test_phrases_that_programs_look_for() -> None:
    tokenizer = RegexTokenizer()
    with pytest.raises(ValueError, match=r"^invalid token id: "):
        tokenizer.decode([5000])
    with pytest.raises(ValueError, match=r"^allowed_special=5 not understood"):
        tokenizer.encode("a", allowed_special=5)  # type: ignore[arg-type]
