"""`toksmith fetch`."""

from pathlib import Path

import click

from ..formats import sources
from ..formats.published import encodings, rank_cache
from . import streams
from .command_line import command, option

EXAMPLES = """\
  toksmith fetch cl100k_base o200k_base
  toksmith fetch gpt-4o --to ranks/
  TIKTOKEN_CACHE_DIR=ranks/ python program.py

A published encoding needs its rank file, which is downloaded from OpenAI at the
first use and kept in a cache folder. fetch downloads it before that. To use an
encoding on a machine without a network, fetch it with --to on another one, copy
the folder, and set TIKTOKEN_CACHE_DIR to it, as in the last line above.

Files that are already in a cache folder of tiktoken or toksmith are copied from
there. The SHA-256 of each file is checked."""


@command(EXAMPLES)
@click.argument(
    "names",
    nargs=-1,
    required=True,
    metavar="NAME...",
    help="Encodings or models, such as o200k_base or gpt-4o, or all.",
)
@option("--to FOLDER", "The folder for the files. Default: toksmith's cache folder.", type=Path)
@option("--from URL", "Download from this mirror in place of OpenAI's server.", name="mirror")
def fetch(names: list[str], to: Path | None = None, mirror: str | None = None) -> None:
    """Download the files of published encodings, to use them later without a network."""
    folder = to or rank_cache.own_folder()
    expanded = (name for argument in names for name in (encodings.ENCODINGS if argument == "all" else [argument]))
    files: dict[str, None] = {}
    for name in expanded:
        if (encoding := sources.encoding_of(name)) is None:
            known = ", ".join(encodings.ENCODINGS)
            raise ValueError(
                f"{name} is neither a published encoding nor a model with one: known encodings are {known}"
            )
        files[encodings.ENCODINGS[encoding].file] = None
    for file in files:
        url, sha256 = encodings.FILES[file]
        path = folder / rank_cache.plain_name(url)
        if rank_cache.content(path, sha256) is not None:
            streams.say_written(str(path), "is there")
            continue
        data = encodings.here(file)
        if data is None:
            data = rank_cache.download(url, sha256, file, mirror)
        rank_cache.write(path, data)
        streams.say_written(str(path), f"{len(data):,} bytes")
