"""An encoded text with the data that Hugging Face returns: ids, tokens in its spelling, places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .template import Encoded

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


def encoded(tokenizer: Tokenizer, text: str, *, special: bool = True) -> Encoded:
    """Return ids, tokens and spans in characters of `text`, before tokens are put around it.

    A token that merging makes is spelled as the vocabulary of the file spells it; an added token is spelled as the
    text that was matched, with the whitespace that belongs to it. `Template.process` puts tokens around the text.
    """
    core: Any = tokenizer._core
    ids, spans, _, added = core.encode_words(text, special)
    texts = dict(added)
    tokens = [texts[i] if i in texts else core.spelled(id) for i, id in enumerate(ids)]
    return Encoded(ids, tokens, [(start, end) for start, end in spans.tolist()])
