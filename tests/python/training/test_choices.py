"""The values of options: the type, the core and the reference agree."""

import inspect
from pathlib import Path
from typing import get_args

import pytest

import toksmith
from toksmith import _core, reference
from toksmith._internal import choices

PACKAGE = Path(toksmith.__file__).parent


@pytest.mark.parametrize("kind", ["Ties", "SpecialIds", "ByteOrder", "Unmatched"])
def test_the_reference_has_the_same(kind: str) -> None:
    assert get_args(getattr(reference, kind)) == get_args(getattr(choices, kind))


@pytest.mark.parametrize("kind", ["LongDocument", "SpecialIds", "Ties", "Unmatched"])
def test_the_core_has_the_same(kind: str) -> None:
    constant = {"LongDocument": "LONG_DOCUMENTS", "SpecialIds": "SPECIAL_IDS"}.get(kind, kind.upper())
    assert get_args(getattr(choices, kind)) == getattr(_core, constant)


def test_every_format_of_the_core_is_written() -> None:
    assert {*get_args(choices.FileFormat), "huggingface", "minbpe"} == _core.FORMATS.keys()


def test_the_core_has_all_tie_rules() -> None:
    """The core tells rules apart that are one for users, who choose the order of bytes as well."""
    assert set(get_args(choices.Ties)) < set(get_args(choices.TieRule))
    for rule in get_args(choices.TieRule):
        _core.learn(_core.PretokenCounts([(b"ab", 2)]), {"max_merges": 1, "ties": rule})
    with pytest.raises(ValueError, match="ties"):
        _core.learn(_core.PretokenCounts([(b"ab", 2)]), {"ties": "other"})


def test_train_shows_its_options() -> None:
    parameters = list(inspect.signature(toksmith.train).parameters)
    assert parameters[:3] == ["sources", "vocab_size", "special_tokens"] and parameters[-1] == "log"
    assert len(parameters) <= 16
    with pytest.raises(TypeError, match=r"train\(\) got an unexpected keyword argument 'tie': did you mean 'ties'"):
        toksmith.train(iter(["low"]), 257, tie="ids")  # type: ignore[call-arg]
