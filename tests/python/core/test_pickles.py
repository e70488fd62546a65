"""Damaged pickles and checkpoints: each is an error, or gives what was saved."""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import json
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toksmith
import toksmith.tokenizer
from toksmith import DecodeStream, Encoding, Tokenizer

RANKS = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257}

# What `pickle` documents of broken input, with the errors of the objects that a changed stream calls by other names.
DOCUMENTED = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    OverflowError,
    TypeError,
    ValueError,
)


@functools.cache
def trained() -> Tokenizer:
    return toksmith.train(iter(["the theatre the there"] * 3), 262, special_tokens=["<|end|>"])


def loaded(folder: Path) -> Tokenizer:
    trained().save(folder / "t.json")
    return Tokenizer.load(folder / "t.json")


def of_huggingface(folder: Path) -> Tokenizer:
    trained().save_huggingface(folder / "hf", verify=False)
    path = folder / "hf" / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"normalizer": {"type": "NFC"}}))
    return Tokenizer.from_huggingface(path)


def encoding(_: Path) -> Encoding:
    return Encoding("tiny", pat_str=r"\w+|\s+", mergeable_ranks=RANKS, special_tokens={"<|end|>": 300})


def stream(_: Path) -> DecodeStream:
    made = DecodeStream(trained())
    made.push(0xC3)
    return made


KINDS: dict[str, Callable[[Path], Any]] = {
    "trained": lambda _: trained(),
    "loaded": loaded,
    "Hugging Face": of_huggingface,
    "Encoding": encoding,
    "DecodeStream": stream,
}


def parts(thing: Any) -> Any:
    """Return everything that two equal things share."""
    if isinstance(thing, Tokenizer):
        counts = thing.merge_counts
        return type(thing), thing.fingerprint, dict(thing.vocab), list(thing.merges), counts and list(counts)
    if isinstance(thing, Encoding):
        state = thing.__getstate__()
        return type(thing), state, thing._core.state(), thing._core_bpe._pattern
    if isinstance(thing, DecodeStream):
        tokenizer, *values = thing.__reduce__()[1]
        return type(thing), parts(tokenizer), values
    return thing


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def as_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no tokenizer here that a fingerprint could stand for."""
    monkeypatch.setattr(toksmith.tokenizer, "_cores", {})


@pytest.fixture
def little_memory() -> Iterator[None]:
    """One flipped bit can make `pickle` itself ask for gigabytes, for its memo or a bytearray: it gets no 256 MB."""
    resource = pytest.importorskip("resource")
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("limits are set as Linux has them")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(statm.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 28), hard))
    try:
        with contextlib.suppress(MemoryError):
            bytearray(1 << 29)
            pytest.skip("this system, an emulator perhaps, does not keep to limits of memory")
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("flips", [200, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bits(kind: str, protocol: int, flips: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thing = KINDS[kind](tmp_path)
    expected, data = parts(thing), pickle.dumps(thing, protocol)
    as_elsewhere(monkeypatch)
    assert parts(pickle.loads(data)) == expected
    rng = random.Random(kind)
    for _ in range(flips):
        bad = flipped(data, rng)
        try:
            found = pickle.loads(bad)
        except DOCUMENTED as error:
            assert len(str(error)) < 2000
        else:
            if isinstance(found, (Tokenizer, Encoding)):
                assert isinstance(found.decode(found.encode("the theatre")), str)
            elif isinstance(found, DecodeStream):
                with contextlib.suppress(*DOCUMENTED):  # another handler of errors may be unknown
                    assert isinstance(found.push(104) + found.flush(), str)
            else:  # a pickle that ends early gives another type, which nobody takes for it
                assert type(found) is not type(thing)


def test_each_part_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    restore, (kind, digest, fields, core, extras) = trained().__reduce__()
    as_elsewhere(monkeypatch)
    assert restore(kind, digest, fields, core, extras).merge_counts == trained().merge_counts
    for wrong in (
        (7, digest, fields, core, extras),
        (kind, digest, fields[:-1], core, extras),
        (kind, digest, None, core, extras),
        (kind, digest, fields, core[:-1], extras),
        (kind, digest, fields, core, extras.replace("bytes", "xytes")),
        (kind, digest, fields, core, extras[:-2]),
        (kind, digest, fields, core, {"ties": "bytes"}),
    ):
        as_elsewhere(monkeypatch)
        with pytest.raises(pickle.UnpicklingError, match="the pickle of the Tokenizer is damaged"):
            restore(*wrong)


def test_encodings_are_copied_and_pickled(tmp_path: Path) -> None:
    made = encoding(tmp_path)
    for other in (copy.copy(made), copy.deepcopy(made), *(pickle.loads(pickle.dumps(made, p)) for p in range(6))):
        assert parts(other) == parts(made)
    for state in (5, None, [], (1, 2)):
        with pytest.raises(TypeError):
            Encoding.__new__(Encoding).__setstate__(state)


# Checkpoints


def checkpoint(path: Path, **options: Any) -> Tokenizer:
    texts = ["the theatre the there thesis thermal others"] * 3
    return toksmith.train(iter(texts), 270, checkpoint=(path, 0), **options)


def test_flipped_bits_of_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "ck"
    expected = checkpoint(path)
    data = path.read_bytes()
    rng = random.Random(5)
    found_out = 0
    for _ in range(300):
        path.write_bytes(flipped(data, rng))
        try:
            assert checkpoint(path) == expected
        except ValueError as error:
            found_out += 1
            assert "ck" in str(error)
            assert len(str(error)) < 1000
    assert found_out > 250


@pytest.mark.filterwarnings("ignore:no pair is left")
def test_a_forged_checkpoint_is_no_worse_than_another_text(tmp_path: Path) -> None:
    """With a right checksum, whatever the merges are: a tokenizer that works, or an error."""
    path = tmp_path / "ck"
    checkpoint(path)
    magic, head, merges = path.read_bytes().split(b"\n", 2)
    content = json.loads(head)
    rng = random.Random(6)
    for _ in range(200):
        forged = bytearray(merges)
        for _ in range(rng.randint(1, 8)):
            forged[rng.randrange(len(forged))] = rng.choice([0, 1, 65, 255, rng.randrange(256)])
        if rng.random() < 0.2:
            forged = forged[: rng.randrange(len(forged))]
        sealed = content | {"sha256": hashlib.sha256(forged).hexdigest()}
        path.write_bytes(b"\n".join((magic, json.dumps(sealed).encode(), bytes(forged))))
        try:
            made = checkpoint(path)
        except (ValueError, OverflowError) as error:
            assert len(str(error)) < 1000
        else:
            assert made.decode(made.encode("the other theses")) == "the other theses"


@pytest.mark.parametrize("head", [b"[" * 100_000, b'{"key": 1' + b"0" * 5000, b"\xff", b"{}", b"7", b'{"key": {}}'])
def test_heads_of_checkpoints(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ck"
    path.write_bytes(b"toksmith checkpoint 1\n" + head + b"\n")
    with pytest.raises(ValueError, match=r"ck is not a checkpoint|ck: checksum mismatch"):
        checkpoint(path)
