"""Run the notebooks of `examples/` and write their outputs into them; or check that these are current.

    python scripts/run_notebooks.py [--check] [NOTEBOOKS...]

Each runs in a kernel of Jupyter, in an empty folder. `--check` writes nothing: it names the cells whose outputs are
not those of the run, and exits with 1. In cells with the tag "timed" numbers and pictures may differ. Pictures of two
versions of matplotlib are not compared.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
TIMEOUT = 1200
"""Seconds that a cell may take: the machine may be busy with other tests."""
DIFFERENCE = 0.02
"""The share of the ink of a picture that may differ, as on another processor; a curve of four is a tenth of it."""


def executed(path: Path) -> Any:
    """Return a notebook with the outputs of a run."""
    import nbclient
    import nbformat
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    metadata = notebook.metadata.copy()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        os.environ.pop("MPLBACKEND", None)  # the kernel sets the one that shows pictures below cells
        options = {"timeout": TIMEOUT, "record_timing": False}
        kernel = {"transport": "ipc", "ip": f"{folder}/kernel"}
        config = Config({"NotebookClient": options, "AsyncKernelManager": kernel})
        nbclient.NotebookClient(notebook, config=config, resources={"metadata": {"path": folder}}).execute()
    notebook.metadata = metadata  # the kernel adds its version
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    return notebook


def joined(outputs: list[Any]) -> list[Any]:
    """Return outputs in which printed text is in one piece: the kernel sends it in pieces, as time goes."""
    found: list[Any] = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream" and output.name == found[-1].name:
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def stale_cells(committed: Any, current: Any) -> list[str]:
    """Return the ids of the cells whose outputs differ from those of a run."""
    return [
        old["id"]
        for old, new in zip(committed["cells"], current["cells"], strict=True)
        if old["cell_type"] == "code" and not is_same(old, new, "timed" in old["metadata"].get("tags", ()))
    ]


def is_same(old: Any, new: Any, is_timed: bool) -> bool:
    """Return whether two runs of a cell have the same outputs."""
    outputs = [cell["outputs"] for cell in (old, new)]
    if len(outputs[0]) != len(outputs[1]):
        return False
    return all(
        text_of(first, is_timed) == text_of(second, is_timed)
        and are_like(picture_of(first), picture_of(second), is_timed)
        for first, second in zip(*outputs, strict=True)
    )


def text_of(output: Any, is_timed: bool) -> str:
    """Return what an output says: printed text, HTML, or how large a picture is."""
    data = output.get("data", {})
    text = "".join(output.get("text") or data.get("text/html") or data.get("text/plain") or ())
    return " ".join(re.sub(r"[\d.,]+", "#", text).split()) if is_timed else text


def picture_of(output: Any) -> str | None:
    """Return the picture of an output, in base64."""
    picture: str | None = output.get("data", {}).get("image/png")
    return picture


def are_like(first: str | None, second: str | None, is_timed: bool) -> bool:
    """Return whether two pictures look the same; of a timed cell, whether both are there or none is."""
    if first is None or second is None or is_timed:
        return (first is None) == (second is None)
    import numpy as np
    from PIL import Image

    old, new = (Image.open(io.BytesIO(base64.b64decode(each))) for each in (first, second))
    if old.info.get("Software") != new.info.get("Software"):
        return True
    if old.size != new.size:
        return False
    pixels, others = (np.asarray(each.convert("L"), np.float64) for each in (old, new))
    return bool(np.abs(pixels - others).sum() <= DIFFERENCE * (255 - pixels).sum())


def main() -> None:
    import nbformat

    parser = argparse.ArgumentParser(description="Run the notebooks of examples/.")
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(EXAMPLES.glob("*.ipynb")))
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if outputs are not current")
    given = parser.parse_args()
    stale = []
    for path in given.notebooks:
        current = executed(path)
        if not given.check:
            nbformat.write(current, path)
        elif cells := stale_cells(nbformat.read(path, as_version=4), current):
            stale.append(f"{path.name}: outputs are not current: {', '.join(cells)}")
    if stale:
        sys.exit("\n".join([*stale, "run `python scripts/run_notebooks.py`, and look at what changed"]))


if __name__ == "__main__":
    main()
