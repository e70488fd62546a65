"""Gathers real text from folders: `python benches/scale gather OUT FOLDERS...`.

Files are sorted into kinds by their names: sources of programs by language, documentation (manuals, Markdown, HTML
without its tags), and translations (catalogues of gettext, of which the translated texts are taken). Each kind
becomes a Parquet file of one column `text`. What was met before is left out: a file with the same contents, a file
whose path ends in the same four names but for their digits (another version of it), and a long line of HTML with
the same text.
"""

from __future__ import annotations

import argparse
import gettext
import gzip
import hashlib
import html
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

KINDS = {
    "python": ".py .pyi .pyx",
    "rust": ".rs",
    "c": ".c .h .cc .cpp .hpp .cxx .hh",
    "other": ".js .mjs .ts .tsx .css .pl .pm .sh .vim .tcl .rb .cmake .sql .java .go .el",
    "docs": ".md .rst .txt .adoc .texi .html .htm .1 .2 .3 .4 .5 .6 .7 .8",
    "translations": ".mo",
}
KIND_OF = {ending: kind for kind, endings in KINDS.items() for ending in endings.split()}
LEAST, MOST = 200, 4_000_000
"""Bytes of a file that is taken."""
LONG_LINE = 2000
"""Characters of a line: a file with longer ones on average was written by a program."""
TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
DIGITS = re.compile(r"\d+")
SHORT_LINE = 40
"""Characters of a line of HTML that may come again."""
GROUP = 4096
"""Documents of a row group of Parquet."""


def files(folders: list[Path]) -> Iterator[Path]:
    """Yield regular files, each of a folder once, in the order of their paths."""
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner[:] = sorted(name for name in inner if name != ".git")
            for name in sorted(names):
                path = Path(place, name)
                if path.is_file() and not path.is_symlink() and LEAST <= path.stat().st_size <= MOST:
                    yield path


def kind_of(path: Path) -> str | None:
    """Return the kind of a file."""
    name = path.with_suffix("") if path.suffix == ".gz" else path
    return KIND_OF.get(name.suffix.lower())


def text_of(path: Path, lines: set[bytes]) -> str | None:
    """Return the text of a file; None if it is none. `lines` are digests of lines of HTML that were met."""
    try:
        if path.suffix == ".mo":
            with path.open("rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
            found = "\n".join(text for key, text in catalogue.items() if key and text != key)
            return found.encode("utf-8", "replace").decode()
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, ValueError, EOFError, LookupError, AssertionError):
        return None
    if path.suffix.lower() in (".html", ".htm"):
        text = "".join(_new_lines(html.unescape(TAGS.sub(" ", text)), lines))
    elif len(text) > LONG_LINE * (text.count("\n") + 1):
        return None
    return text


def _new_lines(text: str, met: set[bytes]) -> Iterator[str]:
    """Yield lines without the spaces around them; of the long ones those that were not met."""
    for line in map(str.strip, text.splitlines()):
        if not line:
            continue
        if len(line) >= SHORT_LINE:
            digest = hashlib.blake2b(line.encode(), digest_size=8).digest()
            if digest in met:
                continue
            met.add(digest)
        yield line + "\n"


def _was_met(text: str, met: set[bytes]) -> bool:
    """Return whether a text was met, and remember it."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
    before = len(met)
    met.add(digest)
    return len(met) == before


def gather(out: Path, folders: list[Path]) -> None:
    """Write a Parquet file for each kind, its documents in an order drawn once."""
    met: set[bytes] = set()
    lines: set[bytes] = set()
    texts: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for path in files(folders):
        kind = kind_of(path)
        if kind and not _was_met(DIGITS.sub("", "/".join(path.parts[-4:])), met):
            text = text_of(path, lines)
            if text and len(text) >= LEAST and not _was_met(text, met):
                texts[kind].append(text)
    out.mkdir(parents=True, exist_ok=True)
    for kind, found in texts.items():
        random.Random(1).shuffle(found)
        table = pa.table({"text": pa.array(found, pa.large_string())})
        parquet.write_table(table, out / f"{kind}.parquet", row_group_size=GROUP, compression="zstd")
        print(f"{kind:14} {len(found):8,} documents {sum(len(text.encode()) for text in found) / 1e6:9.1f} MB")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")


def run(options: argparse.Namespace) -> None:
    gather(options.out, options.folders)
