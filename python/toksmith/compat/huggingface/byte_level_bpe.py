"""`ByteLevelBPETokenizer`: GPT-2's kind of tokenizer, ready to be trained, as `tokenizers.implementations` has it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .added import TokenLike
from .components import PreTokenizer
from .model import BPE
from .tokenizers import Tokenizer
from .training import BpeTrainer


class ByteLevelBPETokenizer(Tokenizer):
    """A tokenizer that is made like GPT-2's. It has all methods of `Tokenizer`.

    Its arguments are those of `tokenizers`; `vocab` and `merges` are objects or paths, and are left out for a
    tokenizer that is going to be trained.
    """

    def __init__(
        self,
        vocab: str | dict[str, int] | None = None,
        merges: str | Sequence[tuple[str, str]] | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        model = BPE()
        if vocab is not None and merges is not None:
            prefix, suffix = continuing_subword_prefix or "", end_of_word_suffix or ""
            affixes = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
            model = BPE(vocab, merges, dropout=dropout, **affixes)
        super().__init__(model)
        kinds = [unicode_normalizer.upper() if unicode_normalizer else None, "Lowercase" if lowercase else None]
        steps = [{"type": kind} for kind in kinds if kind]
        if steps:
            self.normalizer = {"type": "Sequence", "normalizers": steps} if len(steps) > 1 else steps[0]
            self.normalize("")  # raises for a form that is not known
        byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        self.pre_tokenizer = {**byte_level, "add_prefix_space": add_prefix_space}
        self.decoder = byte_level
        self.post_processor = {**byte_level, "trim_offsets": trim_offsets}

    @staticmethod
    def from_file(vocab_filename: str, merges_filename: str, **options: Any) -> ByteLevelBPETokenizer:  # type: ignore[override]
        """Load GPT-2's two files."""
        return ByteLevelBPETokenizer(vocab_filename, merges_filename, **options)

    def train(
        self,
        files: str | Sequence[str],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[str | TokenLike] = (),
    ) -> None:
        """Learn vocabulary and merges from files of text, each line by itself."""
        trainer = _trainer(vocab_size, min_frequency, special_tokens)
        super().train([files] if isinstance(files, str) else files, trainer)

    def train_from_iterator(  # type: ignore[override]
        self,
        iterator: Iterable[str | Iterable[str]],
        vocab_size: int = 30000,
        min_frequency: int = 2,
        show_progress: bool = True,
        special_tokens: Sequence[str | TokenLike] = (),
        length: int | None = None,
    ) -> None:
        """Learn vocabulary and merges from texts, or from lists of texts."""
        super().train_from_iterator(iterator, _trainer(vocab_size, min_frequency, special_tokens))

    def normalize(self, sequence: str) -> str:
        """Return the normalized text."""
        return sequence if self.normalizer is None else self.normalizer.normalize_str(sequence)

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write `vocab.json` and `merges.txt`; returns their paths."""
        return self.model.save(directory, prefix)


def _trainer(vocab_size: int, min_frequency: int, special_tokens: Sequence[str | TokenLike]) -> BpeTrainer:
    return BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=special_tokens,
        initial_alphabet=PreTokenizer.alphabet(),
    )
