"""The notebooks in `examples/` are valid, and have outputs; the cells of the first run in order, in any folder."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "examples/tokenizer_from_scratch.ipynb"
CELL = {"cell_type", "id", "metadata", "source"}


def cells(kind: str) -> list[dict[str, Any]]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize("path", sorted(NOTEBOOK.parent.glob("*.ipynb")), ids=lambda path: path.stem)
def test_their_form(path: Path) -> None:
    # nbformat 4.5, of which this is all that they need.
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"].keys() == {"display_name", "language", "name"}
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id) for id in ids)
    for cell in notebook["cells"]:
        assert all(isinstance(line, str) for line in cell["source"])
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        if cell["cell_type"] == "code":
            assert set(cell) == CELL | {"execution_count", "outputs"}
            assert cell["execution_count"]
        else:
            assert (cell["cell_type"], set(cell)) == ("markdown", CELL)
    assert path.stat().st_size < 300_000


def check_pictures() -> None:
    """Compare the titles of the pictures, each of which has curves or bars and names its axes; close all."""
    from matplotlib import pyplot

    titles = []
    for number in pyplot.get_fignums():
        [axes] = pyplot.figure(number).axes
        titles.append(axes.get_title())
        assert axes.lines or axes.patches
        assert axes.get_xlabel() and axes.get_ylabel()
        pyplot.figure(number).canvas.draw()  # warns of a sign that no font has
    pyplot.close("all")
    assert titles == [
        "The heap of the incremental trainer",
        "1,000 merges",
        "Compression of the text it was trained on",
        "Lengths of tokens",
    ]


def test_it_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="the pictures need it: pip install 'toksmith[plots]'")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in cells("code"):
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, {cell['id']}", "exec"), namespace)
    said = printed.getvalue()
    check_pictures()
    for entries, live in zip(namespace["entries"], namespace["live"], strict=True):
        assert entries >= live > 0
    curve = list(namespace["curve"].values())
    assert curve[0] == 1
    assert curve == sorted(curve)
    assert namespace["of_vocabulary"].total() == 4096
    assert "256  b'" in said
    assert "s+t occurs 9 times" in said
    assert "[b'ne', b'west']" in said
    assert len(namespace["incremental"]) == 3000 - 256
    assert list(namespace["per_merge"]) == [
        "every occurrence",
        "every different pretoken",
        "only what changes",
        "toksmith",
    ]


def test_it_states_no_times() -> None:
    # They are measured where it runs: its text would be wrong everywhere else.
    prose = "".join("".join(cell["source"]) for cell in cells("markdown"))
    assert not re.search(r"\d ?(?:s|ms|µs|MB/s|seconds|times (?:as fast|faster))\b", prose)
