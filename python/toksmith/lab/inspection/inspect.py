"""`Tokenizer.inspect`: a vocabulary at a glance, and how texts use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._internal import arguments
from ..._internal.progress import reporter, summing
from ...corpus import Corpus
from ...formats import records
from . import merging, reach, results, text_figures, usage, vocabulary

if TYPE_CHECKING:
    from ..._internal.choices import Errors
    from ..._internal.progress import Report
    from ...formats.parts import Parts


@dataclass(frozen=True, repr=False)
class Inspection:
    """The result of `Tokenizer.inspect`. `print` shows it, a notebook draws it, and `to_dict` gives plain data.

    Attributes:
        sizes: How large the vocabulary is, and by which rules it encodes.
        special: The special tokens, by id.
        lengths: How long the ordinary tokens are.
        contents: What they are made of.
        partial: Which of them are no whole characters.
        reach: Which of them some text is encoded to, and which ones no text is encoded to.
        merging: How they are merged.
        duplicates: Which of them differ only by case or by a space.
        usage: How the texts use the vocabulary; None without texts.
    """

    sizes: results.Sizes
    special: tuple[results.VocabularyToken, ...]
    lengths: results.Lengths
    contents: results.Contents
    partial: results.Partial
    reach: results.Reach
    merging: results.Merging
    duplicates: results.Duplicates
    usage: results.Usage | None

    def to_dict(self) -> dict[str, Any]:
        r"""Return everything but the arrays as dicts, lists, numbers and str.

        In the str of a token a byte that is not text is `\xNN`, and a backslash is `\\`.
        """
        found: dict[str, Any] = records.plain(self)
        return found

    def __repr__(self) -> str:
        texts = "" if self.usage is None else f", {self.usage.tokens:,} in texts"
        return f"<Inspection of {self.sizes.tokens:,} tokens{texts}; print it>"

    def __str__(self) -> str:
        from . import drawing

        return drawing.as_text(self)

    def _repr_html_(self) -> str:
        from . import drawing

        return drawing.as_html(self)


def inspect(
    parts: Parts,
    on: Any,
    *,
    top: int,
    special: bool,
    field: str | None,
    column: str | None,
    document_separator: str | None,
    errors: Errors,
    workers: int | None,
    progress: bool | Report,
) -> Inspection:
    """See `Tokenizer.inspect`."""
    limit, threads = arguments.checked_limit("top", top, 0), arguments.checked_workers(workers)
    arguments.replaces_invalid(errors)
    arguments.checked_separator(document_separator)
    texts = on
    if on is not None and not isinstance(on, Corpus):
        texts = Corpus(on, field=field, column=column, document_separator=document_separator, errors=errors)
    looked_at = vocabulary.Vocabulary(parts)
    found = reach.reach(looked_at, threads)
    tree = merging.Tree(looked_at)
    used = None
    if texts is not None:
        counter = usage.Counter(parts.core, looked_at.ids, special, threads)
        with reporter(progress) as report:
            read = summing(report, "encode", texts.total_bytes)
            counter.add(document.pieces for document in texts.documents(read))
        used = text_figures.usage(looked_at, tree, found, counter, limit)
    return Inspection(
        sizes=vocabulary.sizes(looked_at),
        special=tuple(looked_at.token(id) for id in sorted(looked_at.special)),
        lengths=vocabulary.lengths(looked_at, limit),
        contents=vocabulary.contents(looked_at),
        partial=vocabulary.partial(looked_at, limit),
        reach=found,
        merging=merging.merging(looked_at, tree, limit),
        duplicates=vocabulary.duplicates(looked_at, limit),
        usage=used,
    )
