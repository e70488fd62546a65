"""The tables of the five notebooks that the project started from, reproduced by the reference.

Each table is quoted from the cell that printed it. The notebooks lie in `../shared/seeds`; two of their
training texts are long and are read from there, so those tests skip where the folder is absent.
"""

import ast
import re
from pathlib import Path

import pytest

from toksmith.reference import (
    GPT2_PATTERN,
    build_vocab,
    count_pairs,
    count_pretokens,
    decode,
    encode,
    incremental_merges,
    naive_merges,
    pretokenize,
    pretokens_after,
    train_bpe,
)

# The toksmith notebook (000 as text, 001 with its outputs): GPT-2's pattern, ties by the greatest ids.

LOW_LOWER = " low low low low low lower lower widest widest widest newest newest newest newest newest newest"

# The cell under "Let's Put It All Together": pretokens in pieces with their counts, then the top pair.
ALL_TOGETHER = """
_ l o w:5,_ l o w e r:2,_ w i d e s t:3,_ n e w e s t:6 -> s t 9
_ l o w:5,_ l o w e r:2,_ w i d e st:3,_ n e w e st:6 -> e st 9
_ l o w:5,_ l o w e r:2,_ w i d est:3,_ n e w est:6 -> o w 7
_ l ow:5,_ l ow e r:2,_ w i d est:3,_ n e w est:6 -> l ow 7
_ low:5,_ low e r:2,_ w i d est:3,_ n e w est:6 -> _ low 7
_low:5,_low e r:2,_ w i d est:3,_ n e w est:6 -> w est 6
_low:5,_low e r:2,_ w i d est:3,_ n e west:6 -> n e 6
_low:5,_low e r:2,_ w i d est:3,_ ne west:6 -> ne west 6
_low:5,_low e r:2,_ w i d est:3,_ newest:6 -> _ newest 6
_low:5,_low e r:2,_ w i d est:3,_newest:6 -> w i 3
""".strip().split("\n")


def in_pieces(text: str) -> tuple[bytes, ...]:
    return tuple(piece.replace("_", " ").encode() for piece in text.split(" "))


def test_toksmith_pretokens() -> None:
    # `pattern.findall(text)`, and the dictionary of counts.
    assert pretokenize(LOW_LOWER) == [" low"] * 5 + [" lower"] * 2 + [" widest"] * 3 + [" newest"] * 6
    assert count_pretokens(LOW_LOWER) == {b" low": 5, b" lower": 2, b" widest": 3, b" newest": 6}


def test_toksmith_naive_training_step_by_step() -> None:
    counts = count_pretokens(LOW_LOWER)
    merges = list(naive_merges(counts, 10, ties="ids"))
    for number, (merge, line) in enumerate(zip(merges, ALL_TOGETHER, strict=True)):
        table, top_pair = line.split(" -> ")
        rows = (row.split(":") for row in table.split(","))
        before = pretokens_after(counts, [earlier.pair for earlier in merges[:number]])
        assert before == {in_pieces(pieces): int(count) for pieces, count in rows}
        assert (*merge.pair, str(merge.count).encode()) == in_pieces(top_pair)


def test_toksmith_new_tokens() -> None:
    # `for i, bp in enumerate(merges[256:], 256): print(i, '->', bp)`
    vocab = build_vocab(merge.pair for merge in naive_merges(count_pretokens(LOW_LOWER), 10, ties="ids"))
    expected = [b"st", b"est", b"ow", b"low", b" low", b"west", b"ne", b"newest", b" newest", b"wi"]
    assert [vocab[id_] for id_ in range(256, len(vocab))] == expected


# `pairs_count`: before training (under "One Time Setup"), and after two merges (001, its last cells).
# The notebook printed 9 for (w, est): it had added widest's 3 to a pair that only newest's 6 contain.
PAIRS_AT_FIRST = "_ l:7,l o:7,o w:7,w e:8,e r:2,_ w:3,w i:3,i d:3,d e:3,e s:9,s t:9,_ n:6,n e:6,e w:6"
PAIRS_AFTER_TWO = "_ l:7,l o:7,o w:7,w e:2,e r:2,_ w:3,w i:3,i d:3,_ n:6,n e:6,e w:6,w est:6,d est:3"


def test_toksmith_incremental_training() -> None:
    counts = count_pretokens(LOW_LOWER)
    first_two = [merge.pair for merge in incremental_merges(counts, 2, ties="ids")]
    assert first_two == [(b"s", b"t"), (b"e", b"st")]  # [(115, 116), (101, 256)]
    for merges, table in [([], PAIRS_AT_FIRST), (first_two, PAIRS_AFTER_TWO)]:
        rows = (row.split(":") for row in table.split(","))
        assert count_pairs(pretokens_after(counts, merges)) == {in_pieces(p): int(n) for p, n in rows}


# The CS336 notebook (003): the handout's text on several lines, ties by the greatest characters.

THREE_LINES = """
    low low low low low
    lower lower widest widest widest
    newest newest newest newest newest newest
"""


def test_cs336_notebook_pretokens() -> None:
    # `re.findall(PAT, …)`
    expected = ["some", " text", " that", " i", "'ll", " pre", "-", "tokenize"]
    assert pretokenize("some text that i'll pre-tokenize") == expected
    expected = ["Here", "'s", " an", " example", ":", " 42", " tokens", ",", " maybe", "?", " 😂"]
    assert pretokenize("Here's an example: 42 tokens, maybe? 😂") == expected
    # `process_text_with_pre_tokenize(example_text)`, then with the three lines, then with words only
    expected_counts = {b"the": 1, b" cat": 1, b" in": 1, b" the": 1, b" hat": 1}
    assert count_pretokens("the cat in the hat") == expected_counts
    expected_counts = {b"\n   ": 3, b" low": 5, b" lower": 2, b" widest": 3, b" newest": 6, b"\n": 1}
    assert count_pretokens(THREE_LINES) == expected_counts
    expected_counts = {b"low": 5, b"lower": 2, b"widest": 3, b"newest": 6}
    assert count_pretokens(THREE_LINES, pattern=r"\b[a-zA-Z]+\b", unmatched="drop") == expected_counts


def test_cs336_notebook_six_merges() -> None:
    # `final_result` and `new_vocab` of `BPE_training_naive_version(…, num_merges=6)`
    vocab, merges = train_bpe(THREE_LINES, 256 + 6, pattern=r"\p{L}+", unmatched="drop")
    assert [vocab[id_].decode() for id_ in range(256, 262)] == ["st", "est", "ow", "low", "west", "ne"]
    counts = count_pretokens(THREE_LINES, pattern=r"\p{L}+", unmatched="drop")
    expected = {"low": 5, "low e r": 2, "w i d est": 3, "ne west": 6}
    assert pretokens_after(counts, merges) == {in_pieces(word): count for word, count in expected.items()}


def test_cs336_notebook_first_pairs() -> None:
    # "{lo: 7, ow: 7, we: 8, er: 2, wi: 3, id: 3, de: 3, es: 9, st: 9, ne: 6, ew: 6}", in that order
    counts = count_pretokens(THREE_LINES, pattern=r"\p{L}+", unmatched="drop")
    pair_counts = count_pairs(pretokens_after(counts, []))
    table = ", ".join(f"{(left + right).decode()}: {n}" for (left, right), n in pair_counts.items())
    assert table == "lo: 7, ow: 7, we: 8, er: 2, wi: 3, id: 3, de: 3, es: 9, st: 9, ne: 6, ew: 6"


# The notebooks after Karpathy's lecture (002, 004): no pretokenization, the first pair wins ties.


def text_of_notebook(shared_data: Path, number: str, line_start: str, file_encoding: str = "utf-8") -> str:
    """The longest string of a notebook that is assigned in a line with this start."""
    found = list((shared_data.parent / "seeds").glob(f"{number}_*.txt"))
    if not found:
        pytest.skip("needs ../shared/seeds beside the repository (the notebooks)")
    lines = found[0].read_text(encoding="utf-8").split("\n")
    line = max((line for line in lines if line.startswith(line_start)), key=len)
    source = line.removeprefix("text = ").encode(file_encoding).decode("utf-8")
    return str(ast.literal_eval(source))


# "merging (101, 32) into new token 256" and so on; as the vocabulary prints them
FIRST_NOTEBOOK = """
(101, 32) (115, 32) (105, 110) (111, 110) (32, 116) (32, 97) (97, 116) (258, 103) (101, 114) (105, 259)
(111, 100) (111, 102) (114, 101) (105, 108) (104, 256) (65, 73) (101, 110) (100, 32) (32, 109) (46, 32)
"""
# "replacing (101, 32) with 256" and so on
SECOND_NOTEBOOK = """
(101, 32) (105, 110) (115, 32) (116, 104) (101, 114) (99, 111) (116, 32) (226, 128) (44, 32) (97, 110)
(111, 114) (100, 32) (97, 114) (101, 110) (257, 103) (261, 100) (121, 32) (46, 32) (97, 108) (259, 256)
"""


def tokens_of(id_pairs: str) -> list[bytes]:
    tokens = [bytes([value]) for value in range(256)]
    for left, right in re.findall(r"(\d+), (\d+)", id_pairs):
        tokens.append(tokens[int(left)] + tokens[int(right)])
    return tokens


def test_first_lecture_notebook(shared_data: Path) -> None:
    text = text_of_notebook(shared_data, "002", 'text = "The scaling')
    assert len(text.encode()) == 2153
    vocab, merges = train_bpe(text, 276, pattern=None, ties="first")
    assert list(vocab.values()) == tokens_of(FIRST_NOTEBOOK)
    ids = encode(text, vocab, merges, pattern=None)
    assert len(ids) == 1653  # "compression ratio: 1.30X"
    assert decode(ids, vocab) == text
    # `decode([257])`, and `encode("hello, world!")`
    assert decode([257], vocab) == "s "
    expected = [104, 101, 108, 108, 111, 44, 32, 119, 111, 114, 108, 100, 33]
    assert encode("hello, world!", vocab, merges, pattern=None) == expected


def test_second_lecture_notebook(shared_data: Path) -> None:
    # This file was saved with its text misread as Mac OS Roman.
    text = text_of_notebook(shared_data, "004", 'text = """A Programmer', "mac_roman")
    assert len(text.encode()) == 24597
    merges = [merge.pair for merge in naive_merges({text.encode(): 1}, 20, ties="first")]
    vocab = build_vocab(merges)
    assert list(vocab.values()) == tokens_of(SECOND_NOTEBOOK)
    state = pretokens_after({text.encode(): 1}, merges)
    assert [len(pieces) for pieces in state] == [19438]  # "length of New compressed list of tokens"
    # `encode('hello world')`
    expected = [104, 101, 108, 108, 111, 32, 119, 266, 108, 100]
    assert encode("hello world", vocab, merges, pattern=None) == expected


def test_second_lecture_notebook_train_bpe() -> None:
    # Its own `train_bpe("Helllow owjrld world", ['<|endoftext|>'], 260)`: "top pair selected is …"
    text = "Helllow owjrld world"
    assert pretokenize(text) == ["Helllow", " owjrld", " world"]
    # `freq_count_bp`, of which the greatest pair is ((b'r', b'l'), 2)
    pair_counts = count_pairs(pretokens_after(count_pretokens(text, pattern=GPT2_PATTERN), []))
    assert {(left + right).decode(): count for (left, right), count in pair_counts.items()} == {
        "He": 1, "el": 1, "ll": 2, "lo": 1, "ow": 2, " o": 1, "wj": 1, "jr": 1, "rl": 2, "ld": 2, " w": 1,
        "wo": 1, "or": 1,
    }  # fmt: skip
    vocab, merges = train_bpe(text, 260, ["<|endoftext|>"], special_ids="after_bytes")
    assert merges[:2] == [(b"r", b"l"), (b"rl", b"d")]
    assert (vocab[256], vocab[257]) == (b"<|endoftext|>", b"rl")
