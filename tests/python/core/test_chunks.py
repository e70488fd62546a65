"""Files are counted in chunks: wherever they are cut, the counts are those of the whole text."""

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from reading import corpus_of
from small_sizes import count_pretokens
from training_data import END, assert_equal, pattern_source, random_text

from toksmith import Corpus, reference, train

PATTERNS: list[str | None] = [
    "gpt2",
    "cl100k",
    "cl100k_old",
    "llama3",
    "qwen2",
    "nanochat",
    "o200k",
    "qwen3.5",
    "tekken",
    None,
    r"\p{L}+|\s+",
    r"(?<=a )b|\S+",  # looks behind: no cut of the text would be safe
    r"\s+\S|$",
]

# Special tokens in which text could be cut, that end or begin where it could, and that overlap.
SPECIALS: list[list[str]] = [
    [],
    [END],
    ["<s> <e>", "<s>", " <e>"],
    ["a b", "b a", " "],
    ["\n", "\n\n\n"],
    ["x\r\ny", "\r\n", "\n<|"],
    ["\u3000。", "。\u3000\n"],
]

DOCUMENTS: dict[str, str] = {
    "empty": "",
    "one byte": "\n",
    "words": "some words, that'll be cut:  here \n\n and there\n",
    "crlf": "one\r\ntwo\r\n\r\nthree \r\n x\r\ry\n\r",
    "bom": "\ufeffx \ufeff\r\n\ufeff",
    "odd spaces": "a\x85b\x85 \xa0c\xa0\xa0 d\u3000e \u3000\n\u3000f\u2028\u2029 g\x0b\x0c h",
    "odd at the end": "a \x85",
    "no space": "日本語のテキスト、空白なし。abcABC123!?👍🏽ñé" + "z" * 20,
    "scripts": "நடிகர் சூர்யா q\u0301x 👍🏽 a² ǅx ʰA\u0301B 'LL 'ſ we'll",
    "slashes": "a.\n/b\n/\n//c\r\n/ d!\n\n!\r\n/\n",
    "digits": "1234567 12 3\n4567\n\n89 \t0",
    "specials": f"a b a b{END} {END}\n{END}<s> <e><s>  <e>\n\n\n\nx\r\ny\r\n。\u3000\n\u3000。",
    "half specials": "<|endoftext <| endoftext|> <s>\u3000<e> x\r\n y a  b a\nb",
    "runs": "   \n\n\n   \t\t \r\n\r\n     x     ",
    "longer than spaces": "x" * 30 + " " * 30 + "\n" * 30 + "x",
    "controls": "\x00a\x1c b\x1f\x00 \x7f\x00\n\x00",
}


# A number of bytes is tried or not by chance, the same in each run: the odds. `make test-long` tries them all.
SOME, ALL = 0.02, 1.0
ODDS = [pytest.param(SOME, id="some"), pytest.param(ALL, id="all", marks=pytest.mark.long)]


def cuts(size: int, rng: random.Random, odds: float) -> Iterator[dict[str, Any]]:
    """Yield sizes of chunks, and of workers: every size, or the smallest and some others."""
    for number in range(1, size + 2):
        if number <= 2 or rng.random() < odds:
            yield {"chunk_bytes": number}
            yield {"chunk_bytes": number, "workers": rng.choice((1, 2))}


def check(
    data: bytes, pattern: str | None, specials: Sequence[str], file: Path, seed: object, odds: float, **options: Any
) -> int:
    """Count `data` cut in many ways; returns how many pretokens there are."""
    file.write_bytes(data)
    text = data.decode("utf-8", options.get("errors", "strict"))
    expected = list(
        reference.count_pretokens(
            text, specials, pattern_source(pattern), unmatched=options.get("unmatched", "keep")
        ).items()
    )
    corpus = corpus_of(file, options)
    for cut in cuts(len(data), random.Random(f"{seed} {pattern} {specials}"), odds):
        found = count_pretokens(corpus, special_tokens=specials, pattern=pattern, **options, **cut)
        assert_equal(found.items(), expected, (cut, pattern, specials, data))
    return len(expected)


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_cut_of_a_nasty_document(pattern: str | None, odds: float, tmp_path: Path) -> None:
    found = 0
    for number, (name, text) in enumerate(DOCUMENTS.items()):
        for specials in SPECIALS:
            if specials in ([], [END]) or name in ("specials", "half specials", "crlf", "words", "odd spaces"):
                found += check(text.encode(), pattern, specials, tmp_path / "document", number, odds)
    assert found > 100


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", r"\p{L}+|\s+", None])
def test_every_cut_of_bytes_that_are_replaced(pattern: str | None, odds: float, tmp_path: Path) -> None:
    # What special tokens hold that have U+FFFD in them is only known once invalid bytes are replaced.
    documents = [
        b"a\xff b\xff\xff \n\xe2\x82 \xe2\x82\n\xf0\x9f\x91\xe2\x82\xac x",
        b"\xff \xffa\xff\n\xff\xff \xff\xff",
        "x\ufffd \ufffdy".encode() + b"x\xff \xffy\x80\x80 \xc0\xaf\xed\xa0\x80\n",
        b"\xe2\x82",
        b"ok \xf4\x90\x80\x80 \xf8\x88\n\xc3",
    ]
    specials: list[list[str]] = [[], ["\ufffd"], ["\ufffd \ufffd"], ["\ufffd\n", "x\ufffd"], [" \ufffd", "\n"]]
    for number, (data, some) in enumerate(itertools.product(documents, specials)):
        check(data, pattern, some, tmp_path / "document", number, odds, errors="replace")


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("unmatched", ["keep", "drop"])
@pytest.mark.parametrize("seed", range(3))
def test_every_cut_of_random_documents(seed: int, unmatched: str, odds: float, tmp_path: Path) -> None:
    rng = random.Random(seed)
    hard = "aA1.!/' \n\r\té。\u3000\xa0\x85\u0301ǅ🫨<|>"
    for number in range(40):
        specials = rng.choice(SPECIALS)
        alphabet = "".join(rng.choices(hard, k=rng.choice((2, 4, 8))))
        text = random_text(rng, alphabet, specials, 8)
        check(
            text.encode()[:150].decode(errors="ignore").encode(),
            rng.choice(PATTERNS),
            specials,
            tmp_path / "d",
            f"{seed} {number}",
            odds,
            unmatched=unmatched,
        )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 14))
def test_every_cut_of_many_random_documents(seed: int, tmp_path: Path) -> None:
    for part in range(20):
        folder = tmp_path / str(part)
        folder.mkdir()
        test_every_cut_of_random_documents(
            1000 * seed + part, random.Random(part).choice(("keep", "drop")), ALL, folder
        )


@pytest.mark.parametrize("size", [150_000, pytest.param(2_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", None])
@pytest.mark.parametrize("name", ["en", "code", "multi"])
def test_real_text_in_chunks(
    name: str, pattern: str | None, size: int, corpora: dict[str, str], tmp_path: Path
) -> None:
    # Chunks around the sizes of the buffers that cuts are looked for in (4 KiB).
    data = corpora[name].encode()[:size]
    text = data.decode(errors="ignore")
    file = tmp_path / "corpus.txt"
    file.write_bytes(text.encode())
    expected = list(reference.count_pretokens(text, [END], pattern_source(pattern)).items())
    for chunk, workers in [(None, 1), (4096, 2), (4095, 7), (50_001, 2), (1 << 16, 1)]:
        found = count_pretokens(file, special_tokens=[END], pattern=pattern, workers=workers, chunk_bytes=chunk)
        assert_equal(found.items(), expected, (name, pattern, chunk, workers))


def test_no_place_to_cut_for_a_long_way(tmp_path: Path) -> None:
    # Longer than what is looked at for a cut: 4 KiB, then twice as much.
    file = tmp_path / "long"
    for text in (
        "x" * 100_000 + " y",
        "日" * 30_000,
        " " * 70_000 + "x",
        f"{'z' * 9000}{END} {'q' * 9000}",
        "\n" * 50_000,
    ):
        file.write_bytes(text.encode())
        for pattern in ("gpt2", "cl100k"):
            expected = list(reference.count_pretokens(text, [END], pattern_source(pattern)).items())
            for chunk in (1, 1000, 4096, 69_999):
                found = count_pretokens(file, special_tokens=[END], pattern=pattern, workers=2, chunk_bytes=chunk)
                assert_equal(found.items(), expected, (pattern, chunk))


def test_a_special_token_longer_than_any_chunk(tmp_path: Path) -> None:
    token = "<" + "long special, " * 280 + ">"
    text = f"a b {token} c {token[:-1]} {token}{token}\n"
    file = tmp_path / "long"
    file.write_bytes(text.encode())
    expected = list(reference.count_pretokens(text, [token, "b "]).items())
    for chunk in (1, 777, 1024, 3_900):
        found = count_pretokens(file, special_tokens=[token, "b "], chunk_bytes=chunk, workers=2)
        assert_equal(found.items(), expected, chunk)


def test_files_are_never_joined_and_keep_their_order(tmp_path: Path) -> None:
    rng = random.Random(3)
    parts = ["lo", "w", " ", "\n", "<|endof", "text|>", "a\r", "\nb", "é", "", "\xa0", "'", "ll", "1", "2"]
    for pattern in ("gpt2", "cl100k", None):
        for _ in range(6):
            texts = [rng.choice(parts) + random_text(rng, "ab \n", [END], 3) + rng.choice(parts) for _ in range(30)]
            files = [tmp_path / f"{rng.random()}" for _ in texts]
            for file, text in zip(files, texts, strict=True):
                file.write_bytes(text.encode())
            expected = list(reference.count_pretokens(texts, [END], pattern_source(pattern)).items())
            for workers, chunk in [(1, None), (2, 1), (7, 5), (3, 64)]:
                found = count_pretokens(
                    files, special_tokens=[END], pattern=pattern, workers=workers, chunk_bytes=chunk
                )
                assert_equal(found.items(), expected, (pattern, workers, chunk, texts))


def test_half_a_character_at_the_end_of_a_file_is_not_completed_by_the_next(tmp_path: Path) -> None:
    files = [tmp_path / "1", tmp_path / "2"]
    files[0].write_bytes("a€".encode()[:-1])
    files[1].write_bytes("€".encode()[-1:] + b"b")
    with pytest.raises(ValueError, match=rf"{re.escape(str(files[0]))}: not UTF-8 at byte 1"):
        count_pretokens(files)
    found = count_pretokens(Corpus(files, errors="replace"))
    assert found.items() == [(b"a", 1), ("\ufffd".encode(), 2), (b"b", 1)]


@pytest.mark.parametrize("odds", ODDS)
def test_the_first_invalid_byte_is_named_for_any_cut(odds: float, tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(b"fine words here\n" * 40)
    rng = random.Random(9)
    for broken in (b"\xff", b"\xe2\x82", b"\xc0\x80", b"\xed\xa0\x80", b"\xf0\x9f\x91 ", b"\x80"):
        data = bytearray(b"some words, \xe2\x82\xac here\n" * 12)
        first = rng.randrange(40, 200)
        while data[first] & 0xC0 == 0x80:
            first += 1
        data[first:first] = broken
        data += b"\n and more \xfe later"
        bad.write_bytes(data)
        with pytest.raises(UnicodeDecodeError) as error:
            data.decode()
        for cut in cuts(60, rng, odds):
            with pytest.raises(ValueError, match=rf"^{re.escape(str(bad))}: not UTF-8 at byte {error.value.start}: "):
                count_pretokens([good, bad, bad], **{**cut, "workers": 3})
        with pytest.raises(ValueError, match=f"at byte {error.value.start}: "):
            train(bad, 300)


def test_a_file_that_is_shorter_than_it_was_is_refused(tmp_path: Path) -> None:
    """Counted is all of what was there before, or after, or there is an error."""
    file = tmp_path / "text"
    for pattern in ("gpt2", None):
        for left in (0, 5, 4096, 100_000):
            file.write_bytes(b"x" * 200_000 + b" y" * 100_000)

            def shorten(*_: Any) -> None:
                with file.open("r+b") as handle:
                    handle.truncate(min(left, file.stat().st_size))  # noqa: B023

            try:
                found = count_pretokens(file, pattern=pattern, progress=shorten, workers=2, chunk_bytes=50_000)
            except OSError as error:
                assert "the file became shorter while it was read" in str(error)
            else:
                size = file.stat().st_size
                assert size == left
                assert sum(len(pretoken) * count for pretoken, count in found.items()) in (left, 400_000)
