"""`toksmith.lab.inspect(tokenizer, on=…)`: each figure against plain code that encodes and counts, on real text."""

import collections
import gzip
import itertools
import json
import math
import statistics
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from reading import corpus_of

import toksmith
from toksmith import Tokenizer, patterns, reference
from toksmith.formats import verification
from toksmith.lab import batches
from toksmith.lab.inspection import results, usage

EOT = "<|endoftext|>"


class Counted(NamedTuple):
    """A tokenizer, the texts, what was found, and the counts of plain code."""

    tokenizer: Tokenizer
    texts: list[str]
    usage: results.Usage
    unreachable: set[int]
    uses: collections.Counter[int]
    merged: collections.Counter[bytes]


@pytest.fixture(
    scope="module",
    params=["ranks of gpt2", "merges of gpt2", "trained", pytest.param("o200k", marks=pytest.mark.long)],
)
def counted(request: pytest.FixtureRequest, corpora: dict[str, str]) -> Counted:
    names = {"ranks of gpt2": "gpt2_ranks", "merges of gpt2": "gpt2", "o200k": "o200k"}
    texts = [corpora[name][start : start + 6000] for name in ("en", "code", "multi") for start in (0, 50_000)]
    if request.param == "trained":
        tokenizer = toksmith.train(iter(texts), 600, special_tokens=[EOT])
    else:
        tokenizer = request.getfixturevalue(names[request.param])
    inspected = toksmith.lab.inspect(tokenizer, iter(texts), top=12)
    found = inspected.usage
    assert found is not None
    uses: collections.Counter[int] = collections.Counter()
    merged: collections.Counter[bytes] = collections.Counter()
    ordinary = verification.ordinary(tokenizer._core)
    ids = {token: id for id, token in ordinary.items()}
    rank_of = reference.rank_function(tokenizer.merges if tokenizer._core.has_merges() else ids)
    steps: dict[bytes, tuple[list[bytes], list[bytes]]] = {}
    for text in texts:
        for piece, is_special in reference.split_special(text, tokenizer.special_tokens):
            if is_special:
                uses[tokenizer.special_tokens[piece]] += 1
                continue
            for pretoken in patterns.of_core(tokenizer._core).core().split(piece.encode()):
                # Plain merging, step by step; a whole pretoken that is a token is made by its own merges, too.
                if pretoken not in steps:
                    made = [step.left + step.right for step in reference.encode_steps(pretoken, rank_of)]
                    steps[pretoken] = made, list(reference.encode_word(pretoken, rank_of))
                made, pieces = steps[pretoken]
                merged.update(made)
                uses.update(ids[one] for one in pieces)
    unreachable = {one.id for one in inspected.reach.unreachable}
    return Counted(tokenizer, texts, found, unreachable, uses, merged)


def test_counts_are_those_of_the_definition(counted: Counted) -> None:
    tokenizer, texts, found, _, uses, _ = counted
    ids = sorted(tokenizer.vocab)
    assert {id: count for id, count in zip(ids, found.counts.tolist(), strict=True) if count} == uses
    assert uses == collections.Counter(itertools.chain.from_iterable(map(tokenizer.encode, texts)))
    assert found.documents == len(texts)
    assert found.tokens == sum(uses.values())
    assert found.bytes == sum(len(text.encode()) for text in texts)
    assert found.characters == sum(map(len, texts))
    assert found.special == sum(uses[id] for id in tokenizer.special_tokens.values())
    assert math.isclose(found.bytes_per_token, found.bytes / found.tokens)
    assert math.isclose(found.characters_per_token, found.characters / found.tokens)
    most = sorted(uses, key=lambda id: (-uses[id], id))[:12]
    assert found.most_used == tuple((id, tokenizer.vocab[id], uses[id]) for id in most)


def test_merges_are_counted_as_plain_code_applies_them(counted: Counted) -> None:
    tokenizer, _, found, _, uses, merged = counted
    ids = sorted(tokenizer.vocab)
    applied = {tokenizer.vocab[id]: count for id, count in zip(ids, found.applied.tolist(), strict=True) if count}
    assert applied == merged
    assert found.merged == sum(merged.values())
    # Each merge saves one token: bytes of ordinary text, less the tokens that are left.
    special = {id: len(tokenizer.vocab[id]) for id in tokenizer.special_tokens.values()}
    ordinary_bytes = found.bytes - sum(size * uses[id] for id, size in special.items())
    assert found.merged == ordinary_bytes - (found.tokens - found.special)
    places = {token: id for id, token in verification.ordinary(tokenizer._core).items()}
    best = sorted(merged, key=lambda token: (-merged[token], places[token]))[:12]
    assert [(one.token, one.applied) for one in found.most_saved] == [(token, merged[token]) for token in best]
    for one in found.most_saved:
        assert tokenizer.vocab[one.left] + tokenizer.vocab[one.right] == one.token == tokenizer.vocab[one.id]


def test_used_and_unused_tokens(counted: Counted) -> None:
    tokenizer, _, found, unreachable, uses, merged = counted
    ordinary = verification.ordinary(tokenizer._core)
    is_used = {id for id in ordinary if uses[id]}
    assert found.used == len(is_used)
    # What was merged, or was a byte, on the way, and is a part of what stands there.
    on_the_way = set(merged) | {bytes([byte]) for id in is_used for byte in ordinary[id]}
    parts = {id for id, token in ordinary.items() if token in on_the_way and not uses[id]}
    assert found.parts_only == len(parts)
    assert found.unused == len(ordinary) - len(is_used) - len(parts)
    whole = {id for id, token in ordinary.items() if token.decode("utf-8", "replace").encode() == token}
    idle = whole - is_used - parts - unreachable
    candidates = [(id, token) for id, token in sorted(ordinary.items()) if id in idle and len(token) > 1]
    assert found.candidates == tuple(candidates[:12])


def test_slope(counted: Counted) -> None:
    found, falling = counted.usage.slope, sorted(counted.uses.values(), reverse=True)
    assert found is not None
    ranks = {round(10 ** (tenth / 10)) for tenth in range(60)} | {len(falling)}
    points = [(math.log10(rank), math.log10(falling[rank - 1])) for rank in sorted(ranks) if rank <= len(falling)]
    x, y = (statistics.fmean(column) for column in zip(*points, strict=True))
    expected = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    assert math.isclose(found, expected, rel_tol=1e-9)
    assert -2 < found < -0.5


def test_slope_of_few_tokens() -> None:
    assert usage.slope(np.array([0, 5])) is None
    same = usage.slope(np.array([3, 3, 0]))
    assert same is not None and math.isclose(same, 0, abs_tol=1e-9)


# Where the text comes from


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def test_documents_of_all_lengths(corpora: dict[str, str], monkeypatch: pytest.MonkeyPatch, gpt2: Tokenizer) -> None:
    """Short documents are encoded together, long ones in pieces: the counts are those of `encode`."""
    monkeypatch.setattr(batches, "MAX_CHARACTERS", 5000)
    text = corpora["multi"][:60_000]
    documents = [text[:10], "", text[10:400], text[400:30_000], text[30_000:30_100], text[30_100:]]
    counter = usage.Counter(gpt2, sorted(gpt2.vocab), True, 2)
    counter.add(types.SimpleNamespace(pieces=pieces(document, 700)) for document in documents)
    expected = collections.Counter(id for document in documents for id in gpt2.encode(document))
    assert {id: count for id, count in enumerate(counter.counts.tolist()) if count} == expected
    assert (counter.documents, counter.characters, counter.bytes) == (6, len(text), len(text.encode()))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["the lowest of the low", "žluťoučký 日本"] * 3), 270, special_tokens=[EOT])


def test_files_of_all_kinds(tmp_path: Path, tokenizer: Tokenizer) -> None:
    texts = ["the lowest of the low", f"žluťoučký{EOT} 日本\r\n", "low\u2028 lower"]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_bytes(texts[0].encode())
    (tmp_path / "in/b.txt.gz").write_bytes(gzip.compress(texts[1].encode()))
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    (tmp_path / "d.txt").write_text("low<s>low er<s>", newline="")
    (tmp_path / "bad.txt").write_bytes(b"ab\xff")

    def figures(on: Any, **options: Any) -> tuple[int, int, int]:
        found = toksmith.lab.inspect(tokenizer, corpus_of(on, options), **options).usage
        assert found is not None
        return found.documents, found.bytes, found.tokens

    def expected(texts: list[str], special: bool = True) -> tuple[int, int, int]:
        tokens = sum(len(tokenizer.encode(text, special=special)) for text in texts)
        return len(texts), sum(len(text.encode()) for text in texts), tokens

    assert figures(tmp_path / "in") == expected(texts[:2])
    assert figures(str(tmp_path / "in/*.gz")) == expected(texts[1:2])
    assert figures([tmp_path / "in/a.txt", tmp_path / "c.jsonl"], field="body") == expected([texts[0], *texts])
    assert figures(tmp_path / "d.txt", document_separator="<s>") == expected(["low", "low er"])
    assert figures(iter(["low<s>low er"]), document_separator="<s>") == expected(["low", "low er"])
    assert figures(iter(texts), special=False) == expected(texts, special=False)
    assert figures((text for text in texts), workers=1) == expected(texts)
    assert figures(iter([])) == (0, 0, 0)
    assert figures(tmp_path / "bad.txt", errors="replace") == expected(["ab\ufffd"])
    with pytest.raises(ValueError, match=r"bad.txt: not UTF-8 at byte 2"):
        figures(tmp_path / "bad.txt")
    (tmp_path / "bad.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"a PNG image"):
        figures(tmp_path / "bad.txt", errors="replace")
    reported: list[tuple[str, int, int]] = []
    figures(tmp_path / "in", progress=lambda *given: reported.append(given))
    assert reported[-1][0] == "encode"
    assert 0 < reported[-1][1] <= reported[-1][2]


def test_parquet(tmp_path: Path, tokenizer: Tokenizer) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"words": ["the low", "", "日本"]}), tmp_path / "a.parquet")
    found = toksmith.lab.inspect(tokenizer, toksmith.Corpus(tmp_path / "a.parquet", column="words")).usage
    assert found is not None
    assert (found.documents, found.bytes, found.tokens) == (
        3,
        13,
        len(tokenizer.encode("the low")) + len(tokenizer.encode("日本")),
    )


@pytest.mark.long
def test_a_whole_corpus(corpora: dict[str, str], o200k: Tokenizer) -> None:
    found = toksmith.lab.inspect(o200k, iter(corpora.values())).usage
    assert found is not None
    for text in corpora.values():
        found.counts[:] -= np.bincount(o200k.encode_to_numpy(text), minlength=o200k.max_id + 1)[sorted(o200k.vocab)]
    assert not found.counts.any()
