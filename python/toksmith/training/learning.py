"""Learning merges from counts, and the ids of the tokenizer that they make."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

from .. import _core
from .._internal import memory
from .._internal.progress import Report, reporter
from ..formats.parts import Parts, Record
from ..formats.spelling import BYTE_ORDER
from ..tokenizer import Tokenizer
from .checkpoint import Checkpoint
from .counts import PretokenCounts
from .options import Options

# Bytes of memory for learning merges: for each byte of the different pretokens, and for each of these pretokens. Both
# are upper bounds: 12 bytes were measured for each byte of one giant pretoken, and less than two thirds of the bounds
# for 3.3 million words.
_BYTES_PER_BYTE, _BYTES_PER_PRETOKEN = 16, 40
# Values of `min_pretoken_count` that the error of too many pretokens tries.
_MIN_COUNTS = (2, 3, 5, 10, 20, 50, 100, 1000, 10_000)
_KINDS = {
    "first": ("special", "byte", "merge"),
    "after_bytes": ("byte", "special", "merge"),
    "last": ("byte", "merge", "special"),
}
"""The order of the ids of special tokens, bytes and merges, for each value of `special_ids`."""


def learn(
    counts: PretokenCounts,
    options: Options,
    checkpoint: Checkpoint | None,
    progress: bool | Report,
    *,
    consume_counts: bool,
    memory_limit: int | None,
) -> Tokenizer:
    """Learn the merges and lay out the ids. With `consume_counts` the counts are gone afterwards."""
    _check_memory(counts, options, memory_limit)
    made = b"" if checkpoint is None else checkpoint.begin(_core.fingerprint(counts._core))
    with reporter(progress) as report:
        learned = _core.learn_merges(
            counts._core,
            options.max_merges,
            ties=options.ties,
            min_frequency=options.min_frequency,
            max_token_length=options.max_token_length,
            base=options.base._core if options.base else None,
            forced=options.forced_tokens,
            made=made,
            save=None if checkpoint is None else checkpoint.save,
            every=0.0 if checkpoint is None else checkpoint.seconds,
            progress=report,
            forget=consume_counts,
            memory_limit=memory_limit,
        )
    warn_if_short(options, learned.added())
    return build(options, learned)


def _check_memory(counts: PretokenCounts, options: Options, limit: int | None) -> None:
    """Check that the memory suffices; the error says how much is needed, and which `min_pretoken_count` would do."""
    available, least = min(memory.installed(), limit or 2**62), _least_memory(counts, options)
    if limit is None and least <= available < (most := _most_memory(counts)):
        warnings.warn(
            f"learning merges takes up to {most / 1e6:,.0f} MB, and there are {available / 1e6:,.0f} MB: "
            f'memory_limit="{available // 10**6}MB" learns the same in less memory',
            stacklevel=5,
        )
    if least <= available:
        return
    advice = "count fewer files"
    for min_count in _MIN_COUNTS:
        frequent = counts.at_least(min_count)
        if len(frequent) and _least_memory(frequent, options) <= available:
            effect = f"which keeps {len(frequent):,} and changes the result"
            advice = f"leave rare ones out with min_pretoken_count={min_count}, {effect}"
            break
    raise MemoryError(
        f"there are {len(counts):,} different pretokens: learning merges from them takes at least "
        f"{least / 1e6:,.0f} MB, and there are {available / 1e6:,.0f} MB; {advice}"
    )


def _most_memory(counts: PretokenCounts) -> int:
    return _BYTES_PER_BYTE * counts._core.pretoken_bytes() + _BYTES_PER_PRETOKEN * len(counts)


def _least_memory(counts: PretokenCounts, options: Options) -> int:
    has_vocab = bool(options.base or options.forced_tokens)
    return _core.memory_to_learn(counts._core, options.max_merges, options.ties, has_vocab)


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


class _Layout(NamedTuple):
    """Ids: of the bytes (none with a base), of the first merge, and of special tokens."""

    bytes: list[int]
    first_merge: int
    special_tokens: list[tuple[str, int]]


def build(options: Options, learned: _core.Learned) -> Tokenizer:
    """Return the tokenizer of these merges, with ids for all tokens."""
    base = options.base
    layout = _layout(options, learned.added()) if base is None else _extended(base, options.new_specials)
    core = _core.build_tokenizer(
        learned,
        base._core if base else None,
        layout.bytes,
        layout.first_merge,
        layout.special_tokens,
        options.pattern.core(),
    )
    old_counts: list[int | None] = []
    if base is not None:
        merges = len(base._core.merges())
        old_counts = base._parts.record.counts_of(merges) if base._parts.record else [None] * merges
    record = Record(options.ties, options.min_vocab_size, old_counts, learned)
    return Tokenizer._of(Parts(core, options.pattern, None, record))


def _layout(options: Options, merges: int) -> _Layout:
    sizes = {"special": len(options.new_specials), "byte": 256, "merge": merges}
    starts, next_id = {}, 0
    for kind in _KINDS[options.special_ids]:
        starts[kind] = next_id
        next_id += sizes[kind]
    by_byte = [0] * 256
    order: Sequence[int] = range(256) if options.byte_order == "value" else BYTE_ORDER
    for id, byte in enumerate(order, starts["byte"]):
        by_byte[byte] = id
    return _Layout(by_byte, starts["merge"], _numbered(options.new_specials, starts["special"]))


def _extended(base: Tokenizer, new_specials: list[str]) -> _Layout:
    """Give new special tokens, and then new merges, the ids above those of the base."""
    new = _numbered(new_specials, base.max_id + 1)
    return _Layout([], base.max_id + 1 + len(new), [*base.special_tokens.items(), *new])


def _numbered(names: list[str], first_id: int) -> list[tuple[str, int]]:
    return [(name, id) for id, name in enumerate(names, first_id)]
