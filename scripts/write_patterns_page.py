"""Write the table of docs/patterns.md from tests/data/published_patterns.json.

usage: python scripts/write_patterns_page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toksmith import _core, patterns

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data" / "published_patterns.json"
PAGE = ROOT / "docs" / "patterns.md"
BEGIN, END = "<!-- patterns -->\n", "<!-- end of patterns -->\n"
HEAD = ("Same as", "Engine", "Models")

Entry = dict[str, Any]


def entries() -> list[Entry]:
    """Return the published patterns."""
    rows: list[Entry] = json.loads(DATA.read_text(encoding="utf-8"))
    return rows


def engine(entry: Entry) -> str:
    """Return what toksmith runs for an entry."""
    if entry["dialect"] == "huggingface":
        return _of_stages(entry["stages"])
    if entry["dialect"] == "tiktoken":
        found = [patterns.of_tiktoken_source(stage["pattern"]) for stage in entry["stages"]]
    elif entry["dialect"] == "llama.cpp":
        try:
            texts = [_core.from_oniguruma(stage["pattern"])[0] for stage in entry["stages"]]
        except ValueError:
            return "refused"
        found = [patterns.resolve(text) for text in texts]
    else:
        found = [patterns.resolve(stage["pattern"]) for stage in entry["stages"]]
    names = dict.fromkeys(f"`{one.name}`" if one.name else one.engine().engine for one in found)
    return " and ".join(names) + (", in stages" if len(found) > 1 else "")


def _of_stages(stages: list[Any]) -> str:
    try:
        steps = _core.Pipeline(json.dumps({"pre_tokenizer": {"type": "Sequence", "pretokenizers": stages}}))
    except ValueError:
        return "refused"
    one = patterns.of_core(steps)
    if not isinstance(one, patterns.Staged):
        name = f"`{one.name}`" if one.name else one.engine().engine
        return name + (", a space put before" if steps.pieces("a") == [" a"] else "")
    engines = dict.fromkeys(steps.engines())
    return " and ".join(name if name in ("compiled", "regex") else f"`{name}`" for name in engines) + ", in stages"


def table(rows: list[Entry]) -> str:
    """Return the table as Markdown: the models of each named pattern and engine, each model in its first row."""
    models: dict[tuple[str, str], list[str]] = {}
    listed: set[str] = set()
    for row in rows:
        name = f"`{row['same_as']}`" if "same_as" in row else "–"
        models.setdefault((name, engine(row)), []).extend(model for model in row["models"] if model not in listed)
        listed |= {*row["models"]}
    lines = [_line(HEAD), "|" + "---|" * len(HEAD)]
    lines += [_line((*key, ", ".join(names))) for key, names in models.items()]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def page() -> str:
    """Return the page with a new table."""
    before, _, tail = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{table(entries())}\n{END}{tail.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
