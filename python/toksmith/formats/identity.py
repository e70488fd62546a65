"""Fingerprints and pickles: all parts of a tokenizer's identity, as bytes with a SHA-256."""

from __future__ import annotations

import hashlib
import json
import pickle

from .. import _core
from . import native
from .huggingface.origin import Origin
from .parts import Parts, Record, by_fingerprint, without_fingerprint


def fingerprint(parts: Parts) -> str:
    """Return the SHA-256, in hex, of the state of a tokenizer, and remember the tokenizer by it."""
    if parts.fingerprint is None:
        parts.fingerprint = _of_state(*native.state(parts))
        by_fingerprint.setdefault(parts.fingerprint, parts)
        without_fingerprint.pop(id(parts), None)
    return parts.fingerprint


def _of_this_process(digest: str) -> Parts | None:
    if digest not in by_fingerprint:
        for parts in list(without_fingerprint.values()):
            fingerprint(parts)
    return by_fingerprint.get(digest)


def pickled(parts: Parts) -> tuple[str | bytes, ...]:
    """Return the content of a pickle: fingerprint, head and core; record and origin, each with its SHA-256."""
    record, origin = _json(parts.record), _json(parts.origin)
    extras = [record, origin] if origin else [record] if record else []
    return (fingerprint(parts), *native.state(parts), *(each for part in extras for each in (part, _digest(part))))


def _json(part: Record | Origin | None) -> bytes:
    return b"" if part is None else json.dumps(part.state()).encode()


def restored(
    digest: str,
    head: bytes,
    core: bytes,
    record: bytes = b"",
    record_digest: str = "",
    origin: bytes = b"",
    origin_digest: str = "",
) -> Parts:
    """Return the tokenizer of a pickle: the one that this process has, or a new one with its record of training.

    Cost: one SHA-256 of the state, if this process does not have the tokenizer; else the record of its training is
    written once.
    """
    check("Tokenizer", isinstance(digest, str))
    known = _of_this_process(digest)
    # An equal tokenizer may come from a file that holds no record of the training, or from another folder.
    if known is not None and record in (b"", _json(known.record)) and origin in (b"", _json(known.origin)):
        return known
    check("Tokenizer", isinstance(head, bytes) and isinstance(core, bytes) and _of_state(head, core) == digest)
    for content, its_digest in ((record, record_digest), (origin, origin_digest)):
        check("Tokenizer", content == b"" or (isinstance(content, bytes) and _digest(content) == its_digest))
    fields = json.loads(head)
    pattern, pipeline = native.pattern_and_pipeline(fields, "the pickled tokenizer")
    inner = _core.Tokenizer.from_state(core, list(fields["special_tokens"].items()), pattern.core())
    states = (json.loads(content) if content else None for content in (record, origin))
    return native.parts_of(inner, pattern, pipeline, *states)


def check(kind: str, is_whole: bool) -> None:
    """Refuse the content of a damaged pickle."""
    if not is_whole:
        raise pickle.UnpicklingError(f"the pickle of the {kind} is damaged: checksum mismatch")


def _of_state(head: bytes, core: bytes) -> str:
    return _digest(b"%d\n" % len(head), head, b"\n", core)


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()
