"""tiktoken's module `load`: rank files as dictionaries, which plug-ins and programs give to `Encoding`."""

import base64
import os
from collections.abc import Mapping

from ..._core import tokens_of_ranks, unspell
from ...files import reading, text_files, whole_files
from ...formats.published import encodings, rank_cache


def read_file(blobpath: str) -> bytes:
    """Return the content of a file, or of a web address."""
    return rank_cache.download(blobpath, None) if "://" in blobpath else reading.read(blobpath)


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Return whether `expected_hash` is the SHA-256 of `data`, in hex."""
    return rank_cache.digest(data) == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None) -> bytes:
    """Return the content of a file; the content of a web address is taken from a cache folder that has it."""
    if "://" in blobpath:
        return rank_cache.obtain(blobpath, expected_hash)
    data = reading.read(blobpath)
    if expected_hash is not None and not check_hash(data, expected_hash):
        raise ValueError(
            f"Hash mismatch for {blobpath}: the SHA-256 is {rank_cache.digest(data)}, not {expected_hash}"
        )
    return data


def load_tiktoken_bpe(tiktoken_bpe_file: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Return the ranks in a rank file."""
    data = read_file_cached(tiktoken_bpe_file, expected_hash)
    with text_files.naming(f"Error parsing line in {tiktoken_bpe_file}"):
        return {token: rank for rank, token in tokens_of_ranks(data).items()}


def data_gym_to_mergeable_bpe_ranks(
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,
) -> dict[bytes, int]:
    """Return the ranks in GPT-2's two files: bytes in its order, then the merges; the second file must agree."""
    merges = text_files.text_of(read_file_cached(vocab_bpe_file, vocab_bpe_hash), vocab_bpe_file)
    ranks = {token: rank for rank, token in enumerate(encodings.tokens_of_merges(merges))}
    data = read_file_cached(encoder_json_file, encoder_json_hash)
    encoder = text_files.parse_object(data, encoder_json_file, "vocabulary")
    specials = ("<|endoftext|>", "<|startoftext|>")
    expected = {unspell(token) or b"": rank for token, rank in encoder.items() if token not in specials}
    if clobber_one_byte_tokens:
        ranks.update({token: rank for token, rank in expected.items() if len(token) == 1})
    if ranks != expected:
        raise ValueError(f"{vocab_bpe_file} and {encoder_json_file} do not have the same tokens")
    return ranks


def dump_tiktoken_bpe(bpe_ranks: Mapping[bytes, int], tiktoken_bpe_file: str | os.PathLike[str]) -> None:
    """Write a rank file, by ascending rank."""
    ordered = sorted(bpe_ranks.items(), key=lambda item: item[1])
    lines = ((base64.b64encode(token) or b"=") + b" %d\n" % rank for token, rank in ordered)
    whole_files.write(tiktoken_bpe_file, lines)
