"""An encoded text with the data that Hugging Face returns: ids, tokens in its spelling, places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .template import Encoded

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer


def encoded(tokenizer: Tokenizer, text: str, *, special: bool = True) -> Encoded:
    """Return ids, tokens and spans in characters of `text`, before tokens are put around it.

    A token that merging makes is spelled with a character for each byte; an added token is spelled as the text that
    was found, with the whitespace that belongs to it. `Template.process` puts tokens around the text.
    """
    core: Any = tokenizer._core
    pipeline = tokenizer.pipeline
    if pipeline is not None and not pipeline.is_plain:
        found: Encoded = core.encoded(text, special)
        return found
    ids, spans = tokenizer.encode_with_offsets(text, special=special)
    pairs = [(start, end) for start, end in spans.tolist()]
    names = {id: name for name, id in tokenizer.special_tokens.items()}
    return Encoded(ids, [names.get(id) or core.spelled(id) for id in ids], pairs)
