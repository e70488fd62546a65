"""The outputs in the notebooks of `examples/` are those of a run now, in a kernel of Jupyter and an empty folder."""

from __future__ import annotations

import base64
import copy
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

for name in ("nbclient", "ipykernel", "matplotlib"):
    pytest.importorskip(name)

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts/run_notebooks.py"
LANGUAGES = ROOT / "examples/which_tokenizer.ipynb"
SCRATCH = ROOT / "examples/tokenizer_from_scratch.ipynb"


def checked(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), "--check", str(path)], capture_output=True, text=True)


@pytest.mark.parametrize("path", [LANGUAGES, SCRATCH], ids=lambda path: path.stem)
def test_they_are_current(path: Path) -> None:
    done = checked(path)
    assert done.returncode == 0, done.stderr


def test_a_stale_notebook_is_named(tmp_path: Path) -> None:
    notebook = json.loads(LANGUAGES.read_text(encoding="utf-8"))
    few = [cell for cell in notebook["cells"] if cell["id"] in ("cell-01", "cell-03")]
    few[1]["outputs"][0]["text"][1] = few[1]["outputs"][0]["text"][1].replace("8,243", "8,244", 1)
    (tmp_path / "stale.ipynb").write_text(json.dumps(notebook | {"cells": few}), encoding="utf-8")
    before = (tmp_path / "stale.ipynb").read_bytes()
    done = checked(tmp_path / "stale.ipynb")
    assert (done.returncode, done.stderr.splitlines()[-2]) == (1, "stale.ipynb: outputs are not current: cell-03")
    assert (tmp_path / "stale.ipynb").read_bytes() == before


@pytest.fixture(scope="module")
def script() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        import run_notebooks  # type: ignore[import-not-found]
    return run_notebooks


def cell(path: Path, id: str) -> Any:
    return next(cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["id"] == id)


def test_times_may_differ_and_nothing_else(script: Any) -> None:
    timed = cell(SCRATCH, "cell-42")
    assert timed["metadata"] == {"tags": ["timed"]}
    other = copy.deepcopy(timed)
    other["outputs"][0]["text"][0] = "2,744 merges in 123.456 s, counting included; every one the same\n"
    assert script.is_same(timed, other, True) and not script.is_same(timed, other, False)
    other["outputs"][0]["text"][0] = "2,744 merges in 123.456 s, counting included; not one the same\n"
    assert not script.is_same(timed, other, True)
    other["outputs"] = []
    assert not script.is_same(timed, other, True)


def test_pictures_are_compared(script: Any) -> None:
    """A picture that lacks a curve is another; one in which a pixel differs is not."""
    import numpy as np
    from PIL import Image, PngImagePlugin

    drawn = cell(LANGUAGES, "cell-16")
    picture = Image.open(io.BytesIO(base64.b64decode(drawn["outputs"][0]["data"]["image/png"])))
    pixels = np.asarray(picture.convert("RGB"))

    def like(changed: Any, version: str = picture.info["Software"], is_timed: bool = False) -> bool:
        file, info = io.BytesIO(), PngImagePlugin.PngInfo()
        info.add_text("Software", version)
        Image.fromarray(changed).save(file, format="png", pnginfo=info)
        other = copy.deepcopy(drawn)
        other["outputs"][0]["data"]["image/png"] = base64.b64encode(file.getvalue()).decode()
        result: bool = script.is_same(drawn, other, is_timed)
        return result

    orange = np.abs(pixels.astype(int) - (0xE0, 0x7B, 0x26)).sum(axis=2) < 60
    without, dotted = pixels.copy(), pixels.copy()
    without[orange], dotted[0, 0] = 255, 0
    assert orange.any() and like(pixels) and like(dotted)
    assert not like(without) and like(without, is_timed=True) and like(without, version="another")
    assert not like(pixels[:-50])
    other = copy.deepcopy(drawn)
    del other["outputs"][0]["data"]["image/png"]
    assert not script.is_same(drawn, other, True)


@pytest.mark.parametrize(("path", "pictures"), [(LANGUAGES, 2), (SCRATCH, 4)], ids=lambda value: str(value)[-9:])
def test_all_pictures_are_shown(path: Path, pictures: int) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = [output for cell in cells for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})]
    assert len(shown) == pictures
