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

Run = dict[str, Any]


def stored(name: str) -> Run:
    run: Run = json.loads((ROOT / "benches/figures" / f"{name}.json").read_text(encoding="utf-8"))
    return run


def test_the_picture_is_that_of_the_figures() -> None:
    made = draw_speed.picture(stored("training"), stored("encoding"))
    assert (ROOT / "docs/speed.svg").read_text(encoding="utf-8") == made, "run: python scripts/draw_speed.py"
    words = "".join(ElementTree.fromstring(made).itertext())
    for part in ("prefers-color-scheme: dark", "gigatoken 0.10.0", "2026-11-22", "0.10 s", "221 MB/s"):
        assert part in words


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
    assert all(figure.keys() == found[0].keys() for figure in stored("encoding")["figures"])


def test_the_figures_of_trainers() -> None:
    record = {"corpus": "en", "size": 32000, "train": 0.1}
    records = [
        record | {"peer": "toksmith", "round": 0, "wall": 0.111, "peak": 24_000_000},
        record | {"peer": "toksmith", "round": 1, "wall": 0.139, "peak": 25_400_000},
        {"corpus": "en", "size": 32000, "peer": "fails", "round": 0, "error": "died"},
    ]
    expected = {"corpus": "en", "size": 32000, "threads": 2, "peer": "toksmith", "median": 0.12, "peak_mb": 25}
    assert figures.of_trainers(records, 2) == [expected]
    assert all(figure.keys() == expected.keys() for figure in stored("training")["figures"])


@pytest.mark.parametrize(("name", "unit"), [("training", "s"), ("encoding", "MB/s")])
def test_the_form_of_the_files(name: str, unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = stored(name)
    monkeypatch.setattr(sys, "argv", run["command"].split()[1:])
    figures.write(tmp_path / "again.json", unit, run["machine"], run["versions"], run["figures"])
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert again | {"date": run["date"]} == run
    assert list(again) == list(run)
