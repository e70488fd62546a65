"""The model of a tokenizer, as `tokenizers.models.BPE` shows it, and training as `tokenizers` does it.

The text of each word is counted, and toksmith learns the same merges.
"""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import patterns
from ..._core import spell, unspell
from ..._internal.arguments import checked_text
from ..._internal.messages import shown
from ...files import text_files, whole_files
from ...tokenizer import Tokenizer as Native
from ...training.ids import IdOrder
from ...training.train import train as learn
from . import state
from .components import Added, AddedToken, Json, PreTokenizer, TokenLike, steps_of
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


@dataclasses.dataclass(kw_only=True, slots=True)
class BpeTrainer:
    """The options of a training, in place of `tokenizers.trainers.BpeTrainer` if `tokenizers` is not installed."""

    vocab_size: int = 30000
    min_frequency: int = 0
    show_progress: bool = True
    special_tokens: Sequence[str | TokenLike] = ()
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    max_token_length: int | None = None


def train(before: State, files: Sequence[str], trainer: BpeTrainer | None) -> State:
    """Return the state of a tokenizer that is trained on files: each line is a text, its end included."""
    if isinstance(files, str):
        raise TypeError("files must be a list of paths")
    return train_from_iterator(before, (line for path in files for line in _lines(path)), trainer)


def _lines(path: str) -> Iterator[str]:
    with Path(path).open("rb") as file:
        for line in file:
            yield text_files.text_of(line, path)


def train_from_iterator(before: State, iterator: Iterable[str | Iterable[str]], trainer: BpeTrainer | None) -> State:
    """Return the state of a tokenizer that is trained on texts, or lists of texts."""
    trainer = trainer or BpeTrainer()
    specials = [
        AddedToken(token, special=True) if isinstance(token, str) else token for token in trainer.special_tokens
    ]
    _check(before, trainer, specials)
    content = before.content()
    spec = {name: content.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")}
    pipeline = steps_of(**spec)
    if pipeline.merges_characters:
        raise ValueError("$.pre_tokenizer: there is no ByteLevel in it, and only byte-level models are trained")
    cuts = patterns.of_core(pipeline)
    pattern = patterns.resolve(None) if isinstance(cuts, patterns.Staged) else cuts
    texts = (piece for text in _flat(iterator) for piece in pipeline.pieces(text))
    names = list(dict.fromkeys(token.content for token in specials if token.content))
    size = max(trainer.vocab_size - len(names), 256)
    # Special tokens in the text are read as text, as in the original, so this training gets none.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no pair is left", UserWarning)
        learned = learn(
            texts,
            size,
            pattern=pattern,
            ties="huggingface",
            ids=IdOrder(single_bytes="gpt2"),
            min_frequency=trainer.min_frequency,
        )
    return _state(content, learned, names, specials)


def _check(before: State, trainer: BpeTrainer, specials: list[TokenLike]) -> None:
    """Refuse options that toksmith lacks: its vocabularies hold all 256 bytes, and no suffixes of words."""
    if before.added.rows:
        raise ValueError(
            f"the tokenizer has added tokens ({shown(next(iter(before.added.ids)))} is one): train one without, and "
            "give them to the trainer as special_tokens"
        )
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if getattr(trainer, name, None):
            raise ValueError(f"{name}: byte-level tokenizers have none, leave it out")
    if getattr(trainer, "max_token_length", None) is not None:
        raise ValueError("max_token_length has another meaning in tokenizers: use toksmith.train, or leave it out")
    alphabet = set(trainer.initial_alphabet)
    missing = [c for c in PreTokenizer.alphabet() if c not in alphabet]
    if missing:
        raise ValueError(
            f"initial_alphabet lacks {len(missing)} of the 256 characters that stand for bytes ({shown(missing[0])}, "
            "for one); toksmith has all bytes: give initial_alphabet=pre_tokenizers.ByteLevel.alphabet()"
        )
    if len(alphabet) > 256:
        raise ValueError("initial_alphabet has characters that stand for no byte: leave them out")
    limit = getattr(trainer, "limit_alphabet", None)
    if limit is not None and limit < 256:
        raise ValueError(f"limit_alphabet is {limit}: all 256 bytes are tokens; leave it out")
    for token in specials:
        if token.content in alphabet:
            raise ValueError(f"special token {shown(token.content)} is the spelling of a byte: give it another name")


def _flat(iterator: Iterable[str | Iterable[str]]) -> Iterator[str]:
    for item in iterator:
        yield from map(checked_text, [item] if isinstance(item, str) else item)


def _state(content: Json, learned: Native, names: list[str], specials: list[TokenLike]) -> State:
    """Return the state of the trained tokenizer: special tokens have the first ids."""
    vocab = {name: id for id, name in enumerate(names)}
    for id, token in sorted(learned.vocab.items()):
        spelled = spell(token)
        if spelled in vocab:
            raise ValueError(f"special token {shown(spelled)} is also learned from the text: give it another name")
        vocab[spelled] = id + len(names)
    merges = [[spell(left), spell(right)] for left, right in learned.merges]
    for name in names:
        if unspell(name) not in (None, name.encode()):
            raise ValueError(f"special token {shown(name)} spells other bytes: give it another name")
    model = {**content["model"], "vocab": vocab, "merges": merges}
    added, _ = Added((), ()).with_tokens(specials, False, vocab.get, len(vocab))
    return state.of_changed({**content, "model": model, "post_processor": None}, added)
