"""Every figure of `toksmith.lab.compare` against plain code, on real text."""

import functools
from pathlib import Path
from typing import Any

import measuring_oracle as oracle
import numpy as np
import pytest
from pytest import approx

import toksmith
from toksmith import Tokenizer
from toksmith.encoding import text_streaming
from toksmith.lab import batches
from toksmith.lab.comparison import statistics
from toksmith.lab.comparison.comparison import Comparison
from toksmith.lab.comparison.statistics import Group

ROOT = Path(__file__).resolve().parents[4]
SPECIAL = "<|endoftext|>"

# Sentences of the Universal Declaration of Human Rights, article 1.
RIGHTS = {
    "en": "All human beings are born free and equal in dignity and rights. They have reason and conscience.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie haben Vernunft und Gewissen.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι.",
    "zh": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
    "ja": "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 이성과 양심을 부여받았다.",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Documents of this repository, and of many scripts; some are empty, one has no letter."""
    prose = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/training.md"))
    return [
        *oracle.documents(prose, 60, 1),
        *RIGHTS.values(),
        "12 + 30 = 42\n👍",
        f"a{SPECIAL}b",
        " \n ",
        "",
        "日本のtest",
    ]


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    prose = (ROOT / "docs/data.md").read_text(encoding="utf-8")
    return {
        "bytes": Tokenizer(),
        "small": toksmith.train(iter([prose]), 500, special_tokens=[SPECIAL]),
        "mixed": toksmith.train(iter([prose, *RIGHTS.values()]), 900, pattern="o200k"),
    }


@pytest.fixture(scope="module")
def found(tokenizers: dict[str, Tokenizer], texts: list[str]) -> Comparison:
    return toksmith.lab.compare(tokenizers, iter(texts), resamples=40)


def check(group: Group, texts: list[str], tokenizers: dict[str, Tokenizer], **drawn: Any) -> None:
    """Compare all figures of a group with those of plain code."""
    rows = {
        name: oracle.sizes(texts, functools.partial(one.encode, special=False)) for name, one in tokenizers.items()
    }
    first = [row[2] for row in rows[next(iter(tokenizers))]]
    for figures, (name, of_texts) in zip(group.figures, rows.items(), strict=True):
        size, characters, tokens = zip(*of_texts, strict=True)
        assert (group.documents, group.bytes) == (len(texts), sum(size))
        assert group.characters == sum(characters)
        assert (figures.tokenizer, figures.tokens) == (name, sum(tokens))
        pairs = {
            "bytes_per_token": (size, tokens),
            "characters_per_token": (characters, tokens),
            "relative": (tokens, first),
        }
        for key, (above, below) in pairs.items():
            estimate = getattr(figures, key)
            if not sum(below):
                assert estimate is None
                continue
            assert estimate.value == approx(sum(above) / sum(below), rel=1e-12)
            if len(texts) < statistics.MIN_DOCUMENTS or not drawn:
                assert estimate.low is estimate.high is None
            else:
                assert (estimate.low, estimate.high) == approx(oracle.interval(above, below, **drawn), rel=1e-12)


def test_all_documents(found: Comparison, tokenizers: dict[str, Tokenizer], texts: list[str]) -> None:
    check(found.all, texts, tokenizers, resamples=40, level=0.95, seed=0)


@pytest.mark.parametrize("pattern", ["gpt2", r"\w+|\W", r"(?<!x)\w+|\W+", None])
def test_the_size_of_batches_changes_nothing(
    pattern: str | None, texts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of long documents too, whose parts are encoded one by one."""
    chosen = {
        "one": toksmith.train(iter(texts), 400, pattern=pattern),
        "two": toksmith.train(iter(texts), 700, pattern=pattern, special_tokens=[SPECIAL]),
    }
    for number, text in enumerate([*texts, "".join(texts)]):
        (tmp_path / f"{number:03}.txt").write_bytes(text.encode())
    expected = toksmith.lab.compare(chosen, str(tmp_path), resamples=3, workers=1)
    monkeypatch.setattr(batches, "MAX_CHARACTERS", 500)
    monkeypatch.setattr(text_streaming, "CHUNK_CHARACTERS", 200)
    monkeypatch.setattr(text_streaming, "_TAIL_CHARACTERS", 50)
    assert toksmith.lab.compare(chosen, str(tmp_path), resamples=3, workers=2).to_dict() == expected.to_dict()


def test_many_documents_are_drawn_in_blocks() -> None:
    """The interval is about that of drawing documents."""
    rng = np.random.default_rng(3)
    columns = np.stack([rng.integers(1, 400, 9000), rng.integers(1, 100, 9000)])
    [estimate] = statistics.ratios_of(columns, [(0, 1)], 400)
    assert estimate is not None and estimate.low is not None and estimate.high is not None
    drawn = rng.integers(0, 9000, (400, 9000))
    ratios = columns[0][drawn].sum(axis=1) / columns[1][drawn].sum(axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    assert (estimate.low, estimate.high) == approx((low, high), abs=0.25 * (high - low))
    assert estimate.value == approx(columns[0].sum() / columns[1].sum())


def test_nothing_to_divide_by() -> None:
    columns = np.array([[3] * 20, [0] * 20, [0] * 19 + [1]])
    of_nothing, of_one = statistics.ratios_of(columns, [(0, 1), (0, 2)], 50)
    assert of_nothing is None
    assert of_one is not None and of_one.value == 60 and of_one.low is not None
    [rarely_drawn] = statistics.ratios_of(np.array([[1] * 8, [0] * 7 + [1]]), [(0, 1)], 1)
    assert rarely_drawn is not None


@pytest.mark.long
def test_whole_corpora(corpora: dict[str, str], gpt2_ranks: Tokenizer, o200k: Tokenizer) -> None:
    for text in corpora.values():
        texts = text.split(f"{SPECIAL}\n")[:1500]
        chosen = {"gpt2": gpt2_ranks, "o200k": o200k}
        found = toksmith.lab.compare(chosen, iter(texts), resamples=5)
        check(found.all, texts, chosen, resamples=5, level=0.95, seed=0)
