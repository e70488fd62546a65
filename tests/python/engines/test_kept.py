"""Functions that a process keeps: one tokenizer for all batches, also where none of them holds it."""

from __future__ import annotations

import gc
import pickle

from toksmith import Tokenizer
from toksmith.engines import batch_function, workers


def test_an_unpickled_function_is_kept(small: Tokenizer) -> None:
    function = workers.KeptFunction(batch_function(Tokenizer(small.vocab, small.merges, ["<|kept|>"]), "text"))
    data = pickle.dumps(function)
    batch = {"text": ["the theatre"]}
    expected = [small.encode("the theatre")]
    assert [ids.tolist() for ids in function(batch)["input_ids"]] == expected
    del function
    first = pickle.loads(data)
    assert pickle.dumps(first) == data
    number = id(first)
    del first
    gc.collect()
    again = pickle.loads(data)
    assert id(again) == number
    assert [ids.tolist() for ids in again(batch)["input_ids"]] == expected


def test_few_functions_are_kept() -> None:
    for number in range(30):
        pickle.loads(pickle.dumps(workers.KeptFunction([number].count)))
    assert workers._kept.cache_info().currsize == 8
    last = workers.KeptFunction([29].count)
    assert pickle.loads(pickle.dumps(last)) is pickle.loads(pickle.dumps(last))
    assert last(29) == 1
