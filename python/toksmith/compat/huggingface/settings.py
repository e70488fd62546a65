"""The settings of a tokenizer for encodings: truncation, padding, and the post-processor."""

from __future__ import annotations

from typing import Any

from . import lengths, processors


class Settings:
    """Truncation, padding and the post-processor of a tokenizer, set as in `tokenizers`."""

    def __init__(self) -> None:
        self._truncation: lengths.Settings | None = None
        self._padding: lengths.Settings | None = None
        self._post_processor: processors.Content | None = None

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The arguments of `enable_truncation`; None if truncation is off."""
        return self._truncation and dict(self._truncation)

    def enable_truncation(
        self, max_length: int, stride: int = 0, strategy: str = "longest_first", direction: str = "right"
    ) -> None:
        """Cut encodings to `max_length` tokens, those of the post-processor included.

        Raises:
            ValueError: The strategy or direction does not exist, or `stride` is more than the post-processor's tokens
                leave of `max_length`.
        """
        given = {"max_length": max_length, "stride": stride, "strategy": strategy, "direction": direction}
        lengths.check_truncation(given, self.num_special_tokens_to_add(False))
        self._truncation = given

    def no_truncation(self) -> None:
        """Turn truncation off."""
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
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
        given = {
            "length": length,
            "pad_to_multiple_of": pad_to_multiple_of,
            "pad_id": pad_id,
            "pad_token": pad_token,
            "pad_type_id": pad_type_id,
            "direction": direction,
        }
        lengths.check_padding(given)
        self._padding = given

    def no_padding(self) -> None:
        """Turn padding off."""
        self._padding = None

    @property
    def post_processor(self) -> processors.PostProcessor | None:
        """The post-processor, as in a `tokenizer.json`. May be set to one of `tokenizers.processors`, too."""
        return processors.PostProcessor.of(self._post_processor)

    @post_processor.setter
    def post_processor(self, processor: Any) -> None:
        self._post_processor = processors.content_of(processor)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds."""
        return processors.added_count(self._post_processor, is_pair)
