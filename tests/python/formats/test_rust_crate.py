"""The Rust crate without Python: its examples give the ids that this package gives."""

import gzip
import io
import json
import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import character_cases
import huggingface_cases
import pytest
from huggingface_cases import ADDED, DEEPSEEK, byte_level, make, sequence, split
from tokenizers import normalizers, pre_tokenizers

from toksmith import IdOrder, Tokenizer, patterns, train
from toksmith.formats.stress import PROSE

ROOT = Path(__file__).resolve().parents[3]
EOT = "<|endoftext|>"

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust")

BYTE_LEVEL: dict[str, Any] = {
    "gpt2": (byte_level(), None, {}),
    "prefixed": (byte_level(add_prefix_space=True), None, {"added": ADDED}),
    "llama3": (sequence(split(patterns.CL100K_OLD), byte_level(use_regex=False)), None, {"ignore_merges": True}),
    "starcoder": (sequence(pre_tokenizers.Digits(True), byte_level()), None, {"added": ADDED}),
    "deepseek": (
        sequence(split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK), byte_level(use_regex=False)),
        None,
        {},
    ),
    "without regard to case": (sequence(split(r"(?i:the|ß|i)|\p{Han}+|\s+"), byte_level()), None, {}),
    "nfc": (sequence(split(patterns.QWEN2), byte_level(use_regex=False)), normalizers.NFC(), {"added": ADDED}),
}
CHARACTERS = ("llama", "old_llama", "gemma", "metaspace_first_False", "bert_metaspace")
EXPRESSIONS = (
    *("gpt2", "cl100k_base", "o200k", "qwen2", "qwen3.5", "tekken", "nanochat"),
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}&&[^\p{Han}]]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)|\s+",
    r"(?i:'s|the|[k-s])|\w+|\p{P}|\d|\s+$|\s",
)


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the examples."""
    command = ["cargo", "build", "--quiet", "--locked", "--examples"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "debug/examples")


def answers(program: Path, arguments: Sequence[str], texts: list[str]) -> list[tuple[list[int], str]]:
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([program, *arguments], input=lines, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return [(ids, text) for ids, text in map(json.loads, done.stdout.split("\n")[:-1])]


def assert_same(ours: Tokenizer, programs: Path, arguments: Sequence[str], texts: list[str]) -> None:
    ids = [ours.encode(text) for text in texts]
    expected = [(each, ours.decode(each)) for each in ids]
    assert answers(programs / "encode", arguments, texts) == expected


def texts_of(maker: Any, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [PROSE, "", *(maker.text_of(rng, 12) for _ in range(150))]


def check_file(theirs: Any, programs: Path, folder: Path, texts: list[str]) -> None:
    """Compare a `tokenizer.json`, and toksmith's own file of the same tokenizer."""
    (folder / "tokenizer.json").write_text(theirs.to_str(), encoding="utf-8")
    ours = Tokenizer.from_huggingface(folder)
    assert_same(ours, programs, (str(folder),), texts)
    ours.save(folder / "own.json")
    assert_same(ours, programs, (str(folder / "own.json"),), texts)


@pytest.mark.parametrize("family", BYTE_LEVEL)
def test_byte_level_files_of_hugging_face(family: str, programs: Path, tmp_path: Path) -> None:
    pre_tokenizer, normalizer, options = BYTE_LEVEL[family]
    check_file(make(pre_tokenizer, normalizer, **options), programs, tmp_path, texts_of(huggingface_cases, 1))


@pytest.mark.parametrize("kind", CHARACTERS)
def test_files_that_merge_characters(kind: str, programs: Path, tmp_path: Path) -> None:
    check_file(character_cases.make(kind), programs, tmp_path, texts_of(character_cases, 2))


@pytest.mark.parametrize("pattern", EXPRESSIONS)
def test_rank_files(pattern: str, programs: Path, tmp_path: Path) -> None:
    texts = texts_of(huggingface_cases, 3)
    path = tmp_path / "ranks.tiktoken"
    train(iter(texts), 600, pattern=None, ids=IdOrder(single_bytes="gpt2")).save(
        path, format="tiktoken", verify=False
    )
    ours = Tokenizer.from_tiktoken(path, pattern=pattern, special_tokens={EOT: 900})
    assert_same(ours, programs, (str(path), pattern, f"{EOT}=900"), [*texts, f"a{EOT} the"])
    ours.save(tmp_path / "own.json")
    assert_same(ours, programs, (str(tmp_path / "own.json"),), texts)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_published_files(pattern: str, programs: Path, shared_data: Path) -> None:
    name = {"gpt2": "gpt2", "cl100k": "cl100k_base", "o200k": "o200k_base"}[pattern]
    path = shared_data / f"vocabs/{name}.tiktoken"
    ours = Tokenizer.from_tiktoken(path, pattern=pattern, special_tokens={EOT: 300_000})
    texts = [*texts_of(huggingface_cases, 4), (ROOT / "README.md").read_text(encoding="utf-8")]
    assert_same(ours, programs, (str(path), pattern, f"{EOT}=300000"), texts)


@pytest.mark.filterwarnings("ignore:the pattern 'gpt2' is taken as a regular expression")
def test_files_that_are_recognised(programs: Path, tmp_path: Path) -> None:
    texts = texts_of(huggingface_cases, 6)
    ours = train(iter(texts), 600, special_tokens=[EOT])
    for format in ("tekken", "gguf"):
        path = tmp_path / format
        ours.save(path, format=format)
        assert_same(ours, programs, (str(path),), [*texts, f"a{EOT} the"])
    os.truncate(tmp_path / "gguf", (1 << 28) + 9)  # weights
    assert_same(ours, programs, (str(tmp_path / "gguf"),), texts[:2])
    content = json.loads((tmp_path / "tekken").read_text(encoding="utf-8"))
    content["config"]["pattern"] = "gpt2"  # an expression for these letters, not a name
    (tmp_path / "tekken").write_text(json.dumps(content), encoding="utf-8")
    assert_same(Tokenizer.from_pretrained(tmp_path / "tekken"), programs, (str(tmp_path / "tekken"),), ["a gpt2 b"])


def write_pieces(path: Path) -> None:
    """Write a model of SentencePiece."""
    trainer, content = pytest.importorskip("sentencepiece").SentencePieceTrainer, io.BytesIO()
    trainer.train(
        sentence_iterator=iter(PROSE.split(".") * 3), model_writer=content, model_type="bpe", vocab_size=540,
        byte_fallback=True, minloglevel=2,
    )  # fmt: skip
    path.write_bytes(content.getvalue())


def test_sentencepiece_files(programs: Path, tmp_path: Path) -> None:
    path = tmp_path / "pieces"
    write_pieces(path)
    assert_same(Tokenizer.from_pretrained(path), programs, (str(path),), texts_of(character_cases, 7))


def test_training(programs: Path, tmp_path: Path) -> None:
    plain, records = tmp_path / "plain.txt", tmp_path / "records.jsonl.gz"
    plain.write_text(PROSE, encoding="utf-8")
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts_of(huggingface_cases, 5))
    records.write_bytes(gzip.compress(lines.encode()))
    command = [programs / "train", "600", tmp_path / "own.json", plain, records]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    loaded = Tokenizer.load(tmp_path / "own.json")
    assert loaded == train([plain, records], 600, special_tokens=[EOT])
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "own.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("{path}", "GPT2"), "looks like the name of a pattern, but no pattern has this name"),
        (("{path}", "(?<=a)b"), "a look behind"),
        (("{path}", "gpt2", f"{EOT}=97"), "id 97"),
        (("{path}",), "a rank file holds no pattern"),
        (("nowhere.json",), "nowhere.json: No such file"),
    ],
)
def test_what_is_wrong_is_said(arguments: Sequence[str], reason: str, programs: Path, tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    train(iter([PROSE]), 300, pattern=None).save(path, format="tiktoken", verify=False)
    filled = [argument.replace("{path}", str(path)) for argument in arguments]
    done = subprocess.run([programs / "encode", *filled], input="", capture_output=True, text=True)
    assert done.returncode == 1
    assert reason in done.stderr, done.stderr


def test_the_tour(programs: Path, tmp_path: Path) -> None:
    """Files of each format that the crate writes are read here, and models of the other formats there."""
    model = b"minbpe v1\n\n0\n116 104\n256 101\n"
    (tmp_path / "m.model").write_bytes(model)
    pieces = tmp_path / "pieces.model"
    write_pieces(pieces)
    done = subprocess.run([programs / "tour", tmp_path, tmp_path / "m.model", pieces], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the same ids: true") == 7 and "as encoded anew: true" in done.stdout
    assert "258 tokens, [257, " in done.stdout
    theirs = Tokenizer.from_pretrained(pieces).encode("the cat sat on the mat", special=False)
    assert f"540 tokens, {theirs}" in done.stdout
    ours = Tokenizer.load(tmp_path / "t.toksmith")
    assert f"fingerprint: {ours.fingerprint}" in done.stdout
    for name in ("tokenizer.json", "tekken.json", "t.gguf", "gpt2"):
        assert Tokenizer.from_pretrained(tmp_path / name).encode(PROSE, special=False) == ours.encode(
            PROSE, special=False
        )
    assert Tokenizer.from_pretrained(tmp_path / "t.model").vocab_size == 280
    assert Tokenizer.load(tmp_path / "chat.toksmith").special_tokens["<|user|>"] == 300
