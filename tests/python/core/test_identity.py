"""The tokenizer as an object: immutable, compared by what it is, pickled, copied, forked."""

import copy
import gc
import itertools
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import regex

import toksmith
from toksmith import Tokenizer, patterns, train
from toksmith.tokenizer import ListView

BYTES = {byte: bytes([byte]) for byte in range(256)}


def vocab_of(*tokens: bytes, start: int = 256) -> dict[int, bytes]:
    return BYTES | dict(enumerate(tokens, start))


VOCAB = vocab_of(b"ab", b"cd", b"abcd")
MERGES = [(b"a", b"b"), (b"c", b"d"), (b"ab", b"cd")]


def base(**options: Any) -> Tokenizer:
    return Tokenizer(VOCAB, MERGES, {"x|": 300, "y|": 301}, **options)


# What makes a tokenizer

CHANGES: dict[str, Callable[[], Tokenizer]] = {
    "base": base,
    "id of a merge": lambda: Tokenizer(
        BYTES | {256: b"ab", 257: b"cd", 999: b"abcd"}, MERGES, {"x|": 300, "y|": 301}
    ),
    "two ids exchanged": lambda: Tokenizer(vocab_of(b"cd", b"ab", b"abcd"), MERGES, {"x|": 300, "y|": 301}),
    "ids of two bytes exchanged": lambda: Tokenizer(VOCAB | {97: b"b", 98: b"a"}, MERGES, {"x|": 300, "y|": 301}),
    "another token": lambda: Tokenizer(vocab_of(b"ab", b"cd", b"abcd", b"zz"), MERGES, {"x|": 300, "y|": 301}),
    "a token fewer": lambda: Tokenizer(vocab_of(b"ab", b"cd"), MERGES[:2], {"x|": 300, "y|": 301}),
    "bytes of a token": lambda: Tokenizer(
        vocab_of(b"ab", b"ce", b"abce"), [(b"a", b"b"), (b"c", b"e"), (b"ab", b"ce")], {"x|": 300, "y|": 301}
    ),
    "order of merges": lambda: Tokenizer(VOCAB, [MERGES[1], MERGES[0], MERGES[2]], {"x|": 300, "y|": 301}),
    "a merge fewer": lambda: Tokenizer(VOCAB, MERGES[:2], {"x|": 300, "y|": 301}),
    "no merges": lambda: Tokenizer(VOCAB, [], {"x|": 300, "y|": 301}),
    "ranks": lambda: Tokenizer(VOCAB, None, {"x|": 300, "y|": 301}),
    "no special tokens": lambda: Tokenizer(VOCAB, MERGES),
    "one that is not special": lambda: Tokenizer(VOCAB | {301: b"y|"}, MERGES, {"x|": 300}),
    "a special token more": lambda: Tokenizer(VOCAB, MERGES, {"x|": 300, "y|": 301, "z|": 302}),
    "ids of special tokens": lambda: Tokenizer(VOCAB, MERGES, {"x|": 301, "y|": 300}),
    "name of a special token": lambda: Tokenizer(VOCAB, MERGES, {"x|": 300, "Y|": 301}),
    "pattern": lambda: base(pattern="o200k"),
    "another spelling of the pattern": lambda: base(pattern=patterns.GPT2 + "|x"),
    "no pattern": lambda: base(pattern=None),
    "a flag of the pattern": lambda: base(pattern=regex.compile(patterns.GPT2, regex.IGNORECASE)),
    "unmatched": lambda: base(unmatched="drop"),
    "unmatched and no pattern": lambda: base(pattern=None, unmatched="drop"),
}


def test_everything_that_makes_a_tokenizer_is_told_apart() -> None:
    made = {name: make() for name, make in CHANGES.items()}
    for (name, one), (other_name, other) in itertools.combinations(made.items(), 2):
        assert one != other, (name, other_name)
        assert one.fingerprint != other.fingerprint, (name, other_name)
    assert len(set(made.values())) == len(CHANGES)
    for name, make in CHANGES.items():
        again = make()
        assert again == made[name], name
        assert again.fingerprint == made[name].fingerprint, name
        assert hash(again) == hash(made[name]), name
        assert {made[name]: 1}[again] == 1


def test_a_unicode_version_is_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    here = base(pattern=r"\w+")
    monkeypatch.setattr(patterns, "installed_unicode", lambda: "13.0")
    assert base(pattern=r"\w+") != here


def test_how_it_was_made_is_no_part_of_it(tmp_path: Path) -> None:
    tokenizer = base()
    tokenizer.save(tmp_path / "t")
    tokenizer.save(tmp_path, format="gpt2")
    specials = {"x|": 300, "y|": 301}
    others = [
        base(pattern=patterns.GPT2),
        base(pattern="r50k"),
        base(pattern=regex.compile(patterns.GPT2)),
        Tokenizer(dict(reversed(VOCAB.items())), iter(MERGES), dict(reversed(specials.items()))),
        Tokenizer(VOCAB | {300: b"x|", 301: b"y|"}, MERGES, ["y|", "x|"]),
        Tokenizer(VOCAB, [list(pair) for pair in MERGES], specials),
        Tokenizer.load(tmp_path / "t"),
        Tokenizer.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", ["x|", "y|"]),
        pickle.loads(pickle.dumps(tokenizer)),
    ]
    for other in others:
        assert other == tokenizer
        assert other.fingerprint == tokenizer.fingerprint
    tokenizer.encode("ab cd")
    assert tokenizer == base()


def test_comparison_with_other_things() -> None:
    assert base() != "text"
    assert base() != base().fingerprint
    assert base().__eq__(5) is NotImplemented
    assert base() != None  # noqa: E711


def test_fingerprints_do_not_depend_on_the_process() -> None:
    code = (
        "from toksmith import Tokenizer; B = {i: bytes([i]) for i in range(256)}; "
        "print(Tokenizer(B | {256: b'ab', 257: b'cd', 258: b'abcd'}, [(b'a', b'b'), (b'c', b'd'), (b'ab', b'cd')], "
        "{'x|': 300, 'y|': 301}).fingerprint)"
    )
    prints = {base().fingerprint}
    for seed in ("0", "1", "random"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        prints.add(done.stdout.strip())
    assert len(prints) == 1
    assert regex.fullmatch("[0-9a-f]{64}", prints.pop())


# Immutable


def test_nothing_can_be_set_or_deleted() -> None:
    tokenizer = base()
    before = tokenizer.fingerprint
    for name in (
        "vocab",
        "merges",
        "special_tokens",
        "pattern",
        "fingerprint",
        "vocab_size",
        "_core",
        "_cache",
        "new",
    ):
        with pytest.raises(AttributeError, match=name):
            setattr(tokenizer, name, {})
        with pytest.raises(AttributeError, match=name):
            delattr(tokenizer, name)
    with pytest.raises(AttributeError, match="immutable"):
        tokenizer.__init__({byte: bytes([byte]) for byte in range(256)}, [])
    assert not hasattr(tokenizer, "__dict__")
    assert tokenizer.fingerprint == before
    assert tokenizer == base()
    assert tokenizer.encode("abcd") == [258]


def test_views_are_read_only() -> None:
    tokenizer = base()
    changes: list[tuple[str, tuple[Any, ...]]] = [("__setitem__", (97, b"b")), ("__delitem__", (97,)), ("clear", ())]
    changes += [
        ("update", ({},)),
        ("pop", (97,)),
        ("append", (1,)),
        ("sort", ()),
        ("extend", ([],)),
        ("__iadd__", ([],)),
    ]
    merges = tokenizer.merges
    assert isinstance(merges, Sequence)
    assert isinstance(tokenizer.vocab, Mapping)
    assert isinstance(tokenizer.special_tokens, Mapping)
    for view in (tokenizer.vocab, tokenizer.special_tokens, merges):
        for method, arguments in changes:
            with pytest.raises(AttributeError):
                getattr(view, method)(*arguments)
    assert tokenizer.vocab == VOCAB | {300: b"x|", 301: b"y|"}
    assert tokenizer.special_tokens == {"x|": 300, "y|": 301}
    assert merges == MERGES == list(merges)


def test_what_was_given_may_change_afterwards() -> None:
    vocab, merges, specials = dict(VOCAB), list(MERGES), {"x|": 300, "y|": 301}
    tokenizer = Tokenizer(vocab, merges, specials)
    vocab[256] = b"changed"
    merges.clear()
    specials["z|"] = 302
    assert tokenizer == base()
    # And what is taken out may.
    tokenizer.encode("ab").append(5)
    dict(tokenizer.vocab)[97] = b"b"
    tokenizer.merges[:].clear()
    assert tokenizer.encode("abcd") == [258]
    assert tokenizer.merges == MERGES


def test_the_view_of_merges_is_a_sequence() -> None:
    merges = base().merges
    assert len(merges) == 3
    assert merges[-1] == (b"ab", b"cd")
    assert merges[1:] == MERGES[1:]
    assert (b"c", b"d") in merges
    assert merges.index((b"c", b"d")) == 1
    assert list(reversed(merges)) == MERGES[::-1]
    assert merges == tuple(MERGES)
    assert merges != MERGES[:2]
    assert merges != "abc"
    assert pickle.loads(pickle.dumps(merges)) == merges
    assert isinstance(merges, ListView)
    with pytest.raises(TypeError):
        hash(merges)
    with pytest.raises(IndexError):
        merges[3]


def test_sizes() -> None:
    assert base().vocab_size == 261
    assert base().max_id == 301
    assert "261 tokens, 2 special" in repr(base())
    assert (base().pattern.pattern, base().pattern.flags) == (patterns.GPT2, regex.compile(patterns.GPT2).flags)
    assert base(pattern=None).pattern is None


# Pickles and copies


@pytest.fixture(scope="module")
def living() -> list[weakref.ref[Tokenizer]]:
    """The tokenizers that other tests hold. One whose making failed, held by its error, has no state."""
    gc.unfreeze()  # those that were there when the tests were collected
    found = [weakref.ref(thing) for thing in gc.get_objects() if type(thing) is Tokenizer and hasattr(thing, "_core")]
    gc.collect()
    gc.freeze()
    return found


@pytest.mark.parametrize("name", CHANGES)
def test_pickles(name: str, living: list[weakref.ref[Tokenizer]]) -> None:
    tokenizer = CHANGES[name]()
    # No new one: this, or an equal one that another test holds.
    there = [tokenizer, *(other for reference in living if (other := reference()) == tokenizer)]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(tokenizer, protocol)
        found = pickle.loads(data)
        assert any(found._core is other._core for other in there)
    del there, found
    fingerprint, encoded = tokenizer.fingerprint, tokenizer.encode("abcd x|y| dcba")
    del tokenizer
    gc.collect()
    made = pickle.loads(data)
    assert made.fingerprint == fingerprint
    assert made == CHANGES[name]()
    assert made.encode("abcd x|y| dcba") == encoded


def test_a_process_that_has_it_gets_the_one_it_has(gpt2: Tokenizer, gpt2_files: tuple[Path, Path]) -> None:
    mine = Tokenizer(special_tokens=["only here"])
    assert pickle.loads(pickle.dumps(mine))._core is mine._core
    data = pickle.dumps(gpt2)
    assert pickle.loads(data) == gpt2  # other tests may have made an equal one
    # Also where the one it has was made on its own and never looked at.
    code = (
        "import pickle, sys; from toksmith import Tokenizer; "
        "mine = Tokenizer.from_files(sys.argv[1], sys.argv[2], ['<|endoftext|>']); "
        "data = sys.stdin.buffer.read(); "
        "sys.exit(pickle.loads(data)._core is not mine._core)"
    )
    subprocess.run([sys.executable, "-c", code, *map(str, gpt2_files)], input=data, check=True)


def test_a_pickle_holds_only_what_makes_the_tokenizer(gpt2: Tokenizer) -> None:
    fresh = base()
    before = pickle.dumps(fresh)
    assert len(before) < 6000
    fresh.encode("ab cd " * 10_000)
    toksmith.lab.explain(fresh, "abcd")
    _ = fresh.vocab, fresh.merges, fresh.fingerprint
    assert pickle.dumps(fresh) == before
    bytes_of_tokens = sum(map(len, gpt2.vocab.values()))
    assert len(pickle.dumps(gpt2)) < bytes_of_tokens + 16 * gpt2.vocab_size + 1000


def test_a_forgotten_tokenizer_is_freed() -> None:
    tokenizer = base()
    gone = weakref.ref(tokenizer)
    pickle.dumps(tokenizer)
    hash(tokenizer)
    del tokenizer
    gc.collect()
    assert gone() is None


class Mine(Tokenizer):
    """A subclass is another class of tokenizer, and stays one."""


def test_subclasses() -> None:
    mine = Mine(VOCAB, MERGES, {"x|": 300, "y|": 301})
    assert type(pickle.loads(pickle.dumps(mine))) is Mine
    plain = base()
    assert type(pickle.loads(pickle.dumps(plain))) is Tokenizer
    assert type(copy.deepcopy(mine)) is Mine


def test_copies() -> None:
    tokenizer = base()
    assert copy.copy(tokenizer) is tokenizer
    assert copy.deepcopy(tokenizer) is tokenizer
    assert copy.deepcopy({"a": [tokenizer]})["a"][0] is tokenizer


def test_broken_pickles_are_errors() -> None:
    restore, (kind, _, head, core, _) = base().__reduce__()
    content = json.loads(head)
    wrong: list[tuple[str, bytes]] = [
        (head, core[:-1]),
        (head, core[:100]),
        (head, b""),
        (head, b"\xff" * len(core)),
        (head, core + b"\0"),
        (json.dumps(content | {"special_tokens": {"": 300}}), core),
        (json.dumps(content | {"special_tokens": {"q|": 97}}), core),
        (json.dumps(content | {"pattern": "("}), core),
        ("{", core),
    ]
    for bad_head, bad_core in wrong:
        with pytest.raises(pickle.UnpicklingError, match="the pickle of the Tokenizer is damaged"):
            restore(kind, "unknown", bad_head, bad_core)


def sent(tokenizer: Tokenizer) -> tuple[str, list[int], list[list[int]]]:
    """Run in another process."""
    batch = tokenizer.encode_batch(["abcd x| " * 50_000] * 4, workers=2)
    return tokenizer.fingerprint, tokenizer.encode("abcd x|"), [ids[:3] for ids in batch]


@pytest.mark.parametrize("name", ["base", "ranks", "pattern"])
def test_a_spawned_process_gets_an_equal_one(name: str) -> None:
    tokenizer = CHANGES[name]()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(sent, (tokenizer,)) == sent(tokenizer)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_encode_after_threads_were_used() -> None:
    tokenizer, by_regex = base(), base(pattern="cl100k")
    texts = ["abcd x| the " * 20_000] * 6
    expected = [t.encode_batch(texts, workers=4) for t in (tokenizer, by_regex)]
    context = multiprocessing.get_context("fork")
    # Forked while other threads are encoding: whatever lock they hold is held in the child for ever.
    stop = False

    def busy() -> None:
        while not stop:
            tokenizer.encode_batch(texts[:2], workers=2)

    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(busy) for _ in range(2)]
        try:
            for _ in range(5):
                child = context.Process(target=in_the_child, args=(tokenizer, by_regex, texts, expected))
                child.start()
                child.join(60)
                assert child.exitcode == 0
        finally:
            stop = True
        for run in runs:
            run.result()


def in_the_child(tokenizer: Tokenizer, by_regex: Tokenizer, texts: list[str], expected: list[Any]) -> None:
    assert tokenizer.encode_batch(texts, workers=4) == expected[0]
    assert by_regex.encode_batch(texts[:1], workers=4) == expected[1][:1]
    assert pickle.loads(pickle.dumps(tokenizer))._core is tokenizer._core
    assert tokenizer.encode("abcd") == [258]


def test_a_pickle_keeps_its_record_where_an_equal_tokenizer_has_none() -> None:
    trained = train(iter(["low lower lowest newer newest widest"]), 262)
    twin = Tokenizer(trained.vocab, trained.merges)
    assert twin.fingerprint == trained.fingerprint
    restored = pickle.loads(pickle.dumps(trained))
    assert restored.merge_counts == trained.merge_counts is not None
    assert pickle.loads(pickle.dumps(twin)) == trained
