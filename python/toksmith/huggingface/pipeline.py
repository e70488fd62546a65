"""Pipelines: the steps of a Hugging Face tokenizer before pretokens are merged, and after the ids are made.

For most tokenizers the core does everything by itself: one pattern, and special tokens. The others have a normalizer,
added tokens with conditions, or a space that is put before the text: then `pipeline_core` stands before the core, and
hands it stretches of text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core, patterns
from ..formats.gpt2 import unspell
from ..regex_dialects import from_oniguruma
from . import added, checks, decoders, normalizers, pretokenizers, template
from . import spaces as spaces_of_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from .added import AddedToken
    from .template import Template


_JOINED_BYTES: decoders.Stages = [("ByteLevel", [])]
"""The stages of a decoder that joins the bytes of tokens."""


class Staged(patterns.Pattern):
    """A pattern in stages, which no single pattern can replace. `text` names the stages."""

    stages: list[pretokenizers.Stage]

    def compiled(self) -> Any:
        """Refuse: there is no one pattern."""
        raise ValueError(f"this tokenizer splits in stages ({self.text}): no one pattern stands for them")

    def core(self) -> _core.Pretokenizer:
        """Return what the core runs."""
        return _core.Pretokenizer.of_stages(self.stages)


class Words(patterns.Pattern):
    """A pattern that splits nowhere, or before each space, as Metaspace does."""

    def compiled(self) -> Any:
        """Return None for a pattern that splits nowhere; refuse Metaspace, which is no pattern of `regex`."""
        if self.text is None:
            return None
        raise ValueError("this tokenizer splits before each space, by Metaspace: no pattern stands for that")

    def core(self) -> _core.Pretokenizer:
        """Return what the core runs."""
        return _core.Pretokenizer.of_spaces(self.text is not None)


class Pipeline:
    """The steps around the model of a Hugging Face tokenizer. Immutable.

    Its parts are those of the `tokenizer.json`; see `docs/huggingface.md` for the meaning of each.
    """

    __slots__ = (
        "_irregular",
        "_spec",
        "added_tokens",
        "decoder",
        "is_plain",
        "is_trivial",
        "normalizer",
        "pattern",
        "spaces",
        "splits",
        "template",
    )

    _irregular: frozenset[AddedToken]
    _spec: dict[str, Any]
    added_tokens: tuple[AddedToken, ...]
    """The added tokens, with their flags, by id."""
    decoder: decoders.Stages
    """The stages of the decoder."""
    is_plain: bool
    """Whether the core does everything by itself."""
    is_trivial: bool
    """Whether a plain `Tokenizer` has all that the pipeline does."""
    normalizer: normalizers.Steps
    pattern: patterns.Pattern
    spaces: spaces_of_text.Spaces | None
    """What becomes of spaces, if the model merges characters; None for byte-level tokenizers."""
    splits: pretokenizers.Splits
    template: Template | None

    def __init__(
        self, spec: dict[str, Any], kept: Iterable[int] = (), tokens: Iterable[AddedToken] | None = None
    ) -> None:
        if tokens is None:
            tokens = (added.AddedToken(**row) for row in spec["added_tokens"])
        self._set("_spec", {**spec, "kept": sorted(set(kept))})
        self._set("added_tokens", tuple(sorted(tokens)))
        from_oniguruma.check_total([spec["normalizer"], spec["pre_tokenizer"], spec["decoder"]])
        self._set("normalizer", normalizers.read(spec["normalizer"]))
        self._set("template", template.read(spec["post_processor"]))
        self._read_kind(spec)
        self._set("pattern", self._pattern())
        self._classify()

    def _classify(self) -> None:
        """Find out how much of the pipeline the core does by itself."""
        self._set("_irregular", self._find_irregular())
        plain = not (self.normalizer or self.splits.prefix or self.irregular() or self.spaces)
        plain = plain and self.decoder == _JOINED_BYTES
        self._set("is_plain", plain and all(token.special for token in self.added_tokens))
        self._set("is_trivial", self.is_plain and self._is_trivial())

    def _read_kind(self, spec: dict[str, Any]) -> None:
        """Read the parts that differ between byte-level tokenizers and those that merge characters."""
        merges_characters = spec.get("characters") is not None
        spaces = None
        splits = pretokenizers.Splits([], False, [], [])
        if merges_characters:
            spaces = spaces_of_text.read(self.normalizer, spec["pre_tokenizer"])
            if not spaces.is_all:
                splits = pretokenizers.read(spec["pre_tokenizer"], is_byte_level=False)
        else:
            splits = pretokenizers.read(spec["pre_tokenizer"])
        # Without a decoder the original would join the spellings of bytes by spaces: no text that anybody wants.
        joins_bytes = spec["decoder"] is None and not merges_characters
        decoder = list(_JOINED_BYTES) if joins_bytes else decoders.read(spec["decoder"])
        for name, value in (("spaces", spaces), ("decoder", decoder), ("splits", splits)):
            self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Pipeline is immutable: cannot set {name!r}")

    def _pattern(self) -> patterns.Pattern:
        if self.spaces is not None and self.spaces.is_all:
            text = "before each space" if self.spaces.splits else None
            return Words(text, 0, None, "keep", None)
        one = pretokenizers.one_pattern(self.splits)
        if one is not None:
            return one
        kinds = [f"{stage.kind} {stage.behavior}" for stage in self.splits.after]
        staged = Staged(", ".join(kinds), 0, None, "drop", patterns.installed_unicode())
        staged.stages = self.splits.after
        return staged

    def _is_trivial(self) -> bool:
        post = self._spec["post_processor"]
        without = post is None or (post.get("type") == "ByteLevel" and not self.template_trims)
        beyond_ascii = (t.content for t in self.added_tokens if not t.content.isascii())
        spells_bytes = any(unspell(content) not in (None, content.encode()) for content in beyond_ascii)
        has_settings = {"truncation", "padding"} & self._spec.keys()
        return without and not (has_settings or self.is_staged or spells_bytes)

    @property
    def template_trims(self) -> bool:
        """Whether the post-processor leaves whitespace out of offsets."""
        return self.template is not None and self.template.trims_offsets

    @property
    def is_staged(self) -> bool:
        """Whether no single pattern splits like the pipeline."""
        return bool(self.splits.before) or isinstance(self.pattern, Staged)

    @property
    def spec(self) -> dict[str, Any]:
        """All parts of the pipeline as JSON has them: those of a `tokenizer.json` without its model. A copy."""
        import copy

        return copy.deepcopy(self._spec)

    @classmethod
    def of_spec(cls, spec: Any) -> Self:
        """Return the pipeline of a saved `spec`.

        Raises:
            ValueError: The spec is malformed; names the part.
        """
        checks.checked(spec, dict, "pipeline")
        for name, kind in (("added_tokens", list), ("kept", list)):
            checks.field(spec, name, kind, "pipeline")
        for i, row in enumerate(spec["added_tokens"]):
            _check_row(row, f"pipeline.added_tokens[{i}]")
        kept = {checks.checked_id(id, "pipeline.kept") for id in spec["kept"]}
        parts = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
        _check_characters(spec.get("characters"))
        rest = {name: spec[name] for name in ("truncation", "padding", "characters") if name in spec}
        return cls({"added_tokens": spec["added_tokens"], **{part: spec.get(part) for part in parts}, **rest}, kept)

    def with_tokens(self, rows: Iterable[dict[str, Any]]) -> Pipeline:
        """Return a pipeline with more added tokens, which no vocabulary has."""
        changed = object.__new__(Pipeline)
        for name in self.__slots__:
            changed._set(name, getattr(self, name))
        rows = list(rows)
        changed._set("_spec", {**self._spec, "added_tokens": [*self._spec["added_tokens"], *rows]})
        tokens = tuple(sorted([*self.added_tokens, *(added.AddedToken(**row) for row in rows)]))
        changed._set("added_tokens", tokens)
        changed._classify()
        return changed

    def irregular(self) -> frozenset[AddedToken]:
        """Return the added tokens that the core does not find in the same way as the original."""
        return self._irregular

    def _find_irregular(self) -> frozenset[AddedToken]:
        steps, kept = _core.Normalizer(self.normalizer), set(self._spec["kept"])
        raw = [token.content.encode() for token in self.added_tokens if not token.normalized]
        mixed = _core.overlap(raw, [token.content.encode() for token in self.added_tokens if token.normalized])
        return frozenset(
            token
            for token in self.added_tokens
            if not token.is_plain
            or token.id in kept
            or (token.normalized and (mixed or steps.apply(token.content) != token.content))
        )

    def reasons(self) -> list[str]:
        """Return the names of the parts that change the ids, besides one pattern and special tokens."""
        normalizer = [f"the normalizer ({', '.join(name for name, _ in self.normalizer)})"] if self.normalizer else []
        merging = ["merging of characters instead of bytes"] if self.spaces is not None else []
        prefix = ["a space before the text (add_prefix_space)"] if self.splits.prefix else []
        flagged = self.irregular() or {t for t in self.added_tokens if not t.special}
        names = sorted(token.content for token in flagged)[:3]
        return (
            merging
            + normalizer
            + prefix
            + ([f"added tokens with conditions ({', '.join(map(repr, names))})"] if names else [])
        )

    def around(self, core: _core.Tokenizer) -> _core.Tokenizer:
        """Return a core that runs the steps of the pipeline before its own, and decodes as the file says."""
        core = core if self.is_plain else core.with_pipeline(self._for_core())
        normalized = _core.Normalizer(self.normalizer).apply
        names = {t.id: normalized(t.content) if t.normalized else t.content for t in self.added_tokens}
        return core.with_decoder(self.decoder, names, self.spelling)

    @property
    def spelling(self) -> str:
        """How the file spells tokens: in "bytes", in "characters", or in characters with U+2581 for "spaces"."""
        return "bytes" if self.spaces is None else "spaces" if self.spaces.are_plain else "characters"

    def _for_core(self) -> _core.Pipeline:
        spaces, before = self.spaces, self.splits.before
        if spaces is None:
            only_prefix = None if before else "missing" if self.splits.prefix else ""
            prefix = "missing" if self.splits.prefix else ""
        else:
            only_prefix = spaces.prefix if spaces.are_plain else ""
            prefix = spaces.missing_prefix
        return _core.Pipeline(
            [
                (t.id, t.content, t.single_word, t.lstrip, t.rstrip, t.normalized, t.special)
                for t in self.added_tokens
            ],
            mergeable=set(self._spec["kept"]),
            normalizer=_core.Normalizer(self.normalizer),
            splits=_core.Pretokenizer.of_stages(before) if before else None,
            prefix=prefix,
            only_prefix=only_prefix,
            spaces_are_plain=spaces is not None and spaces.are_plain,
        )

    def check_unchanged(self, core: _core.Tokenizer, text: str, special: bool, what: str) -> None:
        """Check that the core does everything for this text.

        Raises:
            ValueError: It does not, so `what` is not defined for this text; names the parts.
        """
        if not core.leaves(text, special):
            why = " and ".join(self.reasons())
            raise ValueError(f"{what} works on texts that are encoded as they stand; this one meets {why}")

    def check_fits(self, format_name: str) -> None:
        """Check that a format without a pipeline can hold the tokenizer.

        Raises:
            ValueError: It cannot; names the parts.
        """
        reasons = self.reasons() + (["splitting in stages"] if self.is_staged else [])
        if reasons:
            raise ValueError(f"{format_name} cannot hold {' and '.join(reasons)}; save() keeps everything")


def _check_characters(options: Any) -> None:
    if options is None:
        return
    checks.checked(options, dict, "pipeline.characters")
    for name in ("byte_fallback", "fuse_unk"):
        checks.field(options, name, bool, "pipeline.characters")
    if options.get("unk_token") is not None:
        checks.checked(options["unk_token"], str, "pipeline.characters.unk_token")


def _check_row(row: Any, place: str) -> None:
    checks.checked(row, dict, place)
    checks.checked_id(row.get("id"), place)
    checks.field(row, "content", str, place)
    for flag in added.FLAGS:
        checks.field(row, flag, bool, place)
    if len(row) != 2 + len(added.FLAGS):
        raise checks.refused(place, "fields that are not known")
