"""The picture of the README shows the figures of the benches, which have the form that the benches write."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").is_file())
sys.path += [str(ROOT / "scripts"), str(ROOT / "benches/peers")]

import draw_speed  # noqa: E402
import figures  # noqa: E402

STORED: dict[str, Any] = json.loads((ROOT / "benches/figures/speed.json").read_text(encoding="utf-8"))


def test_the_picture_is_that_of_the_figures() -> None:
    made = draw_speed.picture(STORED)
    assert (ROOT / "docs/speed.svg").read_text(encoding="utf-8") == made, "run: python scripts/draw_speed.py"
    words = "".join(ElementTree.fromstring(made).itertext())
    dates = [section["date"] for section in STORED.values()]
    for part in ("prefers-color-scheme: dark", "gigatoken 0.10.0", *dates, " s", " MB/s"):
        assert part in words


def test_the_readme_describes_the_picture() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"![{draw_speed.description(STORED)}](docs/speed.svg)" in readme, "run: python scripts/draw_speed.py"


def test_a_run_of_both_benches_is_named_once() -> None:
    alike = {name: section | {"date": "2026-11-28", "machine": "M"} for name, section in STORED.items()}
    lines = draw_speed.sources(alike)
    assert lines[0] == "2026-11-28, M."
    assert lines[1].count("toksmith") == 1
    assert len(lines) == 2


def test_a_slower_time_is_less_than_one() -> None:
    rows = [("toksmith", 2.0), ("tiktoken", 1.0)]
    some = [{"corpus": "en", "peer": peer, "median": median} for peer, median in rows]
    assert draw_speed.ratios(some, least_first=True) == "tiktoken 0.5 to 0.5"
    assert draw_speed.ratios(some, least_first=False) == "tiktoken 2 to 2"


def test_the_figures_of_encoders() -> None:
    text = {"section": "text", "vocab": "gpt2", "corpus": "en", "threads": 1, "bytes": 8_000_000}
    records = [
        text | {"peer": "toksmith", "round": 0, "times": [0.1, 0.02]},
        text | {"peer": "toksmith", "round": 1, "times": [0.04, 0.01]},
        text | {"peer": "toksmith", "round": 2, "times": [0.08, 0.02]},
        text | {"peer": "slow", "round": 0, "times": [4.0]},
        text | {"peer": "other ids", "round": 0, "times": [0.1], "difference": "id 3"},
        text | {"peer": "fails", "round": 0, "error": "over 300 s"},
        {"section": "import", "peer": "toksmith", "round": 0, "times": [0.1]},
    ]
    where = {"vocab": "gpt2", "corpus": "en", "threads": 1}
    found = figures.of_encoders(records)
    assert found == [
        where | {"pass": "cold", "peer": "toksmith", "median": 100},
        where | {"pass": "warm", "peer": "toksmith", "median": 400},
        where | {"pass": "cold", "peer": "slow", "median": 2.0},
    ]
    assert all(figure.keys() == found[0].keys() for figure in STORED["encoding"]["figures"])


def test_the_figures_of_trainers() -> None:
    record = {"corpus": "en", "size": 32000, "train": 0.1}
    records = [
        record | {"peer": "toksmith", "round": 0, "wall": 0.111, "peak": 24_000_000},
        record | {"peer": "toksmith", "round": 1, "wall": 0.139, "peak": 25_400_000},
        {"corpus": "en", "size": 32000, "peer": "fails", "round": 0, "error": "died"},
    ]
    expected = {"corpus": "en", "size": 32000, "threads": 2, "peer": "toksmith", "median": 0.12, "peak_mb": 25}
    assert figures.of_trainers(records, 2) == [expected]
    assert all(figure.keys() == expected.keys() for figure in STORED["training"]["figures"])


@pytest.mark.parametrize("name", ["training", "encoding"])
def test_the_form_of_the_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "speed.json"
    path.write_text(figures.document(STORED), encoding="utf-8")
    assert path.read_bytes() == (ROOT / "benches/figures/speed.json").read_bytes()
    section = STORED[name]
    monkeypatch.setattr(sys, "argv", section["command"].split()[1:])
    figures.write(path, name, section["machine"], section["versions"], section["figures"])
    again = json.loads(path.read_text(encoding="utf-8"))
    again[name]["date"] = section["date"]
    assert again == STORED
    assert [list(again[section]) for section in again] == [list(STORED[section]) for section in STORED]
