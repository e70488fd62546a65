"""Counts beside a checkpoint: if memory does not suffice for learning, the next call goes on from them."""

from __future__ import annotations

from pathlib import Path

from ..corpus import Corpus
from ..patterns import Pattern
from . import counts_files
from .counts import PretokenCounts, head_of
from .counts_files import Counts, Head


class SavedCounts:
    """The counts of a corpus, in a file that need not be there yet.

    Only files of this machine are told from others, by their names, sizes and times of change: for any other corpus
    nothing is saved.
    """

    def __init__(self, checkpoint: Path, texts: Corpus, pattern: Pattern, special_tokens: list[str]) -> None:
        self.path = checkpoint.with_name(f"{checkpoint.name}.counts")
        self.can_be_saved = all(source.is_regular for source in texts.sources)
        files = [[str(Path(at.path).absolute()), *(at.seen or ()), *at[1:4]] for at in texts.sources]
        self._key: Head = {
            **head_of(pattern, special_tokens),
            "source": [files, texts.document_separator, texts.errors],
        }

    def head(self, min_count: int) -> Head | None:
        """Return the head of the file, if it has all pretokens of this corpus that occur at least so often.

        Raises:
            ValueError: The file was not written by a training.
        """
        if not self.can_be_saved or not self.path.exists():
            return None
        head = counts_files.read_head(self.path)
        if "source" not in head:
            raise ValueError(f"{self.path} has counts of another call: move it, or give another checkpoint")
        is_same = all(head.get(name) == value for name, value in self._key.items())
        return head if is_same and head.get("min_count", 1) <= max(min_count, 1) else None

    def load(self, min_count: int) -> PretokenCounts:
        """Return the counts without pretokens that occur less often than `min_count`."""
        return PretokenCounts._of_head(*counts_files.load(self.path, min_count), f"{self.path}")

    def save(self, core: Counts, min_count: int) -> None:
        """Write counts, which have no pretoken that occurs less often than `min_count`."""
        facts: Head = {"min_count": max(min_count, 1), "frequencies": core.frequencies()}
        counts_files.save(core, {**self._key, **facts}, self.path)
