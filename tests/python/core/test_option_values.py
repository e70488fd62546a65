"""The values of options are those of the core, also for type checkers."""

import ast
from pathlib import Path
from typing import get_args

import pytest

import toksmith
from toksmith._internal import choices


@pytest.mark.parametrize("name", ["FileFormat", "SpecialIds", "Ties", "Unmatched"])
def test_the_stub_has_the_values_of_the_core(name: str) -> None:
    stub = ast.parse(Path(toksmith.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
    aliases = {ast.unparse(node.targets[0]): node.value for node in stub.body if isinstance(node, ast.Assign)}
    literal = aliases[f"_{name}"]
    assert isinstance(literal, ast.Subscript)
    assert set(ast.literal_eval(literal.slice)) == set(get_args(getattr(choices, name)))
