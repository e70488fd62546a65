"""The notebook "Which tokenizer for my language?": its cells run, and what its text says of their results is so."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "examples/which_tokenizer.ipynb"
TEXTS = ROOT / "python/toksmith/samples/human_rights"


def cells(kind: str) -> list[dict[str, Any]]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def test_the_texts_are_parallel() -> None:
    paths = list(TEXTS.glob("*.txt"))
    assert len(paths) == 8
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 30 and all(line == line.strip() and line for line in lines), path


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """What is there when all cells have run, and what they have printed."""
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    matplotlib.use("agg")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("anywhere"))
        for cell in cells("code"):
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, {cell['id']}", "exec"), namespace)
    assert len(pyplot.get_fignums()) == 2
    pyplot.close("all")
    return namespace, printed.getvalue()


def test_what_its_text_says(ran: tuple[dict[str, Any], str]) -> None:
    namespace, printed = ran
    best = {group.name: namespace["best"](group) for group in namespace["found"].by("language")}
    assert best.pop("English") == "english"
    assert set(best.values()) == {"balanced"}
    worth = {group.name: group.figures[1].bytes_per_token.value for group in namespace["found"].by("language")}
    assert worth.pop("English") > 2.5 and worth.pop("German") > 1.5
    assert max(worth.values()) < 1.1
    relative = {group.name: group.figures[1].relative for group in namespace["against"].by("language")}
    assert relative["English"].low > 1
    assert all(one.high < 1 for name, one in relative.items() if name != "English")
    for language in namespace["parallel"].parity[1:]:
        of_bytes, of_english, _, of_balanced = (premium.premium.value for premium in language.premiums)
        assert of_bytes == language.bytes.value
        assert of_english > of_bytes and 0.8 < of_balanced < 1.4
    gains = [figures.bytes_per_token.value for figures in namespace["by_size"].all.figures]
    assert gains == sorted(gains)
    assert "\n  balanced " in printed


def test_it_states_no_figures_of_its_own() -> None:
    # They would be wrong when a training or a text changes.
    prose = "".join("".join(cell["source"]) for cell in cells("markdown"))
    assert not re.search(r"\d\.\d", prose)
