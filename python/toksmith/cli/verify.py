"""`toksmith verify`."""

import functools
import importlib
import importlib.metadata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from unittest import mock

import click

from .. import patterns
from .._core import tokens_of_ranks
from .._internal.messages import printable
from ..files import reading
from ..formats import sources, stress, verification
from ..formats.published import encodings
from ..lab import first_difference
from ..lab.first_difference import Side
from ..tokenizer import Tokenizer
from . import options, streams
from .command_line import UsageError, command, option

EXAMPLES = """\
  toksmith verify cl100k_base --against tiktoken
  toksmith verify o200k_base --against tiktoken book.txt code.py
  toksmith verify my.tiktoken --pattern cl100k --against tiktoken
  toksmith verify hf/tokenizer.json --against huggingface book.txt
  toksmith verify trained.json --against huggingface --with hf/tokenizer.json

The tokenizer is the one that encode uses. Without FILES, some thousand texts
are compared that are hard to cut: runs, code, many scripts, every character.
The exit status is 0 if all ids are the same, and 1 if not. The first difference
is shown with its context."""


@command(EXAMPLES)
@click.argument("source", metavar="NAME_OR_FILE", help=options.TOKENIZER)
@option(
    "--against",
    "The library to compare with, which must be installed; huggingface is tokenizers.",
    Literal["tiktoken", "huggingface", "tokenizers"],
    required=True,
)
@click.argument("files", nargs=-1, help="Text files to encode; - is standard input.")
@options.text
@option("--with FILE", "The file that the other library reads. Default: NAME_OR_FILE.", name="other")
@options.parts
def verify(
    source: str,
    against: str,
    parts: options.Parts,
    files: Sequence[str] = (),
    text: str | None = None,
    other: str | None = None,
) -> None:
    """Encode texts with toksmith and with another library, and show the first difference."""
    if against == "tiktoken" and other is not None:
        raise UsageError("--with is for huggingface: tiktoken is given the same ranks and the same pattern")
    streams.check_inputs(files, text)
    ours = options.load(source, parts)
    if against == "tiktoken":
        theirs, specials = _tiktoken(source, ours, parts.pattern)
    else:
        theirs, specials = _huggingface(other or source)
    report = first_difference.compare(
        Side("toksmith", ours.encode, ours.decode_bytes), theirs, _texts(files, text, specials)
    )
    if report.difference is not None:
        print(report.difference)
        raise click.exceptions.Exit(1)
    counts = f"texts: {report.texts:,}, bytes: {report.bytes:,}, ids: {report.ids:,}"
    print(f"{printable(source)}: the same ids as {theirs.name} ({counts})")


def _tiktoken(source: str, ours: Tokenizer, pattern: str | None) -> tuple[Side, Iterable[str]]:
    tiktoken = _imported("tiktoken")
    exists = Path(source).exists()
    published = None if exists else sources.encoding_of(source)
    origin = f"tiktoken {importlib.metadata.version('tiktoken')}"
    if exists and published is None and sources.kind_of(source) == "tiktoken":
        names, own = encodings.names_of(reading.read(source)), {*ours.special_tokens}
        fitting = [name for name in names if own <= encodings.ENCODINGS[name].special_tokens.keys()]
        published = (*fitting, *names, None)[0]  # the file does not say which of several encodings is meant
        origin = origin if published is None else f"{published} of {origin}"
    if published is not None:
        theirs = _published(tiktoken, published)
    else:
        vocab, text = _ranks_and_pattern(source, ours, pattern)
        ranks = {token: id for id, token in vocab.items()}
        theirs = tiktoken.Encoding(
            source, pat_str=text, mergeable_ranks=ranks, special_tokens=dict(ours.special_tokens)
        )
    # A rank file has no special tokens: those that the user did not give are ordinary text on both sides.
    encode = functools.partial(theirs.encode, allowed_special={*ours.special_tokens}, disallowed_special=())
    return Side(origin, encode, theirs.decode_bytes), ours.special_tokens


def _published(tiktoken: ModuleType, name: str) -> Any:
    """Return tiktoken's own encoding, by its own definition; it is given the rank file."""
    # tiktoken reads its gpt2 from two other files; the ranks are those of r50k_base.
    name = "r50k_base" if name == "gpt2" else name
    file = encodings.ENCODINGS[name].file
    with mock.patch("tiktoken.load.read_file_cached", return_value=encodings.rank_file(file)):
        return tiktoken.get_encoding(name)


def _ranks_and_pattern(source: str, ours: Tokenizer, pattern: str | None) -> tuple[dict[int, bytes], str]:
    """Return what tiktoken makes an encoding of: of a rank file the pattern as `--pattern` has it."""
    own_pattern = patterns.of_core(ours._core).text
    if own_pattern is None:
        raise ValueError(f"{source} has no pattern, and tiktoken needs one")
    if sources.kind_of(source) == "tiktoken" and pattern is not None:
        return tokens_of_ranks(reading.read(source)), patterns.expression(options.pattern_of(pattern) or "")
    return tokens_of_ranks(b"".join(ours._core.written("tiktoken"))), own_pattern


def _huggingface(source: str) -> tuple[Side, Iterable[str]]:
    tokenizers = _imported("tokenizers")
    path = Path(source) / "tokenizer.json" if Path(source).is_dir() else Path(source)
    if sources.kind_of(source) != "huggingface":
        raise UsageError(f"{source} is not a tokenizer.json: give the file that tokenizers reads as --with FILE")
    with verification.peer(f"{path}: tokenizers cannot read it"):
        theirs = tokenizers.Tokenizer.from_buffer(path.read_bytes())  # it opens no file whose name is not UTF-8
    special = [token.content for token in theirs.get_added_tokens_decoder().values()]

    def decode_bytes(ids: list[int]) -> bytes:
        with verification.peer("tokenizers"):
            text: str = theirs.decode(ids, skip_special_tokens=False)
            return text.encode()

    name = f"tokenizers {importlib.metadata.version('tokenizers')}"
    return Side(name, lambda text: theirs.encode(text, add_special_tokens=False).ids, decode_bytes), special


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ValueError(f"{name} is not installed: pip install {name}, and run this again") from None


def _texts(files: Sequence[str], text: str | None, specials: Iterable[str]) -> Iterator[tuple[str, Iterable[str]]]:
    if text is not None:
        yield "--text", [text]
    elif not files:
        for number, text in enumerate(stress.texts(specials), 1):
            yield f"stress text {number}", [text]
    for file in files:
        source = streams.Input(file, None)
        yield source.name, first_difference.pieces_of(source.text("replace"))
