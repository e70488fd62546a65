"""The treatment of spaces in a tokenizer that merges characters: SentencePiece replaces them by U+2581, and adds one.

The core works with plain spaces where it can: a token that the file spells with U+2581 has a space in its bytes, and
a text needs no copy in which spaces are replaced. That is exact if a text has no space left when it is merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .characters import META
from .checks import field, kind_of, refused, shown
from .decoders import scheme

if TYPE_CHECKING:
    from .normalizers import Steps


class Metaspace(NamedTuple):
    """The pre-tokenizer of this name: which texts get a U+2581 in front, and whether each U+2581 begins a word."""

    scheme: str
    split: bool


class Spaces(NamedTuple):
    """What becomes of the spaces of a text.

    Attributes:
        metaspace: The pre-tokenizer, if there is one.
        are_plain: Whether the core has a plain space for each U+2581.
        prefix: If nothing else happens to a text, which stretches between added tokens get a space in front: all
            ("always"), those that do not begin with a space ("missing"), of these only the one that begins the text
            ("first"), or none (""). None if more happens to a text.
        is_all: Whether the pre-tokenizer does nothing else.
    """

    metaspace: Metaspace | None
    are_plain: bool
    prefix: str | None
    is_all: bool = True

    @property
    def missing_prefix(self) -> str:
        """Which stretches get a space in front if they lack one: all ("missing"), the first ("first"), none ("")."""
        scheme = "never" if self.metaspace is None else self.metaspace.scheme
        return {"always": "missing", "first": "first", "never": ""}[scheme]

    @property
    def splits(self) -> bool:
        """Whether each space begins a word."""
        return self.metaspace is not None and self.metaspace.split


_TO_META = ("Replace", ["literal", " ", META])
_PREPEND = ("Prepend", [META])
_MAKE_NO_SPACE = ("NFC", "NFD", "Lowercase", "StripAccents", "Strip")


def read(steps: Steps, pre_tokenizer: Any, place: str = "$.pre_tokenizer") -> Spaces:
    """Return what becomes of spaces.

    Args:
        steps: The steps of the normalizer.
        pre_tokenizer: The pre-tokenizer of the file.
        place: Its place in the file.

    Raises:
        ValueError: The pre-tokenizer is malformed, or cannot be reproduced exactly; names it.
    """
    if not _is_about_spaces(pre_tokenizer, _leaves_no_space(steps)):
        return Spaces(None, are_plain=False, prefix=None, is_all=False)
    metaspace = _metaspace(pre_tokenizer, place)
    are_plain = metaspace is not None or _leaves_no_space(steps)
    prefix = None
    if all(step in (_TO_META, _PREPEND) for step in steps) and steps.count(_PREPEND) <= 1 and are_plain:
        prepends = steps.count(_PREPEND) == 1
        if metaspace is None or metaspace.scheme == "never":
            prefix = "always" if prepends else ""
        elif not prepends:
            prefix = "first" if metaspace.scheme == "first" else "missing"
    return Spaces(metaspace, are_plain, prefix)


def _leaves_no_space(steps: Steps) -> bool:
    """Whether a normalized text has no space."""
    if _TO_META not in steps:
        return False
    return all(_makes_no_space(step) for step in steps[steps.index(_TO_META) + 1 :])


def _makes_no_space(step: tuple[str, list[Any]]) -> bool:
    name, arguments = step
    return name in _MAKE_NO_SPACE or (name in ("Prepend", "Replace") and " " not in arguments[-1])


def _is_about_spaces(part: Any, no_space: bool) -> bool:
    """Whether a pre-tokenizer does nothing, or is Metaspace, which may stand alone in a sequence."""
    if not isinstance(part, dict):
        return part is None
    rows = part.get("pretokenizers")
    if part.get("type") == "Sequence" and isinstance(rows, list) and len(rows) == 1:
        return _is_about_spaces(rows[0], no_space)
    # Gemma's pre-tokenizer splits at spaces, and the normalizer leaves none.
    is_idle = part.get("type") == "Split" and part.get("pattern") == {"String": " "} and part.get("invert") is False
    return part.get("type") == "Metaspace" or (no_space and is_idle)


def _metaspace(part: Any, place: str) -> Metaspace | None:
    if part is None or part["type"] == "Split":
        return None
    if part["type"] == "Sequence":
        return _metaspace(part["pretokenizers"][0], f"{place}.pretokenizers[0]")
    replacement = field(part, "replacement", str, place)
    if replacement != META:
        raise refused(f"{place}.replacement", f"{shown(replacement)}: toksmith reads U+2581 alone")
    split = part.get("split")
    return Metaspace(scheme(part, place), True if split is None else field(part, "split", bool, place))


def words_of(part: Any, text: str) -> list[tuple[str, tuple[int, int]]] | None:
    """Return the words that Metaspace makes of a text, each with its place in characters; None for another part.

    A prefix has the place of the first character.
    """
    if kind_of(part, "$.pre_tokenizer") != "Metaspace":
        return None
    found = _metaspace(part, "$.pre_tokenizer")
    assert found is not None
    changed = text.replace(" ", META)
    added = int(bool(text) and found.scheme != "never" and not changed.startswith(META))
    changed = META * added + changed
    cuts = [at for at, character in enumerate(changed) if character == META and at] if found.split else []
    ends = [*cuts, len(changed)] if changed else []
    starts = [0, *cuts]
    return [
        (changed[start:end], (max(start - added, 0), max(end - added, 1)))
        for start, end in zip(starts, ends, strict=False)
    ]
