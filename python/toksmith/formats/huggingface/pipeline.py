"""Pipelines: the steps of a Hugging Face tokenizer before pretokens are merged, and after the ids are made.

The core runs them; for most tokenizers they come to a pattern and special tokens.
"""

from __future__ import annotations

import copy
import json
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ... import _core, patterns
from ..spelling import unspell
from . import checks
from .checks import Json
from .file_patterns import steps_of


class AddedToken(NamedTuple):
    """An added token, with the id that the original gives it."""

    id: int
    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool

    @property
    def is_plain(self) -> bool:
        """Whether the token is found wherever its content occurs, and takes no whitespace around it."""
        return not (self.single_word or self.lstrip or self.rstrip)


_FLAGS = AddedToken._fields[2:]
_row_of = operator.itemgetter(*AddedToken._fields)


class Staged(patterns.Pattern):
    """What cuts pretokens where no single pattern does: stages, or Metaspace. `text` names them."""

    steps: _core.Pipeline

    def compiled(self) -> patterns.Regex:
        """Return None if nothing is cut; refuse anything else, which is no pattern of `regex`."""
        if self.text is None:
            return None
        raise ValueError(f"this tokenizer splits in stages ({self.text}): no single pattern describes it")

    def core(self) -> _core.Pretokenizer:
        """Return what the core runs."""
        return self.steps.pretokenizer()


class Template:
    """Hugging Face's post-processor, which puts tokens around encoded texts. Immutable."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.PostProcessor) -> None:
        self._core = core

    @property
    def trims_offsets(self) -> bool:
        """Whether whitespace at the ends of tokens is left out of their offsets."""
        return self._core.trims_offsets

    def added(self, is_pair: bool = False) -> int:
        """Return how many ids are added around one text, or two."""
        return self._core.added(is_pair)

    def ids(self, first: Sequence[int], second: Sequence[int] | None = None) -> list[int]:
        """Return the ids of one text, or two, with those that are added."""
        texts = [list(ids) for ids in (first, second) if ids is not None]
        columns = [(ids, [""] * len(ids), [(0, 0)] * len(ids)) for ids in texts]
        return self._core.process([_core.HuggingFaceEncoding.of_columns(*each) for each in columns], True).ids

    def around(self) -> tuple[list[int], list[int]] | None:
        """Return the ids that are put before and behind a text; None if the text is left out, or repeated."""
        text = max(self.ids([]), default=0) + 1  # an id that is not added
        ids = self.ids([text])
        if ids.count(text) != 1:
            return None
        at = ids.index(text)
        return ids[:at], ids[at + 1 :]


class Pipeline:
    """The steps around the model of a Hugging Face tokenizer. Immutable.

    Its parts are those of the `tokenizer.json`; see `docs/huggingface.md` for the meaning of each. `kept` are the ids
    of added tokens that ordinary text can be encoded to as well, if the model is byte-level.
    """

    __slots__ = ("_added_tokens", "_spec", "is_plain", "is_trivial", "pattern", "steps", "template")

    _added_tokens: tuple[AddedToken, ...] | None
    _spec: Json
    is_plain: bool  # whether the core does everything without these steps
    is_trivial: bool  # whether a plain `Tokenizer` has all that the pipeline does
    pattern: patterns.Pattern
    steps: _core.Pipeline
    template: Template | None

    def __init__(self, spec: Json, kept: Collection[int] = ()) -> None:
        tokens = sorted(map(_row_of, spec["added_tokens"]))
        parts = {name: spec[name] for name in ("normalizer", "pre_tokenizer", "decoder")}
        steps = steps_of(tokens, kept, **parts)
        if steps.spelling != "bytes":
            kept = ()
        elif "characters" in spec:
            spec = {name: part for name, part in spec.items() if name != "characters"}
        self._set("_spec", {**spec, "kept": sorted(set(kept))})
        post_processor = spec["post_processor"]
        core = None if post_processor is None else _core.PostProcessor(json.dumps(post_processor))
        self._set("template", None if core is None else Template(core))
        self._set("pattern", _pattern_of(steps))
        self._take(steps)

    def _take(self, steps: _core.Pipeline) -> None:
        """Set what depends on the added tokens."""
        self._set("steps", steps)
        self._set("_added_tokens", None)
        self._set("is_plain", steps.is_plain)
        self._set("is_trivial", steps.is_plain and self._is_trivial())

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Pipeline is immutable: cannot set {name!r}")

    def _is_trivial(self) -> bool:
        post = self._spec["post_processor"]
        trims = self.template is not None and self.template.trims_offsets
        without = post is None or (post.get("type") == "ByteLevel" and not trims)
        contents = (row["content"] for row in self._spec["added_tokens"])
        beyond_ascii = (content for content in contents if not content.isascii())
        spells_bytes = any(unspell(content) not in (None, content.encode()) for content in beyond_ascii)
        has_settings = {"truncation", "padding"} & self._spec.keys()
        return without and not (has_settings or self.is_staged or spells_bytes)

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The added tokens, with their flags, by id."""
        if self._added_tokens is None:
            self._set("_added_tokens", tuple(sorted(AddedToken(*row) for row in self.steps.added_tokens)))
        return self._added_tokens or ()

    @property
    def is_staged(self) -> bool:
        """Whether no single pattern splits like the pipeline."""
        in_stages = isinstance(self.pattern, Staged) and self.steps.splits_at_spaces is None
        return self.steps.has_prefix is None or in_stages

    @property
    def merges_characters(self) -> bool:
        """Whether the model merges characters instead of bytes."""
        return self.steps.spelling != "bytes"

    @property
    def spec(self) -> Json:
        """All parts of the pipeline as JSON has them: those of a `tokenizer.json` without its model. A copy."""
        return copy.deepcopy(self._spec)

    @classmethod
    def of_spec(cls, spec: Json) -> Pipeline:
        """Return the pipeline of a saved `spec`."""
        checks.checked(spec, dict, "pipeline")
        for i, row in enumerate(checks.field(spec, "added_tokens", list, "pipeline")):
            _check_row(row, f"pipeline.added_tokens[{i}]")
        kept = {checks.checked_id(id, "pipeline.kept") for id in checks.field(spec, "kept", list, "pipeline")}
        characters = spec.get("characters")
        _check_characters(characters)
        parts = {name: spec.get(name) for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")}
        others: Json = {name: spec[name] for name in ("truncation", "padding", "characters") if name in spec}
        made = cls({"added_tokens": spec["added_tokens"], **parts, **others}, kept)
        if made.merges_characters != (characters is not None):
            raise checks.refused("pipeline.characters", "it does not belong to the pre-tokenizer")
        return made

    def with_tokens(self, rows: Iterable[Json]) -> Pipeline:
        """Return a pipeline with more added tokens, which no vocabulary has."""
        rows = list(rows)
        changed = object.__new__(Pipeline)
        changed._set("_spec", {**self._spec, "added_tokens": [*self._spec["added_tokens"], *rows]})
        changed._set("template", self.template)
        changed._set("pattern", self.pattern)
        changed._take(self.steps.with_tokens([*map(_row_of, rows)]))
        return changed

    def renumbered(self, new_ids: Mapping[int, int]) -> Pipeline:
        """Return the pipeline for other ids; added tokens without a new one are left out.

        Raises:
            ValueError: The template or the padding has an id without a new one.
        """
        spec = self.spec
        kept = [new_ids[id] for id in spec.pop("kept") if id in new_ids]
        rows = [{**row, "id": new_ids[row["id"]]} for row in spec["added_tokens"] if row["id"] in new_ids]
        for name in spec.keys() & {"post_processor", "padding"}:
            spec[name] = json.loads(_core.renumbered(json.dumps(spec[name]), dict(new_ids)))
        return Pipeline({**spec, "added_tokens": rows}, kept)

    def reasons(self) -> list[str]:
        """Return the names of the parts that change the ids, besides one pattern and special tokens."""
        normalizer = dict.fromkeys(self.steps.normalizer)
        irregular = set(self.steps.irregular())
        flagged = (token for token in self.added_tokens if token.id in irregular or not token.special)
        names = sorted(token.content for token in flagged)[:3]
        return [
            *(["merging of characters instead of bytes"] if self.merges_characters else []),
            *([f"the normalizer ({', '.join(normalizer)})"] if normalizer else []),
            *(["a space before the text (add_prefix_space)"] if self.steps.has_prefix else []),
            *(["a change of its parts before they are split"] if self.steps.has_prefix is None else []),
            *([f"added tokens with conditions ({', '.join(map(repr, names))})"] if names else []),
        ]

    def check_fits(self, format_name: str) -> None:
        """Check that a format without a pipeline can hold the tokenizer."""
        reasons = self.reasons() + (["splitting in stages"] if self.is_staged else [])
        if reasons:
            raise ValueError(f"{format_name} cannot hold {' and '.join(reasons)}; save() keeps everything")


def _pattern_of(steps: _core.Pipeline) -> patterns.Pattern:
    if steps.pattern is not None:
        source, keeps_unmatched = steps.pattern
        pattern = patterns.of_source(source, 0, "keep")
        # The named patterns match all text.
        return pattern if keeps_unmatched or pattern.name else patterns.of_source(source, 0, "drop")
    if steps.splits_at_spaces is None and not steps.stages:
        return patterns.resolve(None)
    if steps.splits_at_spaces is not None:
        staged = Staged("before each space" if steps.splits_at_spaces else None, 0, None, "keep", None)
    else:
        kinds = ", ".join(f"{kind} {behavior}" for kind, _, behavior, _ in steps.stages)
        staged = Staged(kinds, 0, None, "drop", patterns.installed_unicode())
    staged.steps = steps
    return staged


def _check_characters(options: Json | None) -> None:
    if options is None:
        return
    checks.checked(options, dict, "pipeline.characters")
    for name in ("byte_fallback", "fuse_unk"):
        checks.field(options, name, bool, "pipeline.characters")
    if options.get("unk_token") is not None:
        checks.checked(options["unk_token"], str, "pipeline.characters.unk_token")


def _check_row(row: Json, place: str) -> None:
    checks.checked(row, dict, place)
    checks.checked_id(row.get("id"), place)
    checks.field(row, "content", str, place)
    for flag in _FLAGS:
        checks.field(row, flag, bool, place)
    if len(row) != 2 + len(_FLAGS):
        raise checks.refused(place, "unknown fields")
