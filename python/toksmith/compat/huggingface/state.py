"""The state of a tokenizer: a `toksmith.Tokenizer`, its added tokens, and the file it comes from. Immutable.

A change of a part gives a new state, with a new `toksmith.Tokenizer`.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ... import _core
from ..._core import unspell
from ..._internal.messages import shown
from ...tokenizer import Tokenizer as Native
from . import components
from .components import FLAGS, Added, Decoder, Json, Normalizer

_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}


class Token(NamedTuple):
    """A token that the model makes: id, spelling, and its place in bytes of the spelled pretoken."""

    id: int
    value: str
    offsets: tuple[int, int]


class State:
    """A tokenizer, or its other parts before it has a vocabulary.

    Args:
        core: The tokenizer that encodes, `trained`; None before there is a vocabulary.
        added: The added tokens.
        source: The content of the `tokenizer.json`, whose added tokens may differ from `added`; None for no file.
    """

    def __init__(self, core: Native | None, added: Added, source: Json | None) -> None:
        self.trained, self.added, self._source = core, added, source

    @property
    def core(self) -> Native:
        """The tokenizer that encodes; `ValueError` before there is a vocabulary."""
        if self.trained is None:
            raise ValueError("this tokenizer has no vocabulary yet: train it, or load one")
        return self.trained

    def spelled(self, id: int) -> str:
        """Return the spelling of an id; `KeyError` if it has no token."""
        name = self._added_spelling.get(id)
        return self.core._core.spelled(id) if name is None else name

    @functools.cached_property
    def _added_spelling(self) -> dict[int, str]:
        """The original's spelling of each added id: the normalized content if the token is normalized."""
        normalizer = Normalizer.of(self.part("normalizer")) if self.added.rows else None
        return {
            id: normalizer.normalize_str(row["content"]) if row["normalized"] and normalizer else row["content"]
            for id, row in self.added.rows.items()
        }

    # As a file

    def content(self) -> Json:
        """Return the content of a `tokenizer.json`: a new dictionary, of parts that must not be changed."""
        source = self._source
        content: Json = json.loads(self.core._core.written("huggingface")[0]) if source is None else source
        return {**content, "added_tokens": list(self.added.rows.values())}

    @property
    def settings(self) -> Json:
        """Post-processor, truncation and padding as the tokenizer came with them."""
        content: Json | None = self.core._core.origin()["content"]
        pipeline = self.core.pipeline
        return content or ({} if pipeline is None else pipeline.spec)

    def part(self, name: str) -> Json | None:
        """Return the normalizer, pre-tokenizer or decoder, as the file has it."""
        if source := self.settings if self._source is None else self._source:
            part: Json | None = source.get(name)
            return part
        if name == "pre_tokenizer":
            return self.core._core.pre_tokenizer()
        return dict(_BYTE_LEVEL) if name == "decoder" else None

    def with_part(self, name: str, part: Json | None) -> State:
        """Return a state with another normalizer, pre-tokenizer or decoder."""
        return of_changed({**self.content(), name: None if part is None else dict(part)}, self.added)

    def with_tokens(self, tokens: Iterable[object], special: bool) -> tuple[State, int]:
        """Return a state with more added tokens, and how many of them changed something."""
        added, changed = self.added.with_tokens(tokens, special, self.model_id, self.size(False))
        if added.for_matching() == self.added.for_matching():
            return State(self.trained, added, self._source), changed
        if self.trained is not None and (core := self._extended(added)) is not None:
            return State(core, added, self._source), changed
        return of_changed(self.content(), added), changed

    def _extended(self, added: Added) -> Native | None:
        """Return the tokenizer with more added tokens behind all others, if nothing else has changed; else None.

        Cost: proportional to the added tokens; the vocabulary is shared.
        """
        old = {row["id"]: row for row in self.added.for_matching()}
        rows = [row for row in added.for_matching() if row != old.get(row["id"])]
        if any(row["id"] in old or row["id"] not in added.beside for row in rows):
            return None
        is_plain = all(row["special"] and not any(row[flag] for flag in FLAGS[:-1]) for row in rows)
        steps = None
        if self.core.pipeline is None and not is_plain:
            names = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
            parts = {name: self.part(name) for name in names}
            steps = _core.Pipeline(json.dumps({"added_tokens": list(old.values()), **parts}))
        core = self.core._core.with_added_tokens(json.dumps(rows), steps)
        return None if core is None else Native._of(core)

    # The vocabulary

    def model_id(self, token: str) -> int | None:
        """Return the id that the model has for a token; None if it has none."""
        id: int | None
        if self._source is not None:
            id = self._source["model"]["vocab"].get(token)
            return id
        if (id := self.added.ids.get(token)) is not None:
            return None if id in self.added.beside else id
        if self._merges_characters:
            id = self.core._core.id_of_spelling(token)
        elif token and (plain := unspell(token)) is not None:
            with contextlib.suppress(KeyError):
                id = self.core.token_id(plain)
        return None if id in self.added.rows else id

    def token(self, id: int) -> str | None:
        """Return the token of an id, spelled as the vocabulary has it; None if there is none."""
        try:
            return self.spelled(id)
        except KeyError:
            return None

    def model_token(self, id: int) -> str | None:
        """Return the token that the model has for an id; None if it has none."""
        if id in self.added.beside:
            return None
        return self.added.rows[id]["content"] if id in self.added.rows else self.token(id)

    def size(self, with_added_tokens: bool) -> int:
        """Return how many tokens there are."""
        if self.trained is None:
            return len(self.added.beside) if with_added_tokens else 0
        return self.core.vocab_size - (0 if with_added_tokens else len(self.added.beside))

    def model_tokens(self, spelled: str) -> list[Token]:
        """Return the tokens that the model makes of one spelled pretoken."""
        core, pipeline = self.core._core, self.core.pipeline
        are_plain = pipeline is not None and pipeline.spaces_are_plain
        id = self.model_id(spelled)
        if id is not None and core.ignores_merges():
            return [Token(id, spelled, (0, len(spelled.encode())))]
        if not self._merges_characters:
            data = b"".join(byte for c in spelled if (byte := unspell(c)) is not None)
        elif are_plain and " " in spelled:
            raise ValueError(f"{shown(spelled)} has a space: this model gets U+2581 in its place")
        else:
            data = (spelled.replace(_core.META, " ") if are_plain else spelled).encode()
        tokens: list[Token] = []
        place = 0
        for id, (start, end) in zip(*core.encode_pretoken(data), strict=True):
            value = core.spelled(id)
            if self._merges_characters:
                length = end - start + (2 * data[start:end].count(b" ") if are_plain else 0)
            else:
                length = len(value.encode())
            tokens.append(Token(id, value, (place, place + length)))
            place += length
        return tokens

    @property
    def _merges_characters(self) -> bool:
        pipeline = None if self.trained is None else self.trained.pipeline
        return pipeline is not None and pipeline.merges_characters

    # Ids to text

    def shown(self, ids: Sequence[int], skip_special_tokens: bool) -> list[int]:
        """Return the ids that are decoded."""
        vocab, skipped = self.core.vocab, self._skipped if skip_special_tokens else ()
        return [id for id in components.checked_ids(ids) if id in vocab and id not in skipped]

    @functools.cached_property
    def _skipped(self) -> set[int]:
        return {id for id, name in self._added_spelling.items() if name in self.added.once_special}

    def decode(self, batch: list[list[int]]) -> list[str]:
        """Return the text of each list of ids, as the decoder makes it."""
        if self._merges_characters or self._decodes_bytes:
            return self.core.decode_batch(batch) if len(batch) != 1 else [self.core.decode(batch[0])]
        tokens = [[self.spelled(id) for id in ids] for ids in batch]
        decoder = Decoder.of(self.part("decoder"))
        return [" ".join(some) if decoder is None else decoder.decode(some) for some in tokens]

    @functools.cached_property
    def _decodes_bytes(self) -> bool:
        """Whether the decoder turns the spellings of tokens into the bytes of these tokens."""
        return self.part("decoder") is not None and not any(
            name != self.added.rows[id]["content"]
            or (not name.isascii() and unspell(name) not in (None, name.encode()))
            for id, name in self._added_spelling.items()
        )


def of_core(core: Native) -> State:
    """Return the state of a `toksmith.Tokenizer`."""
    origin = core._core.origin()
    content, beside = origin["content"], set(origin["beside"])
    if content is not None:
        rows = content["added_tokens"]
    else:
        listed = {row["content"]: row for row in core.pipeline.added_tokens} if core.pipeline else {}
        rows = [listed.get(name) or _special(name, id) for name, id in core.special_tokens.items()]
        rows += [row for name, row in listed.items() if name not in core.special_tokens]
    return State(core, Added(rows, [row["id"] for row in rows if row["content"] in beside]), None)


def of_content(content: Json) -> State:
    """Return the state of the content of a `tokenizer.json`."""
    model = content.get("model")
    if isinstance(model, dict) and model.get("vocab") == {} and not content.get("added_tokens"):
        return State(None, Added((), ()), content)
    core = Native._of(_core.Tokenizer.of_huggingface(json.dumps(content).encode()))
    return State(core, of_core(core).added, content)


def _special(name: str, id: int) -> Json:
    return {"id": id, "content": name, **dict.fromkeys(FLAGS, False), "special": True}


def of_model(model: object, before: State | None = None) -> State:
    """Return the state of a model, with the other parts of a state before, if any."""
    own: Json = {"version": "1.0", "normalizer": None, "pre_tokenizer": None, "decoder": None}
    content = own if before is None else before.content()
    content = {**content, "model": components.content_of(model)}
    if before is not None and before.added.rows:
        raise ValueError("a tokenizer with added tokens takes no other model: make a new tokenizer")
    return of_changed({**content, "added_tokens": []}, Added((), ()))


def of_changed(content: Json, added: Added) -> State:
    """Return the state of a changed content with its added tokens; without any token nothing is checked."""
    if not content["model"]["vocab"] and not added.rows:
        return State(None, added, content)
    data = json.dumps({**content, "added_tokens": added.for_matching()}).encode()
    return State(Native._of(_core.Tokenizer.of_huggingface(data, keep_ids=True)), added, content)
