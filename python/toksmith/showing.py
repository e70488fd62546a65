"""Methods that show people how a tokenizer encodes a text: a base class of `Tokenizer`.

The modules behind them are imported when they are first used.
"""

from __future__ import annotations

from ._internal import arguments
from .definition import Definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .lab.explanation import Explanation
    from .lab.viewing.view import View


class Showing(Definition):
    """Explanations and views of the tokens of a text."""

    __slots__ = ()

    def explain(self, text: str, *, special: bool = True) -> list[Explanation]:
        """Return how each pretoken of `text` is encoded: every merge with its pair and rank, and the ids.

        Where a pretoken that is a token is encoded without merging, `whole` is True, and the merges are shown all the
        same.

        For people and for tests: it runs in plain Python. Memory is linear in the text; a step's `pieces` are made
        when they are asked for, each time in time linear in the pretoken.
        """
        from .lab import explanation

        return explanation.explain(self._parts, text, special, self._cache)

    def view(self, text: str, *, special: bool = True, ids: bool = False, limit: int = 2000) -> View:
        r"""Return a view of the tokens of `text`: coloured in a notebook, plain text when it is printed.

        Whitespace, characters that cannot be seen and bytes that are no whole characters are shown as marks;
        escape sequences and HTML in the text are shown, never obeyed. See docs/viewing.md.

        Args:
            text: Any text.
            special: Whether special tokens in the text become their ids.
            ids: Whether the id stands below each token.
            limit: How many tokens are drawn at the most; all are counted.

        Raises:
            ValueError: The text has a lone surrogate; or `limit` is negative.

        >>> import toksmith
        >>> toksmith.Tokenizer(special_tokens=["<|end|>"]).view("a b<|end|>", ids=True)
        a │␣ │b │⟦<|end|>⟧
        97│32│98│256
        4 tokens, 10 bytes, 2.50 bytes per token
        """
        from .lab.viewing.view import View

        limit = arguments.checked_limit("limit", limit, 0)
        tokenizer: Any = self
        return View(tokenizer, text, special=special, show_ids=ids, limit=limit)
