"""A tokenizer for `transformers`: a class of that library, with the tokenization of toksmith.

`transformers` keeps everything of a fast tokenizer (special tokens, padding, truncation, tensors, chat templates,
saving) in a base class around a `tokenizers.Tokenizer`; here it is around the adapter of this package.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    from transformers import PreTrainedTokenizerFast
except ImportError as error:
    raise ImportError(
        "toksmith.compat.huggingface.pretrained needs the package `transformers`: install it"
    ) from error

from ...files import text_files, whole_files
from ...huggingface import folder
from .tokenizers import Tokenizer

if TYPE_CHECKING:
    import os
    from types import EllipsisType

    from ...tokenizer import Tokenizer as Core

    SpecialToken = str | EllipsisType | None

_SAVED_AS = "PreTrainedTokenizerFast"  # a class of `transformers`: the folder can be loaded without toksmith


class ToksmithTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc]  # not typed, for mypy
    """A fast tokenizer of `transformers` that encodes and decodes with toksmith.

    Made by `pretrained`, or from a folder by `from_pretrained`. `save_pretrained` writes a folder that
    `transformers.AutoTokenizer` loads as its own. It does not train: see `toksmith.train`.
    """

    @classmethod
    def convert_to_native_format(cls, **kwargs: Any) -> dict[str, Any]:
        """Return what makes the tokenizer, with toksmith in the place of `tokenizers`.

        Raises:
            ValueError: The folder has no `tokenizer.json`, or one with a part that is not supported.
        """
        path = kwargs.pop("tokenizer_file", None)
        if path is not None:
            kwargs["tokenizer_object"] = Tokenizer.from_file(path)
        elif kwargs.get("tokenizer_object") is None:
            raise ValueError("there is no tokenizer.json in the folder: toksmith reads no other form of it here")
        return kwargs

    @property
    def toksmith(self) -> Core:
        """The `toksmith.Tokenizer` that encodes and decodes."""
        adapter: Tokenizer = self._tokenizer
        return adapter._tokenizer

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        return self.toksmith.encode_ordinary(text)

    def train_new_from_iterator(self, *args: Any, **kwargs: Any) -> Any:
        """Not here: train with `toksmith.train`, and give the result to `pretrained`."""
        raise NotImplementedError(
            "train with toksmith.train, and give the result to toksmith.compat.huggingface.pretrained"
        )

    def _save_pretrained(
        self, save_directory: str | os.PathLike[str], file_names: tuple[str, ...], *args: Any, **kwargs: Any
    ) -> tuple[str, ...]:
        names: tuple[str, ...] = super()._save_pretrained(save_directory, file_names, *args, **kwargs)
        config = Path(next(name for name in names if name.endswith("tokenizer_config.json")))
        content = text_files.read_object(config, "tokenizer_config.json") | {"tokenizer_class": _SAVED_AS}
        text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        whole_files.write(config, [text.encode()])
        return names


def pretrained(
    tokenizer: Core | Tokenizer,
    *,
    bos_token: SpecialToken = ...,
    eos_token: SpecialToken = ...,
    unk_token: SpecialToken = ...,
    pad_token: SpecialToken = ...,
    **options: Any,
) -> ToksmithTokenizer:
    """Return a tokenizer for `transformers` that encodes with a toksmith tokenizer.

    Args:
        tokenizer: A `toksmith.Tokenizer`, or the adapter around one.
        bos_token: As in `Tokenizer.save_huggingface`: left out, one of a usual name, if any; None: none.
        eos_token: Likewise.
        unk_token: Likewise.
        pad_token: Likewise; left out, and with none of a usual name, the eos token.
        **options: Of `transformers`: `chat_template`, `model_max_length`, `padding_side`, …

    Raises:
        ImportError: `transformers` is not installed.
        ValueError: A role is given to what is no special token of the tokenizer.
    """
    adapter = tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer(tokenizer)
    chosen = {"bos_token": bos_token, "eos_token": eos_token, "unk_token": unk_token, "pad_token": pad_token}
    found = folder.roles(adapter._tokenizer._parts, chosen)
    names = adapter._tokenizer.special_tokens
    others = sorted((name for name in names if name not in found.values()), key=names.__getitem__)
    options.setdefault("clean_up_tokenization_spaces", False)
    return ToksmithTokenizer(tokenizer_object=adapter, **found, extra_special_tokens=others, **options)
