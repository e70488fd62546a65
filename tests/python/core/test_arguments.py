"""Wrong arguments of public functions: each message names the argument, or the function and its nearest keyword."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import toksmith
from toksmith import PretokenCounts, Superwords, Tokenizer
from toksmith.compat.rustbpe import Tokenizer as RustBpe
from toksmith.engines import batch_function, count_arrow, encode_arrow, encode_batches
from toksmith.lab.page import document
from toksmith.tokenizer import tokenizer_of

Call = Callable[[SimpleNamespace], Any]

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"th": 256}


@pytest.fixture
def at(tmp_path: Path) -> SimpleNamespace:
    """A tokenizer, its file, and a text."""
    trained = toksmith.train(iter(["the cat sat on the mat"] * 9), 266, special_tokens=["<|end|>", "<tool>"])
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat")
    trained.save(tmp_path / "t.json")
    return SimpleNamespace(t=trained, text=text, folder=tmp_path, file=str(tmp_path / "t.json"))


# Misspelled keywords

KEYWORDS: dict[str, tuple[Call, str]] = {
    "train": (lambda at: toksmith.train(at.text, 300, vocabsize=300), "train.*did you mean 'vocab_size'"),
    "train_bpe": (lambda at: toksmith.train_bpe(at.text, 300, [], tie="ids"), "train_bpe.*did you mean 'ties'"),
    "count_pretokens": (lambda at: toksmith.count_pretokens(at.text, patern="x"), "count_pretokens.*'pattern'"),
    "tokenize": (lambda at: toksmith.tokenize(at.text, at.t, at.folder / "o", apend="x"), "tokenize.*'append'"),
    "inspect": (lambda at: toksmith.lab.inspect(at.t, at.text, tops=3), "inspect.*'top'"),
    "compare": (lambda at: toksmith.lab.compare([at.t], at.text, resample=3), "compare.*'resamples'"),
    "prune": (lambda at: toksmith.surgery.prune(at.t, min_cuont=1, on=at.text), "prune.*'min_count'"),
    "extend": (lambda at: toksmith.surgery.extend(at.t, at.text, 5, special_token=[]), "extend.*'special_tokens'"),
    "encode_batches": (lambda at: encode_batches([], "text", at.t, type="uint16"), "encode_batches.*'dtype'"),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_misspelled_keyword(name: str, at: SimpleNamespace) -> None:
    call, message = KEYWORDS[name]
    with pytest.raises(TypeError, match=message) as caught:
        call(at)
    assert "Corpus" not in str(caught.value)


def test_every_function_that_forwards_keywords_is_tried() -> None:
    places = (toksmith, toksmith.lab, toksmith.surgery)
    functions = {name: getattr(place, name) for place in places for name in place.__all__}
    forwarding = {
        name
        for name, function in functions.items()
        if inspect.isfunction(function)
        and any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values())
    }
    assert forwarding <= KEYWORDS.keys()


# Values

VALUES: list[tuple[Call, str]] = [
    (lambda at: toksmith.train(at.text, "300"), "vocab_size is a whole number, not str: '300'"),
    (lambda at: toksmith.train(32000, at.text), "vocab_size is a whole number, not PosixPath"),
    (lambda at: toksmith.count_pretokens(at.text, workers="4"), "workers is a whole number, not str: '4'"),
    (lambda at: toksmith.train(at.text, 300, min_frequency=2.5), "min_frequency is a whole number, not float: 2.5"),
    (lambda at: toksmith.train(at.text, 300, max_token_length="2"), "max_token_length is a whole number"),
    (lambda at: toksmith.train(at.text, 300, special_tokens=5), "special_tokens is a list of names"),
    (lambda at: toksmith.train(at.text, 300, forced_tokens=5), "forced_tokens is a list of tokens, not int: 5"),
    (lambda at: toksmith.train(at.text, 300, log=5), "log is a path, not int: 5"),
    (lambda at: toksmith.train(at.text, 300, checkpoint=5), "checkpoint is a path, not int: 5"),
    (lambda at: toksmith.train(at.text, 300, memory_limit=2.5), "memory_limit is a number of bytes or a text"),
    (lambda at: toksmith.train(at.text, 300, superwords=True), "superwords is a toksmith.Superwords, 'words' or"),
    (lambda _: toksmith.train(5, 300), "sources are paths, or an iterable of texts, not int"),
    (lambda at: toksmith.surgery.extend(at.t, at.text, "5"), "n is a whole number, not str: '5'"),
    (lambda at: toksmith.surgery.replace_tokens(at.t, [256], ["a", "b"]), "slots are 1, and tokens are 2"),
    (lambda at: toksmith.surgery.replace_tokens(at.t, 256, "a"), "slots is a list of ids, not int: 256"),
    (lambda at: toksmith.surgery.replace_tokens(at.t, [256], "a"), "tokens is a list of tokens, not str: 'a'"),
    (lambda at: toksmith.surgery.replace_tokens(at.t, [256], [5]), "a token is str or bytes, not int: 5"),
    (lambda at: toksmith.surgery.prune(at.t, keep="abc"), "keep is a list of ids, not str: 'abc'"),
    (lambda at: toksmith.surgery.prune(at.t, keep=[2.5]), "keep: an id is a whole number, not float: 2.5"),
    (lambda at: toksmith.surgery.prune(at.t, min_count="3", on=at.text), "min_count is a whole number"),
    (lambda at: toksmith.surgery.shrink(at.t, 5.0), "n is a whole number, not float: 5.0"),
    (lambda at: toksmith.tokenize(at.text, at.t, at.folder / "o", split=0.1), "split is names with their shares"),
    (lambda at: toksmith.tokenize(at.text, at.t, at.folder / "o", seed="3"), "seed is a whole number"),
    (lambda at: toksmith.tokenize(at.text, at.t, None), "out is a path, not None"),
    (lambda at: toksmith.view(at.t, "hi", limit="3"), "limit is a whole number, not str: '3'"),
    (lambda at: toksmith.lab.inspect(at.t, top="3"), "top is a whole number, not str: '3'"),
    (lambda at: toksmith.lab.compare(5, at.text), "tokenizers is a list of tokenizers, or a mapping"),
    (lambda at: document.write("page.html", at.t), "tokenizers is a mapping of names to tokenizers, not Tokenizer"),
    (lambda at: at.t.encode("a", dropout="x"), "dropout is a number, not str: 'x'"),
    (lambda at: at.t.encode("a", special="no"), "special is True or False, not 'no'"),
    (lambda at: at.t.encode_to_numpy(b"a"), "a text is a str, not bytes; Tokenizer.encode takes bytes"),
    (lambda at: at.t.encode_iterable(at.text), "not PosixPath: encode_file takes a path"),
    (lambda at: at.t.encode_iterable(5), "iterable is an iterable of str, such as an open file, not int"),
    (lambda at: at.t.encode_file(5), "path is a path, not int: 5"),
    (lambda at: at.t.truncate("abc", "3"), "max_tokens is a whole number, not str: '3'"),
    (lambda at: at.t.decode(5), "ids are a list, another iterable or an array of int, not int"),
    (lambda at: at.t.decode_batch(5), "a batch is a list of lists of ids, not int"),
    (lambda at: at.t.decode_stream(5), "ids is an iterable of int, not int"),
    (lambda at: at.t.token_id(5), "a token is bytes or str, not int: 5"),
    (lambda at: at.t.save(5), "path is a path, not int: 5"),
    (lambda at: at.t.save_huggingface(None), "folder is a path, not None"),
    (lambda at: at.t.save(at.folder / "none" / "x.json"), "there is no folder .*none: '.*x.json'$"),
    (lambda _: Tokenizer.load("m.model"), "Tokenizer.from_pretrained reads folders, names and other files"),
    (lambda at: Tokenizer.load(at.text), "not JSON.*Tokenizer.from_pretrained reads folders, names and other files"),
    (lambda _: Tokenizer.load(5), "path is a path, not int: 5"),
    (lambda _: Tokenizer.from_tiktoken(5, pattern="gpt2"), "path is a path, not int: 5"),
    (lambda _: Tokenizer.from_files(5, 6), "vocab_filepath is a path, not int: 5"),
    (lambda _: Tokenizer("gpt2"), "vocab is a mapping .* Tokenizer.from_pretrained takes names"),
    (lambda _: Tokenizer(None, 5), "merges is a list of pairs of bytes, not int: 5"),
    (lambda _: Tokenizer(None, None, {"a": 1.5}), "the id of special token 'a' is a whole number, not float: 1.5"),
    (lambda _: PretokenCounts({b"a": "1"}), "the count of b'a' is a whole number, not str: '1'"),
]


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_a_wrong_value(number: int, at: SimpleNamespace) -> None:
    call, message = VALUES[number]
    with pytest.raises((TypeError, ValueError, OSError), match=message) as caught:
        call(at)
    said = str(caught.value)
    assert not any(bare in said for bare in ("cannot be interpreted", "object is not iterable", "zip()", "-> None"))


# A tokenizer, under whatever name

USES: dict[str, tuple[str, Callable[[Any, SimpleNamespace], Any]]] = {
    "view": ("tokenizer", lambda t, _: str(toksmith.view(t, "the cat"))),
    "explain": ("tokenizer", lambda t, _: toksmith.lab.explain(t, "the cat")),
    "inspect": ("tokenizer", lambda t, _: toksmith.lab.inspect(t).to_dict()),
    "extend": ("tokenizer", lambda t, _: toksmith.surgery.extend(t, iter(["zzz"]), 1)[0].merges),
    "replace_tokens": ("tokenizer", lambda t, _: toksmith.surgery.replace_tokens(t, [1000], ["<new>"])[0]),
    "prune": ("tokenizer", lambda t, _: toksmith.surgery.prune(t, keep=[256])[0]),
    "shrink": ("tokenizer", lambda t, _: toksmith.surgery.shrink(t, 257)),
    "base": ("base", lambda t, _: toksmith.train(iter(["zzz"]), 259, base=t).merges),
    "tokenize": ("tokenizer", lambda t, at: toksmith.tokenize(at.text, t, at.folder / "out", append=())["totals"]),
    "batch_function": ("tokenizer", lambda t, _: batch_function(t)({"text": ["the cat"]})["input_ids"][0].tolist()),
    "encode_batches": ("tokenizer", lambda t, _: list(encode_batches([pa.table({"text": ["the"]})], "text", t))),
    "encode_arrow": ("tokenizer", lambda t, _: encode_arrow(t, pa.array(["the cat"]))),
    "count_arrow": ("tokenizer", lambda t, _: count_arrow(t, pa.array(["the cat"]))),
    "align": ("b", lambda t, _: toksmith.surgery.align(Tokenizer(), [116, 104], t, [256]).tolist()),
    "vocab_map": ("a", lambda t, _: toksmith.surgery.vocab_map(t, Tokenizer()).tolist()),
    "retokenization": ("tokenizer", lambda t, _: toksmith.surgery.retokenization(t, [116, 104])),
    "Document": ("tokenizer", lambda t, _: toksmith.Document(t, "the cat").ids.tolist()),
    "PrefixCache": ("tokenizer", lambda t, _: toksmith.PrefixCache(t, 10_000_000).encode("the cat")),
    "Continuations": ("tokenizer", lambda t, _: toksmith.Continuations(t).prefix_ids(b"th").tolist()),
    "DecodeStream": ("tokenizer", lambda t, _: toksmith.DecodeStream(t, skip_special=True).push(256)),
    "DecodeStreams": ("tokenizer", lambda t, _: toksmith.DecodeStreams(t, [[]]).push([256])),
    "page": ("tokenizer", lambda t, at: document.write(at.folder / "page.html", {"t": t})),
}


@pytest.mark.parametrize("use", USES)
def test_what_names_a_tokenizer_is_one(use: str, at: SimpleNamespace) -> None:
    argument, call = USES[use]
    encoding = toksmith.Encoding("t", pat_str=r"\w+|\W+", mergeable_ranks=RANKS, special_tokens={"<s>": 300})
    given = encoding.tokenizer
    given.save(at.file)
    results = []
    for number, named in enumerate([given, encoding, at.file, Path(at.file), os.fsencode(at.file)]):
        at.folder = Path(at.file).parent / f"{number}"
        at.folder.mkdir()
        results.append(str(call(named, at)))
    assert [*{*results}] == results[:1]
    for wrong in (5, 2.5, ["gpt2"]):
        with pytest.raises(TypeError, match=f"{argument} is a Tokenizer, the name or path of one, or a tokenizer"):
            call(wrong, at)
    with pytest.raises(FileNotFoundError, match="did you mean 'gpt-4'"):
        call("gptt-4", at)


def test_tokenizers_of_stand_ins() -> None:
    stand_in = RustBpe()
    stand_in.train_from_iterator(["the cat sat"], 258)
    assert tokenizer_of(stand_in) is stand_in.tokenizer


def test_superwords_by_the_name_of_the_rule() -> None:
    names = ["".join(chr(97 + number * step % 26) for step in range(1, 7)) for number in range(1, 26)]
    texts = [" ".join(f"{name} of the {name}" for name in names) + "."]
    for rule in ("words", "spaces"):
        named = toksmith.train(deque(texts), 320, superwords=rule)
        assert named == toksmith.train(deque(texts), 320, superwords=Superwords(rule=rule))
    with pytest.raises(ValueError, match="superwords is one of 'words', 'spaces', not 'wrds'"):
        toksmith.train(deque(texts), 320, superwords="wrds")


def test_results_are_short_to_look_at(at: SimpleNamespace) -> None:
    _, change = toksmith.surgery.extend(at.t, iter(["zzz"]), 1)
    assert repr(change) == "<VocabChange of 266 old ids to 267 new ones: 266 kept, 1 added>"
    assert len(repr(Tokenizer(pattern="a|" * 1000 + "b"))) < 200


def test_the_reference_needs_no_import() -> None:
    program = (
        "import sys, toksmith; print(toksmith.reference.train_bpe.__name__, 'toksmith.tokenizer' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "train_bpe False\n"


def _frame() -> Any:
    pandas_like = type("DataFrame", (), {"columns": ["text"], "__iter__": lambda self: iter(["text"])})
    return pandas_like()


@pytest.mark.parametrize(
    "batch", [{"text": ["a", "b"]}, {"a"}, frozenset("a"), "ab", b"ab", bytearray(b"ab"), _frame()]
)
def test_a_batch_is_a_list(batch: Any) -> None:
    """A mapping would encode its keys, a text its characters, a set its items in any order."""
    from toksmith.compat.huggingface import Tokenizer as StandIn

    tokenizer, encoding = (
        toksmith.Tokenizer(),
        toksmith.Encoding("b", mergeable_ranks=RANKS, pat_str="a", special_tokens={}),
    )
    functions = [
        *(tokenizer.encode_batch, tokenizer.encode_batch_to_numpy, tokenizer.decode_batch),
        *(StandIn(tokenizer).encode_batch, StandIn(tokenizer).encode_batch_fast, StandIn(tokenizer).decode_batch),
        functools.partial(tokenizer.encode_batch, dropout=0.1),
    ]
    if not isinstance(batch, str):  # which tiktoken takes for a list of characters
        functions += [encoding.encode_batch, encoding.encode_ordinary_batch]
        functions += [encoding.decode_batch, encoding.decode_bytes_batch]
    for function in functions:
        with pytest.raises(TypeError, match=f"batch(_to_numpy)? takes a list of .*, not {type(batch).__name__}"):
            function(batch)


@pytest.mark.parametrize("wrong, kind", [(None, "NoneType"), (b"b", "bytes"), (5, "int")])
def test_a_batch_names_the_index_of_what_is_no_text(wrong: Any, kind: str) -> None:
    tokenizer = toksmith.Tokenizer()
    encoding = toksmith.Encoding("b", mergeable_ranks=RANKS, pat_str="a", special_tokens={})
    for function in (tokenizer.encode_batch, tokenizer.encode_batch_to_numpy, encoding.encode_ordinary_batch):
        with pytest.raises(TypeError, match=f"text number 1 of the batch is {kind}, not str"):
            function(["a", wrong])
