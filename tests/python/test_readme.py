"""README.md does what it says: its Python, its commands; and the demo that it names."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def _as_check(line: re.Match[str]) -> str:
    return f"_check({line[1]}, {line[2]!r})"


def run_python(namespace: dict[str, object]) -> None:
    """Run every Python block in order; a line `expression  # → value` is checked."""
    for block in blocks("python"):
        checked = re.sub(r"^(\S.*?)  # → (.*)$", _as_check, block, flags=re.MULTILINE)
        exec(compile(checked, "README.md", "exec"), namespace)


def test_the_python_in_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checks = []

    def check(value: object, expected: str) -> None:
        checks.append(expected)
        assert repr(value) == expected

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        run_python({"_check": check})
    assert len(checks) == README.count("  # → ")
    assert printed.getvalue() == ""


@pytest.mark.skipif(shutil.which("bash") is None or shutil.which("cmp") is None, reason="needs bash and cmp")
def test_the_commands_in_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python({"_check": lambda *_: None})  # leaves corpus.txt
    (tmp_path / "tokenizer.json").unlink()
    script = f'set -euo pipefail\ntoksmith() {{ "{sys.executable}" -m toksmith "$@"; }}\n' + "".join(blocks("sh"))
    done = subprocess.run(["bash", "-c", script], capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "264 45 259 260 0"


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
