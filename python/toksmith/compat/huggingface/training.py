"""Training as `tokenizers` does it: the text of each word is counted, and toksmith learns the same merges."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ... import patterns
from ..._core import spell, unspell
from ..._internal.arguments import checked_text
from ..._internal.messages import shown
from ...files import text_files
from ...tokenizer import Tokenizer as Native
from ...training.ids import IdOrder
from ...training.train import train as learn
from . import state
from .added import Added, AddedToken, Json, TokenLike
from .components import PreTokenizer, steps_of
from .state import State


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
