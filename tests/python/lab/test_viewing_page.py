"""docs/viewing.md shows what the commands print."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/viewing.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_the_commands_print_what_the_page_says(tiktoken_cache: Path, tmp_path: Path) -> None:
    """All in one shell, with a line between them."""
    commands, expected = zip(*(block.removeprefix("$ ").split("\n", 1) for block in blocks("console")), strict=True)
    script = f'toksmith() {{ "{sys.executable}" -m toksmith "$@"; }}\n'
    script += "\necho ----\n".join(commands)
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tiktoken_cache), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["sh", "-c", script], capture_output=True, env=environment, cwd=tmp_path, check=True)
    assert done.stdout.decode().split("----\n") == list(expected)
    assert done.stderr == b""


def test_the_python_of_the_page() -> None:
    [code], checked = blocks("python"), []

    def check(value: object, expected: str) -> None:
        checked.append(expected)
        assert repr(value) == expected

    code = re.sub(r"^(\S.*?)  # → (.*)$", lambda line: f"check({line[1]}, {line[2]!r})", code, flags=re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {"check": check})
    assert len(checked) == 2
    assert printed.getvalue() == blocks("text")[0]
