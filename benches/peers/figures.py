"""The medians of a run in a small JSON document: what `--figures` writes and `scripts/draw_speed.py` draws."""

import datetime
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from tables import Record, Times, cold_times, groups, warm_times

Figure = dict[str, Any]

PASSES: dict[str, Times] = {"cold": cold_times, "warm": warm_times}


def of_encoders(records: list[Record]) -> list[Figure]:
    """MB/s of one long text to an array, of the peers with the ids of the reference."""
    fine = [record for record in records if record["section"] == "text" and not {"error", "difference"} & set(record)]
    found = []
    for vocab, corpus, threads, peer, some in groups(fine, "vocab", "corpus", "threads", "peer"):
        for name, times in PASSES.items():
            taken = [time for record in some for time in times(record)]
            if taken:
                where = {"vocab": vocab, "corpus": corpus, "threads": threads, "pass": name, "peer": peer}
                found.append(where | {"median": rounded(some[0]["bytes"] / 1e6 / median(taken))})
    return found


def of_trainers(records: list[Record], threads: int) -> list[Figure]:
    """Seconds of the whole process, and the peak of its memory in MB."""
    fine = [record for record in records if "error" not in record]
    found = []
    for corpus, size, peer, some in groups(fine, "corpus", "size", "peer"):
        where = {"corpus": corpus, "size": size, "threads": threads, "peer": peer}
        seconds, peak = median(record["wall"] for record in some), max(record["peak"] for record in some)
        found.append(where | {"median": round(seconds, 2), "peak_mb": round(peak / 1e6)})
    return found


def rounded(number: float) -> float:
    return round(number) if number >= 10 else round(number, 1)


def write(path: Path, section: str, machine: str, versions: dict[str, str], figures: list[Figure]) -> None:
    """Write the figures into a section of a file, with all that is needed to measure them again."""
    sections = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    sections[section] = {
        "date": datetime.date.today().isoformat(),
        "machine": machine,
        "command": " ".join(["python", *sys.argv]),
        "versions": versions,
        "figures": figures,
    }
    path.write_text(document(sections), "utf-8")


def document(sections: dict[str, Any]) -> str:
    """Return the sections as JSON, one figure a line."""
    parts = []
    for name, section in sections.items():
        head = json.dumps(section | {"figures": None}, indent=1).removesuffix("null\n}")
        rows = ",\n".join("  " + json.dumps(figure) for figure in section["figures"])
        parts.append(f"{json.dumps(name)}: {head}[\n{rows}\n ]\n}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
