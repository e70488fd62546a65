"""What was found, as tables in Markdown."""

import os
import platform
from pathlib import Path
from statistics import median

from tables import US, Record, groups, table


def machine() -> str:
    """The processor, and how many cores this process may use."""
    names = [
        line.partition(":")[2].strip()
        for line in (Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else [])
        if line.startswith("model name")
    ]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores of {names[0] if names else platform.machine()}"


def tables(records: list[Record], texts: dict[str, Path], agreements: list[str] | None = None) -> str:
    """One table: peers by corpus and size."""
    head = ["corpus", "tokens", "trainer", "process, s: least / median", "training, s", "peak, MB", "toksmith is"]
    rows = []
    for corpus, size, here in groups(records, "corpus", "size"):
        ours = [record for record in here if record["peer"] == US and "error" not in record]
        name = f"{corpus}, {texts[corpus].stat().st_size / 1e6:.1f} MB"
        for peer, mine in groups(here, "peer"):
            rows.append([name, f"{size:,}", peer, *cells(mine, ours if peer != US else [])])
    found = table(head, rows)
    return found + "\n\n" + "\n".join(agreements) if agreements else found


def agreement(ours: "list[str] | str", theirs: "list[str] | str") -> str:
    """Whether two trainings added the same tokens, and from which on not."""
    for found in (ours, theirs):
        if isinstance(found, str):
            return found
    if ours == theirs:
        return f"the same {len(ours):,} tokens"
    pairs = enumerate(zip(ours, theirs, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(ours), len(theirs)))
    one, other = (bytes.fromhex(str(found[at])) if at < len(found) else None for found in (ours, theirs))
    common = len(set(ours) & set(theirs))
    return f"token {at + 1:,} differs, {one!r} for {other!r}; {common:,} of {len(ours):,} are common"


def cells(records: list[Record], ours: list[Record]) -> list[str]:
    fine = [record for record in records if "error" not in record]
    if not fine:
        return [records[0]["error"], "", "", ""]
    walls = [record["wall"] for record in fine]
    peak = max(record["peak"] for record in fine)
    ratio = ""
    if ours:
        by_least = min(walls) / min(record["wall"] for record in ours)
        by_median = median(walls) / median(record["wall"] for record in ours)
        memory = peak / max(record["peak"] for record in ours)
        ratio = f"×{by_least:.1f} / ×{by_median:.1f} faster, peak 1/{memory:.1f}"
    trains = [record["train"] for record in fine]
    return [f"{min(walls):.2f} / {median(walls):.2f}", f"{min(trains):.2f}", f"{peak / 1e6:.0f}", ratio]
