"""How long a training will take, and how much memory, from a sample of its files."""

from __future__ import annotations

import itertools
import math
import statistics
import time
import warnings
from typing import TYPE_CHECKING, NamedTuple

from .._internal import arguments
from ..files import inputs
from . import sampling
from .counting import count_pretokens_from_iterator
from .run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .counting import Files
    from .counts import PretokenCounts
    from .options import Options

SAMPLE_BYTES = 1 << 24
"""Bytes of files in a sample: a second or two of work."""
# The sample is counted in parts, each as large as all parts before it together: each doubling shows how counts grow.
_DOUBLINGS = 4
# The growth is computed from so many of the last doublings: counts grow faster in the first texts than in later ones.
_FITTED = 3
# No part of the sample is begun after so many seconds: a pattern of `regex` counts some megabytes in a second.
_MOST_SECONDS = 5.0
# Bytes that the counts take for each different pretoken, besides its own bytes if it has more than 15.
_BYTES_PER_PRETOKEN, _INLINE_BYTES = 32, 15
# Largest measured ratios to the memory of the counts: of the tables of counting; of learning from these counts.
_COUNTING_FACTOR, _LEARNING_FACTOR, _LARGE_FACTOR = 2.5, 3.0, 5.0
_MERGE_BYTES = 400
_PROCESS_BYTES = 40_000_000


class Estimate(NamedTuple):
    """The time and memory that a training will take. Sizes are in bytes, times in seconds."""

    files: int
    file_bytes: int
    text_bytes: int
    sample_bytes: int
    sample_pretokens: int
    pretokens: int
    """Different pretokens."""
    growth: float
    """The exponent of Heaps' law: the number of different pretokens grows as the text to this power."""
    count_seconds: float
    learn_seconds: float
    counts: int
    """Memory of the counts. They have to fit into half of the memory limit."""
    memory: int
    """The most that the process takes, of which the interpreter is a part."""
    workers: int

    @property
    def is_whole(self) -> bool:
        """Whether the sample is all of the text."""
        return self.sample_bytes >= self.text_bytes


def estimate(
    files: Files,
    options: Options,
    *,
    workers: int | None = None,
    min_pretoken_count: int = 1,
    field: str | None = None,
    column: str | None = None,
    document_separator: str | None = None,
    sample_bytes: int = SAMPLE_BYTES,
) -> Estimate:
    """Read a sample of files, count it, learn merges from it, and estimate what the whole training will take.

    The number of different pretokens grows by Heaps' law, as the text to a power, which is computed from the last
    doublings of the sample. Counting is taken to have the speed of the sample. Learning takes time in proportion to
    the bytes of the different pretokens.

    Args:
        files: As in `train`.
        options: The options of the training.
        workers: As in `train`.
        min_pretoken_count: As in `train`. All pretokens are counted, but merges are not learned from rare ones.
        field: As in `train`.
        column: As in `train`.
        document_separator: As in `train`.
        sample_bytes: How many bytes of the files are read, at the most.

    Raises:
        OSError, ValueError, ImportError: As `train`; or a file is a pipe; or the files have no text.
    """
    threads = arguments.checked_workers(workers)
    found = inputs.of_files(files, field, column, inputs.TEXTS_TO_TRAIN)
    inputs.check_plain(found)
    total = sum(sampling.sizes_of(found))
    taken = list(sampling.stretches(found, sample_bytes))
    counting = {**options.for_counting, "workers": threads, "document_separator": document_separator}
    steps, speed = _counted(taken, counting)
    sample, growth = steps[-1], _exponent(steps)
    text_bytes = max(sample.text_bytes, round(total * _ratio(taken)))
    scale = (text_bytes / sample.text_bytes) ** growth
    kept = sample.counts.at_least(min_pretoken_count) if min_pretoken_count > 1 else sample.counts
    counts = round(_counts_bytes(sample.counts) * scale)
    learning = _learning_bytes(round(_counts_bytes(kept) * scale), options)
    return Estimate(
        files=len(found),
        file_bytes=total,
        text_bytes=text_bytes,
        sample_bytes=sample.text_bytes,
        sample_pretokens=len(sample.counts),
        pretokens=round(len(sample.counts) * scale),
        growth=growth,
        count_seconds=max(text_bytes / speed, _reading(taken, total, min(threads, len(found)))),
        learn_seconds=_learning_seconds(kept, options) * scale,
        counts=counts,
        memory=round(_PROCESS_BYTES + max(counts * _COUNTING_FACTOR, learning)),
        workers=threads,
    )


class _Step(NamedTuple):
    """The counts up to one doubling of the sample."""

    text_bytes: int
    counts: PretokenCounts


def _counted(taken: Sequence[sampling.Stretch], options: dict[str, Any]) -> tuple[list[_Step], float]:
    """Return the counts of growing parts of a sample, and how many bytes of text are counted in a second."""
    steps: list[_Step] = []
    # Stretches are in the order of the files, so every n-th stretch makes a sample of the sample.
    order = sorted(range(len(taken)), key=_reversed_bits)
    borders = sorted({len(order) >> halvings for halvings in range(_DOUBLINGS + 1)} | {0})
    done = 0
    seconds = last = 0.0
    for start, stop in itertools.pairwise(borders):
        if steps and seconds + 2 * last > _MOST_SECONDS:
            break
        part = [taken[number] for number in order[start:stop]]
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a pattern that matches little: the training itself warns of it
            counts = count_pretokens_from_iterator(
                itertools.chain.from_iterable(stretch.texts for stretch in part), errors="replace", **options
            )
        last = time.perf_counter() - began
        seconds += last
        done += sum(stretch.text_bytes for stretch in part)
        steps.append(_Step(done, steps[-1].counts + counts if steps else counts))
    if not done:
        raise ValueError("the files have no text to train on")
    return steps, done / max(seconds, 1e-9)


def _reversed_bits(number: int) -> int:
    return int(f"{number:032b}"[::-1], 2)


def _ratio(taken: Sequence[sampling.Stretch]) -> float:
    """Return the bytes of text for each byte of the files."""
    return sum(one.text_bytes for one in taken) / max(sum(one.file_bytes for one in taken), 1)


def _exponent(steps: Sequence[_Step]) -> float:
    """Return the exponent of Heaps' law: the slope of the line through the logarithms of the last steps."""
    points = [
        (math.log(step.text_bytes), math.log(len(step.counts)))
        for step in steps[-_FITTED - 1 :]
        if step.text_bytes and len(step.counts)
    ]
    if len({x for x, _ in points}) < 2:
        return 1.0
    slope, _ = statistics.linear_regression(*zip(*points, strict=True))
    return min(max(slope, 0.0), 1.0)


def _counts_bytes(counts: PretokenCounts) -> int:
    """Return the memory of counts; the 32 bytes of a pretoken include its own bytes if it is short."""
    return _BYTES_PER_PRETOKEN * len(counts) + max(0, counts._core.pretoken_bytes() - _INLINE_BYTES * len(counts))


def _learning_bytes(counts_bytes: int, options: Options) -> float:
    """Return the memory of learning merges from counts of so many bytes, as the docstring of `train` states it."""
    is_large = options.base is not None or options.forced_tokens or options.ties == "first"
    factor = _LARGE_FACTOR if is_large or options.max_merges > 65_536 else _LEARNING_FACTOR
    return counts_bytes * factor + _MERGE_BYTES * options.max_merges


def _learning_seconds(counts: PretokenCounts, options: Options) -> float:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sample may have too few pairs
        Run(options, None, 0.0, None).learn(counts, False, consume_counts=False)
    return time.perf_counter() - began


def _reading(taken: Sequence[sampling.Stretch], total: int, at_once: int) -> float:
    """Return the time of the reading that not all threads can share: a compressed file is one stream."""
    seconds = sum(one.seconds for one in taken)
    covered = sum(one.file_bytes for one in taken)
    return seconds / max(covered, 1) * total / max(at_once, 1)
