"""Tokenizers that merge characters: saved, pickled, in place of `tokenizers`; what is refused by name."""

import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from character_cases import META, ids_of, make, text_of
from command import run_command
from tokenizers import processors

from toksmith import Tokenizer
from toksmith.compat.huggingface import Tokenizer as Compatible

SOME = (
    *("llama", "old_llama", "gemma", "metaspace_always_True", "metaspace_first_False", "spaces_left"),
    *("scripts_metaspace", "bert_metaspace", "spelled_bytes"),
)


@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("kind", SOME)
def test_saved_and_read_again(kind: str, byte_fallback: bool, tmp_path: Path) -> None:
    theirs = make(kind, byte_fallback=byte_fallback)
    ours = Tokenizer.from_huggingface(theirs)
    ours.save(tmp_path / "native.json")
    loaded = Tokenizer.load(tmp_path / "native.json")
    assert loaded == ours
    assert pickle.loads(pickle.dumps(ours)) == ours
    ours.save_huggingface(tmp_path / "folder")
    assert Tokenizer.from_pretrained(tmp_path / "folder") == ours
    written = tokenizers.Tokenizer.from_file(str(tmp_path / "folder" / "tokenizer.json"))
    assert written.to_str() == theirs.to_str()
    # Without what is known of the file that it came from.
    plain = type(loaded._core).of_state(*loaded._core.state(), "{}")
    Tokenizer._of(plain).save_huggingface(tmp_path / "anew")
    assert Tokenizer.from_huggingface(tmp_path / "anew") == ours


def test_a_pickle_of_another_process() -> None:
    ours = Tokenizer.from_huggingface(make("llama"))
    fields, core = pickle.loads(pickle.dumps(ours)).__reduce__()[1][2:4]
    again = type(ours._core).of_state(fields, core, "{}")
    assert again.characters() == ours._core.characters()
    assert again.encode("a 😀 the", False) == ours.encode("a 😀 the", special=False)
    assert '"characters"' in fields


@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("kind", SOME)
def test_in_place_of_tokenizers(kind: str, byte_fallback: bool) -> None:
    theirs = make(kind, byte_fallback=byte_fallback)
    names = [("<s>", 1)]
    theirs.post_processor = processors.TemplateProcessing(single="<s> $A", pair="$A <s> $B", special_tokens=names)
    ours, rng = Compatible.from_str(theirs.to_str()), random.Random(1)
    assert ours.get_vocab() == theirs.get_vocab()
    for _ in range(30):
        text = text_of(rng, 8)
        _compare(ours.encode(text), theirs.encode(text))
        _compare(ours.encode(text, f"b {text}"), theirs.encode(text, f"b {text}"))
        words = text.split(" ")
        _compare(ours.encode(words, is_pretokenized=True), theirs.encode(words, is_pretokenized=True))
    for _ in range(60):
        ids = ids_of(rng, 6)
        assert ours.decode(ids) == theirs.decode(ids)
        spelled_ids = [theirs.id_to_token(id) for id in ids]
        assert [ours.id_to_token(id) for id in ids] == spelled_ids
        assert [ours.token_to_id(token) for token in spelled_ids] == ids
        assert ours.decoder is not None
        assert ours.decoder.decode(spelled_ids) == theirs.decoder.decode(spelled_ids)
    for token in ("<0x0A>", "<0x0a>", META, " ", "zz", "", "<unk>"):
        assert ours.token_to_id(token) == theirs.token_to_id(token)
    assert tokenizers.Tokenizer.from_str(ours.to_str()).to_str() == theirs.to_str()


def _compare(ours: Any, theirs: Any) -> None:
    for name in ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "sequence_ids"):
        assert getattr(ours, name) == getattr(theirs, name), name


def test_on_the_command_line(tmp_path: Path) -> None:
    theirs, path, text = make("llama"), tmp_path / "tokenizer.json", "Hello  wörld 😀\n"
    theirs.save(str(path))
    done = run_command("encode", "-t", path, stdin=text.encode())
    assert list(map(int, done.stdout.split())) == theirs.encode(text, add_special_tokens=False).ids
    assert run_command("decode", "-t", path, stdin=done.stdout).stdout.decode() == text
    done = run_command("verify", path, "--against", "huggingface")
    assert b"the same ids as tokenizers" in done.stdout, done.stderr


Change = Callable[[dict[str, Any]], Any]


def _without(name: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        data["model"]["vocab"].pop(name)
        data["model"]["merges"] = [pair for pair in data["model"]["merges"] if name not in (*pair, "".join(pair))]

    return change


def _merging(left: str, right: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        vocab = data["model"]["vocab"]
        for token in (left, right, left + right):
            vocab.setdefault(token, len(vocab))
        data["model"]["merges"].append([left, right])

    return change


def _options(**options: Any) -> Change:
    return lambda data: data["model"].update(options)


def _token(name: str) -> Change:
    return lambda data: data["model"]["vocab"].update({name: 9999})


def _with(name: str, part: Any) -> Change:
    return lambda data: data.update({name: part})


def test_a_file_that_does_not_speak_of_unknown_characters(tmp_path: Path) -> None:
    data = json.loads(make("llama").to_str())
    (tmp_path / "with").write_text(json.dumps(data))
    del data["model"]["unk_token"]
    (tmp_path / "without").write_text(json.dumps(data))
    one, other = (Tokenizer.from_huggingface(tmp_path / name) for name in ("with", "without"))
    assert one.encode("low \U0001f600") == other.encode("low \U0001f600")


REFUSED: list[tuple[str, Change]] = [
    (r"\$\.model\.dropout", _options(dropout=-0.5)),
    (r"\$\.pre_tokenizer: more than 8 parts of type Metaspace", _with(
        "pre_tokenizer",
        {"type": "Sequence", "pretokenizers": [{"type": "Metaspace", "replacement": "▁"}] * 9},
    )),
    (r"\$\.pre_tokenizer\.replacement: '__' is not one", _with(
        "pre_tokenizer", {"type": "Metaspace", "replacement": "__"}
    )),
    (r"\$\.pre_tokenizer\.prepend_scheme: 'last'", _with(
        "pre_tokenizer", {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "last"}
    )),
    (r"\$\.pre_tokenizer\.add_prefix_space: it is false", _with(
        "pre_tokenizer", {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False}
    )),
    (r"\$\.decoder: the decoder Other", _with("decoder", {"type": "Other"})),
    (r"\$\.decoder\.decoders\[0\]\.pattern: expected one field", _with(
        "decoder",
        {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {}, "content": ""}]},
    )),
    (r"\$\.decoder: more than 256 parts", _with(
        "decoder", {"type": "Sequence", "decoders": [{"type": "Fuse"}] * 257}
    )),
    (r"\$\.decoder\.start: -1", _with("decoder", {"type": "Strip", "content": " ", "start": -1, "stop": 0})),
]  # fmt: skip


@pytest.mark.parametrize(("message", "change"), REFUSED, ids=[message for message, _ in REFUSED])
def test_what_cannot_be_had_is_refused_by_name(tmp_path: Path, message: str, change: Change) -> None:
    data = json.loads(make("llama").to_str())
    change(data)
    data["added_tokens"] = data["added_tokens"][:3]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message) as raised:
        Tokenizer.from_huggingface(path)
    assert str(raised.value).startswith(str(path))


UNUSUAL: list[Change] = [
    _without("<0x41>"),
    _without(META),
    _options(ignore_merges=True),
    _options(dropout=1.0),
    _options(byte_fallback=False, fuse_unk=False),
    _merging("<0x0A", ">"),
    _merging("<0x0A>", "b"),
    _token("<0x0a>"),
    _token("x y"),
]


@pytest.mark.parametrize("change", UNUSUAL, ids=range(len(UNUSUAL)))
def test_unusual_models(change: Change) -> None:
    data = json.loads(make("llama").to_str())
    change(data)
    data["added_tokens"] = data["added_tokens"][:3]
    theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
    ours, rng = Tokenizer.from_huggingface(_Source(data)), random.Random(6)
    for _ in range(60):
        text = text_of(rng, 8)
        truth = theirs.encode(text, add_special_tokens=False)
        assert ours.encode(text) == truth.ids, text
        assert list(map(tuple, ours.encode_with_offsets(text)[1].tolist())) == truth.offsets, text


def test_older_spellings_of_metaspace() -> None:
    for prefix, scheme in ((True, None), (False, "never"), (None, "first")):
        data = json.loads(make("metaspace_always_True").to_str())
        part = {"type": "Metaspace", "replacement": META, "add_prefix_space": prefix, "prepend_scheme": scheme}
        data["pre_tokenizer"] = {name: value for name, value in part.items() if value is not None}
        theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
        for source in (theirs, _Source(data)):
            ours = Tokenizer.from_huggingface(source)
            for text in ("a b", " a", "", "x  y "):
                assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids


class _Source:
    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def to_str(self) -> str:
        return json.dumps(self._data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=2), r"\$\.characters: version 2 has no such field"),
        (lambda d: d["characters"]["bytes"].pop(), "255 ids, not 256"),
        (lambda d: d["characters"].update(unknown=-1), "`-1`, expected u32"),
        (lambda d: d["characters"]["bytes"].reverse(), "corrupt"),
        (lambda d: d["merges"].insert(0, ["q", "\\xff"]), "refers to a missing token|needs the token"),
    ],
)
def test_saved_files_are_checked(change: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "native.json"
    Tokenizer.from_huggingface(make("llama")).save(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["version"] == 3
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Tokenizer.load(path)
