"""GPT-2's two files: `vocab.json` (token → id) and `merges.txt` (one merge a line); tokens in its `spelling`."""

from __future__ import annotations

import functools
import itertools
import json
import os
import warnings
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from .. import _core, patterns
from .._internal import arguments, choices
from .._internal.messages import shown
from ..files import text_files, whole_files
from . import verification
from .parts import Parts
from .spelling import BYTE_ORDER, spell, unspell


def tokens_of_merges(text: str) -> list[bytes]:
    """Return the tokens of a merges file in the order of GPT-2's ids: its 256 bytes, then the token of each line."""
    tokens = [bytes([byte]) for byte in BYTE_ORDER]
    for number, line in enumerate(text.split("\n")[1:-1], 2):
        parts = [unspell(part) for part in line.split()]
        if len(parts) != 2 or None in parts:
            raise ValueError(f"line {number} is not a merge of two tokens: {shown(line)}")
        tokens.append(b"".join(part for part in parts if part))
    return tokens


def load(
    vocab_path: str | os.PathLike[str],
    merges_path: str | os.PathLike[str],
    special_tokens: Iterable[str] | Mapping[str, int] | None,
    pattern: object,
    unmatched: choices.Unmatched,
) -> Parts:
    """Load GPT-2's two files, and check that every merge is of known tokens. See `Tokenizer.from_files`."""
    specials, merges = arguments.special_list(special_tokens), read_merges(merges_path)
    merged = {token for left, right in merges for token in (left, right, left + right)}
    vocab = read_vocab(vocab_path, [name for name, _ in specials], merged)
    unknown = merged.difference(vocab.values())
    for (left, right), line in merges.items() if unknown else ():
        for token in (left, right, left + right):
            if token in unknown:
                raise ValueError(
                    f"{os.fspath(merges_path)}, line {line}: the merge ({shown(left)}, {shown(right)}) needs the "
                    f"token {shown(token)}, which is not in {os.fspath(vocab_path)}"
                )
    with text_files.naming(f"{os.fspath(vocab_path)}, {os.fspath(merges_path)}"):
        resolved = patterns.resolve(pattern, unmatched)
        core = _core.Tokenizer(vocab, list(merges), specials, resolved.core())
    return Parts(core, resolved)


def read_vocab(
    path: str | os.PathLike[str], special_tokens: Iterable[str] = (), merged: Container[bytes] = ()
) -> dict[int, bytes]:
    """Return the vocabulary of a `vocab.json`.

    Some writers leave special tokens unspelled: a key that is one of `special_tokens` is taken literally if its
    spelling is no key as well, and if it does not spell one of `merged`, the tokens of merges.
    """
    name = os.fspath(path)
    content = text_files.read_object(path, "vocabulary")
    specials = {special for special in special_tokens if len(special) > 1 and special in content}
    unspelled = {
        special for special in specials if spell(special.encode()) not in content and unspell(special) not in merged
    }
    vocab: dict[int, bytes] = {}
    for key, id in content.items():
        if type(id) is not int or not 0 <= id < 2**32:
            raise ValueError(f"{name}: the id of token {shown(key)} is {shown(id)}, not a whole number below 2^32")
        token = key.encode() if key in unspelled else unspell(key)
        if token is None:
            raise ValueError(
                f"{name}: token {shown(key)} holds a character that stands for no byte in GPT-2's table; "
                "if it is a special token, list it in special_tokens"
            )
        if id in vocab:
            raise ValueError(f"{name}: id {id} is given to both {shown(vocab[id])} and {shown(token)}")
        vocab[id] = token
    return vocab


def read_merges(path: str | os.PathLike[str]) -> dict[tuple[bytes, bytes], int]:
    """Return the merges of a `merges.txt` in order, each with its line.

    A first line that begins `#version` is no merge; `# #` is one.
    """
    name = os.fspath(path)
    merges: dict[tuple[bytes, bytes], int] = {}
    for number, line in enumerate(text_files.lines(text_files.read_text(path)), 1):
        if line == "" or (number == 1 and line.startswith("#version")):
            continue
        parts = [unspell(part) if part else None for part in line.split(" ")]
        if len(parts) != 2 or parts[0] is None or parts[1] is None:
            raise ValueError(f"{name}, line {number}: expected two tokens with one space between, got {shown(line)}")
        first = merges.setdefault((parts[0], parts[1]), number)
        if first != number:
            raise ValueError(f"{name}, line {number}: the merge {shown(line)} repeats line {first}")
    return merges


def save(parts: Parts, folder: str | os.PathLike[str], verify: bool = True) -> None:
    """Write `vocab.json`, by ascending id, every token spelled, and `merges.txt`; the folder is made if need be."""
    if parts.pipeline is not None:
        parts.pipeline.check_fits("vocab.json and merges.txt")
    ids: dict[bytes, int] = {}
    for id, token in parts.vocab.items():
        if token in ids:
            raise ValueError(f"vocab.json cannot hold two ids, {ids[token]} and {id}, for {shown(token)}")
        ids[token] = id
    verification.check_merges_list(parts, "merges.txt")
    if parts.pattern.name != "gpt2":
        pattern = shown(parts.pattern.name or parts.pattern.text, 400)
        warnings.warn(f"vocab.json and merges.txt hold no pattern: load them with pattern={pattern}", stacklevel=3)
    vocab = {spell(parts.vocab[id]): id for id in sorted(parts.vocab)}
    merges = (f"{spell(left)} {spell(right)}\n".encode() for left, right in parts.merges)
    whole_files.write_all(
        [
            (Path(folder, "vocab.json"), [json.dumps(vocab, ensure_ascii=False).encode()]),
            (Path(folder, "merges.txt"), itertools.chain([b"#version: 0.2\n"], merges)),
        ],
        functools.partial(_verify, parts) if verify else None,
        make_folder=True,
    )


def _verify(parts: Parts, paths: list[Path]) -> None:
    """Verify the two files: by toksmith, and by `tokenizers` where that is installed."""
    kind = "vocab.json and merges.txt"
    specials = list(parts.special_tokens)
    loaded = verification.reread(kind, lambda: load(paths[0], paths[1], specials, parts.pattern, "keep"))
    verification.compare_texts(kind, parts, loaded.core)
    models = verification.module("tokenizers.models")
    if models is None:
        return
    model = verification.reread(kind, lambda: models.BPE.from_file(*map(str, paths)))
    verification.compare_pretokens(kind, parts, lambda piece: [token.id for token in model.tokenize(spell(piece))])
