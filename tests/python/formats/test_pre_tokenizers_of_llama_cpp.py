"""Llama.cpp's names of pre-tokenizers in GGUF files: each splits as its expressions do in the `regex` package."""

import functools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import regex

from toksmith import Tokenizer, patterns
from toksmith._core import spell
from toksmith.cli.options import Parts, load

gguf = pytest.importorskip("gguf")

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
CONTRACTION = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?"
UPPER, LOWER = r"((?=[\p{L}\p{M}])([^a-z]))", r"((?=[\p{L}\p{M}])([^A-Z]))"
KIMI_UPPER, KIMI_LOWER = (rf"[[\p{{L{letter}}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]--\p{{Han}}]" for letter in "ul")
KIMI_LOWER = KIMI_LOWER.replace(r"\p{Lt}", "")
KIMI_ENDING = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

FILE = Path(__file__).resolve().parents[2] / "data/published_patterns.json"
PUBLISHED = {row["id"]: row for row in json.loads(FILE.read_text(encoding="utf-8"))}


def published(name: str) -> list[str]:
    """Return the stages of an entry, all of which keep what they do not match."""
    stages = []
    for stage in PUBLISHED[name]["stages"]:
        if "pattern" in stage:
            stages.append(stage["pattern"]["Regex"] if isinstance(stage["pattern"], dict) else stage["pattern"])
        elif stage["type"] == "Digits":
            stages.append(r"\p{N}")
        elif stage["use_regex"]:
            stages.append(GPT2)
    return stages


SENTENCES = r" ?[^(\s|.,!?…。，、।۔،)]+"
ROWS: dict[str, list[str]] = {
    "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en jina-v2-code": [
        GPT2
    ],
    "roberta-bpe exaone4 mpt olmo jais trillion granite-docling": [GPT2],
    "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2": [r"\p{N}", GPT2],
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano": [patterns.CL100K_OLD],
    "dbrx smaug-bpe glm4 chatglm-bpe": [patterns.CL100K_OLD],
    "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 megrez hunyuan grok-2 solar-open": [patterns.QWEN2],
    "bailingmoe bailingmoe2 llada-moe": published("bailing"),
    "qwen35": [patterns.QWEN35],
    "gpt-4o llama4 kanana2 talkie minimax-m2": [patterns.O200K],
    "tekken": [patterns.TEKKEN],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "deepseek-llm": [*published("deepseek-v2")[:-1], r"\p{N}+"],
    "deepseek-coder": published("deepseek-coder"),
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": published("deepseek-v3"),
    "spark2_5": published("spark"),
    "youtu": published("youtu"),
    "minicpm5": published("minicpm5"),
    "jais-2": published("jais2"),
    "bloom poro-chat gpt3-finnish": [SENTENCES],
    "viking": [SENTENCES, r"\p{N}"],
    "chameleon": published("chameleon"),
    "seed-coder": published("seed-coder"),
    "ufakzeka": published("ufakzeka"),
    "laguna": [r"[^\n]+|[\n]+", patterns.QWEN2],
    "exaone-moe": published("exaone-moe"),
    "granite-embed-multi-97m": [
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ],
    "kimi-k2": [
        rf"(?V1)\p{{Han}}+|[^\r\n\p{{L}}\p{{N}}]?{KIMI_UPPER}*{KIMI_LOWER}+{KIMI_ENDING}"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{KIMI_UPPER}+{KIMI_LOWER}*{KIMI_ENDING}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ],
}
"""The stages of each name: the model's own expressions where llama.cpp quotes them, else those of llama.cpp."""

STAGES = {name: stages for names, stages in ROWS.items() for name in names.split()}
REFUSED = (
    "tiny_aya", "cohere2moe", "superbpe", "afmoe", "gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace",
)  # fmt: skip
IGNORE_MERGES = {
    "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano",
    "tekken", "youtu", "minicpm5", "granite-embed-multi-97m",
}  # fmt: skip
ONE_OF_EACH = [names.split()[0] for names in ROWS]

ALPHABETS = [
    "aB é'sLL ",
    "12 ٣½a३ ",
    " \n\r\t\u00a0\u2003\u0085",
    "日本語カー一龥ㄅ가ㄱ。！…",
    ".,!?…$+<=>^~|`'\"()/_-",
    "a\u0301\u0915\u093f\u094d\u200d ",
    "ǅΣσςЖж\u1d2c ",
    "<sentinel:12>IMGIMGABZ ",
    "\U0001f600\u0378\ue000\x00a \uff01",
]


def texts(count: int, seed: str) -> Iterator[str]:
    draw = random.Random(seed)
    for _ in range(count):
        letters = "".join(draw.sample(ALPHABETS, draw.randint(1, 3)))
        yield "".join(draw.choices(letters, k=draw.randint(1, 40)))


def cut(piece: str, expression: Any) -> Iterator[str]:
    at = 0
    for match in expression.finditer(piece):
        yield piece[at : match.start()]
        yield match[0]
        at = match.end()
    yield piece[at:]


def split(text: str, expressions: list[Any]) -> list[bytes]:
    pieces = [text]
    for expression in expressions:
        pieces = [part for piece in pieces for part in cut(piece, expression) if part]
    return [piece.encode() for piece in pieces]


def written(path: Path, pre: str | None) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list([*(spell(bytes([byte])) for byte in range(256)), "ab", "<s>"])
    writer.add_token_types([1] * 257 + [3])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(257)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@functools.cache
def _compiled(expression: str) -> Any:
    return regex.compile(expression)


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("pre", ONE_OF_EACH)
def test_texts_are_split_as_by_the_regex_package(pre: str, count: int, tmp_path: Path) -> None:
    loaded = Tokenizer.from_pretrained(written(tmp_path / "t.gguf", pre))
    ours, expressions = patterns.of_core(loaded._core).core(), [_compiled(expression) for expression in STAGES[pre]]
    for text in texts(count, pre):
        assert ours.split(text.encode()) == split(text, expressions), text
    loaded.save(tmp_path / "again.gguf", format="gguf")
    name = gguf.GGUFReader(tmp_path / "again.gguf").get_field("tokenizer.ggml.pre").contents()
    assert (name in IGNORE_MERGES) == (pre in IGNORE_MERGES)
    assert Tokenizer.from_pretrained(tmp_path / "again.gguf") == loaded


def test_every_name_is_known(tmp_path: Path) -> None:
    for pre in STAGES:
        loaded = Tokenizer.from_pretrained(written(tmp_path / "t.gguf", pre))
        assert loaded._core.ignores_merges() == (pre in IGNORE_MERGES), pre
        template = loaded.pipeline.template if loaded.pipeline else None
        has_bos = pre in IGNORE_MERGES - {"youtu", "minicpm5", "granite-embed-multi-97m"} or pre == "chameleon"
        assert (template is not None and template.ids([0]) == [257, 0]) == has_bos, pre
    for pre in REFUSED:
        with pytest.raises(ValueError, match=f"'{pre}': a pre-tokenizer that toksmith does not have"):
            Tokenizer.from_pretrained(written(tmp_path / "t.gguf", pre))


@pytest.mark.parametrize("pre", [None, ""])
def test_a_file_without_a_pre_tokenizer_takes_a_name(pre: str | None, tmp_path: Path) -> None:
    path = written(tmp_path / "old.gguf", pre)
    with pytest.raises(ValueError, match=r"tokenizer\.ggml\.pre: missing.* as the pattern.*\"default\""):
        Tokenizer.from_pretrained(path)
    for name in ("default", "llama-bpe"):
        named = Tokenizer.from_pretrained(written(tmp_path / "named.gguf", name))
        assert Tokenizer.from_pretrained(path, pattern=name) == named
    assert load(str(path), Parts(pattern="default")) == Tokenizer.from_pretrained(path, pattern="default")
    for pattern in ("gpt2", "gemma4", None, 3):
        with pytest.raises(ValueError, match="pre-tokenizer of llama"):
            Tokenizer.from_pretrained(path, pattern=pattern)
    with pytest.raises(ValueError, match="'default'"):
        Tokenizer.from_pretrained(tmp_path / "named.gguf", pattern="default")
    for options in ({"special_tokens": ["a"]}, {"pattern": "default", "unmatched": "drop"}):
        with pytest.raises(ValueError, match="special_tokens and unmatched"):
            Tokenizer.from_pretrained(path, **options)
