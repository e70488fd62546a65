"""What makes a tokenizer, as bytes: for its fingerprint and its pickle."""

from __future__ import annotations

import weakref

from . import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tokenizer import Tokenizer

# Tokenizers of this process by class and fingerprint, so that unpickling one that is here costs nothing; and those
# whose fingerprint nobody has asked for yet, by address.
_known: weakref.WeakValueDictionary[tuple[type, str], Tokenizer] = weakref.WeakValueDictionary()
_unread: weakref.WeakValueDictionary[int, Tokenizer] = weakref.WeakValueDictionary()


def head(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return what makes a tokenizer beside its tokens and merges."""
    pattern = tokenizer._pattern
    found = {
        "pattern": pattern.text,
        "pattern_flags": pattern.flags,
        "unmatched": pattern.unmatched,
        "unicode": pattern.unicode,
        "special_tokens": dict(sorted(tokenizer.special_tokens.items(), key=lambda item: (item[1], item[0]))),
    }
    if tokenizer._core.has_merges() and tokenizer.ignore_merges:
        found["ignore_merges"] = True
    if tokenizer.pipeline is not None:
        found["pipeline"] = tokenizer.pipeline.spec
    return found


def state(tokenizer: Tokenizer) -> tuple[bytes, bytes]:
    """Return the head as JSON, and tokens and merges as the core writes them."""
    import json

    return json.dumps(head(tokenizer), sort_keys=True).encode(), tokenizer._core.state()


def register(tokenizer: Tokenizer) -> None:
    """Remember that a tokenizer is here. Its fingerprint would take a fifth of the time of loading."""
    _unread[id(tokenizer)] = tokenizer


def fingerprint(tokenizer: Tokenizer) -> str:
    """Return the SHA-256 of `state` in hex, and remember whose it is."""
    digest: str | None = tokenizer._cache.get("fingerprint")
    if digest is None:
        import hashlib

        head, core = state(tokenizer)
        digest = hashlib.sha256(b"%d\n%s\n%s" % (len(head), head, core)).hexdigest()
        tokenizer._cache["fingerprint"] = digest
        _known.setdefault((type(tokenizer), digest), tokenizer)
        _unread.pop(id(tokenizer), None)
    return digest


def _here(kind: type[Tokenizer], digest: str) -> Tokenizer | None:
    """Return the tokenizer of this process that has a fingerprint."""
    if (kind, digest) not in _known:
        for tokenizer in list(_unread.values()):
            if type(tokenizer) is kind:
                fingerprint(tokenizer)
    return _known.get((kind, digest))


def restore(
    kind: type[Tokenizer], digest: str, head: bytes, core: bytes, record: dict[str, Any] | None = None
) -> Tokenizer:
    """Return the tokenizer of this state: the one that this process has, or a new one with its record of training."""
    known = _here(kind, digest)
    if known is not None:
        return known
    import json

    from . import loading

    content = json.loads(head)
    pattern, pipeline = loading.as_saved(content, "the pickled tokenizer")
    tokenizer = kind.__new__(kind)
    specials = list(content["special_tokens"].items())
    inner = _core.Tokenizer.from_state(core, specials, pattern.core())
    tokenizer._fill(loading.behind(inner, pipeline), pattern, pipeline)
    if record is not None:
        from .training_record import Record

        tokenizer._cache["record"] = Record.of_state(record)
    return tokenizer
