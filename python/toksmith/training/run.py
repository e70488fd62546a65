"""Learning merges, with the files that a long training writes on its way."""

from __future__ import annotations

import warnings

from .. import _core
from .._internal import memory
from .._internal.messages import shown
from .._internal.progress import reporter
from .watching import Watcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._internal.progress import Report
    from ..corpus import FilePath
    from ..tokenizer import Tokenizer
    from .counts import PretokenCounts
    from .options import Options


# Bytes of memory for learning merges: for each byte of the different pretokens, and for each of these pretokens. Both
# are upper bounds: 12 bytes were measured for each byte of one giant pretoken, and less than two thirds of the bounds
# for 3.3 million words.
_BYTES_PER_BYTE, _BYTES_PER_PRETOKEN = 16, 40
# Values of `min_pretoken_count` that the error of too many pretokens tries.
_OFFERED = (2, 3, 5, 10, 20, 50, 100, 1000, 10_000)


def check_room(counts: PretokenCounts) -> None:
    """Check that the memory suffices to learn merges from so many different pretokens.

    Raises:
        MemoryError: It does not; says how much learning needs, and which `min_pretoken_count` would do.
    """
    most = memory.installed()
    needed = _room(counts)
    if needed <= most:
        return
    offer = "count fewer files"
    for least in _OFFERED:
        some = counts.at_least(least)
        if len(some) and _room(some) <= most:
            keeps = f"which keeps {len(some):,} and changes the result"
            offer = f"leave rare ones out with min_pretoken_count={least}, {keeps}"
            break
    raise MemoryError(
        f"there are {len(counts):,} different pretokens: learning merges from them takes up to "
        f"{needed / 1e6:,.0f} MB, and there are {most / 1e6:,.0f} MB; {offer}"
    )


def _room(counts: PretokenCounts) -> int:
    return _BYTES_PER_BYTE * counts._core.pretoken_bytes() + _BYTES_PER_PRETOKEN * len(counts)


class Run:
    """A training with its checkpoint and its log, both checked before any text is read."""

    def __init__(self, options: Options, checkpoint: FilePath | None, seconds: float, log: FilePath | None) -> None:
        self.options, self.log = options, log
        self.seconds = float(seconds)
        if not self.seconds >= 0:
            raise ValueError(f"checkpoint_seconds is {shown(seconds)}, not a time")
        if log is not None:
            from . import log as training_log

            training_log.check(log)
        self.checkpoint = None
        if checkpoint is not None:
            from .checkpoint import Checkpoint

            self.checkpoint = Checkpoint(checkpoint, options.fingerprint())

    def learn(self, counts: PretokenCounts, progress: bool | Report, *, consume_counts: bool) -> Tokenizer:
        """Learn the merges and lay out the ids. With `consume_counts` the counts are gone afterwards."""
        options = self.options
        check_room(counts)
        saving: dict[str, Any] = {}
        if self.checkpoint is not None:
            made = self.checkpoint.begin(_core.fingerprint(counts._core))
            saving = {"made": made, "save": self.checkpoint.save, "every": self.seconds}
        if isinstance(progress, Watcher):
            saving["show"] = progress.begin(counts, options, is_bare=not saving.get("made"))
        with reporter(progress) as report:
            learned = _core.learn_merges(
                counts._core,
                options.max_merges,
                ties=options.ties,
                min_frequency=options.min_frequency,
                max_token_length=options.max_token_length,
                base=options.base._core if options.base else None,
                forced=options.forced_tokens,
                progress=report,
                forget=consume_counts,
                **saving,
            )
        self._warn_if_short(learned)
        tokenizer = options.tokenizer(learned)
        if self.log is not None:
            from . import log as training_log

            training_log.write(self.log, tokenizer)
        return tokenizer

    def _warn_if_short(self, learned: _core.Learned) -> None:
        options = self.options
        added = learned.added()
        if added < options.max_merges:
            least = max(1, options.min_frequency)
            often = "at all" if least == 1 else f"at least {least} times"
            if options.max_token_length is not None:
                often += f" and has at most {options.max_token_length} bytes"
            merges = "merge was" if added == 1 else "merges were"
            warnings.warn(
                f"no pair is left that occurs {often}: {added} {merges} made, not {options.max_merges}, "
                f"so the vocabulary has {options.vocab_size - options.max_merges + added} tokens",
                stacklevel=4,
            )
