"""Stanford CS336, assignment 1: `train_bpe` and `Tokenizer` behind its adapters, and its public tests, rewritten."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from examples import EXAMPLES, example
from training_data import END, assert_equal

import toksmith
from toksmith import Tokenizer
from toksmith._core import spell
from toksmith.reference import GPT2_BYTE_ORDER

Merges = list[tuple[bytes, bytes]]

# The adapters, as they are dropped into tests/adapters.py.

adapters = example("cs336_adapters")
run_train_bpe, get_tokenizer = adapters.run_train_bpe, adapters.get_tokenizer


def test_the_two_functions_need_the_import_that_the_guide_names(tmp_path: Path) -> None:
    """They run where `tests/adapters.py` has its own imports, and the one of the guide."""
    guide = (EXAMPLES.parent / "docs/cs336.md").read_text(encoding="utf-8")
    named = guide.partition("## The adapters")[2].partition("```python\n")[2].partition("```")[0]
    code = (EXAMPLES / "cs336_adapters.py").read_text(encoding="utf-8")
    functions = code[code.index("def run_train_bpe") :]
    namespace: dict[str, Any] = {}
    exec(f"from __future__ import annotations\nimport os\nfrom typing import Any\n{named}\n{functions}", namespace)
    (tmp_path / "in.txt").write_text("low low")
    vocab, merges = namespace["run_train_bpe"](tmp_path / "in.txt", 257, [])
    assert namespace["get_tokenizer"](vocab, merges).encode("ow") == [256]


# What the course's tests have in tests/common.py and around it, written anew.


@pytest.fixture(scope="session")
def course(shared_data: Path) -> Path:
    return shared_data / "cs336"


def byte_of() -> dict[str, int]:
    return {spell(bytes([byte])): byte for byte in range(256)}


def read_merges(path: Path) -> Merges:
    """Read merges as the course does: no line is a header."""
    bytes_of = byte_of()
    pairs = (line.rstrip("\n").split(" ") for line in path.read_text(encoding="utf-8").splitlines())
    return [tuple(bytes(bytes_of[c] for c in part) for part in pair) for pair in pairs if len(pair) == 2]  # type: ignore[misc]


def read_vocab(path: Path) -> dict[int, bytes]:
    bytes_of = byte_of()
    tokens = json.loads(path.read_text(encoding="utf-8"))
    return {id: bytes(bytes_of[c] for c in token) for token, id in tokens.items()}


@pytest.fixture(scope="session")
def gpt2_parts(shared_data: Path, gpt2_files: tuple[Path, Path]) -> tuple[dict[int, bytes], Merges]:
    """The published vocabulary and merges of GPT-2 as Python objects."""
    vocab, merges = gpt2_files
    return read_vocab(vocab), read_merges(merges)


@pytest.fixture(scope="session")
def tokenizer_of(gpt2_parts: tuple[dict[int, bytes], Merges]) -> Any:
    """Makes GPT-2's tokenizer with special tokens, as the course's helper does: unknown ones join the vocabulary."""

    def make(special_tokens: list[str] | None = None) -> Tokenizer:
        vocab, merges = dict(gpt2_parts[0]), gpt2_parts[1]
        for token in special_tokens or []:
            if token.encode() not in set(vocab.values()):
                vocab[len(vocab)] = token.encode()
        return get_tokenizer(vocab, merges, special_tokens)

    return make


@pytest.fixture(scope="session")
def tiktoken_gpt2(shared_data: Path) -> tiktoken.Encoding:
    ranks: dict[bytes, int] = {}

    for line in (shared_data / "vocabs/gpt2.tiktoken").read_text().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
    return tiktoken.Encoding("gpt2", pat_str=pattern, mergeable_ranks=ranks, special_tokens={END: 50256})


# tests/test_train_bpe.py


@pytest.mark.alone
def test_train_bpe_speed(course: Path) -> None:
    start = time.perf_counter()
    run_train_bpe(course / "corpus.en", 500, [END])
    took = time.perf_counter() - start
    assert took < 1.5, "the course's limit"


@pytest.mark.parametrize("byte_order", ["value", "gpt2"])
def test_train_bpe(byte_order: Any, course: Path) -> None:
    vocab, merges = run_train_bpe(course / "corpus.en", 500, [END], ids=toksmith.IdOrder(single_bytes=byte_order))
    expected = read_merges(course / "train-bpe-reference-merges.txt")
    assert len(expected) == 243
    assert_equal(merges, expected)
    reference = read_vocab(course / "train-bpe-reference-vocab.json")
    assert set(vocab) == set(reference)
    assert set(vocab.values()) == set(reference.values())
    assert (vocab == reference) == (byte_order == "gpt2")


def test_train_bpe_begins_as_the_handout_says(course: Path) -> None:
    _, merges = run_train_bpe(course / "corpus.en", 500, [END])
    first = [(" ", "t"), (" ", "a"), ("h", "e"), ("i", "n"), (" t", "he"), ("r", "e"), (" ", "o"), (" ", ",")]
    assert merges[:8] == [(left.encode(), right.encode()) for left, right in first]


def test_train_bpe_special_tokens(corpora: dict[str, str], tmp_path: Path) -> None:
    # The course's file is 5 MB of TinyStories; any text in which the special token is frequent will do.
    file = tmp_path / "stories.txt"
    file.write_bytes(corpora["en"].encode()[:2_000_000].decode(errors="ignore").replace("\n", END + "\n").encode())
    vocab, merges = run_train_bpe(input_path=file, vocab_size=1000, special_tokens=[END])
    assert [id for id, token in vocab.items() if token == END.encode()] == [0]
    leaked = [token for token in vocab.values() if token != END.encode() and b"<|" in token]
    assert not leaked
    assert len(vocab) == 1000
    assert len(merges) == 743
    assert [vocab[257 + i] for i in range(743)] == [left + right for left, right in merges]


def test_handout_example(tmp_path: Path) -> None:
    # Split at whitespace, low ×5, lower ×2, widest ×3, newest ×6.
    file = tmp_path / "words"
    file.write_text(" ".join(["low"] * 5 + ["lower"] * 2 + ["widest"] * 3 + ["newest"] * 6))
    counts = toksmith.count_pretokens(file, special_tokens=[END], pattern=r"\S+", unmatched="drop")
    trained = toksmith.train(counts, 256 + 1 + 12)
    assert [b" ".join(pair).decode() for pair in trained.merges] == (
        ["s t", "e st", "o w", "l ow", "w est", "n e", "ne west", "w i", "wi d", "wid est", "low e", "lowe r"]
    )


def test_handout_tie() -> None:
    # max([("A", "B"), ("A", "C"), ("B", "ZZ"), ("BA", "A")]) == ("BA", "A"): pairs of bytes, not of ids.
    counts = toksmith.PretokenCounts({b"ZZ": 9, b"BA": 9, b"AB": 5, b"AC": 5, b"BZZ": 5, b"BAA": 5})
    merges = toksmith.train(counts, 256 + 3).merges
    assert list(merges) == [(b"Z", b"Z"), (b"B", b"A"), (b"BA", b"A")]


# tests/test_tokenizer.py

TEXTS = {
    "empty": "",
    "single character": "s",
    "single unicode character": "🙃",
    "ascii": "Hello, how are you?",
    "unicode": "Héllò hôw are ü? 🙃",
    "spaces": "  two  three   \n\n four \t",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts_match_tiktoken(text: str, tokenizer_of: Any, tiktoken_gpt2: tiktoken.Encoding) -> None:
    tokenizer = tokenizer_of()
    ids = tokenizer.encode(text)
    assert ids == tiktoken_gpt2.encode(text)
    assert type(ids) is list
    assert tokenizer.decode(ids) == text == tiktoken_gpt2.decode(ids)
    assert list(tokenizer.encode_iterable(text)) == ids  # an iterable of characters


def test_ascii_pieces(tokenizer_of: Any) -> None:
    tokenizer = tokenizer_of([END])
    ids = tokenizer.encode("Hello, how are you?")
    assert [tokenizer.decode([id]) for id in ids] == ["Hello", ",", " how", " are", " you", "?"]


def test_special_tokens(tokenizer_of: Any, tiktoken_gpt2: tiktoken.Encoding) -> None:
    tokenizer = tokenizer_of([END])
    text = f"Héllò hôw {END}{END} are ü? 🙃{END}"
    ids = tokenizer.encode(text)
    assert ids == tiktoken_gpt2.encode(text, allowed_special={END})
    assert [tokenizer.decode([id]) for id in ids].count(END) == 3
    assert tokenizer.decode(ids) == text
    # Without the list it is ordinary text, though the vocabulary has it.
    assert tokenizer_of().encode(text) == tiktoken_gpt2.encode(text, disallowed_special=())


@pytest.mark.parametrize("specials", [[END, END * 2], [END * 2, END]])
def test_overlapping_special_tokens(specials: list[str], tokenizer_of: Any) -> None:
    tokenizer = tokenizer_of(specials)
    text = f"Hello, how {END * 2} are you?{END}"
    ids = tokenizer.encode(text)
    pieces = [tokenizer.decode([id]) for id in ids]
    assert pieces.count(END) == 1
    assert pieces.count(END * 2) == 1
    assert ids == [15496, 11, 703, 220, 50257, 389, 345, 30, 50256]
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("name", ["address.txt", "german.txt", "tinystories_sample.txt", "corpus.en"])
def test_files_match_tiktoken(name: str, course: Path, tokenizer_of: Any, tiktoken_gpt2: tiktoken.Encoding) -> None:
    tokenizer = tokenizer_of([END])
    text = (course / name).read_bytes().decode()
    ids = tokenizer.encode(text)
    assert_equal(ids, tiktoken_gpt2.encode(text, allowed_special={END}))
    assert tokenizer.decode(ids) == text
    # In lines the course's own reference passes too; only the right thing equals the whole where lines are empty.
    with (course / name).open(encoding="utf-8", newline="") as file:
        assert_equal(list(tokenizer.encode_iterable(file)), ids)
    for size in (1, 7, 100):
        assert_equal(list(tokenizer.encode_iterable(text[at : at + size] for at in range(0, len(text), size))), ids)


@pytest.mark.parametrize(
    "text",
    [f"{END}\n\n", f"{END}\n\nTesting!", f"a {END}", f"{END} \n{END}", "today\n \n", f"\n\n{END}\r\n\r\n{END[:-1]}"],
)
def test_whitespace_around_special_tokens(text: str, tokenizer_of: Any, tiktoken_gpt2: tiktoken.Encoding) -> None:
    tokenizer = tokenizer_of([END])
    expected = tiktoken_gpt2.encode(text, allowed_special={END})
    assert tokenizer.encode(text) == expected
    assert list(tokenizer.encode_iterable(text.splitlines(keepends=True))) == expected
    assert list(tokenizer.encode_iterable(text)) == expected
    assert tokenizer.decode(expected) == text


def test_encode_iterable_is_lazy(tokenizer_of: Any) -> None:
    taken = []

    def lines() -> Iterable[str]:
        for number in range(1000):
            taken.append(number)
            yield f"line {number}\n"

    ids = tokenizer_of().encode_iterable(lines())
    assert taken == []
    assert next(ids) == 1370
    assert len(taken) < 5


MEMORY = """
import resource, sys
from toksmith import Tokenizer

tokenizer = Tokenizer.from_files(*sys.argv[1:3], ["<|endoftext|>"])
lines = open(sys.argv[3], encoding="utf-8").readlines(2_000_000)  # fills blocks and caches
sum(1 for _ in tokenizer.encode_iterable(lines))


def peak():
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Not `ru_maxrss`, which has the memory of the process that started this one.
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])


before = peak()
with open(sys.argv[3], encoding="utf-8") as file:
    count = sum(1 for _ in tokenizer.encode_iterable(file))
print(count, peak() - before)
"""


@pytest.mark.memory
@pytest.mark.alone
def test_encode_iterable_memory_usage(course: Path, gpt2_files: tuple[Path, Path], tmp_path: Path) -> None:
    # The course measures a generator function before it does anything. Here: the peak of a fresh process, in KB.
    pytest.importorskip("resource", reason="needs Unix to measure memory")
    file = tmp_path / "stories.txt"
    sample = (course / "tinystories_sample.txt").read_bytes()
    file.write_bytes((sample + b"\n" + END.encode() + b"\n") * (20_000_000 // len(sample)))
    command = [sys.executable, "-c", MEMORY, *map(str, gpt2_files), str(file)]
    count, growth = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert count > 4_000_000
    scale = 1 if sys.platform == "linux" else 1024  # macOS counts in bytes
    assert growth / scale < 8_000


def test_the_contract_of_the_types(course: Path) -> None:
    vocab, merges = run_train_bpe(str(course / "corpus.en"), 300, ["<a>", "<b>"])
    assert {type(id) for id in vocab} == {int}
    assert {type(token) for token in vocab.values()} == {bytes}
    assert {type(pair) for pair in merges} == {tuple}
    assert list(vocab) == list(range(300))
    assert list(vocab.values())[:2] == [b"<a>", b"<b>"]
    tokenizer = get_tokenizer(vocab, merges, ["<a>", "<b>"])
    assert tokenizer == toksmith.train(course / "corpus.en", 300, special_tokens=["<a>", "<b>"])
    assert tokenizer.encode("<b><a>") == [1, 0]
    vocab_gpt2, _ = run_train_bpe(course / "corpus.en", 300, [], ids=toksmith.IdOrder(single_bytes="gpt2"))
    assert [vocab_gpt2[id][0] for id in range(256)] == list(GPT2_BYTE_ORDER)


# The whole data set as `uint16`: problem (tokenizer_experiments), part d.


def test_encoding_a_data_set(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = (course / "tinystories_sample.txt").read_bytes()
    stories = tmp_path / "stories.txt"
    stories.write_bytes((sample + b"\n" + END.encode() + b"\n") * 200)
    files = [str(stories), str(course / "german.txt")]
    encode = example("cs336_encode_dataset")
    encode.main([*files, "--vocab-size", "600", "--out", str(tmp_path / "tokens")])
    tokenizer = Tokenizer.load(tmp_path / "tokens/tokenizer.json")
    assert tokenizer == toksmith.train(stories, 600, special_tokens=[END])
    for file in map(Path, files):
        ids = np.load(tmp_path / f"tokens/{file.stem}.npy", mmap_mode="r")
        assert ids.dtype == np.uint16
        assert ids.tolist() == tokenizer.encode(file.read_bytes().decode())
        assert tokenizer.decode_bytes(ids) == file.read_bytes()
    assert (np.load(tmp_path / "tokens/stories.npy") == 0).sum() == 200 * (1 + sample.count(END.encode()))
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["stories.txt", "german.txt"]
    # Again with the saved tokenizer, and bare numbers for `np.fromfile`.
    encode.main([files[1], "--tokenizer", str(tmp_path / "tokens/tokenizer.json"), "--out", str(tmp_path / "again")])
    assert (tmp_path / "again/german.npy").read_bytes() == (tmp_path / "tokens/german.npy").read_bytes()
    count, _ = encode.encode_dataset(tokenizer, course / "german.txt", tmp_path / "german.bin")
    bare = np.fromfile(tmp_path / "german.bin", np.uint16)
    assert (len(bare), bare.tolist()) == (count, np.load(tmp_path / "tokens/german.npy").tolist())


def test_ids_that_do_not_fit(tmp_path: Path) -> None:
    vocab = {byte: bytes([byte]) for byte in range(256)} | {65_536: b"ab"}
    tokenizer = get_tokenizer(vocab, [(b"a", b"b")])
    (tmp_path / "text").write_text("ab")
    with pytest.raises(ValueError, match="65536"):
        example("cs336_encode_dataset").encode_dataset(tokenizer, tmp_path / "text", tmp_path / "ids.npy")
    assert not (tmp_path / "ids.npy").exists()
