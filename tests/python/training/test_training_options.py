"""Options of training: forced tokens, the longest token, the log, and the bar's rate. Each must be heeded."""

import csv
import gc
import json
import pickle
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from extending_oracle import best_pair, extend, random_base, random_words, rebuilt
from own_data import unescaped
from tokenizers import Tokenizer as HFTokenizer
from tokenizers import models, pre_tokenizers, trainers
from training_data import END, TIES, assert_equal, quietly, train_as_asked

from toksmith import IdOrder, Parity, PretokenCounts, Tokenizer, reference, train
from toksmith._core import unspell
from toksmith._internal import memory
from toksmith.training.plan import CONFLICTS

Published = dict[str, str]


@pytest.mark.parametrize("names", CONFLICTS)
def test_what_cannot_be_combined(names: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("low lower lowest")
    files = tmp_path / "text.txt"
    values: dict[str, Any] = {
        "parity": Parity(ratio={"en": 1}),
        "checkpoint": tmp_path / "c",
        "superwords": "words",
        "base": Tokenizer(),
        "forced_tokens": ["low"],
        "min_pretoken_count": 2,
        "ids": IdOrder("last"),
    }
    used = ["ids" if name == "IdOrder('last')" else name for name in names if name != "PretokenCounts"]
    options = {name: values[name] for name in used}
    sources: Any = {"en": files} if "parity" in names else files
    if "PretokenCounts" in names:
        sources = PretokenCounts({b"low": 5})
    message = f"{names[0]} cannot be combined with {' and '.join(names[1:])}: {CONFLICTS[names]}"
    with pytest.raises(ValueError, match=re.escape(message)):
        train_as_asked(sources, 300, **options)
    assert [file.name for file in tmp_path.iterdir()] == ["text.txt"]


# The longest token


def naive_up_to(counts: dict[bytes, int], merges: int, longest: int) -> list[tuple[bytes, bytes]]:
    """Merges by the definition with no token of more than `longest` bytes; ties by bytes."""
    words = reference.pretokens_after(counts, ())
    found: list[tuple[bytes, bytes]] = []
    for _ in range(merges):
        pairs = {pair: n for pair, n in reference.count_pairs(words).items() if len(pair[0] + pair[1]) <= longest}
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        found.append(best)
        words = {reference.merge_pair(word, best): n for word, n in words.items()}
    return found


def test_no_token_is_longer_than_asked() -> None:
    rng = random.Random(1)
    for _ in range(300):
        counts = random_words(rng, rng.choice(("a", "ab", "abc")))
        longest = rng.randint(1, 6)
        tokenizer = quietly(train, PretokenCounts(counts), 276, max_token_length=longest, merges=20)
        assert_equal(tokenizer.merges, naive_up_to(counts, 20, longest), (counts, longest))
        assert all(len(token) <= longest for token in tokenizer.vocab.values())


@pytest.mark.parametrize("longest", [2, 4, 7])
def test_the_longest_token_is_nearly_that_of_huggingface(longest: int, corpora: Published) -> None:
    # Its limit is one that no token reaches, and counts UTF-8 bytes of the printable spelling, in which what does not
    # print takes two: so the same only for letters, and for a number that is larger by one.
    words = ["".join(c for c in word if "!" <= c <= "~") for word in corpora["en"][:400_000].split()]
    hf = HFTokenizer(models.BPE())
    hf.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1000, initial_alphabet=alphabet, show_progress=False, max_token_length=longest + 1
    )
    hf.train_from_iterator(words, trainer)
    theirs = [tuple(unspell(part) for part in pair) for pair in json.loads(hf.to_str())["model"]["merges"]]
    ours = quietly(train, iter(words), 1000, ties="huggingface", max_token_length=longest)
    assert_equal(ours.merges, theirs)


@pytest.mark.parametrize("least", [2, 40])
def test_min_frequency_is_that_of_huggingface(least: int, corpora: Published) -> None:
    text = corpora["en"][:50_000].encode("ascii", "ignore").decode()
    hf = HFTokenizer(models.BPE())
    hf.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    hf.train_from_iterator(
        [text],
        trainers.BpeTrainer(vocab_size=9000, initial_alphabet=alphabet, show_progress=False, min_frequency=least),
    )
    theirs = [tuple(unspell(part) for part in pair) for pair in json.loads(hf.to_str())["model"]["merges"]]
    ours = quietly(train, iter([text]), 9000, ties="huggingface", min_frequency=least)
    assert_equal(ours.merges, theirs)
    assert ours.merge_counts is not None
    assert min(count or 0 for count in ours.merge_counts) >= least


# Forced tokens


def forced_by_the_definition(base: Tokenizer, forced: list[bytes]) -> Tokenizer:
    tokens, merges = dict(base.vocab), list(base.merges)
    now = rebuilt(base, tokens, merges)
    for token in forced:
        while len(ids := now.encode(token, special=False)) > 1:
            merges.append((tokens[ids[0]], tokens[ids[1]]))
            tokens[max(tokens) + 1] = tokens[ids[0]] + tokens[ids[1]]
            now = rebuilt(base, tokens, merges)
    return now


def test_forced_tokens_come_first_and_encode_to_themselves() -> None:
    rng = random.Random(2)
    for _ in range(200):
        alphabet = rng.choice(("a", "ab", "abc"))
        words = random_words(rng, alphabet)
        forced = ["".join(rng.choices(alphabet, k=rng.randint(1, 7))) for _ in range(rng.randint(1, 4))]
        ties = rng.choice(("bytes", "ids", "smallest_ids", "first"))
        bare = Tokenizer(pattern=None)
        start = forced_by_the_definition(bare, [token.encode() for token in forced])
        size = start.vocab_size + rng.choice((0, 1, 5, 15))
        expected, counts = extend(start, words, size, ties)
        given: Any = [rng.choice((token, token.encode())) for token in forced]
        found = quietly(train, PretokenCounts(words, pattern=None), size, forced_tokens=given, ties=ties)
        what = (words, forced, ties)
        assert_equal(found.merges, expected.merges, what)
        assert list(found.vocab.items()) == list(expected.vocab.items()), what
        assert found.merge_counts == [None] * len(start.merges) + counts
        assert Tokenizer(found.vocab, found.merges, pattern=None)._core.unmade() == []
        for token in forced:
            assert found.encode(token) == [found.token_id(token)], what


def test_forced_tokens_on_a_base() -> None:
    rng = random.Random(4)
    for _ in range(60):
        base = quietly(train, PretokenCounts(random_words(rng, "abc"), pattern=None), 268)
        forced = ["".join(rng.choices("abcd", k=rng.randint(2, 7))).encode() for _ in range(3)]
        start = forced_by_the_definition(base, forced)
        words = random_words(rng, "abcd")
        size = start.vocab_size + 6
        expected, _ = extend(start, words, size, "bytes")
        counts = PretokenCounts(words, pattern=None)
        assert_equal(quietly(train, counts, size, base=base, forced_tokens=forced).merges, expected.merges)


def test_forced_tokens_that_cannot_be_are_refused() -> None:
    for options, error, message in (
        ({"forced_tokens": "ab"}, TypeError, r"write \['ab'\]"),
        ({"forced_tokens": [7]}, TypeError, "not int: 7"),
        ({"forced_tokens": ["ab", ""]}, ValueError, "number 1 is empty"),
        ({"forced_tokens": ["\ud800"]}, ValueError, "lone surrogate"),
        ({"forced_tokens": ["abcd"], "max_token_length": 3}, ValueError, "4 bytes, more than max_token_length=3"),
        ({"forced_tokens": [END], "special_tokens": [END]}, ValueError, "both a special and a forced token"),
        ({"forced_tokens": ["abcdef"]}, ValueError, "need 5 new tokens, and there is room for 4"),
    ):
        with pytest.raises(error, match=message):
            train(iter(["some text"]), 260 + len(options.get("special_tokens", ())), **options)  # type: ignore[arg-type]
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"xyz"}
    odd = Tokenizer(vocab, [], pattern=None)
    with pytest.raises(ValueError, match=r'merging does not make, such as b"xyz" \(id 256\)'):
        train(PretokenCounts({b"abab": 2}, pattern=None), 300, base=odd, forced_tokens=["ab"])


@pytest.mark.parametrize(("name", "value"), [("max_token_length", 0), ("min_frequency", -1)])
def test_numbers_out_of_range_are_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=name):
        train(iter(["text"]), 260, **{name: value})  # type: ignore[arg-type]


# The log


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_the_log_has_a_row_for_each_merge(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.{suffix}"
    text = 'é日 a\\b "x, y"\n' * 5 + "low low lower"
    tokenizer = train(iter([text]), 269, special_tokens=[END], forced_tokens=["日"], log=path)
    data = path.read_text(encoding="utf-8")
    rows: list[dict[str, Any]]
    if suffix == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = [json.loads(line) for line in data.splitlines()]
    assert [int(row["merge"]) for row in rows] == list(range(1, len(tokenizer.merges) + 1))
    assert [(unescaped(row["left"]), unescaped(row["right"])) for row in rows] == tokenizer.merges
    counts = [int(row["count"]) if row["count"] not in ("", None) else None for row in rows]
    assert counts == tokenizer.merge_counts
    for row in rows:
        token = unescaped(row["token"])
        assert tokenizer.token_bytes(int(row["id"])) == token
        assert int(row["bytes"]) == len(token)


def test_a_log_of_no_known_form_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"log.txt: a training log is a .csv or a .jsonl file"):
        train(tmp_path / "missing.txt", 300, log=tmp_path / "log.txt")


# The definition itself, where it can be held against the reference


def test_the_oracle_of_extending_agrees_with_the_reference() -> None:
    rng = random.Random(9)
    for _ in range(60):
        words = random_words(rng, "ab")
        for ties in TIES[:4]:
            found, counts = extend(Tokenizer(pattern=None), words, 264, ties)
            expected = list(reference.naive_merges(words, 8, ties))
            assert_equal(found.merges, [merge.pair for merge in expected])
            assert counts == [merge.count for merge in expected]
    assert best_pair(random_base(rng, "ab", "ranks"), {}, {}, "bytes", None) == (None, 0)


def test_more_pretokens_than_memory_are_refused_before_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = PretokenCounts({f"word{i}".encode(): 1 + i // 90 for i in range(100)})
    monkeypatch.setattr(memory, "remaining", lambda: 1 << 11)
    with pytest.raises(MemoryError, match=r"100 different pretokens.*min_pretoken_count=2, which keeps 10 "):
        train(counts, 262)
    assert train(counts.at_least(2), 262).vocab_size == 262
    monkeypatch.setattr(memory, "remaining", lambda: 1)
    with pytest.raises(MemoryError, match="count fewer files"):
        train(counts, 262)


def test_a_training_imports_nothing_that_takes_long(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("low low lower lowest")
    code = (
        "import sys; before = set(sys.modules); import toksmith\n"
        f"assert toksmith.train({str(text)!r}, 260).encode('low')\n"
        "slow = {'numpy', 'pyarrow', 'regex', 'rich', 'subprocess'}\n"
        "assert not slow & (set(sys.modules) - before), slow & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pickles_find_a_tokenizer_whose_fingerprint_nobody_asked_for() -> None:
    counts = PretokenCounts({b"low": 5, b"lower": 2})
    data = pickle.dumps(train(counts, 258))
    gc.collect()
    other = train(counts, 258)
    assert pickle.loads(data)._core is other._core
