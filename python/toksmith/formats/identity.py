"""Fingerprints and pickles: all parts of a tokenizer's identity, as bytes with a SHA-256."""

from __future__ import annotations

import weakref

from .. import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..compat.tiktoken.encoding import Encoding
    from ..definition import Definition

# The tokenizers of this process: those with a fingerprint by class and fingerprint, all others by address. Unpickling
# a tokenizer of this process returns the existing object, and reads nothing.
_by_fingerprint: weakref.WeakValueDictionary[tuple[type, str], Definition] = weakref.WeakValueDictionary()
_without_fingerprint: weakref.WeakValueDictionary[int, Definition] = weakref.WeakValueDictionary()


def register(tokenizer: Definition) -> None:
    """Remember that this process has a tokenizer. Its fingerprint would take a fifth of the time of loading."""
    _without_fingerprint[id(tokenizer)] = tokenizer


def fingerprint(tokenizer: Definition) -> str:
    """Return the SHA-256, in hex, of the state of a tokenizer, and remember the tokenizer by it."""
    digest: str | None = tokenizer._cache.get("fingerprint")
    if digest is None:
        digest = _of_state(*state(tokenizer))
        tokenizer._cache["fingerprint"] = digest
        _by_fingerprint.setdefault((type(tokenizer), digest), tokenizer)
        _without_fingerprint.pop(id(tokenizer), None)
    return digest


def _here(kind: type[Definition], digest: str) -> Definition | None:
    """Return the tokenizer of this process that has a fingerprint."""
    if (kind, digest) not in _by_fingerprint:
        for tokenizer in list(_without_fingerprint.values()):
            if type(tokenizer) is kind:
                fingerprint(tokenizer)
    return _by_fingerprint.get((kind, digest))


def reduced(tokenizer: Definition) -> tuple[Any, ...]:
    """Return the content of a tokenizer's pickle: its state with its fingerprint, record and origin with digests."""
    record, origin = _written_record(tokenizer), _written_origin(tokenizer)
    rest: tuple[Any, ...] = (record or None, _digest(record)) if record or origin else ()
    if origin:
        rest += (origin, _digest(origin))
    return restore, (type(tokenizer), fingerprint(tokenizer), *state(tokenizer), *rest)


def state(tokenizer: Definition) -> tuple[bytes, bytes]:
    """Return all parts of a tokenizer's identity: its head, and the state of the core."""
    from . import head

    return head.state(tokenizer._parts)


def _written_record(tokenizer: Definition) -> bytes:
    """Return the record of the training of a tokenizer, as its pickle holds it; empty if it has none."""
    import json

    return b"" if tokenizer._record is None else json.dumps(tokenizer._record.state()).encode()


def _written_origin(tokenizer: Definition) -> bytes:
    """Return the origin of a tokenizer, as its pickle holds it; empty if the origin is not known."""
    import json

    origin = tokenizer._parts.origin
    return b"" if origin is None else json.dumps(origin.state()).encode()


def restore(
    kind: type[Definition],
    digest: str,
    head: bytes,
    core: bytes,
    record: bytes | None = None,
    record_digest: str = "",
    origin: bytes | None = None,
    origin_digest: str = "",
) -> Definition:
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
    import json

    from . import head as heads
    from .parts import Parts
    from .training_record import Record

    content = json.loads(head)
    pattern, pipeline = heads.pattern_and_pipeline(content, "the pickled tokenizer")
    inner = _core.Tokenizer.from_state(core, list(content["special_tokens"].items()), pattern.core())
    found = None if record is None else Record.of_state(json.loads(record))
    parts = Parts(heads.with_pipeline(inner, pipeline), pattern, pipeline, found)
    return kind._of(heads.with_origin(parts, None if origin is None else json.loads(origin)))


def digest_of_encoding(state: Any) -> str:
    """Return the SHA-256, in hex, of the state of an `Encoding`: a name, or its arguments.

    Raises:
        TypeError, ValueError, KeyError: `state` is no such state.
    """
    import array
    import json

    if isinstance(state, str):
        return _digest(state.encode(errors="surrogatepass"))
    ranks = state["mergeable_ranks"]
    specials = sorted(state["special_tokens"].items())
    numbers = array.array("Q", (number for token, rank in ranks.items() for number in (len(token), rank)))
    head = json.dumps([state["name"], state["pat_str"], specials, len(ranks)]).encode()
    return _digest(head, numbers.tobytes(), *ranks)


def restore_encoding(kind: type[Encoding], state: Any, digest: str) -> Encoding:
    """Return the encoding of this state.

    Raises:
        pickle.UnpicklingError: The state is not that of the digest: the pickle is damaged.
        ValueError: The state is whole, but the encoding cannot be made here.
    """
    check("Encoding", isinstance(kind, type) and hasattr(kind, "_of_ranks"))
    check_encoding(state, digest)
    encoding = kind.__new__(kind)
    encoding.__setstate__(state)
    return encoding


def check_encoding(state: Any, digest: str) -> None:
    """Refuse the state of an encoding that has another digest.

    Raises:
        pickle.UnpicklingError: The state has another digest.
    """
    try:
        found = digest_of_encoding(state)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        found = ""
    check("Encoding", found == digest)


def digest_of_values(*values: Any) -> str:
    """Return the SHA-256, in hex, of a few small values."""
    return _digest(repr(values).encode(errors="surrogatepass"))


def check(kind: str, is_whole: bool) -> None:
    """Refuse the content of a damaged pickle.

    Raises:
        pickle.UnpicklingError: The content is not whole.
    """
    if not is_whole:
        import pickle

        raise pickle.UnpicklingError(f"the pickle of the {kind} is damaged: it has another SHA-256")


def _of_state(head: bytes, core: bytes) -> str:
    return _digest(b"%d\n" % len(head), head, b"\n", core)


def _digest(*parts: bytes) -> str:
    import hashlib

    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()
