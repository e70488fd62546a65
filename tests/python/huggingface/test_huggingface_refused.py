"""What `from_huggingface` refuses, and by which name; files of strangers."""

import json
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from huggingface_cases import byte_level, content, make, sequence
from tokenizers import normalizers, pre_tokenizers

from toksmith import Tokenizer

Change = Callable[[dict[str, Any]], Any]


def with_pre_tokenizer(part: Any) -> Change:
    return lambda data: data.update(pre_tokenizer=part)


def with_normalizer(part: Any) -> Change:
    return lambda data: data.update(normalizer=part)


def with_model(**fields: Any) -> Change:
    return lambda data: data["model"].update(fields)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
REGEX = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
TOKEN = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)

REFUSED: list[tuple[str, Change]] = [
    (r"\$\.version", lambda data: data.update(version="2.0")),
    (r"'model' is missing", lambda data: data.pop("model")),
    (r"\$\.model: a model of type WordPiece", with_model(type="WordPiece")),
    (r"\$\.model\.dropout: expected a number from 0 to 1, got 1\.5", with_model(dropout=1.5)),
    (r"\$\.model\.dropout: expected a number from 0 to 1, got true", with_model(dropout=True)),
    (r"\$\.model\.continuing_subword_prefix: expected a text", with_model(continuing_subword_prefix=1)),
    (r"\$\.model\.merges\[0\]: the token 'h' is shorter than", with_model(
        continuing_subword_prefix="##", merges=["t h"]
    )),
    (r"\$\.pre_tokenizer\.length: 0 is not a number", with_pre_tokenizer({"type": "FixedLength", "length": 0})),
    (r"\$\.model\.fuse_unk", with_model(fuse_unk=1)),
    (r"\$\.model\.ignore_merges", with_model(ignore_merges="yes")),
    (r"\$\.model\.vocab: expected an object", with_model(vocab=[])),
    (r"\$\.model\.merges\[1\]: expected two tokens", with_model(merges=[["t", "h"], ["t"]])),
    (r"\$\.model\.merges\[0\]: expected two tokens", with_model(merges=["t h e"])),
    (r"\$\.model\.merges: some merges are texts", with_model(merges=["t h", ["t", "h"]])),
    (r"\$\.model\.merges\[0\]: the merge of 't' and 'zz' needs 'zz'", with_model(merges=[["t", "zz"]])),
    (r"\$\.model\.merges\[0\].*needs 'qz'", with_model(merges=["q z"])),
    (r"\$\.model\.vocab\['zz'\]: expected u32, got integer `-1`", lambda data: data["model"]["vocab"].update(zz=-1)),
    (r"\$\.model\.vocab\['zz'\]: expected u32, got floating", lambda data: data["model"]["vocab"].update(zz=1.5)),
    (r"\$\.model\.vocab\['zz'\]: expected u32, got integer", lambda data: data["model"]["vocab"].update(zz=2**32)),
    (r"id 3 is given to", lambda data: data["model"]["vocab"].update(zz=3)),
    (r"\$\.normalizer: the field 'clean_text' is missing", with_normalizer(
        {"type": "BertNormalizer", "lowercase": True}
    )),
    (r"\$\.normalizer\.normalizers\[1\]: the normalizer Precompiled", with_normalizer(
        {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Precompiled", "precompiled_charsmap": ""}]}
    )),
    (r"\$\.normalizer\.pattern: 'a\*' may match nothing", with_normalizer(
        {"type": "Replace", "pattern": {"Regex": "a*"}, "content": ""}
    )),
    (r"\$\.normalizer\.pattern: .*escape \\K", with_normalizer(
        {"type": "Replace", "pattern": {"Regex": r"a\K"}, "content": ""}
    )),
    (r"\$\.normalizer: an empty text", with_normalizer({"type": "Prepend", "prepend": ""})),
    (r"\$\.normalizer: the field 'type'", with_normalizer({})),
    (r"\$\.pre_tokenizer: the pre-tokenizer Other", with_pre_tokenizer({"type": "Other"})),
    (r"\$\.pre_tokenizer\.pretokenizers\[1\]: a Digits behind ByteLevel", with_pre_tokenizer(
        {"type": "Sequence", "pretokenizers": [BYTE_LEVEL, {"type": "Digits", "individual_digits": True}]}
    )),
    (r"\$\.pre_tokenizer\.pretokenizers\[0\]\.behavior", with_pre_tokenizer(
        {"type": "Sequence", "pretokenizers": [{**REGEX, "behavior": "Dropped"}, BYTE_LEVEL]}
    )),
    (r"\$\.pre_tokenizer\.pretokenizers\[0\]\.pattern: an empty", with_pre_tokenizer(
        {"type": "Sequence", "pretokenizers": [{**REGEX, "pattern": {"String": ""}}, BYTE_LEVEL]}
    )),
    (r"\$\.pre_tokenizer\.pretokenizers\[0\]\.pattern: .*group", with_pre_tokenizer(
        {"type": "Sequence", "pretokenizers": [{**REGEX, "pattern": {"Regex": "(?<n>a)"}}, BYTE_LEVEL]}
    )),
    (r"\$\.post_processor\.sep: expected a token and its id", lambda data: data.update(
        post_processor={"type": "BertProcessing", "sep": ["a"], "cls": ["b", 2]}
    )),
    (r"\$\.post_processor\.single\[0\]: the token 'x' is not in special_tokens", lambda data: data.update(
        post_processor={
            "type": "TemplateProcessing", "pair": [], "special_tokens": {},
            "single": [{"SpecialToken": {"id": "x", "type_id": 0}}],
        }
    )),
    (r"\$\.decoder: the decoder Other", lambda data: data.update(decoder={"type": "Other"})),
    (r"\$\.added_tokens: expected a list", lambda data: data.update(added_tokens={"a": 1})),
    (r"\$\.added_tokens\[0\]: the field 'lstrip'", lambda data: data["added_tokens"][0].pop("lstrip")),
    (r"\$\.added_tokens\[0\]\.id: expected .*, got '7'", lambda data: data["added_tokens"][0].update(id="7")),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*the original gives it")  # where the vocabulary's size changes
@pytest.mark.parametrize(("message", "change"), REFUSED, ids=[message for message, _ in REFUSED])
def test_what_cannot_be_had_is_refused_by_name(tmp_path: Path, message: str, change: Change) -> None:
    data = content(make())
    change(data)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data, default=lambda part: json.loads(part.__getstate__())))
    with pytest.raises(ValueError, match=message) as raised:
        Tokenizer.from_huggingface(path)
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize(
    ("normalizer", "contents", "message"),
    [
        # The original takes one of them, which one is left to its hashes.
        (normalizers.Lowercase(), ("Ab", "aB"), "'Ab' and 'aB' become the same when normalized"),
        # The original finds it everywhere, and panics beyond ASCII.
        (normalizers.StripAccents(), ("\u0301",), "becomes nothing when normalized"),
    ],
)
def test_normalized_tokens_without_a_text_of_their_own(normalizer: Any, contents: Any, message: str) -> None:
    data = content(make(normalizer=normalizer))
    rows = [{**TOKEN, "normalized": True, "id": 900 + i, "content": text} for i, text in enumerate(contents)]
    data["added_tokens"] += rows

    class Source:
        def to_str(self) -> str:
            return json.dumps(data)

    assert tokenizers.Tokenizer.from_str(json.dumps(data)).get_vocab_size() > 300
    with pytest.raises(ValueError, match=rf"\$\.added_tokens: .*{message}"):
        Tokenizer.from_huggingface(Source())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"[]", "expected a JSON object"),
        (b"{", "not JSON"),
        (b"\xff{}", "not UTF-8: at byte 0"),
        (b'{"version": "1.0", "version": "1.0"}', "is there twice"),
        (b'{"version": "1.0", "model": []}', "expected an object"),
        (b"[" * 1_000_000, "expected a JSON object"),
        (b'{"a":' * 1_000_000, "not JSON"),
        (
            b'{"normalizer":' + b"[" * 100_000 + b"]" * 100_000 + b',"model":{"vocab":{},"merges":[]}}',
            "nested too deep",
        ),
        (b'{"decoder":[' + b"[]," * 2_000_000 + b'1],"model":{"vocab":{},"merges":[]}}', "lists and objects"),
        (b'{"model": {"type": "BPE", "vocab": {"\\ud800": 1}, "merges": []}}', "not JSON"),
        (b'{"model": {"vocab": {"a": 1' + b"0" * 5000 + b"}}}", "number out of range|whole number"),
    ],
    ids=range(12),
)
def test_broken_files(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        Tokenizer.from_huggingface(path)


def test_huge_files_cost_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.truncate(5 << 30)  # sparse
    tracemalloc.start()
    started = time.monotonic()
    with pytest.raises(ValueError, match="larger than 104857600 bytes"):
        Tokenizer.from_huggingface(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 << 20
    assert time.monotonic() - started < 60


def test_deep_sequences(tmp_path: Path) -> None:
    for field, name in (
        ("normalizer", "normalizers"),
        ("pre_tokenizer", "pretokenizers"),
        ("post_processor", "processors"),
    ):
        data = content(make())
        part: Any = {"type": "Sequence", name: []}
        for _ in range(60):
            part = {"type": "Sequence", name: [part]}
        data[field] = part
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(data))
        with pytest.raises(ValueError, match="sequences inside each other"):
            Tokenizer.from_huggingface(path)


def test_other_sources(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not int"):
        Tokenizer.from_huggingface(7)
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_huggingface(tmp_path / "none.json")
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_huggingface(tmp_path)


def test_a_fast_tokenizer_of_transformers() -> None:
    # It has the original in this attribute.
    class Fast:
        backend_tokenizer = make()

    assert Tokenizer.from_huggingface(Fast()) == Tokenizer.from_huggingface(Fast.backend_tokenizer)


def test_a_byte_level_pre_tokenizer_stays_readable() -> None:
    # What is refused above stands beside what is not.
    made = make(sequence(pre_tokenizers.Digits(True), byte_level()))
    assert Tokenizer.from_huggingface(made).encode("12") == made.encode("12").ids
