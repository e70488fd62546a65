"""The core of a tokenizer with a pipeline: the methods that take text do first what the pipeline does.

Stretches of text between added tokens are normalized, and encoded by the core. A text that the pipeline leaves as it
is, which is most, goes to the core whole.
"""

from __future__ import annotations

import bisect
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from .added import AddedToken
    from .pipeline import Pipeline
    from .template import Encoded


class _Places(NamedTuple):
    """Where each byte of a text comes from: the start and the end of its character, in bytes of the original."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def cut(self, start: int, end: int) -> _Places:
        return _Places(self.starts[start:end], self.ends[start:end])


class _Stretch(NamedTuple):
    """A piece of a text on its way: an added token, or text that is ready to be encoded; with places, if wanted.

    Without places an added token has no text either: with what its flags took it can be as long as the whole.
    """

    id: int | None
    text: str
    places: _Places | None


class _Finder:
    """Added tokens, and what each is found by."""

    __slots__ = ("_core", "_tokens")

    def __init__(self, tokens: list[tuple[AddedToken, str]]) -> None:
        self._tokens = [token for token, _ in tokens]
        rows = [(text, t.single_word, t.lstrip, t.rstrip, t.special) for t, text in tokens]
        self._core = _core.AddedTokens(rows) if rows else None

    def segments(self, text: str, special: bool) -> Iterator[tuple[AddedToken | None, int, int]]:
        if self._core is None:
            return iter([(None, 0, len(text))] if text else [])
        found = self._core.segments(text, special)
        return ((None if index is None else self._tokens[index], start, end) for index, start, end in found)


class PipelineCore:
    """What `Tokenizer` calls in place of its core. Everything that takes no text is the core's own."""

    __slots__ = (
        "_after",
        "_before",
        "_in_text",
        "_inner",
        "_normalizer",
        "_ordinary",
        "_pipeline",
        "_raw",
        "_splitter",
    )

    def __init__(self, inner: _core.Tokenizer, pipeline: Pipeline) -> None:
        self._inner, self._pipeline = inner, pipeline
        self._splitter: _core.Pretokenizer | None = None
        self._normalizer = _core.Normalizer(pipeline.normalizer) if pipeline.normalizer else None
        before = pipeline.splits.before
        self._before = _core.Pretokenizer.of_stages(before) if before else None
        tokens = pipeline.added_tokens
        self._raw = _Finder([(token, token.content) for token in tokens if not token.normalized])
        self._after = _Finder([(token, self._normalized(token.content)) for token in tokens if token.normalized])
        self._in_text = self._texts(pipeline.irregular())
        self._ordinary = self._texts(token for token in tokens if not token.special)

    def _texts(self, tokens: Iterable[AddedToken]) -> _core.AddedTokens | None:
        """Return what finds the tokens' contents, as they are and normalized; None without tokens."""
        texts = {text for token in tokens for text in (token.content, self._normalized(token.content))}
        return _core.AddedTokens([(text, False, False, False, False) for text in sorted(texts)]) if texts else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _normalized(self, text: str, room: int | None = None) -> str:
        return text if self._normalizer is None else self._normalizer.apply(text, room)

    def is_unchanged(self, text: str, special: bool) -> bool:
        """Return whether the core does everything by itself for this text, and for each stretch of it."""
        if self._pipeline.splits.prefix or (self._normalizer is not None and not self._normalizer.leaves(text)):
            return False
        found = self._in_text if special else self._ordinary
        return found is None or not found.is_in(text)

    def _check_unchanged(self, text: str, special: bool, what: str) -> None:
        self._pipeline.check_unchanged(self, text, special, what)

    # From a text to stretches

    def _stretches(self, text: str, special: bool) -> Iterator[_Stretch]:
        """Yield the stretches of a text, without places."""
        room = _core.Normalizer.most_bytes(text)
        for token, start, end in self._raw.segments(text, special):
            if token is not None:
                yield _Stretch(token.id, "", None)
                continue
            changed = self._normalized(text[start:end], room)
            room -= len(changed)
            for inner, first, last in self._after.segments(changed, special):
                if inner is not None:
                    yield _Stretch(inner.id, "", None)
                else:
                    yield from self._prefixed(changed[first:last], None)

    def _placed_stretches(self, text: str, special: bool) -> Iterator[_Stretch]:
        """Yield the stretches of a text with their places."""
        whole, at = _identity(text)
        room = _core.Normalizer.most_bytes(text)
        for token, start, end in self._raw.segments(text, special):
            piece, places = text[start:end], whole.cut(at[start], at[end])
            if token is not None:
                yield _Stretch(token.id, piece, places)
                continue
            changed, places = self._normalized_places(piece, places, room)
            room -= len(changed)
            inner_at = _identity(changed)[1]
            for inner, first, last in self._after.segments(changed, special):
                found, cut = changed[first:last], places.cut(inner_at[first], inner_at[last])
                if inner is not None:
                    yield _Stretch(inner.id, found, cut)
                else:
                    yield from self._prefixed(found, cut)

    def _normalized_places(self, piece: str, places: _Places, room: int) -> tuple[str, _Places]:
        if self._normalizer is None:
            return piece, places
        changed, starts, ends = self._normalizer.apply_tracked(piece, room)
        base = int(places.starts[0]) if len(places.starts) else 0
        return changed, _Places(starts + base, ends + base)

    def _prefixed(self, text: str, places: _Places | None) -> Iterator[_Stretch]:
        if not self._pipeline.splits.prefix:
            yield _Stretch(None, text, places)
            return
        data = text.encode()
        ranges = [(0, len(data))] if self._before is None else self._before.ranges(data)
        for start, end in ranges:
            piece = data[start:end].decode()
            cut = None if places is None else places.cut(start, end)
            if not piece.startswith(" "):
                piece = f" {piece}"
                cut = cut and _with_prefix(cut)
            yield _Stretch(None, piece, cut)

    # Text to ids

    def encode(self, text: str, special: bool, workers: int | None = None) -> list[int]:
        """Do what the core's method does, behind the pipeline; so do the following ones."""
        if self.is_unchanged(text, special):
            return self._inner.encode(text, special, workers)
        ids: list[int] = []
        for id, piece, _ in self._stretches(text, special):
            if id is None:
                ids += self._inner.encode(piece, False, workers)
            else:
                ids.append(id)
        return ids

    def encode_bytes(self, data: bytes, special: bool, workers: int | None = None) -> list[int]:
        """See `encode`. Bytes that are not UTF-8 are refused: no part of a pipeline is defined for them."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            why = " and ".join(self._pipeline.reasons())
            raise ValueError(f"not UTF-8 at byte {error.start}: {why} are defined for text alone") from None
        return self.encode(text, special, workers)

    def encode_to_numpy(self, text: str, special: bool, workers: int | None = None) -> NDArray[np.uint32]:
        """See `encode`."""
        import numpy as np

        if self.is_unchanged(text, special):
            return self._inner.encode_to_numpy(text, special, workers)
        parts = [
            self._inner.encode_to_numpy(piece, False, workers) if id is None else np.array([id], np.uint32)
            for id, piece, _ in self._stretches(text, special)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint32)

    def encode_batch(self, texts: Iterable[str], special: bool, workers: int) -> list[list[int]]:
        """See `encode`."""
        texts = list(texts)
        whole = [i for i, text in enumerate(texts) if self.is_unchanged(text, special)]
        encoded = dict(zip(whole, self._inner.encode_batch([texts[i] for i in whole], special, workers), strict=True))
        return [encoded[i] if i in encoded else self.encode(text, special, workers) for i, text in enumerate(texts)]

    def encode_batch_to_numpy(
        self, texts: Iterable[str], special: bool, workers: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """See `encode`."""
        import numpy as np

        texts = list(texts)
        if all(self.is_unchanged(text, special) for text in texts):
            return self._inner.encode_batch_to_numpy(texts, special, workers)
        parts = [self.encode_to_numpy(text, special, workers) for text in texts]
        starts = np.array([0, *itertools.accumulate(map(len, parts))], np.int64)
        return np.concatenate(parts), starts

    def encode_with_offsets(self, text: str, special: bool, characters: bool) -> tuple[list[int], NDArray[np.int64]]:
        """See `encode`. Spans are those of the original text, as Hugging Face has them."""
        import numpy as np

        if self.is_unchanged(text, special):
            return self._inner.encode_with_offsets(text, special, characters)
        all_ids: list[int] = []
        spans = [np.zeros((0, 2), np.int64)]
        for _, ids, found in self._encoded(text, special):
            all_ids += ids
            spans.append(found)
        joined = np.concatenate(spans)
        return all_ids, _in_characters(text, joined) if characters else joined

    def _encoded(self, text: str, special: bool) -> Iterator[tuple[_Stretch, list[int], NDArray[np.int64]]]:
        """Yield each stretch with its ids and their spans in bytes."""
        import numpy as np

        for stretch in self._placed_stretches(text, special):
            id, piece, places = stretch
            assert places is not None
            if id is not None:
                yield stretch, [id], np.array([[places.starts[0], places.ends[-1]]], np.int64)
                continue
            ids, spans = self._inner.encode_with_offsets(piece, False, False)
            placed = np.stack([places.starts[spans[:, 0]], places.ends[spans[:, 1] - 1]], axis=1)
            yield stretch, ids, placed

    def encoded(self, text: str, special: bool) -> Encoded:
        """Return ids, tokens as Hugging Face spells them, and spans in characters."""
        from ..formats.gpt2 import spell
        from .template import Encoded

        all_ids: list[int] = []
        tokens: list[str] = []
        spans: list[tuple[int, int]] = []
        for stretch, ids, found in self._encoded(text, special):
            all_ids += ids
            tokens += [stretch.text] if stretch.id is not None else [spell(self._inner.token_bytes(id)) for id in ids]
            spans += [(start, end) for start, end in _in_characters(text, found).tolist()]
        return Encoded(all_ids, tokens, spans)

    def word_ids(self, text: str, special: bool) -> list[int]:
        """Return for each id the number of its pretoken; an added token is one by itself."""
        if self._splitter is None:
            self._splitter = self._pipeline.pattern.core()
        words: list[int] = []
        count = 0
        for id, piece, _ in self._stretches(text, special):
            if id is not None:
                words.append(count)
                count += 1
                continue
            starts = [start for start, _ in self._splitter.ranges(piece.encode())]
            spans = self._inner.encode_with_offsets(piece, False, False)[1]
            words += [count + bisect.bisect_right(starts, start) - 1 for start in spans[:, 0].tolist()]
            count += len(starts)
        return words

    def encode_parts(self, parts: list[tuple[str, bool]]) -> list[int]:
        """See `encode`; refused where the pipeline changes the joined text."""
        self._check_unchanged("".join(text for text, _ in parts), True, "encode_parts")
        return self._inner.encode_parts(parts)

    def stream(self, special: bool) -> PipelineStream:
        """Return a stream that holds everything until its end."""
        return PipelineStream(self, special)

    def count(self, text: str, special: bool, workers: int | None = None) -> int:
        """See `encode`."""
        if self.is_unchanged(text, special):
            return self._inner.count(text, special, workers)
        stretches = self._stretches(text, special)
        return sum(1 if id is not None else self._inner.count(piece, False, workers) for id, piece, _ in stretches)

    def truncate(self, text: str, max_tokens: int, special: bool) -> str:
        """See `encode`; refused where the pipeline changes the text."""
        self._check_unchanged(text, special, "truncate")
        return self._inner.truncate(text, max_tokens, special)

    def split(self, text: str, max_tokens: int, overlap: int, special: bool) -> list[str]:
        """See `encode`; refused where the pipeline changes the text."""
        self._check_unchanged(text, special, "split")
        return self._inner.split(text, max_tokens, overlap, special)

    def encode_file(
        self,
        path: str,
        *,
        out: tuple[Path, str] | None,
        wide: bool,
        workers: int,
        special: bool,
        replace: bool,
        progress: Any = None,
        window_bytes: int | None = None,
    ) -> Any:
        """See `encode`; the file is read whole."""
        import numpy as np

        data = Path(path).read_bytes()
        try:
            text = data.decode("utf-8", "replace" if replace else "strict")
        except UnicodeDecodeError as error:
            raise ValueError(
                f'{os.fspath(path)}: not UTF-8 at byte {error.start}: give errors="replace" to read invalid bytes as '
                "U+FFFD, or convert it first"
            ) from None
        ids = self.encode_to_numpy(text, special, workers)
        if not wide:
            if len(ids) and int(ids.max()) >= 2**16:
                raise ValueError(f'id {ids.max()} does not fit into uint16: give dtype="uint32"')
            ids = ids.astype(np.uint16)
        if progress is not None:
            progress("encode", len(data), len(data))
        if out is None:
            return ids
        with out[0].open("ab") as file:
            file.write(ids.astype(ids.dtype.newbyteorder("<"), copy=False).tobytes())
        return len(ids)


class PipelineStream:
    """A stream of text: a normalizer may look at all of it, so nothing is settled before the end."""

    __slots__ = ("_core", "_pieces", "_special")

    def __init__(self, core: PipelineCore, special: bool) -> None:
        self._core, self._special = core, special
        self._pieces: list[str] = []

    def push(self, text: str) -> list[int]:
        """Add text; nothing is final yet."""
        if not isinstance(text, str):
            raise TypeError(f"expected str, got {type(text).__name__}")
        self._pieces.append(text)
        return []

    def finish(self) -> list[int]:
        """End the text; return all its ids."""
        text, self._pieces = "".join(self._pieces), []
        return self._core.encode(text, self._special)


def _identity(text: str) -> tuple[_Places, list[int]]:
    """Return the places of a text in itself, and the byte that each character starts at, and the end."""
    import numpy as np

    data = np.frombuffer(text.encode(), np.uint8)
    at = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data)).astype(np.int64)
    lengths = np.diff(at)
    return _Places(np.repeat(at[:-1], lengths), np.repeat(at[1:], lengths)), at.tolist()


def _with_prefix(places: _Places) -> _Places:
    """The space that is put before a text comes from where its first character does."""
    import numpy as np

    starts, ends = places
    return _Places(np.concatenate([starts[:1], starts]), np.concatenate([ends[:1], ends]))


def _in_characters(text: str, spans: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return spans in characters of `text`, which in bytes begin and end between two."""
    import numpy as np

    data = np.frombuffer(text.encode(), np.uint8)
    before = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)]).astype(np.int64)
    found: NDArray[np.int64] = before[spans]
    return found
