"""Text that arrives in pieces → arrays of ids, encoded some megabytes at a time."""

from __future__ import annotations

from ._core import Tokenizer as CoreTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

CHUNK_CHARACTERS = 1 << 22
"""Characters of text that are encoded together: enough for all threads, some megabytes."""
# Characters at the end of a chunk that are searched for a place to cut, before all of it is.
_TAIL_CHARACTERS = 1 << 16
# A special token has no more bytes than this: a cut behind so many characters of a tail is one of the whole text.
_MAX_SPECIAL_BYTES = 1 << 12
# Ids of a text that cannot be cut that are made an array.
_ARRAY_IDS = 1 << 18


def arrays(
    core: CoreTokenizer, texts: Iterable[str], special: bool, workers: int | None
) -> Iterator[NDArray[np.uint32]]:
    """Yield the ids of the joined pieces in arrays. See `Tokenizer.encode_chunks`."""
    # What stands around a core, such as a normalizer, may look at all of the text.
    if not isinstance(core, CoreTokenizer) or not core.late_cut("a a a a a a a a a a", False):
        yield from _of_stream(core, texts, special)
        return
    pieces: list[str] = []
    held, wanted = 0, CHUNK_CHARACTERS
    for text in texts:
        pieces.append(text)
        held += len(text)
        if held < wanted:
            continue
        joined = "".join(pieces)
        cut = _cut(core, joined, special)
        if cut:
            yield core.encode_to_numpy(joined[:cut], special, workers)
            joined = joined[cut:]
        pieces, held = [joined], len(joined)
        # A text without a place to cut is searched again when it is twice as long, so that all searches are linear.
        wanted = max(CHUNK_CHARACTERS, 2 * held)
    if held:
        yield core.encode_to_numpy("".join(pieces), special, workers)


def _cut(core: CoreTokenizer, text: str, special: bool) -> int:
    """Return where a text that goes on can be cut, late in it; 0 for nowhere."""
    start = max(0, len(text) - _TAIL_CHARACTERS)
    cut = core.late_cut(text[start:], special)
    if start and cut <= _MAX_SPECIAL_BYTES:
        return core.late_cut(text, special)
    return start + cut if cut else 0


def _of_stream(core: Any, texts: Iterable[str], special: bool) -> Iterator[NDArray[np.uint32]]:
    """Yield the ids of a tokenizer whose text can be cut nowhere, or at special tokens alone."""
    import numpy as np

    stream = core.stream(special)
    ids: list[int] = []
    for text in texts:
        ids += stream.push(text)
        if len(ids) >= _ARRAY_IDS:
            yield np.array(ids, np.uint32)
            ids = []
    ids += stream.finish()
    if ids:
        yield np.array(ids, np.uint32)
