"""Files: what was saved is loaded again, and whatever is wrong with a file is named."""

import base64
import json
import os
import random
import re
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given, strategies

from toksmith import IdOrder, Tokenizer, patterns, train
from toksmith._core import spell
from toksmith.files import whole_files
from toksmith.training.plan import _escaped as escape

BYTES = {byte: bytes([byte]) for byte in range(256)}
EOT = "<|endoftext|>"


def vocab_of(*tokens: bytes, start: int = 256) -> dict[int, bytes]:
    return BYTES | dict(enumerate(tokens, start))


def left_behind(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


STRANGE = [
    *(b"\xff\xfe", b"\xe4\xb8", b"\xb8\xad", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"),  # no UTF-8
    *(b"\\", b"\\\\", b"\\x41", b"\\xff", b"\\u0041", b"a\\", b"\\n", b"\\\xff\\"),
    *(
        "\u2028\u2029".encode(),
        "\x85".encode(),
        b"\r\n",
        b"\n\n",
        b"\x00\x00",
        b"\x0b\x0c",
        b'"',
        b'","',
        b"[]{}",
        b"\x7f\x1b",
    ),
    *("\ufeff".encode(), "\ufffd".encode(), "\U0010ffff".encode(), "é".encode(), "Ġ".encode(), "👍🏽".encode()),
    *(b"  ", b"# #", b"#version", b"##", b"a b"),
]


HARD_NAMES = ["<|a|>", "a b", " ", "\n", "\\x41", "\u2028", "👍🏽", '"', "#version", "é", "\x00"]


def strange(merges: bool, specials: list[str] = HARD_NAMES) -> Tokenizer:
    """Tokens that are hard to write down, as merges or as ranks, each made byte by byte."""
    tokens: dict[bytes, tuple[bytes, bytes]] = {}
    for token in STRANGE:
        for end in range(2, len(token) + 1):
            tokens.setdefault(token[:end], (token[: end - 1], token[end - 1 : end]))
    return Tokenizer(vocab_of(*tokens), tokens.values() if merges else None, specials, pattern=r"\S+|\s+")


def small() -> Tokenizer:
    return train(iter(["the theatre, they see the thé 中文 # ## # # #"] * 2), 275, special_tokens=[EOT])


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "bytes": Tokenizer,
    "trained": small,
    "strange merges": lambda: strange(True),
    "strange ranks": lambda: strange(False),
    "no merges": lambda: Tokenizer(vocab_of(b"ab"), []),
    "no pattern": lambda: Tokenizer(vocab_of(b"ab"), None, ["x|"], pattern=None),
    "no pattern, dropped": lambda: Tokenizer(vocab_of(b"ab"), None, pattern=None, unmatched="drop"),
    "dropped": lambda: Tokenizer(vocab_of(b"ab"), None, pattern=r"\p{L}+", unmatched="drop"),
    "flags": lambda: Tokenizer(pattern=regex.compile(r"THE|[\w--a]", regex.IGNORECASE | regex.V1)),
    "a pattern that looks like a name": lambda: Tokenizer(pattern=regex.compile("o200k")),
    "surrogates in the pattern": lambda: Tokenizer(pattern="[\udc80-\udcff]+|[^\udc80-\udcff]"),
    "quotes in the pattern": lambda: Tokenizer(pattern='"[^"\\\\]*"|\u2028|[\\s\\S]'),
    **{name: lambda name=name: Tokenizer(pattern=name) for name in patterns.NAMED},
    "r50k of tiktoken": lambda: Tokenizer(
        pattern=[text for text, name in patterns.SPELLINGS.items() if name == "gpt2"][2]
    ),
    "far ids": lambda: Tokenizer({byte * 1000: token for byte, token in BYTES.items()} | {2**32 - 1: b"ab"}, None),
    "equal to an ordinary token": lambda: Tokenizer(vocab_of(b"ab"), [(b"a", b"b")], ["ab", "a"]),
    "two merges into one token": lambda: Tokenizer(
        vocab_of(b"ab", b"bc", b"abc"), [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b"ab", b"c")]
    ),
}


# The native file


@pytest.mark.parametrize("name", TOKENIZERS)
def test_what_is_saved_is_loaded(name: str, tmp_path: Path) -> None:
    tokenizer = TOKENIZERS[name]()
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded == tokenizer
    assert loaded.fingerprint == tokenizer.fingerprint
    assert loaded.vocab == tokenizer.vocab
    assert loaded.merges == tokenizer.merges
    assert loaded.special_tokens == tokenizer.special_tokens
    assert loaded.pattern == tokenizer.pattern
    text = "the # o200k THE ab abc a b \u2028\\x41 中文 👍🏽<|a|>\r\n"
    assert loaded.encode(text) == tokenizer.encode(text)
    data = b"\xff\xfe\xe4\xb8\xb8\xad abc \\xff \x80"
    assert loaded.encode(data) == tokenizer.encode(data)
    # The same tokenizer is the same file, to the byte; a path may be a str.
    loaded.save(str(tmp_path / "again.json"))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert left_behind(tmp_path) == ["again.json", "tokenizer.json"]


@pytest.mark.parametrize("name", ["gpt2", *(pytest.param(n, marks=pytest.mark.long) for n in ("cl100k", "o200k"))])
def test_published_vocabularies_are_saved_and_loaded(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(name)
    tokenizer.save(tmp_path / "t")
    assert Tokenizer.load(tmp_path / "t") == tokenizer


def test_a_person_can_read_the_file(tmp_path: Path) -> None:
    small().save(tmp_path / "t")
    text = (tmp_path / "t").read_text(encoding="utf-8")
    content = json.loads(text)
    assert content["format"] == "toksmith"
    assert content["version"] == 1
    assert content["pattern"] == patterns.GPT2
    assert content["special_tokens"] == {EOT: 0}
    assert [98, "a"] in content["tokens"]
    assert [256, "\\xff"] in content["tokens"]
    assert [" ", "t"] in content["merges"] or ["t", "h"] in content["merges"]
    # A line for each token and merge.
    assert '  [98, "a"],' in text.splitlines()


@given(strategies.lists(strategies.binary(min_size=2, max_size=8) | strategies.text(max_size=4).map(str.encode)))
def test_the_file_is_that_of_the_standard_library(tokens: list[bytes]) -> None:
    # A merge for each token of two bytes; ranks have no list of merges.
    new = list(dict.fromkeys(token for token in tokens if len(token) > 1))
    pairs = [(token[:1], token[1:]) for token in new if len(token) == 2]
    merged = vocab_of(*(left + right for left, right in pairs))
    dump = json.JSONEncoder(ensure_ascii=False).encode
    for vocab, merges in ((vocab_of(*new), None), (merged, pairs)):
        tokenizer = Tokenizer(vocab, merges, pattern=None)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(Path(folder, "t"))
            text = Path(folder, "t").read_text(encoding="utf-8")
            assert Tokenizer.load(Path(folder, "t")) == tokenizer
        rows = ",\n  ".join(f"[{id}, {dump(escape(token))}]" for id, token in vocab.items())
        lines = [f"[{dump(escape(left))}, {dump(escape(right))}]" for left, right in merges or ()]
        made = "null" if merges is None else "[\n  " + ",\n  ".join(lines) + "\n ]"
        assert text.endswith(f'"tokens": [\n  {rows}\n ],\n "merges": {made}\n}}\n')
        assert json.loads(text)["version"] == 1


@pytest.fixture
def native(tmp_path: Path) -> Callable[..., Path]:
    """Writes a native file with fields replaced; `...` leaves one out."""

    def write(**fields: Any) -> Path:
        path = tmp_path / "native.json"
        Tokenizer(vocab_of(b"ab"), [(b"a", b"b")], ["x|"], pattern=r"\w+").save(path)
        content = json.loads(path.read_text(encoding="utf-8")) | fields
        path.write_text(json.dumps({k: v for k, v in content.items() if v is not ...}), encoding="utf-8")
        return path

    return write


ROWS = [[id, token.decode("latin-1") if id < 128 and id != 92 else f"\\x{id:02x}"] for id, token in BYTES.items()]

BAD_NATIVE: list[tuple[dict[str, Any], str]] = [
    ({"format": ...}, r"\$\.format: not a toksmith file"),
    ({"format": "other"}, r"\$\.format: not a toksmith file"),
    ({"version": 6}, r"\$\.version: 6; this toksmith reads versions 1 to 5"),
    ({"version": "1"}, r"\$\.version: .*string"),
    ({"version": True}, r"\$\.version: .*boolean `true`"),
    ({"version": ...}, r"\$\.version: the field is missing"),
    *(
        ({field: ...}, rf"\$\.{field}: the field is missing")
        for field in ("pattern", "unmatched", "tokens", "merges", "unicode")
    ),
    ({"tokens": {}}, r"\$\.tokens: invalid type: map"),
    ({"tokens": None}, r"\$\.tokens: invalid type: null"),
    ({"merges": "ab"}, r"\$\.merges: invalid type: string"),
    ({"special_tokens": []}, r"\$\.special_tokens: .*expected a JSON object"),
    ({"pattern": 5}, r"\$\.pattern: invalid type: integer `5`, expected a string"),
    ({"pattern_flags": True}, r"\$\.pattern_flags: invalid type: boolean `true`, expected u32"),
    ({"pattern_flags": None}, r"\$\.pattern_flags: invalid type: null, expected u32"),
    ({"pattern_flags": -1}, r"\$\.pattern_flags: .*-1.*, expected u32"),
    ({"pattern_flags": 2**70}, r"\$\.pattern_flags: .*, expected u32"),
    ({"pattern_flags": 0x200}, "flags 0x200"),  # DEBUG, which prints
    ({"pattern_flags": 0x400}, "matches backwards"),
    ({"pattern": "("}, r"the pattern '\(' is broken: missing \) at position 1"),
    ({"pattern": "(", "pattern_flags": 2}, r"the pattern '\(' is broken"),
    ({"unmatched": "lose"}, '"lose"'),
    ({"tokens": [*ROWS, [256, "ab", 1]]}, r"\$\.tokens\[256\]: .*256.* is not \[id, text\]"),
    ({"tokens": [*ROWS, "ab"]}, r"\$\.tokens\[256\]: .*ab"),
    ({"tokens": [*ROWS, [256, None]]}, r"\$\.tokens\[256\]"),
    ({"tokens": [*ROWS, [256.0, "ab"]]}, r"\$\.tokens\[256\]: .*256\.0"),
    ({"tokens": [*ROWS, ["256", "ab"]]}, r"\$\.tokens\[256\]: .*expected u32"),
    ({"tokens": [*ROWS, [True, "ab"]]}, r"\$\.tokens\[256\]: .*expected u32"),
    ({"tokens": [*ROWS, [-1, "ab"]]}, r"\$\.tokens\[256\]: .*`-1`, expected u32"),
    ({"tokens": [*ROWS, [2**32, "ab"]]}, f"`{2**32}`, expected u32"),
    ({"tokens": [*ROWS, [97, "ab"]]}, r"id 97 is given to b\"ab\" but belongs to b\"a\""),
    ({"tokens": [*ROWS, [256, "ab"], [300, "ab"]]}, r"b\"ab\" has two ids, 256 and 300"),
    ({"tokens": [*ROWS, [256, "ab"], [298, ""], [299, ""]]}, r"b\"\" has two ids, 298 and 299"),
    ({"tokens": [[256, "ab"], *ROWS[:-1]]}, "single byte 0xff"),
    ({"tokens": []}, "single byte 0x00"),
    ({"tokens": [*ROWS, [256, "\\q"]]}, r"\$\.tokens\[256\]: a backslash in"),
    ({"tokens": [*ROWS, [256, "a\\"]]}, r"\$\.tokens\[256\]: a backslash in"),
    ({"tokens": [*ROWS, [256, "\\xFF"]]}, r"\$\.tokens\[256\]: a backslash in"),
    ({"tokens": [*ROWS, [256, "a\ud800"]]}, r"\$\.tokens\[256\]: .*hex escape"),
    ({"merges": [["a", "b"], ["a"]]}, r"\$\.merges\[1\]: .*a.* is not \[left, right\]"),
    ({"merges": ["ab"]}, r"\$\.merges\[0\]: .*ab"),
    ({"merges": [["a", 5]]}, r"\$\.merges\[0\]"),
    ({"merges": [["a", "\\q"]]}, r"\$\.merges\[0\]: a backslash"),
    ({"merges": [["b", "a"]]}, r"merge number 0 \(b\"b\", b\"a\"\) needs the token b\"ba\""),
    ({"merges": [["x", "|"]]}, r"merge number 0 \(b\"x\", b\"\|\"\) needs|special token b\"x\|\""),
    ({"merges": [["a", "b"], ["a", "b"]]}, "merge number 1 .* is the same as number 0"),
    ({"merges": [["", "a"]]}, "merge number 0"),
    ({"special_tokens": {"": 300}}, "special token number 0 is empty"),
    ({"special_tokens": {"y|": -1}}, r"\$\.special_tokens.\"y\|\": the id is \"-1"),
    ({"special_tokens": {"y|": None}}, r"\$\.special_tokens.\"y\|\": the id is \"null"),
    ({"special_tokens": {"y|": 97}}, r"id 97 is given to b\"y\|\" but belongs to b\"a\""),
    ({"special_tokens": {"a": 97}}, r"b\"a\" is given id 97"),
    ({"special_tokens": {"y\ud800": 300}}, "hex escape"),
]


@pytest.mark.parametrize(("fields", "message"), BAD_NATIVE, ids=lambda value: str(value)[:40])
def test_malformed_native_files(native: Callable[..., Path], fields: dict[str, Any], message: str) -> None:
    path = native(**fields)
    with pytest.raises(ValueError, match=message) as caught:
        Tokenizer.load(path)
    assert str(caught.value).startswith(str(path))


BROKEN_JSON: list[tuple[bytes, str]] = [  # messages of both readers
    (b"", "line 1: .*not JSON"),
    (b'{\n"format": "toksmith",\n]', "line 3: .*not JSON"),
    (b"[]", "expected a JSON object"),
    (b"5", "expected a JSON object"),
    (b"null", "expected a JSON object"),
    (b"[" * 1_000_000, "nested too deep|expected a JSON object"),
    (b'{"a":' * 100_000, "nested too deep|EOF"),
    (b'{"version": ' + b"9" * 10_000 + b"}", "digits|toksmith"),
    (b"\xef\xbb\xbf{}", "BOM|not JSON"),
    (b'{"format": "toks\xffmith"}', "not UTF-8 at byte 16"),
    ('{"format": "toksmith"}'.encode("utf-16"), "not UTF-8 at byte 0"),
]


@pytest.mark.parametrize(("data", "message"), BROKEN_JSON, ids=lambda value: str(value[:20]))
def test_files_that_are_no_json(tmp_path: Path, data: bytes, message: str) -> None:
    path, merges = tmp_path / "file.json", tmp_path / "merges.txt"
    path.write_bytes(data)
    merges.write_bytes(b"")
    for load in (Tokenizer.load, lambda path: Tokenizer.from_files(path, merges)):
        with pytest.raises(ValueError, match=message) as caught:
            load(path)
        assert str(caught.value).startswith(str(path))


def test_a_key_that_is_there_twice(native: Callable[..., Path]) -> None:
    path = native()
    text = path.read_text(encoding="utf-8")
    for once, twice in (
        ('"unmatched": "keep"', '"unmatched": "keep", "unmatched": "drop"'),
        ('"x|": 257', '"x|": 257, "x|": 258'),
    ):
        assert once in text
        path.write_text(text.replace(once, twice), encoding="utf-8")
        with pytest.raises(ValueError, match="is there twice") as caught:
            Tokenizer.load(path)
        assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("load", [Tokenizer.load, lambda path: Tokenizer.from_tiktoken(path, pattern=None)])
def test_files_that_cannot_be_read(load: Callable[[Any], Tokenizer], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "none"))):
        load(tmp_path / "none")
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        load(tmp_path)
    for wrong in (None, 5.5, ["a"]):
        with pytest.raises(TypeError):
            load(wrong)
    with pytest.raises(ValueError, match=r"null|NUL"):
        load("a\0b")


def test_either_of_two_files_may_be_missing(tmp_path: Path) -> None:
    Tokenizer().save(tmp_path, format="gpt2")
    vocab, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
    Tokenizer.from_files(vocab, merges)
    with pytest.raises(FileNotFoundError, match=r"no\.json"):
        Tokenizer.from_files(tmp_path / "no.json", merges)
    with pytest.raises(FileNotFoundError, match=r"no\.txt"):
        Tokenizer.from_files(vocab, tmp_path / "no.txt")


def test_another_unicode_version_is_said(native: Callable[..., Path], recwarn: pytest.WarningsRecorder) -> None:
    path = native(unicode="13.0")
    here = patterns.installed_unicode()
    with pytest.warns(
        UserWarning, match=rf"native\.json: made under Unicode \"13\.0\"; its pattern runs under \"{here}\" here"
    ) as caught:
        loaded = Tokenizer.load(path)
    assert caught[0].filename == __file__
    # The Unicode version is part of the tokenizer: this one runs under that of this machine.
    assert loaded == Tokenizer.load(native())
    assert patterns.of_core(loaded._core).unicode == here
    with pytest.warns(UserWarning, match="Unicode None"):
        Tokenizer.load(native(unicode=None))
    Tokenizer(pattern=None).save(path)
    assert json.loads(path.read_text(encoding="utf-8"))["unicode"] is None
    recwarn.clear()
    Tokenizer.load(path)
    assert not recwarn.list


def test_the_scanner_has_the_version_of_its_tables(tmp_path: Path) -> None:
    from toksmith import _core

    Tokenizer().save(tmp_path / "t")
    assert json.loads((tmp_path / "t").read_text(encoding="utf-8"))["unicode"] == _core.UNICODE_VERSION
    # The pinned `regex` is the one that the tables were made from. `make test-oldest` has an older one.
    assert "OLDEST" in os.environ or patterns.installed_unicode() == _core.UNICODE_VERSION


# GPT-2's files


def gpt2_files(folder: Path, vocab: Any, merges: str | bytes) -> tuple[Path, Path]:
    paths = folder / "vocab.json", folder / "merges.txt"
    paths[0].write_text(vocab if isinstance(vocab, str) else json.dumps(vocab), encoding="utf-8")
    paths[1].write_bytes(merges if isinstance(merges, bytes) else merges.encode())
    return paths


SPELLED = {spell(token): id for id, token in BYTES.items()}


def test_gpt2_round_trip(tmp_path: Path) -> None:
    tokenizer = small()
    tokenizer.save(tmp_path / "new" / "folder", format="gpt2")
    assert left_behind(tmp_path) == ["new/folder/merges.txt", "new/folder/vocab.json"]
    loaded = Tokenizer.from_files(tmp_path / "new/folder/vocab.json", str(tmp_path / "new/folder/merges.txt"), [EOT])
    assert loaded == tokenizer
    assert (tmp_path / "new/folder/merges.txt").read_bytes().startswith(b"#version: 0.2\n")


@pytest.mark.parametrize("merges", [True, False])
def test_strange_tokens_in_gpt2s_files(merges: bool, tmp_path: Path) -> None:
    # None of them equal to an ordinary token: such a file could not tell the two apart.
    specials = ["<|a|>", "<|b c|>", "\U0001f600\u2028", "\\x42", "é\n"]
    tokenizer = strange(merges, specials)
    with pytest.warns(UserWarning, match=r"hold no pattern: load them with pattern='\\\\S\+\|\\\\s\+'"):
        tokenizer.save(tmp_path, format="gpt2")
    loaded = Tokenizer.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", specials, pattern=r"\S+|\s+")
    assert loaded.vocab == tokenizer.vocab
    assert loaded.merges == tokenizer.merges
    assert loaded.special_tokens == tokenizer.special_tokens
    assert (loaded == tokenizer) is merges
    for token in (*STRANGE, b"".join(STRANGE)):
        assert loaded.encode(token) == tokenizer.encode(token)


@pytest.mark.parametrize("name", [pytest.param("gpt2", marks=pytest.mark.long), "gpt2_ranks"])
def test_published_gpt2_round_trip(
    name: str, gpt2: Tokenizer, gpt2_files: tuple[Path, Path], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(name)
    tokenizer.save(tmp_path, format="gpt2")
    assert Tokenizer.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", [EOT]) == gpt2
    assert json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8")) == json.loads(
        gpt2_files[0].read_text(encoding="utf-8")
    )
    ours, theirs = (path.read_text(encoding="utf-8").split("\n") for path in (tmp_path / "merges.txt", gpt2_files[1]))
    assert [line for line in ours if not line.startswith("#version")] == [
        line for line in theirs if not line.startswith("#version")
    ]


def test_the_first_line_and_the_merge_of_two_hashes(tmp_path: Path) -> None:
    vocab = SPELLED | {"##": 256, "####": 257}
    merges = [(b"#", b"#"), (b"##", b"##")]
    for head in ("", "#version: 0.2\n", "#version: 0.2 - made by hand\n", "#version\r\n"):
        for end in ("\n", "\r\n", "\n\n"):
            paths = gpt2_files(tmp_path, vocab, head + end.join(["# #", "## ##", ""]))
            assert list(Tokenizer.from_files(*paths).merges) == merges
    assert list(Tokenizer.from_files(*gpt2_files(tmp_path, vocab, "# #\n## ##")).merges) == merges
    # Only the first line may be one.
    with pytest.raises(ValueError, match=r"merges\.txt: merge number 1 \(b\"#version:\", b\"0\.2\"\) needs"):
        Tokenizer.from_files(*gpt2_files(tmp_path, vocab, "# #\n#version: 0.2\n"))
    # A merge that begins as the first line does survives a round trip.
    tokens = [b"#version"[:end] for end in range(2, 9)]
    tokenizer = Tokenizer(
        vocab_of(*tokens, b"#versionx"), [*((t[:-1], t[-1:]) for t in tokens), (b"#version", b"x")][::-1]
    )
    # `tokenizers` takes every such line for the first one, and loses the merge.
    pytest.importorskip("tokenizers", reason="reads such lines otherwise")
    with pytest.raises(ValueError, match=r"b'#versionx' has, around id number 0, \[.*\] here and"):
        tokenizer.save(tmp_path, format="gpt2")
    tokenizer.save(tmp_path, verify=False, format="gpt2")
    assert Tokenizer.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt") == tokenizer


BAD_VOCAB: list[tuple[Any, str]] = [
    (SPELLED | {"ab": -1}, "the id of token 'ab' is -1"),
    (SPELLED | {"ab": 2**32}, f"the id of token 'ab' is {2**32}"),
    (SPELLED | {"ab": 1.0}, "the id of token 'ab' is 1.0"),
    (SPELLED | {"ab": None}, "the id of token 'ab' is null"),
    (SPELLED | {"ab": True}, "the id of token 'ab' is true"),
    (SPELLED | {"ab": 97}, r"id 97 is given to b\"ab\" but belongs to b\"a\": every"),
    (SPELLED | {"a b": 256}, "token 'a b' holds a character that stands for no byte.*list it in special_tokens"),
    (SPELLED | {"中": 256}, "token '中' holds a character"),
    ({k: v for k, v in SPELLED.items() if v != 7}, "single byte 0x07"),
    ('{"a": 1, "b": 2, "a": 3}', "'a' is there twice"),
]


@pytest.mark.parametrize(("vocab", "message"), BAD_VOCAB, ids=lambda value: str(value)[-40:])
def test_malformed_vocabularies(tmp_path: Path, vocab: Any, message: str) -> None:
    paths = gpt2_files(tmp_path, vocab, "#version: 0.2\n")
    with pytest.raises(ValueError, match=message) as caught:
        Tokenizer.from_files(*paths)
    assert str(caught.value).startswith(str(paths[0]))


BAD_MERGES: list[tuple[str | bytes, str]] = [
    ("#version: 0.2\na b\nab\n", "line 3: expected two tokens with one space between, got 'ab'"),
    ("a b c\n", "line 1: expected two tokens"),
    ("a  b\n", "line 1: expected two tokens"),
    (" a b\n", "line 1: expected two tokens"),
    ("a b \n", "line 1: expected two tokens"),
    ("a\tb\n", "line 1: expected two tokens"),
    ("a 中\n", "line 1: expected two tokens"),
    ("#version: 0.2\n\na b\nb c\n", r"merge number 1 \(b\"b\", b\"c\"\) needs the token b\"bc\", which is not in"),
    ("xy z\n", r"merge number 0 .* needs the token b\"xy\""),
    ("#version: 0.2\na b\n\na b\n", "merge number 1 .* is the same as number 0"),
    (b"a b\n\xff b\n", "not UTF-8 at byte 4"),
    ("x " + "y" * 100_000, "merge number 0"),
    ("x" * 100_000, r"line 1: expected two tokens with one space between, got 'x{60}…'$"),
]


@pytest.mark.parametrize(("merges", "message"), BAD_MERGES, ids=lambda value: str(value)[:40])
def test_malformed_merges(tmp_path: Path, merges: str | bytes, message: str) -> None:
    paths = gpt2_files(tmp_path, SPELLED | {"ab": 256}, merges)
    with pytest.raises(ValueError, match=message) as caught:
        Tokenizer.from_files(*paths)
    assert str(caught.value).startswith(tuple(map(str, paths)))


def test_special_tokens_of_a_vocabulary(tmp_path: Path) -> None:
    # Spelled or not; one that looks like the spelling of a token that merges need is another token.
    vocab = SPELLED | {"Ġt": 256, "Ġth": 257, "<| a|>": 258, spell(b"<| b|>"): 259}
    paths = gpt2_files(tmp_path, vocab, "Ġ t\nĠt h\n")
    loaded = Tokenizer.from_files(*paths, ["<| a|>", "<| b|>", "<| c|>", "Ġth"])
    assert loaded.special_tokens == {"<| a|>": 258, "<| b|>": 259, "<| c|>": 260, "Ġth": 261}
    assert loaded.encode(" th Ġth<| a|>") == [257, 32, 261, 258]
    assert Tokenizer.from_files(*paths, {"<| a|>": 258}).special_tokens == {"<| a|>": 258}
    with pytest.raises(ValueError, match="list it in special_tokens"):
        Tokenizer.from_files(*paths)


# tiktoken's file

RANKS = b"".join(base64.b64encode(token) + b" %d\n" % id for id, token in BYTES.items())


def rank_file(folder: Path, more: bytes, head: bytes = RANKS) -> Path:
    path = folder / "ranks.tiktoken"
    path.write_bytes(head + more)
    return path


def test_tiktoken_round_trip(tmp_path: Path) -> None:
    trained = train(iter(["the theatre, they see the thé 中文"] * 2), 275, special_tokens=[EOT], ids=IdOrder("last"))
    for tokenizer in (trained, TOKENIZERS["strange ranks"]()):
        path = tmp_path / "t.tiktoken"
        tokenizer.save(path, format="tiktoken")
        loaded = Tokenizer.from_tiktoken(path, pattern=tokenizer.pattern, special_tokens=tokenizer.special_tokens)
        assert loaded.vocab == tokenizer.vocab
        assert loaded.special_tokens == tokenizer.special_tokens
        text = "the thé theatre 中文# # \\x41\u2028" + EOT
        assert loaded.encode(text) == tokenizer.encode(text)
        specials = set(tokenizer.special_tokens.values())
        assert len(path.read_bytes().splitlines()) == tokenizer.vocab_size - len(specials)
        again = tmp_path / "again.tiktoken"
        loaded.save(again, format="tiktoken")
        assert again.read_bytes() == path.read_bytes()


def test_published_rank_files_round_trip(
    shared_data: Path, gpt2: Tokenizer, gpt2_ranks: Tokenizer, cl100k: Tokenizer, tmp_path: Path
) -> None:
    for tokenizer, name in ((gpt2, "gpt2"), (gpt2_ranks, "gpt2"), (cl100k, "cl100k_base")):
        tokenizer.save(tmp_path / name, format="tiktoken")
        assert (tmp_path / name).read_bytes() == (shared_data / f"vocabs/{name}.tiktoken").read_bytes()


def test_lines_of_a_rank_file(tmp_path: Path) -> None:
    for more in (
        b"YWI= 256",
        b"YWI= 256\n",
        b"YWI= 256\r\n",
        b"\n\nYWI= 256\n\n",
        b"YWI=\t256\n",
        b"YWI= 0000000256\n",
    ):
        assert Tokenizer.from_tiktoken(rank_file(tmp_path, more), pattern=None).encode("ab") == [256]
    assert (
        Tokenizer.from_tiktoken(rank_file(tmp_path, b"YWI= 4294967295"), pattern=None).encode("abab")
        == [2**32 - 1] * 2
    )


BAD_RANKS: list[tuple[bytes, str]] = [
    (b"YWI=\n", 'line 257: expected a token in base64 and its id, got b"YWI="'),
    (b"YWI= 256 7\n", "line 257: expected a token in base64"),
    (b"YWI= x\n", 'line 257: the id b"x" is not a whole number'),
    (b"YWI= -1\n", 'line 257: the id b"-1"'),
    (b"YWI= 1.0\n", 'line 257: the id b"1.0"'),
    (b"YWI= 0x100\n", 'line 257: the id b"0x100"'),
    (b"YWI= 1_000\n", 'line 257: the id b"1_000"'),
    ("YWI= ٣\n".encode(), r"line 257: the id b\"\\xd9\\xa3\""),
    (b"YWI= 4294967296\n", 'line 257: the id b"4294967296"'),
    (b"YWI= " + b"9" * 10_000, 'line 257: the id b"9999'),
    (b"YWI 256\n", 'line 257: b"YWI" is not base64'),
    (b"Y*I= 256\n", r"line 257: b\"Y\*I=\" is not base64"),
    (b"\nYWI=YWI= 256\n", 'line 258: b"YWI=YWI=" is not base64'),
    (b"==A= 256\n", 'line 257: b"==A=" is not base64'),
    (b"YWI= 256\nYmM= 256\n", 'line 258: the id 256 of b"bc" belongs to another token'),
    (b"YWI= 97\n", 'line 257: the id 97 of b"ab" belongs to another token'),
    (b"YWI= 256\nYWI= 257\n", r"b\"ab\" has two ids, 256 and 257"),
    (b"\xff 256\n", r"line 257: b\"\\xff\" is not base64"),
]


@pytest.mark.parametrize(("more", "message"), BAD_RANKS, ids=lambda value: str(value)[:40])
def test_malformed_rank_files(tmp_path: Path, more: bytes, message: str) -> None:
    path = rank_file(tmp_path, more)
    with pytest.raises(ValueError, match=message) as caught:
        Tokenizer.from_tiktoken(path, pattern=None)
    assert str(caught.value).startswith(str(path))


def test_rank_files_that_lack_bytes(tmp_path: Path) -> None:
    half = b"".join(RANKS.splitlines(keepends=True)[:128])
    for head in (half, b"", RANKS[: len(RANKS) // 2]):
        with pytest.raises(ValueError, match=r"ranks\.tiktoken: (.*single byte 0x(80|00)|line \d+: )"):
            Tokenizer.from_tiktoken(rank_file(tmp_path, b"", head), pattern=None)


# What a format cannot hold


def test_ranks_that_merges_cannot_hold(tmp_path: Path) -> None:
    # b"abcd" is reached by no pair, b"ab" by one.
    tokenizer = Tokenizer(vocab_of(b"ab", b"abcd"), None)
    with pytest.raises(
        ValueError, match=r"token 257 \(b\"abcd\"\) does not re-encode to itself.*save\(\) keeps everything"
    ):
        tokenizer.save(tmp_path / "folder", format="gpt2")
    assert not (tmp_path / "folder").exists()
    tokenizer.save(tmp_path / "t", format="tiktoken")
    assert Tokenizer.from_tiktoken(tmp_path / "t", pattern="gpt2").encode("abcd abcde") == tokenizer.encode(
        "abcd abcde"
    )


@pytest.mark.parametrize(
    ("vocab", "merges", "message"),
    [
        (vocab_of(b"ab"), [], r"token 256 \(b\"ab\"\) does not re-encode to itself"),
        (
            vocab_of(b"bc", b"abc", b"ab"),
            [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c")],
            r'the merge \(b"ab", b"c"\) makes id 257',
        ),
        (
            vocab_of(b"ab", b"bc", b"abc"),
            [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")],
            r'token 258 \(b"abc"\) does not',
        ),
        (vocab_of(b"ab", b"abc"), [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c")][:2] + [(b"a", b"a")][:0], None),
        (vocab_of(b"ab", b"bc", b"abc"), [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b"ab", b"c")], "makes id 258"),
    ],
)
def test_merges_that_ranks_cannot_hold(tmp_path: Path, vocab: Any, merges: Any, message: str | None) -> None:
    tokenizer = Tokenizer(vocab, merges, pattern=None)
    if message is None:
        tokenizer.save(tmp_path / "t", format="tiktoken")
        return
    with pytest.raises(ValueError, match=message):
        tokenizer.save(tmp_path / "t", format="tiktoken")
    assert left_behind(tmp_path) == []


def test_two_ids_for_the_same_bytes_in_a_vocabulary(tmp_path: Path) -> None:
    tokenizer = Tokenizer(vocab_of(b"ab"), [(b"a", b"b")], ["ab"])
    with pytest.raises(ValueError, match=r"vocab\.json cannot hold two ids, 256 and 257, for b\"ab\""):
        tokenizer.save(tmp_path, format="gpt2")
    assert left_behind(tmp_path) == []
    tokenizer.save(tmp_path / "t", format="tiktoken")
    assert Tokenizer.from_tiktoken(tmp_path / "t", pattern="gpt2", special_tokens={"ab": 257}).special_tokens == {
        "ab": 257
    }


def vocabularies(seed: int) -> Iterator[tuple[Tokenizer, random.Random]]:
    """Small random vocabularies; about one in ten can be held by either format."""
    rng = random.Random(seed)
    for _ in range(400):
        tokens, merges = [b"a", b"b", b"c"], []
        for _ in range(rng.randrange(1, 7)):
            pair = (rng.choice(tokens), rng.choice(tokens))
            if pair not in merges and pair[0] + pair[1] not in tokens:
                merges.append(pair)
                tokens.append(pair[0] + pair[1])
        if rng.random() < 0.2:
            rng.shuffle(merges)
        vocab = vocab_of(*tokens[3:])
        yield Tokenizer(vocab, merges if rng.random() < 0.7 else None, pattern=None), rng


def test_what_is_saved_in_the_other_kind_encodes_all_text_alike(tmp_path: Path) -> None:
    saved = refused = 0
    for tokenizer, rng in vocabularies(1):
        other = None
        try:
            if tokenizer._core.has_merges():
                tokenizer.save(tmp_path / "t", format="tiktoken")
                other = Tokenizer.from_tiktoken(tmp_path / "t", pattern=None)
            else:
                with pytest.warns(UserWarning, match="no pattern"):
                    tokenizer.save(tmp_path, format="gpt2")
                other = Tokenizer.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", pattern=None)
        except ValueError as error:
            assert "does not re-encode" in str(error) or "does not come after" in str(error)
            refused += 1
        except pytest.fail.Exception:
            refused += 1  # no warning, as it was refused before
        if other is None:
            continue
        saved += 1
        for _ in range(60):
            text = "".join(rng.choice("abc") for _ in range(rng.randrange(12)))
            assert other.encode(text) == tokenizer.encode(text), (tokenizer.vocab, tokenizer.merges, text)
    assert saved > 50
    assert refused > 50


# Never half a file


class DiskFull(OSError):
    pass


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flushing to the disk fails, after everything was handed over."""

    def fail(_: int) -> None:
        raise DiskFull(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)


SAVES: dict[str, tuple[Callable[[Tokenizer, Path], None], list[str]]] = {
    "native": (lambda tokenizer, folder: tokenizer.save(folder / "t"), ["t"]),
    "tiktoken": (lambda tokenizer, folder: tokenizer.save(folder / "t", format="tiktoken"), ["t"]),
    "gpt2": (lambda tokenizer, folder: tokenizer.save(folder, format="gpt2"), ["merges.txt", "vocab.json"]),
    "huggingface": (
        lambda tokenizer, folder: tokenizer.save_huggingface(folder),
        ["merges.txt", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.json"],
    ),
}


@pytest.mark.parametrize("kind", SAVES)
def test_a_full_disk_leaves_the_old_file(kind: str, tmp_path: Path, full_disk: None) -> None:
    save, names = SAVES[kind]
    for old in ({}, dict.fromkeys(names, b"old")):
        for name, data in old.items():
            (tmp_path / name).write_bytes(data)
        with pytest.raises(DiskFull):
            save(Tokenizer(), tmp_path)
        assert {name: (tmp_path / name).read_bytes() for name in left_behind(tmp_path)} == old


def test_a_failure_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"new " * 100_000
        raise KeyboardInterrupt

    (tmp_path / "t").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        whole_files.write(tmp_path / "t", parts())
    assert left_behind(tmp_path) == ["t"]
    assert (tmp_path / "t").read_bytes() == b"old"


def test_of_two_files_both_are_new_or_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = small(), Tokenizer()
    first.save(tmp_path, format="gpt2")
    before = {name: (tmp_path / name).read_bytes() for name in left_behind(tmp_path)}
    calls = iter(range(10))

    def fail_at_the_second(_: int) -> None:
        if next(calls) == 1:
            raise DiskFull(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail_at_the_second)
    with pytest.raises(DiskFull):
        second.save(tmp_path, format="gpt2")
    assert {name: (tmp_path / name).read_bytes() for name in left_behind(tmp_path)} == before


@pytest.mark.parametrize("kind", SAVES)
def test_places_where_no_file_can_be(kind: str, tmp_path: Path) -> None:
    save, _ = SAVES[kind]
    (tmp_path / "file").write_bytes(b"")
    if kind in ("gpt2", "huggingface"):
        with pytest.raises(FileExistsError, match="file"):
            save(Tokenizer(), tmp_path / "file")
    else:
        with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "none" / "t"))):
            save(Tokenizer(), tmp_path / "none")
        (tmp_path / "t").mkdir()
        with pytest.raises(OSError, match=re.escape(str(tmp_path / "t"))):
            save(Tokenizer(), tmp_path)
    assert left_behind(tmp_path) == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_permissions(tmp_path: Path) -> None:
    def mode(name: str) -> int:
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    before = os.umask(0o027)
    try:
        Tokenizer().save(tmp_path / "new")
        assert mode("new") == 0o640
        (tmp_path / "kept").write_bytes(b"")
        (tmp_path / "kept").chmod(0o604)
        Tokenizer().save(tmp_path / "kept")
        assert mode("kept") == 0o604
        assert Tokenizer.load(tmp_path / "kept") == Tokenizer()
    finally:
        os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
def test_links_and_pipes_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "t")
    for _ in range(2):
        Tokenizer().save(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert Tokenizer.load(tmp_path / "real" / "t") == Tokenizer()
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    Tokenizer().save(tmp_path / "pipe")
    reader.join(10)
    assert read == [(tmp_path / "link").read_bytes()]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_names_of_any_length_and_script(tmp_path: Path) -> None:
    for name in ("a" * 250, "中" * 84, "žluť 中文.json", ".hidden", "no suffix"):
        Tokenizer().save(tmp_path / name)
        assert Tokenizer.load(tmp_path / name) == Tokenizer()
