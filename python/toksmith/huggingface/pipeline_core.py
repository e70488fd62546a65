"""The core of a tokenizer with a pipeline: the methods that take text first run the steps of the pipeline.

Stretches of text between added tokens are normalized, and encoded by the core. Most texts are not changed by the
pipeline; such a text goes to the core whole.
"""

from __future__ import annotations

import bisect
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from .stretches import Finder, Places, Stretch, identity, in_characters, with_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from .added import AddedToken
    from .pipeline import Pipeline
    from .template import Encoded


class PipelineCore:
    """The object that `Tokenizer` calls in place of its core. Methods that take no text are the core's own."""

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
        self._raw = Finder([(token, token.content) for token in tokens if not token.normalized])
        self._after = Finder([(token, self._normalized(token.content)) for token in tokens if token.normalized])
        self._in_text = self._texts(pipeline.irregular())
        self._ordinary = self._texts(token for token in tokens if not token.special)

    def _texts(self, tokens: Iterable[AddedToken]) -> _core.AddedTokens | None:
        """Return an object that finds the tokens' contents, as they are and normalized; None without tokens."""
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

    def _ready(self, text: str, special: bool) -> tuple[str, bool] | None:
        """Return the text that the core encodes by itself for this text, and whether to look for special tokens."""
        return (text, special) if self.is_unchanged(text, special) else None

    def _ids(self, piece: str, workers: int | None = None) -> list[int]:
        """Return the ids of a stretch without added tokens."""
        return self._inner.encode(piece, False, workers)

    def _ids_to_numpy(self, piece: str, workers: int | None = None) -> NDArray[np.uint32]:
        """Return the ids of a stretch without added tokens as an array."""
        return self._inner.encode_to_numpy(piece, False, workers)

    def _ids_and_spans(self, piece: str) -> tuple[list[int], NDArray[np.int64]]:
        """Return the ids of a stretch without added tokens, and their spans in bytes."""
        return self._inner.encode_with_offsets(piece, False, False)

    def _check_unchanged(self, text: str, special: bool, what: str) -> None:
        self._pipeline.check_unchanged(self, text, special, what)

    # From a text to stretches

    def _stretches(self, text: str, special: bool) -> Iterator[Stretch]:
        """Yield the stretches of a text, without places."""
        room = _core.Normalizer.most_bytes(text)
        for token, start, end in self._raw.segments(text, special):
            if token is not None:
                yield Stretch(token.id, "", None)
                continue
            changed = self._normalized(text[start:end], room)
            room -= len(changed)
            for inner, first, last in self._after.segments(changed, special):
                if inner is not None:
                    yield Stretch(inner.id, "", None)
                else:
                    yield from self._prefixed(changed[first:last], None)

    def _placed_stretches(self, text: str, special: bool) -> Iterator[Stretch]:
        """Yield the stretches of a text with their places."""
        whole, at = identity(text)
        room = _core.Normalizer.most_bytes(text)
        for token, start, end in self._raw.segments(text, special):
            piece, places = text[start:end], whole.cut(at[start], at[end])
            if token is not None:
                yield Stretch(token.id, piece, places)
                continue
            changed, places = self._normalized_places(piece, places, room)
            room -= len(changed)
            inner_at = identity(changed)[1]
            for inner, first, last in self._after.segments(changed, special):
                found, cut = changed[first:last], places.cut(inner_at[first], inner_at[last])
                if inner is not None:
                    yield Stretch(inner.id, found, cut)
                else:
                    yield from self._prefixed(found, cut)

    def _normalized_places(self, piece: str, places: Places, room: int) -> tuple[str, Places]:
        if self._normalizer is None:
            return piece, places
        changed, starts, ends = self._normalizer.apply_tracked(piece, room)
        base = int(places.starts[0]) if len(places.starts) else 0
        return changed, Places(starts + base, ends + base)

    def _prefixed(self, text: str, places: Places | None) -> Iterator[Stretch]:
        if not self._pipeline.splits.prefix:
            yield Stretch(None, text, places)
            return
        data = text.encode()
        ranges = [(0, len(data))] if self._before is None else self._before.ranges(data)
        for start, end in ranges:
            piece = data[start:end].decode()
            cut = None if places is None else places.cut(start, end)
            if not piece.startswith(" "):
                piece = f" {piece}"
                cut = cut and with_prefix(cut)
            yield Stretch(None, piece, cut)

    # Text to ids

    def encode(self, text: str, special: bool, workers: int | None = None) -> list[int]:
        """Run the pipeline, then the core's method of the same name; so do the following methods."""
        if ready := self._ready(text, special):
            return self._inner.encode(*ready, workers)
        ids: list[int] = []
        for id, piece, _ in self._stretches(text, special):
            if id is None:
                ids += self._ids(piece, workers)
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

        if ready := self._ready(text, special):
            return self._inner.encode_to_numpy(*ready, workers)
        parts = [
            self._ids_to_numpy(piece, workers) if id is None else np.array([id], np.uint32)
            for id, piece, _ in self._stretches(text, special)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint32)

    def encode_batch(self, texts: Iterable[str], special: bool, workers: int) -> list[list[int]]:
        """See `encode`."""
        texts = list(texts)
        ready = {i: found for i, text in enumerate(texts) if (found := self._ready(text, special))}
        looks = any(special for _, special in ready.values())
        ids = self._inner.encode_batch([text for text, _ in ready.values()], looks, workers)
        encoded = dict(zip(ready, ids, strict=True))
        return [encoded[i] if i in encoded else self.encode(text, special, workers) for i, text in enumerate(texts)]

    def encode_batch_to_numpy(
        self, texts: Iterable[str], special: bool, workers: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """See `encode`."""
        import numpy as np

        texts = list(texts)
        ready = [self._ready(text, special) for text in texts]
        if all(found is not None for found in ready):
            known = [found for found in ready if found is not None]
            looks = any(special for _, special in known)
            return self._inner.encode_batch_to_numpy([text for text, _ in known], looks, workers)
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
        return all_ids, in_characters(text, joined) if characters else joined

    def _encoded(self, text: str, special: bool) -> Iterator[tuple[Stretch, list[int], NDArray[np.int64]]]:
        """Yield each stretch with its ids and their spans in bytes."""
        import numpy as np

        for stretch in self._placed_stretches(text, special):
            id, piece, places = stretch
            assert places is not None
            if id is not None:
                yield stretch, [id], np.array([[places.starts[0], places.ends[-1]]], np.int64)
                continue
            ids, spans = self._ids_and_spans(piece)
            placed = np.stack([places.starts[spans[:, 0]], places.ends[spans[:, 1] - 1]], axis=1)
            yield stretch, ids, placed

    def encoded(self, text: str, special: bool) -> Encoded:
        """Return ids, tokens as Hugging Face spells them, and spans in characters."""
        from .template import Encoded

        all_ids: list[int] = []
        tokens: list[str] = []
        spans: list[tuple[int, int]] = []
        for stretch, ids, found in self._encoded(text, special):
            all_ids += ids
            tokens += [stretch.text] if stretch.id is not None else map(self.spelled, ids)
            spans += [(start, end) for start, end in in_characters(text, found).tolist()]
        return Encoded(all_ids, tokens, spans)

    def word_ids(self, text: str, special: bool) -> list[int]:
        """Return for each id the number of its pretoken; an added token is a pretoken of its own."""
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
            spans = self._ids_and_spans(piece)[1]
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
        if ready := self._ready(text, special):
            return self._inner.count(*ready, workers)
        stretches = self._stretches(text, special)
        return sum(1 if id is not None else len(self._ids_to_numpy(piece, workers)) for id, piece, _ in stretches)

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
    """A stream of text: a normalizer may look at all of the text, so no id is final before the end."""

    __slots__ = ("_core", "_pieces", "_special")

    def __init__(self, core: PipelineCore, special: bool) -> None:
        self._core, self._special = core, special
        self._pieces: list[str] = []

    def push(self, text: str) -> list[int]:
        """Add text; no id is final yet."""
        if not isinstance(text, str):
            raise TypeError(f"expected str, got {type(text).__name__}")
        self._pieces.append(text)
        return []

    def finish(self) -> list[int]:
        """End the text; return all its ids."""
        text, self._pieces = "".join(self._pieces), []
        return self._core.encode(text, self._special)
