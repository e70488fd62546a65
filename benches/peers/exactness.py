"""The gate: only a peer with the ids of the reference is ranked, and where one differs the first place is named."""

import hashlib
import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import measure
import texts
import vocabularies
from adapters import PEERS
from peer import Peer
from vocabularies import Vocabulary

Job = dict[str, Any]


def key(job: Job) -> str:
    """What the reference's ids depend on: the text, the vocabulary, the pattern and the version."""
    folder, vocab = Path(job["folder"]), job["vocab"]
    vocabulary = vocabularies.load(Path(job["data"]), folder, vocab)
    parts = [
        (Path(job["texts"]) / f"{job['corpus']}.txt").read_bytes(),
        vocabulary.ranks_path.read_bytes(),
        vocabulary.pattern.encode(),
        importlib.metadata.version(vocabularies.REFERENCES[vocab]).encode(),
        str(job.get("limit")).encode(),
        b"fresh, slices",
    ]
    return hashlib.sha256(b"|".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def write_reference(job: Job) -> dict[str, Any]:
    """Encode with the reference, unless that was done before; returns where the ids are, and their hashes."""
    import numpy as np

    name = f"{job['vocab']}-{job['corpus']}{'' if job.get('limit') is None else '-part'}"
    record, wanted = Path(job["folder"]) / f"{name}.ids.json", key(job)
    if record.is_file():
        known: dict[str, Any] = json.loads(record.read_text())
        if known["key"] == wanted:
            return known
    vocabulary = vocabularies.load(Path(job["data"]), Path(job["folder"]), job["vocab"])
    peer = PEERS[vocabularies.REFERENCES[job["vocab"]]](vocabulary, job["threads"])
    documents = texts.read_documents(Path(job["texts"]), job["corpus"], job.get("limit"))
    ids = np.asarray(peer.to_array("".join(documents)), dtype=np.uint32)
    path = record.with_suffix(".npy")
    np.save(path, ids)
    found = {
        "key": wanted,
        "path": str(path),
        "text": measure.digest([ids]),
        "batch": measure.digest(list(peer.rows(peer.batch_to_arrays(documents)))),
        **digests_of_short_texts(peer, job),
    }
    record.write_text(json.dumps(found))
    return found


def digests_of_short_texts(peer: Peer, job: Job) -> dict[str, dict[str, str]]:
    """A hash of the ids of the texts that each section takes, by their length."""
    where, limit = (Path(job["texts"]), job["corpus"]), job.get("limit")
    small = texts.small_strings(*where, limit)
    taken = {
        "fresh": {size: texts.fresh_documents(*where, size, limit) for size in texts.DOCUMENT_BYTES},
        "slices": {size: texts.slices(*where, size, limit) for size in texts.SLICE_BYTES},
        "small": {length: small[length] for length in texts.LENGTHS},
    }
    return {
        section: {str(size): measure.digest([peer.to_list(text) for text in some]) for size, some in sizes.items()}
        for section, sizes in taken.items()
    }


def difference(peer: Peer, vocabulary: Vocabulary, job: Job) -> str:
    """Where the ids of a peer first differ from the reference's, and whether that is for Unicode's versions alone."""
    import numpy as np

    text = texts.read_text(Path(job["texts"]), job["corpus"], job.get("limit"))
    ours, theirs = np.asarray(peer.to_array(text), dtype=np.uint32), np.load(job["reference"])
    shorter = min(len(ours), len(theirs))
    unequal = np.flatnonzero(ours[:shorter] != theirs[:shorter])
    at = int(unequal[0]) if len(unequal) else shorter
    if at == len(ours) == len(theirs):
        return "other ids in one pass than in the next"
    tokens = {rank: token for token, rank in vocabulary.ranks().items()}
    near = b"".join(tokens.get(int(id), b"?") for id in theirs[max(0, at - 3) : at + 5]).decode("utf-8", "replace")
    message = (
        f"at token {at}: {ours[at : at + 4].tolist()} for {theirs[at : at + 4].tolist()}, near {near!r}; "
        f"{len(ours)} ids for {len(theirs)}"
    )
    recent = set(text) & recent_characters()
    if recent and equal_without(peer, vocabulary, text, recent):
        message += f"; only for code points of recent Unicode versions: {len(recent)} of them in the text"
    return message


def recent_characters() -> set[str]:
    """The characters on which tables of recent Unicode versions differ, from the ranges of docs/unicode.md."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "unicode.md").read_text(encoding="utf-8")
    found: set[str] = set()
    for first, last in re.findall(r"U\+([0-9A-F]+)(?:–([0-9A-F]+))?", page):
        found.update(map(chr, range(int(first, 16), int(last or first, 16) + 1)))
    return found


def equal_without(peer: Peer, vocabulary: Vocabulary, text: str, characters: set[str]) -> bool:
    """Compare again without some characters."""
    rest = text.translate({ord(character): "." for character in characters})
    other = PEERS[vocabularies.REFERENCES[vocabulary.name]](vocabulary, peer.threads)
    return measure.digest([peer.to_array(rest)]) == measure.digest([other.to_array(rest)])
