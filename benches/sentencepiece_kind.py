"""Times tokenizers that merge characters, as Llama 2's and Gemma's do, beside gigatoken and `tokenizers`.

usage: python benches/sentencepiece_kind.py TEXT [TEXT ...] [--tokenizer tokenizer.json] [--size 32000] [--rounds 5]

TEXT is a file of UTF-8, also one that gzip has compressed. Without `--tokenizer` a vocabulary is trained on all texts
by the package `sentencepiece`, and laid out as `transformers` converts it: as Llama 2's file, and as Gemma's.

All run on one thread. Ids are compared first; a peer with other ids is marked. *Cold* is the first pass of a
tokenizer that was just loaded, *warm* the best of the others. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import importlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers

import toksmith

META = "\u2581"
Encode = Callable[[str], Any]
TOKENIZERS_BYTES = 300_000
"""Bytes that `tokenizers` is timed on: it encodes a few megabytes a second."""


def read(path: Path, megabytes: float) -> str:
    """Return the start of a file, whole characters."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read(int(megabytes * 1e6)).decode("utf-8", "ignore")


def trained(texts: list[str], size: int) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return vocabulary and merges of a SentencePiece model: merges are all pairs that make a piece, by its score."""
    spm = importlib.import_module("sentencepiece")
    held = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=(line for text in texts for line in text.splitlines() if line),
        model_writer=held,
        vocab_size=size,
        model_type="bpe",
        byte_fallback=True,
        split_digits=True,
        allow_whitespace_only_pieces=True,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        character_coverage=0.9995,
        minloglevel=2,
    )
    model = spm.SentencePieceProcessor(model_proto=held.getvalue())
    vocab = {model.id_to_piece(id): id for id in range(model.get_piece_size())}
    merges = []
    for piece, id in vocab.items():
        cuts = [(piece[:at], piece[at:]) for at in range(1, len(piece))]
        pairs = [(left, right) for left, right in cuts if left in vocab and right in vocab]
        pairs.sort(key=lambda pair: (vocab[pair[0]], vocab[pair[1]]))
        merges += [(model.get_score(id), *pair) for pair in pairs]
    merges.sort(key=lambda merge: -merge[0])
    return vocab, [(left, right) for _, left, right in merges]


def files(texts: list[str], size: int, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write a file of Llama 2's kind and one of Gemma's, and yield both with their names."""
    vocab, merges = trained(texts, size)
    decoding = [decoders.Replace(META, " "), decoders.ByteFallback(), decoders.Fuse()]
    for name in ("llama", "gemma"):
        made = tokenizers.Tokenizer(
            models.BPE(vocab=vocab, merges=merges, byte_fallback=True, fuse_unk=True, unk_token="<unk>")
        )
        replace = normalizers.Replace(" ", META)
        if name == "llama":
            made.normalizer = normalizers.Sequence([normalizers.Prepend(META), replace])
            made.decoder = decoders.Sequence([*decoding, decoders.Strip(" ", 1, 0)])
        else:
            made.normalizer = replace
            made.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
            made.decoder = decoders.Sequence(decoding)
        made.add_special_tokens([AddedToken(text, normalized=False) for text in ("<unk>", "<s>", "</s>")])
        path = folder / f"{name}.json"
        made.save(str(path))
        yield name, path


def toksmith_of(path: Path) -> Encode:
    """Load the file with toksmith."""
    made = toksmith.Tokenizer.from_huggingface(path)
    return lambda text: made.encode_to_numpy(text, workers=1)


def gigatoken_of(path: Path) -> Encode:
    """Load the file with gigatoken."""
    made = importlib.import_module("gigatoken").Tokenizer(str(path))
    return lambda text: made.encode(text)


def tokenizers_of(path: Path) -> Encode:
    """Load the file with `tokenizers`."""
    made = tokenizers.Tokenizer.from_file(str(path))
    return lambda text: made.encode(text, add_special_tokens=False).ids


PEERS = {"toksmith": toksmith_of, "gigatoken": gigatoken_of, "tokenizers": tokenizers_of}


def start_of(text: str, size: int) -> str:
    """Return the first bytes of a text, whole characters."""
    return text.encode()[:size].decode("utf-8", "ignore")


def seconds(encode: Encode, text: str) -> float:
    """Return how long one call takes."""
    gc.collect()
    start = time.perf_counter()
    encode(text)
    return time.perf_counter() - start


def measure(name: str, path: Path, source: Path, text: str, rounds: int) -> None:
    """Print a row for each peer: MB/s cold and warm."""
    truth = list(tokenizers_of(path)(start_of(text, TOKENIZERS_BYTES)))
    times: dict[str, list[float]] = {}
    for peer, load in PEERS.items():
        try:
            encode = load(path)
        except ImportError:
            continue
        part = start_of(text, TOKENIZERS_BYTES) if peer == "tokenizers" else text
        found = list(map(int, encode(start_of(text, TOKENIZERS_BYTES))))
        same = "" if found == truth else "  OTHER IDS"
        # Cold: a tokenizer of its own, which has seen nothing.
        times[peer] = [seconds(load(path), part), *(seconds(encode, part) for _ in range(rounds))]
        size = len(part.encode()) / 1e6
        cold, warm = size / times[peer][0], size / min(times[peer][1:])
        print(f"{name:8} {source.name:14} {peer:11} cold {cold:6.1f} MB/s  warm {warm:6.1f} MB/s{same}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--size", type=int, default=32_000)
    parser.add_argument("--megabytes", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    texts = {path: read(path, arguments.megabytes) for path in arguments.texts}
    with tempfile.TemporaryDirectory() as folder:
        if arguments.tokenizer is not None:
            chosen = [(json.loads(arguments.tokenizer.read_text())["model"]["type"], arguments.tokenizer)]
        else:
            chosen = list(files(list(texts.values()), arguments.size, Path(folder)))
        for name, path in chosen:
            for source, text in texts.items():
                measure(name, path, source, text, arguments.rounds)


if __name__ == "__main__":
    main()
