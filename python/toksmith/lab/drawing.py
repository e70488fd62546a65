"""The tokens of a text that is read in pieces, drawn for one tokenizer or several, with their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..tokenizer import Tokenizer
from . import parts, terminal
from .spans import Spans, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Text: TypeAlias = "Callable[[], Iterator[str]]"
"""Returns the pieces of a text, each time anew."""


class Drawing:
    """How the tokens of a text are written."""

    def __init__(self, special: bool, ids: bool, as_lines: bool, limit: int | None) -> None:
        self.special, self.ids, self.as_lines, self.limit = special, ids, as_lines, limit
        self.colours = not as_lines and terminal.has_colours()

    def of_all(self, tokenizers: Sequence[tuple[str, Tokenizer]], text: Text) -> Iterator[str]:
        """Yield the drawings for all tokenizers, one below the other, with their names if there are several."""
        are_several = len(tokenizers) > 1
        for number, (name, tokenizer) in enumerate(tokenizers):
            if self.as_lines:
                ids = tokenizer.encode_iterable(text(), special=self.special, arrays=True)
                shown_name = visible(name) if are_several else None
                yield from terminal.lines(Spans(tokenizer), self._first(ids), ids=self.ids, name=shown_name)
                continue
            if are_several:
                heading = f"{terminal.BOLD}{visible(name)}{terminal.END}" if self.colours else visible(name)
                yield "\n" * (number > 0) + f"{heading}\n"
            yield from self._drawn(tokenizer, text)

    def _drawn(self, tokenizer: Tokenizer, text: Text) -> Iterator[str]:
        counted = Counted(tokenizer, text(), self.special)
        if self.limit != 0:
            first = self._first(counted.ids())
            yield from terminal.drawn(Spans(tokenizer), first, colours=self.colours, ids=self.ids)
        for _ in counted.ids():  # those that are not drawn are counted
            pass
        if self.limit:
            yield terminal.more(counted.tokens - self.limit)
        yield counted.line()

    def _first(self, blocks: Iterable[NDArray[np.uint32]]) -> Iterator[NDArray[np.uint32]]:
        """Yield the ids that are drawn, and ask for no block behind them."""
        remaining = self.limit
        for block in blocks if remaining != 0 else ():
            yield block if remaining is None else block[:remaining]
            if remaining is not None:
                remaining -= len(block)
                if remaining <= 0:
                    return


class Counted:
    """The ids of a text, in arrays that are yielded once, and how many there were."""

    def __init__(self, tokenizer: Tokenizer, pieces: Iterable[str], special: bool) -> None:
        self.tokens = self.bytes = 0
        self._tokenizer = tokenizer
        self._blocks = tokenizer.encode_iterable(self._measured(pieces), special=special, arrays=True)
        # A pattern may lose text. The steps of a pipeline may do so on purpose.
        drops = parts.pattern(tokenizer).unmatched == "drop" and tokenizer.pipeline is None
        self._bytes_of_tokens = 0 if drops else None

    def _measured(self, pieces: Iterable[str]) -> Iterator[str]:
        for piece in pieces:
            self.bytes += len(piece.encode())
            yield piece

    def ids(self) -> Iterator[NDArray[np.uint32]]:
        """Yield the arrays that were not yielded yet."""
        for block in self._blocks:
            self.tokens += len(block)
            if self._bytes_of_tokens is not None:
                self._bytes_of_tokens += len(self._tokenizer.decode_bytes(block))
            yield block

    def line(self) -> str:
        """Return the counts, and what the pattern has lost."""
        line = terminal.counts(self.tokens, self.bytes)
        if self._bytes_of_tokens is not None and self._bytes_of_tokens < self.bytes:
            lost = self.bytes - self._bytes_of_tokens
            line += f"; {lost:,} bytes are in no token: the pattern does not match them"
        return line + "\n"
