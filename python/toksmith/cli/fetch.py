"""`toksmith fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..files import reading
from ..formats.published import encodings, models, rank_cache
from . import streams

EXAMPLES = """\
Examples:

  toksmith fetch cl100k_base o200k_base
  toksmith fetch gpt-4o --to ranks/
  TIKTOKEN_CACHE_DIR=ranks/ python program.py

The files come from where OpenAI publishes them, and their SHA-256 is checked. A
file that a cache folder of tiktoken or toksmith already has is copied, and is
not downloaded again."""


def fetch(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME", help="Encodings or models, such as cl100k_base or gpt-4o; all for all encodings."
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FOLDER", help="The folder to put the files into.", show_default="toksmith's cache folder"
        ),
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option("--from", metavar="URL", help="The address of a mirror to download from."),
    ] = None,
) -> None:
    """Download the rank files of published encodings, for a machine without a network."""
    folder = to or rank_cache.own_folder()
    expanded = (name for argument in names for name in (encodings.ENCODINGS if argument == "all" else [argument]))
    for file in dict.fromkeys(map(_file_of, expanded)):
        url, sha256 = encodings.FILES[file]
        path = folder / rank_cache.plain_name(url)
        if path.is_file() and _digest(path) == sha256:
            streams.say_written(str(path), "is there")
            continue
        data = encodings.here(file)
        if data is None:
            data = rank_cache.download(url, sha256, file, mirror)
        rank_cache.write(path, data)
        streams.say_written(str(path), f"{len(data):,} bytes")


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file in hex; nothing for one that is too large to be a rank file."""
    try:
        return rank_cache.digest(reading.read(path))
    except ValueError:
        return ""


def _file_of(name: str) -> str:
    """Return the rank file of an encoding or of a model."""
    if name not in encodings.ENCODINGS:
        try:
            name = models.encoding_name_for_model(name)
        except KeyError:
            known = ", ".join(encodings.ENCODINGS)
            raise ValueError(
                f"{name} is neither a published encoding nor a model with one: known encodings are {known}"
            ) from None
    return encodings.ENCODINGS[name].file
