"""`toksmith verify`."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import patterns
from ..compat.tiktoken import registry
from ..formats import first_difference, sources, stress
from ..formats.first_difference import Side
from ..formats.published import encodings, rank_cache
from ..formats.ranks import read as read_ranks
from ..lab.spans import visible
from ..tokenizer import Tokenizer
from . import options, streams
from .options import UsageError

EXAMPLES = """\
Examples:

  toksmith verify cl100k_base --against tiktoken
  toksmith verify o200k_base --against tiktoken book.txt code.py
  toksmith verify my.tiktoken --pattern cl100k --against tiktoken
  toksmith verify hf/tokenizer.json --against huggingface book.txt
  toksmith verify trained.json --against huggingface --with hf/tokenizer.json

The tokenizer is the one that encode uses. Without FILES, some thousand texts
are compared that are hard to cut: runs, code, many scripts, every character.
The exit status is 0 if all ids are the same, and 1 if not. The first difference
is shown with its context."""


def verify(
    source: Annotated[str, typer.Argument(metavar="NAME_OR_FILE", help=options.TOKENIZER)],
    against: Annotated[
        Literal["tiktoken", "huggingface"], typer.Option(help="The library to compare with. It must be installed.")
    ],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILES", help="Text files to encode; - is standard input.")
    ] = None,
    text: options.TextOption = None,
    other: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="FILE", help="The file that the other library reads.", show_default="NAME_OR_FILE"
        ),
    ] = None,
    pattern: options.GivenPatternOption = None,
    special_tokens: options.GivenSpecialsOption = None,
    special_file: options.SpecialsFileOption = None,
    unmatched: options.GivenUnmatchedOption = None,
) -> None:
    """Encode texts with toksmith and with another library, and show the first difference."""
    if against == "tiktoken" and other is not None:
        raise UsageError("--with is for huggingface: tiktoken is given the same ranks and the same pattern")
    streams.check_inputs(files or [], text, argument="FILES")
    ours = options.load(source, pattern, options.special_tokens_of(special_tokens, special_file), unmatched)
    if against == "tiktoken":
        theirs, specials = _tiktoken(source, ours, pattern)
    else:
        theirs, specials = _huggingface(other or source)
    report = first_difference.compare(_side("toksmith", ours), theirs, _texts(files, text, specials))
    if report.difference is not None:
        print(report.difference)
        raise typer.Exit(1)
    counts = f"texts: {report.texts:,}, bytes: {report.bytes:,}, ids: {report.ids:,}"
    print(f"{visible(source)}: the same ids as {theirs.name} ({counts})")


def _side(name: str, tokenizer: Any) -> Side:
    """Return one side; special tokens in a text are special."""
    if isinstance(tokenizer, Tokenizer):
        return Side(name, tokenizer.encode, tokenizer.decode_bytes)
    return Side(name, lambda text: tokenizer.encode(text, allowed_special="all"), tokenizer.decode_bytes)


def _tiktoken(source: str, ours: Tokenizer, pattern: str | None) -> tuple[Side, Iterable[str]]:
    tiktoken = _imported("tiktoken")
    encoding = None if os.path.exists(source) else sources.encoding_of(source)  # noqa: PTH110
    if encoding is not None:
        theirs = _published(tiktoken, encoding)
    elif not os.path.exists(source):  # noqa: PTH110
        theirs = _of_plugin(tiktoken, source)
    else:
        theirs = _of_ranks(tiktoken, source, ours, pattern)
    return _side(f"tiktoken {importlib.metadata.version('tiktoken')}", theirs), ours.special_tokens


def _of_plugin(tiktoken: Any, name: str) -> Any:
    """Return tiktoken's encoding of the arguments that a plug-in gives."""
    ours = registry.get_encoding(name)
    return tiktoken.Encoding(
        name, pat_str=ours._pat_str, mergeable_ranks=ours._mergeable_ranks, special_tokens=ours._special_tokens
    )


def _published(tiktoken: Any, name: str) -> Any:
    """Return tiktoken's own encoding, by its own definition; the rank file is put where it looks for it."""
    # tiktoken reads its gpt2 from two other files; the ranks are those of r50k_base.
    name = "r50k_base" if name == "gpt2" else name
    file = encodings.ENCODINGS[name].file
    data = encodings.rank_file(file)  # before TIKTOKEN_CACHE_DIR names another folder
    with tempfile.TemporaryDirectory() as folder, _environment("TIKTOKEN_CACHE_DIR", folder):
        key = rank_cache.cache_key(encodings.FILES[file].url)
        (Path(folder) / key).write_bytes(data)
        return tiktoken.get_encoding(name)


def _of_ranks(tiktoken: Any, source: str, ours: Tokenizer, pattern: str | None) -> Any:
    """Return what tiktoken makes of a tokenizer, if ranks can hold it: of a rank file with the pattern as given."""
    if ours._parts.pattern.text is None:
        raise ValueError(f"{source} has no pattern, and tiktoken needs one")
    if sources.kind_of(source) == "ranks" and pattern is not None:
        vocab, text = read_ranks(source), patterns.expression(options.pattern_of(pattern) or "")
    else:
        with tempfile.TemporaryDirectory() as folder:
            ranks = Path(folder) / "ranks.tiktoken"
            ours.save(ranks, format="tiktoken")
            vocab, text = read_ranks(ranks), ours._parts.pattern.text
    return tiktoken.Encoding(
        source,
        pat_str=text,
        mergeable_ranks={token: id for id, token in vocab.items()},
        special_tokens=dict(ours.special_tokens),
    )


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _huggingface(source: str) -> tuple[Side, Iterable[str]]:
    tokenizers = _imported("tokenizers")
    path = Path(source) / "tokenizer.json" if Path(source).is_dir() else Path(source)
    if not sources.is_huggingface(source):
        raise UsageError(f"{source} is not a tokenizer.json: give the file that tokenizers reads as --with FILE")
    try:
        theirs = tokenizers.Tokenizer.from_buffer(path.read_bytes())  # it opens no file whose name is not UTF-8
    except Exception as error:  # it has no classes of its own
        raise ValueError(f"{path}: tokenizers cannot read it: {error}") from None
    special = [token.content for token in theirs.get_added_tokens_decoder().values()]
    encode = lambda text: theirs.encode(text, add_special_tokens=False).ids  # noqa: E731

    def decode_bytes(ids: list[int]) -> bytes:
        text: str = theirs.decode(ids, skip_special_tokens=False)
        return text.encode()

    return Side(f"tokenizers {importlib.metadata.version('tokenizers')}", encode, decode_bytes), special


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ValueError(f"{name} is not installed: pip install {name}, and run this again") from None


def _texts(files: list[str] | None, text: str | None, specials: Iterable[str]) -> Iterator[tuple[str, Iterable[str]]]:
    if text is not None:
        yield "--text", [text]
    elif not files:
        for number, text in enumerate(stress.texts(specials), 1):
            yield f"stress text {number}", [text]
    for file in files or ():
        yield streams.input_name(file), first_difference.pieces_of(streams.text(file, "replace"))
