"""`toksmith.compat.first_toksmith` against the notebooks of that package, and its rules in plain Python.

The package is in no index. Its training is the naive one of `toksmith.reference` with ties by the greatest ids.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from training_data import ALPHABETS, random_text

from toksmith.compat import first_toksmith
from toksmith.compat.first_toksmith import Tokenizer, _encode_iterable, _merge, _pairs_count, get_lowest_rank_pair
from toksmith.reference import count_pretokens, naive_merges

LOW_LOWER = " low low low low low lower lower widest widest widest newest newest newest newest newest newest"
# `merges[256:]` and the counts of the notebooks, printed by them.
TOKENS = [b"st", b"est", b"ow", b"low", b" low", b"west", b"ne", b"newest", b" newest", b"wi"]
PAIRS = [(115, 116), (101, 256), (111, 119), (108, 258), (32, 259), (119, 257), (110, 101), (262, 261), (32, 263)]


def naive(texts: list[str], merges: int) -> list[bytes]:
    counts: dict[bytes, int] = {}
    for text in texts:
        for pretoken, count in count_pretokens(text).items():
            counts[pretoken] = counts.get(pretoken, 0) + count
    return [merge.left + merge.right for merge in naive_merges(counts, merges, ties="ids")]


def test_the_notebooks() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.pattern.findall(LOW_LOWER)[:2] == [" low", " low"]
    counts = tokenizer._pretoken_count(LOW_LOWER)
    assert counts[32, 108, 111, 119] == 5 and sum(counts.values()) == 16
    pairs = tokenizer._pairs_count(counts)
    assert pairs == _pairs_count(counts) and (pairs[115, 116], pairs[119, 101], pairs[32, 108]) == (9, 8, 7)
    tokenizer.train(LOW_LOWER, 266, [])
    assert list(tokenizer.vocab.values())[256:] == TOKENS
    assert tokenizer.merges[:9] == PAIRS


@pytest.mark.parametrize("seed", range(60))
def test_training_on_random_texts(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    specials = ["<|x|>", "<|x|>y"][: rng.randrange(3)]
    texts = [random_text(rng, rng.choice(ALPHABETS), [], 30) for _ in range(3)]
    joint = "".join(specials[:1]).join(texts)
    tokenizer = Tokenizer()
    tokenizer.train(joint, 256 + 20 + len(specials), specials, use_fast_merge=rng.random() < 0.5)
    assert list(tokenizer.vocab.values())[256:] == [*naive(["".join(texts)], 20), *map(str.encode, specials)]
    if specials:
        path = tmp_path / "text"
        path.write_text(joint, encoding="utf-8", newline="")
        tokenizer.train_from_file(path, 256 + 20 + len(specials), specials)
        # Read as text: line ends are translated.
        read = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
        assert list(tokenizer.vocab.values())[256:] == [*naive(read, 20), *map(str.encode, specials)]


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1000])
def test_documents_at_any_block(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_toksmith, "_BLOCK", block)
    path = tmp_path / "text"
    path.write_text("<|x|>ab<|x|><|x|>cd<|y|>ef<|x<|y|>g<|x|", encoding="utf-8")
    found = list(first_toksmith._documents(path, ["<|x|>", "<|y|>"]))
    assert [one for one in found if one] == ["ab", "cd", "ef<|x", "g<|x|"]


def test_training_again_and_limits() -> None:
    tokenizer = Tokenizer()
    tokenizer.merges, tokenizer.vocab = [(1, 2)], {999: b"X"}
    tokenizer.train("abab", 257, [], verbose=True)
    assert tokenizer.merges == [(97, 98)] and tokenizer.vocab[256] == b"ab" and 999 not in tokenizer.vocab
    tokenizer.train("ab<tok>ab", 258, ["<tok>"])
    assert (tokenizer.vocab[256], tokenizer.vocab[257]) == (b"ab", b"<tok>")
    tokenizer.train("ab", 1000, [])  # no pair is left: the original fails
    assert tokenizer.merges == [(97, 98)] and len(tokenizer.vocab) == 257
    for size, specials in ((255, []), (257, ["a|", "b|"])):
        with pytest.raises(ValueError, match="vocab_size must be >="):
            tokenizer.train("ab", size, specials)
    with pytest.raises(ValueError, match="at least one special token required"):
        tokenizer.train_from_file("x", 300, [])
    assert tokenizer.merges == [(97, 98)]


def test_what_is_inside() -> None:
    tokenizer = Tokenizer()
    tokenizer.train(LOW_LOWER + "<|e|>", 267, ["<|e|>"])
    inside = tokenizer.tokenizer
    assert inside.encode(" lowest<|e|>") == [260, 257, 266] and inside.decode([266]) == "<|e|>"
    pairs: Any = {pair: id for id, pair in enumerate(tokenizer.merges, 256)}
    assert _encode_iterable([" low", "est", "<|e|>"], pairs, {"<|e|>": 266}) == [260, 257, 266]
    tokenizer.vocab[256] = b"no"
    with pytest.raises(ValueError, match="as id 256, where the merges make b'st'"):
        _ = tokenizer.tokenizer


def test_state_files(tmp_path: Path) -> None:
    tokenizer, again = Tokenizer(), Tokenizer()
    tokenizer.train(LOW_LOWER, 260, ["<|e|>"])
    path = tokenizer.save_state("../tiny", tmp_path / "out")
    assert path == (tmp_path / "out/tiny_tokenizer.json").resolve()
    state = json.loads(path.read_text())
    assert list(state) == ["version", "merges", "vocab"] and state["version"] == 1
    assert state["merges"][0] == [115, 116] and state["vocab"]["256"] == b"st".hex()
    again.load_state("tiny", str(tmp_path / "out"))
    assert (again.merges, again.vocab) == (tokenizer.merges, tokenizer.vocab)
    path.write_text(json.dumps({"version": 1, "merges": [[1, 2]], "vocab": {"0": "00", "256": "6162"}}))
    again.load_state("tiny", tmp_path / "out")
    assert (again.merges, again.vocab) == ([(1, 2)], {0: b"\x00", 256: b"ab"})


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"version": 2, "merges": [], "vocab": {}}, "Unsupported tokenizer state version: 2"),
        ({"version": 1, "merges": [], "vocab": {"x": "00"}}, "Invalid token ID in state file: 'x'"),
        ({"version": 1, "merges": [], "vocab": {"0": "zz"}}, "Invalid hex for token 0: 'zz'"),
        ({"version": 1, "merges": [], "vocab": {"0": 5}}, "Invalid hex for token 0: 5"),
        ({"version": 1, "merges": [[1]], "vocab": {}}, r"a merge is two ids, not \[1\]"),
        ({"version": 1, "merges": {}, "vocab": {}}, '"merges" is a list'),
        ([], "not a state of a tokenizer"),
    ],
)
def test_state_files_that_are_wrong(state: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "p_tokenizer.json").write_text(json.dumps(state))
    tokenizer = Tokenizer()
    with pytest.raises(ValueError, match=message):
        tokenizer.load_state("p", tmp_path)
    assert tokenizer.merges == []


def test_places_that_are_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for call in (
        lambda: Tokenizer().load_state("p", tmp_path / "file"),
        lambda: Tokenizer().load_state("p", tmp_path / "nothing"),
        lambda: Tokenizer().save_state("p", tmp_path / "file"),
    ):
        with pytest.raises(NotADirectoryError):
            call()
    with pytest.raises(FileNotFoundError):
        Tokenizer().load_state("p", tmp_path)


def test_helpers() -> None:
    cases: list[tuple[Any, Any, Any, Any]] = [
        ((), (1, 2), 3, ()),
        ((1, 2, 1, 2), (1, 2), 9, (9, 9)),
        ((7, 7, 7), (7, 7), 0, (0, 7)),
        ("abab", ("a", "b"), "Z", ("Z", "Z")),
        ([1, 2, 3], (4, 5), 0, (1, 2, 3)),
    ]
    for sequence, pair, new, expected in cases:
        assert _merge(sequence, pair, new) == expected
    for wrong in ((1,), (1, 2, 3), [1, 2]):
        with pytest.raises(ValueError, match="2-tuple"):
            _merge((1, 2), wrong, 0)  # type: ignore[arg-type]
    assert get_lowest_rank_pair((1, 2, 3), {(1, 2): 10, (2, 3): 5}) == ((2, 3), 5)
    assert get_lowest_rank_pair((1,), {(1, 2): 5}) is None
