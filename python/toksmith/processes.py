"""Counting in several processes: for patterns that `regex` runs, which one process runs one at a time.

Each process is a fresh interpreter that is told its part of the files: it imports nothing of the caller's, so it
works from a script without a `__main__` guard and from a notebook.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .sources import Source

if TYPE_CHECKING:
    from .counts import PretokenCounts

# Starting a process takes about as long as counting one or two megabytes.
LEAST_BYTES = 8 << 20
_WINDOW = 1 << 20


def parts(sources: list[Source], workers: int, separators: list[bytes]) -> list[list[Source]]:
    """Return the files in as many parts of about the same size as are worth a process, in order; one if none is.

    A plain file is cut in front of a separator that no other one can overlap: what is before is then whole documents.
    """
    paths = [Path(source.path) for source in sources]
    sizes = [path.stat().st_size if path.is_file() else 0 for path in paths]
    workers = min(workers, sum(sizes) // LEAST_BYTES)
    if workers < 2 or not sys.executable or any(source.column for source in sources):
        return [sources]
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
    """Return where the next separator begins that stands alone."""
    alone = [one for one in separators if not any(_overlap(one, other) for other in separators)]
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


def _overlap(one: bytes, other: bytes) -> bool:
    """Return whether the two can share a byte in a text, other than as the same one."""
    if one != other and (one in other or other in one):
        return True
    sizes = range(1, min(len(one), len(other)))
    return any(one[-size:] == other[:size] or other[-size:] == one[:size] for size in sizes)


def count(work: list[list[Source]], job: dict[str, Any], report: Any) -> Iterator[PretokenCounts]:
    """Count each part in a process of its own; yields their counts in order.

    Raises:
        Exception: What the first part that failed failed with.
    """
    from .counts import PretokenCounts

    with tempfile.TemporaryDirectory(prefix="toksmith-") as folder:
        running: list[subprocess.Popen[str]] = []
        try:
            for number, part in enumerate(work):
                running.append(_start({**job, "sources": _written(part), "out": f"{folder}/{number}"}))
            for number, process in enumerate(running):
                _wait(process)
                if report:
                    report("count", number + 1, len(running))
                yield PretokenCounts.load(f"{folder}/{number}")
                Path(f"{folder}/{number}").unlink()
        finally:
            for process in running:
                process.kill()
                process.communicate()


def _written(part: list[Source]) -> list[tuple[Any, ...]]:
    return [(str(Path(source.path).absolute()), *source[1:]) for source in part]


def _start(job: dict[str, Any]) -> subprocess.Popen[str]:
    home = str(Path(__file__).resolve().parents[1])
    paths = [home, *filter(None, sys.path)]
    process = subprocess.Popen(
        [sys.executable, "-c", "from toksmith.processes import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
        text=True,
    )
    assert process.stdin is not None
    with process.stdin as file:
        file.write(json.dumps(job))
    process.stdin = None
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


def main() -> None:
    """Count the part that standard input describes."""
    from . import counts, patterns

    job = json.load(sys.stdin)
    sources = []
    for path, compression, field, column, span in job["sources"]:
        sources.append(Source(path, compression, field, column, span and (span[0], span[1])))
    try:
        counts.of_sources(
            sources,
            special_tokens=job["special_tokens"],
            separator=job["separator"],
            pattern=patterns.of_source(job["pattern"], job["flags"], job["unmatched"]),
            workers=1,
            replace=job["replace"],
            memory_limit=job["memory_limit"],
        ).save(job["out"])
    except KeyboardInterrupt:
        sys.exit(1)
    except OSError as error:
        json.dump(["OSError", error.errno or 0, error.strerror or str(error), str(error.filename)], sys.stdout)
        sys.exit(1)
    except (ValueError, MemoryError) as error:
        kind = "MemoryError" if isinstance(error, MemoryError) else "ValueError"
        json.dump([kind, str(error)], sys.stdout)
        sys.exit(1)
