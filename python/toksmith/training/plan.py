"""The plan of a training: which stages run, and what each of them takes."""

import csv
import dataclasses
import functools
import io
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from .. import _core
from .._internal import arguments, memory
from .._internal.choices import SuperwordRule, Ties, Unmatched
from .._internal.messages import shown
from .._internal.progress import Report, reporter
from ..corpus import Corpus, FilePath
from ..files import whole_files
from ..tokenizer import Tokenizer, tokenizer_of
from .checkpoint import Checkpoint
from .counting import begun, counted
from .counts import PretokenCounts, check_specials, head_of
from .counts_files import Counts
from .options import IdOrder, Options, check_base, forced_bytes, pattern_of, ties_of
from .parity import Languages, Parity, Text
from .superwords import Superwords, check_read_twice

CONFLICTS: dict[tuple[str, ...], str] = {
    ("checkpoint", "parity"): "a checkpoint has the merges of one text",
    ("superwords", "parity"): "their stage learns from one text",
    ("superwords", "checkpoint"): "a checkpoint has the merges of one stage",
    ("superwords", "PretokenCounts"): "they are learned from texts, and these are counts",
    ("superwords", "IdOrder('last')"): "special tokens have their ids before the second stage",
    ("forced_tokens", "base", "superwords"): "they belong to the first stage, which the base replaces",
    ("min_pretoken_count", "base", "superwords"): "it belongs to the first stage, which the base replaces",
    ("ids", "base"): "its ids stay, and new ones follow the highest",
}
"""Options that cannot be combined, and why; "PretokenCounts" stands for sources that are all counted, and
"IdOrder('last')" for `ids` with special tokens last."""
Runs: TypeAlias = "tuple[_core.Pretokenizer, Callable[[_core.Pretokenizer], _core.PretokenCounts]]"
"""The pattern of runs of words, and what counts all pretokens of a text."""
_BYTES_PER_SLOT = 32
"""Bytes of memory of a counted pretoken, at least."""
_LIMIT_OVERSHOOT = 32 << 20
"""Bytes that a training may take above its limit."""
_LOG_FIELDS = ("merge", "id", "left", "right", "token", "count", "bytes")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a training is asked for, as it was given: the arguments of `train`, and three of `count_pretokens`."""

    sources: Text | Mapping[str, Text]
    vocab_size: int
    special_tokens: Iterable[str] = ()
    pattern: object = ...
    unmatched: Unmatched | None = None
    ties: Ties | None = None
    min_frequency: int = 1
    max_token_length: int | None = None
    forced_tokens: Iterable[str | bytes] = ()
    base: Tokenizer | object | None = None
    ids: IdOrder | None = None
    parity: Parity | None = None
    superwords: Superwords | SuperwordRule | None = None
    workers: int | None = None
    min_pretoken_count: int = 1
    memory_limit: int | str | None = None
    progress: bool | Report = False
    checkpoint: FilePath | tuple[FilePath, float] | None = None
    log: FilePath | None = None


class Plan:
    """The stages of a training, all of which are checked before any text is read.

    `options` are those of the first stage, and `vocab_size` is that of the result. `sources` are the languages of
    `parity`.
    """

    def __init__(self, request: Request) -> None:
        sources, self.parity = request.sources, request.parity
        self.vocab_size = arguments.whole("vocab_size", request.vocab_size)
        self.superwords = None if request.superwords is None else Superwords.of(request.superwords)
        if self.parity is None and isinstance(sources, Mapping):
            raise ValueError("a dict of languages is for parity=Parity(...), which balances them")
        if self.parity is not None and not isinstance(self.parity, Parity):
            raise TypeError(f"parity is a toksmith.Parity, such as Parity(dev=...), not {self.parity!r}")
        texts = [sources] if self.parity is None else self.parity.all_texts(sources)
        ready = [text for text in texts if isinstance(text, PretokenCounts)]
        forced = forced_bytes(request.forced_tokens)
        self.min_count = arguments.checked_limit("min_pretoken_count", request.min_pretoken_count, 0)
        _check_conflicts(request, bool(forced), len(ready) == len(texts))
        self.options = _options(self.vocab_size, ready, self.superwords, request, forced)
        if self.superwords is not None:
            self.superwords.cuts(self.options.pattern)
        self.memory_limit = None if request.memory_limit is None else memory.limit(request.memory_limit)
        self.checkpoint = None
        if request.checkpoint is not None:
            self.checkpoint = Checkpoint(request.checkpoint, self.options.fingerprint())
        self.log = None if request.log is None else arguments.path_of("log", request.log)
        if self.log is not None and not self.log.endswith((".csv", ".jsonl")):
            raise ValueError(f"{self.log}: a training log is a .csv or a .jsonl file")
        for counts in ready:
            _check_counts(counts, self.options)
        self.texts = [text if isinstance(text, PretokenCounts) else Corpus.of(text) for text in texts]
        outs = (self.log, None if self.checkpoint is None else self.checkpoint.path)
        written = [path for path in outs if path is not None]
        whole_files.check_different(written)
        for corpus in (text for text in self.texts if isinstance(text, Corpus)):
            for path in written:
                whole_files.check_not_read(path, corpus.paths)
            if self.superwords is not None:
                check_read_twice(corpus)
        self.sources: Mapping[str, Text] = sources if isinstance(sources, Mapping) else {}
        self.workers = arguments.checked_workers(request.workers)
        self.progress, self.use = request.progress, memory.Use(self.memory_limit)

    def run(self) -> Tokenizer:
        """Run the stages."""
        if self.superwords is None:
            tokenizer = self._learned(self._counted())
        else:
            tokenizer = self._joined(self.superwords, self.options.base or self._learned(self._counted()))
        if self.log is not None:
            _write_log(self.log, tokenizer)
        return tokenizer

    def _counted(self) -> list[PretokenCounts]:
        names, pattern = self.options.special_tokens, self.options.pattern
        counts: list[PretokenCounts] = []
        for number, text in enumerate(self.texts):
            is_dev = self.parity is not None and number >= len(self.sources)
            least = 1 if is_dev else self.min_count
            if isinstance(text, PretokenCounts):
                counts.append(text if least == 1 else text.at_least(least))
                continue
            taken = sum(self._memory_needs(other._core)[0][-1] for other in counts)
            available = max(1, memory.limit(self.memory_limit) - taken)
            refuse = functools.partial(self._check_memory, available=available, min_count=least)
            limits = (self.workers, available, least)
            refuse_or_none = None if self.parity else refuse
            counts.append(counted(text, names, pattern, *limits, self.progress, self.use, refuse_or_none))
        return counts

    def _learned(self, counts: list[PretokenCounts]) -> Tokenizer:
        """Learn merges from the counts of all texts."""
        are_own = all(own is not text or own._is_temporary for own, text in zip(counts, self.texts, strict=True))
        core = counts[0]._core
        texts: _core.PretokenCounts | Languages = core
        options = self.options.for_core()
        if self.parity:
            texts = self.parity.languages(self.sources, counts)
            if self.options.ties == "huggingface" and not self.options.base:
                # Hugging Face's trainer for languages compares spellings where its other one compares ids.
                options["ties"] = "spelling"
        else:
            options["memory_limit"] = self.memory_limit
            unbounded = memory.remaining() + (_BYTES_PER_SLOT * len(core) if are_own else 0)
            self._check_memory(core, unbounded if self.memory_limit is None else self.memory_limit)
            if self.memory_limit is None:
                self._warn_if_large(core, unbounded)
        with reporter(self.progress, self.use.facts) as report:
            return self._learn(texts, self.options, options, report, consume=are_own)

    def _joined(self, superwords: Superwords, first: Tokenizer) -> Tokenizer:
        """Extend a tokenizer by tokens of several words."""
        corpus, names = cast(Corpus, self.texts[0]), self.options.special_tokens
        options = dataclasses.replace(
            self.options,
            vocab_size=self.vocab_size,
            base=first,
            new_specials=[name for name in names if name not in first.special_tokens],
            pattern=superwords.cuts(self.options.pattern),
            ids=IdOrder(),
            forced_tokens=[],
        )
        limit, core_options = self.memory_limit, options.for_core()
        core_options |= {"memory_limit": limit, "max_words": superwords.max_words}
        with reporter(self.progress, self.use.facts) as report, corpus.naming():

            def count(cuts: _core.Pretokenizer) -> _core.PretokenCounts:
                limits = {"workers": self.workers, "memory_limit": memory.limit(limit)}
                return begun(corpus, names, cuts, report, **limits).finish()

            return self._learn((options.pattern.core(), count), options, core_options, report)

    def _learn(
        self,
        texts: "_core.PretokenCounts | Languages | Runs",
        options: Options,
        core_options: dict[str, Any],
        report: Report | None,
        *,
        consume: bool = False,
    ) -> Tokenizer:
        """Learn the merges and lay out the ids. With `consume` the counts are empty afterwards."""
        saving = None
        if self.checkpoint is not None and isinstance(texts, _core.PretokenCounts):
            merges = self.checkpoint.begin(_core.fingerprint(texts))
            saving = (merges, self.checkpoint.save, self.checkpoint.seconds)
        base = options.base._core if options.base else None
        learned = _core.learn(
            texts,
            core_options,
            base=base,
            forced=options.forced_tokens,
            checkpoint=saving,
            progress=report,
            consume=consume,
        )
        _warn_if_short(options, learned.added())
        cuts, order = options.pattern.core(), options.ids
        core = _core.build_tokenizer(
            learned, base, options.new_specials, cuts, order.special_tokens, order.single_bytes, options.ties
        )
        return Tokenizer._of(core)

    # Memory

    def _memory_needs(self, counts: Counts) -> list[tuple[int, int, int, int, int]]:
        """Return the memory that pretokens take, of all and of those that occur more often.

        An item is the least count, the number of distinct pretokens, the bytes for learning from them at least, the
        same at most without a limit, and the bytes for their counts. Cost: each pretoken is looked at.
        """
        has_vocab = bool(self.options.base or self.options.forced_tokens)
        return _core.memory_to_learn(counts, self.options.for_core(), has_vocab)

    def _warn_if_large(self, counts: _core.PretokenCounts, available: int) -> None:
        _, _, least, most, _ = self._memory_needs(counts)[0]
        if available < most:
            advised = max(available - _LIMIT_OVERSHOOT, least) // 10**6
            warnings.warn(
                f"learning merges takes up to {most / 1e6:,.0f} MB, and there are {available / 1e6:,.0f} MB: "
                f'memory_limit="{advised}MB" learns the same in less memory',
                stacklevel=6,
            )

    def _check_memory(self, counts: Counts, available: int, min_count: int | None = None) -> None:
        """Check that so many bytes of memory suffice to learn; if not, save the counts beside the checkpoint.

        With `min_count` the counts have to fit as well, into three quarters, without those that occur less often.
        """
        needs = [
            (step, pretokens, least if min_count is None else max(least, -(-4 * size // 3)))
            for step, pretokens, least, _, size in self._memory_needs(counts)
        ]
        _, unique, least = [need for need in needs if need[0] <= max(min_count or 1, 1)][-1]
        if least <= available:
            return
        is_limit = self.memory_limit is not None or min_count is not None
        advice = "raise it" if is_limit else "count fewer files"
        for step, kept, need in needs:
            if kept and need <= available:
                effect = f"which keeps {kept:,} and changes the result"
                advice += f", or leave rare ones out with min_pretoken_count={step}, {effect}"
                break
        there = f"{'memory_limit is' if is_limit else 'there are'} {available / 1e6:,.0f} MB"
        if self.checkpoint is not None and isinstance(self.texts[0], Corpus):
            head = head_of(self.options.pattern, self.options.special_tokens)
            advice += self.checkpoint.save_counts(counts, head)
        raise MemoryError(
            f"there are {unique:,} different pretokens: training on them takes at least {least / 1e6:,.0f} MB, and "
            f"{there}: {advice}"
        )


def _warn_if_short(options: Options, added: int) -> None:
    if added == options.max_merges:
        return
    condition = "at all" if options.min_frequency <= 1 else f"at least {options.min_frequency} times"
    if options.max_token_length is not None:
        condition += f" and has at most {options.max_token_length} bytes"
    merges = "merge was" if added == 1 else "merges were"
    warnings.warn(
        f"no pair is left that occurs {condition}: {added} {merges} made, not {options.max_merges}, "
        f"so the vocabulary has {options.min_vocab_size + added} tokens",
        stacklevel=7,
    )


def _check_conflicts(request: Request, has_forced: bool, is_counted: bool) -> None:
    values = vars(request) | {"forced_tokens": has_forced or None, "PretokenCounts": is_counted or None}
    values["IdOrder('last')"] = True if getattr(request.ids, "special_tokens", None) == "last" else None
    values["min_pretoken_count"] = None if request.min_pretoken_count == 1 else request.min_pretoken_count
    for names, reason in CONFLICTS.items():
        if all(values[name] is not None for name in names):
            raise ValueError(f"{names[0]} cannot be combined with {' and '.join(names[1:])}: {reason}")


def _options(
    vocab_size: int, ready: list[PretokenCounts], superwords: Superwords | None, request: Request, forced: list[bytes]
) -> Options:
    """Return the options of the first stage; counts have a pattern and special tokens of their own."""
    if request.ids is not None and not isinstance(request.ids, IdOrder):
        raise TypeError(f"ids is a toksmith.IdOrder, such as IdOrder('last'), not {shown(request.ids)}")
    base = None if request.base is None else tokenizer_of(request.base, "base")
    pattern, names = request.pattern, arguments.special_names(request.special_tokens)
    if ready:
        names = names or ready[0]._special_tokens
        if base is None and pattern is ... and request.unmatched is None:
            pattern = ready[0]._pattern
    if base is not None:
        check_base(base, superwords is not None)
    length = request.max_token_length
    return Options(
        vocab_size=vocab_size if superwords is None or base is not None else superwords.first_size(vocab_size),
        base=base,
        new_specials=[name for name in names if base is None or name not in base.special_tokens],
        pattern=pattern_of(base, pattern, request.unmatched),
        ties=ties_of(base, request.ties),
        ids=request.ids or IdOrder(),
        min_frequency=arguments.whole("min_frequency", request.min_frequency, bits=63),
        max_token_length=None if length is None else arguments.checked_limit("max_token_length", length, 1),
        forced_tokens=forced,
    )


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
        raise ValueError(f"the counts were made without the special tokens {shown(missing)} of the base: count anew")
    check_specials(counts, names)


# The log


def _write_log(path: str, tokenizer: Tokenizer) -> None:
    r"""Write a row for each merge of a trained tokenizer, in order.

    Columns: the number of the merge from 1 on, the id of the token that it makes, left part, right part and token as
    text (`\xNN` for a byte that is not UTF-8, `\\` for a backslash), how often the pair occurred when it was chosen
    (empty, or null, where it was not chosen by its count), and the bytes of the token.
    """
    text = io.StringIO()
    if path.endswith(".csv"):
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
