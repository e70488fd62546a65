"""Post-processors: the ids that are put around a text, and whitespace that is left out of offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .checks import checked, checked_id, field, kind_of, refused, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DEPTH = 20
"""Most sequences inside each other."""

MAX_PIECES = 256
"""Most pieces of a template."""
MAX_TOKENS = 4096
"""Most tokens that a template adds."""
MAX_TEXTS = 4
"""How often one text may stand in a template."""


class Piece(NamedTuple):
    """A piece of a template: a text ("A" or "B"), or tokens that are added; with a type id."""

    sequence: str | None
    tokens: tuple[tuple[str, int], ...]
    type_id: int


class Encoded(NamedTuple):
    """An encoded text: ids, tokens as Hugging Face spells them, and their places in characters."""

    ids: list[int]
    tokens: list[str]
    spans: list[tuple[int, int]]


class Part(NamedTuple):
    """A text, or tokens that are added: as `Encoded`, with type ids, and which text it is (None: added tokens)."""

    ids: list[int]
    tokens: list[str]
    spans: list[tuple[int, int]]
    type_ids: list[int]
    sequence: int | None


class Step(NamedTuple):
    """One post-processor: it trims (None: no; else whether a space was put before the text), or adds tokens."""

    trims: bool | None
    single: tuple[Piece, ...]
    pair: tuple[Piece, ...]
    resets_types: bool


class Template:
    """Hugging Face's post-processor, which puts tokens around encoded texts. Immutable."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = tuple(steps)

    @property
    def single(self) -> tuple[Piece, ...]:
        """The pieces around one text; empty if nothing is added."""
        return next((step.single for step in self._steps if step.single), ())

    @property
    def pair(self) -> tuple[Piece, ...]:
        """The pieces around two texts; empty if nothing is added."""
        return next((step.pair for step in self._steps if step.pair), ())

    @property
    def trims_offsets(self) -> bool:
        """Whether whitespace at the ends of tokens is left out of their offsets."""
        return any(step.trims is not None for step in self._steps)

    def added(self, is_pair: bool = False) -> int:
        """Return how many ids are added around one text, or two."""
        return sum(len(piece.tokens) for step in self._steps for piece in (step.pair if is_pair else step.single))

    def ids(self, first: Sequence[int], second: Sequence[int] | None = None) -> list[int]:
        """Return the ids of one text, or two, with those that are added."""
        texts = [Encoded(list(ids), [], []) for ids in (first, second) if ids is not None]
        return [id for part in self.process(texts) for id in part.ids]

    def process(self, texts: Sequence[Encoded], add_special_tokens: bool = True) -> list[Part]:
        """Return the parts of the whole in order: each text, and each group of added tokens.

        Args:
            texts: One text, or two.
            add_special_tokens: Whether tokens are added.
        """
        encodings = [[Part(*text, [i] * len(text.ids), i)] for i, text in enumerate(texts)]
        for step in self._steps:
            if step.trims is not None:
                encodings = [_trimmed_parts(parts, step.trims) for parts in encodings]
            if step.resets_types:
                encodings = [_of_type(parts, 0) for parts in encodings]
            if step.resets_types and add_special_tokens:
                encodings = [_framed(step, parts, i == 0) for i, parts in enumerate(encodings)]
            elif (pieces := step.pair if len(encodings) > 1 else step.single) and not step.resets_types:
                # The original makes an encoding of each added token, and so the next step sees each by itself.
                encodings = [parts for piece in pieces for parts in _placed(piece, encodings, add_special_tokens)]
        return [part for parts in encodings for part in parts]


def _of_type(parts: list[Part], type_id: int) -> list[Part]:
    return [part._replace(type_ids=[type_id] * len(part.ids)) for part in parts]


def _added(piece: Piece) -> Part:
    ids, tokens = [id for _, id in piece.tokens], [token for token, _ in piece.tokens]
    return Part(ids, tokens, [(0, 0)] * len(ids), [piece.type_id] * len(ids), None)


def _framed(step: Step, parts: list[Part], is_first: bool) -> list[Part]:
    pieces = step.single if is_first else step.pair[len(step.single) :]
    return [part for piece in pieces for part in ([_added(piece)] if piece.sequence is None else parts)]


def _placed(piece: Piece, encodings: list[list[Part]], add: bool) -> list[list[Part]]:
    if piece.sequence is not None:
        return [_of_type(encodings[0 if piece.sequence == "A" else 1], piece.type_id)]
    return [[_added(piece)]] if add else []


def _is_space(character: str) -> bool:
    """Whether a character of a token's spelling is whitespace; Python counts four separators that Rust does not."""
    return character == "Ġ" or (character.isspace() and not "\x1c" <= character <= "\x1f")


def _trimmed_parts(parts: list[Part], prefixed: bool) -> list[Part]:
    return [_trimmed(part, prefixed and i == 0, prefixed) for i, part in enumerate(parts)]


def _trimmed(part: Part, starts: bool, prefixed: bool) -> Part:
    spans = []
    for i, (token, (start, end)) in enumerate(zip(part.tokens, part.spans, strict=True)):
        leading = next((at for at, character in enumerate(token) if not _is_space(character)), len(token))
        trailing = next((at for at, character in enumerate(reversed(token)) if not _is_space(character)), len(token))
        if leading > 0:
            # A space that was put before the text is no part of the text.
            kept = ((i == 0 and starts) or (start == 0 and prefixed)) and leading == 1
            start = start if kept else min(start + leading, end)
        if trailing > 0 and end >= trailing:
            end = max(end - trailing, start)
        spans.append((start, end))
    return part._replace(spans=spans)


def read(part: Any, place: str = "$.post_processor") -> Template | None:
    """Return the template of a post-processor; None if there is no post-processor.

    Raises:
        ValueError: A part is malformed or not one that toksmith has; names it.
    """
    return None if part is None else Template(_steps(part, place, 0))


def _steps(part: Any, place: str, depth: int) -> list[Step]:
    kind = kind_of(part, place)
    if kind == "Sequence":
        if depth == MAX_DEPTH:
            raise refused(place, f"more than {MAX_DEPTH} sequences inside each other")
        rows = field(part, "processors", list, place)
        steps = [step for i, row in enumerate(rows) for step in _steps(row, f"{place}.processors[{i}]", depth + 1)]
        for texts in (1, 2):
            _check_counts(steps, texts, place)
        return steps
    if kind == "ByteLevel":
        trims = field(part, "trim_offsets", bool, place)
        prefixed = field(part, "add_prefix_space", bool, place)
        return [Step(prefixed if trims else None, (), (), False)]
    if kind == "RobertaProcessing":
        return [_roberta(part, place)]
    if kind == "TemplateProcessing":
        return [_template(part, place)]
    raise refused(place, f"the post-processor {kind} is not one that toksmith has")


def _check_counts(steps: Sequence[Step], count: int, place: str) -> None:
    """Refuse a template after a step that makes more than the two encodings that it takes."""
    for step in steps:
        pieces = step.pair if count > 1 else step.single
        if step.resets_types or not pieces:
            continue
        if count > 2:
            raise refused(place, f"a TemplateProcessing takes one or two parts, and the one before it makes {count}")
        count = len(pieces)


def _roberta(part: dict[str, Any], place: str) -> Step:
    cls, sep = (Piece(None, (_named(part, name, place),), 0) for name in ("cls", "sep"))
    first, second = Piece("A", (), 0), Piece("B", (), 0)
    prefixed = field(part, "add_prefix_space", bool, place)
    trims = prefixed if field(part, "trim_offsets", bool, place) else None
    return Step(trims, (cls, first, sep), (cls, first, sep, sep, second, sep), True)


def _named(part: dict[str, Any], name: str, place: str) -> tuple[str, int]:
    pair = field(part, name, list, place)
    if len(pair) != 2:
        raise refused(f"{place}.{name}", f"expected a token and its id, got {shown(pair)}")
    return checked(pair[0], str, f"{place}.{name}[0]"), checked_id(pair[1], f"{place}.{name}[1]")


def _template(part: dict[str, Any], place: str) -> Step:
    specials = field(part, "special_tokens", dict, place)
    single, pair = (_pieces(part, name, specials, place) for name in ("single", "pair"))
    if any(piece.sequence == "B" for piece in single):
        raise refused(f"{place}.single", "it has the second text of a pair")
    return Step(None, single, pair, False)


def _pieces(part: dict[str, Any], name: str, specials: dict[str, Any], place: str) -> tuple[Piece, ...]:
    rows = field(part, name, list, place)
    if len(rows) > MAX_PIECES:
        raise refused(f"{place}.{name}", f"more than {MAX_PIECES} pieces")
    pieces: list[Piece] = []
    for i, row in enumerate(rows):
        pieces.append(_piece(row, specials, f"{place}.{name}[{i}]"))
        if sum(len(piece.tokens) for piece in pieces) > MAX_TOKENS:
            raise refused(f"{place}.{name}", f"more than {MAX_TOKENS} tokens are added")
    for text in ("A", "B"):
        if sum(piece.sequence == text for piece in pieces) > MAX_TEXTS:
            raise refused(f"{place}.{name}", f"the text {text} is there more than {MAX_TEXTS} times")
    return tuple(pieces)


def _piece(row: Any, specials: dict[str, Any], place: str) -> Piece:
    if not isinstance(row, dict) or len(row) != 1 or next(iter(row)) not in ("Sequence", "SpecialToken"):
        raise refused(place, f"expected a Sequence or a SpecialToken, got {shown(row)}")
    kind = next(iter(row))
    content = field(row, kind, dict, place)
    id, type_id = field(content, "id", str, place), checked_id(content.get("type_id"), f"{place}.type_id")
    if kind == "Sequence":
        if id not in ("A", "B"):
            raise refused(place, f"the sequence {shown(id)} is neither A nor B")
        return Piece(id, (), type_id)
    if id not in specials:
        raise refused(place, f"the token {shown(id)} is not in special_tokens")
    token = checked(specials[id], dict, place)
    ids, names = field(token, "ids", list, place), field(token, "tokens", list, place)
    if len(ids) != len(names):
        raise refused(place, f"{len(ids)} ids for {len(names)} tokens")
    pairs = zip(names, ids, strict=True)
    return Piece(None, tuple((checked(text, str, place), checked_id(id, place)) for text, id in pairs), type_id)
