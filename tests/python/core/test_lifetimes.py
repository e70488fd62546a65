"""Objects that are no longer used are freed: nothing in the core keeps a tokenizer alive in a circle."""

import contextlib
import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Encoding, Tokenizer
from toksmith.engines import batch_function

TEXT = "the lowest of the low, naïve 日本 " * 20


def _tokenizer() -> Tokenizer:
    return toksmith.train(iter([TEXT]), 270, special_tokens=["<|endoftext|>"])


def _sources(folder: Path) -> Path:
    (folder / "a.jsonl").write_text('{"text": "low lower"}\n' * 5)
    return folder / "a.jsonl"


def _refused(tokenizer: Tokenizer, folder: Path) -> None:
    (folder / "bad.jsonl").write_text('{"text": "low lower"}\n{"x"\n')
    with contextlib.suppress(ValueError):
        toksmith.tokenize(folder / "bad.jsonl", tokenizer, folder / "out")


def _stopped(tokenizer: Tokenizer, folder: Path) -> None:
    def stop(*_: Any) -> None:
        raise KeyError

    with contextlib.suppress(KeyError):
        toksmith.tokenize(_sources(folder), tokenizer, folder / "out", progress=stop)


def _error(tokenizer: Tokenizer) -> None:
    with contextlib.suppress(KeyError):
        tokenizer.decode([10**6])


def _read_again(tokenizer: Tokenizer, folder: Path) -> None:
    toksmith.tokenize(_sources(folder), tokenizer, folder / "out", format="npy")
    assert len(toksmith.data.open(folder / "out")) > 0


USES: dict[str, Callable[[Tokenizer, Path], Any]] = {
    "encode": lambda tokenizer, _: tokenizer.decode(tokenizer.encode(TEXT)),
    "batches": lambda tokenizer, _: tokenizer.decode_batch(tokenizer.encode_batch([TEXT, TEXT], workers=2)),
    "arrays": lambda tokenizer, _: tokenizer.encode_to_numpy(TEXT * 1000, workers=2),
    "a stream that is not read to its end": lambda tokenizer, _: next(tokenizer.encode_iterable([TEXT] * 9)),
    "chunks that are not read to their end": lambda tokenizer, _: next(
        iter(tokenizer.encode_iterable([TEXT] * 9, arrays=True))
    ),
    "a decoding that is not read to its end": lambda tokenizer, _: next(tokenizer.decode_stream([300 - 40] * 9)),
    "files": lambda tokenizer, folder: tokenizer.encode_file(_sources(folder).rename(folder / "a"), folder / "ids"),
    "saved": lambda tokenizer, folder: (tokenizer.save(folder / "a.json"), Tokenizer.load(folder / "a.json")),
    "pickled": lambda tokenizer, _: pickle.loads(pickle.dumps(tokenizer)),
    "copied": lambda tokenizer, _: copy.deepcopy(tokenizer),
    "shrunk": lambda tokenizer, _: toksmith.surgery.shrink(tokenizer, 265),
    "extended": lambda tokenizer, _: toksmith.train(iter([TEXT]), 280, base=tokenizer),
    "views": lambda tokenizer, _: (tokenizer.vocab, tokenizer.merges, tokenizer.special_tokens, tokenizer.pipeline),
    "explained": lambda tokenizer, _: toksmith.lab.explain(tokenizer, "lowest"),
    "viewed": lambda tokenizer, _: str(toksmith.view(tokenizer, "lowest")),
    "inspected": lambda tokenizer, _: toksmith.lab.inspect(tokenizer),
    "compared": lambda tokenizer, folder: toksmith.lab.compare([tokenizer], _sources(folder)),
    "tokenized": lambda tokenizer, folder: toksmith.tokenize(_sources(folder), tokenizer, folder / "out"),
    "tokenized from texts": lambda tokenizer, folder: toksmith.tokenize(iter([TEXT] * 3), tokenizer, folder / "out"),
    "tokenized, refused": _refused,
    "tokenized, stopped": _stopped,
    "tokenized, and read": _read_again,
    "a function for batches": lambda tokenizer, _: batch_function(tokenizer, "text")({"text": [TEXT]}),
    "after an error": lambda tokenizer, _: _error(tokenizer),
}


@pytest.mark.parametrize("name", USES)
def test_a_tokenizer_is_freed(name: str, tmp_path: Path) -> None:
    tokenizer = _tokenizer()
    kept = weakref.ref(tokenizer)
    USES[name](tokenizer, tmp_path)
    del tokenizer
    gc.collect()
    assert kept() is None


def test_an_encoding_is_freed() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = Encoding("own", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<|x|>": 256})
    encoding.encode_batch([TEXT] * 4, num_threads=2)
    encoding.tokenizer.encode(TEXT)
    freed = weakref.ref(encoding)
    del encoding
    gc.collect()
    assert freed() is None


def test_no_objects_are_left_by_a_run_of_tokenize(tmp_path: Path) -> None:
    tokenizer, source = _tokenizer(), _sources(tmp_path)

    def kinds() -> dict[str, int]:
        gc.collect()
        found: dict[str, int] = {}
        for one in gc.get_objects():
            name = f"{type(one).__module__}.{type(one).__name__}"  # a module of some types is no text
            if name.startswith("toksmith."):
                found[name] = found.get(name, 0) + 1
        return found

    toksmith.tokenize(source, tokenizer, tmp_path / "first")
    before = kinds()
    toksmith.tokenize(source, tokenizer, tmp_path / "second")
    assert kinds() == before
