"""Options that several commands have, and the tokenizer behind `-t`."""

import dataclasses
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from .._internal import arguments, choices
from ..files import text_files
from ..formats import sources
from ..tokenizer import Tokenizer
from .command_line import Function, Progress, UsageError, option

Specials = list[str] | dict[str, int]

FILES = "Files, globs and folders; - is standard input"
"""The beginning of the help of arguments and options that take files."""
DOCUMENTS = """\
FILES are what train reads: text, JSON, CSV, Parquet, Arrow, tar, WARC, also
compressed. Each file of text, and each record, is a document."""
"""The beginning of the text below the options of commands that read documents."""
PATTERN = (
    "A name (gpt2, cl100k, o200k, llama3, qwen2, qwen3.5, tekken, kimi, nanochat), a regular expression, or none"
)
_TOKENIZER = "A published encoding or a model (o200k_base, gpt-4o), or a path"
TOKENIZER = f"{_TOKENIZER}, as for encode -t."
"""The help of options that take a tokenizer as `tokenizer` does, under another name."""


def together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Return a decorator that gives a command several options."""

    def decorate(function: Function) -> Function:
        return functools.reduce(lambda decorated, option: option(decorated), reversed(options), function)

    return decorate


file = click.argument("file", required=False, help="The file to read; - is standard input, and the default.")
text = option("--text TEXT", "The text itself, in place of a file.")
out = option("-o, --output OUT", "The file to write; - is standard output.", name="out", default="-")
special = option(
    "--no-special", "Read special tokens as ordinary text.", name="special", flag_value=False, default=True
)
errors = option(
    "--errors", "Refuse bytes that are not UTF-8, or replace them with U+FFFD. Default: strict.", choices.Errors
)
as_json = option("--json", "Write one JSON object.", name="as_json")
workers = option("--workers N", "The number of threads. Default: all cores.")
progress = option(
    "--progress",
    "Show progress on standard error, as a bar or as lines of JSON. --progress is short for --progress bar, and "
    "--no-progress for --progress none, which also omits the line about the output. Default: bar on a terminal.",
    Progress,
)


def _gathered(name: str, options: Iterable[str], make: Callable[..., object]) -> Callable[..., Any]:
    """Return a decorator for a command that gets one argument, made of some of the options that are given."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(**values: Any) -> None:
            gathered = make(**{option: values.pop(option) for option in options if option in values})
            function(**values, **{name: gathered})

        return run

    return decorate


_READING = ("field", "column", "field_separator", "input_format", "document_separator", "max_record_bytes", "errors")
# How documents are read: the options of `Corpus`, which the command gets as `reading`.
reading = together(
    option(
        "--field NAME",
        "The field or column of records that holds the text; a.b is the field b of a. Standard input is then "
        "read as JSON lines. Repeat it to join several. Default: text.",
        multiple=True,
    ),
    option(
        "--column NAME",
        "The column of Parquet and Arrow files that holds the text. Repeat it to join several. Default: --field.",
        multiple=True,
    ),
    option("--field-separator TEXT", "What joins the texts of several fields. Default: an empty line."),
    option("--input-format", "The format of the files. Default: detected from their content.", choices.InputFormat),
    option(
        "--document-separator TEXT",
        "The string that separates documents in a text file. It is not encoded. Default: each text file is one "
        "document.",
    ),
    option(
        "--max-record-bytes SIZE",
        "The longest line of JSON, row or text in an archive that is read: bytes, or a size such as 2GB. "
        "Default: 1GB.",
    ),
    errors,
    _gathered("reading", _READING, dict),
)

# The tokenizer
tokenizer = option(
    "-t, --tokenizer TOKENIZER",
    f"{_TOKENIZER}: a file of toksmith train, a tokenizer.json, a rank file, a tekken.json, a .model of "
    "SentencePiece, a GGUF file, or a folder with one of them or with vocab.json and merges.txt.",
    required=True,
)
tokenizers = option(
    "-t, --tokenizer TOKENIZER",
    f"{TOKENIZER} Repeat the option for each one.",
    name="tokenizers",
    required=True,
    multiple=True,
)
download = option(
    "--download",
    "Download a model (org/name, or org/name@revision) that is not in the cache of the Hugging Face Hub.",
    flag_value=True,
    default=None,
)


@dataclasses.dataclass(frozen=True)
class Parts:
    """What a rank file, or vocab.json with merges.txt, does not hold; and how a tokenizer may be had."""

    pattern: str | None = None
    special_tokens: list[str] | None = None
    special_file: str | None = None
    unmatched: choices.Unmatched | None = None
    download: bool | None = None

    @functools.cached_property
    def specials(self) -> Specials | None:
        """The special tokens; None if there is no option for them."""
        return special_tokens_of(self.special_tokens, self.special_file)


# The options of `Parts`, which the command gets as `parts`.
parts = together(
    option(
        "--pattern PATTERN",
        "The pattern for a rank file, or for vocab.json and merges.txt; these files do not hold it. "
        f"{PATTERN}. With a rank file, a regular expression is read as by tiktoken. For a GGUF file without one, "
        "llama.cpp's name, such as default.",
    ),
    option(
        "--special-token NAME[=ID]",
        "A special token for a rank file (NAME=ID), or for vocab.json and merges.txt (NAME, if it is in "
        "vocab.json). Repeat the option for each one.",
        name="special_tokens",
        multiple=True,
    ),
    option(
        "--special-tokens FILE",
        "A JSON file of special tokens, in place of --special-token: an object of names and ids, or a list of names.",
        name="special_file",
    ),
    option(
        "--unmatched",
        "Keep or drop text that the pattern does not match. Default: drop for a rank file, as tiktoken does, and "
        "keep otherwise.",
        choices.Unmatched,
    ),
    download,
    _gathered("parts", [field.name for field in dataclasses.fields(Parts)], Parts),
)


def pattern_of(text: str) -> str | None:
    """Return the pattern behind `--pattern`."""
    return None if text == "none" else text


def load(source: str, parts: Parts | None = None) -> Tokenizer:
    """Return the tokenizer behind `-t`, `--base` or an argument, with the options beside it."""
    parts = parts or Parts()
    specials = parts.specials  # an error in them comes first
    kind = sources.kind_of(source, parts.download)
    if kind == "tiktoken" and parts.pattern is None:
        raise UsageError(sources.no_pattern(source, "--pattern"))
    # A GGUF file may lack its pattern.
    needed = (parts.pattern if kind != "gguf" else None, specials, parts.unmatched)
    if needed != (None, None, None) and not sources.takes_options(source, parts.download):
        raise UsageError(
            f"{source} has its own pattern and special tokens: leave out --pattern, --special-token, "
            "--special-tokens and --unmatched"
        )
    return Tokenizer.from_pretrained(
        source,
        pattern=... if parts.pattern is None else pattern_of(parts.pattern),
        special_tokens=specials,
        unmatched=parts.unmatched,
    )


def load_all(names: list[str], parts: Parts) -> list[tuple[str, Tokenizer]]:
    """Return the tokenizers behind a `-t` that is given several times, each with its name as it was given.

    The options go to those tokenizers whose files hold no pattern. If there is none, options are an error.
    """
    _ = parts.specials  # an error in their file comes before any tokenizer is loaded
    take = [source for source in names if Path(source).exists() and sources.takes_options(source)] or names
    others = Parts(download=parts.download)
    return [(source, load(source, parts if source in take else others)) for source in names]


def special_tokens_of(names: list[str] | None, file: str | None) -> Specials | None:
    """Return the special tokens of `--special-token` or of the file of `--special-tokens`; None for neither.

    They are names, or names with their ids, as in `<|end|>=50256`.
    """
    if names and file is not None:
        raise UsageError("--special-token and --special-tokens are mutually exclusive")
    if file is not None or not names:
        return None if file is None else _in_file(file)
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
