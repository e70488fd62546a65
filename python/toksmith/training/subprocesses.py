"""Counting in several processes, for patterns of `regex`: in one process only one thread at a time runs that package.

Each process is a fresh interpreter that is told its part of the files. It imports no module of the caller, so it
works from a script without a `__main__` guard and from a notebook.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .. import _core, patterns
from ..files import inputs, temporary, watching
from ..files.inputs import Source
from . import counter
from .counts import PretokenCounts

if TYPE_CHECKING:
    from ..files.new_file import NewFile

# Fewest bytes for which a process is started. Its start takes about as long as counting one or two megabytes.
LEAST_BYTES = 8 << 20
# Least part of `memory_limit` for each process, and for the process that adds their counts: tables are never smaller.
LEAST_LIMIT = 32 << 20
_WINDOW = 1 << 20
# Most separators that are searched for a place to cut at: each takes a search of the file.
_TRIED = 16


def parts(sources: list[Source], workers: int, separators: list[bytes]) -> list[list[Source]]:
    """Return the files in parts of about the same size, in order, one for each process that is worth its start.

    A plain file is cut in front of a separator that no other one can overlap, so that each part has whole documents.
    """
    seen = [watching.stamp(source.path) if Path(source.path).exists() else None for source in sources]
    sizes = [stamp[0] if stamp else 0 for stamp in seen]
    workers = min(workers, sum(sizes) // LEAST_BYTES)
    if workers < 2 or not sys.executable or any(source.column for source in sources):
        return [sources]
    # Each process checks that the files it opens are still the same.
    sources = [source._replace(seen=stamp) for source, stamp in zip(sources, seen, strict=True)]
    target = sum(sizes) / workers
    found: list[list[Source]] = [[]]
    room = target
    for source, size in zip(sources, sizes, strict=True):
        start = 0
        while size - start > room and len(found) < workers:
            cut = _cut(source, start + max(int(room), 1), separators) if _is_plain(source) else None
            if cut is None or cut >= size:
                break
            found[-1].append(source._replace(span=(start, cut)))
            start, room = cut, target
            found.append([])
        rest = source._replace(span=(start, size)) if start else source
        found[-1].append(rest)
        room -= size - start
        if room <= 0 and len(found) < workers:
            found.append([])
            room = target
    return [part for part in found if part]


def _is_plain(source: Source) -> bool:
    return source.compression is None and source.field is None


def _cut(source: Source, at: int, separators: list[bytes]) -> int | None:
    """Return where the next separator begins for which `_stands_alone` is true."""
    # The document separator, where there is one, is the last.
    tried = dict.fromkeys(separators[-1:] + separators[:_TRIED])
    alone = [one for one in tried if _stands_alone(one, separators)]
    if not alone:
        return None
    longest = max(map(len, alone))
    with Path(source.path).open("rb") as file:
        file.seek(at)
        held = b""
        while piece := file.read(_WINDOW):
            held += piece
            places = [place for one in alone if (place := held.find(one)) >= 0]
            if places:
                return at + min(places)
            at += max(len(held) - longest + 1, 0)
            held = held[max(len(held) - longest + 1, 0) :]
    return None


def _stands_alone(one: bytes, separators: list[bytes]) -> bool:
    """Return whether `one` shares no byte of a text with another separator, nor with itself at another place."""
    if any(one.endswith(one[:size]) for size in range(1, len(one))):
        return False
    return not _core.overlap([one], [other for other in separators if other != one])


def count(work: list[list[Source]], job: dict[str, Any], report: Any) -> Iterator[PretokenCounts]:
    """Count each part in a process of its own; yields their counts in order.

    A part whose process cannot be started is counted in this one.

    Raises:
        Exception: The error of the first part that failed.
    """
    with contextlib.ExitStack() as stack:
        outs = [stack.enter_context(temporary.file()) for _ in work]
        running: list[subprocess.Popen[str] | None] = []
        try:
            for part, out in zip(work, outs, strict=True):
                running.append(_start({**job, "sources": _written(part)}, out, stack))
            for number, (process, out) in enumerate(zip(running, outs, strict=True)):
                if process is None:
                    counts = _counted(work[number], job)
                else:
                    _wait(process)
                    counts = PretokenCounts.load(out.path)
                if report:
                    report("count", number + 1, len(running))
                yield counts
                out.close()
        finally:
            for process in filter(None, running):
                process.kill()
                process.communicate()


def _written(part: list[Source]) -> list[tuple[Any, ...]]:
    return [(str(Path(source.path).absolute()), *source[1:]) for source in part]


def _start(job: dict[str, Any], out: NewFile, stack: contextlib.ExitStack) -> subprocess.Popen[str] | None:
    """Start a process that writes its counts to `out`. It ends when `stack` closes, or this process ends.

    Returns None if the system starts no process.
    """
    number = out.file.fileno()
    job["out"] = str(out.path) if out.has_name else f"/proc/self/fd/{number}"
    home = str(Path(__file__).resolve().parents[2])
    paths = [home, *filter(None, sys.path)]
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", "from toksmith.training.subprocesses import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
            text=True,
            pass_fds=() if out.has_name else (number,),
        )
    except OSError:
        return None
    assert process.stdin is not None
    job_line = stack.enter_context(process.stdin)
    process.stdin = None  # `communicate` would close it
    job_line.write(json.dumps(job) + "\n")
    job_line.flush()
    return process


def _wait(process: subprocess.Popen[str]) -> None:
    while True:
        try:
            said, _ = process.communicate(timeout=0.2)  # in steps: a signal is seen in between on every system
            break
        except subprocess.TimeoutExpired:
            pass
    if process.returncode == 0:
        return
    try:
        kind, *arguments = json.loads(said)
    except ValueError:
        raise RuntimeError(f"a process that counts ended with status {process.returncode}") from None
    kinds: dict[str, type[Exception]] = {"OSError": OSError, "MemoryError": MemoryError, "ValueError": ValueError}
    raise kinds.get(kind, RuntimeError)(*arguments)


def _counted(sources: list[Source], job: dict[str, Any]) -> PretokenCounts:
    """Return the counts of a part, counted in this process on one thread."""
    specials, replace = job["special_tokens"], job["replace"]
    pattern = patterns.of_source(job["pattern"], job["flags"], job["unmatched"])
    counting = counter.counter(
        specials, job["separator"], pattern, workers=1, replace=replace, memory_limit=job["memory_limit"]
    )
    inputs.count(counting, sources, replace, None)
    return PretokenCounts._of(counting.finish(), pattern, specials)


def main() -> None:
    """Count the part that standard input describes."""
    from . import counts_file as counts_files

    job = json.loads(sys.stdin.readline())
    with contextlib.suppress(RuntimeError):  # the system may start no more threads
        threading.Thread(target=_end_with_parent, daemon=True).start()
    sources = []
    for path, compression, field, column, span, seen in job["sources"]:
        pairs = (pair and (pair[0], pair[1]) for pair in (span, seen))
        sources.append(Source(path, compression, field, column, *pairs))
    try:
        counted = _counted(sources, job)
        counts_files.save_into(counted._core, counted._head(), Path(job["out"]))
    except KeyboardInterrupt:
        sys.exit(1)
    except OSError as error:
        # An error without a number has only its message.
        name = temporary.folder() if str(error.filename) in ("None", job["out"]) else str(error.filename)
        parts = [str(error)] if error.errno is None else [error.errno, error.strerror or str(error), name]
        json.dump(["OSError", *parts], sys.stdout)
        sys.exit(1)
    except (ValueError, MemoryError) as error:
        kind = "MemoryError" if isinstance(error, MemoryError) else "ValueError"
        json.dump([kind, str(error)], sys.stdout)
        sys.exit(1)


def _end_with_parent() -> NoReturn:
    """End when standard input does: the process that wanted the counts was killed."""
    # Unbuffered: a thread that waits inside a buffered read would block the end of the interpreter.
    while os.read(0, 1):
        pass
    os._exit(1)
