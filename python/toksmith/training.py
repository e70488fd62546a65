"""Training: `train`, `train_from_iterator` and CS336's `train_bpe`."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from . import _core, arguments
from .counts import Errors, PretokenCounts, count_pretokens, count_pretokens_from_iterator, with_options_of
from .formats.gpt2 import BYTE_ORDER
from .progress import reporter
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .counts import Files, Path_
    from .patterns import Unmatched
    from .progress import Report

Ties = Literal["bytes", "ids", "smallest_ids", "first", "huggingface"]
SpecialIds = Literal["first", "after_bytes", "last"]
ByteOrder = Literal["value", "gpt2"]


def train(
    files: Files | PretokenCounts,
    vocab_size: int,
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    ties: Ties = "bytes",
    special_ids: SpecialIds = "first",
    byte_order: ByteOrder = "value",
    min_frequency: int = 1,
    workers: int | None = None,
    progress: bool | Report = False,
    errors: Errors = "strict",
) -> Tokenizer:
    """Train a tokenizer on files.

    The result depends on nothing but the text and the options: not on threads, chunks or the machine.

    Args:
        files: A path, a glob, a folder, a list of them, or `PretokenCounts`. Never text. Each file is a document;
            nothing is counted across two. Files are read as bytes: no newline translation, a BOM stays.
        vocab_size: Tokens of the result: 256 bytes, the special tokens, and merges.
        special_tokens: They separate documents, and are never counted, split or merged.
        pattern: What cuts text into pretokens, as in `Tokenizer`.
        unmatched: What becomes of text that the pattern does not match, as in `Tokenizer`.
        ties: Which of several pairs of equal count merges first. "bytes": the greatest (bytes, bytes), as in
            CS336. "ids": the greatest ids; "smallest_ids": the smallest (rustbpe); "first": the one that comes
            first in the text (minbpe); "huggingface": as Hugging Face's trainer has it.
        special_ids: Where the ids of special tokens are: "first", "after_bytes" or "last".
        byte_order: Ids of the single bytes: by "value", or in "gpt2"'s printable order.
        min_frequency: A pair that occurs less often is not merged.
        workers: Threads for counting; default: all cores.
        progress: True shows a bar on standard error; a callable gets (stage, done, total).
        errors: "strict" refuses a file that is not UTF-8, "replace" reads invalid bytes as U+FFFD.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder holds none.
        ValueError: An option is wrong, or a file is not UTF-8 (names file and byte).

    Warns:
        UserWarning: No pair is left that occurs often enough: the vocabulary is smaller than asked.

    >>> tokenizer = train(PretokenCounts({b"low": 5, b"lower": 2}), 258)
    >>> list(tokenizer.merges)
    [(b'o', b'w'), (b'l', b'ow')]
    """
    options = {
        "ties": ties,
        "special_ids": special_ids,
        "byte_order": byte_order,
        "min_frequency": min_frequency,
    }
    if isinstance(files, PretokenCounts):
        counts = with_options_of(files, special_tokens, pattern, unmatched)
        plan = _Plan(vocab_size, counts._special_tokens, **options)
    else:
        plan = _Plan(vocab_size, special_tokens, **options)
        counts = count_pretokens(
            files,
            special_tokens=plan.special_tokens,
            pattern=pattern,
            unmatched=unmatched,
            workers=workers,
            progress=progress,
            errors=errors,
        )
    return plan.tokenizer(counts, progress)


def train_from_iterator(
    texts: Iterable[str | bytes],
    vocab_size: int,
    *,
    special_tokens: Iterable[str] = (),
    pattern: Any = "gpt2",
    unmatched: Unmatched = "keep",
    ties: Ties = "bytes",
    special_ids: SpecialIds = "first",
    byte_order: ByteOrder = "value",
    min_frequency: int = 1,
    workers: int | None = None,
    progress: bool | Report = False,
    errors: Errors = "strict",
) -> Tokenizer:
    """Train a tokenizer on texts, each a document of its own. A bare str or bytes is one text. See `train`."""
    plan = _Plan(
        vocab_size,
        special_tokens,
        ties=ties,
        special_ids=special_ids,
        byte_order=byte_order,
        min_frequency=min_frequency,
    )
    counts = count_pretokens_from_iterator(
        texts,
        special_tokens=plan.special_tokens,
        pattern=pattern,
        unmatched=unmatched,
        workers=workers,
        progress=progress,
        errors=errors,
    )
    return plan.tokenizer(counts, progress)


def train_bpe(
    input_path: Path_, vocab_size: int, special_tokens: Iterable[str], **options: Any
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train on a file and return vocabulary and merges, as CS336's assignment 1 asks.

    `options` are those of `train`; the defaults are the course's rules.

    Returns:
        `vocab`, token bytes by id, and `merges`, in the order in which they were made.
    """
    tokenizer = train(input_path, vocab_size, special_tokens=special_tokens, **options)
    return dict(tokenizer.vocab), list(tokenizer.merges)


class _Plan:
    """The options of a training, checked before any text is read."""

    def __init__(
        self,
        vocab_size: int,
        special_tokens: Iterable[str],
        *,
        ties: Any,
        special_ids: Any,
        byte_order: Any,
        min_frequency: Any,
    ) -> None:
        self.special_tokens = arguments.special_names(special_tokens)
        self.vocab_size = operator.index(vocab_size)
        least = 256 + len(self.special_tokens)
        if self.vocab_size < least:
            raise ValueError(
                f"vocab_size is {self.vocab_size}, less than the {least} tokens that are always there: "
                f"256 bytes and {len(self.special_tokens)} special tokens"
            )
        if self.vocab_size > 2**32 - 1:
            raise ValueError(f"vocab_size is {self.vocab_size}, more than the 2^32 - 1 ids there are")
        self.max_merges = self.vocab_size - least
        arguments.one_of("ties", ties, ("bytes", "ids", "smallest_ids", "first", "huggingface"))
        arguments.one_of("special_ids", special_ids, ("first", "after_bytes", "last"))
        arguments.one_of("byte_order", byte_order, ("value", "gpt2"))
        self.ties, self.special_ids, self.byte_order = ties, special_ids, byte_order
        self.min_frequency = operator.index(min_frequency)
        if not 0 <= self.min_frequency <= 2**63:
            raise ValueError(f"min_frequency is {self.min_frequency}, not between 0 and 2^63")

    def tokenizer(self, counts: PretokenCounts, progress: bool | Report) -> Tokenizer:
        """Learn the merges and lay out the ids."""
        with reporter(progress) as report:
            learned = _core.learn_merges(
                counts._core,
                self.max_merges,
                ties=self.ties,
                min_frequency=self.min_frequency,
                progress=report,
            )
        if len(learned) < self.max_merges:
            warnings.warn(
                f"no pair is left that occurs {_at_least(max(1, self.min_frequency))}: "
                f"{len(learned)} merges were made, not {self.max_merges}, "
                f"so the vocabulary has {self.vocab_size - self.max_merges + len(learned)} tokens",
                stacklevel=3,
            )
        tokens = [bytes([byte]) for byte in range(256)]
        merges = []
        for left, right, _ in learned:
            merges.append((tokens[left], tokens[right]))
            tokens.append(tokens[left] + tokens[right])
        vocab, specials = self._ids(tokens)
        return Tokenizer(vocab, merges, specials, pattern=counts._pattern)

    def _ids(self, tokens: list[bytes]) -> tuple[dict[int, bytes], dict[str, int]]:
        """Give bytes, special tokens and merges their ids."""
        order = BYTE_ORDER if self.byte_order == "gpt2" else range(256)
        single, merged = [tokens[byte] for byte in order], tokens[256:]
        special = [name.encode() for name in self.special_tokens]
        parts = {
            "first": (special, single, merged),
            "after_bytes": (single, special, merged),
            "last": (single, merged, special),
        }[self.special_ids]
        start = {"first": 0, "after_bytes": 256, "last": len(tokens)}[self.special_ids]
        vocab = dict(enumerate([*parts[0], *parts[1], *parts[2]]))
        return vocab, {name: start + i for i, name in enumerate(self.special_tokens)}


def _at_least(times: int) -> str:
    return "at all" if times == 1 else f"at least {times} times"
