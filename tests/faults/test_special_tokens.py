"""Special tokens and texts that make a search read the same bytes again and again, and tokens that are too long.

Each program takes about a second. Searched in quadratic time, it would take minutes: the time-out tells.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from child import Limits, run

import toksmith
from toksmith._core import spell
from toksmith.compat.minbpe import RegexTokenizer

HARD = """
import toksmith
BYTES = {byte: bytes([byte]) for byte in range(256)}
long = "x" * 3000 + "y"
tokenizer = toksmith.Tokenizer(BYTES, [], [long, "x"])
limit()
"""
MEGABYTES = 10


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("tokenizer.count(text)", "n"),
        ("len(tokenizer.encode_to_numpy(text))", "n"),
        ("sum(1 for id in tokenizer.encode_iterable([text[:n // 2], text[n // 2:]]))", "n"),
        ("len(tokenizer.encode_parts([(text, True)]))", "n"),
        ("len(tokenizer.truncate(text, n))", "n"),
        ("toksmith.count_pretokens(iter([text + 'a']), special_tokens=[long, 'x']).total", "1"),
    ],
)
def test_hard_sets_are_searched_in_linear_time(call: str, result: str) -> None:
    program = f"{HARD}n = {MEGABYTES << 20}\ntext = 'x' * n\nassert {call} == {result}"
    outcome = run(program, limits=Limits(address_space=2 << 30), timeout=60)
    assert outcome.status == 0, outcome.told


def test_a_file_and_an_encoding_with_a_hard_set(tmp_path: Path) -> None:
    program = f"""{HARD}
n = {MEGABYTES << 20}
text = "x" * n
open("text.txt", "w").write(text)
assert len(tokenizer.encode_file("text.txt")) == n
ranks = {{token: id for id, token in BYTES.items()}}
ids = {{long: 256, "x": 257, "q": 258}}
encoding = toksmith.Encoding("hard", pat_str="a", mergeable_ranks=ranks, special_tokens=ids)
assert len(encoding.encode_to_numpy(text, allowed_special={{long, "x"}})) == n
try:
    encoding.encode(text + "q", allowed_special={{"x"}})
except ValueError as error:
    assert "'q'" in str(error), error
else:
    raise SystemExit("not refused")
"""
    outcome = run(program, cwd=tmp_path, limits=Limits(address_space=2 << 30), timeout=60)
    assert outcome.status == 0, outcome.told


def test_small_pieces_of_text_are_searched_once() -> None:
    program = f"{HARD}assert len(list(tokenizer.encode_iterable('x' for _ in range(1_000_000)))) == 1_000_000"
    outcome = run(program, timeout=60)
    assert outcome.status == 0, outcome.told


def test_a_place_to_cut_is_found_in_linear_time(tmp_path: Path) -> None:
    # Every place lies in a token: each was judged by thousands of bytes on both sides.
    program = f"""
import toksmith
tokenizer = toksmith.Tokenizer({{byte: bytes([byte]) for byte in range(256)}}, [], ["a " * 2000, " a"])
text = "a " * {MEGABYTES << 19}
open("text.txt", "w").write(text)
assert len(tokenizer.encode_file("text.txt")) == tokenizer.count(text)
"""
    outcome = run(program, cwd=tmp_path, timeout=60)
    assert outcome.status == 0, outcome.told


@pytest.mark.alone
@pytest.mark.parametrize("specials", [["x"], ["x" * 3000 + "y", "x"]])
def test_a_signal_ends_the_search(specials: list[str]) -> None:
    program = f"""
import signal, sys, time
import toksmith

def handler(*_):
    raise InterruptedError

def seconds():
    start = time.perf_counter()
    try:
        tokenizer.count(text, workers=1)
    except InterruptedError:
        pass
    return time.perf_counter() - start

tokenizer = toksmith.Tokenizer({{byte: bytes([byte]) for byte in range(256)}}, [], sys.argv[1:])
text = "x" * {12 << 20}
whole = seconds()
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, whole / 20)
ended = seconds()
assert ended < whole / 2, (ended, whole)
"""
    outcome = run(program, *specials, timeout=120)
    assert outcome.status == 0, outcome.told


# Added tokens of Hugging Face's files


def hugging_face(path: Path, *tokens: dict[str, Any]) -> Path:
    """Write a `tokenizer.json` with these added tokens."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "vocab": {spell(bytes([byte])): byte for byte in range(256)}, "merges": []}
    spec = {
        "version": "1.0",
        "added_tokens": [{"id": 256 + i, **flags, **token} for i, token in enumerate(tokens)],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": model,
    }
    path.write_text(json.dumps(spec))
    return path


def test_tokens_that_take_the_whitespace_beside_them(tmp_path: Path) -> None:
    path = hugging_face(
        tmp_path / "tokenizer.json", {"content": "\n", "rstrip": True}, {"content": "\t", "lstrip": True}
    )
    program = f"""
import sys, toksmith
tokenizer = toksmith.Tokenizer.from_huggingface(sys.argv[1])
for letter in "\\n\\t":
    assert tokenizer.count(letter * {1 << 19} + "\u00e9") == {(1 << 19) + 2}
"""
    outcome = run(program, path, timeout=60)
    assert outcome.status == 0, outcome.told


def test_whether_added_tokens_overlap_takes_little_memory(tmp_path: Path) -> None:
    tokens = [{"content": f"{n:04}" + "x" * 4000 + f"{n:04}", "normalized": n % 2 == 0} for n in range(1000)]
    path = hugging_face(tmp_path / "tokenizer.json", *tokens)
    program = "import sys, toksmith; limit(); toksmith.Tokenizer.from_huggingface(sys.argv[1])"
    outcome = run(program, path, limits=Limits(address_space=1 << 30), timeout=60)
    assert outcome.status == 0, outcome.told


# Tokens that are too long

LONGEST = "x" * 4095 + "y"
REFUSED = r"special token number \d+, which begins with b\"x{24}\", has 4097 bytes: the maximum is 4096"
BYTES = {byte: bytes([byte]) for byte in range(256)}


def test_every_door_refuses_a_long_token_with_one_message(tmp_path: Path) -> None:
    long = "x" + LONGEST
    encoding = toksmith.Encoding(
        "bytes", pat_str="a", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
    flags = ({}, {"normalized": True}, {"special": True}, {"lstrip": True})
    doors = [
        lambda: toksmith.Tokenizer(BYTES, [], [long]),
        lambda: toksmith.train(iter(["a"]), 300, special_tokens=[long]),
        lambda: toksmith.count_pretokens(iter(["a"]), special_tokens=["a", long]),
        lambda: toksmith.Encoding("bytes", pat_str="a", mergeable_ranks={b"a": 0}, special_tokens={long: 1}),
        lambda: encoding.encode("a", disallowed_special={long}),
        lambda: RegexTokenizer().register_special_tokens({long: 256}),
        *(
            lambda extra=extra: toksmith.Tokenizer.from_huggingface(
                hugging_face(tmp_path / "tokenizer.json", {"content": long, **extra})
            )
            for extra in flags
        ),
    ]
    for door in doors:
        with pytest.raises(ValueError, match=REFUSED) as refused:
            door()
        assert len(str(refused.value)) < 300


def test_the_longest_token_is_saved_and_loaded(tmp_path: Path) -> None:
    text = LONGEST[1:] + LONGEST + "x"
    made = toksmith.Tokenizer(BYTES, [], [LONGEST, "xx"])
    path = tmp_path / "made.toksmith"
    made.save(path)
    loaded = toksmith.Tokenizer.load(path)
    assert loaded == made
    assert loaded.encode(text) == made.encode(text) == list(made.encode_iterable(text))
    assert loaded.encode(text).count(made.special_tokens[LONGEST]) == 1
    longer = re.sub("x{4095}", "x" * 4096, path.read_text())
    path.write_text(longer)
    with pytest.raises(ValueError, match="4097 bytes"):
        toksmith.Tokenizer.load(path)
