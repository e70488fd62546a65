"""`batch_function`: batches of dicts and tables, and a pickle that is the same everywhere."""

from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toksmith import Tokenizer
from toksmith.engines import batch_function, count_arrow, encode_arrow

END = "<|end|>"
TEXTS: list[str | None] = ["the theatre", None, "", f"a{END}b", "žluť"]


@pytest.fixture(scope="module")
def tokenizer(small: Tokenizer) -> Tokenizer:
    return Tokenizer(small.vocab, small.merges, [END])


def lists(column: Any) -> list[list[int] | None]:
    return [None if ids is None else [int(id) for id in ids] for ids in column]


def test_a_dict_of_lists(tokenizer: Tokenizer) -> None:
    batch = {"n": [1, 2, 3, 4, 5], "text": TEXTS}
    for dtype, special in (("uint16", True), ("uint32", False)):
        found = batch_function(tokenizer, "text", out="ids", dtype=dtype, special=special)(batch)
        assert list(found) == ["ids"]
        assert {str(ids.dtype) for ids in found["ids"] if ids is not None} == {dtype}
        expected = [None if text is None else tokenizer.encode(text, special=special) for text in TEXTS]
        assert lists(found["ids"]) == expected
    assert batch_function(tokenizer)({"text": []}) == {"input_ids": []}


def test_tables_and_batches_of_pyarrow(tokenizer: Tokenizer) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    expected = [None if text is None else tokenizer.encode(text) for text in TEXTS]
    table = pa.table({"n": [1, 2, 3, 4, 5], "text": pa.chunked_array([TEXTS[:2], TEXTS[2:]])})
    for given in (table, table.combine_chunks().to_batches()[0]):
        found = batch_function(tokenizer, "text", dtype="uint16")(given)
        assert type(found) is type(given)
        assert found.column_names == ["n", "text", "input_ids"]
        assert found.schema.field("input_ids").type == pa.list_(pa.uint16())
        assert found.column(2).to_pylist() == expected
        assert found.select(["n", "text"]).equals(given)
        replaced = batch_function(tokenizer, "text", out="text")(given)
        assert replaced.column_names == ["n", "text"]
        assert replaced.column(1).to_pylist() == expected
        alone = batch_function(tokenizer, "text", keep=False)(given)
        assert type(alone) is type(given)
        assert alone.to_pydict() == {"input_ids": expected}


def test_tokenizers_with_a_pipeline(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save_huggingface(tmp_path / "hf", verify=False)
    path = tmp_path / "hf" / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"normalizer": {"type": "Lowercase"}}))
    tokenizer = Tokenizer.from_huggingface(path)
    texts = ["The KING", None, "", "ing İ"]
    expected = [None if text is None else tokenizer.encode(text) for text in texts]
    assert lists(batch_function(tokenizer)({"text": texts})["input_ids"]) == expected
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    for workers in (1, 2):
        made = encode_arrow(tokenizer, pa.array(texts, pa.string_view()), dtype="uint16", workers=workers)
        made.validate(full=True)
        assert made.type == pa.list_(pa.uint16())
        assert made.to_pylist() == expected
    assert encode_arrow(tokenizer, pa.array([None, None], pa.string())).to_pylist() == [None, None]
    counts = count_arrow(tokenizer, pa.array(texts))
    assert counts.to_pylist() == [None if ids is None else len(ids) for ids in expected]
    broken = encode_arrow(tokenizer, pa.array([b"a", b"AB\xff"])).to_pylist()
    assert broken == [tokenizer.encode("a"), tokenizer.encode(b"ab\xff")]


def test_batches_that_are_wrong(tokenizer: Tokenizer) -> None:
    function = batch_function(tokenizer, "text")
    with pytest.raises(ValueError, match="there is no column 'text': the batch has 'body', 'n'"):
        function({"body": ["a"], "n": [1]})
    with pytest.raises(TypeError, match="column 'text' is one text, not a list: call map with batched=True"):
        function({"text": "the"})
    with pytest.raises(TypeError, match="text number 3 of the batch is int, not str"):
        function({"text": ["the", None, None, 5]})
    for wrong in (["the"], "the", None):
        with pytest.raises(TypeError, match="a batch must be a dict of lists"):
            function(wrong)
    with pytest.raises(TypeError, match="the name of a column must be a str, not int"):
        batch_function(tokenizer, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="which do not fit into uint16"):
        batch_function(Tokenizer(None, None, {END: 2**16}), dtype="uint16")


def test_equal_functions(tokenizer: Tokenizer, small: Tokenizer) -> None:
    function = batch_function(tokenizer, "text")
    other = batch_function(Tokenizer(small.vocab, small.merges, [END]), "text")
    assert function == other
    assert hash(function) == hash(other)
    assert pickle.loads(pickle.dumps(function)) == function
    assert small.merge_counts is not None
    bare = Tokenizer(small.vocab, small.merges)  # remembers no training
    assert pickle.dumps(batch_function(small)) == pickle.dumps(batch_function(bare))
    for different in (
        batch_function(tokenizer, "body"),
        batch_function(tokenizer, "text", out="ids"),
        batch_function(tokenizer, "text", dtype="uint16"),
        batch_function(tokenizer, "text", keep=False),
        batch_function(tokenizer, "text", special=False),
        batch_function(tokenizer, "text", workers=None),
        batch_function(small, "text"),
        5,
    ):
        assert function != different
    assert "column='text', out='input_ids'" in repr(function)


PICKLED = """
import hashlib, pickle, sys
from toksmith import Tokenizer
from toksmith.engines import batch_function
function = batch_function(Tokenizer.load(sys.argv[1]), "text", out="te" + "xt", dtype="uint16")
function({"text": ["the theatre"]})
print(*(hashlib.sha256(pickle.dumps(function, protocol)).hexdigest() for protocol in range(2, 6)))
"""


def test_the_pickle_is_the_same_in_every_process(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """`datasets` finds results in its cache by a hash of this pickle."""
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    function = batch_function(tokenizer, "text", out="text", dtype="uint16")
    before = [hashlib.sha256(pickle.dumps(function, protocol)).hexdigest() for protocol in range(2, 6)]
    function({"text": ["the theatre", "there"]})
    assert [hashlib.sha256(pickle.dumps(function, protocol)).hexdigest() for protocol in range(2, 6)] == before
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", PICKLED, str(path)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.split() == before
