"""SentencePiece's `.model` files and GGUF files, compared with the libraries they come from."""

import io
import itertools
import json
import pickle
import random
import struct
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from source_archives import source_archive
from test_pre_tokenizers_of_llama_cpp import STAGES
from test_pre_tokenizers_of_llama_cpp import texts as split_texts

from toksmith import Tokenizer, train
from toksmith._core import spell
from toksmith.surgery import align

spm = pytest.importorskip("sentencepiece")
gguf = pytest.importorskip("gguf")
sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz" / "python"))
import sentencepiece_models  # noqa: E402
from sentencepiece_models import BYTE, CONTROL, NORMAL, UNKNOWN, model_of  # noqa: E402

LLAMA_CPP_PYTHON = "0.3.36"
"""The version of the source distribution whose vocabularies are read."""

PROSE = [
    "The quick brown fox jumps over the lazy dog; 1234 5678 times a day.",
    "héllo wörld ﬁne Ⅷ ½ ｶﾞ 日本語 テスト 한국어 aaa aaaa aaaaa 123 4567",
    "x=1;  y = 2   if a == b:    return [i for i in range(10)]",
    "abc abcd bcd ab cab cabbage, low lower lowest newer newest widest",
    "",
]
ALPHABETS = (
    "ab ",
    "aeiou nrt",
    "abc \u2581\ufb01\u00bd \t\n",
    "héllo wörld日本\uff76\uff9e 123  ",
    "<s></s><unk><sym>bcd ab abcd  x",
    "aaaa ",
)
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "llama": {
        "byte_fallback": True,
        "split_digits": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
    },
    "no prefix": {"add_dummy_prefix": False, "byte_fallback": True},
    "symbols": {"user_defined_symbols": ["<sym>", "bcd", "ab\u2581c", "abc", "7"], "byte_fallback": True},
    "symbols as they are": {
        "user_defined_symbols": ["<sym>", "\ufb01", "  "],
        "normalization_rule_name": "nfkc",
        "remove_extra_whitespaces": False,
    },
    "suffix": {"treat_whitespace_as_suffix": True, "normalization_rule_name": "nmt_nfkc_cf"},
    "suffix without spaces": {"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False},
    "few characters": {"character_coverage": 0.98, "normalization_rule_name": "nfkc_cf"},
}


def trained(vocab_size: int = 400, model_type: str = "bpe", **options: Any) -> bytes:
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(PROSE * 8),
        model_writer=model,
        model_type=model_type,
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        control_symbols=["<ctl>"],
        minloglevel=2,
        **options,
    )
    return model.getvalue()


def texts(count: int) -> list[str]:
    draw = random.Random(1)
    drawn = ("".join(draw.choices(draw.choice(ALPHABETS), k=draw.randint(0, 25))) for _ in range(count))
    return [*PROSE, "\n".join(PROSE), "", " ", "  a  ", *drawn]


def load(content: bytes, path: Path) -> Tokenizer:
    path.write_bytes(content)
    return Tokenizer.from_pretrained(path)


@pytest.mark.parametrize("vocab_size", [330, 500])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_ids_are_those_of_sentencepiece(options: dict[str, Any], vocab_size: int, tmp_path: Path) -> None:
    model = trained(vocab_size, **options)
    tokenizer = load(model, tmp_path / "t.model")
    cases = texts(6250)
    theirs = spm.SentencePieceProcessor(model_proto=model).encode(cases)
    assert [tokenizer.encode(text, special=False) for text in cases] == theirs
    tokenizer.save(tmp_path / "t.json")
    again = Tokenizer.load(tmp_path / "t.json")
    assert again == tokenizer
    assert [again.encode(text, special=False) for text in cases[:500]] == theirs[:500]


def test_special_tokens_of_a_model(tmp_path: Path) -> None:
    tokenizer = load(trained(), tmp_path / "t.model")
    assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<ctl>": 3}
    assert tokenizer.encode("<s>")[0] == 1
    assert tokenizer.decode(tokenizer.encode("The quick brown fox")) == "The quick brown fox"


@pytest.mark.parametrize("kind", ["unigram", "word", "char"])
def test_other_models_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    size = {"unigram": 120}.get(kind, 60)
    model = trained(size, kind, use_all_vocab=kind != "unigram")
    with pytest.raises(ValueError, match=f"a model of type {kind}: toksmith reads models of type BPE"):
        load(model, tmp_path / "t.model")


def test_damaged_models_are_refused_or_work(tmp_path: Path) -> None:
    model, draw = trained(330, byte_fallback=True), random.Random(2)
    for _ in range(300):
        damaged = bytearray(model[: draw.choice([len(model), draw.randrange(len(model))])])
        for _ in range(draw.randint(0, 4)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            tokenizer = load(bytes(damaged), tmp_path / "t.model")
        except ValueError:
            continue
        tokenizer.decode(tokenizer.encode("héllo <s> abcd"))


# Pieces of one score


def merging(scores: dict[str, float], **flags: bool) -> bytes:
    specials = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL)]
    return model_of([*specials, *((text, score, NORMAL) for text, score in scores.items())], **flags)


def test_of_pieces_of_one_score_the_leftmost_merges_first(tmp_path: Path) -> None:
    runs = {"\u2581" * count: -9.0 if count > 1 else -50.0 for count in (1, 2, 4, 8)}
    model = merging({"a": -50, "b": -50, **runs, "\u2581a": -9, "ab": -1}, remove_extra_whitespaces=False)
    tokenizer = load(model, tmp_path / "t.model")
    cases = [*texts(500), *(" " * count + "ab" for count in range(300))]
    processor = spm.SentencePieceProcessor(model_proto=model)
    theirs = [processor.encode(text) for text in cases]
    assert [tokenizer.encode(text, special=False) for text in cases] == theirs
    with pytest.raises(ValueError, match=r"cannot hold pieces of one score.*; save\(\) keeps"):
        tokenizer.save_huggingface(tmp_path / "hf")
    assert not (tmp_path / "hf").exists()
    tokenizer.save(tmp_path / "t.json")
    assert Tokenizer.load(tmp_path / "t.json") == tokenizer == pickle.loads(pickle.dumps(tokenizer))
    tokenizer.save(tmp_path / "again.model", format="sentencepiece")
    assert load((tmp_path / "again.model").read_bytes(), tmp_path / "t.model") == tokenizer


def test_files_beside_a_model_with_pieces_of_one_score(tmp_path: Path) -> None:
    pieces = {"a": -50, "\u2581": -50, "\u2581\u2581": -9, "\u2581a": -9}
    model = merging(pieces, remove_extra_whitespaces=False)
    (tmp_path / "tokenizer.model").write_bytes(model)
    (tmp_path / "added_tokens.json").write_text('{"<|im_start|>": 6}')
    reason = r"is not applied: tokenizer\.json ranks merges.* comes first$"
    with pytest.warns(UserWarning, match="no tokenizer_class"), pytest.warns(UserWarning, match=reason):
        tokenizer = Tokenizer.from_pretrained(tmp_path)
    assert tokenizer == load(model, tmp_path / "t.model")


@pytest.mark.parametrize("count", [150, pytest.param(10_000, marks=pytest.mark.long)])
def test_pieces_of_one_score_whose_order_does_not_matter(count: int, tmp_path: Path) -> None:
    """They become merges of any order, so that a tokenizer.json can hold them."""
    library, draw = pytest.importorskip("tokenizers").Tokenizer, random.Random(7)
    saved = 0
    for _ in range(count):
        pieces = dict.fromkeys("abcd\u2581", -99.0)
        for _ in range(draw.randint(2, 4)):
            made = "".join(draw.sample([piece for piece in pieces if len(piece) < 4], 2))
            pieces.setdefault(made, float(-draw.randint(1, 3)))
        scores = [score for piece, score in pieces.items() if len(piece) > 1]
        model = merging(pieces, remove_extra_whitespaces=False)
        tokenizer, processor = load(model, tmp_path / "t.model"), spm.SentencePieceProcessor(model_proto=model)
        cases = ["".join(draw.choices("abcd ", k=draw.randint(1, 30))) for _ in range(30)]
        theirs = processor.encode(cases)
        assert [tokenizer.encode(text, special=False) for text in cases] == theirs, pieces
        if len(set(scores)) < len(scores):
            try:
                tokenizer.save_huggingface(tmp_path / "hf", verify=False)
            except ValueError as error:
                assert "cannot hold pieces of one score" in str(error)
                continue
            other = library.from_file(str(tmp_path / "hf/tokenizer.json"))
            assert [each.ids for each in other.encode_batch(cases, add_special_tokens=False)] == theirs, pieces
            saved += 1
    assert saved > count // 20


@pytest.mark.parametrize("ties", ([0], [2, 1], [1, 1], [1 << 20], ["1"]), ids=str)
def test_ties_of_a_file_are_checked(ties: list[Any], tmp_path: Path) -> None:
    pieces = [("<unk>", 0.0, UNKNOWN), *((f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256))]
    pieces += [(text, -9.0, NORMAL) for text in ("\u2581", "a", "aa", "aaa")]
    load(model_of(pieces, byte_fallback=True), tmp_path / "t.model").save(tmp_path / "t.json")
    content = json.loads((tmp_path / "t.json").read_text())
    assert content["ties"] == [1, 2]
    (tmp_path / "t.json").write_text(json.dumps({**content, "ties": ties}))
    with pytest.raises(ValueError):
        Tokenizer.load(tmp_path / "t.json")


MISTRAL = [
    ("a    b", [264, 2287, 287]),
    ("a       b", [264, 428, 287]),
    (" " * 20, [359, 355]),
    ("  x\n    y", [259, 1318, 13, 2287, 337]),
]


def test_models_of_mistral(tmp_path: Path) -> None:
    package = pytest.importorskip("mistral_common")
    models = sorted((Path(package.__file__).parent / "data").glob("*.model.v*"))
    assert len(models) == 5
    cases = [*texts(300), *(" " * count + "x" for count in range(0, 300, 7))]
    for path in models:
        tokenizer, processor = load(path.read_bytes(), tmp_path / "t.model"), None
        processor = spm.SentencePieceProcessor(model_file=str(path))
        assert [tokenizer.encode(text, special=False) for text in cases] == processor.encode(cases), path.name
        if path.name == "tokenizer.model.v1":
            assert [(text, tokenizer.encode(text, special=False)) for text, _ in MISTRAL] == MISTRAL


# Decoding


DECODED = [
    ({"add_dummy_prefix": True}, ["<s>", "\u2581a", "</s>"], "a"),
    ({"add_dummy_prefix": True}, ["\u2581", "\u2581a", "\u2581a"], " a a"),
    ({"remove_extra_whitespaces": True}, ["\u2581", "\u2581a", "\u2581a"], "a a"),
    ({"remove_extra_whitespaces": True}, ["\u2581\u2581", "\u2581a"], " \u2581a".replace("\u2581", " ")),
    ({}, ["a", "<unk>"], "a \u2047 "),
    ({"unk_surface": "?"}, ["<unk>", "a"], "?a"),
    ({"add_dummy_prefix": True}, ["<unk>", "\u2581a"], " \u2047  a"),
    ({"byte_fallback": True}, ["<0x41>", "<0xE6>", "<0x42>"], "A\ufffdB"),
    ({"byte_fallback": True}, ["<0xC3>", "<s>", "<0xA9>", "a"], "\ufffd\ufffda"),
    ({"byte_fallback": True, "add_dummy_prefix": True}, ["<0x20>", "\u2581a"], "  a"),
    ({"byte_fallback": True}, ["<0xe2>"], "<0xe2>"),
    ({}, ["<0x41>", "<0xe2>"], "<0x41><0xe2>"),
    ({"treat_whitespace_as_suffix": True, "add_dummy_prefix": True}, ["a", "a\u2581"], "aa "),
]


@pytest.mark.parametrize(("options", "pieces", "text"), DECODED)
def test_pieces_are_decoded_as_by_sentencepiece(
    options: dict[str, Any], pieces: list[str], text: str, tmp_path: Path
) -> None:
    off = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
    rows = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    if options.get("byte_fallback"):
        rows += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    ordinary = [*"a<>0x41e2\u2581", "\u2581a", "a\u2581", "\u2581\u2581", "<0x41>", "<0xe2>"]
    named = {row[0] for row in rows}
    rows += [(piece, float(-place), NORMAL) for place, piece in enumerate(ordinary) if piece not in named]
    model = model_of(rows, **{**off, **options})
    ids = [[row[0] for row in rows].index(piece) for piece in pieces]
    assert spm.SentencePieceProcessor(model_proto=model).decode(ids) == text
    tokenizer = load(model, tmp_path / "t.model")
    stream = tokenizer.decode_stream()
    assert tokenizer.decode(ids) == "".join(map(stream.push, ids)) + stream.flush() == text
    tokenizer.save(tmp_path / "t.json")
    assert Tokenizer.load(tmp_path / "t.json").decode(ids) == text
    tokenizer.save(tmp_path / "again.model", format="sentencepiece")
    assert load((tmp_path / "again.model").read_bytes(), tmp_path / "t.model").decode(ids) == text


def test_models_that_remove_spaces_are_aligned(tmp_path: Path) -> None:
    rows = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), *((f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256))]
    rows += [(piece, -1.0, NORMAL) for piece in ("\u2581", "a", "\u2581a")]
    tokenizer = load(model_of(rows, byte_fallback=True), tmp_path / "t.model")
    space, a, word = 258, 259, 260
    for ids, text, ends in (
        ([space, 1, space, word, word], b"a a", [[0, 0], [4, 1], [5, 3]]),
        ([a, space, word], b"a  a", [[0, 0], [1, 1], [2, 2], [3, 4]]),
        ([space, 2 + 0xC3, word], b"\xc3 a", [[0, 0], [2, 1], [3, 3]]),
        ([2 + 0x20, word], b"  a", [[0, 0], [1, 1], [2, 3]]),
    ):
        assert tokenizer.decode_bytes(ids) == text
        assert align(tokenizer, ids, Tokenizer(), text).tolist() == ends


def test_a_model_that_changes_decoded_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"denormalizer_spec\.precompiled_charsmap: replacements in decoded text"):
        load(merging({"a": -1.0}) + b"\x2a\x03\x12\x01x", tmp_path / "t.model")


@pytest.mark.parametrize("seed", range(40))
def test_random_models_are_as_sentencepiece_has_them(seed: int) -> None:
    sentencepiece_models.compare(random.Random(seed), 20)


# Vocabularies of llama.cpp


@pytest.mark.long
def test_vocabularies_of_llama_cpp(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    archive = source_archive("llama_cpp_python", request.config, tmp_path, LLAMA_CPP_PYTHON)
    files = {}
    with tarfile.open(archive) as members:
        for member in members:
            name = member.name.rpartition("/")[2]
            if name.startswith("ggml-vocab-") and (content := members.extractfile(member)):
                files[name] = content.read()
    compared = 0
    separator = "\n__ggml_vocab_test__\n"
    for name in files.keys() & {f"ggml-vocab-{name}.gguf" for name in LLAMA_CPP}:
        tokenizer = load(files[name], tmp_path / "t.gguf")
        cases = files[f"{name}.inp"].decode().removesuffix(separator).split(separator)
        ids = [[int(id) for id in line.split()] for line in files[f"{name}.out"].decode().splitlines()]
        assert [tokenizer.encode(text, special=False) for text in cases] == ids, name
        compared += 1
    assert compared == len(LLAMA_CPP)
    llama = load(files["ggml-vocab-llama-spm.gguf"], tmp_path / "t.gguf")
    assert [llama.encode(" " * count + "Hello", special=False) for count in (3, 4)] == [[1678, 15043], [268, 15043]]
    baichuan = load(files["ggml-vocab-baichuan.gguf"], tmp_path / "t.gguf")
    assert baichuan.decode(baichuan.encode("a    b", special=False)) == "a    b"
    gemma = load(files["ggml-vocab-gemma-4.gguf"], tmp_path / "t.gguf")
    # llama.cpp takes a run of newlines that is a token whole, and merges others.
    runs = [gemma.encode("\n" * count, special=False) for count in range(1, 64)]
    assert [count for count, ids in enumerate(runs, 1) if len(ids) == 1] == list(range(1, 32))
    assert all(gemma.decode(ids) == "\n" * count for count, ids in enumerate(runs, 1))
    for name in ("aquila", "gpt-neox"):
        with pytest.raises(ValueError, match=r"tokenizer\.ggml\.pre: missing.*\"default\""):
            load(files[f"ggml-vocab-{name}.gguf"], tmp_path / "t.gguf")
        check_default(Tokenizer.from_pretrained(tmp_path / "t.gguf", pattern="default"), tmp_path)


def check_default(tokenizer: Tokenizer, folder: Path) -> None:
    """Compare a file without a pre-tokenizer, under llama.cpp's default, with its merges in tokenizers."""
    tokenizers = pytest.importorskip("tokenizers")
    reader = gguf.GGUFReader(folder / "t.gguf")
    vocab, kinds, merges = (
        reader.get_field(f"tokenizer.ggml.{name}").contents() for name in ("tokens", "token_type", "merges")
    )
    ids = {token: id for id, token in enumerate(vocab)}
    model = tokenizers.models.BPE(ids, [tuple(merge.split(" ")) for merge in merges])
    library, steps = tokenizers.Tokenizer(model), tokenizers.pre_tokenizers
    stages = [steps.Split(tokenizers.Regex(stage), "isolated") for stage in STAGES["default"]]
    library.pre_tokenizer = steps.Sequence([*stages, steps.ByteLevel(False, use_regex=False)])
    user_defined = [token for token, kind in zip(vocab, kinds, strict=True) if kind == 4]
    library.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in user_defined])
    cases = [*texts(2000), *split_texts(2000, "default")]
    assert [tokenizer.encode(text, special=False) for text in cases] == [
        each.ids for each in library.encode_batch(cases)
    ]


LLAMA_CPP = (
    "command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "gpt-2", "llama-bpe", "llama-spm", "mpt",
    "phi-3", "qwen2", "qwen35", "refact", "starcoder",
)  # fmt: skip


# GGUF


def written(path: Path, fields: dict[str, Any]) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    for name, value in fields.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def fields_of_model(model: bytes) -> dict[str, Any]:
    processor = spm.SentencePieceProcessor(model_proto=model)
    ids = range(processor.vocab_size())
    kinds = [
        2 if processor.is_unknown(id) else 3 if processor.is_control(id) else 6 if processor.is_byte(id) else 1
        for id in ids
    ]
    return {
        "tokenizer_model": "llama",
        "token_list": [processor.id_to_piece(id) for id in ids],
        "token_scores": [processor.get_score(id) for id in ids],
        "token_types": kinds,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }


@pytest.mark.parametrize("has_prefix", [True, False])
def test_gguf_of_a_sentencepiece_model(has_prefix: bool, tmp_path: Path) -> None:
    model = trained(500, **{**OPTIONS["llama"], "add_dummy_prefix": has_prefix})
    fields = {**fields_of_model(model), "add_space_prefix": has_prefix, "add_eos_token": True}
    tokenizer = Tokenizer.from_pretrained(written(tmp_path / "t.gguf", fields))
    cases = texts(2000)
    theirs = spm.SentencePieceProcessor(model_proto=model).encode(cases)
    assert [tokenizer.encode(text, special=False) for text in cases] == theirs
    assert tokenizer.pipeline is not None
    assert tokenizer.pipeline.template is not None
    assert tokenizer.pipeline.template.ids([7]) == [1, 7, 2]


NAMED = [("gpt-2", "gpt2"), ("llama-bpe", "llama3"), ("qwen2", "qwen2"), ("gpt-4o", "o200k"), ("tekken", "tekken")]


def byte_level(pattern: str, pre: str, tmp_path: Path) -> tuple[Tokenizer, dict[str, Any]]:
    tokenizer = train(iter(PROSE * 3), 380, pattern=pattern, special_tokens=["<|end|>"])
    tokenizer.save_huggingface(tmp_path / "hf")
    model = json.loads((tmp_path / "hf" / "tokenizer.json").read_text())["model"]
    names = {id: name for name, id in model["vocab"].items()} | {
        id: name for name, id in tokenizer.special_tokens.items()
    }
    count = max(names) + 1
    return tokenizer, {
        "tokenizer_model": "gpt2",
        "tokenizer_pre": pre,
        "token_list": [names[id] for id in range(count)],
        "token_types": [3 if names[id] == "<|end|>" else 1 for id in range(count)],
        "token_merges": [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]],
    }


@pytest.mark.parametrize(("pre", "pattern"), NAMED)
def test_gguf_of_a_byte_level_model(pre: str, pattern: str, tmp_path: Path) -> None:
    tokenizer, fields = byte_level(pattern, pre, tmp_path)
    loaded = Tokenizer.from_pretrained(written(tmp_path / "t.gguf", fields))
    cases = [*texts(2000), "a<|end|>b"]
    assert [loaded.encode(text) for text in cases] == [tokenizer.encode(text) for text in cases]
    assert loaded.special_tokens == tokenizer.special_tokens


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer_model": "bert"}, "'bert': toksmith reads the models llama"),
        ({"tokenizer_pre": "tiny_aya"}, "'tiny_aya': a pre-tokenizer that toksmith does not have"),
        ({"bos_token_id": 1 << 20, "add_bos_token": True}, "1048576 is no token"),
    ],
)
def test_other_gguf_files_are_refused_by_name(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    _, fields = byte_level("gpt2", "gpt-2", tmp_path)
    with pytest.raises(ValueError, match=message):
        Tokenizer.from_pretrained(written(tmp_path / "t.gguf", {**fields, **change}))


def test_damaged_gguf_files_are_refused_or_work(tmp_path: Path) -> None:
    content = written(tmp_path / "t.gguf", fields_of_model(trained(330, **OPTIONS["llama"]))).read_bytes()
    for head in (struct.pack(">II", 0x47475546, 3), b"GGUF" + struct.pack("<I", 9), content[:30]):
        with pytest.raises(ValueError, match=r"big-endian|version 9|truncated"):
            load(head, tmp_path / "damaged")
    draw = random.Random(3)
    for _ in range(300):
        damaged = bytearray(content[: draw.choice([len(content), draw.randrange(8, len(content))])])
        for _ in range(draw.randint(0, 4)):
            damaged[draw.randrange(4, len(damaged))] = draw.randrange(256)
        try:
            tokenizer = load(bytes(damaged), tmp_path / "damaged")
        except ValueError:
            continue
        tokenizer.decode(tokenizer.encode("héllo <s> abcd"))


# Writing


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_saved_models_are_read_by_sentencepiece(options: dict[str, Any], tmp_path: Path) -> None:
    model, path = trained(400, **options), tmp_path / "saved.model"
    load(model, tmp_path / "t.model").save(path, format="sentencepiece")
    cases = texts(2000)
    theirs, saved = (spm.SentencePieceProcessor(model_proto=each) for each in (model, path.read_bytes()))
    assert saved.encode(cases) == theirs.encode(cases)


def test_saved_gguf_files_are_read_by_gguf(tmp_path: Path) -> None:
    tokenizer, fields = byte_level("llama3", "dbrx", tmp_path)
    tokenizer.save(tmp_path / "t.gguf", format="gguf")
    reader = gguf.GGUFReader(tmp_path / "t.gguf")
    assert reader.get_field("tokenizer.ggml.pre").contents() == "dbrx"
    assert reader.get_field("tokenizer.ggml.tokens").contents() == fields["token_list"]
    assert reader.get_field("tokenizer.ggml.merges").contents() == fields["token_merges"]
    spm_fields = fields_of_model(trained(400, **OPTIONS["llama"]))
    loaded = Tokenizer.from_pretrained(written(tmp_path / "spm.gguf", spm_fields))
    loaded.save(tmp_path / "again.gguf", format="gguf")
    again = gguf.GGUFReader(tmp_path / "again.gguf")
    assert again.get_field("tokenizer.ggml.tokens").contents() == spm_fields["token_list"]
    assert again.get_field("tokenizer.ggml.token_type").contents() == spm_fields["token_types"]
    assert again.get_field("tokenizer.ggml.bos_token_id").contents() == 1
    assert Tokenizer.from_pretrained(tmp_path / "again.gguf") == loaded


def test_a_token_of_id_0_begins_a_text_and_there_are_no_merges(tmp_path: Path) -> None:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    content = {
        "added_tokens": [{"id": 0, "content": "<s>", **flags, "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}},
        },
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": {"<s>": 0, **{spell(bytes([byte])): byte + 1 for byte in range(256)}},
            "merges": [],
        },
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    tokenizer = Tokenizer.from_pretrained(tmp_path)
    tokenizer.save(tmp_path / "t.gguf", format="gguf")
    loaded = Tokenizer.from_pretrained(tmp_path / "t.gguf")
    assert loaded.pipeline is not None
    assert loaded.pipeline.template is not None
    assert loaded.pipeline.template.ids(loaded.encode("ab")) == [0, 98, 99]
    assert loaded.vocab == tokenizer.vocab


# Tokenizers of SentencePiece's kind that come from elsewhere


def as_tokenizer_json(model: bytes, draw: random.Random | None = None, **changes: Any) -> dict[str, Any]:
    """Return what a converter makes of a model: the pairs of a piece in a row, by their ids, or in any order."""
    processor = spm.SentencePieceProcessor(model_proto=model)
    names = [processor.id_to_piece(id) for id in range(processor.vocab_size())]
    normal = {
        name: processor.get_score(id)
        for id, name in enumerate(names)
        if not (processor.is_control(id) or processor.is_unknown(id) or processor.is_byte(id))
    }
    ids = {name: id for id, name in enumerate(names)}
    merges = []
    for name in sorted(normal, key=lambda name: -normal[name]):
        pairs = [[name[:at], name[at:]] for at in range(1, len(name)) if {name[:at], name[at:]} <= normal.keys()]
        pairs.sort(key=lambda pair: draw.random() if draw else [ids[part] for part in pair])
        merges += pairs
    escape = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    bos = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": id, "content": names[id], **flags} for id in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, escape]},
        "pre_tokenizer": None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [bos, text],
            "pair": [bos, text],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": ids,
            "merges": merges,
        },
        **changes,
    }


def of_json(content: dict[str, Any], folder: Path) -> Tokenizer:
    (folder / "tokenizer.json").write_text(json.dumps(content))
    return Tokenizer.from_huggingface(folder)


@pytest.mark.parametrize("adds_bos", [True, False, None])
def test_gguf_of_gemma_4(adds_bos: bool | None, tmp_path: Path) -> None:
    """Compare with the model's kind of tokenizer.json."""
    tokenizers = pytest.importorskip("tokenizers")
    escape = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    content = as_tokenizer_json(trained(600, **OPTIONS["llama"]), normalizer=escape)
    content["decoder"]["decoders"].pop()
    turn = len(content["model"]["vocab"])
    content["model"]["vocab"] |= {"<|turn>": turn, "\n": turn + 1, "\n\n": turn + 2, "\n\n\n": turn + 3}
    content["model"]["merges"] += [["\n", "\n\n"], ["\n\n", "\n"], ["\n", "\n"]]
    content["added_tokens"] += [{**content["added_tokens"][2], "id": turn, "content": "<|turn>", "special": False}]
    names = sorted(content["model"]["vocab"], key=content["model"]["vocab"].__getitem__)
    fields = {
        "tokenizer_model": "gemma4",
        "token_list": names,
        "token_types": [
            2 if id == 0 else 3 if id in (1, 2) else 4 if id == turn else 6 if name.startswith("<0x") else 1
            for id, name in enumerate(names)
        ],
        "token_merges": [" ".join(merge) for merge in content["model"]["merges"]],
        "bos_token_id": 1,
        **({} if adds_bos is None else {"add_bos_token": adds_bos}),
    }
    tokenizer = Tokenizer.from_pretrained(written(tmp_path / "t.gguf", fields))
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    cases = [*texts(2000), "a\n\n\n\n\nb \n \n\n", "a <|turn> b"]
    theirs = [each.ids for each in library.encode_batch(cases, add_special_tokens=False)]
    assert [tokenizer.encode(text) for text in cases] == theirs
    assert [tokenizer.decode(ids) for ids in theirs] == [
        library.decode(ids, skip_special_tokens=False) for ids in theirs
    ]
    # llama.cpp adds it even if the file says otherwise.
    assert tokenizer.pipeline is not None
    assert tokenizer.pipeline.template is not None
    assert tokenizer.pipeline.template.ids([7]) == [1, 7]
    tokenizer.save_huggingface(tmp_path / "hf")
    assert Tokenizer.from_pretrained(tmp_path / "hf").encode_batch(cases) == theirs


@pytest.mark.parametrize("kind", ["default", "llama", "symbols", "few characters", "suffix"])
def test_text_that_goes_on_gets_no_space_between(kind: str, tmp_path: Path) -> None:
    (tmp_path / "t.model").write_bytes(trained(**OPTIONS[kind]))
    tokenizer = Tokenizer.from_pretrained(tmp_path / "t.model")
    for prompt, completion in [
        ("print(se", "lf) and  more"),
        ("one ", "two"),
        ("123 ", "ABC"),
        ("one", " two"),
        ("some", "times"),
    ]:
        for boundary in ("joint", "heal"):
            ids = tokenizer.encode_pair(prompt, completion, boundary).ids
            assert tokenizer.decode(ids) == tokenizer.decode(tokenizer.encode(prompt + completion))
    if kind != "suffix":  # whose ids stay with the space at their end
        assert tokenizer.decode(tokenizer.append(tokenizer.encode("print("), "self").ids) == "print(self"


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_tokenizer_json_of_llamas_kind_becomes_a_model(seed: int | None, tmp_path: Path) -> None:
    options = {**OPTIONS["llama"], "control_symbols": []}
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(PROSE * 8),
        model_writer=model,
        model_type="bpe",
        vocab_size=500,
        minloglevel=2,
        **options,
    )
    content = as_tokenizer_json(model.getvalue(), random.Random(seed) if seed else None)
    tokenizer = of_json(content, tmp_path)
    with pytest.warns(UserWarning, match="holds no template"):
        tokenizer.save(tmp_path / "t.model", format="sentencepiece")
    cases = texts(3000)
    theirs = spm.SentencePieceProcessor(model_file=str(tmp_path / "t.model")).encode(cases)
    assert theirs == spm.SentencePieceProcessor(model_proto=model.getvalue()).encode(cases)
    assert theirs == [tokenizer.encode(text, special=False) for text in cases]
    again = Tokenizer.from_pretrained(tmp_path / "t.model")
    again.save_huggingface(tmp_path / "hf")
    library = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "hf/tokenizer.json"))
    encoded = library.encode_batch([text for text in cases if "<" not in text], add_special_tokens=False)
    assert [each.ids for each in encoded] == [ids for text, ids in zip(cases, theirs, strict=True) if "<" not in text]


def test_a_normalizer_of_sentencepiece_is_no_tokenizer_json(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot hold SentencePiece's normalizer"):
        load(trained(), tmp_path / "t.model").save_huggingface(tmp_path / "hf")
    assert not (tmp_path / "hf").exists()


def change_order(content: dict[str, Any]) -> None:
    merges = content["model"]["merges"]
    at = next(at for at in range(1, len(merges)) if "".join(merges[at]) == "".join(merges[at - 1]))
    merges.append(merges.pop(at))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (change_order, "the merges that make '.*' are not in a row"),
        (lambda content: content["model"]["merges"].pop(), "SentencePiece would merge"),
        (lambda content: content.update(normalizer={"type": "NFC"}), "has spaces that become U\\+2581"),
        (lambda content: content["added_tokens"][1].update(lstrip=True), "no added tokens with conditions"),
    ],
)
def test_what_is_not_sentencepieces_is_refused(change: Any, reason: str, tmp_path: Path) -> None:
    content = as_tokenizer_json(trained(400, **OPTIONS["llama"]))
    change(content)
    with pytest.raises(ValueError, match=reason):
        of_json(content, tmp_path).save(tmp_path / "t.model", format="sentencepiece")
    assert not (tmp_path / "t.model").exists()


def merged(symbols: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    """Return what merging makes of characters: the pair of the lowest rank first, the leftmost of equal ones."""
    while pairs := [(ranks[pair], at) for at, pair in enumerate(itertools.pairwise(symbols)) if pair in ranks]:
        _, at = min(pairs)
        symbols = [*symbols[:at], symbols[at] + symbols[at + 1], *symbols[at + 2 :]]
    return symbols


@pytest.mark.parametrize("count", [60, pytest.param(5000, marks=pytest.mark.long)])
def test_of_the_pairs_of_a_piece_one_ever_meets(count: int) -> None:
    """So one rank for all of them, as in SentencePiece, and a list of them in a row merge every text alike."""
    draw = random.Random(5)
    strings = ["".join(letters) for length in (6, 9) for letters in itertools.product("ab", repeat=length)]
    for _ in range(count):
        pieces = {"a", "b", *("".join(draw.choices("ab", k=draw.randint(2, 6))) for _ in range(draw.randint(0, 3)))}
        for _ in range(draw.randint(3, 14)):
            pieces.add((draw.choice(sorted(pieces)) + draw.choice(sorted(pieces)))[:7])
        one_rank, in_a_row = {}, {}
        for rank, piece in enumerate(draw.sample(sorted(pieces), len(pieces))):
            pairs = [(piece[:at], piece[at:]) for at in range(1, len(piece)) if {piece[:at], piece[at:]} <= pieces]
            for pair in draw.sample(pairs, len(pairs)):
                one_rank[pair], in_a_row[pair] = rank, len(in_a_row)
        for text in draw.sample(strings, 60):
            assert merged([*text], one_rank) == merged([*text], in_a_row), (one_rank, text)
