"""Commands start at once: each imports what it needs, and its help says what the library does by default."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import toksmith
from toksmith.cli.app import COMMANDS, load

LARGE = {"numpy", "regex", "rich", "typer", "pydantic", "toksmith.lab", "toksmith.training", "toksmith.compat"}


def imported(*arguments: object) -> set[str]:
    """Return the modules that a command imports."""
    code = "import sys, atexit; from toksmith.cli import main; atexit.register(lambda: print(*sys.modules)); main()"
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, check=True)
    return set(done.stdout.decode().split())


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_no_command_is_imported_for_its_name(option: str) -> None:
    modules = imported(option)
    assert not modules & {*LARGE, "toksmith.tokenizer", *(f"toksmith.cli.{name}" for name in COMMANDS)}


@pytest.mark.parametrize("command", ["count", "encode", "decode"])
def test_a_command_imports_nothing_large(command: str, tmp_path: Path) -> None:
    toksmith.Tokenizer().save(tmp_path / "t.json")
    (tmp_path / "in").write_text("97")
    modules = imported(command, "-t", tmp_path / "t.json", tmp_path / "in")
    assert f"toksmith.cli.{command}" in modules
    assert not modules & LARGE


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_has_their_help(name: str) -> None:
    assert load(name).help == COMMANDS[name]


def test_defaults_in_the_help_are_those_of_the_library() -> None:
    for command, function in (
        ("train", toksmith.train),
        ("tokenize", toksmith.tokenize),
        ("compare", toksmith.lab.compare),
        ("inspect", toksmith.lab.inspect),
    ):
        parameters = inspect.signature(function).parameters
        for option in load(command).params:
            default = getattr(parameters.get(option.name), "default", None)
            if isinstance(option, click.Option) and isinstance(default, (int, str)) and not isinstance(default, bool):
                assert re.search(rf"Default: {default}\.$", option.help or ""), (command, option.name)
