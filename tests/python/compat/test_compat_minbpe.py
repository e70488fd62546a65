"""`toksmith.compat.minbpe` against a plain oracle of minbpe's rules, and against its published examples."""

import copy
import pickle
import random
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from pair_oracle import chunks_of, encoded, encoded_with_specials, first_of_most_frequent, trained, vocab_of
from test_notebooks import FIRST_NOTEBOOK, SECOND_NOTEBOOK, text_of_notebook
from training_data import ALPHABETS, random_text

import toksmith
from toksmith.compat.minbpe import BasicTokenizer, GPT4Tokenizer, RegexTokenizer, base
from toksmith.compat.minbpe.gpt4 import GPT4_SPECIAL_TOKENS, recover_merges
from toksmith.compat.minbpe.regex import GPT2_SPLIT_PATTERN, GPT4_SPLIT_PATTERN
from toksmith.compat.tiktoken.load import load_tiktoken_bpe

TEXTS = ["", "?", "hello world!!!? (안녕하세요!) lol123 😉", "a\n  ", "  x\r\n\r\n y\t", "I'LL it's", "123456 ½²"]
SPECIALS = {"<|end|>": 5000, "<|a|>": 5001, "<|a|><|b|>": 5003, "of": 6000}
DOCUMENT = "<|end|>A pair of cats<|a|><|b|>\n<|end|> of<|a|> 2 cats"


def quietly(train: Any, *arguments: Any) -> None:
    """Train, whether or not there are pairs enough."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        train(*arguments)


# The published examples


@pytest.mark.parametrize("kind", [BasicTokenizer, RegexTokenizer])
def test_the_example_of_wikipedia(kind: type[Any]) -> None:
    # README.md and tests/test_tokenizer.py
    tokenizer = kind()
    tokenizer.train("aaabdaaabac", 256 + 3)
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tokenizer.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"
    # users took aa, ab, aaab from Wikipedia; counted with overlaps, as minbpe does, they are these
    assert [tokenizer.vocab[id] for id in range(256, 259)] == [b"aa", b"aaa", b"aaab"]


def test_the_examples_of_the_lecture(shared_data: Path) -> None:
    # The notebooks in ../shared/seeds: 20 merges each, and what they encoded.
    first = text_of_notebook(shared_data, "002", 'text = "The scaling')
    second = text_of_notebook(shared_data, "004", 'text = """A Programmer', "mac_roman")
    for text, table, count in [(first, FIRST_NOTEBOOK, 1653), (second, SECOND_NOTEBOOK, 19438)]:
        tokenizer = BasicTokenizer()
        tokenizer.train(text, 276)
        pairs = [tuple(map(int, pair.split(", "))) for pair in re.findall(r"\((.*?)\)", table)]
        assert list(tokenizer.merges) == pairs
        assert list(tokenizer.merges.values()) == list(range(256, 276))
        assert len(tokenizer.encode(text)) == count
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode("hello world") == [104, 101, 108, 108, 111, 32, 119, 266, 108, 100]


@pytest.mark.parametrize("kind", [BasicTokenizer, RegexTokenizer])
@pytest.mark.parametrize("text", TEXTS)
def test_untrained_ones_give_bytes_back(kind: type[Any], text: str) -> None:
    tokenizer = kind()
    assert tokenizer.encode(text) == list(text.encode())
    assert tokenizer.decode(tokenizer.encode(text)) == text


# Against the oracle


@pytest.mark.parametrize("seed", range(150))
def test_training_and_encoding_are_those_of_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    alphabet = rng.choice(ALPHABETS)
    text = random_text(rng, alphabet, [], rng.randint(0, 60))
    pattern = rng.choice(
        [None, None, GPT4_SPLIT_PATTERN, GPT4_SPLIT_PATTERN, GPT2_SPLIT_PATTERN, r"\w+", r"[ab]{1,3}"]
    )
    vocab_size = 256 + rng.randint(0, 40)
    tokenizer = BasicTokenizer() if pattern is None else RegexTokenizer(pattern)
    quietly(tokenizer.train, text, vocab_size)
    merges, _ = trained(chunks_of([text], pattern), vocab_size, first_of_most_frequent)
    assert list(tokenizer.merges.items()) == list(merges.items()), (text, pattern)
    assert list(tokenizer.vocab.items()) == list(vocab_of(merges).items())
    for sample in [text, *(random_text(rng, alphabet, [], 20) for _ in range(3)), *TEXTS]:
        assert tokenizer.encode(sample) == encoded(chunks_of([sample], pattern), merges), sample


@pytest.mark.parametrize("size", [8_000, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("corpus", ["en", "code", "multi"])
@pytest.mark.parametrize("pattern", [None, GPT4_SPLIT_PATTERN])
def test_real_text(corpus: str, pattern: str | None, size: int, corpora: dict[str, str]) -> None:
    text = corpora[corpus][3_000_000 : 3_000_000 + size]
    tokenizer = BasicTokenizer() if pattern is None else RegexTokenizer()
    tokenizer.train(text, 256 + 60)
    merges, _ = trained(chunks_of([text], pattern), 256 + 60, first_of_most_frequent)
    assert list(tokenizer.merges.items()) == list(merges.items())
    other = corpora[corpus][9_000_000:9_003_000]
    assert tokenizer.encode(other) == encoded(chunks_of([other], pattern), merges)
    assert tokenizer.decode(tokenizer.encode(other)) == other


def test_verbose_prints_each_merge(capsys: pytest.CaptureFixture[str]) -> None:
    text = 'the theme of "the thesis"\n' * 3
    tokenizer = RegexTokenizer()
    tokenizer.train(text, 256 + 8, verbose=True)
    merges, counts = trained(chunks_of([text], GPT4_SPLIT_PATTERN), 256 + 8, first_of_most_frequent)
    vocab = vocab_of(merges)
    expected = [
        f"merge {i}/8: {pair} -> {id} ({vocab[id]!r}) had {count} occurrences"
        for i, ((pair, id), count) in enumerate(zip(merges.items(), counts, strict=True), 1)
    ]
    assert capsys.readouterr().out.splitlines() == expected


@pytest.mark.parametrize("allowed", ["all", {"<|end|>"}, {"<|a|>", "of", "unknown"}, set(), "none", ["<|a|>"]])
@pytest.mark.parametrize("order", [list(SPECIALS), list(SPECIALS)[::-1]])
def test_special_tokens(allowed: Any, order: list[str]) -> None:
    # <|a|> begins <|a|><|b|>: of the two the one that was registered first is found, as in the original.
    special = {name: SPECIALS[name] for name in order}
    tokenizer = RegexTokenizer()
    quietly(tokenizer.train, DOCUMENT * 3, 300)
    tokenizer.register_special_tokens(special)
    chosen = {name: id for name, id in special.items() if allowed == "all" or (name in allowed and allowed != "none")}
    if chosen:
        expected = encoded_with_specials(DOCUMENT, GPT4_SPLIT_PATTERN, tokenizer.merges, chosen)
    else:
        expected = encoded(chunks_of([DOCUMENT], GPT4_SPLIT_PATTERN), tokenizer.merges)
    ids = tokenizer.encode(DOCUMENT, allowed)
    assert ids == expected
    assert tokenizer.decode(ids) == DOCUMENT
    assert tokenizer.encode_ordinary(DOCUMENT) == tokenizer.encode(DOCUMENT, allowed_special="none")
    assert tokenizer.inverse_special_tokens == {id: name for name, id in special.items()}
    assert tokenizer.special_tokens == special
    assert not set(tokenizer.vocab) & set(special.values())


@pytest.mark.parametrize("seed", range(60))
def test_special_tokens_that_overlap(seed: int) -> None:
    rng = random.Random(seed)
    names = {"".join(rng.choice("ab|") for _ in range(rng.randint(1, 4))) for _ in range(rng.randint(1, 5))}
    special = {name: 1000 + i for i, name in enumerate(rng.sample(sorted(names), len(names)))}
    text = random_text(rng, "ab| ", [], 30)
    tokenizer = RegexTokenizer(GPT2_SPLIT_PATTERN)
    quietly(tokenizer.train, text, 256 + 10)
    tokenizer.register_special_tokens(special)
    for allowed in ["all", set(rng.sample(sorted(names), rng.randint(1, len(names))))]:
        chosen = {name: id for name, id in special.items() if allowed == "all" or name in allowed}
        expected = encoded_with_specials(text, GPT2_SPLIT_PATTERN, tokenizer.merges, chosen)
        assert tokenizer.encode(text, allowed) == expected, (text, special, allowed)


# GPT-4


@pytest.fixture(scope="module")
def gpt4(shared_data: Path) -> GPT4Tokenizer:
    return GPT4Tokenizer(shared_data / "vocabs/cl100k_base.tiktoken")


def test_gpt4_examples(gpt4: GPT4Tokenizer) -> None:
    # README.md
    text = "hello123!!!? (안녕하세요!) 😉"
    assert gpt4.encode(text) == [15339, 4513, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 57037]
    assert gpt4.decode(gpt4.encode(text)) == text
    assert gpt4.encode("<|endoftext|>hello world", allowed_special="all") == [100257, 15339, 1917]


def test_gpt4_is_tiktoken(gpt4: GPT4Tokenizer, corpora: dict[str, str], shared_data: Path) -> None:
    import tiktoken
    from published_data import read_ranks

    ranks = read_ranks(shared_data, "cl100k_base")
    peer = tiktoken.Encoding(
        "minbpe", pat_str=GPT4_SPLIT_PATTERN, mergeable_ranks=ranks, special_tokens=GPT4_SPECIAL_TOKENS
    )
    # ASCII and the letters of old: tiktoken's Unicode tables are others.
    samples = [*TEXTS, corpora["en"][:300_000], corpora["code"][:300_000]]
    for sample in samples:
        assert gpt4.encode(sample, "none") == peer.encode_ordinary(sample)
    story = "<|endoftext|><|fim_prefix|>one\n<|fim_suffix|> <|fim_middle|>2<|endofprompt|>"
    assert gpt4.encode(story, "all") == peer.encode(story, allowed_special="all")
    some = {"<|endoftext|>", "<|fim_middle|>"}
    assert gpt4.encode(story, some) == peer.encode(story, allowed_special=some, disallowed_special=())
    assert gpt4.decode(gpt4.encode(story, "all")) == story


def test_gpt4_merges_and_the_shuffle(gpt4: GPT4Tokenizer, shared_data: Path) -> None:
    from published_data import merged_below, read_ranks

    ranks = read_ranks(shared_data, "cl100k_base")
    shuffle = {byte: ranks[bytes([byte])] for byte in range(256)}
    assert gpt4.byte_shuffle == shuffle
    assert gpt4.inverse_byte_shuffle == {id: byte for byte, id in shuffle.items()}
    assert len(gpt4.merges) == 100_000
    assert list(gpt4.merges.values()) == list(range(256, 100_256))
    # each pair by the definition: the token's bytes merged under the ranks below its own
    pair_of = {id: pair for pair, id in gpt4.merges.items()}
    rng = random.Random(0)
    for token, rank in rng.sample(list(ranks.items()), 3000):
        if len(token) > 1:
            parts = merged_below(ranks, token, rank)
            assert tuple(ranks[part] for part in parts) == pair_of[rank], token
    # in `vocab` the ids of bytes stand for them, as in the original
    unshuffle = bytes(gpt4.inverse_byte_shuffle[byte] for byte in range(256))
    assert all(gpt4.vocab[rank].translate(unshuffle) == token for token, rank in ranks.items())
    # and so its own way of encoding gives the same ids
    for text in TEXTS:
        chunks = [[shuffle[byte] for byte in chunk] for chunk in chunks_of([text], GPT4_SPLIT_PATTERN)]
        assert gpt4.encode(text) == encoded(chunks, gpt4.merges)


def test_gpt4_is_given(gpt4: GPT4Tokenizer, tmp_path: Path) -> None:
    for call in [lambda: gpt4.train("a", 300), lambda: gpt4.save("x"), lambda: gpt4.load("x.model")]:
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(ValueError, match="200000"):
        gpt4.decode([200_000])
    gpt4.save_vocab(tmp_path / "gpt4.vocab")
    lines = (tmp_path / "gpt4.vocab").read_bytes().decode().split("\n")
    assert lines[0] == "[!] 0"
    assert lines[256:259] == ["[ ][ ] -> [  ] 256", "[  ][  ] -> [    ] 257", "[i][n] -> [in] 258"]
    assert lines[188] == "[\\u0000] 188"
    assert len(lines) == 100_257


def test_recovered_merges_are_those_of_gpt4(gpt4: GPT4Tokenizer, shared_data: Path) -> None:
    ranks = load_tiktoken_bpe(str(shared_data / "vocabs/cl100k_base.tiktoken"))
    merges = recover_merges(ranks)
    assert merges == gpt4.merges and list(merges.values()) == [rank for rank in ranks.values() if rank >= 256]


def test_merges_that_cannot_be_recovered() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    with pytest.raises(ValueError, match=r"b'abc' of rank 256 is not made of two tokens"):
        recover_merges({**ranks, b"abc": 256})
    with pytest.raises(ValueError, match="single byte"):
        recover_merges({b"ab": 256})
    assert recover_merges({**ranks, b"ab": 256, b"abc": 257}) == {(97, 98): 256, (256, 99): 257}


def test_phrases_that_programs_look_for() -> None:
    tokenizer = RegexTokenizer()
    with pytest.raises(ValueError, match=r"^invalid token id: "):
        tokenizer.decode([5000])
    with pytest.raises(ValueError, match=r"^allowed_special=5 not understood"):
        tokenizer.encode("a", allowed_special=5)  # type: ignore[arg-type]


def test_gpt4_by_the_published_encoding(
    gpt4: GPT4Tokenizer, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(toksmith, "get_encoding"):
        with pytest.raises(FileNotFoundError, match="path="):
            GPT4Tokenizer()
        return
    data = (shared_data / "vocabs/cl100k_base.tiktoken").read_bytes()
    (tmp_path / "cl100k_base.tiktoken").write_bytes(data)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert GPT4Tokenizer().tokenizer == gpt4.tokenizer


def test_gpt4_of_another_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        GPT4Tokenizer(tmp_path / "none.tiktoken")
    (tmp_path / "a.tiktoken").write_bytes(b"YQ== 0\n")
    with pytest.raises(ValueError, match=r"a\.tiktoken: expected ids without gaps"):
        GPT4Tokenizer(tmp_path / "a.tiktoken")


# What differs from the original: the rows of docs/minbpe.md


def test_training_ends_where_no_pair_is_left() -> None:
    tokenizer = BasicTokenizer()
    with pytest.warns(UserWarning, match="no pair is left after 2 merges of 44: the vocabulary has 258 tokens"):
        tokenizer.train("abc", 300)
    assert tokenizer.merges == {(97, 98): 256, (256, 99): 257}


def test_what_is_no_argument_is_refused() -> None:
    tokenizer = RegexTokenizer()
    for vocab_size in (255, -1, 2**32):
        with pytest.raises(ValueError, match="vocab_size"):
            tokenizer.train("a", vocab_size)
    with pytest.raises(TypeError, match="str"):
        tokenizer.train(["a"], 300)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="broken"):
        RegexTokenizer("(")
    with pytest.raises(TypeError, match="str"):
        RegexTokenizer(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tokenizer.register_special_tokens({"<|a|>": "300"})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="a special token is a str, not bytes"):
        tokenizer.register_special_tokens({b"<|a|>": 300})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="allowed_special"):
        tokenizer.encode("a", "some")
    with pytest.raises(KeyError):
        BasicTokenizer().decode([256])
    with pytest.raises(ValueError, match="256"):
        tokenizer.decode([97, 256])


def test_a_special_token_in_the_text_raises_by_default() -> None:
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens({"<|end|>": 300})
    with pytest.raises(ValueError, match=r"'<\|end\|>' is in the text"):
        tokenizer.encode("a<|end|>")
    assert tokenizer.encode("a<|end>") == [*b"a<|end>"]


@pytest.mark.parametrize(
    ("special", "says"),
    [
        ({"<|a|>": 257}, 'id 257 is given to b"<|a|>" but belongs to'),
        ({"<|a|>": 0}, "id 0 is given to"),
        ({"<|a|>": 300, "<|b|>": 300}, "id 300 is given to"),
        ({"<|a|>": -1}, "-1: ids are whole numbers"),
        ({"": 300}, "empty"),
    ],
)
def test_special_tokens_with_the_id_of_another_are_refused(special: dict[str, int], says: str) -> None:
    tokenizer = RegexTokenizer()
    tokenizer.train("aaabdaaabac", 259)
    tokenizer.register_special_tokens({"<|end|>": 300})
    before = tokenizer.tokenizer
    with pytest.raises(ValueError, match=re.escape(says)):
        tokenizer.register_special_tokens(special)
    assert tokenizer.tokenizer is before
    assert tokenizer.special_tokens == {"<|end|>": 300}


def test_training_does_not_take_the_id_of_a_special_token() -> None:
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens({"<|end|>": 257})
    with pytest.raises(ValueError, match="id 257 is given to"):
        tokenizer.train("aaabdaaabac", 259)
    assert tokenizer.merges == {}
    tokenizer.train("aaabdaaabac", 257)
    assert tokenizer.encode("aa<|end|>", "all") == [256, 257]


def test_the_views_are_read_only() -> None:
    tokenizer = RegexTokenizer()
    tokenizer.train("aaabdaaabac", 259)
    for view in (tokenizer.merges, tokenizer.vocab, tokenizer.special_tokens):
        with pytest.raises(TypeError):
            view["x"] = 1  # type: ignore[index]
    for name in ("merges", "vocab", "special_tokens", "pattern", "compiled_pattern"):
        with pytest.raises(AttributeError):
            setattr(tokenizer, name, {})


def test_the_tokenizer_inside_stays_what_it_was() -> None:
    tokenizer = RegexTokenizer()
    inside = tokenizer.tokenizer
    assert isinstance(inside, toksmith.Tokenizer)
    tokenizer.train("aaabdaaabac", 259)
    assert inside.vocab_size == 256
    assert tokenizer.tokenizer.vocab_size == 259


def test_they_pickle_and_copy() -> None:
    tokenizer = RegexTokenizer()
    tokenizer.train("aaabdaaabac", 259)
    tokenizer.register_special_tokens({"<|end|>": 300})
    for again in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer), copy.copy(tokenizer)):
        again.train("bbb", 257)
        assert again.special_tokens == {"<|end|>": 300}
        assert tokenizer.encode("aaab<|end|>", "all") == [258, 300]


def test_groups_in_a_pattern_do_not_change_the_chunks() -> None:
    # `findall` gives what the groups matched, and minbpe then fails or loses the rest.
    tokenizer = RegexTokenizer(r"(a)(b)?|c")
    assert tokenizer.encode("abc") == [*b"abc"]


def test_a_text_without_utf8_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        BasicTokenizer().encode("a\ud800")


# The helpers of minbpe/base.py


@pytest.mark.parametrize("seed", range(30))
def test_helpers(seed: int) -> None:
    from pair_oracle import replaced, shown

    rng = random.Random(seed)
    ids = [rng.randint(0, 2) for _ in range(rng.randint(0, 20))]
    pair = (rng.randint(0, 2), rng.randint(0, 2))
    assert base.merge(ids, pair, 9) == replaced(ids, pair, 9)
    counts = base.get_stats(ids)
    assert sum(counts.values()) == max(0, len(ids) - 1)
    assert all(
        count == sum(ids[i : i + 2] == list(found) for i in range(len(ids))) for found, count in counts.items()
    )
    assert base.get_stats(ids, dict(counts)) == {pair: 2 * count for pair, count in counts.items()}
    token = bytes(rng.choice(b"a\n\0\x7f\xc2\x85\xe2\x80\x8b ") for _ in range(8))
    assert base.render_token(token) == shown(token)
