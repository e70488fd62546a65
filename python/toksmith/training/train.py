"""Training: `train`, and CS336's `train_bpe`."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .._internal import arguments, memory
from .._internal.choices import ByteOrder, Parity, SpecialIds, SuperwordRule, Ties, Unmatched
from .._internal.progress import Report
from ..corpus import Corpus, CorpusOptions, FilePath, check_options
from ..files import whole_files
from ..tokenizer import Tokenizer, tokenizer_of
from .balance import Text, languages_of, memory_left
from .checkpoint import Checkpoint
from .counting import counted
from .counts import PretokenCounts, check_specials
from .counts_files import Counts
from .learning import Frequencies, learn, memory_error
from .options import Options, check_base, forced_bytes, length_of, pattern_of, ties_of
from .saved_counts import SavedCounts
from .superwords import Superwords, check_read_twice, second_stage

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NOTE = ". The counts are saved in {}: the next call with this checkpoint goes on from them"
NEVER_BOTH = (("checkpoint", "parity"), ("superwords", "parity"), ("superwords", "checkpoint"))
"""Options of `train` that cannot be combined."""
_LOG_FIELDS = ("merge", "id", "left", "right", "token", "count", "bytes")


def train(
    sources: Text | Mapping[str, Text],
    vocab_size: int,
    *,
    special_tokens: Iterable[str] = (),
    pattern: object = ...,
    unmatched: Unmatched | None = None,
    ties: Ties | None = None,
    special_ids: SpecialIds | None = None,
    byte_order: ByteOrder | None = None,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    forced_tokens: Iterable[str | bytes] = (),
    base: Tokenizer | object | None = None,
    parity: Parity | None = None,
    dev: Mapping[str, Text] | None = None,
    ratio: Mapping[str, float] | None = None,
    superwords: Superwords | SuperwordRule | None = None,
    workers: int | None = None,
    memory_limit: int | str | None = None,
    min_pretoken_count: int = 1,
    progress: bool | Report = False,
    checkpoint: FilePath | None = None,
    checkpoint_seconds: float = 30.0,
    log: FilePath | None = None,
    **corpus: Unpack[CorpusOptions],
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
        unmatched: What becomes of text that the pattern does not match, as in `Tokenizer`; default: "keep".
        ties: Which of several pairs of equal count merges first. "bytes" (default): the greatest (bytes, bytes), as
            in CS336. "ids": the greatest ids, in which bytes are in their `byte_order`; "smallest_ids": the smallest
            (rustbpe); "first": the one that comes first in the text (minbpe); "huggingface": as Hugging Face's
            trainer has it.
        special_ids: Where the ids of special tokens are: "first" (default), "after_bytes" or "last".
        byte_order: Ids of the single bytes: by "value" (default), or in "gpt2"'s printable order.
        min_frequency: A pair that occurs less often is not merged.
        max_token_length: A pair that has more bytes together is not merged.
        forced_tokens: Tokens that the vocabulary has whatever the counts are, str or bytes. They come before all
            learned merges: as long as a forced token is encoded in several pieces, its first two pieces merge. So
            its parts take ids as well. A token that crosses the pattern's cuts never occurs in encoded text.
        base: A tokenizer to extend to `vocab_size` tokens, or what `Tokenizer.from_pretrained` takes. All its ids and
            merges stay, and text to which no new merge applies is encoded as before. New ids follow its highest one:
            first special tokens that it does not have, then merges. Pattern, special tokens and tie rule are those of
            the base; `special_ids` and `byte_order` are refused.
        parity: Balances languages: `sources` is a dict from their names to texts, and each merge is the most frequent
            pair of the language that is compressed worst. "base": of that one always; "window": not of one that
            had more than twice its equal share of the last 100 merges. Cannot be combined with `checkpoint`, and
            `memory_limit` bounds counting alone. ties="huggingface" is the rule of `ParityBpeTrainer`.
        dev: For `parity`: the same text in each language. The one with most tokens there is compressed worst.
        ratio: For `parity` without `dev`: the bytes that a token of each language should have. Only proportions
            matter: the language that falls shortest in its own text is compressed worst.
        superwords: Makes the last tokens of several words: a `Superwords`, or the name of its rule. Texts are read
            several times, so sources are files, or an iterable that is no iterator. The result has another pattern,
            whose pretokens are runs of words. Cannot be combined with `checkpoint` or `parity`.
        workers: Threads for counting; default: all cores.
        memory_limit: Memory that the call may take beyond what the process holds before, such as "2GB". Default: as
            in `count_pretokens` for counting, none for learning merges. Learning under a limit takes longer, with the
            same result. The counts must fit into three quarters of it.
        min_pretoken_count: Pretokens that occur less often are left out, which changes the result.
        progress: True shows a bar on standard error; a callable gets (stage, done, total).
        checkpoint: A file to which the merges so far are written, every `checkpoint_seconds` and when the call is
            interrupted. A later call with the same text and options continues from it, with the same result. Text is
            counted again, unless memory did not suffice: then the counts of files are saved beside it.
        checkpoint_seconds: Time between two writes.
        log: A file that is written in the end, `.csv` or `.jsonl`: a row for each merge, with parts, count and bytes.
        corpus: How the texts are read: the options `field`, `column`, `input_format`, `document_separator` and
            `errors` of `Corpus`.

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

    >>> tokenizer = train(PretokenCounts({b"low": 5, b"lower": 2}), 258)
    >>> list(tokenizer.merges)
    [(b'o', b'w'), (b'l', b'ow')]
    >>> train(PretokenCounts({b"lowest": 3}), 259, base=tokenizer).encode("lowest")
    [257, 101, 258]
    """
    check_options(train, corpus)
    asked = {"parity": parity, "checkpoint": checkpoint, "superwords": superwords}
    for first, second in NEVER_BOTH:
        if asked[first] is not None and asked[second] is not None:
            raise ValueError(f"{first} cannot be combined with {second}: leave one of them out")
    size = arguments.whole("vocab_size", vocab_size)
    base = None if base is None else tokenizer_of(base, "base")
    superwords = None if superwords is None else Superwords.of(superwords)
    languages = languages_of(sources, parity, dev, ratio)
    texts: list[Any] = [sources] if languages is None else languages.all_texts()
    ready = [text for text in texts if isinstance(text, PretokenCounts)]
    if ready:
        if len(ready) == len(texts):
            for name in corpus:
                raise ValueError(f"{name} says how text is read, and these are counts: leave it out")
        special_tokens = arguments.special_names(special_tokens) or ready[0]._special_tokens
        if base is None and pattern is ... and unmatched is None:
            pattern = ready[0]._pattern
    names = arguments.special_names(special_tokens)
    if base is not None:
        check_base(base, special_ids, byte_order)
    options = Options(
        vocab_size=size if superwords is None or base is not None else superwords.first_size(size),
        base=base,
        new_specials=[name for name in names if base is None or name not in base.special_tokens],
        pattern=pattern_of(base, pattern, unmatched),
        ties=ties_of(base, ties),
        special_ids="first" if special_ids is None else special_ids,
        byte_order="value" if byte_order is None else byte_order,
        min_frequency=arguments.whole("min_frequency", min_frequency),
        max_token_length=length_of(max_token_length),
        forced_tokens=forced_bytes(forced_tokens),
    )
    limit = None if memory_limit is None else memory.limit(memory_limit)
    use = memory.Use(limit)
    saved = (
        None
        if checkpoint is None
        else Checkpoint(
            arguments.path_of("checkpoint", checkpoint),
            options.fingerprint(),
            arguments.fraction("checkpoint_seconds", checkpoint_seconds),
        )
    )
    if log is not None and not arguments.path_of("log", log).endswith((".csv", ".jsonl")):
        raise ValueError(f"{os.fspath(log)}: a training log is a .csv or a .jsonl file")
    for counts in ready:
        _check_counts(counts, options)
    texts = [text if isinstance(text, PretokenCounts) else Corpus.of(text, **corpus) for text in texts]
    if log is not None:
        for text in texts:
            whole_files.check_not_read(log, text.paths if isinstance(text, Corpus) else ())
    names, cuts, threads = options.special_tokens, options.pattern, arguments.checked_workers(workers)
    if superwords is not None:
        if ready:
            raise ValueError("superwords are learned from texts, and these are counts")
        if base is not None and (options.forced_tokens or min_pretoken_count != 1):
            raise ValueError("forced_tokens and min_pretoken_count are of the first stage, which base replaces")
        superwords.cuts(cuts)
        check_read_twice(texts[0])
    tokenizer = None if superwords is None else base
    if tokenizer is None:
        beside = None
        all_counts: list[PretokenCounts] = []
        for number, text in enumerate(texts):
            is_dev = languages is not None and number >= len(languages.texts)
            least = 1 if is_dev else min_pretoken_count
            if isinstance(text, PretokenCounts):
                all_counts.append(text if least == 1 else text.at_least(least))
                continue
            least = arguments.checked_limit("min_pretoken_count", least, 0)
            available = memory.limit(memory_limit) if languages is None else memory_left(memory_limit, all_counts)
            anew = functools.partial(counted, text, names, cuts, threads, available, least, progress, use)
            beside = None if saved is None else SavedCounts(saved.path, text, cuts, names)
            all_counts.append(anew() if languages else _counts_of(anew, options, available, least, beside))
        are_own = not any(
            counts is text and not counts._is_temporary for counts, text in zip(all_counts, texts, strict=True)
        )
        if languages is not None:
            tokenizer = languages.learn(all_counts, options, progress, consume_counts=are_own)
        else:
            tokenizer = learn(
                all_counts[0],
                options,
                saved,
                progress,
                consume_counts=are_own,
                memory_limit=limit,
                use=use,
                save=functools.partial(_saved, beside, min_count=min_pretoken_count),
            )
    if superwords is not None:
        tokenizer = second_stage(superwords, tokenizer, size, texts[0], options, threads, limit, progress)
    if log is not None:
        _write_log(log, tokenizer)
    return tokenizer


def train_bpe(
    input_path: FilePath, vocab_size: int, special_tokens: Iterable[str], **options: Any
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train on a file and return vocabulary and merges, as CS336's assignment 1 asks.

    `options` are those of `train`; the defaults are the course's rules.

    Returns:
        `vocab`, token bytes by id, and `merges`, in the order in which they were made.
    """
    check_options(train_bpe, options, train)
    tokenizer = train(input_path, vocab_size, special_tokens=special_tokens, **options)
    return dict(tokenizer.vocab), list(tokenizer.merges)


def _counts_of(
    anew: Callable[..., PretokenCounts], options: Options, limit: int, min_count: int, beside: SavedCounts | None
) -> PretokenCounts:
    """Return counts that an earlier call has saved, or new ones, if they and learning from them fit into a limit."""

    def check(frequencies: Frequencies, note: str) -> None:
        if error := memory_error(frequencies, options, limit, min_count):
            raise MemoryError(f"{error}{note}") from None

    head = None if beside is None else beside.head(min_count)
    if beside is None or head is None:
        return anew(lambda oversized: check(oversized.frequencies(), _saved(beside, oversized, min_count=1)))
    check(head["frequencies"], _NOTE.format(beside.path))
    return beside.load(min_count)


def _saved(beside: SavedCounts | None, core: Counts, min_count: int) -> str:
    """Save counts for the next call, if there is a place for them; return a note for an error."""
    if beside is None or not beside.can_be_saved:
        return ""
    if beside.head(min_count) is None:
        beside.save(core, min_count)
    return _NOTE.format(beside.path)


def _check_counts(counts: PretokenCounts, options: Options) -> None:
    if options.ties == "first" and not counts._has_order:
        raise ValueError(
            'ties="first" goes by the order of the text, which sums of parts do not tell: choose another rule, or '
            "count on one machine"
        )
    if counts._pattern != options.pattern:
        other = "not {}: leave the pattern out" if options.base is None else "and the base cuts text by {}"
        raise ValueError(f"the counts were made under {counts._pattern}, {other.format(options.pattern)}")
    names = options.special_tokens
    if missing := [name for name in names if name not in counts._special_tokens and name not in options.new_specials]:
        raise ValueError(f"the counts were made without the special tokens {missing} of the base: count anew")
    check_specials(counts, names)


def _write_log(path: str | os.PathLike[str], tokenizer: Tokenizer) -> None:
    r"""Write a row for each merge of a trained tokenizer, in order.

    Columns: the number of the merge from 1 on, the id of the token that it makes, left part, right part and token as
    text (`\xNN` for a byte that is not UTF-8, `\\` for a backslash), how often the pair occurred when it was chosen
    (empty, or null, where it was not chosen by its count), and the bytes of the token.
    """
    text = io.StringIO()
    if os.fspath(path).endswith(".csv"):
        csv.writer(text).writerows([_LOG_FIELDS, *_log_rows(tokenizer)])
    else:
        dump = json.JSONEncoder(ensure_ascii=False).encode
        text.writelines(f"{dump(dict(zip(_LOG_FIELDS, row, strict=True)))}\n" for row in _log_rows(tokenizer))
    whole_files.write(path, [text.getvalue().encode()])


def _log_rows(tokenizer: Tokenizer) -> Iterator[tuple[int | str | None, ...]]:
    counts = tokenizer.merge_counts or [None] * len(tokenizer.merges)
    for number, ((left, right), count) in enumerate(zip(tokenizer.merges, counts, strict=True), 1):
        token = left + right
        yield number, tokenizer.token_id(token), _escaped(left), _escaped(right), _escaped(token), count, len(token)


def _escaped(token: bytes) -> str:
    """Return the text that stands for a token, as in toksmith's own file."""
    return token.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
