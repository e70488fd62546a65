"""Options of reading among those of a call."""

from typing import Any

from toksmith import Corpus

OPTIONS = ("field", "column", "input_format", "document_separator", "max_record_bytes", "errors")


def corpus_of(sources: Any, options: dict[str, Any]) -> Corpus:
    """Return a corpus with the options that are its own, which are taken out."""
    return Corpus(sources, **{name: options.pop(name) for name in OPTIONS if name in options})
