"""Bad input at every entry point: the built-in exception of its kind, a message that says where, and nothing worse.

Run as a script this file is the child of `test_hostile_arguments_are_only_exceptions`: it tries every hostile value
in every place, in a process that may crash.
"""

import decimal
import functools
import json
import math
import operator
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toksmith
from toksmith import DecodeStream, PretokenCounts, Tokenizer
from toksmith._core import spell

BYTES = {byte: bytes([byte]) for byte in range(256)}
AB = {**BYTES, 256: b"ab"}

Call = Callable[..., Any]


class Files:
    """A folder with one good file of each kind, and what is wrong in others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tokenizer = Tokenizer(AB, [(b"a", b"b")], ["<s>"])
        self.text = self.write("text", b"some text")
        self.empty = self.write("empty", b"")
        self.invalid = self.write("invalid", b"abc\xffdef")
        self.missing = folder / "missing"
        self.vocab = self.write("vocab.json", json.dumps({spell(token): id for id, token in AB.items()}).encode())
        self.merges = self.write("merges.txt", b"#version: 0.2\na b\n")
        self.native = folder / "native.json"
        self.tokenizer.save(self.native)
        self.ranks = folder / "ranks.tiktoken"
        self.tokenizer.save(self.ranks, format="tiktoken")

    def write(self, name: str, content: bytes) -> Path:
        (self.folder / name).write_bytes(content)
        return self.folder / name

    def changed(self, **fields: Any) -> Path:
        """Write the native file with other fields."""
        content = {**json.loads(self.native.read_text()), **fields}
        return self.write("changed.json", json.dumps({k: v for k, v in content.items() if v is not ...}).encode())

    def vocab_of(self, tokens: dict[str, Any]) -> Path:
        return self.write("vocab2.json", json.dumps(tokens).encode())


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def fails(kind: type[Exception], message: str, call: Call, *args: Any, **options: Any) -> None:
    """Assert that the call raises exactly this kind (or one of its kind for OSError), with this in its message."""
    with pytest.raises(kind) as caught:
        call(*args, **options)
    assert not isinstance(caught.value, RuntimeError)
    said = str(caught.value)
    assert re.search(message, said), f"{call}: {said!r} does not say {message!r}"


# Every entry point by what it takes.


def trainings(files: Files) -> list[Callable[..., Any]]:
    """What trains or counts, with `options` of all of them."""
    return [
        lambda **options: toksmith.train(files.text, **{"vocab_size": 400, **options}),
        lambda **options: toksmith.train_bpe(files.text, **{"vocab_size": 400, "special_tokens": [], **options}),
        lambda **options: toksmith.train(iter(["some text"]), **{"vocab_size": 400, **options}),
    ]


def countings(files: Files) -> list[Callable[..., Any]]:
    return [
        lambda **options: toksmith.count_pretokens(files.text, **options),
        lambda **options: toksmith.count_pretokens(iter(["some text"]), **options),
    ]


def makers(files: Files) -> list[Callable[..., Any]]:
    """What makes a tokenizer from special tokens and a pattern."""
    return [
        lambda **options: Tokenizer(**options),
        lambda **options: Tokenizer(AB, [(b"a", b"b")], **options),
        lambda **options: Tokenizer.from_files(files.vocab, files.merges, **options),
        lambda **options: Tokenizer.from_tiktoken(files.ranks, **{"pattern": "gpt2", **options}),
    ]


def counts_made(files: Files) -> list[Callable[..., Any]]:
    return [lambda **options: PretokenCounts({b"a": 1}, **options)]


def texts_taken(tokenizer: Tokenizer) -> dict[str, Callable[[Any], Any]]:
    """Every method that takes text, and others that take it."""
    return {
        "encode": tokenizer.encode,
        "encode, as text": lambda text: tokenizer.encode(text, special=False),
        "encode_to_numpy": tokenizer.encode_to_numpy,
        "encode_with_offsets": tokenizer.encode_with_offsets,
        "encode_with_offsets, bytes": lambda text: tokenizer.encode_with_offsets(text, unit="bytes"),
        "encode_batch": lambda text: tokenizer.encode_batch(["fine", text]),
        "encode_batch_to_numpy": lambda text: tokenizer.encode_batch_to_numpy(["fine", text], workers=2),
        "encode_iterable": lambda text: list(tokenizer.encode_iterable(["fine", text])),
        "encode_parts": lambda text: tokenizer.encode_parts([("fine", True), (text, False)]),
        "count": tokenizer.count,
        "truncate": lambda text: tokenizer.truncate(text, 5),
        "split": lambda text: tokenizer.split(text, 5),
        "explain": lambda text: toksmith.lab.explain(tokenizer, text),
    }


def ids_taken(tokenizer: Tokenizer) -> dict[str, Callable[[Any], Any]]:
    """Everything that takes a list of ids."""
    return {
        "decode": tokenizer.decode,
        "decode_bytes": tokenizer.decode_bytes,
        "decode_batch": lambda ids: tokenizer.decode_batch([[97], ids]),
        "decode_stream": lambda ids: list(tokenizer.decode_stream(ids)),
        "decode_stream, prompt": lambda ids: tokenizer.decode_stream(prompt=ids),
        "DecodeStream, prompt": lambda ids: DecodeStream(tokenizer, prompt=ids),
        "push": lambda ids: [tokenizer.decode_stream().push(id) for id in ids],
        "token_bytes": lambda ids: [tokenizer.token_bytes(id) for id in ids],
        "decode an array": lambda ids: tokenizer.decode(np.array(ids)),
    }


# Files


def test_a_missing_file(files: Files) -> None:
    missing = files.missing
    for call in (
        lambda: toksmith.train(missing, 300),
        lambda: toksmith.train([files.text, str(missing)], 300),
        lambda: toksmith.train_bpe(str(missing), 300, []),
        lambda: toksmith.count_pretokens(bytes(missing)),
        lambda: Tokenizer.from_files(missing, files.merges),
        lambda: Tokenizer.from_files(files.vocab, missing),
        lambda: Tokenizer.from_tiktoken(missing, pattern="gpt2"),
        lambda: Tokenizer.load(missing),
        lambda: files.tokenizer.save(missing / "below" / "file"),
        lambda: files.tokenizer.save(missing / "file", format="tiktoken"),
    ):
        with pytest.raises(FileNotFoundError, match="missing") as caught:
            call()
        assert caught.value.errno == 2
        assert caught.value.filename is not None
        assert "missing" in str(caught.value.filename)
    assert not missing.exists()


def test_a_folder_in_place_of_a_file(files: Files) -> None:
    for call in (
        lambda: Tokenizer.from_files(files.folder, files.merges),
        lambda: Tokenizer.from_tiktoken(files.folder, pattern="gpt2"),
        lambda: Tokenizer.load(files.folder),
        lambda: files.tokenizer.save(files.folder),
        lambda: files.tokenizer.save(files.folder, format="tiktoken"),
    ):
        fails(OSError, re.escape(str(files.folder)), call)
    fails(OSError, "text", functools.partial(files.tokenizer.save, format="gpt2"), files.text)
    assert not [path.name for path in files.folder.iterdir() if path.name.endswith(".tmp")]


def test_globs_and_folders_that_hold_nothing(files: Files) -> None:
    nothing = files.folder / "nothing"
    nothing.mkdir()
    for take in (
        lambda given: toksmith.train(given, 300),
        lambda given: toksmith.train_bpe(given, 300, []),
        toksmith.count_pretokens,
    ):
        fails(FileNotFoundError, r"no file matches '.*\*\.none'", take, str(files.folder / "*.none"))
        fails(FileNotFoundError, "no file matches", take, [files.text, str(files.folder / "no[1-3]")])
        fails(FileNotFoundError, "folder '.*nothing' holds no file", take, nothing)
        fails(ValueError, "no source is given", take, [])
        fails(ValueError, "null character", take, "a\0b")
        fails((ValueError, OSError), "path|No such file", take, "")  # type: ignore[arg-type]
        for wrong in (None, 5):
            fails(TypeError, "sources are paths, or an iterable of texts", take, wrong)
        for wrong in ([None], [files.text, 1.5]):
            fails(TypeError, r"a source is a path.* give iter\(texts\)", take, wrong)


def test_bytes_that_are_not_utf8(files: Files) -> None:
    bad = files.invalid
    place = rf"{re.escape(str(bad))}.*not UTF-8 at byte 3"
    for call in (
        lambda: toksmith.train(bad, 300),
        lambda: toksmith.train([files.text, bad], 300, pattern="cl100k"),
        lambda: toksmith.train_bpe(bad, 300, ["<s>"]),
        lambda: toksmith.count_pretokens(bad, pattern=None),
        lambda: Tokenizer.from_files(bad, files.merges),
        lambda: Tokenizer.from_files(files.vocab, bad),
        lambda: Tokenizer.load(bad),
    ):
        fails(ValueError, place, call)
    fails(ValueError, rf"{re.escape(str(bad))}: line 1: expected", Tokenizer.from_tiktoken, bad, pattern="gpt2")
    for take in (
        lambda texts: toksmith.train(iter(texts), 300),
        lambda texts: toksmith.count_pretokens(iter(texts)),
    ):
        fails(ValueError, 'element 1: not UTF-8 at byte 3: .*errors="replace"', take, [b"fine", b"abc\xffdef"])
        fails(ValueError, "element 0: not UTF-8 at byte 0", take, [b"\xff"])


# Options of training


def test_vocab_sizes(files: Files) -> None:
    for train in trainings(files):
        for size in (255, 0, -1, -(2**70)):
            fails(
                ValueError,
                rf"vocab_size is {size}, less than the 256 tokens that are always there",
                train,
                vocab_size=size,
            )
        fails(
            ValueError,
            "less than the 258 .* 256 bytes and 2 special tokens",
            train,
            vocab_size=257,
            special_tokens=["a", "b"],
        )
        for size in (2**32, 2**63, 2**70):
            fails(ValueError, rf"vocab_size is {size}, more than the 2\^32 - 1", train, vocab_size=size)
        for wrong in (None, 300.0, "300", [300]):
            fails(TypeError, "", train, vocab_size=wrong)
    fails(ValueError, "less than the 257", toksmith.train, PretokenCounts({b"a": 1}, special_tokens=["<s>"]), 256)


def test_a_size_is_refused_before_a_file_is_read(files: Files) -> None:
    fails(ValueError, "vocab_size", toksmith.train, files.missing, 5)
    fails(ValueError, "ties", toksmith.train, files.missing, 300, ties="none")


def test_options_that_do_not_exist(files: Files) -> None:
    for train in trainings(files):
        for wrong in ("", "Bytes", 1, ["bytes"], b"bytes"):
            fails(ValueError, r"ties is one of '.*', not ", train, ties=wrong)
            for option in ("special_tokens", "single_bytes"):
                fails(ValueError, rf"{option} is one of '.*', not ", toksmith.IdOrder, **{option: wrong})
        for wrong in (-1, 2**63 + 1, 2**80):
            fails(ValueError, r"min_frequency is -?\d+, not between 0 and 2\^63", train, min_frequency=wrong)
        for wrong_type in (None, 1.5, "1"):
            fails(TypeError, "", train, min_frequency=wrong_type)
        fails(TypeError, "unexpected keyword", train, nonsense=1)
    for call in countings(files):
        for wrong in (0, -1):
            fails(ValueError, f"workers is at least 1, not {wrong}", call, workers=wrong)
        for wrong_type in (1.5, "2", [1]):
            fails(TypeError, "", call, workers=wrong_type)
        fails(TypeError, "unexpected keyword", call, nonsense=1)
    for wrong in ("ignore", "", None, 1):
        fails(ValueError, "errors is one of 'strict', 'replace', not", toksmith.Corpus, files.text, errors=wrong)
    for method in (files.tokenizer.encode_batch, files.tokenizer.encode_batch_to_numpy):
        fails(ValueError, "workers is at least 1, not 0", method, ["a"], workers=0)
        fails(TypeError, "", method, ["a"], workers="2")


def test_texts_that_are_none(files: Files) -> None:
    for take in (
        lambda texts: toksmith.train(iter(texts), 300),
        lambda texts: toksmith.count_pretokens(iter(texts)),
    ):
        fails(TypeError, "element 1 is NoneType: texts are str or bytes", take, ["a", None])
        fails(TypeError, "element 0 is int", take, [5])
        fails(TypeError, "element 0 is list", take, [["a"]])
        fails(TypeError, "", take, None)
        fails(TypeError, "", take, 5)
        fails(ValueError, "lone surrogate at character 1", take, ["a\ud800"])


# Special tokens and patterns


def test_special_tokens(files: Files) -> None:
    for call in (*trainings(files), *countings(files), *makers(files), *counts_made(files)):
        fails(ValueError, "special token number 1 is empty: leave it out", call, special_tokens=["a", ""])
        fails(ValueError, "special token .*<s>.* is there twice", call, special_tokens=["<s>", "b", "<s>"])
        fails(ValueError, "lone surrogate", call, special_tokens=["\ud800"])
        fails(TypeError, "list of names", call, special_tokens="<s>")
        fails(TypeError, "list of names", call, special_tokens=b"<s>")
        fails(TypeError, "a special token is a str, not bytes", call, special_tokens=[b"<s>"])
        fails(TypeError, "a special token is a str, not NoneType", call, special_tokens=[None])
        fails(TypeError, "", call, special_tokens=5)
    for train in (*trainings(files), *countings(files), *counts_made(files)):
        fails(TypeError, "list of names, no mapping", train, special_tokens={"<s>": 300})
    for make in makers(files):
        for wrong in (-1, 2**32, 2**64, 2**200, -(2**200)):
            fails(ValueError, "special token .*<s>.* 2\\^32", make, special_tokens={"<s>": wrong})
        fails(ValueError, "id 97", make, special_tokens={"<s>": 97})
        fails(ValueError, "id 300", make, special_tokens={"<s>": 300, "<t>": 300})
        fails(TypeError, "", make, special_tokens={"<s>": "300"})
        fails(TypeError, "", make, special_tokens={"<s>": 1.0})
    fails(ValueError, "no id left", Tokenizer, {**BYTES, 2**32 - 1: b"ab"}, [(b"a", b"b")], ["<s>"])


def test_patterns(files: Files) -> None:
    *others, of_ranks = makers(files)
    for call in (*trainings(files), *countings(files), *others, *counts_made(files)):
        fails(ValueError, r"the pattern '\(' is broken: .* at position 1", call, pattern="(")
        fails(ValueError, "is broken: unknown property", call, pattern=r"\p{Nonsense}")
        fails(ValueError, "is broken: cannot convert float infinity", call, pattern=r"\p{nv=1e999}|.")
        fails(ValueError, "is broken: invalid RE code", call, pattern=r"\X=:]{i:\b}")
        fails(ValueError, "nested too deep", call, pattern="(" * 20_000 + ")" * 20_000)
        fails(ValueError, "backwards", call, pattern=r"(?r)\w+")
    # Read in tiktoken's dialect.
    fails(ValueError, r'the pattern "\(" is broken: a \( without its \) at character 0', of_ranks, pattern="(")
    for name in ("Nonsense", "Infinity"):
        fails(ValueError, r"has the property .* no proven equal", of_ranks, pattern=rf"\p{{{name}}}")
    fails(ValueError, "nested too deep", of_ranks, pattern="(" * 20_000 + ")" * 20_000)
    fails(ValueError, 'has the flag "r"', of_ranks, pattern=r"(?r)\w+")
    for call in (*trainings(files), of_ranks, *countings(files), *others, *counts_made(files)):
        fails(ValueError, "`re` knows no", call, pattern=re.compile("a"))
        fails(TypeError, "a pattern is a name .*gpt2.*, not int", call, pattern=5)
        fails(TypeError, "not bytes", call, pattern=rb"\w")
    for call in (of_ranks, *countings(files), *others, *counts_made(files)):
        for wrong in ("Keep", 1, ["keep"], *([] if call is of_ranks else [None])):
            fails(ValueError, r'unmatched is (one of .keep., .drop.|"keep" or "drop"), not', call, unmatched=wrong)
    fails(TypeError, "pattern", Tokenizer.from_tiktoken, files.ranks)


# Vocabularies and merges


def test_vocabularies(files: Files) -> None:
    for wrong, kind, message in [
        ({**BYTES, -1: b"ab"}, ValueError, r"the id of token b'ab' is -1: ids are whole numbers from 0 to 2\^32 - 1"),
        ({**BYTES, 2**32: b"ab"}, ValueError, r"4294967296"),
        ({**BYTES, 2**200: b"ab"}, ValueError, r"ids are whole numbers"),
        ({**BYTES, "256": b"ab"}, ValueError, r"b'ab' is '256'"),
        ({**BYTES, None: b"ab"}, ValueError, r"b'ab' is None"),
        ({**BYTES, 256: "ab"}, ValueError, r"the token of id 256 is not bytes: 'ab'"),
        ({**BYTES, 256: None}, ValueError, r"the token of id 256 is not bytes: None"),
        ({**BYTES, 256: b"", 257: b""}, ValueError, r'the token b"" has two ids, 256 and 257'),
        ({**BYTES, 256: b"a"}, ValueError, r'the token b"a" has two ids, 97 and 256'),
        ({id: token for id, token in BYTES.items() if id != 7}, ValueError, r"no token for the single byte 0x07"),
        ({}, ValueError, "single byte 0x00"),
        (5, TypeError, ""),
        ([1, 2], TypeError, ""),
    ]:
        fails(kind, message, Tokenizer, wrong, [])
        fails(kind, message, Tokenizer, wrong)


@pytest.mark.parametrize("vocab", [AB, {**AB, 2**32 - 1: b"abab", 1000: b"ba"}])
def test_merges(vocab: dict[int, bytes]) -> None:
    for wrong, kind, message in [
        (
            [(b"a", b"b"), (b"a", b"c")],
            ValueError,
            r'merge number 1 \(b"a", b"c"\) needs the token b"ac", which is not',
        ),
        ([(b"xy", b"z")], ValueError, r'merge number 0 .* needs the token b"xy"'),
        ([(b"a", b"")], ValueError, "merge number 0"),
        ([(b"a", b"b"), (b"a", b"b")], ValueError, r"merge number 1 .* same as number 0"),
        ([(b"a",)], ValueError, "merge number 0 is .*, not a pair of bytes"),
        ([("a", "b")], ValueError, "merge number 0 is .*, not a pair of bytes"),
        ([None], ValueError, "merge number 0 is None"),
        (["ab"], ValueError, "merge number 0 is 'ab'"),
        (5, TypeError, ""),
    ]:
        fails(kind, message, Tokenizer, vocab, wrong)
    fails(ValueError, "merge number 0", Tokenizer, None, [(b"a", b"b")])


def test_files_of_gpt2(files: Files) -> None:
    for line, message in [
        (b"a b c", r"line 2: expected two tokens with one space between, got 'a b c'"),
        (b"ab", "line 2"),
        (b"a  b", "line 2"),
        (b" b", "line 2"),
        (b"a \xe2\x82\xac", "line 2"),
        (b"a b\n\nx y", "xy|'x', 'y'|line"),
        (b"a b\na b", "same as number 0|twice|line 3"),
        (b"a c", "b'ac'|\"ac\""),
        (b"ac b", "b'ac'|\"ac\""),
    ]:
        bad = files.write("bad.txt", b"#version: 0.2\n" + line + b"\n")
        fails(ValueError, rf"{re.escape(str(bad))}.*({message})", Tokenizer.from_files, files.vocab, bad)
    good = json.loads(files.vocab.read_text())
    for tokens, message in [
        ({**good, "b!": 97}, "id 97 is given to"),
        ({**good, "b!": -1}, "id of token 'b!' is -1"),
        ({**good, "b!": 2**32}, "id of token 'b!' is 4294967296"),
        ({**good, "b!": "1"}, "id of token 'b!' is \"1\""),
        ({**good, "b!": 1.0}, "id of token 'b!' is 1.0"),
        ({**good, "b!": True}, "id of token 'b!' is true"),
        ({**good, "b!": None}, "id of token 'b!' is null"),
        ({**good, "日": 300}, "token '日' holds a character that stands for no byte"),
        ({token: id for token, id in good.items() if id != 97}, "0x61|\"a\"|b'a'"),
        ({token: id for token, id in good.items() if id != 256}, "ab"),
    ]:
        bad = files.vocab_of(tokens)
        fails(
            ValueError,
            rf"{re.escape(str(bad))}.*({message})|({message}).*{re.escape(str(bad))}",
            Tokenizer.from_files,
            bad,
            files.merges,
        )
    for content, message in [
        (b"", "line 1"),
        (b"{", "line 1"),
        (b'{"a": 1,\n "b": }', "line 2"),
        (b"[]", "list|sequence"),
        (b"null", "null"),
        (b'{"a": 97, "a": 98}', "'a' is there twice"),
        (b"[" * 1_000_000, "sequence"),
        (b'{"a": ' + b"1" * 5000 + b"}", ""),
        (b'{"a": Infinity}', "line 1: not JSON"),
    ]:
        bad = files.write("bad.json", content)
        fails(ValueError, rf"{re.escape(str(bad))}.*{message}", Tokenizer.from_files, bad, files.merges)


def test_rank_files(files: Files) -> None:
    good = files.ranks.read_bytes()
    for line, message in [
        (b"YWM=", "line 258: expected a token in base64 and its id"),
        (b"YWM= 300 1", "line 258"),
        (b"Y!M= 300", r'line 258: b"Y!M=" is not base64'),
        (b"YWM 300", "line 258: .* is not base64"),
        (b"YWM= -1", 'line 258: the id b"-1" is not a whole number below 2\\^32'),
        (b"YWM= 4294967296", "line 258"),
        (b"YWM= " + b"9" * 5000, "line 258"),
        (b"YWM= 3.0", "line 258"),
        (b"YWM= 97", "line 258: the id 97 of .* belongs to another token"),
        (b"= 300\n= 301", 'b"" has two ids, 300 and 301'),
        (b"YQ== 300", '"a" has two ids'),
    ]:
        bad = files.write("bad.tiktoken", good + line + b"\n")
        fails(ValueError, rf"{re.escape(str(bad))}.*({message})", Tokenizer.from_tiktoken, bad, pattern="gpt2")
    half = b"".join(good.splitlines(keepends=True)[:128])
    bad = files.write("half.tiktoken", half)
    fails(ValueError, rf"{re.escape(str(bad))}.*single byte 0x\w\w", Tokenizer.from_tiktoken, bad, pattern=None)


def test_native_files(files: Files) -> None:
    tokens = json.loads(files.native.read_text())["tokens"]
    for fields, message in [
        ({"format": "other"}, "not a toksmith file"),
        ({"format": ...}, "not a toksmith file"),
        ({"version": 6}, r"\$\.version: 6"),
        ({"version": "1"}, r"\$\.version: .*string"),
        ({"version": ...}, r"\$\.version: the field is missing"),
        ({"tokens": ...}, r"\$\.tokens: the field is missing"),
        ({"tokens": {}}, r"\$\.tokens: invalid type: map"),
        ({"tokens": [[1]]}, r"\$\.tokens\[0\]"),
        ({"tokens": [[-1, "a"]]}, "-1"),
        ({"tokens": [*tokens, [97, "zz"]]}, "id 97 is given to"),
        ({"tokens": [*tokens, [999, "a"]]}, "two ids"),
        ({"tokens": [*tokens, [999, "a\\b"]]}, "backslash"),
        ({"tokens": [*tokens, [999, "\ud800"]]}, "hex escape"),
        ({"tokens": [*tokens, [998, ""], [999, ""]]}, 'b"" has two ids, 998 and 999'),
        ({"tokens": tokens[2:]}, "single byte 0x0[01]"),
        ({"merges": [["a", "c"]]}, '"ac"'),
        ({"merges": [["a"]]}, r"\$\.merges\[0\]"),
        ({"merges": [["a", "b"], ["a", "b"]]}, "same as number 0"),
        ({"merges": 5}, r"\$\.merges: invalid type"),
        ({"special_tokens": {"<s>": -1}}, "-1"),
        ({"special_tokens": {"": 300}}, "empty"),
        ({"special_tokens": {"\ud800": 300}}, "hex escape"),
        ({"special_tokens": ["<s>"]}, r"\$\.special_tokens: invalid type"),
        ({"pattern": "("}, "is broken"),
        ({"pattern": "(" * 20_000 + ")" * 20_000}, "nested too deep"),
        ({"pattern": "(?r)a"}, "backwards"),
        ({"pattern": 5}, r"\$\.pattern: .*expected"),
        ({"pattern_flags": -1}, "flags"),
        ({"pattern_flags": 2**70}, "pattern_flags"),
        ({"pattern_flags": True}, r"\$\.pattern_flags: .*expected"),
        ({"unmatched": "lose"}, "unmatched"),
        ({"unmatched": ["keep"]}, r"\$\.unmatched: .*expected"),
        ({"unicode": 15}, r"\$\.unicode: .*expected"),
    ]:
        bad = files.changed(**fields)
        fails(ValueError, rf"{re.escape(str(bad))}.*({message})", Tokenizer.load, bad)
    if sys.platform != "win32":  # where it is a PermissionError
        fails(IsADirectoryError, "from_pretrained reads folders", Tokenizer.load, files.folder)
    for content in (
        b"",
        b"{",
        b"[]",
        b"5",
        b"[" * 1_000_000,
        b'{"format": "toksmith", "version": ' + b"1" * 5000 + b"}",
    ):
        bad = files.write("bad.json", content)
        fails(ValueError, re.escape(str(bad)), Tokenizer.load, bad)


def test_paths_of_the_wrong_type(files: Files) -> None:
    for wrong in (None, 5, 1.5, ["x"], {}):
        for call in (
            lambda: Tokenizer.load(wrong),  # type: ignore[arg-type] # noqa: B023
            lambda: Tokenizer.from_tiktoken(wrong, pattern="gpt2"),  # type: ignore[arg-type] # noqa: B023
            lambda: Tokenizer.from_files(wrong, files.merges),  # type: ignore[arg-type] # noqa: B023
            lambda: Tokenizer.from_files(files.vocab, wrong),  # type: ignore[arg-type] # noqa: B023
            lambda: files.tokenizer.save(wrong),  # type: ignore[arg-type] # noqa: B023
            lambda: files.tokenizer.save(wrong, format="gpt2"),  # type: ignore[arg-type] # noqa: B023
            lambda: files.tokenizer.save(wrong, format="tiktoken"),  # type: ignore[arg-type] # noqa: B023
        ):
            fails(TypeError, "", call)


# Text and ids


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", None])
def test_text_with_a_lone_surrogate(pattern: str | None) -> None:
    tokenizer = Tokenizer(AB, [(b"a", b"b")], ["<s>"], pattern=pattern)
    for name, take in texts_taken(tokenizer).items():
        for text in ("ab\ud83d cd", "ab\udfff", "ab\ud83d\udc4d"):
            fails(ValueError, "lone surrogate at character 2|surrogates not allowed", take, text)
        if name != "explain":
            fails(ValueError, "lone surrogate at character 2.*replace it", take, "ab\ud83d")
        take("fine")
    fails(ValueError, "surrogate", tokenizer.token_id, "\ud800")


def test_text_of_the_wrong_type(files: Files) -> None:
    for name, take in texts_taken(files.tokenizer).items():
        for wrong in (None, 5, b"ab", bytearray(b"ab"), ["ab"], 1.5, object()):
            if not (name in ("encode", "encode, as text") and isinstance(wrong, (bytes, bytearray))):
                fails(TypeError, "", take, wrong)
    tokenizer = files.tokenizer
    for call in (tokenizer.encode_batch, tokenizer.encode_batch_to_numpy):
        fails(TypeError, "list of texts, not str; for one text use encode", call, "one text")
        fails(TypeError, "", call, None)
        fails(TypeError, "", call, range(10**12))  # no room is made for them
    for wrong in (None, 5, [None]):
        fails(TypeError, "", lambda: list(tokenizer.encode_iterable(wrong)))  # noqa: B023
    for wrong in (None, 5, [97], 1.5):
        fails(TypeError, "", tokenizer.encode, wrong)
        fails(TypeError, "", tokenizer.token_id, wrong)
    for take in texts_taken(tokenizer):
        method = getattr(tokenizer, take, None)
        if method and take not in ("encode_iterable", "encode_parts", "truncate", "split"):
            fails(TypeError, "", method, "text" if "batch" not in take else ["text"], special="yes")


def test_limits(files: Files) -> None:
    tokenizer = files.tokenizer
    fails(ValueError, "max_tokens is at least 0, not -1", tokenizer.truncate, "text", -1)
    fails(ValueError, "max_tokens is at least 1, not 0", tokenizer.split, "text", 0)
    fails(ValueError, "overlap is at least 0, not -1", tokenizer.split, "text", 2, -1)
    fails(ValueError, r"overlap \(2\) must be less than max_tokens \(2\)", tokenizer.split, "text", 2, 2)
    fails(ValueError, "character at byte 1 alone is 3 tokens, more than the 2", tokenizer.split, "a€", 2)
    for wrong in (None, 1.5, "2"):
        fails(TypeError, "", tokenizer.truncate, "text", wrong)
        fails(TypeError, "", tokenizer.split, "text", wrong)
        fails(TypeError, "", tokenizer.split, "text", 5, wrong)
    fails(ValueError, 'unit is "characters" or "bytes", not', tokenizer.encode_with_offsets, "text", unit="words")
    assert tokenizer.truncate("text", 10**30) == "text"
    assert tokenizer.split("text", 2**64) == ["text"]


def test_parts(files: Files) -> None:
    parts = files.tokenizer.encode_parts
    for wrong in (None, 5, [5], [None], [("a", True), None], [(b"a", True)], [(None, True)]):
        fails(TypeError, "", parts, wrong)
    for malformed in (["a"], [("a",)], [("a", True, 1)]):
        fails((ValueError, TypeError), "", parts, malformed)  # type: ignore[arg-type]


def test_ids_that_are_none(files: Files) -> None:
    for name, take in ids_taken(files.tokenizer).items():
        for wrong in (258, 2**31, 2**32 - 1, 2**32, 2**40, -1, -(2**40)):
            fails(KeyError, f"there is no token of id {wrong}", take, [97, wrong])
            if "stream" not in name and "push" not in name and "bytes" not in name.replace("decode_bytes", ""):
                fails(KeyError, rf"id {wrong} \(at index 1\)", take, [97, wrong])
        if name != "decode an array":
            fails(KeyError, "there is no token of id", take, [2**64])
            fails(KeyError, "there is no token of id", take, [10**5000])
            for wrong_type in (None, "97", b"97", 97.0, [97], object()):
                fails(TypeError, "a token id is an int, not", take, [97, wrong_type])
        fails(TypeError, "", take, [1.5])
        if "push" not in name and "prompt" not in name:
            fails(TypeError, "", take, None if "stream" not in name else 5)
        assert take([97, 98]) is not None
    for kind in ("u1", "u2", "u4", "u8", "i2", "i4", "i8", ">u4", "<u4", ">i8"):
        assert files.tokenizer.decode(np.array([97, 98], kind)) == "ab", kind
        assert files.tokenizer.decode(np.array([97, 0, 98, 0], kind)[::2]) == "ab", kind
        if kind[-1] != "1":
            fails(KeyError, r"id 300 \(at index 1\)", files.tokenizer.decode, np.array([97, 300], kind))
    for wrong_array in (np.array([97.0]), np.array([[97]]), np.array(97), np.array(["a"]), np.array([True, False])):
        fails(TypeError, "", files.tokenizer.decode, wrong_array)


@pytest.mark.usefixtures("shared_data")
def test_unused_ids_of_a_published_vocabulary(cl100k: Tokenizer) -> None:
    unused = [id for id in range(cl100k.max_id + 1) if id not in cl100k.vocab]
    assert len(unused) == 16
    for take in ids_taken(cl100k).values():
        fails(KeyError, f"there is no token of id {unused[3]}", take, [97, unused[3]])


def test_unknown_tokens_and_handlers(files: Files) -> None:
    tokenizer = files.tokenizer
    fails(KeyError, 'there is no token b"abc"', tokenizer.token_id, "abc")
    fails(KeyError, r"xff.*xfe", tokenizer.token_id, b"\xff\xfe")
    fails(KeyError, "", tokenizer.token_id, b"")
    fails(LookupError, "nonsense", tokenizer.decode, [255], "nonsense")
    fails(LookupError, "nonsense", lambda: tokenizer.decode_stream(errors="nonsense").push(255))
    fails(UnicodeDecodeError, "invalid start byte", tokenizer.decode, [255], "strict")
    fails(UnicodeDecodeError, "", tokenizer.decode_batch, [[255]], "strict")


def test_a_tokenizer_cannot_be_changed(files: Files) -> None:
    tokenizer = files.tokenizer
    before = tokenizer.fingerprint
    fails(AttributeError, "immutable", setattr, tokenizer, "vocab", {})
    fails(AttributeError, "immutable", setattr, tokenizer, "_core", None)
    fails(AttributeError, "immutable", setattr, tokenizer, "new", 1)
    fails(AttributeError, "immutable", delattr, tokenizer, "_core")
    for view in (tokenizer.vocab, tokenizer.special_tokens):
        fails(TypeError, "", operator.setitem, view, 1, 2)
    fails(TypeError, "", operator.setitem, tokenizer.merges, 0, 1)
    assert tokenizer.fingerprint == before


def test_counts(files: Files) -> None:
    for wrong in (None, 5, [(b"a", 1)], {"a": 1}, {b"a": 1.5}, {b"a": None}, {b"a": "1"}, {None: 1}):
        fails(TypeError, "", PretokenCounts, wrong)
    for count in (-1, 2**63 + 1, 2**64, 2**200):
        fails(ValueError, r"the count of b'a' is .*, not between 0 and 2\^63", PretokenCounts, {b"a": count})
    counts = PretokenCounts({b"a": 1})
    fails(TypeError, "", lambda: counts + {b"a": 1})
    fails(TypeError, "", lambda: counts["a"])  # type: ignore[index]
    fails(TypeError, "", counts.most_common, "1")
    fails(TypeError, "", toksmith.count_pretokens, counts)


def test_what_is_no_error(files: Files) -> None:
    with pytest.warns(UserWarning, match="no pair is left"):
        assert toksmith.train(files.empty, 300).merges == []
    with pytest.warns(UserWarning, match="no pair is left"):
        assert toksmith.train(files.text, 2**32 - 1).vocab_size > 256
    sparse = Tokenizer({**BYTES, 5000: b"ab", 2**32 - 1: b"cd"}, [(b"a", b"b"), (b"c", b"d")])
    assert sparse.encode("abcd") == [5000, 2**32 - 1]
    assert sparse.decode([5000, 2**32 - 1]) == "abcd"
    assert sparse.vocab_size == 258
    fails(KeyError, "id 4999", sparse.decode, [4999])
    assert Tokenizer(special_tokens=None).encode("") == []
    assert files.tokenizer.decode([]) == ""
    assert files.tokenizer.encode_batch([]) == []


# Everything, everywhere


class HostileError(Exception):
    """What the hostile objects raise: it may come out as it is."""


class Hostile:
    """An object of which some methods lie or fail."""

    def __init__(self, **methods: Any) -> None:
        self.name = "+".join(methods)
        self.__class__ = type("Hostile", (Hostile,), {name: self._method(value) for name, value in methods.items()})

    @staticmethod
    def _method(value: Any) -> Any:
        def method(*_: Any) -> Any:
            if value is HostileError:
                raise HostileError
            return value

        return method


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Mapping(dict[Any, Any]):
    def items(self) -> Any:
        return [(1, 2, 3)]


def failing() -> Iterator[Any]:
    yield "ab"
    raise HostileError


VALUES: list[Any] = [
    *[None, True, False, ..., NotImplemented, object(), type, len, print, sys, Hostile, Tokenizer],
    *[0, 1, -1, 5, 255, 256, 300, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, 2**200, -(2**200), 10**5000],
    *[0.0, 1.5, -1e300, math.nan, math.inf, 1j, decimal.Decimal(1), decimal.Decimal("NaN")],
    *["", "a", "ab", "\0", "\ud800", "\udcff", "<s>", "x" * 5000, "gpt2", "(", "*", "[", "**/x", "nowhere/x"],
    *[b"", b"a", b"\xff", b"\0", bytearray(b"ab"), memoryview(b"abcd")[::2], memoryview(b"")],
    *[(), [], {}, set(), frozenset(), [None], [1], [-1], ["a"], ["a", "a"], [""], [b"a"], [[]], [()], ["\ud800"]],
    *[[("a", "b")], [(b"a", b"b")], [(b"a", b"b", b"c")], [("a", True)], [(None, None)], [[97, 98], [2**40]]],
    *[{"a": 1}, {1: "a"}, {b"a": 1}, {b"a": -1}, {None: None}, {"<s>": 2**200}, {0: b"a"}, {"a": None}, AB],
    *[range(3), range(0), range(10**12), slice(3), Path("nowhere"), Path("*"), re.compile("a")],
    *[np.array([97, 98]), np.array([97], ">i8"), np.zeros((2, 2), int), np.array(1), np.array([]), np.array(["a"])],
    *[np.int64(97), np.uint8(1), np.float64(1), np.str_("ab"), np.bytes_(b"ab"), np.bool_(True), np.array([None])],
    *[np.zeros(4, [("a", "i4"), ("b", "u1")]), np.array([1, 2], "m8[s]"), np.array([1.5], "f2")],
    *[Text("ab"), Text("\ud800"), Number(97), Number(2**70), Mapping(a=1), Mapping({b"a": 1})],
    *[PretokenCounts({b"ab": 2}), Tokenizer(), toksmith.patterns.resolve("gpt2"), Tokenizer().decode_stream()],
]
HOSTILE: list[Callable[[], Any]] = [
    *[lambda value=value: value for value in VALUES],  # type: ignore[misc]
    lambda: iter(()),
    lambda: iter([1, 2]),
    lambda: iter(["a", "b"]),
    failing,
    lambda: (chr(c) for c in range(0xD7FE, 0xD802)),
    *[
        (lambda name=name, value=value: Hostile(**{name: value}))  # type: ignore[misc]
        for name, value in [
            ("__len__", 2**62),
            ("__len__", -1),
            ("__len__", HostileError),
            ("__iter__", HostileError),
            ("__iter__", None),
            ("__index__", HostileError),
            ("__index__", 2**70),
            ("__index__", "a"),
            ("__int__", 5),
            ("__bool__", HostileError),
            ("__eq__", HostileError),
            ("__repr__", HostileError),
            ("__repr__", None),
            ("__str__", HostileError),
            ("__fspath__", HostileError),
            ("__fspath__", 5),
            ("__fspath__", "nowhere"),
            ("__fspath__", b"\xff\0"),
            ("__call__", HostileError),
            ("__getitem__", HostileError),
            ("items", HostileError),
            ("keys", HostileError),
            ("finditer", HostileError),
        ]
    ],
    lambda: Hostile(__len__=2**62, __iter__=iter([97])),
    lambda: Hostile(__len__=2**40, __iter__=iter(["a"])),
    lambda: Hostile(finditer=None, pattern=None),
    lambda: Hostile(keys=[1], __getitem__=HostileError),
]


def entry_points(files: Files) -> dict[str, tuple[Call, dict[str, Any]]]:
    """Every public callable, with good arguments by name."""
    tokenizer = files.tokenizer
    text, ids = {"text": "ab<s> cd"}, {"ids": [97, 256]}
    training = {
        "vocab_size": 258,
        "special_tokens": ["<s>"],
        "pattern": "gpt2",
        "ties": "ids",
        "ids": toksmith.IdOrder("last", "gpt2"),
        "min_frequency": 1,
    }
    counting = {name: training[name] for name in ("special_tokens", "pattern")}
    counting |= {"unmatched": "keep", "workers": 2}
    making = {"special_tokens": ["<s>"], "pattern": "gpt2", "unmatched": "keep"}
    special = {"special": True}
    out = files.folder / "out"
    return {
        "train": (toksmith.train, {"files": files.text, **training}),
        "train_bpe": (toksmith.train_bpe, {"input_path": files.text, **training}),
        "count_pretokens": (toksmith.count_pretokens, {"files": [files.text], **counting}),
        "PretokenCounts": (PretokenCounts, {"mapping": {b"ab": 3}, **making}),
        "PretokenCounts.most_common": (PretokenCounts({b"a": 1}).most_common, {"n": 1}),
        "PretokenCounts +": (PretokenCounts({b"a": 1}).__add__, {"other": PretokenCounts({b"b": 1})}),
        "PretokenCounts []": (PretokenCounts({b"a": 1}).__getitem__, {"pretoken": b"a"}),
        "Tokenizer": (Tokenizer, {"vocab": AB, "merges": [(b"a", b"b")], **making}),
        "from_files": (
            Tokenizer.from_files,
            {"vocab_filepath": files.vocab, "merges_filepath": files.merges, **making},
        ),
        "from_tiktoken": (Tokenizer.from_tiktoken, {"path": files.ranks, **making}),
        "load": (Tokenizer.load, {"path": files.native}),
        "save": (tokenizer.save, {"path": out}),
        "save gpt2": (tokenizer.save, {"path": files.folder / "gpt2", "format": "gpt2"}),
        "save tiktoken": (tokenizer.save, {"path": out, "format": "tiktoken"}),
        "encode": (tokenizer.encode, {**text, **special}),
        "encode bytes": (tokenizer.encode, {"text": b"ab\xff", **special}),
        "encode_to_numpy": (tokenizer.encode_to_numpy, {**text, **special}),
        "encode_batch": (tokenizer.encode_batch, {"texts": ["ab"], "workers": 1, **special}),
        "encode_batch_to_numpy": (tokenizer.encode_batch_to_numpy, {"texts": ["ab"], "workers": 1, **special}),
        "encode_iterable": (
            lambda **given: list(tokenizer.encode_iterable(**given)),
            {"iterable": ["ab"], **special},
        ),
        "encode_with_offsets": (tokenizer.encode_with_offsets, {**text, "unit": "bytes", **special}),
        "encode_parts": (tokenizer.encode_parts, {"parts": [("ab", True)]}),
        "encode_parts, one": (
            lambda **part: tokenizer.encode_parts([(part["text"], part["trusted"])]),
            {**text, "trusted": 1},
        ),
        "count": (tokenizer.count, {**text, **special}),
        "truncate": (tokenizer.truncate, {**text, "max_tokens": 3, **special}),
        "split": (tokenizer.split, {**text, "max_tokens": 3, "overlap": 1, **special}),
        "explain": (functools.partial(toksmith.lab.explain, tokenizer), {**text, **special}),
        "decode": (tokenizer.decode, {**ids, "errors": "replace"}),
        "decode_bytes": (tokenizer.decode_bytes, ids),
        "decode_batch": (tokenizer.decode_batch, {"batch": [[97]], "errors": "replace"}),
        "decode_batch, one": (lambda ids: tokenizer.decode_batch([ids]), ids),
        "decode_stream": (
            lambda **given: list(tokenizer.decode_stream(**given)),
            {**ids, "prompt": [97], "errors": "replace"},
        ),
        "DecodeStream": (DecodeStream, {"tokenizer": tokenizer, "prompt": [97], "errors": "replace"}),
        "push": (tokenizer.decode_stream().push, {"id": 97}),
        "token_bytes": (tokenizer.token_bytes, {"id": 97}),
        "token_id": (tokenizer.token_id, {"token": b"ab"}),
        "==": (tokenizer.__eq__, {"other": tokenizer}),
    }


ALLOWED = (TypeError, ValueError, KeyError, OSError, HostileError)


def hammer(folder: Path) -> Iterator[str]:
    """Put every hostile value into every place; yield what came out and should not have."""
    files = Files(folder)
    for name, (call, good) in entry_points(files).items():
        positional = name in ("PretokenCounts +", "PretokenCounts []", "==")
        for place in good:
            for number, make in enumerate(HOSTILE):
                value = make()
                print(f"{name}({place}={number})", file=sys.stderr, flush=True)
                try:
                    if positional:
                        call(value)
                    else:
                        call(**{**good, place: value})
                except ALLOWED:
                    pass
                except LookupError as error:
                    if place != "errors":
                        yield f"{name}({place}=<{number}: {shown(value)}>): {type(error).__name__}: {error}"
                except BaseException as error:
                    if isinstance(error, AttributeError) and (name, place) == ("DecodeStream", "tokenizer"):
                        continue
                    yield f"{name}({place}=<{number}: {shown(value)}>): {type(error).__name__}: {error}"


def shown(value: Any) -> str:
    try:
        return f"{type(value).__name__} {value!r}"[:80]
    except BaseException:
        return f"{type(value).__name__} {getattr(value, 'name', '')}"


@pytest.mark.memory
def test_hostile_arguments_are_only_exceptions(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__)), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, errors="replace")
    last = done.stderr.strip().splitlines()[-1:]
    assert done.returncode == 0, f"the process died at {last}: {done.stderr[-2000:]}"
    assert done.stdout.splitlines()[-1:] == ["done"], last
    assert not done.stdout.splitlines()[:-1], done.stdout
    assert "panicked" not in done.stderr


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))  # what asks for more shall not stop the machine
    for found in hammer(Path(sys.argv[1])):
        print(found, flush=True)
    print("done")


# A text in place of a file, and the other way round


def test_a_text_in_place_of_a_file(tmp_path: Path) -> None:
    tokenizer = toksmith.Tokenizer()
    hint_of_sources = r"texts are given as an iterator, as iter\(\[text\]\)"
    for call, hint in (
        (lambda given: toksmith.train(given, 300), hint_of_sources),
        (lambda given: toksmith.train_bpe(given, 300, []), hint_of_sources),
        (toksmith.count_pretokens, hint_of_sources),
        (lambda given: toksmith.lab.compare([tokenizer], given), hint_of_sources),
        (lambda given: toksmith.lab.compare([tokenizer], {"en": given}), hint_of_sources),
        (lambda given: toksmith.lab.compare([tokenizer], parallel={"en": given, "de": given}), hint_of_sources),
        (lambda given: toksmith.lab.inspect(tokenizer, given), hint_of_sources),
        (lambda given: toksmith.tokenize(given, tokenizer, tmp_path / "out"), hint_of_sources),
        (tokenizer.encode_file, "a text is for encode"),
    ):
        for text in ("the cat sat", "the cat sat\n" * 1000):
            with pytest.raises(OSError, match=rf"\({hint}\)") as caught:
                call(text)
            assert len(str(caught.value)) < 600
    for given in (["the cat sat", "on"], "is it so?"):
        with pytest.raises(FileNotFoundError, match=hint_of_sources):
            toksmith.train(given, 300)
    assert not list(tmp_path.iterdir())


def test_lists_in_place_of_one() -> None:
    tokenizer = toksmith.Tokenizer()
    encoding = toksmith.Encoding(
        "e", pat_str=".", mergeable_ranks={bytes([id]): id for id in range(256)}, special_tokens={}
    )
    for method in (
        tokenizer.encode, tokenizer.encode_to_numpy, tokenizer.encode_with_offsets,
        tokenizer.count, functools.partial(toksmith.lab.explain, tokenizer),
        functools.partial(toksmith.view, tokenizer),
        lambda texts: tokenizer.truncate(texts, 3),
        lambda texts: tokenizer.split(texts, 3), encoding.encode, encoding.encode_ordinary,
    ):  # fmt: skip
        for texts in (["a", "b"], ("a", "b")):
            given = type(texts).__name__
            with pytest.raises(TypeError, match=f"a text is a str, not {given}; encode_batch takes a list of texts"):
                method(texts)
        if method != tokenizer.encode:
            with pytest.raises(TypeError, match="a text is a str, not bytes"):
                method(b"a")
    for decode in (tokenizer.decode, tokenizer.decode_bytes, encoding.decode):
        with pytest.raises(TypeError, match=r"a token id is an int, not list.*; decode_batch takes lists of ids"):
            decode([[1], [2]])
    with pytest.raises(TypeError, match="for one text use encode"):
        tokenizer.encode_batch("a")
