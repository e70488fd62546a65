"""Learning merges, the memory that it takes, and the tokenizer that they make."""

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

from .. import _core
from .._internal.progress import Report
from ..tokenizer import Tokenizer
from .checkpoint import Checkpoint
from .counts_files import Counts
from .options import Options
from .parity import Languages

Runs: TypeAlias = "tuple[_core.Pretokenizer, Callable[[_core.Pretokenizer], _core.PretokenCounts]]"
"""The pattern of runs of words, and what counts all pretokens of a text."""
Texts: TypeAlias = "_core.PretokenCounts | Languages | Runs"
BYTES_PER_SLOT = 32
"""Bytes of memory of a counted pretoken, at least."""
_LIMIT_OVERSHOOT = 32 << 20
"""Bytes that a training may take above its limit."""


def learned(
    texts: Texts,
    options: Options,
    core_options: dict[str, Any],
    report: Report | None,
    *,
    checkpoint: Checkpoint | None = None,
    consume: bool = False,
) -> Tokenizer:
    """Learn the merges and lay out the ids. With `consume` the counts are empty afterwards."""
    saving = None
    if checkpoint is not None and isinstance(texts, _core.PretokenCounts):
        saving = (checkpoint.begin(_core.fingerprint(texts)), checkpoint.save, checkpoint.seconds)
    base = options.base._core if options.base else None
    merges = _core.learn(
        texts,
        core_options,
        base=base,
        forced=options.forced_tokens,
        checkpoint=saving,
        progress=report,
        consume=consume,
    )
    _warn_if_short(options, merges.added())
    core = _core.build_tokenizer(
        merges,
        base,
        options.new_specials,
        options.pattern.core(),
        options.ids.special_tokens,
        options.ids.single_bytes,
        options.ties,
    )
    return Tokenizer._of(core)


def _warn_if_short(options: Options, added: int) -> None:
    """Warn if fewer tokens were added than asked for."""
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


def warn_if_large(counts: _core.PretokenCounts, options: Options, available: int) -> None:
    """Warn if learning may take more memory than there is."""
    _, _, least, most, _ = memory_needs(counts, options)[0]
    if available < most:
        advised = max(available - _LIMIT_OVERSHOOT, least) // 10**6
        warnings.warn(
            f"learning merges takes up to {most / 1e6:,.0f} MB, and there are {available / 1e6:,.0f} MB: "
            f'memory_limit="{advised}MB" learns the same in less memory',
            stacklevel=6,
        )


def memory_error(
    counts: Counts, options: Options, available: int, min_count: int | None, *, is_limit: bool
) -> str | None:
    """Return the message for pretokens that are too many for so many bytes of memory; None if they are not.

    With `min_count` the counts have to fit as well, into three quarters, without those that occur less often.
    """
    needs = [
        (step, pretokens, least if min_count is None else max(least, -(-4 * size // 3)))
        for step, pretokens, least, _, size in memory_needs(counts, options)
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
    return (
        f"there are {unique:,} different pretokens: training on them takes at least {least / 1e6:,.0f} MB, and "
        f"{there}: {advice}"
    )


def memory_needs(counts: Counts, options: Options) -> list[tuple[int, int, int, int, int]]:
    """Return the memory that pretokens take, of all and of those that occur more often, by looking at each of them.

    An item is the least count, the number of distinct pretokens, the bytes for learning from them at least, the same
    at most without a limit, and the bytes for their counts.
    """
    return _core.memory_to_learn(counts, options.for_core(), bool(options.base or options.forced_tokens))
