"""Learning merges from counts, and the ids of the tokenizer that they make."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from .. import _core
from .._internal import memory
from .._internal.progress import Report, reporter
from ..tokenizer import Tokenizer
from .checkpoint import Checkpoint
from .counts import PretokenCounts
from .options import Options

# Bytes of memory for learning merges: for each byte of the different pretokens, and for each of these pretokens. Both
# are upper bounds: 12 bytes were measured for each byte of one giant pretoken, and less than two thirds of the bounds
# for 3.3 million words.
_BYTES_PER_BYTE, _BYTES_PER_PRETOKEN = 16, 40
_BYTES_PER_SLOT = 32
"""Bytes of memory of a counted pretoken, at least."""
_LIMIT_OVERSHOOT = 32 << 20
"""Bytes that a training may take above its limit."""
Frequencies = list[tuple[int, int, int, int]]
"""For some counts: the distinct pretokens that occur at least so often, their bytes, and their memory as counts."""
Save = Callable[[_core.PretokenCounts], str]


def learn(
    counts: PretokenCounts,
    options: Options,
    checkpoint: Checkpoint | None,
    progress: bool | Report,
    *,
    consume_counts: bool,
    memory_limit: int | None,
    use: memory.Use,
    save: Save = lambda _: "",
) -> Tokenizer:
    """Learn the merges and lay out the ids. With `consume_counts` the counts are gone afterwards.

    `save` saves counts that memory does not suffice for, and returns a note for the error.
    """
    _check_memory(counts, options, memory_limit, consume_counts, save)
    made = b"" if checkpoint is None else checkpoint.begin(_core.fingerprint(counts._core))
    with reporter(progress, use.facts) as report:
        learned = _core.learn_merges(
            counts._core,
            options.max_merges,
            ties=options.tie_rule,
            min_frequency=options.min_frequency,
            **options.for_core(),
            checkpoint=None if checkpoint is None else (made, checkpoint.save, checkpoint.seconds),
            progress=report,
            forget=consume_counts,
            memory_limit=memory_limit,
        )
    warn_if_short(options, learned.added())
    return build(options, learned)


def _check_memory(
    counts: PretokenCounts, options: Options, limit: int | None, consume_counts: bool, save: Save
) -> None:
    """Check that the memory suffices, and warn if it may not."""
    core = counts._core
    freed = _BYTES_PER_SLOT * len(counts) if consume_counts else 0
    available = memory.remaining() + freed if limit is None else limit
    least = _least_memory(options, len(counts), core.pretoken_bytes())
    if least > available:
        error = memory_error(core.frequencies(), options, available, is_limit=limit is not None)
        raise MemoryError(f"{error}{save(core)}")
    most = _BYTES_PER_BYTE * core.pretoken_bytes() + _BYTES_PER_PRETOKEN * len(counts)
    if limit is None and available < most:
        advised = max(available - _LIMIT_OVERSHOOT, least) // 10**6
        warnings.warn(
            f"learning merges takes up to {most / 1e6:,.0f} MB, and there are {available / 1e6:,.0f} MB: "
            f'memory_limit="{advised}MB" learns the same in less memory',
            stacklevel=4,
        )


def memory_error(
    frequencies: Frequencies, options: Options, available: int, min_count: int | None = None, *, is_limit: bool = True
) -> MemoryError | None:
    """Return the error of pretokens that are too many for so many bytes of memory; None if they are not.

    With `min_count` the counts have to fit as well, into three quarters, without those that occur less often.
    """
    needs = [
        (step, pretokens, _least_memory(options, pretokens, size, 0 if min_count is None else counts))
        for step, pretokens, size, counts in frequencies
    ]
    _, unique, least = [need for need in needs if need[0] <= max(min_count or 1, 1)][-1]
    if least <= available:
        return None
    advice = "raise it" if is_limit else "count fewer files"
    for step, kept, need in needs:
        if kept and need <= available:
            effect = f"which keeps {kept:,} and changes the result"
            advice += f", or leave rare ones out with min_pretoken_count={step}, {effect}"
            break
    there = f"{'memory_limit is' if is_limit else 'there are'} {available / 1e6:,.0f} MB"
    return MemoryError(
        f"there are {unique:,} different pretokens: training on them takes at least {least / 1e6:,.0f} MB, and "
        f"{there}: {advice}"
    )


def _least_memory(options: Options, pretokens: int, pretoken_bytes: int, counts_bytes: int = 0) -> int:
    """Return the bytes that learning takes at least, after counts that may take three quarters of them."""
    has_vocab = bool(options.base or options.forced_tokens)
    learning = _core.memory_to_learn(pretokens, pretoken_bytes, options.max_merges, options.tie_rule, has_vocab)
    return max(learning, -(-4 * counts_bytes // 3))


def warn_if_short(options: Options, added: int) -> None:
    """Warn if fewer tokens were added than asked for. Called by what `train` calls."""
    if added == options.max_merges:
        return
    condition = "at all" if options.min_frequency <= 1 else f"at least {options.min_frequency} times"
    if options.max_token_length is not None:
        condition += f" and has at most {options.max_token_length} bytes"
    merges = "merge was" if added == 1 else "merges were"
    warnings.warn(
        f"no pair is left that occurs {condition}: {added} {merges} made, not {options.max_merges}, "
        f"so the vocabulary has {options.min_vocab_size + added} tokens",
        stacklevel=4,
    )


def build(options: Options, learned: _core.Learned) -> Tokenizer:
    """Return the tokenizer of these merges, with ids for all tokens."""
    base = options.base
    core = _core.build_tokenizer(
        learned,
        base._core if base else None,
        options.new_specials,
        options.pattern.core(),
        options.special_ids,
        options.byte_order,
        options.ties,
        options.min_vocab_size,
    )
    return Tokenizer._of(core)
