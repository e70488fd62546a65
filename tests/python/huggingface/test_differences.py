"""What is still different from `tokenizers` and `transformers`: a test for each row of the table in
docs/huggingface.md, with the original beside it."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from huggingface_cases import byte_level, make, split
from test_compat_pipelines import pair_of
from test_compat_training import ALPHABET
from tokenizers import models, pre_tokenizers, processors, trainers
from tokenizers.models import BPE

from toksmith.compat.huggingface import Tokenizer

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "huggingface.md"


def test_each_row_of_the_table_names_a_test() -> None:
    text = DOCUMENT.read_text("utf-8")
    table = text[text.index("## What is still different") :].split("\n## ")[0]
    rows = [line for line in table.split("\n") if line.startswith("| ")][1:]
    named = {name for row in rows for name in re.findall(r"`(test_\w+)`", row)}
    assert all(re.search(r"`test_\w+`", row) for row in rows)
    sources = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert {name for name in named if f"def {name}(" not in sources} == set()
    own = {name for name, value in globals().items() if name.startswith("test_") and inspect.isfunction(value)}
    assert own - named == {"test_each_row_of_the_table_names_a_test"}


def test_it_is_no_instance() -> None:
    theirs, ours = pair_of(byte_level())
    assert isinstance(theirs, tokenizers.Tokenizer)
    assert not isinstance(ours, tokenizers.Tokenizer)
    assert type(ours.pre_tokenizer) is type(theirs.pre_tokenizer)


def test_an_encoding_is_no_instance() -> None:
    theirs, ours = pair_of(byte_level())
    ours.post_processor = theirs.post_processor = processors.BertProcessing(("</s>", 1), ("<s>", 0))
    with pytest.raises(TypeError, match="Encoding"):
        ours.post_processor.process(ours.encode("a"))
    assert ours.post_process(ours.encode("a", add_special_tokens=False)).ids == theirs.encode("a").ids


def test_panics_are_value_errors() -> None:
    theirs, ours = (tokenizer.encode("the King x y z") for tokenizer in pair_of(byte_level()))
    with pytest.raises(BaseException, match="stride") as panic:
        theirs.truncate(2, stride=2)
    assert not isinstance(panic.value, Exception)
    with pytest.raises(ValueError, match="stride"):
        ours.truncate(2, stride=2)


def test_parts_written_in_python_are_refused() -> None:
    class Custom:
        def pre_tokenize(self, text: Any) -> None:
            pass

    theirs, ours = pair_of(byte_level())
    theirs.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Custom())
    with pytest.raises(Exception, match="Custom"):
        ours.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Custom())
        ours.encode("a")


def test_parts_that_are_not_read_are_refused() -> None:
    for theirs, place in (
        (tokenizers.Tokenizer(models.WordLevel({"a": 0}, unk_token="a")), r"\$\.model"),
        (make(pre_tokenizers.Sequence([byte_level(), pre_tokenizers.Digits()])), r"\$\.pre_tokenizer"),
        (make(pre_tokenizers.Sequence([split("(?<n>a)"), byte_level()])), r"\$\.pre_tokenizer"),
    ):
        with pytest.raises(ValueError, match=place):
            Tokenizer.from_str(theirs.to_str())


def test_without_a_vocabulary() -> None:
    theirs, ours = tokenizers.Tokenizer(models.BPE()), Tokenizer(BPE())
    assert theirs.encode("a").ids == []
    assert theirs.add_tokens(["x"]) == 1
    with pytest.raises(ValueError, match="no vocabulary yet"):
        ours.encode("a")
    assert ours.add_tokens(["x"]) == 1


def test_training_on_fewer_than_all_bytes() -> None:
    theirs, ours = tokenizers.Tokenizer(models.BPE()), Tokenizer(BPE())
    for tokenizer in (theirs, ours):
        tokenizer.pre_tokenizer = byte_level()
    theirs.train_from_iterator(["ab"], trainers.BpeTrainer(show_progress=False))
    assert theirs.get_vocab_size() < 256
    with pytest.raises(ValueError, match="initial_alphabet lacks"):
        ours.train_from_iterator(["ab"], trainers.BpeTrainer(show_progress=False))


def test_training_again_with_added_tokens() -> None:
    theirs, ours = pair_of(byte_level())
    trainer = trainers.BpeTrainer(show_progress=False, initial_alphabet=ALPHABET, special_tokens=["<s>"])
    theirs.train_from_iterator(["ab"], trainer)
    assert theirs.token_to_id("<s>") == 313  # the old id, which is that of no token of the new model
    with pytest.raises(ValueError, match="the tokenizer has added tokens"):
        ours.train_from_iterator(["ab"], trainer)
