"""`BPE`: vocabulary and merges of a tokenizer, as `tokenizers.models.BPE` shows them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._internal.arguments import checked_text
from ...files import text_files, whole_files
from .added import Json
from .state import State, Token

_OPTIONS: Json = {
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
    "ignore_merges": False,
}


class BPE:
    """Vocabulary and merges. `BPE()` is empty, for a tokenizer that is going to be trained.

    Args:
        vocab: Ids by spelled token, or the path of a `vocab.json`.
        merges: Pairs of spelled tokens in order, or the path of a `merges.txt`.
        **options: Options of `tokenizers.models.BPE` that a `tokenizer.json` holds: `ignore_merges`, `unk_token`, …
    """

    def __init__(
        self,
        vocab: str | Mapping[str, int] | None = None,
        merges: str | Iterable[Sequence[str]] | None = None,
        **options: object,
    ) -> None:
        if (vocab is None) != (merges is None):
            raise ValueError("`vocab` and `merges` must be both specified")
        if isinstance(vocab, str) or isinstance(merges, str):
            vocab, merges = self.read_file(str(vocab), str(merges))
        unknown = options.keys() - {*_OPTIONS, "cache_capacity", "dropout"}
        if unknown:
            raise TypeError(f"BPE has no option {sorted(unknown)[0]!r}")
        self._content: Json = {
            "type": "BPE",
            "dropout": options.get("dropout"),
            **{name: options.get(name, value) for name, value in _OPTIONS.items()},
            "vocab": dict(vocab or {}),
            "merges": [[left, right] for left, right in merges or ()],
        }
        self._state: State | None = None

    @classmethod
    def _of(cls, state: State) -> BPE:
        model = cls.__new__(cls)
        model._state = state
        return model

    @staticmethod
    def read_file(vocab: str, merges: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
        """Return the content of GPT-2's two files."""
        lines = text_files.read_text(merges).replace("\r\n", "\n").split("\n")
        pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{merges}: a line is not a merge of two tokens")
        return text_files.read_object(vocab, "vocab.json"), pairs  # type: ignore[return-value]

    @classmethod
    def from_file(cls, vocab: str, merges: str, **options: Any) -> BPE:
        """Load GPT-2's two files."""
        return cls(*cls.read_file(vocab, merges), **options)

    def __getattr__(self, name: str) -> Any:
        if name in (*_OPTIONS, "dropout"):
            return self.content()[name]
        raise AttributeError(f"BPE has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"cannot set {name!r}: assign a new model to the tokenizer")
        super().__setattr__(name, value)

    def content(self) -> Json:
        """Return the model as a `tokenizer.json` has it."""
        if self._state is None:
            return self._content
        return {"dropout": None, **_OPTIONS, **self._state.content()["model"]}

    def __getstate__(self) -> bytes:
        return json.dumps(self.content()).encode()

    def __setstate__(self, state: bytes) -> None:
        self._content, self._state = json.loads(state), None

    def __repr__(self) -> str:
        content = self.content()
        return f"BPE(vocab of {len(content['vocab'])} tokens, {len(content['merges'])} merges)"

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token of the model; None if there is none."""
        if self._state is not None:
            return self._state.model_id(token)
        id: int | None = self._content["vocab"].get(token)
        return id

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id of the model; None if there is none."""
        if self._state is not None:
            return self._state.model_token(id)
        return next((token for token, other in self._content["vocab"].items() if other == id), None)

    def tokenize(self, sequence: str) -> list[Token]:
        """Return the tokens of one spelled pretoken. Characters that stand for no byte are left out."""
        if self._state is None:
            raise ValueError("this model is in no tokenizer: give it to Tokenizer(model), and ask tokenizer.model")
        return self._state.model_tokens(checked_text(sequence))

    def save(self, folder: str, prefix: str | None = None) -> list[str]:
        """Write `vocab.json` and `merges.txt`; returns their paths."""
        content = self.content()
        pairs = (merge if isinstance(merge, str) else " ".join(merge) for merge in content["merges"])
        vocab = json.dumps(content["vocab"], ensure_ascii=False).encode()
        start = f"{prefix}-" if prefix else ""
        paths = [Path(folder, f"{start}vocab.json"), Path(folder, f"{start}merges.txt")]
        merges = "\n".join(["#version: 0.2", *pairs, ""]).encode()
        whole_files.write_all(zip(paths, ([vocab], [merges]), strict=True))
        return [str(path) for path in paths]
