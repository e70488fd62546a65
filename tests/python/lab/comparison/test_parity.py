"""Parity between languages on parallel text: premiums against plain code; files that do not go together."""

import functools
import gzip
from pathlib import Path

import measuring_oracle as oracle
import pytest
from pytest import approx

import toksmith
from toksmith import Tokenizer
from toksmith.lab import batches

# The first sentences of the Universal Declaration of Human Rights, articles 1 to 3 and 9, and an empty line.
SENTENCES = {
    "English": [
        "All human beings are born free and equal in dignity and rights.",
        "They are endowed with reason and conscience.",
        "Everyone has the right to life, liberty and security of person.",
        "",
        "No one shall be subjected to arbitrary arrest, detention or exile.",
    ],
    "German": [
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
        "Sie sind mit Vernunft und Gewissen begabt.",
        "Jeder hat das Recht auf Leben, Freiheit und Sicherheit der Person.",
        "",
        "Niemand darf willkürlich festgenommen, in Haft gehalten oder des Landes verwiesen werden.",
    ],
    "Russian": [
        "Все люди рождаются свободными и равными в своем достоинстве и правах.",
        "Они наделены разумом и совестью.",
        "Каждый человек имеет право на жизнь, на свободу и на личную неприкосновенность.",
        "",
        "Никто не может быть подвергнут произвольному аресту, задержанию или изгнанию.",
    ],
}


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Tokenizer]:
    english = toksmith.train(iter(SENTENCES["English"] * 3), 350)
    all_of_them = toksmith.train(iter([line for lines in SENTENCES.values() for line in lines] * 3), 450)
    return {"english": english, "all": all_of_them}


@pytest.mark.parametrize("reference", ["English", "Russian"])
def test_premiums(reference: str, tokenizers: dict[str, Tokenizer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MAX_CHARACTERS", 500)
    parallel = {language: lines * 4 for language, lines in SENTENCES.items()}
    found = toksmith.lab.compare(
        tokenizers,
        parallel={name: iter(lines) for name, lines in parallel.items()},
        reference=reference,
        resamples=30,
    )
    others = [language for language in parallel if language != reference]
    assert [one.language for one in found.parity] == [reference, *others]
    base = {
        name: oracle.sizes(parallel[reference], functools.partial(one.encode, special=False))
        for name, one in tokenizers.items()
    }
    for one in found.parity:
        assert (one.reference, one.sentences) == (reference, 20)
        for premium, (name, tokenizer) in zip(one.premiums, tokenizers.items(), strict=True):
            rows = oracle.sizes(parallel[one.language], functools.partial(tokenizer.encode, special=False))
            assert premium.tokens == sum(row[2] for row in rows)
            columns = {0: one.bytes, 1: one.characters, 2: premium.premium}
            for column, estimate in columns.items():
                above, below = [row[column] for row in rows], [row[column] for row in base[name]]
                assert estimate is not None
                assert estimate.value == approx(sum(above) / sum(below))
                low_and_high = oracle.interval(above, below, 30, 0.95, 0)
                assert (estimate.low, estimate.high) == approx(low_and_high)


def test_parallel_texts_alone_are_the_documents(tokenizers: dict[str, Tokenizer]) -> None:
    found = toksmith.lab.compare(tokenizers, parallel=SENTENCES, resamples=0)
    assert {group.name: (group.documents, group.bytes) for group in found.by("language")} == {
        language: (5, sum(len(line.encode()) for line in lines)) for language, lines in SENTENCES.items()
    }
    beside = toksmith.lab.compare(tokenizers, iter(["other text"]), parallel=SENTENCES, resamples=0)
    assert beside.all.bytes == 10
    assert beside.parity == found.parity


def test_files_line_by_line(tokenizers: dict[str, Tokenizer], tmp_path: Path) -> None:
    paths = {language: tmp_path / f"{language}.txt" for language in SENTENCES}
    for number, (language, lines) in enumerate(SENTENCES.items()):
        end = ["\n", "\r\n", "\n"][number]
        text = end.join(lines) + ("" if number == 2 else end)
        paths[language].write_bytes(text.encode())
    packed = tmp_path / "German.txt.gz"
    packed.write_bytes(gzip.compress(paths["German"].read_bytes()))
    paths["German"] = packed
    found = toksmith.lab.compare(tokenizers, parallel=paths, resamples=9)
    assert found.parity == toksmith.lab.compare(tokenizers, parallel=SENTENCES, resamples=9).parity
    assert [group.name for group in found.by("file")] == [
        str(paths[name]) for name in ("Russian", "German", "English")
    ]


def test_errors(tokenizers: dict[str, Tokenizer], tmp_path: Path) -> None:
    (tmp_path / "short").write_text("a\nb\n")
    (tmp_path / "long").write_text("a\nb\nc\n")
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "bad").write_bytes(b"a\n\xff\n")
    files = {name: str(tmp_path / name) for name in ("short", "long", "bad", "a.jsonl")}
    message = "parallel texts differ in length: short ends after 2 lines, and long goes on"
    with pytest.raises(ValueError, match=message):
        toksmith.lab.compare(tokenizers, parallel={"long": files["long"], "short": files["short"]})
    with pytest.raises(ValueError, match=message):
        toksmith.lab.compare(tokenizers, iter(["a"]), parallel={"short": files["short"], "long": files["long"]})
    with pytest.raises(ValueError, match="bad: not UTF-8 at byte 2"):
        toksmith.lab.compare(tokenizers, parallel={"short": files["short"], "bad": files["bad"]})
    with pytest.raises(ValueError, match=r"a\.jsonl: parallel texts are files of text"):
        toksmith.lab.compare(tokenizers, parallel={"short": files["short"], "b": files["a.jsonl"]})
    with pytest.raises(ValueError, match="two languages or more"):
        toksmith.lab.compare(tokenizers, parallel={"short": files["short"]})
    with pytest.raises(ValueError, match="reference is one of the languages"):
        toksmith.lab.compare(tokenizers, parallel=SENTENCES, reference="French")
    with pytest.raises(ValueError, match="reference is one of the languages"):
        toksmith.lab.compare(tokenizers, iter(["a"]), reference="French")
    with pytest.raises(TypeError, match="a mapping of languages"):
        toksmith.lab.compare(tokenizers, parallel=[files["short"]])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no text to compare on"):
        toksmith.lab.compare(tokenizers, parallel={"a": [], "b": []})
    with pytest.raises(ValueError, match="no text to compare on"):
        toksmith.lab.compare(tokenizers, iter(["a"]), parallel={"a": [], "b": []})
