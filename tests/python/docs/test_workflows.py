"""Workflows only start targets of the Makefile, which anybody can run, and actions that are pinned by a commit."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def matrix(workflow: Path) -> list[str]:
    """The targets that a matrix lists, whose steps run `make "$TARGET"`."""
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [name for job in jobs for name in job.get("strategy", {}).get("matrix", {}).get("target", [])]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_step_runs_a_target(workflow: Path) -> None:
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    named = [re.fullmatch(r'make ([a-z-]+|"\$TARGET")( [A-Z]+=("[^"\n]*"|\S+))*', command) for command in commands]
    assert [command for command, match in zip(commands, named, strict=True) if match is None] == []
    used = {match[1] for match in named if match} - {'"$TARGET"'}
    assert used | set(matrix(workflow)) <= targets()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned(workflow: Path) -> None:
    lines = re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8"))
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", line)] == []
