"""The README and the guides do what they say: their Python, their commands; and the demo that they name."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import toksmith.compat.tiktoken

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").is_file())
GUIDES = (
    "README.md",
    "docs/comparing.md",
    "docs/data.md",
    "docs/encoding.md",
    "docs/engines.md",
    "docs/exports.md",
    "docs/finetuning.md",
    "docs/first.md",
    "docs/inspecting.md",
    "docs/sentencepiece.md",
    "docs/serving.md",
    "docs/training.md",
    "docs/vocabularies.md",
)
COMMANDS = "docs/cli.md"


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)


def _as_check(line: re.Match[str]) -> str:
    return f"_check({line[1]}, {line[2]!r})"


def run_python(page: str, namespace: dict[str, object]) -> None:
    """Run every Python block of a page in order; a line `expression  # → value` is checked."""
    for block in blocks(page, "python"):
        checked = re.sub(r"^(\S.*?)  # → (.*)$", _as_check, block, flags=re.MULTILINE)
        exec(compile(checked, page, "exec"), namespace)


@pytest.mark.parametrize("page", GUIDES)
def test_the_python_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_python(page)


def test_the_python_of_the_guide_of_tiktoken(tiktoken_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tiktoken_cache))
    check_python("docs/tiktoken.md")


def test_messages_cost_the_same_with_tiktoken(tiktoken_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="needs tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tiktoken_cache))
    [recipe] = [block for block in blocks("docs/tiktoken.md", "python") if "def count_messages" in block]
    exec(recipe, namespace := {"tiktoken": tiktoken})
    messages = [namespace["question"] | {"content": text} for text in ("牛肉 👍🏽", "<|endoftext|> low", "")]
    theirs = namespace["count_messages"](messages)
    exec(recipe, namespace := {"tiktoken": toksmith.compat.tiktoken})
    assert namespace["count_messages"](messages) == theirs


def check_python(page: str) -> None:
    """Run the examples of a page, each of which has the value that it shows."""
    for library in ("pyarrow", "sentencepiece"):
        if f"import {library}" in read(page):
            pytest.importorskip(library, reason=f"needs {library}")
    checks = []

    def check(value: object, expected: str) -> None:
        checks.append(expected)
        assert repr(value) == expected

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        run_python(page, {"_check": check})
    assert checks
    assert len(checks) == read(page).count("  # → ")
    assert printed.getvalue() == ""


@pytest.mark.skipif(shutil.which("bash") is None or shutil.which("cmp") is None, reason="needs bash and cmp")
def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = f'set -euo pipefail\ntoksmith() {{ "{sys.executable}" -m toksmith "$@"; }}\n'
    script += "".join(blocks(COMMANDS, "sh"))
    done = subprocess.run(["bash", "-c", script], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    written = [line.partition(":")[0] for line in done.stderr.splitlines()]
    assert written == ["tokenizer.json", "corpus.ids", "corpus.npy", "data", "report.html", "hf/"]
    assert "264 45 259 260 0" in done.stdout.splitlines()


def test_the_demo(tmp_path: Path) -> None:
    unwanted = ("FORCE_COLOR", "COLUMNS")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    command = [sys.executable, str(ROOT / "scripts/demo.py")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "first merges" in done.stdout
    assert "bytes per token" in done.stdout
    assert "\x1b" not in done.stdout
    assert not list(tmp_path.iterdir())
