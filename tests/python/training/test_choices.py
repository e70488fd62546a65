"""Choices are written once: the type, the tuple beside it, the core and the reference agree."""

import ast
import inspect
from pathlib import Path
from typing import get_args

import pytest

import toksmith
from toksmith import _core, reference
from toksmith._internal import choices

PACKAGE = Path(toksmith.__file__).parent
TYPES = {"Ties": "TIES", "SpecialIds": "SPECIAL_IDS", "ByteOrder": "BYTE_ORDERS", "Unmatched": "UNMATCHED"}


@pytest.mark.parametrize(("kind", "values"), [*TYPES.items(), ("Errors", "ERRORS")])
def test_the_type_has_the_values_of_the_tuple(kind: str, values: str) -> None:
    source = ast.parse(inspect.getsource(choices))
    literals = {
        node.targets[0].id: ast.literal_eval(node.value.slice)
        for node in ast.walk(source)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Subscript)
    }
    assert literals[kind] == getattr(choices, values)


@pytest.mark.parametrize(("kind", "values"), TYPES.items())
def test_the_reference_has_the_same(kind: str, values: str) -> None:
    assert get_args(getattr(reference, kind)) == getattr(choices, values)


def test_the_core_has_all_tie_rules() -> None:
    """The core tells rules apart that are one for users, who choose the order of bytes as well."""
    assert set(choices.TIES) < set(get_args(choices.TieRule))
    for rule in get_args(choices.TieRule):
        _core.learn_merges(_core.PretokenCounts([(b"ab", 2)]), 1, ties=rule)
    with pytest.raises(ValueError, match="ties"):
        _core.learn_merges(_core.PretokenCounts([(b"ab", 2)]), 1, ties="other")  # type: ignore[arg-type]


def test_train_shows_its_options() -> None:
    parameters = list(inspect.signature(toksmith.train).parameters)
    assert parameters[:3] == ["sources", "vocab_size", "special_tokens"] and parameters[-1] == "corpus"
