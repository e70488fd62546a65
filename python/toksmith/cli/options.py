"""Options that several commands have, and the tokenizer behind `-t`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

import typer

from .._internal import arguments
from .._internal.choices import Errors, InputFormat, Unmatched
from ..files import text_files
from ..files.inputs import MAX_RECORD_BYTES
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

_PATTERN = (
    "A name (gpt2, cl100k, o200k, llama3, qwen2, qwen3.5, tekken, kimi, nanochat), a regular expression, or none"
)

TrainingPatternOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN",
        help=f"The pattern that cuts text into pretokens: {_PATTERN[0].lower()}{_PATTERN[1:]}. Default: gpt2.",
    ),
]
TrainingUnmatchedOption = Annotated[
    Unmatched | None, typer.Option(help="Keep or drop text that the pattern does not match. Default: keep.")
]
ErrorsOption = Annotated[Errors, typer.Option(help="Refuse bytes that are not UTF-8, or replace them with U+FFFD.")]
SpecialsOption = Annotated[
    list[str] | None,
    typer.Option("--special-token", metavar="NAME", help="A special token. Repeat the option for each one."),
]
TrainingSpecialsFileOption = Annotated[
    str | None,
    typer.Option(
        "--special-tokens", metavar="FILE", help="A JSON file with a list of them, in place of --special-token."
    ),
]
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


@dataclasses.dataclass(frozen=True)
class Reading:
    """How documents are read."""

    field: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The field or column of records that holds the text; a.b is the field b of a. Standard input is "
            "then read as JSON lines. Default: text.",
        ),
    ] = None
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The column of Parquet and Arrow files that holds the text. Default: --field."
        ),
    ] = None
    input_format: Annotated[
        InputFormat | None,
        typer.Option(help="The format of the files. Default: detected from the content of each file."),
    ] = None
    document_separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The string that separates documents in a text file. It is not encoded. Default: each text file is "
            "one document.",
        ),
    ] = None
    max_record_bytes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="The longest line of JSON, row or text in an archive that is read: bytes, or a size such as 2GB. "
            "Default: 1GB.",
        ),
    ] = None

    @property
    def corpus(self) -> dict[str, Any]:
        """The same as options of `Corpus`."""
        return vars(self) | {"max_record_bytes": self.max_record_bytes or MAX_RECORD_BYTES}


DEFAULT_READING = Reading()

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
DownloadOption = Annotated[
    bool | None,
    typer.Option(
        "--download",
        help="Download a model (org/name, or org/name@revision) that is not in the cache of the Hugging Face Hub.",
    ),
]


@dataclasses.dataclass(frozen=True)
class TokenizerParts:
    """What a rank file, or vocab.json with merges.txt, does not hold; and how a tokenizer may be had."""

    OPTION: ClassVar[str] = "--special-token"

    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help=f"The pattern for a rank file, or for vocab.json and merges.txt; these files do not hold it. "
            f"{_PATTERN}. With a rank file, a regular expression is read as by tiktoken. For a GGUF file without "
            "one, llama.cpp's name, such as default.",
        ),
    ] = None
    special_tokens: Annotated[
        list[str] | None,
        typer.Option(
            "--special-token",
            metavar="NAME[=ID]",
            help="A special token for a rank file (NAME=ID), or for vocab.json and merges.txt (NAME, if it is in "
            "vocab.json). Repeat the option for each one.",
        ),
    ] = None
    special_file: Annotated[
        str | None,
        typer.Option(
            "--special-tokens",
            metavar="FILE",
            help="A JSON file of special tokens, in place of --special-token: an object of names and ids, or a list "
            "of names.",
        ),
    ] = None
    unmatched: Annotated[
        Unmatched | None,
        typer.Option(
            help="Keep or drop text that the pattern does not match. Default: drop for a rank file, as tiktoken "
            "does, and keep otherwise.",
        ),
    ] = None
    download: DownloadOption = None

    @functools.cached_property
    def specials(self) -> Specials | None:
        """The special tokens; None if there is no option for them."""
        return special_tokens_of(self.special_tokens, self.special_file, self.OPTION)


NO_PARTS = TokenizerParts()


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer: a parameter whose type is a class of options is replaced by the fields of that."""
    parameters, groups = [], dict[str, Any]()
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if dataclasses.is_dataclass(kind := parameter.annotation):
            groups[parameter.name] = kind
            hints = get_type_hints(kind, include_extras=True)
            fields = (field.name for field in dataclasses.fields(kind))
            parameters += [parameter.replace(name=name, annotation=hints[name], default=None) for name in fields]
        else:
            parameters.append(parameter)

    is_text = {each.name: _is_text(each.annotation) for each in parameters}

    @functools.wraps(command)
    def run(**values: object) -> None:
        values = {name: _in_utf8(value) if is_text[name] else value for name, value in values.items()}
        for name, kind in groups.items():
            values[name] = kind(*(values.pop(field.name) for field in dataclasses.fields(kind)))
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _is_text(annotation: Any) -> bool:
    """Return whether an option or argument takes text, and no path."""
    metavars = (getattr(each, "metavar", None) for each in getattr(annotation, "__metadata__", ()))
    return any(metavar in ("TEXT", "NAME", "NAME[=ID]", "PATTERN", "TOKEN") for metavar in metavars)


def _in_utf8(value: Any) -> Any:
    """Return a text, or a list of them, that Python has decoded as the locale says, decoded as UTF-8.

    Python has a surrogate for each byte that is none of the locale's. What is not UTF-8 either stays as it is.
    """
    if isinstance(value, list):
        return [_in_utf8(each) for each in value]
    if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
        with contextlib.suppress(UnicodeError):
            return os.fsencode(value).decode()
    return value


def pattern_of(text: str) -> str | None:
    """Return the pattern behind `--pattern`."""
    return None if text == "none" else text


def load(source: str, parts: TokenizerParts = NO_PARTS) -> Tokenizer:
    """Return the tokenizer behind `-t`, `--base` or an argument, with the options beside it."""
    pattern, specials, unmatched = parts.pattern, parts.specials, parts.unmatched
    published = _of_plugin(source)
    kind = "published" if published else sources.kind_of(source, parts.download)
    if kind == "tiktoken" and pattern is None:
        raise UsageError(sources.no_pattern(source, "--pattern"))
    # A GGUF file may lack its pattern.
    has_options = (pattern if kind != "gguf" else None, specials, unmatched) != (None, None, None)
    if has_options and not sources.takes_options(source, parts.download):
        raise has_its_own(source)
    return published or Tokenizer.from_pretrained(
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


def load_all(sources_: list[str], parts: TokenizerParts) -> list[tuple[str, Tokenizer]]:
    """Return the tokenizers behind a `-t` that is given several times, each with its name as it was given.

    The options go to those tokenizers whose files hold no pattern. If there is none, options are an error.
    """
    _ = parts.specials  # an error in their file comes before any tokenizer is loaded
    take = [source for source in sources_ if _takes_options(source)] or sources_
    others = TokenizerParts(download=parts.download)
    return [(source, load(source, parts if source in take else others)) for source in sources_]


def _takes_options(source: str) -> bool:
    return Path(source).exists() and sources.takes_options(source)


def _of_plugin(source: str) -> Tokenizer | None:
    """Return the tokenizer of an encoding that a plug-in of tiktoken has, and no one else."""
    if Path(source).exists() or sources.encoding_of(source) is not None:
        return None
    from ..compat.tiktoken import registry  # slow to import, and rarely needed

    return registry.get_encoding(source).tokenizer if source in registry.list_encoding_names() else None


def special_tokens_of(names: list[str] | None, file: str | None, option: str = "--special-token") -> Specials | None:
    """Return the special tokens of `--special-token` or of the file of `--special-tokens`; None for none given."""
    if names and file is not None:
        raise UsageError(f"{option} and {option}s are mutually exclusive")
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
