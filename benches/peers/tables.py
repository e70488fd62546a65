"""What was found, as tables in Markdown: the least time and the median of it, and toksmith's ratio to each peer."""

from collections.abc import Callable, Iterable, Iterator
from statistics import median, mode
from typing import Any

import texts

Record = dict[str, Any]
Times = Callable[[Record], list[float]]

US = "toksmith"


def table(head: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |" for line in lines
    )


def ordered(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def groups(records: list[Record], *fields: str) -> Iterator[tuple[Any, ...]]:
    """The records by what they have in some fields: those values, then the records that share them."""
    for values in ordered(tuple(record[field] for field in fields) for record in records):
        yield (*values, [record for record in records if tuple(record[field] for field in fields) == values])


def short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


class Cell:
    """All rounds of one peer for one thing."""

    def __init__(self, records: list[Record], times: Times) -> None:
        self.records = records
        self.errors = [record["error"] for record in records if "error" in record]
        self.times = [time for record in records if "error" not in record for time in times(record)]

    @property
    def least(self) -> float:
        """The least time."""
        return min(self.times)

    @property
    def middle(self) -> float:
        """The median time."""
        return median(self.times)

    def ratio(self, ours: "Cell | None") -> str:
        """How many times faster toksmith is: by the least times, and by the medians."""
        if ours is None or ours is self or not ours.times:
            return ""
        return f" (×{self.least / ours.least:.2f} / ×{self.middle / ours.middle:.2f})"


def exact(record: Record, expected: str | None) -> bool:
    if "difference" in record or record.get("exact") is False:
        return False
    return expected is None or record.get("digest") == expected


def throughput(
    records: list[Record],
    columns: str,
    times: Times,
    expected: Callable[[Record], str | None],
    mark: str | None = None,
) -> str:
    """Peers by corpora: MB/s; `≠` for other ids than the reference's; `†` where the field `mark` is false."""
    names = ordered(record[columns] for record in records)
    rows = []
    for peer in ordered(record["peer"] for record in records):
        row = [peer]
        for name in names:
            here = [record for record in records if record[columns] == name]
            ours = Cell([record for record in here if record["peer"] == US], times)
            cell = Cell([record for record in here if record["peer"] == peer], times)
            row.append(shown(cell, ours if peer != US else None, expected, mark))
        rows.append(row)
    return table(["MB/s, best / median", *names], rows)


def shown(cell: Cell, ours: Cell | None, expected: Callable[[Record], str | None], mark: str | None) -> str:
    if cell.errors:
        return "fails"
    if not cell.times:
        return "–"
    size = cell.records[0]["bytes"] / 1e6
    text = f"{short(size / cell.least)} / {short(size / cell.middle)}"
    if mark and not cell.records[0][mark]:
        text += " †"
    if not all(exact(record, expected(record)) for record in cell.records):
        return text + " ≠"
    return text + cell.ratio(ours)


def cold_times(record: Record) -> list[float]:
    return list(record["times"][:1])


def warm_times(record: Record) -> list[float]:
    return list(record["times"][1:])


def text_tables(records: list[Record], only: list[str]) -> list[str]:
    found = []
    for vocab, threads, some in groups(records, "vocab", "threads"):
        for name, times in (("cold", cold_times), ("warm", warm_times)):
            if name in only:
                title = f"### One text to an array, {name}, {vocab}, {counted(threads)}"
                found.append(f"{title}\n\n{throughput(some, 'corpus', times, lambda _: None, 'array')}")
        if "cold" in only:
            found.append(f"Page faults a megabyte of the first pass, medians:\n\n{fault_table(some)}")
    return found


def fault_table(records: list[Record]) -> str:
    """Peers by corpora: pages that the first pass touched for the first time, the result's included."""
    corpora = ordered(record["corpus"] for record in records)
    rows = []
    for peer, mine in groups(records, "peer"):
        faults = [
            [r["faults"] * 1e6 / r["bytes"] for r in mine if r["corpus"] == name and "faults" in r]
            for name in corpora
        ]
        rows.append([peer, *(f"{median(some):,.0f}" if some else "–" for some in faults)])
    return table(["", *corpora], rows)


def counted(threads: int) -> str:
    return "one thread" if threads == 1 else f"{threads} threads"


def batch_tables(
    records: list[Record], references: dict[tuple[str, str], Record], what: str = "Documents"
) -> list[str]:
    """Batches of documents or, where records have a size, of texts of as many bytes."""
    found = []

    def expected(record: Record) -> str | None:
        known = references[record["vocab"], record["corpus"]]
        digest: str = known["slices"][str(record["size"])] if "size" in record else known["batch"]
        return digest

    for vocab, form, threads, some in groups(records, "vocab", "form", "threads"):
        for name, times in (("cold", cold_times), ("warm", warm_times)):
            title = f"### {what} to {form}, {name}, {vocab}, {counted(threads)}"
            found.append(f"{title}\n\n{throughput(some, 'corpus', times, expected)}")
    return found


def slice_tables(records: list[Record], references: dict[tuple[str, str], Record]) -> list[str]:
    sizes = groups(records, "size")
    return [made for size, some in sizes for made in batch_tables(some, references, f"Texts of {size} bytes")]


def decode_tables(records: list[Record]) -> list[str]:
    found = []
    for vocab, some in groups(records, "vocab"):
        for key, title, mark in (("text", "a list to text", None), ("data", "an array to bytes", "decodes_bytes")):
            body = throughput(some, "corpus", lambda r, key=key: list(r[key]), lambda _: None, mark)  # type: ignore[misc]
            found.append(f"### Decoding {title}, {vocab}, one thread\n\n{body}")
    return found


def count_tables(records: list[Record]) -> list[str]:
    found = []
    for vocab, some in groups(records, "vocab"):
        counting = throughput(some, "corpus", lambda r: list(r["count"]), lambda _: None, "counts")
        encoding = throughput(some, "corpus", lambda r: list(r["encode"]), lambda _: None)
        found.append(f"### Counting, warm, {vocab}, one thread († by encoding)\n\n{counting}")
        found.append(f"### Encoding to an array in the same processes, warm, {vocab}\n\n{encoding}")
    return found


def small_tables(records: list[Record]) -> list[str]:
    found = []
    kinds = ("fresh", "one")
    for vocab, corpus, some in groups(records, "vocab", "corpus"):
        columns = [(str(length), kind) for length in texts.LENGTHS for kind in kinds]
        rows = []
        for peer, mine in groups(some, "peer"):
            row = [peer]
            for length, kind in columns:

                def times(record: Record, length: str = length, kind: str = kind) -> list[float]:
                    return [record[length][kind]]

                cell = Cell(mine, times)
                ours = Cell([record for record in some if record["peer"] == US], times)
                row.append(nanoseconds(cell, ours if peer != US else None))
            rows.append(row)
        head = ["ns a call, best / median", *(f"{length}, {kind}" for length, kind in columns)]
        found.append(f"### Small calls to lists, {vocab}, {corpus}, one thread\n\n{table(head, rows)}")
    return found


def fresh_tables(records: list[Record]) -> list[str]:
    found = []
    for vocab, form, size, some in groups(records, "vocab", "form", "size"):
        corpora = ordered(record["corpus"] for record in some)
        rows = []
        for peer, mine in groups(some, "peer"):
            row = [peer]
            for corpus in corpora:
                ours = [record for record in some if (record["peer"], record["corpus"]) == (US, corpus)]
                row.append(fresh_cell([r for r in mine if r["corpus"] == corpus], ours if peer != US else []))
            rows.append(row)
        title = f"### Documents of {size} bytes to {form}, {vocab}, one thread"
        found.append(f"{title}\n\n{table([FRESH, *corpora], rows)}")
    return found


FRESH = "first call in ms · calls 2–10 · the rest in MB/s; page faults of each call; medians"


def fresh_cell(records: list[Record], ours: list[Record]) -> str:
    """The first call, the early ones and the rest, with page faults, and how many times faster toksmith is."""
    if not records or any("error" in record for record in records):
        return "fails"

    def middle(some: list[Record], part: str, field: str) -> float:
        return median(record[part][field] for record in some)

    parts = ("first", "early", "rest")
    seconds = {part: middle(records, part, "seconds") for part in parts}
    speeds = [f"{records[0][part]['bytes'] / seconds[part] / 1e6:.0f}" for part in parts[1:]]
    faults = "/".join(f"{middle(records, part, 'faults'):.1f}" for part in parts)
    text = f"{1000 * seconds['first']:.2f} · {' · '.join(speeds)}; {faults}"
    if not all(exact(record, None) for record in records):
        return text + " ≠"
    ratios = " · ".join(f"×{seconds[part] / middle(ours, part, 'seconds'):.2f}" for part in parts) if ours else ""
    return f"{text} ({ratios})" if ratios else text


def nanoseconds(cell: Cell, ours: Cell | None) -> str:
    if cell.errors or not cell.times:
        return "fails"
    text = f"{cell.least:,.0f} / {cell.middle:,.0f}"
    return text + (cell.ratio(ours) if all(exact(record, None) for record in cell.records) else " ≠")


def memory_tables(records: list[Record]) -> list[str]:
    found = []
    for vocab, corpus, some in groups(records, "vocab", "corpus"):
        rows = []
        for peer, asked in groups(some, "peer"):
            mine = [record for record in asked if "error" not in record]
            if not mine:
                rows.append([peer, *["fails"] * 6])
                continue
            loads = [record["load"] * 1000 for record in mine]
            sizes = [min(r[name] for r in mine) / 1e6 for name in ("load_rss", "load_pss", "peak", "kept")]
            first = min(record["first"] for record in mine) * 1000
            row = [peer, f"{min(loads):,.0f} / {median(loads):,.0f}", f"{first:,.1f}"]
            rows.append(row + [f"{size:,.0f}" for size in sizes])
        size = next((record["bytes"] / 1e6 for record in some if "bytes" in record), 0)
        head = [
            "",
            "load, ms",
            "first call, ms",
            "RSS of loading, MB",
            "PSS, MB",
            "peak of encoding, MB",
            "kept after it, MB",
        ]
        title = f"### Loading {vocab}, and encoding {size:.0f} MB ({corpus}) to an array once"
        found.append(f"{title}\n\n{table(head, rows)}")
    return found


def hostile_tables(records: list[Record]) -> list[str]:
    found = []
    for vocab, some in groups(records, "vocab"):
        names = ordered(record["input"] for record in some)
        rows = []
        for peer, mine in groups(some, "peer"):
            rows.append([peer, *(grown([r for r in mine if r["input"] == name]) for name in names)])
        title = f"### Hostile input to lists, {vocab}: milliseconds, and the factor when it doubles"
        found.append(f"{title}\n\n{table(['', *names], rows)}")
    return found


def grown(records: list[Record]) -> str:
    fine = [record for record in records if "error" not in record]
    if not fine:
        error = records[0]["error"] if records else "–"
        return error if error.startswith("over") else "fails"
    best = min(record["times"][0] for record in fine)
    double = min(record["double"] for record in fine)
    wrong = "" if all(record["exact"] for record in fine) else " ≠"
    return f"{best * 1000:,.1f} ×{double / best:.1f}{wrong}"


def import_table(records: list[Record]) -> list[str]:
    times = {peer: [record["times"][0] for record in mine] for peer, mine in groups(records, "peer")}
    bare = times.pop("")
    rows = [
        [peer, f"{1000 * (min(taken) - min(bare)):.1f}", f"{1000 * (median(taken) - median(bare)):.1f}"]
        for peer, taken in times.items()
    ]
    title = f"### `import`, over a bare interpreter's {1000 * min(bare):.1f} ms"
    return [f"{title}\n\n{table(['ms', 'best', 'median'], rows)}"]


def start_tables(records: list[Record]) -> list[str]:
    """Import, load and first ids, which are exact if they are those of most peers."""
    found = []
    for vocab, some in groups(records, "vocab"):
        expected = mode([tuple(record["ids"]) for record in some if "error" not in record] or [()])
        rows = []
        for peer, asked in groups(some, "peer"):
            mine = [record for record in asked if "error" not in record]
            if not mine:
                rows.append([peer, *["fails"] * 5])
                continue
            times = [record["times"] for record in mine]
            parts = [f"{1000 * median(part):,.1f}" for part in zip(*times, strict=True)]
            total = [f"{1000 * reduced(map(sum, times)):,.1f}" for reduced in (min, median)]
            wrong = "" if all(tuple(record["ids"]) == expected for record in mine) else " ≠"
            rows.append([peer + wrong, *parts, *total])
        head = ["ms", "import", "load", "first ids", "together, best", "median"]
        found.append(f"### From a running interpreter to the first ids, {vocab}\n\n{table(head, rows)}")
    return found


def notes(records: list[Record]) -> list[str]:
    """What fails, and where ids differ."""
    lines = ordered(
        f"- {' '.join(str(record[name]) for name in ('peer', 'vocab', 'corpus', 'input') if name in record)}: "
        f"{record.get('error') or record['difference']}"
        for record in records
        if "error" in record or "difference" in record
    )
    return ["### Failures, and first differences\n\n" + "\n".join(lines)] if lines else []


def of(records: list[Record], references: dict[tuple[str, str], Record], only: list[str]) -> str:
    """All tables."""
    by = dict(groups(records, "section"))
    made = [
        *text_tables(by.get("text", []), only),
        *batch_tables(by.get("batch", []), references),
        *slice_tables(by.get("slices", []), references),
        *small_tables(by.get("small", [])),
        *fresh_tables(by.get("fresh", [])),
        *decode_tables(by.get("decode", [])),
        *count_tables(by.get("count", [])),
        *memory_tables(by.get("memory", [])),
        *(import_table(by["import"]) if "import" in by else []),
        *start_tables(by.get("start", [])),
        *hostile_tables(by.get("hostile", [])),
        *notes(records),
    ]
    return "\n\n".join(made)
