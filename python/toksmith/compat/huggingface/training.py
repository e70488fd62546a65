"""Training as `tokenizers` does it: the text of each word is counted, and toksmith learns the same merges."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ... import _core, patterns
from ..._core import spell, unspell
from ..._internal.arguments import checked_text
from ..._internal.messages import shown
from ...files import text_files
from ...training.options import IdOrder
from ...training.train import train


def texts_of(files: Sequence[str]) -> Iterator[str]:
    """Return each line of the files, its end included."""
    if isinstance(files, str):
        raise TypeError("files must be a list of paths")
    for path in files:
        with Path(path).open("rb") as file:
            for line in file:
                yield text_files.text_of(line, path)


def learned(
    parts: str, iterator: Iterable[str | Iterable[str]], trainer: Any
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return vocabulary and merges, spelled: the special tokens of the trainer have the first ids.

    Args:
        parts: The `tokenizer.json` of the untrained tokenizer.
        iterator: Texts, or lists of texts.
        trainer: A `tokenizers.trainers.BpeTrainer`.
    """
    _check(trainer)
    pipeline = _core.Pipeline(parts)
    if pipeline.merges_characters:
        raise ValueError("$.pre_tokenizer: there is no ByteLevel in it, and only byte-level models are trained")
    cuts = patterns.of_core(pipeline)
    names = list(dict.fromkeys(token.content for token in trainer.special_tokens if token.content))
    texts = (text for item in iterator for text in ([item] if isinstance(item, str) else item))
    # Special tokens in the text are read as text, as in the original, so this training gets none.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no pair is left", UserWarning)
        tokenizer = train(
            (piece for text in map(checked_text, texts) for piece in pipeline.pieces(text)),
            max(trainer.vocab_size - len(names), 256),
            pattern=patterns.resolve(None) if isinstance(cuts, patterns.Staged) else cuts,
            ties="huggingface",
            ids=IdOrder(single_bytes="gpt2"),
            min_frequency=trainer.min_frequency,
        )
    tokens = [spell(token) for _, token in sorted(tokenizer.vocab.items())]
    for name in names:
        if unspell(name) not in (None, name.encode()):
            raise ValueError(f"special token {shown(name)} spells other bytes: give it another name")
    if clash := set(names).intersection(tokens):
        raise ValueError(f"special token {shown(min(clash))} is also learned from the text: give it another name")
    merges = [(spell(left), spell(right)) for left, right in tokenizer.merges]
    return {token: id for id, token in enumerate(names + tokens)}, merges


def _check(trainer: Any) -> None:
    """Refuse options that toksmith lacks: its vocabularies hold all 256 bytes, and no suffixes of words."""
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if getattr(trainer, name, None):
            raise ValueError(f"{name}: byte-level tokenizers have none, leave it out")
    if getattr(trainer, "max_token_length", None) is not None:
        raise ValueError("max_token_length has another meaning in tokenizers: use toksmith.train, or leave it out")
    alphabet = set(trainer.initial_alphabet)
    missing = [c for byte in range(256) if (c := spell(bytes([byte]))) not in alphabet]
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
    for token in trainer.special_tokens:
        if token.content in alphabet:
            raise ValueError(f"special token {shown(token.content)} is the spelling of a byte: give it another name")
