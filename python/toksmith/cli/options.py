"""Options that several commands have, and the tokenizer behind `-t`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args

import typer

from .._internal import arguments
from .._internal.choices import Errors, InputFormat, Unmatched
from ..corpus import Corpus
from ..files import text_files
from ..formats import sources
from ..tokenizer import Tokenizer

Progress = Literal["bar", "json", "none"]
Specials = list[str] | dict[str, int]


class UsageError(Exception):
    """The command line is wrong: an option is missing, has a wrong value, or does not go with another one."""

    exit_code = 2


FILES = "Files, globs and folders; - is standard input"
"""The beginning of the help of arguments and options that take files."""
DOCUMENTS = """\
FILES are what train reads: text, JSON, CSV, Parquet, Arrow, tar, WARC, also
compressed. Each file of text, and each record, is a document."""
"""The beginning of the text below the options of commands that read documents."""
PATTERN = (
    "A name (gpt2, cl100k, o200k, llama3, qwen2, qwen3.5, tekken, kimi, nanochat), a regular expression, or none"
)


class Group:
    """Options of a command that a function of the library has as well, by the names of its arguments.

    The command gets them as one argument, which `make` makes of those that are not None. Each option is its type, its
    help and, if need be, its metavar and its names; its default is that of the function.
    """

    def __init__(
        self, function: Callable[..., object], make: Callable[..., object] = dict, **options: tuple[Any, ...]
    ) -> None:
        self.make = make
        self.parameters: list[inspect.Parameter] = []
        arguments = inspect.signature(function).parameters
        for name, (kind, text, *spelling) in options.items():
            metavar, *names = spelling or [None]
            default = None if NoneType in get_args(kind) else arguments[name].default
            annotation: Any = Annotated[kind, typer.Option(*names, metavar=metavar, help=text)]
            self.parameters.append(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            )

    def take(self, values: dict[str, Any]) -> object:
        """Return the argument of the command, made of its options, which are taken out of `values`."""
        taken = {parameter.name: values.pop(parameter.name) for parameter in self.parameters}
        return self.make(**{name: value for name, value in taken.items() if value is not None})


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, in which each parameter that is a group of options is replaced by these."""
    parameters, groups = [], dict[str, Group]()
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        marks = getattr(parameter.annotation, "__metadata__", ())
        if marks and isinstance(marks[0], Group):
            groups[parameter.name] = marks[0]
            parameters += marks[0].parameters
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def run(**values: object) -> None:
        taken = {name: group.take(values) for name, group in groups.items()}
        command(**values, **taken)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


_ERRORS = "Refuse bytes that are not UTF-8, or replace them with U+FFFD."
ErrorsOption = Annotated[Errors, typer.Option(help=_ERRORS)]
ProgressOption = Annotated[
    Progress | None,
    typer.Option(
        metavar="[bar|json|none]",
        help="Show progress on standard error, as a bar or as lines of JSON. --progress is short for --progress bar, "
        "and --no-progress for --progress none, which also omits the line about the output. Default: bar on a "
        "terminal.",
    ),
]
OutOption = Annotated[
    str, typer.Option("-o", "--output", metavar="OUT", help="The file to write; - is standard output.")
]
InArgument = Annotated[
    str | None, typer.Argument(metavar="FILE", help="The file to read; - is standard input, and the default.")
]
TextOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The text itself, in place of a file.", show_default=False)
]
NoSpecialOption = Annotated[bool, typer.Option("--no-special", help="Read special tokens as ordinary text.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON object.")]
WorkersOption = Annotated[int | None, typer.Option(metavar="N", help="The number of threads. Default: all cores.")]


Reading = Annotated[
    dict[str, Any],
    Group(
        Corpus,
        field=(
            str | None,
            "The field or column of records that holds the text; a.b is the field b of a. Standard input is then "
            "read as JSON lines. Default: text.",
            "NAME",
        ),
        column=(str | None, "The column of Parquet and Arrow files that holds the text. Default: --field.", "NAME"),
        input_format=(InputFormat | None, "The format of the files. Default: detected from their content."),
        document_separator=(
            str | None,
            "The string that separates documents in a text file. It is not encoded. Default: each text file is one "
            "document.",
            "TEXT",
        ),
        max_record_bytes=(
            str | None,
            "The longest line of JSON, row or text in an archive that is read: bytes, or a size such as 2GB. "
            "Default: 1GB.",
            "SIZE",
        ),
        errors=(Errors, _ERRORS),
    ),
]
"""How documents are read: the options of `Corpus`."""

# The tokenizer
_TOKENIZER = "A published encoding or a model (o200k_base, gpt-4o), or a path"
TOKENIZER = f"{_TOKENIZER}, as for encode -t."
"""The help of options that take a tokenizer as `TokenizerOption` does, under another name."""
TokenizerArgument = Annotated[str, typer.Argument(metavar="TOKENIZER", help=TOKENIZER)]
TokenizerOption = Annotated[
    str,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="TOKENIZER",
        help=f"{_TOKENIZER}: a file of toksmith train, a tokenizer.json, a rank file, a tekken.json, a .model of "
        "SentencePiece, a GGUF file, or a folder with one of them or with vocab.json and merges.txt.",
    ),
]
TokenizersOption = Annotated[
    list[str],
    typer.Option("-t", "--tokenizer", metavar="TOKENIZER", help=f"{TOKENIZER} Repeat the option for each one."),
]
_DOWNLOAD = "Download a model (org/name, or org/name@revision) that is not in the cache of the Hugging Face Hub."
DownloadOption = Annotated[bool | None, typer.Option("--download", help=_DOWNLOAD)]


@dataclasses.dataclass(frozen=True)
class Parts:
    """What a rank file, or vocab.json with merges.txt, does not hold; and how a tokenizer may be had."""

    pattern: str | None = None
    special_tokens: list[str] | None = None
    special_file: str | None = None
    unmatched: Unmatched | None = None
    download: bool | None = None

    @functools.cached_property
    def specials(self) -> Specials | None:
        """The special tokens; None if there is no option for them."""
        return special_tokens_of(self.special_tokens, self.special_file)


NO_PARTS = Parts()
TokenizerParts = Annotated[
    Parts,
    Group(
        Parts,
        Parts,
        pattern=(
            str | None,
            "The pattern for a rank file, or for vocab.json and merges.txt; these files do not hold it. "
            f"{PATTERN}. With a rank file, a regular expression is read as by tiktoken. For a GGUF file without one, "
            "llama.cpp's name, such as default.",
            "PATTERN",
        ),
        special_tokens=(
            list[str] | None,
            "A special token for a rank file (NAME=ID), or for vocab.json and merges.txt (NAME, if it is in "
            "vocab.json). Repeat the option for each one.",
            "NAME[=ID]",
            "--special-token",
        ),
        special_file=(
            str | None,
            "A JSON file of special tokens, in place of --special-token: an object of names and ids, or a list of "
            "names.",
            "FILE",
            "--special-tokens",
        ),
        unmatched=(
            Unmatched | None,
            "Keep or drop text that the pattern does not match. Default: drop for a rank file, as tiktoken does, and "
            "keep otherwise.",
        ),
        download=(bool | None, _DOWNLOAD, None, "--download"),
    ),
]


def pattern_of(text: str) -> str | None:
    """Return the pattern behind `--pattern`."""
    return None if text == "none" else text


def load(source: str, parts: Parts = NO_PARTS) -> Tokenizer:
    """Return the tokenizer behind `-t`, `--base` or an argument, with the options beside it."""
    pattern, specials, unmatched = parts.pattern, parts.specials, parts.unmatched
    kind = sources.kind_of(source, parts.download)
    if kind == "tiktoken" and pattern is None:
        raise UsageError(sources.no_pattern(source, "--pattern"))
    # A GGUF file may lack its pattern.
    has_options = (pattern if kind != "gguf" else None, specials, unmatched) != (None, None, None)
    if has_options and not sources.takes_options(source, parts.download):
        raise has_its_own(source)
    return Tokenizer.from_pretrained(
        source,
        pattern=... if pattern is None else pattern_of(pattern),
        special_tokens=specials,
        unmatched=unmatched,
    )


def has_its_own(source: str) -> UsageError:
    """Return the error of options beside a tokenizer that does not take them."""
    return UsageError(
        f"{source} has its own pattern and special tokens: leave out --pattern, --special-token, --special-tokens "
        "and --unmatched"
    )


def load_all(sources_: list[str], parts: Parts) -> list[tuple[str, Tokenizer]]:
    """Return the tokenizers behind a `-t` that is given several times, each with its name as it was given.

    The options go to those tokenizers whose files hold no pattern. If there is none, options are an error.
    """
    _ = parts.specials  # an error in their file comes before any tokenizer is loaded
    take = [source for source in sources_ if Path(source).exists() and sources.takes_options(source)] or sources_
    others = Parts(download=parts.download)
    return [(source, load(source, parts if source in take else others)) for source in sources_]


def special_tokens_of(names: list[str] | None, file: str | None) -> Specials | None:
    """Return the special tokens of `--special-token` or of the file of `--special-tokens`; None for none given."""
    if names and file is not None:
        raise UsageError("--special-token and --special-tokens are mutually exclusive")
    if file is not None:
        return _in_file(file)
    return _with_ids(names) if names else None


def _with_ids(names: list[str]) -> Specials:
    """Return names, or name → id if ids are given, as in `<|end|>=50256`."""
    split = [name.rpartition("=") for name in names]
    with_id = [bool(name) and id.isascii() and id.isdigit() for name, _, id in split]
    if not any(with_id):
        return names
    if not all(with_id):
        raise UsageError("give all special tokens an id, as NAME=ID, or none of them")
    ids = {name: int(id) for name, _, id in split}
    if len(ids) < len(names):
        raise UsageError("a special token is given twice")
    return ids


def _in_file(file: str) -> Specials:
    text, kind = text_files.read_text(file), "file of special tokens"
    content: Specials
    if text.lstrip().startswith("["):
        content = text_files.parse(text, file, kind)
        is_wrong = not all(isinstance(name, str) for name in content)
    else:
        content = text_files.parse_object(text, file, kind)
        is_wrong = not all(type(id) is int for id in content.values())
    if is_wrong:
        raise ValueError(f"{file}: not a {kind}: expected an object of names and ids, or a list of names")
    with text_files.naming(file):
        arguments.special_list(content)
    return content
