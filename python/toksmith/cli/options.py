"""Options that several commands have, and the tokenizer behind `-t`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..common import choices
from ..storage import sources
from ..tokenizer import Tokenizer


class UsageError(Exception):
    """The options do not go together."""

    exit_code = 2


class Choice(str, Enum):
    """One of the values of an option. Its members are named after them, in capitals."""


def choice_of(name: str, values: tuple[str, ...]) -> Any:
    """Return the `Choice` of these values, which typer shows and checks."""
    make: Any = Choice  # mypy reads a call of it as the choice of a value
    return make(name, {value.upper(): value for value in values})


if TYPE_CHECKING:
    Unmatched = Choice
    Errors = Choice
else:
    Unmatched = choice_of("Unmatched", choices.UNMATCHED)
    Errors = choice_of("Errors", choices.ERRORS)
STRICT = Errors("strict")

_PATTERN = "A name (gpt2, cl100k, o200k, llama3, qwen2, nanochat), a regular expression, or none"

TrainingPatternOption = Annotated[
    str | None, typer.Option("--pattern", help=f"What cuts text into pretokens. {_PATTERN}; by default gpt2.")
]
TrainingUnmatchedOption = Annotated[
    Unmatched | None,
    typer.Option("--unmatched", help="Text that the pattern does not match: keep it (the default), or drop it."),
]
ErrorsOption = Annotated[
    Errors,
    typer.Option("--errors", help="Bytes that are not UTF-8: refuse them, or read them as U+FFFD."),
]
SpecialsOption = Annotated[
    list[str] | None,
    typer.Option("--special-token", metavar="NAME", help="A special token; may be given many times."),
]
ProgressOption = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="A bar on standard error; by default on a terminal only."),
]
OutOption = Annotated[
    str, typer.Option("-o", "--output", metavar="OUT", help="A file to write; - is standard output.")
]
InArgument = Annotated[str, typer.Argument(metavar="FILE", help="A file to read; - is standard input.")]
NoSpecialOption = Annotated[bool, typer.Option("--no-special", help="Read special tokens as ordinary text.")]

# The tokenizer
TokenizerOption = Annotated[
    str,
    typer.Option(
        "-t",
        "--tokenizer",
        metavar="TOKENIZER",
        help="A published encoding or model (o200k_base, gpt-4o); or a file of toksmith train, a tokenizer.json, "
        "a rank file, or a folder with tokenizer.json or with vocab.json and merges.txt.",
    ),
]
GivenPatternOption = Annotated[
    str | None,
    typer.Option("--pattern", help=f"For a rank file or a folder, which hold none. {_PATTERN}."),
]
GivenSpecialsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--special-token",
        metavar="NAME[=ID]",
        help="For a rank file or a folder: a special token, with its id if need be; may be given many times.",
    ),
]
GivenUnmatchedOption = Annotated[
    Unmatched | None,
    typer.Option("--unmatched", help="For a rank file or a folder: what becomes of text that does not match."),
]


def pattern_of(text: str) -> str | None:
    """Return the pattern behind `--pattern`."""
    return None if text == "none" else text


def load(source: str, pattern: str | None, specials: list[str] | None, unmatched: Unmatched | None) -> Tokenizer:
    """Return the tokenizer behind `-t`, `--base` or an argument, with the options beside it.

    Raises:
        UsageError: An option is missing, or does not go with this kind of file.
        OSError, ValueError: As the loaders of `Tokenizer`.
    """
    given: dict[str, Any] = {}
    if pattern is not None:
        given["pattern"] = pattern_of(pattern)
    if specials:
        given["special_tokens"] = special_tokens_of(specials)
    if unmatched is not None:
        given["unmatched"] = unmatched.value
    if plugin := _of_plugin(source):
        tokenizer, kind = plugin, "published"
    else:
        tokenizer, kind = None, sources.kind_of(source)
    if kind == "ranks" and pattern is None:
        raise UsageError(sources.no_pattern(source, "--pattern"))
    if given and kind != "ranks" and sources.pair_in(source) is None:
        raise UsageError(
            f"{source} has its own pattern and special tokens: leave out --pattern, --special-token and --unmatched"
        )
    return tokenizer or Tokenizer.from_pretrained(source, **given)


def _of_plugin(source: str) -> Tokenizer | None:
    """Return the tokenizer of an encoding that a plug-in of tiktoken has, and no one else."""
    if Path(source).exists() or sources.encoding_of(source) is not None:
        return None
    from ..tiktoken import registry

    return registry.get_encoding(source).tokenizer if source in registry.list_encoding_names() else None


def special_tokens_of(given: list[str]) -> list[str] | dict[str, int]:
    """Return names, or name → id if ids are given, as in `<|end|>=50256`."""
    split = [name.rpartition("=") for name in given]
    with_id = [bool(name) and id.isascii() and id.isdigit() for name, _, id in split]
    if not any(with_id):
        return given
    if not all(with_id):
        raise UsageError("give all special tokens an id, as NAME=ID, or none of them")
    named = {name: int(id) for name, _, id in split}
    if len(named) < len(given):
        raise UsageError("a special token is given twice")
    return named
