"""Models with any options of BPE, and any pre-tokenizer: the ids, tokens and offsets of `tokenizers`."""

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, models, pre_tokenizers, trainers

from toksmith import Tokenizer
from toksmith.comparison.stress import PROSE
from toksmith.formats.gpt2 import spell
from toksmith.huggingface.encoding import encoded

META = "\u2581"
PIECES = (*"abcdeé日 .!-_1", "ab", " the", "  ", "\n", "ß", "😀", "the", "<s>", "[UNK]", "the cat", META, "日本")


def _pre_tokenizers(rng: random.Random) -> Any:
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=rng.random() < 0.3, use_regex=rng.random() < 0.7)
    choices = [
        None,
        pre_tokenizers.Whitespace(),
        pre_tokenizers.WhitespaceSplit(),
        pre_tokenizers.BertPreTokenizer(),
        pre_tokenizers.Punctuation(rng.choice(["isolated", "removed", "contiguous"])),
        pre_tokenizers.Digits(rng.random() < 0.5),
        pre_tokenizers.CharDelimiterSplit("a"),
        pre_tokenizers.FixedLength(rng.randrange(1, 4)),
        pre_tokenizers.Split(tokenizers.Regex("[a-c]+"), rng.choice(["isolated", "merged_with_next"])),
        pre_tokenizers.Metaspace(META, rng.choice(["always", "never", "first"]), rng.random() < 0.5),
        pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)]),
        byte_level,
        pre_tokenizers.Sequence([pre_tokenizers.Digits(True), byte_level]),
    ]
    return rng.choice(choices)


def _is_byte_level(part: Any) -> bool:
    return part is not None and "ByteLevel" in json.dumps(json.loads(part.__getstate__()))


def make(rng: random.Random) -> Any:
    """A tokenizer with random options, whose merges are of the symbols that its text begins with."""
    part = _pre_tokenizers(rng)
    alphabet = [*"abcdeé日 .!-_1ht", META]
    if _is_byte_level(part):
        alphabet = [*map(spell, (bytes([byte]) for byte in range(256)))]
        if rng.random() < 0.5:
            alphabet = [*"abcdeĠ.ht", *rng.sample(alphabet, 40)]
    alphabet = [symbol for symbol in dict.fromkeys(alphabet) if rng.random() < 0.9]
    prefix, suffix = rng.choice(["", "", "#", "@"]), rng.choice(["", "", "</w>", META])
    names = dict.fromkeys(
        before + symbol + behind
        for symbol in alphabet
        for before in {"", prefix}
        for behind in {"", suffix}
        if rng.random() < 0.95
    )
    if rng.random() < 0.6:
        names.update(dict.fromkeys(["[UNK]"]))
    if rng.random() < 0.5:
        some = rng.random() < 0.5
        names.update(dict.fromkeys(f"<0x{byte:02X}>" for byte in range(256) if not some or rng.random() < 0.7))
    merges: list[tuple[str, str]] = []
    common = [name for name in names if any(c in name for c in "abcé日Ġht" + META)]
    for _ in range(rng.randrange(80)):
        left, right = rng.choice(common), rng.choice(common)
        if rng.random() < 0.05:
            left = rng.choice([*names])
        made = left + right.removeprefix(prefix)
        if not right.startswith(prefix) or len(made) > 9 or not made or (left, right) in merges:
            continue
        names[made] = None
        common.append(made)
        merges.append((left, right))
    names.update(dict.fromkeys(rng.sample(["the", "the cat", "ab", "<s>", "日本", f"{META}the"], 2)))
    ids = [*range(len(names))]
    if rng.random() < 0.3:
        rng.shuffle(ids)
    options: dict[str, Any] = {
        "continuing_subword_prefix": prefix or rng.choice([None, ""]),
        "end_of_word_suffix": suffix or rng.choice([None, ""]),
        "fuse_unk": rng.random() < 0.5,
        "byte_fallback": rng.random() < 0.5,
        "ignore_merges": rng.random() < 0.3,
        "unk_token": "[UNK]" if "[UNK]" in names and rng.random() < 0.8 else None,
        "dropout": rng.choice([None, None, None, 0.0, 1.0]),
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    made = tokenizers.Tokenizer(models.BPE(vocab=dict(zip(names, ids, strict=True)), merges=merges, **chosen))
    if part is not None:
        made.pre_tokenizer = part
    if rng.random() < 0.6:
        made.add_special_tokens(["<s>", *(["[UNK]"] if rng.random() < 0.5 else [])])
    if rng.random() < 0.3:
        made.add_tokens([AddedToken("!-", normalized=rng.random() < 0.5, single_word=rng.random() < 0.3)])
    return made


def text_of(rng: random.Random, pieces: int) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(pieces + 1)))


def shifts(theirs: Any) -> bool:
    """Whether a character that is left out moves the offsets behind it."""
    return json.loads(theirs.to_str())["model"]["unk_token"] is None


@pytest.mark.parametrize("seed", range(4))
def test_random_models(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    for number in range(60):
        theirs = make(rng)
        ours = Tokenizer.from_huggingface(theirs)
        context = (seed, number, theirs.to_str()[:3000])
        for length in (0, 3, 3, 6, 6, 12, 40):
            text = text_of(rng, length)
            truth = theirs.encode(text, add_special_tokens=False)
            assert ours.encode(text) == truth.ids, (text, context)
            assert ours.count(text) == len(truth.ids), (text, context)
            found = encoded(ours, text)
            assert (found.ids, found.tokens) == (truth.ids, truth.tokens), (text, context)
            if not json.loads(theirs.to_str())["model"]["byte_fallback"]:
                assert found.spans == truth.offsets, (text, context)
