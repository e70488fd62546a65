"""Training: `train`, and CS336's `train_bpe`."""

from collections.abc import Iterable, Mapping
from typing import Any

from .._internal import arguments
from .._internal.choices import SuperwordRule, Ties
from .._internal.progress import Report
from ..corpus import FilePath
from ..tokenizer import Tokenizer
from .options import IdOrder
from .parity import Parity, Text
from .plan import Plan, Request
from .superwords import Superwords


@arguments.naming_keywords
def train(
    sources: Text | Mapping[str, Text],
    vocab_size: int,
    *,
    special_tokens: Iterable[str] = (),
    pattern: object = ...,
    ties: Ties | None = None,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    forced_tokens: Iterable[str | bytes] = (),
    base: Tokenizer | object | None = None,
    ids: IdOrder | None = None,
    parity: Parity | None = None,
    superwords: Superwords | SuperwordRule | None = None,
    memory_limit: int | str | None = None,
    progress: bool | Report = False,
    checkpoint: FilePath | tuple[FilePath, float] | None = None,
    log: FilePath | None = None,
) -> Tokenizer:
    """Train a tokenizer on texts.

    The result depends on nothing but the text and the options: not on threads, chunks or the machine.

    Args:
        sources: A path, a glob, a folder, "-" for standard input, or a list of them; any other iterable, of texts; a
            `Corpus`; or `PretokenCounts`. Each file is a document, or each of its records (see `Corpus` for the kinds
            of files); nothing is counted across two.
        vocab_size: Tokens of the result: 256 bytes, the special tokens, and merges.
        special_tokens: They separate documents, and are never counted, split or merged. Each has at most 4,096 bytes.
        pattern: What cuts text into pretokens, as in `Tokenizer`; default: "gpt2".
        ties: Which of several pairs of equal count merges first. "bytes" (default): the greatest (bytes, bytes), as
            in CS336. "ids": the greatest ids, in which bytes are in the order of `ids`; "smallest_ids": the smallest
            (rustbpe); "first": the one that comes first in the text (minbpe); "huggingface": as Hugging Face's
            trainer has it.
        min_frequency: A pair that occurs less often is not merged.
        max_token_length: A pair that has more bytes together is not merged.
        forced_tokens: Tokens that the vocabulary has whatever the counts are, str or bytes. They come before all
            learned merges: as long as a forced token is encoded in several pieces, its first two pieces merge. So
            its parts take ids as well. A token that crosses the pattern's cuts never occurs in encoded text.
        base: A tokenizer to extend to `vocab_size` tokens, or what `Tokenizer.from_pretrained` takes. All its ids and
            merges stay, and text to which no new merge applies is encoded as before. New ids follow its highest one:
            first special tokens that it does not have, then merges. Pattern, special tokens and tie rule are those of
            the base; `ids` are refused.
        ids: The order of the ids of special tokens, bytes and merges: an `IdOrder`. Default: special tokens first.
        parity: Balances languages: a `Parity`, under which `sources` is a dict from their names to texts. Cannot be
            combined with `checkpoint`, and `memory_limit` bounds counting alone. ties="huggingface" is the rule of
            `ParityBpeTrainer`.
        superwords: Makes the last tokens of several words: a `Superwords`, or the name of its rule. Texts are read
            several times, so sources are files, or an iterable that is no iterator. The result has another pattern,
            whose pretokens are runs of words. Cannot be combined with `checkpoint` or `parity`.
        memory_limit: Memory that the call may take beyond what the process holds before, such as "2GB". Default: as
            in `count_pretokens` for counting, none for learning merges. Learning under a limit takes longer, with the
            same result. The counts must fit into three quarters of it.
        progress: True shows a bar on standard error; a callable gets (stage, done, total).
        checkpoint: A file to which the merges so far are written, every 30 seconds and when the call is interrupted;
            or a pair of the file and other seconds. A later call with the same text and options continues from it,
            with the same result. Text is counted again. If memory does not suffice, the counts are saved beside it.
        log: A file that is written in the end, `.csv` or `.jsonl`: a row for each merge, with parts, count and bytes.

    Raises:
        FileNotFoundError: A file is missing, or a glob or folder holds none.
        ValueError: An option is wrong, a file is not UTF-8 (names file and byte), the log is one of the files, or
            the checkpoint belongs to another text or other options.
        OSError: A file cannot be read or written, or it changes while it is read (see `count_pretokens`).
        MemoryError: The different pretokens do not fit into the limit, or learning merges from them needs more
            memory than the limit or the machine has: says how many there are, and what would fit.

    Warns:
        UserWarning: No pair is left that occurs often enough: the vocabulary is smaller than asked. Or, without
            `memory_limit`, learning may take more memory than there is: names the limit to give.

    >>> from toksmith import PretokenCounts
    >>> tokenizer = train(PretokenCounts({b"low": 5, b"lower": 2}), 258)
    >>> list(tokenizer.merges)
    [(b'o', b'w'), (b'l', b'ow')]
    >>> train(PretokenCounts({b"lowest": 3}), 259, base=tokenizer).encode("lowest")
    [257, 101, 258]
    """
    return Plan(Request(**locals())).run()


def train_bpe(
    input_path: FilePath, vocab_size: int, special_tokens: Iterable[str], **options: Any
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train on a file and return vocabulary and merges, as CS336's assignment 1 asks.

    `options` are those of `train`; the defaults are the course's rules.

    Returns:
        `vocab`, token bytes by id, and `merges`, in the order in which they were made.
    """
    arguments.check_keywords(train_bpe, options, train)
    tokenizer = train(input_path, vocab_size, special_tokens=special_tokens, **options)
    return dict(tokenizer.vocab), list(tokenizer.merges)
