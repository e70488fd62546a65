"""Saving tokenizers in the formats of other libraries, each file verified before it takes its name."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from pathlib import Path

from .. import _core, patterns
from .._internal.choices import FileFormat
from .._internal.messages import shown
from ..files import reading, whole_files
from . import verification

_Verifier = Callable[[_core.Tokenizer, Path], None]


def save(core: _core.Tokenizer, path: str | os.PathLike[str], format: FileFormat, verify: bool = True) -> None:
    """Write a tokenizer in a format. See `Tokenizer.save`."""
    if format == "gpt2":
        _save_pair(core, path, verify)
        return
    check = functools.partial(_verified, core, _VERIFIERS[format]) if verify else None
    whole_files.write(path, core.written(format), check)
    template = core.pipeline and core.pipeline.template
    if format == "sentencepiece" and template and template.added():
        warnings.warn(f"{path} holds no template: add the tokens around a text as its library does", stacklevel=3)


def _verified(core: _core.Tokenizer, verifier: _Verifier, paths: list[Path]) -> None:
    verifier(core, paths[0])


def _save_pair(core: _core.Tokenizer, folder: str | os.PathLike[str], verify: bool) -> None:
    """Write GPT-2's two files, `vocab.json` and `merges.txt`; the folder is made if need be."""
    names = ("vocab.json", "merges.txt")
    contents = zip(names, core.written("gpt2"), strict=True)
    text, _, name, *_ = core.pattern()
    if name != "gpt2":
        pattern = shown(name or text, 400)
        warnings.warn(f"{' and '.join(names)} hold no pattern: load them with pattern={pattern}", stacklevel=4)
    whole_files.write_all(
        [(Path(folder, name), [content]) for name, content in contents],
        functools.partial(_verify_pair, core) if verify else None,
        make_folder=True,
    )


def _verify_pair(core: _core.Tokenizer, paths: list[Path]) -> None:
    """Verify the two files: by toksmith, and by `tokenizers` where that is installed."""
    kind = "vocab.json and merges.txt"
    specials: list[tuple[str, int | None]] = [(name, None) for name in core.special_tokens()]
    pattern = patterns.of_core(core).core()
    loaded = verification.reread(
        kind, lambda: _core.Tokenizer.load((paths[0], paths[1]), special_tokens=specials, pattern=pattern)
    )
    verification.compare_texts(kind, core, loaded)
    models = verification.module("tokenizers.models")
    if models is None:
        return
    model = verification.reread(kind, lambda: models.BPE.from_file(*map(str, paths)))
    spell = _core.spell
    verification.compare_pretokens(kind, core, lambda piece: [token.id for token in model.tokenize(spell(piece))])


def _reread(core: _core.Tokenizer, path: Path, format: str, kind: str = "the file") -> _core.Tokenizer:
    """Return the tokenizer of a file, whose ids are compared."""
    loaded = verification.reread(kind, lambda: _core.Tokenizer.load(path, format=format))
    verification.compare_texts(kind, core, loaded)
    return loaded


def _verify_own(core: _core.Tokenizer, path: Path) -> None:
    if _reread(core, path, "toksmith").fingerprint != core.fingerprint:
        raise ValueError("the file, read back, differs from this tokenizer: nothing was written")


def _verify_ranks(core: _core.Tokenizer, path: Path) -> None:
    kind, module = "the rank file", verification.module("tiktoken")
    # Its own loader would keep a copy of the file in its cache.
    tokens = verification.reread(kind, lambda: _core.tokens_of_ranks(reading.read(path)))
    if module is None:
        whole = _core.Pretokenizer(None)
        own = verification.reread(kind, lambda: _core.Tokenizer(tokens, None, [], whole))
        verification.compare_pretokens(kind, core, lambda piece: own.encode_bytes(piece, True))
        return
    ranks = {token: rank for rank, token in tokens.items()}
    other = verification.reread(
        kind, lambda: module.Encoding("export", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    )
    verification.compare_pretokens(kind, core, other._core_bpe.encode_single_piece)


def _verify_tekken(core: _core.Tokenizer, path: Path) -> None:
    kind = "tekken.json"
    _reread(core, path, "tekken", kind)
    module = verification.module("mistral_common.tokens.tokenizers.tekken")
    if module is not None:
        other = verification.reread(kind, lambda: module.Tekkenizer.from_file(path))
        theirs = functools.partial(other.encode, bos=False, eos=False)
        texts = verification.stress_texts(core)
        verification.compare(kind, texts, lambda text: core.encode(text, False), theirs)


def _verify_model(core: _core.Tokenizer, path: Path, format: str) -> None:
    if _reread(core, path, format).special_tokens() != core.special_tokens():
        raise ValueError("the file, read back, has other special tokens: nothing was written")
    module = verification.module("sentencepiece") if format == "sentencepiece" else None
    if module is not None:
        model = path.read_bytes()
        other = verification.reread("the file", lambda: module.SentencePieceProcessor(model_proto=model))
        texts = verification.stress_texts(core)
        verification.compare("the file", texts, lambda text: core.encode(text, False), other.encode)


_VERIFIERS: dict[str, _Verifier] = {
    "toksmith": _verify_own,
    "tiktoken": _verify_ranks,
    "tekken": _verify_tekken,
    "sentencepiece": functools.partial(_verify_model, format="sentencepiece"),
    "gguf": functools.partial(_verify_model, format="gguf"),
}
