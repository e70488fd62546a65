"""Completion of the command line in shells, by click's scripts."""

import os
from pathlib import Path

import click
from click import shell_completion

_FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/completions/toksmith.fish"}


def show_completion(group: click.Command) -> str:
    """Return the script for the current shell."""
    return _script(group, _shell())


def install_completion(group: click.Command) -> str:
    """Add the script to the file that the current shell reads at its start; return what to say of it."""
    shell = _shell()
    if shell not in _FILES:
        raise ValueError(
            f"completion cannot be installed for {shell}: add the output of --show-completion to your profile"
        )
    path, script = Path.home() / _FILES[shell], _script(group, shell)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or script not in path.read_text(encoding="utf-8"):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{script}")
    return f"{shell} completion installed in {path}: it takes effect in a new terminal"


def _shell() -> str:
    shell = Path(os.environ.get("SHELL", "")).name
    return shell if shell_completion.get_completion_class(shell) else "powershell" if os.name == "nt" else "bash"


def _script(group: click.Command, shell: str) -> str:
    made = shell_completion.get_completion_class(shell)
    assert made is not None
    return made(group, {}, "toksmith", "_TOKSMITH_COMPLETE").source()
