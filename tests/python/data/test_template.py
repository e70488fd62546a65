"""`tokenize(template=True)`: the tokens of the tokenizer's own template, around each document."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import tokenizers

import toksmith
from toksmith import Tokenizer

TEXTS = ["low lower", "", "newest über"]
BOS, EOS = "<s>", "</s>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose tokenizer has a template with BOS and EOS."""
    folder = tmp_path_factory.mktemp("template")
    plain = toksmith.train(iter(["low lower newest über " * 9]), 270, special_tokens=[BOS, EOS])
    plain.save_huggingface(folder)
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = [(name, plain.special_tokens[name]) for name in (BOS, EOS)]
    theirs.post_processor = tokenizers.processors.TemplateProcessing(single=f"{BOS} $A {EOS}", special_tokens=ids)
    theirs.save(str(folder / "tokenizer.json"))
    return folder


def test_the_ids_are_those_of_tokenizers(folder: Path, tmp_path: Path) -> None:
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        manifest = toksmith.tokenize(iter(TEXTS), folder, tmp_path / "out", template=True)
    ids = np.concatenate([np.fromfile(path, np.uint16) for path in sorted((tmp_path / "out").glob("*.bin"))])
    assert ids.tolist() == [id for text in TEXTS for id in theirs.encode(text).ids]
    assert manifest["options"]["template"] is True


def test_a_choice_is_asked_for(folder: Path, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="choose template=True, or template=False"):
        toksmith.tokenize(iter(TEXTS), folder, tmp_path / "asked")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        toksmith.tokenize(iter(TEXTS), folder, tmp_path / "none", template=False, append="none")
        toksmith.tokenize(iter(TEXTS), folder, tmp_path / "same", prepend=BOS, append=EOS)


def test_what_is_wrong_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leave append and prepend out"):
        toksmith.tokenize(iter(TEXTS), folder, tmp_path / "out", template=True, append=EOS)
    with pytest.raises(ValueError, match="the tokenizer has none that puts ids around a text"):
        toksmith.tokenize(iter(TEXTS), Tokenizer(), tmp_path / "out", template=True)
