"""Models with any options of BPE, and any pre-tokenizer: the ids, tokens and offsets of `tokenizers`."""

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from huggingface_cases import encoded
from part_steps import steps_of
from tokenizers import AddedToken, models, pre_tokenizers, trainers

import toksmith
from toksmith import Tokenizer
from toksmith._core import spell
from toksmith.formats.stress import PROSE

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


def _has_exact_offsets(theirs: Any) -> bool:
    """Whether the offsets of the original lie in the text, and between the characters of a spelled one."""
    content = json.loads(theirs.to_str())
    model = content["model"]
    has_affix = model["continuing_subword_prefix"] or model["end_of_word_suffix"]
    leaves_out = model["unk_token"] is None and "ByteLevel" in json.dumps(content["pre_tokenizer"])
    return not (model["byte_fallback"] and has_affix) and not leaves_out


def compare(ours: Tokenizer, theirs: Any, text: str, context: Any = None) -> None:
    truth = theirs.encode(text, add_special_tokens=False)
    assert ours.encode(text) == truth.ids, (text, context)
    assert ours.count(text) == len(truth.ids), (text, context)
    found = encoded(ours, text)
    assert (found.ids, found.tokens) == (truth.ids, truth.tokens), (text, context)
    if _has_exact_offsets(theirs):
        assert found.offsets == truth.offsets, (text, context)


@pytest.mark.parametrize("seed", range(4))
def test_random_models(seed: int, tmp_path: Path) -> None:
    rng, path = random.Random(seed), tmp_path / "saved.json"
    for number in range(60):
        theirs = make(rng)
        ours = Tokenizer.from_huggingface(theirs)
        for length in (0, 3, 3, 6, 6, 12, 40):
            compare(ours, theirs, text_of(rng, length), (seed, number, theirs.to_str()[:3000]))
        again = pickle.loads(pickle.dumps(ours))
        assert again == ours, (seed, number)
        compare(again, theirs, text_of(rng, 6), (seed, number))
        if number % 10 == 0:
            ours.save(path)
            assert Tokenizer.load(path) == ours, (seed, number)


def test_the_quick_tour_of_the_original(tmp_path: Path) -> None:
    theirs = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    specials = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
    theirs.train_from_iterator([PROSE], trainers.BpeTrainer(special_tokens=specials, vocab_size=400))
    ours = Tokenizer.from_huggingface(theirs)
    for text in ("Hello, y'all! How are you 😁 ?", PROSE[-500:], "[MASK]漢字"):
        compare(ours, theirs, text)
    ours.save_huggingface(tmp_path)
    assert tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).to_str() == theirs.to_str()


@pytest.mark.parametrize(
    "before", [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
)
def test_words_that_end_in_a_suffix(before: Any) -> None:
    # As GPT-1 and CLIP have it.
    theirs = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    theirs.pre_tokenizer = before
    trainer = trainers.BpeTrainer(special_tokens=["<unk>"], vocab_size=400, end_of_word_suffix="</w>")
    theirs.train_from_iterator([PROSE], trainer)
    ours = Tokenizer.from_huggingface(theirs)
    compare(ours, theirs, PROSE[:3000])
    with pytest.raises(ValueError, match="explain shows merges of bytes"):
        toksmith.lab.explain(ours, "low")


@pytest.mark.parametrize("affix", ["end_of_word_suffix", "continuing_subword_prefix"])
def test_nothing_is_proved_of_names(affix: str) -> None:
    theirs = tokenizers.Tokenizer(models.BPE(**{affix: "##"}))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False, **{affix: "##"})
    theirs.train_from_iterator([PROSE], trainer)
    ours = Tokenizer.from_huggingface(theirs)
    assert toksmith.lab.inspect(ours).reach.unreachable == ()
    with pytest.raises(ValueError, match="merges by the names of its tokens cannot be shrunk"):
        toksmith.surgery.shrink(ours, ours.vocab_size - 1)


class Source:
    """A file with other options of its model."""

    def __init__(self, theirs: Any, **options: Any) -> None:
        self._content = json.loads(theirs.to_str())
        self._content["model"].update(options)

    def to_str(self) -> str:
        return json.dumps(self._content)


def test_dropout() -> None:
    theirs = tokenizers.Tokenizer(models.BPE(unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    theirs.train_from_iterator([PROSE], trainers.BpeTrainer(special_tokens=["[UNK]"], vocab_size=600))
    text = PROSE[:2000]
    full, none = (Tokenizer.from_huggingface(Source(theirs, dropout=rate)).count(text) for rate in (0.0, 1.0))
    source = Source(theirs, dropout=0.5)
    drawn = Tokenizer.from_huggingface(source)
    assert drawn.encode(text) != drawn.encode(text)
    assert full < drawn.count(text) < none
    seeded = Tokenizer.from_huggingface(source, dropout_seed=7)
    ids = seeded.encode(text)
    assert ids == seeded.encode(text) == Tokenizer.from_huggingface(source, dropout_seed=7).encode(text)
    assert ids == seeded.encode_with_offsets(text)[0] == pickle.loads(pickle.dumps(seeded)).encode(text)
    assert ids != Tokenizer.from_huggingface(source, dropout_seed=8).encode(text)
    # The original draws as many tokens, on average: 2% are six standard deviations of the difference.
    original = tokenizers.Tokenizer.from_str(source.to_str())
    counts = [sum(len(original.encode(text).ids) for _ in range(200)), sum(drawn.count(text) for _ in range(200))]
    assert abs(counts[0] - counts[1]) < 0.02 * counts[0]


def test_an_unknown_token_that_is_in_no_vocabulary() -> None:
    theirs = tokenizers.Tokenizer(models.BPE(vocab={"a": 0}, merges=[], unk_token="zz"))
    ours = Tokenizer.from_huggingface(theirs)
    assert ours.encode("aa") == [0, 0]
    with pytest.raises(ValueError, match='unk_token "zz" is not in the vocabulary'):
        ours.encode("ab")


def test_words_of_every_character() -> None:
    ours = steps_of(pre_tokenizer={"type": "Whitespace"})
    theirs = pre_tokenizers.Whitespace()
    for first in range(0, 0x110000, 0x800):
        characters = [chr(point) for point in range(first, first + 0x800) if not 0xD800 <= point < 0xE000]
        text = "a".join(characters) + "".join(f"-{character}" for character in characters)
        assert ours.pre_tokenize(text) == theirs.pre_tokenize_str(text)
