"""`from_huggingface` against `tokenizers`: ids, tokens and offsets of each family, on random and on real text."""

import json
import random
from pathlib import Path
from typing import Any

import huggingface_cases
import pytest
import tokenizers
from huggingface_cases import (
    ADDED,
    DEEPSEEK,
    assert_same,
    assert_same_everywhere,
    byte_level,
    content,
    encoded,
    make,
    sequence,
    split,
    text_of,
)
from published_data import assert_ids, documents_of, json_of_huggingface, of_huggingface
from tokenizers import AddedToken, Regex, normalizers, pre_tokenizers, processors

from toksmith import Tokenizer, patterns
from toksmith._core import ONIGURUMA_SPELLINGS as SPELLINGS
from toksmith._core import EncodingSettings

FAMILIES: dict[str, Any] = {
    "gpt2": byte_level(),
    "gpt2 prefixed": byte_level(add_prefix_space=True),
    "llama3": sequence(split(patterns.CL100K_OLD), byte_level(use_regex=False)),
    "qwen2": sequence(split(patterns.QWEN2), byte_level(use_regex=False)),
    "o200k": sequence(split(patterns.O200K), byte_level(use_regex=False)),
    "qwen3.5": sequence(split(patterns.QWEN35), byte_level(use_regex=False)),
    "tekken": sequence(split(patterns.TEKKEN), byte_level(use_regex=False)),
    "starcoder": sequence(pre_tokenizers.Digits(True), byte_level()),
    "digits together, prefixed": sequence(pre_tokenizers.Digits(False), byte_level(add_prefix_space=True)),
    "deepseek": sequence(
        split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK), byte_level(use_regex=False)
    ),
    "no pattern": byte_level(use_regex=False),
    "digits from the right": sequence(split(r"(?=(\d{3})+(?!\d))"), byte_level()),
    "punctuation": sequence(pre_tokenizers.Punctuation("contiguous"), byte_level()),
    "whitespace lost": sequence(pre_tokenizers.WhitespaceSplit(), byte_level(use_regex=False)),
    "delimiter": sequence(pre_tokenizers.CharDelimiterSplit("a"), byte_level()),
    "inside each other": sequence(sequence(split(r"\s+", "merged_with_next"), sequence()), sequence(byte_level())),
}
BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
NORMALIZERS: dict[str, Any] = {
    **huggingface_cases.NORMALIZERS,
    "Strip": normalizers.Strip(),
    "Strip left": normalizers.Strip(True, False),
    "Strip right": normalizers.Strip(False, True),
    "Prepend": normalizers.Prepend("the"),
    "Replace text": normalizers.Replace("the", "é"),
    "Replace by nothing": normalizers.Replace("a", ""),
    "Replace pattern": normalizers.Replace(Regex(r"\s+"), " "),
    "Sequence": normalizers.Sequence(
        [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.NFKC()]
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family: str) -> None:
    for seed in range(3):
        assert_same_everywhere(make(FAMILIES[family], seed=seed), seed)
    assert_same_everywhere(make(FAMILIES[family], ignore_merges=True, added=ADDED), 9)
    assert_same_everywhere(make(FAMILIES[family], normalizers.NFC(), added=ADDED), 10)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers(name: str) -> None:
    assert_same_everywhere(make(normalizer=NORMALIZERS[name]), texts=300)
    assert_same_everywhere(make(normalizer=NORMALIZERS[name], added=ADDED), 1)
    assert_same_everywhere(make(FAMILIES["digits together, prefixed"], NORMALIZERS[name], added=ADDED), 2)


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_split_behaviors(behavior: str, invert: bool) -> None:
    for pattern in (r"\s+", r"\p{N}{1,2}", "(?=the)|a", r"\w+|[^\w\s]+"):
        assert_same_everywhere(make(sequence(split(pattern, behavior, invert), byte_level())), texts=60)
    literal = pre_tokenizers.Split("a", behavior, invert)
    assert_same_everywhere(make(sequence(literal, split(r"\s", behavior), byte_level(use_regex=False))), texts=60)


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "whole"])
def test_the_patterns_with_a_scanner_are_read_alike(is_whole: bool) -> None:
    """Characters that `tokenizers` knows, behind letters, an apostrophe, a space and a line end.

    The short test takes all below U+3000, one in fifty from U+3400 to U+D7FF and from U+20000 on, and one in three of
    the others.
    """
    for spelling in SPELLINGS:
        theirs = split(spelling)
        ours = patterns.resolve(spelling).core()
        rng = random.Random(spelling)
        known = split(r"\P{Cn}", "removed", True)
        every = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000 and code != 0x295]
        text = "".join(every)
        keep = [c for piece, _ in known.pre_tokenize_str(text) for c in piece]
        if not is_whole:
            rare = ("\u3400", "\ud7ff"), ("\U00020000", "\U0002ffff")
            steps = [50 if any(first <= c <= last for first, last in rare) else 3 for c in keep]
            keep = [c for c, step in zip(keep, steps, strict=True) if c < "\u3000" or ord(c) % step == 0]
        rng.shuffle(keep)
        for start in range(0, len(keep), 500):
            part = "".join(f"'{c} {c}\n{c}a{c}1" for c in keep[start : start + 500])
            expected = [piece for piece, _ in theirs.pre_tokenize_str(part)]
            found = [piece.decode() for piece in ours.split(part.encode())]
            assert found == expected, spelling


def test_byte_level_reads_merges_in_both_notations(tmp_path: Path) -> None:
    made = make(added=ADDED)
    data = content(made)
    data["model"]["merges"] = [" ".join(pair) for pair in data["model"]["merges"]]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data))
    for source in (path, str(path), tmp_path, made):
        assert Tokenizer.from_huggingface(source) == Tokenizer.from_huggingface(made)


def test_a_merge_twice_has_its_last_place() -> None:
    data = content(make(count=20))
    first = data["model"]["merges"][0]
    data["model"]["merges"].append(first)
    made = tokenizers.Tokenizer.from_str(json.dumps(data))
    ours = Tokenizer.from_huggingface(made)
    assert len(ours.merges) == 20
    rng = random.Random(0)
    for _ in range(100):
        assert_same(ours, made, text_of(rng, 10))


def test_added_tokens_of_all_kinds() -> None:
    both = [False, True]
    tokens = [
        AddedToken(f"<{n}>", lstrip=a, rstrip=b, single_word=c, normalized=d, special=e)
        for n, (a, b, c, d, e) in enumerate(
            (a, b, c, d, e) for a in both for b in both for c in both for d in both for e in both
        )
    ]
    rng = random.Random(1)
    for normalizer in (None, normalizers.NFKD(), normalizers.Sequence([normalizers.Lowercase(), normalizers.NFC()])):
        made = make(normalizer=normalizer, added=tokens)
        ours = Tokenizer.from_huggingface(made)
        pieces = [*(token.content for token in tokens), " ", "  ", "a", "_", "é", "\u3000", "B", "e\u0301", "1"]
        for _ in range(400):
            assert_same(ours, made, "".join(rng.choices(pieces, k=rng.randrange(9))))


def test_added_tokens_that_overlap() -> None:
    contents = ["ab", "bc", "abc", "c", "ca", "the", "he", "aa"]
    rng = random.Random(2)
    for seed in range(30):
        chosen = rng.sample(contents, 5)
        tokens = [AddedToken(text, normalized=rng.random() < 0.5, special=rng.random() < 0.5) for text in chosen]
        normalizer = rng.choice([None, normalizers.NFC()])
        made = make(added=tokens, normalizer=normalizer, seed=seed)
        ours = Tokenizer.from_huggingface(made)
        for _ in range(40):
            assert_same(ours, made, "".join(rng.choices("abc the", k=rng.randrange(12))))


def test_added_tokens_whose_whitespace_overlaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUST_BACKTRACE", "0")
    contents = ["\n", "\u3000", "  ", "a", "<a>", "b\n", " b", "\n\n", "é"]
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    rng = random.Random(6)
    compared = 0
    for _ in range(120):
        tokens = [
            AddedToken(text, **{flag: rng.random() < 0.5 for flag in flags})
            for text in rng.sample(contents, rng.randrange(1, 5))
        ]
        made = make(added=tokens, normalizer=rng.choice([None, normalizers.NFC()]), count=10)
        ours = Tokenizer.from_huggingface(made)
        for _ in range(30):
            text = "".join(rng.choices([*contents, "x", " ", "<a>\n", "\t"], k=rng.randrange(9)))
            try:
                made.encode(text)
            except BaseException as panic:  # a token whose text the one before it has taken, and more
                assert "bad split" in str(panic)
                assert encoded(ours, text).ids == ours.encode(text)
            else:
                assert_same(ours, made, text)
                compared += 1
    assert compared > 3000


def test_without_special_tokens_they_are_text() -> None:
    made = make(normalizer=normalizers.NFC(), added=ADDED)
    ours = Tokenizer.from_huggingface(made)
    made.encode_special_tokens = True
    rng = random.Random(3)
    for _ in range(200):
        text = text_of(rng, 10)
        assert ours.encode(text, special=False) == made.encode(text, add_special_tokens=False).ids
    with pytest.raises(ValueError, match="encode_special_tokens"):
        Tokenizer.from_huggingface(made)


def test_ids_with_gaps() -> None:
    data = content(make(added=ADDED))
    vocab = data["model"]["vocab"]
    data["model"]["vocab"] = {token: id + 5000 for token, id in vocab.items()}
    with pytest.warns(UserWarning, match="the original gives it"):
        ours = Tokenizer.from_huggingface(tokenizers_of(data))
    made = tokenizers.Tokenizer.from_str(json.dumps(data))
    rng = random.Random(0)
    for _ in range(100):
        assert_same(ours, made, text_of(rng, 10))
    # The next id behind the vocabulary's size may be taken, if ids have gaps: then two tokens would share it.
    data["model"]["vocab"] = {token: 2 * id for token, id in vocab.items()}
    with pytest.raises(ValueError, match=r"\$\.added_tokens.*gets the id"):
        Tokenizer.from_huggingface(tokenizers_of(data))


def tokenizers_of(data: dict[str, Any]) -> Any:
    class Source:
        def to_str(self) -> str:
            return json.dumps(data)

    return Source()


def test_ids_that_the_original_gives() -> None:
    data = content(make())
    data["added_tokens"][0]["id"] = 9999
    with pytest.warns(UserWarning, match="the original gives it"):
        ours = Tokenizer.from_huggingface(tokenizers_of(data))
    made = tokenizers.Tokenizer.from_str(json.dumps(data))
    assert ours.special_tokens["<s>"] == made.token_to_id("<s>") != 9999


TEMPLATES: dict[str, Any] = {
    "none": None,
    "byte level": processors.ByteLevel(trim_offsets=True),
    "byte level, not prefixed": processors.ByteLevel(trim_offsets=True, add_prefix_space=False),
    "roberta": processors.RobertaProcessing(("<s>", 316), ("<|end|>", 317)),
    "roberta, offsets whole": processors.RobertaProcessing(
        ("<s>", 316), ("<|end|>", 317), trim_offsets=False, add_prefix_space=False
    ),
    "llama3": processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True),
            processors.TemplateProcessing(
                single="<s> $A", pair="<s> $A <|end|>:1 $B:1", special_tokens=[("<s>", 316), ("<|end|>", 317)]
            ),
        ]
    ),
    "template": processors.TemplateProcessing(
        single="$A:3 <|end|>:2", pair="$B:1 <s> $A:0", special_tokens=[("<s>", 316), ("<|end|>", 317)]
    ),
}


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("name", TEMPLATES)
def test_templates(name: str, prefix: bool) -> None:
    made = make(byte_level(add_prefix_space=prefix), added=ADDED)
    if TEMPLATES[name] is not None:
        made.post_processor = TEMPLATES[name]
    ours = Tokenizer.from_huggingface(made)
    rng = random.Random(4)
    for _ in range(80):
        texts = [text_of(rng, 6) for _ in range(rng.choice([1, 2]))]
        for add in (False, True):
            truth = made.encode(*texts, add_special_tokens=add)
            parts = [encoded(ours, text) for text in texts]
            if ours.pipeline is None or ours.pipeline.template is None:
                assert [id for part in parts for id in part.ids] == truth.ids
                continue
            whole = EncodingSettings("[null, null]", ours.pipeline.template).finish(parts, add)
            assert (whole.ids, whole.tokens, whole.offsets) == (truth.ids, truth.tokens, truth.offsets)
            assert whole.type_ids == truth.type_ids
            if add:
                assert ours.pipeline.template.ids(*(part.ids for part in parts)) == truth.ids


def test_the_template_tells_what_it_adds() -> None:
    made = make()
    made.post_processor = TEMPLATES["llama3"]
    template = Tokenizer.from_huggingface(made).pipeline.template
    assert template is not None
    assert (template.added(), template.added(is_pair=True)) == (1, 2)


# On the published vocabularies.


# tiktoken's spelling of cl100k has another meaning in this dialect; cl100k_old is tested by llama3.
@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("gpt2", 40_000),
        ("qwen2", 40_000),
        *(pytest.param(pattern, 1_000_000, marks=pytest.mark.long) for pattern in ("gpt2", "qwen2", "o200k")),
    ],
)
def test_published_vocabularies(data: Path, corpora: dict[str, str], pattern: str, size: int) -> None:
    theirs = of_huggingface(data, pattern)
    if pattern == "qwen2":
        theirs.normalizer = normalizers.NFC()
    ours = Tokenizer.from_huggingface(theirs)
    assert patterns.of_core(ours._core).name == pattern  # it runs as a scanner
    for corpus, text in corpora.items():
        start = random.Random(f"{pattern} {corpus}").randrange(len(text) - size)
        documents = documents_of(text[start : start + size])
        for document, truth in zip(documents, theirs.encode_batch(documents, add_special_tokens=False), strict=True):
            ids, spans = ours.encode_with_offsets(document)
            assert_ids(ids, truth.ids, ours, document[:40])
            assert [tuple(span) for span in spans.tolist()] == truth.offsets
        assert ours.encode_batch(documents) == [ours.encode(document) for document in documents]


def test_llama3_ignores_merges(shared_data: Path) -> None:
    data = json.loads(json_of_huggingface(shared_data, "cl100k"))
    data["model"]["ignore_merges"] = True
    data["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = patterns.CL100K_OLD
    theirs = tokenizers.Tokenizer.from_str(json.dumps(data))
    ours = Tokenizer.from_huggingface(theirs)
    assert patterns.of_core(ours._core).name == "cl100k_old"
    unreachable = [id for id, token in ours.vocab.items() if len(token) > 1][-3000:]
    for id in unreachable:
        text = ours.token_bytes(id).decode(errors="ignore")
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids, text
