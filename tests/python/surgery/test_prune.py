"""Pruning against the definition: vocabularies, merges and ids, on random and published vocabularies."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pruning_oracle
import pytest
import tiktoken
import tokenizers
from character_cases import make, text_of, vocab_and_merges
from extending_oracle import random_base, random_words
from published_data import VOCABULARIES, load
from training_data import END

import toksmith
from toksmith import Tokenizer, count_pretokens, patterns, reference
from toksmith.surgery import VocabChange, prune

Oracle = tuple[dict[int, bytes], list[tuple[bytes, bytes]] | None, list[int]]


def by_definition(tokenizer: Tokenizer, keep: set[int]) -> Oracle:
    core = tokenizer._core
    merges = list(tokenizer.merges) if core.has_merges() else None
    specials = dict(tokenizer.special_tokens)
    return pruning_oracle.prune(tokenizer.vocab, keep, merges, specials, ignore_merges=core.ignores_merges())


def check(tokenizer: Tokenizer, keep: set[int], pruned: Tokenizer, change: VocabChange, oracle: Oracle) -> None:
    """Compare a pruned tokenizer with the definition: tokens, merges, both maps."""
    vocab, merges, old_ids = oracle
    assert dict(pruned.vocab) == vocab
    if merges is not None:
        assert list(pruned.merges) == merges
    assert pruned._core.has_merges() == (merges is not None)
    assert change.new_to_old.tolist() == old_ids
    new_ids = {old: new for new, old in enumerate(old_ids)}
    assert change.old_to_new.tolist() == [new_ids.get(id, -1) for id in range(tokenizer.max_id + 1)]
    assert change.needed.tolist() == sorted({*old_ids} - keep - {*tokenizer.special_tokens.values()})
    assert not len(change.added)
    assert pruned.special_tokens == {name: new_ids[id] for name, id in tokenizer.special_tokens.items()}
    # All merges that made a token still make it: none is out of reach that was not before.
    if not pruned._core.ignores_merges():
        assert pruned._core.unmade() == []


@pytest.mark.parametrize("kind", ["ranks", "merges", "whole"])
def test_random_vocabularies_are_pruned_by_the_definition(kind: str) -> None:
    rng = random.Random(f"prune {kind}")
    for _ in range(200):
        alphabet = rng.choice(("a", "ab", "abc", "abcd"))
        tokenizer = random_base(rng, alphabet, kind)
        ids = sorted(tokenizer.vocab.keys() - {*tokenizer.special_tokens.values()})
        keep = {*rng.sample(ids, rng.randint(0, len(ids)))}
        vocab, merges, _ = oracle = by_definition(tokenizer, keep)
        if rng.random() < 0.5:
            pruned, change = prune(tokenizer, keep=keep)
        else:
            pruned, change = prune(tokenizer, drop=np.array(sorted({*ids} - keep), np.int64))
        check(tokenizer, keep, pruned, change, oracle)
        ignores_merges = pruned._core.ignores_merges()
        for word in random_words(rng, alphabet):
            expected = reference.encode(
                word, vocab, merges, pruned.special_tokens, pattern=None, ignore_merges=ignores_merges
            )
            assert pruned.encode(word) == expected, (tokenizer.vocab, tokenizer.merges, keep, word)


def test_a_trained_tokenizer_keeps_its_record() -> None:
    text = ["low lower lowest newer newest wider widest " * 3]
    tokenizer = toksmith.train(iter(text), 275, special_tokens=[END])
    parts = {part for merge in tokenizer.merges for part in merge}
    gone = next(id for id, token in tokenizer.vocab.items() if len(token) > 1 and id and token not in parts)
    pruned, change = prune(tokenizer, drop=[gone])
    places = [tokenizer.merges.index(merge) for merge in pruned.merges]
    counts = tokenizer.merge_counts
    assert counts is not None
    assert pruned.merge_counts == [counts[place] for place in places]
    assert change.old_to_new[gone] == -1
    assert pruned.special_tokens == tokenizer.special_tokens
    larger, _ = toksmith.surgery.extend(pruned, iter(["zzz zzzz"]), 3)
    assert larger.vocab_size == pruned.vocab_size + 3
    assert toksmith.surgery.shrink(larger, pruned.vocab_size) == pruned


def test_tokens_that_texts_do_not_use_are_dropped(tmp_path: Path) -> None:
    text = "low lower lowest newer newest wider widest " * 3
    tokenizer = toksmith.train(iter([text]), 275, special_tokens=[END])
    path = tmp_path / "corpus.txt"
    path.write_text("lower newer lower" + END + "low", encoding="utf-8")
    uses = np.bincount(tokenizer.encode(path.read_text(encoding="utf-8")), minlength=275)
    for least in (1, 2):
        expected, _ = prune(tokenizer, keep=np.flatnonzero(uses >= least))
        pruned, change = prune(tokenizer, min_count=least, on=path)
        assert pruned == expected
        assert {*np.flatnonzero(uses >= least)} <= {*change.new_to_old}
        from_texts, _ = prune(tokenizer, min_count=least, on=iter(["lower newer", " lower" + END, "low"]))
        assert from_texts == pruned


def test_special_tokens_go_only_if_they_are_dropped() -> None:
    tokenizer = Tokenizer(None, None, [END, "<|a|>", "<|b|>"])
    pruned, change = prune(tokenizer, drop=[257])
    assert pruned.special_tokens == {END: 256, "<|b|>": 257}
    assert change.old_to_new[255:].tolist() == [255, 256, -1, 257]
    assert prune(tokenizer, keep=[])[0] == tokenizer
    assert prune(tokenizer, keep=[])[1].needed.tolist() == list(range(256))


def test_tokens_without_a_neighbour_go_where_none_needs_them() -> None:
    """Each letter that begins with D0 is a token, so "о" and the D0 after it never stay together."""
    letters = {256 + byte: bytes([0xD0, byte]) for byte in range(0x80, 0xC0)}
    vocab = {**Tokenizer().vocab, **letters, 500: "о".encode() + b"\xd0", 501: "о".encode() + b"\xd0\xd0"}
    for kept in ({500}, {501}, {500, 501}):
        tokenizer = Tokenizer(
            {id: token for id, token in vocab.items() if id < 500 or id in kept}, None, pattern=None
        )
        assert {token.id for token in unreachable_merged(tokenizer)} >= kept & {500}
        pruned, change = prune(tokenizer, drop=[])
        assert dict(pruned.vocab) == {id: vocab[old] for id, old in enumerate(change.new_to_old.tolist())}
        assert not unreachable_merged(pruned)
        assert pruned.vocab_size == 256 + 64
    fewer, change = prune(Tokenizer(vocab, None, pattern=None), drop=[256 + 0x80, 501])
    assert fewer.vocab[fewer.max_id] == vocab[500]
    assert fewer.max_id in fewer.encode("оЀ")
    assert not unreachable_merged(fewer)


def test_what_cannot_be_pruned_is_refused() -> None:
    tokenizer = Tokenizer(None, None, [END])
    for options in ({}, {"keep": [1], "drop": [2]}, {"min_count": 3}, {"keep": [1], "on": ["x"]}, {"on": ["x"]}):
        with pytest.raises(ValueError, match="exactly one of them"):
            prune(tokenizer, **options)  # type: ignore[arg-type]
    for name in ("keep", "drop"):
        with pytest.raises(ValueError, match=f"{name}: 900 is the id of no token"):
            prune(tokenizer, **{name: [3, 900]})  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        prune(tokenizer, keep=["a"])  # type: ignore[list-item]
    source = make("llama", byte_fallback=False)
    with pytest.raises(ValueError, match="merges by the names of its tokens cannot be pruned"):
        prune(Tokenizer.from_huggingface(source), drop=[300])
    with pytest.raises(ValueError, match="merges by the names of its tokens cannot be given other tokens"):
        toksmith.surgery.replace_tokens(Tokenizer.from_huggingface(source), [0], ["<|x|>"])


# Vocabularies of characters


@pytest.mark.parametrize("kind", ["llama", "gemma", "metaspace_first_True", "bare", "nfkc"])
def test_vocabularies_of_characters_are_pruned(kind: str) -> None:
    """Compare with a model of `tokenizers` that has the tokens and merges that the definition keeps."""
    rng = random.Random(kind)
    source = make(kind)
    tokenizer = Tokenizer.from_huggingface(source)
    vocab, merges = vocab_and_merges()
    names = {id: name for name, id in vocab.items()}
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    inside = {name: parts_by_definition(name, ranks) for name in vocab}
    for share in (0.9, 0.5, 0.1, 0.0):
        keep = {id for id in tokenizer.vocab if rng.random() < share}
        pruned, change = prune(tokenizer, keep=keep)
        kept = {names[id] for id in keep & names.keys()} | {*list(vocab)[:259]}
        kept |= {"\u2581"} if kind != "bare" else set()  # there it is not the space
        kept |= {token.content for token in source.get_added_tokens_decoder().values()}
        kept = kept.union(*(inside[name] for name in kept if name in inside))
        left = [(a, b) for a, b in merges if {a, b, a + b} <= kept]
        model = tokenizers.models.BPE(
            vocab={name: change.old_to_new[id].item() for name, id in vocab.items() if name in kept},
            merges=left,
            **{name: getattr(source.model, name) for name in ("byte_fallback", "fuse_unk", "unk_token")},
        )
        assert {*change.new_to_old} == {id for id in tokenizer.vocab if names.get(id) in kept or id not in names}
        expected = tokenizers.Tokenizer(model)
        for part in ("normalizer", "pre_tokenizer", "decoder"):
            if getattr(source, part) is not None:
                setattr(expected, part, getattr(source, part))
        added = source.get_added_tokens_decoder()
        expected.add_tokens([added[id] for id in sorted(added)])
        for text in (text_of(rng, 12) for _ in range(150)):
            assert pruned.encode(text) == expected.encode(text, add_special_tokens=False).ids, (share, text)


def parts_by_definition(name: str, ranks: dict[tuple[str, str], int]) -> set[str]:
    """The tokens that merging a token's characters makes, and the characters; none if it makes something else."""
    pieces, made = list(name), {*name}
    while True:
        pairs = [(ranks[pair], at) for at, pair in enumerate(itertools.pairwise(pieces)) if pair in ranks]
        if not pairs:
            return made if pieces == [name] else set()
        _, at = min(pairs)
        pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        made.add(pieces[at])


@pytest.mark.parametrize("kind", ["llama", "gemma"])
def test_no_character_is_out_of_reach(kind: str) -> None:
    tokenizer = Tokenizer.from_huggingface(make(kind))
    before = {token.token for token in toksmith.lab.inspect(tokenizer).reach.unreachable}
    pruned, _ = prune(tokenizer, keep=random.Random(3).sample(sorted(tokenizer.vocab), 500))
    # Left are tokens of bytes that are characters of their own, which no vocabulary of characters is without.
    assert {token.token for token in toksmith.lab.inspect(pruned).reach.unreachable} <= before


# Published vocabularies


def subsets(rng: random.Random, tokenizer: Tokenizer, count: int) -> Iterator[set[int]]:
    ids = sorted(tokenizer.vocab.keys() - {*tokenizer.special_tokens.values()})
    for _ in range(count):
        share = rng.choice((0.02, 0.1, 0.3, 0.6, 0.9, 0.99))
        yield {id for id in ids if rng.random() < share}


def unreachable_merged(tokenizer: Tokenizer) -> list[Any]:
    """The tokens that are in no text, by a proof of `inspect`; not the bytes that UTF-8 does not have."""
    return [token for token in toksmith.lab.inspect(tokenizer).reach.unreachable if len(token.token) > 1]


def check_published(pattern: str, data: Path, text: str, count: int, exports: int, folder: Path) -> None:
    rng, tokenizer = random.Random(pattern), load(data, pattern)
    unreachable = {token.id for token in unreachable_merged(tokenizer)}
    words = [word for word, _ in count_pretokens(iter([text]), pattern=pattern).most_common(4000)]
    inside: dict[bytes, set[bytes]] = {}
    for number, subset in enumerate(subsets(rng, tokenizer, count)):
        keep = subset - unreachable
        pruned, change = prune(tokenizer, keep=keep)
        if lone := {id for id in keep if change.old_to_new[id] < 0}:
            ranks, _, old_ids = _remembering(tokenizer, keep, inside)
            with_lone = Tokenizer(ranks, None, tokenizer.special_tokens.keys(), pattern=pattern)
            assert lone <= {old_ids[token.id] for token in unreachable_merged(with_lone)}
        check(tokenizer, keep - lone, pruned, change, _remembering(tokenizer, keep - lone, inside))
        needed = {*change.needed.tolist()}
        unreached = {change.new_to_old[token.id].item() for token in unreachable_merged(pruned)}
        assert unreached <= needed, "out of reach, and no token needs it"
        ranks = {token: id for id, token in pruned.vocab.items() if id not in pruned.special_tokens.values()}
        for word in rng.sample(words, 1000):
            pieces = (word,) if word in ranks else reference.encode_word(word, ranks)
            assert pruned._core.encode_pretoken(word) == [ranks[piece] for piece in pieces], word
        if number < exports:
            check_exports(pruned, pattern, ranks, text, folder)


def _remembering(tokenizer: Tokenizer, keep: set[int], inside: dict[bytes, set[bytes]]) -> Oracle:
    """Prune by the definition, and look at the bytes of a token once for all subsets."""
    ordinary = pruning_oracle.tokens_inside

    def remembered(token: bytes, rank_of: Any) -> set[bytes]:
        if token not in inside:
            inside[token] = ordinary(token, rank_of)
        return inside[token]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning_oracle, "tokens_inside", remembered)
        return by_definition(tokenizer, keep)


def check_exports(pruned: Tokenizer, pattern: str, ranks: dict[bytes, int], text: str, folder: Path) -> None:
    expected = pruned.encode(text, special=False)
    pruned.save(folder / "ranks.tiktoken", format="tiktoken", verify=False)
    assert Tokenizer.from_tiktoken(folder / "ranks.tiktoken", pattern=pattern, special_tokens=()).vocab == {
        id: token for token, id in ranks.items()
    }
    theirs = tiktoken.Encoding(
        "pruned", pat_str=patterns.NAMED[pattern], mergeable_ranks=ranks, special_tokens=dict(pruned.special_tokens)
    )
    assert theirs.encode(text, disallowed_special=()) == expected
    pruned.save_huggingface(folder / "hf", verify=False)
    loaded = tokenizers.Tokenizer.from_file(str(folder / "hf/tokenizer.json"))
    assert loaded.encode(text, add_special_tokens=False).ids == pruned.encode(text)


def test_a_published_vocabulary_is_pruned(data: Path, corpora: dict[str, str], tmp_path: Path) -> None:
    check_published("gpt2", data, corpora["multi"][:20_000], 1, 1, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("pattern", VOCABULARIES)
def test_many_subsets_of_published_vocabularies(
    pattern: str, shared_data: Path, corpora: dict[str, str], tmp_path: Path
) -> None:
    text = corpora["multi"][:60_000] + corpora["code"][:40_000] + corpora["en"][:40_000]
    check_published(pattern, shared_data, text, 25, 25, tmp_path)


def test_lists_of_merges_are_pruned(gpt2: Tokenizer, corpora: dict[str, str], tmp_path: Path) -> None:
    keep = {id for id in gpt2.vocab if id % 7}
    pruned, _ = prune(gpt2, keep=keep)
    ranks: Callable[[bytes, bytes], int | None] = reference.rank_function(list(pruned.merges))
    ids = {token: id for id, token in pruned.vocab.items()}
    for word, _ in count_pretokens(iter([corpora["en"][:50_000]])).most_common(1500):
        assert pruned._core.encode_pretoken(word) == [ids[piece] for piece in reference.encode_word(word, ranks)]
    pruned.save(tmp_path, format="gpt2")
    assert Tokenizer.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", [END]).vocab == pruned.vocab
