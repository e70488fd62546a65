"""`toksmith.lab.inspect` without texts: each figure against plain code, on published and trained vocabularies."""

import collections
import json
import math
import re
import shutil
import statistics
import subprocess
import unicodedata
from pathlib import Path
from typing import NamedTuple

import pytest
import regex

import toksmith
from toksmith import Tokenizer, reference
from toksmith.lab import characters
from toksmith.lab.inspection.inspect import Inspection


class Looked(NamedTuple):
    """A tokenizer, what was found, its ordinary tokens, and the texts of those that are whole characters."""

    tokenizer: Tokenizer
    found: Inspection
    tokens: dict[int, bytes]
    texts: dict[int, str]


@pytest.fixture(scope="module", params=["small", "gpt2", pytest.param("cl100k", marks=pytest.mark.long)])
def looked(request: pytest.FixtureRequest) -> Looked:
    tokenizer: Tokenizer = request.getfixturevalue(request.param)
    special = set(tokenizer.special_tokens.values())
    tokens = {id: token for id, token in sorted(tokenizer.vocab.items()) if id not in special}
    texts = {}
    for id, token in tokens.items():
        text = token.decode("utf-8", "replace")
        if text.encode() == token:
            texts[id] = text
    return Looked(tokenizer, toksmith.lab.inspect(tokenizer, top=7), tokens, texts)


def test_sizes(looked: Looked) -> None:
    tokenizer, found, tokens, _texts = looked
    sizes = found.sizes
    assert sizes.tokens == len(tokenizer.vocab) == sizes.ordinary + sizes.special
    assert sizes.ordinary == len(tokens)
    assert sizes.special == len(tokenizer.special_tokens)
    assert {token.decode(): id for id, token in found.special} == dict(tokenizer.special_tokens)
    assert sizes.max_id == max(tokenizer.vocab)
    assert sizes.free_ids == len(set(range(max(tokenizer.vocab))) - set(tokenizer.vocab))
    assert sizes.token_bytes == len(b"".join(tokens.values()))
    assert sizes.merges == len(tokenizer.merges)
    assert sizes.whole_pretokens == tokenizer._core.ignores_merges() == (sizes.rule == "ranks")


def test_kinds(looked: Looked) -> None:
    """By Python's own tables of categories, which have another version of Unicode: few characters differ."""
    _tokenizer, found, tokens, texts = looked

    def kind_of(character: str) -> str:
        category = unicodedata.category(character)
        if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
            return "whitespace"
        return {"L": "letters", "M": "letters", "N": "digits", "P": "punctuation", "S": "punctuation"}.get(
            category[0], "other"
        )

    expected: collections.Counter[str] = collections.Counter()
    leading = 0
    for text in texts.values():
        leading += len(text) > 1 and text.startswith(" ")
        kinds = {kind_of(character) for character in (text[1:] if len(text) > 1 and text[0] == " " else text)}
        expected["mixed" if len(kinds) > 1 else kinds.pop()] += 1
    expected["partial"] = len(tokens) - len(texts)
    assert found.contents.leading_space == leading
    assert set(found.contents.kinds) == set(characters.KINDS)
    assert sum(found.contents.kinds.values()) == len(tokens)
    assert all(abs(count - expected[kind]) <= 3 for kind, count in found.contents.kinds.items())


def test_scripts_of_tokens(looked: Looked) -> None:
    _, found, _, texts = looked
    assert sum(found.contents.scripts.values()) == len(texts)
    assert not set(found.contents.scripts) - set(characters.SCRIPTS) - {"several", characters.OTHER}
    shared = r"\p{Script=Common}\p{Script=Inherited}"
    for script in ("Latin", "Greek", "Cyrillic", "Arabic", "Han", "Hiragana", "Katakana", "Thai"):
        alone = regex.compile(rf"[\p{{Script={script}}}{shared}]+")
        one = regex.compile(rf"\p{{Script={script}}}")
        expected = sum(bool(alone.fullmatch(text) and one.search(text)) for text in texts.values())
        assert found.contents.scripts.get(script, 0) == expected, script
    common = regex.compile(rf"[{shared}]*")
    assert found.contents.scripts["Common"] == sum(bool(common.fullmatch(text)) for text in texts.values())


@pytest.mark.skipif(shutil.which("perl") is None, reason="needs perl, which has tables of scripts of its own")
def test_scripts_of_characters_are_those_of_perl() -> None:
    """Compares a sample of all code points: those that are assigned in both versions of Unicode."""
    sample = [chr(code) for code in range(0x20, 0x30000, 37) if not 0xD800 <= code < 0xE000]
    sample = [one for one in sample if unicodedata.category(one) != "Cn"]
    program = (
        r"use Unicode::UCD 'charscript'; binmode STDOUT, ':utf8';"
        r"for (<STDIN>) { chomp; print charscript(hex($_)) // 'Unknown', qq{\n}; }"
    )
    points = "\n".join(f"{ord(one):x}" for one in sample)
    done = subprocess.run(["perl", "-e", program], input=points, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        pytest.skip(f"this perl has no tables of scripts: {done.stderr[:80]}")
    script_of = characters.scripts_of("".join(sample))
    theirs = dict(zip(sample, done.stdout.split(), strict=True))
    listed = [one for one in sample if theirs[one] in characters.SCRIPTS]
    differing = [one for one in listed if script_of[one] != theirs[one]]
    assert len(differing) <= 5, [(one, script_of[one], theirs[one]) for one in differing[:10]]
    assert len({theirs[one] for one in listed}) > 40


def test_near_duplicates(looked: Looked) -> None:
    _tokenizer, found, _tokens, texts = looked
    have = set(texts.values())
    assert found.duplicates.by_space == sum(f" {text}" in have for text in have if text)
    cases = collections.Counter(text.casefold() for text in have)
    assert found.duplicates.by_case == sum(count > 1 for count in cases.values())
    assert found.duplicates.by_case_tokens == sum(count for count in cases.values() if count > 1)
    groups: dict[str, list[int]] = {}
    for id, text in texts.items():
        groups.setdefault((text[1:] if text[:1] == " " and text != " " else text).casefold(), []).append(id)
    large = sorted((ids for ids in groups.values() if len(ids) > 1), key=lambda ids: (-len(ids), ids[0]))
    assert found.duplicates.by_both == len(large)
    assert found.duplicates.by_both_tokens == sum(map(len, large))
    assert [[one.id for one in group] for group in found.duplicates.largest] == large[:7]


def test_depths(looked: Looked) -> None:
    """The merges of each token are those of the reference, which encodes its bytes."""
    tokenizer, found, tokens, _texts = looked
    ids = {token: id for id, token in tokens.items()}
    rank_of = reference.rank_function(tokenizer.merges if tokenizer._core.has_merges() else ids)
    depths: dict[bytes, int] = {}
    step = 1 if len(tokens) < 1000 else 97
    for token in list(tokens.values())[::step]:
        here = {bytes([byte]): 0 for byte in token}
        last = None
        for last in reference.encode_steps(token, rank_of):
            here[last.left + last.right] = 1 + max(here[last.left], here[last.right])
        depths[token] = here[token] if last is None or last.pieces == (token,) else 0
    merging = found.merging
    assert sum(merging.by_depth.values()) == len(tokens)
    shown = {one.token: depth for one, depth in merging.deepest}
    assert all(depths[token] <= max(merging.by_depth) for token in depths)
    if step == 1:
        assert merging.by_depth == collections.Counter(depths.values())
        deepest = sorted(tokens, key=lambda id: (-depths[tokens[id]], id))[:7]
        assert [(one.id, depth) for one, depth in merging.deepest] == [(id, depths[tokens[id]]) for id in deepest]
        assert math.isclose(merging.mean_depth, statistics.fmean(depth for depth in depths.values() if depth))
    for token, depth in shown.items():
        here = {bytes([byte]): 0 for byte in token}
        for last in reference.encode_steps(token, rank_of):
            here[last.left + last.right] = 1 + max(here[last.left], here[last.right])
        assert here[token] == depth


def test_ids_with_gaps_and_an_empty_token() -> None:
    vocab = {byte: bytes([byte]) for byte in range(256)} | {300: b"ab", 4_000_000_000: b"abc", 400: b""}
    tokenizer = Tokenizer(vocab, [(b"a", b"b"), (b"ab", b"c")], {"<|x|>": 500}, pattern=None)
    found = toksmith.lab.inspect(tokenizer, iter(["abcab<|x|>"]))
    assert (found.sizes.free_ids, found.sizes.max_id) == (4_000_000_001 - 260, 4_000_000_000)
    assert found.merging.by_depth == {0: 257, 1: 1, 2: 1}
    assert [one.reason for one in found.reach.unreachable if not one.token] == ["empty"]
    assert found.usage is not None
    assert {one.id: one.uses for one in found.usage.most_used} == {300: 1, 500: 1, 4_000_000_000: 1}


def test_a_vocabulary_of_merges_that_are_listed_for_each_cut() -> None:
    """As Llama 3's `tokenizer.json` has them: all pairs that make a token are listed, and one of them is real."""
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab", 257: b"cd", 258: b"abcd", 259: b"bcd"}
    merges = [(b"a", b"b"), (b"c", b"d"), (b"b", b"cd"), (b"a", b"bcd"), (b"ab", b"cd")]
    tokenizer = Tokenizer(vocab, merges)
    left, right = tokenizer._core.last_pairs().T
    assert list(zip(left[256:].tolist(), right[256:].tolist(), strict=True)) == [
        (97, 98),
        (99, 100),
        (256, 257),
        (98, 257),
    ]
    assert toksmith.lab.inspect(tokenizer).merging.by_depth == {0: 256, 1: 2, 2: 2}


def test_the_bare_bytes() -> None:
    found = toksmith.lab.inspect(Tokenizer())
    assert (found.merging.by_depth, found.merging.deepest) == ({0: 256}, ())
    assert found.reach.by_reason == {"utf8": 13}
    assert re.search(r"\n  mean depth +0\.0+\n", str(found))


def test_bad_arguments(small: Tokenizer) -> None:
    for given, error, message in (
        ({"top": -1}, ValueError, "top is at least 0"),
        ({"on": 7}, TypeError, "sources are paths, or an iterable of texts, not int"),
        ({"on": []}, ValueError, "no source is given"),
        ({"on": ["-", "-"]}, ValueError, "standard input is given twice"),
        ({"on": "nope.txt"}, OSError, "nope.txt"),
        ({"workers": 0}, ValueError, "workers is at least 1"),
    ):
        with pytest.raises(error, match=message):
            toksmith.lab.inspect(small, **given)  # type: ignore[arg-type]


def test_a_hugging_face_pipeline_and_its_added_tokens(tmp_path: Path) -> None:
    """Added tokens that are not special are found in texts, and no proof of merging is said of them."""
    base = toksmith.train(iter(["the lowest of the low"] * 3), 264)
    base.save_huggingface(tmp_path, verify=False)
    content = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    id = max(content["model"]["vocab"].values()) + 1
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": False}
    content["added_tokens"].append({"id": id, "content": "qqq", **flags})
    content["normalizer"] = {"type": "Lowercase"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    tokenizer = Tokenizer.from_huggingface(tmp_path)
    found = toksmith.lab.inspect(tokenizer, iter(["THE qqq low"]))
    assert id not in {one.id for one in found.reach.unreachable}
    assert found.usage is not None
    assert found.usage.tokens == len(tokenizer.encode("THE qqq low"))
