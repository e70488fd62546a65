"""The settings of a tokenizer for encodings: truncation, padding, and the post-processor."""

from __future__ import annotations

import json
from typing import Any

from ... import _core
from ..._internal.messages import shown
from .components import Json, PostProcessor

MAX_PADDED = 1 << 24
"""Maximum length to which a file may pad an encoding: more than the longest context of any model."""

_STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
"""Names in arguments, with those in a `tokenizer.json`."""


class Settings:
    """Truncation, padding and the post-processor of a tokenizer, set as in `tokenizers`."""

    def __init__(self) -> None:
        self.encode_special_tokens = False
        self._truncation: Json | None = None
        self._padding: Json | None = None
        self._post_processor: PostProcessor | None = None
        self._core_settings: _core.EncodingSettings | None = None

    def __getstate__(self) -> Json:
        return {**self.__dict__, "_core_settings": None}

    @property
    def _settings(self) -> _core.EncodingSettings:
        """The settings for the core, made when they are first needed after a change."""
        if self._core_settings is None:
            processor = None if self._post_processor is None else self._post_processor.core
            self._core_settings = _core.EncodingSettings(json.dumps([self._truncation, self._padding]), processor)
        return self._core_settings

    @property
    def truncation(self) -> Json | None:
        """The arguments of `enable_truncation`; None if truncation is off."""
        return self._truncation and dict(self._truncation)

    def enable_truncation(
        self, max_length: int, stride: int = 0, strategy: str = "longest_first", direction: str = "right"
    ) -> None:
        """Cut encodings to `max_length` tokens, those of the post-processor included."""
        if strategy not in _STRATEGIES:
            raise ValueError(
                f"Unknown `strategy`: `{strategy}`. Use one of `longest_first`, `only_first`, or `only_second`"
            )
        settings = _checked(max_length=max_length, stride=stride, strategy=strategy, direction=direction)
        added = self.num_special_tokens_to_add(False)
        if 0 <= max_length - added < stride:
            raise ValueError(
                f"tokenizer stride set to {stride}, which is greater than or equal to its effective max length of "
                f"{max_length - added} (= {max_length} original max length - {added} added special tokens), "
            )
        self._truncation, self._core_settings = settings, None

    def no_truncation(self) -> None:
        """Turn truncation off."""
        self._truncation = self._core_settings = None

    @property
    def padding(self) -> Json | None:
        """The arguments of `enable_padding`; None if padding is off."""
        return self._padding and dict(self._padding)

    def enable_padding(
        self,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Fill up encodings to `length` tokens; by default, to the longest of a batch."""
        numbers = {"length": length, "pad_to_multiple_of": pad_to_multiple_of, "pad_id": pad_id}
        self._padding = _checked(**numbers, pad_token=pad_token, pad_type_id=pad_type_id, direction=direction)
        self._core_settings = None

    def no_padding(self) -> None:
        """Turn padding off."""
        self._padding = self._core_settings = None

    @property
    def post_processor(self) -> PostProcessor | None:
        """The post-processor, as in a `tokenizer.json`. May also be set to one of `tokenizers.processors`."""
        return self._post_processor

    @post_processor.setter
    def post_processor(self, processor: object) -> None:
        part = PostProcessor.of(processor)
        if part is not None:
            _ = part.core  # raises for a processor that is not known
        self._post_processor, self._core_settings = part, None

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds."""
        return 0 if self._post_processor is None else self._post_processor.num_special_tokens_to_add(is_pair)

    # In a `tokenizer.json`

    def _take_settings(self, content: Json) -> None:
        self.post_processor = content.get("post_processor")
        if (truncation := content.get("truncation")) is not None:
            strategies = {in_files: name for name, in_files in _STRATEGIES.items()}
            self._truncation = {
                **{name: truncation[name] for name in ("max_length", "stride")},
                "strategy": strategies[truncation["strategy"]],
                "direction": truncation.get("direction", "Right").lower(),
            }
        self._padding = padding_of(content.get("padding"))

    def _settings_content(self) -> Json:
        truncation, padding, processor = self.truncation, self.padding, self._post_processor
        if truncation is not None:
            truncation["direction"] = truncation["direction"].capitalize()
            truncation["strategy"] = _STRATEGIES[truncation["strategy"]]
            truncation = dict(sorted(truncation.items()))
        if padding is not None:
            length = padding.pop("length")
            strategy = "BatchLongest" if length is None else {"Fixed": length}
            padding = {"strategy": strategy, **padding, "direction": padding["direction"].capitalize()}
        return {"truncation": truncation, "padding": padding, "post_processor": processor and dict(processor)}


def _checked(**settings: Any) -> Json:
    """Return settings whose direction is known, and none of whose numbers is negative."""
    if settings["direction"] not in ("left", "right"):
        raise ValueError(f"Unknown `direction`: `{settings['direction']}`. Use one of `left` or `right`")
    for name, value in settings.items():
        if isinstance(value, int) and value < 0:
            raise OverflowError(f"{name} is {value}, which is negative")
    return settings


def padding_of(content: Json | None) -> Json | None:
    """Return the padding of a `tokenizer.json` as `enable_padding` takes it."""
    if content is None:
        return None
    strategy, multiple = content["strategy"], content.get("pad_to_multiple_of")
    length = strategy["Fixed"] if isinstance(strategy, dict) else None
    for number in (length, multiple):
        if number is not None and not (isinstance(number, int) and 0 <= number <= MAX_PADDED):
            raise ValueError(f"$.padding: {shown(number)} is not a length from 0 to {MAX_PADDED}")
    tokens = {name: content[name] for name in ("pad_id", "pad_token", "pad_type_id")}
    return {"length": length, "pad_to_multiple_of": multiple, **tokens, "direction": content["direction"].lower()}
