"""The content of `manifest.json` in a folder of shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..._internal.numbers import counted
from ..manifest import VERSION
from .folder import TOKENIZER

if TYPE_CHECKING:
    from ...tokenizer import Tokenizer
    from .folder import Folder
    from .options import Options


class Outcome(NamedTuple):
    """The figures of a run, besides those of its shards."""

    totals: list[tuple[int, int]]
    """Ids and documents of each split."""
    sources: list[dict[str, Any]]
    """Name, bytes and documents of each source."""
    text_bytes: int
    """Bytes of the text of all documents."""
    skipped: list[dict[str, str]]
    """Documents that were left out, the first 10,000 of them."""
    skipped_count: int
    """How many were left out."""


def check_format(options: Options) -> None:
    """Check that the package that the format needs is installed.

    Raises:
        ImportError: It is not installed.
    """
    if options.form.name == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise ImportError("writing Parquet needs pyarrow: pip install 'toksmith[parquet]'") from None


def manifest(tokenizer: Tokenizer, options: Options, folder: Folder, outcome: Outcome) -> dict[str, Any]:
    """Return the manifest of a folder whose shards are whole."""
    told = {key: value for key, value in options.told.items() if key not in ("format", "dtype")}
    return {
        "format": "toksmith training data",
        "version": VERSION,
        "tokenizer": {
            "file": TOKENIZER,
            "fingerprint": tokenizer.fingerprint,
            "vocab_size": tokenizer.vocab_size,
        },
        "file_format": options.form.name,
        "dtype": options.told["dtype"],
        "options": told,
        "splits": folder.splits_told(outcome.totals),
        "sources": outcome.sources,
        "skipped": outcome.skipped,
        "totals": {
            "documents": sum(documents for _, documents in outcome.totals),
            "text_bytes": outcome.text_bytes,
            "tokens": sum(tokens for tokens, _ in outcome.totals),
            "skipped": outcome.skipped_count,
        },
        "run": folder.plan,
    }


def left_out(told: dict[str, Any], folder: Folder) -> str:
    """Return the warning of a run that left documents out."""
    count = told["totals"]["skipped"]
    were = "was" if count == 1 else "were"
    return f'{counted(count, "document")} {were} left out: see "skipped" in {folder.path}/manifest.json'
