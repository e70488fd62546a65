"""Fingerprints and pickles: all parts of a tokenizer's identity, as bytes with a SHA-256."""

from __future__ import annotations

import hashlib
import json
import pickle
import weakref
from typing import Any, Protocol

from .. import _core
from . import native
from .parts import Parts


class Identified(Protocol):
    """A tokenizer: its parts, and what was made of them once."""

    _parts: Parts
    _cache: dict[str, Any]

    @classmethod
    def _of(cls, parts: Parts) -> Identified: ...


# The tokenizers of this process: those with a fingerprint by class and fingerprint, all others by address. Unpickling
# a tokenizer of this process returns the existing object, and reads nothing.
_by_fingerprint: weakref.WeakValueDictionary[tuple[type, str], Identified] = weakref.WeakValueDictionary()
_without_fingerprint: weakref.WeakValueDictionary[int, Identified] = weakref.WeakValueDictionary()


def register(tokenizer: Identified) -> None:
    """Remember that this process has a tokenizer. Its fingerprint would take a fifth of the time of loading."""
    _without_fingerprint[id(tokenizer)] = tokenizer


def fingerprint(tokenizer: Identified) -> str:
    """Return the SHA-256, in hex, of the state of a tokenizer, and remember the tokenizer by it."""
    digest: str | None = tokenizer._cache.get("fingerprint")
    if digest is None:
        digest = _of_state(*state(tokenizer))
        tokenizer._cache["fingerprint"] = digest
        _by_fingerprint.setdefault((type(tokenizer), digest), tokenizer)
        _without_fingerprint.pop(id(tokenizer), None)
    return digest


def _here(kind: type[Identified], digest: str) -> Identified | None:
    """Return the tokenizer of this process that has a fingerprint."""
    if (kind, digest) not in _by_fingerprint:
        for tokenizer in list(_without_fingerprint.values()):
            if type(tokenizer) is kind:
                fingerprint(tokenizer)
    return _by_fingerprint.get((kind, digest))


def reduced(tokenizer: Identified) -> tuple[object, ...]:
    """Return the content of a tokenizer's pickle: its state with its fingerprint, record and origin with digests."""
    record, origin = _written_record(tokenizer), _written_origin(tokenizer)
    tail: tuple[object, ...] = (record or None, _digest(record)) if record or origin else ()
    if origin:
        tail += (origin, _digest(origin))
    return restore, (type(tokenizer), fingerprint(tokenizer), *state(tokenizer), *tail)


def state(tokenizer: Identified) -> tuple[bytes, bytes]:
    """Return all parts of a tokenizer's identity: its head, and the state of the core."""
    return native.state(tokenizer._parts)


def _written_record(tokenizer: Identified) -> bytes:
    """Return the record of the training of a tokenizer, as its pickle holds it; empty if it has none."""
    record = tokenizer._parts.record
    return b"" if record is None else json.dumps(record.state()).encode()


def _written_origin(tokenizer: Identified) -> bytes:
    """Return the origin of a tokenizer, as its pickle holds it; empty if the origin is not known."""
    origin = tokenizer._parts.origin
    return b"" if origin is None else json.dumps(origin.state()).encode()


def restore(
    kind: type[Identified],
    digest: str,
    head: bytes,
    core: bytes,
    record: bytes | None = None,
    record_digest: str = "",
    origin: bytes | None = None,
    origin_digest: str = "",
) -> Identified:
    """Return the tokenizer of this state: the one that this process has, or a new one with its record of training.

    Cost: one SHA-256 of the state, if this process does not have the tokenizer; else the record of its training is
    written once.

    Raises:
        pickle.UnpicklingError: The state is not that of the fingerprint: the pickle is damaged.
        ValueError: The state is whole, but this version of toksmith or of `regex` cannot have such a tokenizer.
    """
    check("Tokenizer", isinstance(kind, type) and hasattr(kind, "_parts") and isinstance(digest, str))
    known = _here(kind, digest)
    # An equal tokenizer may come from a file that holds no record of the training, or from another folder.
    if known is not None and all(
        written is None or written == written_there(known)
        for written, written_there in ((record, _written_record), (origin, _written_origin))
    ):
        return known
    check("Tokenizer", isinstance(head, bytes) and isinstance(core, bytes) and _of_state(head, core) == digest)
    for written, its_digest in ((record, record_digest), (origin, origin_digest)):
        check("Tokenizer", written is None or (isinstance(written, bytes) and _digest(written) == its_digest))
    content = json.loads(head)
    pattern, pipeline = native.pattern_and_pipeline(content, "the pickled tokenizer")
    inner = _core.Tokenizer.from_state(core, list(content["special_tokens"].items()), pattern.core())
    states = (None if written is None else json.loads(written) for written in (record, origin))
    return kind._of(native.parts_of(inner, pattern, pipeline, *states))


def digest_of_values(*values: object) -> str:
    """Return the SHA-256, in hex, of a few small values."""
    return _digest(repr(values).encode(errors="surrogatepass"))


def check(kind: str, is_whole: bool) -> None:
    """Refuse the content of a damaged pickle."""
    if not is_whole:
        raise pickle.UnpicklingError(f"the pickle of the {kind} is damaged: checksum mismatch")


def _of_state(head: bytes, core: bytes) -> str:
    return _digest(b"%d\n" % len(head), head, b"\n", core)


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
