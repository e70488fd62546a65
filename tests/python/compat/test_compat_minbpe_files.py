"""minbpe's `.model` and `.vocab` files: written byte for byte, read back, and refused when broken."""

import random
from pathlib import Path
from typing import Any

import pytest
from pair_oracle import chunks_of, files_of, first_of_most_frequent, trained, vocab_of
from test_compat_minbpe import quietly
from training_data import ALPHABETS, random_text

from toksmith.compat.minbpe import BasicTokenizer, RegexTokenizer
from toksmith.compat.minbpe.regex import GPT4_SPLIT_PATTERN


def test_an_example_of_both_files(tmp_path: Path) -> None:
    tokenizer = BasicTokenizer()
    tokenizer.train("aaabdaaabac", 259)
    tokenizer.save(str(tmp_path / "toy"))
    assert (tmp_path / "toy.model").read_bytes() == b"minbpe v1\n\n0\n97 97\n256 97\n257 98\n"
    lines = (tmp_path / "toy.vocab").read_bytes().split(b"\n")
    assert lines[0] == b"[\\u0000] 0"
    assert lines[97] == b"[a] 97"
    assert lines[255] == "[\ufffd] 255".encode()
    assert lines[256:] == [b"[a][a] -> [aa] 256", b"[aa][a] -> [aaa] 257", b"[aaa][b] -> [aaab] 258", b""]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy.model", "toy.vocab"]


@pytest.mark.parametrize("seed", range(40))
def test_files_are_those_of_the_definition(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    text = random_text(rng, rng.choice([*ALPHABETS, "a\u200b\xad\t\r\nж"]), [], 40)
    pattern = rng.choice(["", GPT4_SPLIT_PATTERN, r"\w+ ?"])
    special = rng.choice([{}, {"<|end|>": 400, "<|a|>": 402}, {"é日": 300}]) if pattern else {}
    tokenizer = RegexTokenizer(pattern) if pattern else BasicTokenizer()
    quietly(tokenizer.train, text, 256 + 20)
    if isinstance(tokenizer, RegexTokenizer):
        tokenizer.register_special_tokens(special)
    merges, _ = trained(chunks_of([text], pattern or None), 276, first_of_most_frequent)
    tokenizer.save(tmp_path / "t")
    vocab = vocab_of(merges)
    assert saved(tmp_path / "t") == files_of(pattern, special, merges, vocab)
    # Loaded, the vocabulary has the special tokens, and so has the next file.
    again = type(tokenizer)()
    again.load(str(tmp_path / "t.model"))
    assert again.tokenizer == tokenizer.tokenizer
    assert (again.pattern, dict(again.special_tokens), dict(again.merges)) == (pattern, special, merges)
    vocab |= {id: name.encode() for name, id in special.items()}
    assert list(again.vocab.items()) == list(vocab.items())
    again.save(tmp_path / "again")
    assert saved(tmp_path / "again") == files_of(pattern, special, merges, vocab)


def saved(prefix: Path) -> tuple[str, str]:
    """Both files, with their line ends as they are."""
    model, vocab = (Path(f"{prefix}.{kind}").read_bytes().decode() for kind in ("model", "vocab"))
    return model, vocab


def test_a_file_of_minbpe(tmp_path: Path) -> None:
    # As `RegexTokenizer.save` wrote it there, on a machine with other line ends too.
    for end in ("\n", "\r\n"):
        (tmp_path / "m.model").write_bytes(
            end.join(["minbpe v1", GPT4_SPLIT_PATTERN, "1", "<|endoftext|> 300", "108 111", "256 119", ""]).encode()
        )
        tokenizer = RegexTokenizer()
        tokenizer.load(tmp_path / "m.model")
        assert tokenizer.pattern == GPT4_SPLIT_PATTERN
        assert tokenizer.encode("low<|endoftext|>", "all") == [257, 300]
        assert tokenizer.decode([257, 300]) == "low<|endoftext|>"


# Where the original fails: the rows of docs/minbpe.md


def test_load_takes_the_pattern(tmp_path: Path) -> None:
    first = RegexTokenizer(r"\w")
    first.save(tmp_path / "t")
    other = RegexTokenizer()
    other.load(tmp_path / "t.model")
    assert other.pattern == r"\w"
    assert other.compiled_pattern.pattern == r"\w"
    assert other.encode("low low") == [*b"lowlow"]


@pytest.mark.parametrize("name", ["a b", " a", "a ", "  ", "<|end of text|>", "\u3000", "1 2", "\x85", "a\x1cb"])
def test_special_tokens_with_spaces_are_loaded(name: str, tmp_path: Path) -> None:
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens({name: 300})
    tokenizer.save(tmp_path / "t")
    again = RegexTokenizer()
    again.load(tmp_path / "t.model")
    assert again.special_tokens == {name: 300}
    assert again.encode(f"x{name}y", "all") == [120, 300, 121]
    assert again.tokenizer == tokenizer.tokenizer


@pytest.mark.parametrize("pattern", [r" \w+", r"\w+ ", r" ?\w+|\s"])
def test_a_pattern_keeps_its_spaces(pattern: str, tmp_path: Path) -> None:
    tokenizer = RegexTokenizer(pattern)
    tokenizer.save(tmp_path / "t")
    again = RegexTokenizer()
    again.load(tmp_path / "t.model")
    assert again.pattern == pattern


def test_the_names_of_special_tokens_are_known_after_load(tmp_path: Path) -> None:
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens({"<|end|>": 300})
    tokenizer.save(tmp_path / "t")
    again = RegexTokenizer()
    again.load(tmp_path / "t.model")
    assert again.inverse_special_tokens == {300: "<|end|>"}
    again.register_special_tokens({"<|stop|>": 301})
    assert 300 not in again.vocab
    again.train("aaabdaaabac", 259)
    assert again.special_tokens == {"<|stop|>": 301}


@pytest.mark.parametrize("name", ["a\nb", "a\rb"])
def test_line_breaks_are_not_saved(name: str, tmp_path: Path) -> None:
    tokenizer = RegexTokenizer()
    tokenizer.register_special_tokens({name: 300})
    broken = [tokenizer, RegexTokenizer(f"(?x) a {name[1]} |b")]
    for one in broken:
        with pytest.raises(ValueError, match="line break"):
            one.save(tmp_path / "t")
    assert list(tmp_path.iterdir()) == []


def test_each_kind_loads_its_own_files(tmp_path: Path) -> None:
    BasicTokenizer().save(tmp_path / "basic")
    RegexTokenizer().save(tmp_path / "regex")
    with pytest.raises(ValueError, match=r"basic\.model, line 2.*BasicTokenizer"):
        RegexTokenizer().load(tmp_path / "basic.model")
    with pytest.raises(ValueError, match=r"regex\.model, line 2.*RegexTokenizer"):
        BasicTokenizer().load(tmp_path / "regex.model")


HEAD = "minbpe v1\n\\w+\n0\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "line 1: expected 'minbpe v1'"),
        ("minbpe v2\n\n0\n", "line 1: expected 'minbpe v1', got 'minbpe v2'"),
        ("minbpe v1\n", "breaks off"),
        ("minbpe v1\na\n", "breaks off"),
        ("minbpe v1\na\nx\n", "line 3: 'x' is not a whole number"),
        ("minbpe v1\na\n-1\n", "line 3: '-1' is not a whole number"),
        ("minbpe v1\na\n999999999\n", "line 3: 999999999 special tokens, but only 0 lines follow"),
        ("minbpe v1\na\n99999999999999999999\n", "is not a whole number"),
        ("minbpe v1\na\n1\n<|a|>\n", "line 4: expected a special token and its id"),
        ("minbpe v1\na\n1\n<|a|> x\n", "line 4: 'x' is not a whole number"),
        ("minbpe v1\na\n1\n<|a|> ３\n", "line 4: '３' is not a whole number"),
        ("minbpe v1\na\n2\n<|a|> 300\n<|a|> 301\n", "line 5: the special token '<|a|>' is there twice"),
        ("minbpe v1\na\n2\n<|a|> 300\n<|b|> 300\n", "id 300 is given to"),
        ("minbpe v1\na\n1\n<|a|> 97\n", "id 97 is given to"),
        (HEAD + "97\n", "line 4: expected the two ids"),
        (HEAD + "97 98 99\n", "line 4: expected the two ids"),
        (HEAD + "\n", "line 4: expected the two ids"),
        (HEAD + "97 x\n", "line 4: 'x' is not a whole number"),
        (HEAD + "97 256\n", "line 4: 97 256: there is no token 256 yet"),
        (HEAD + "97 98\n97 98\n", "line 5: 97 98 is there already, as the merge into 256"),
        (HEAD + "97 98\n98 99\n256 99\n97 257\n", "abc"),
        ("minbpe v1\n(\n0\n", "broken"),
        ("minbpe v1\na\n0\n97 97\n" + "".join(f"{i} {i}\n" for i in range(256, 400)), "more than"),
    ],
)
def test_broken_files(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "t.model"
    path.write_bytes(content.encode())
    tokenizer = RegexTokenizer()
    with pytest.raises(ValueError, match=r"t\.model") as caught:
        tokenizer.load(path)
    assert says in str(caught.value)
    assert tokenizer.merges == {}
    assert tokenizer.pattern == GPT4_SPLIT_PATTERN


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RegexTokenizer().load(tmp_path / "none.model")
    with pytest.raises(ValueError, match=r"ends in \.model"):
        RegexTokenizer().load(tmp_path / "t.vocab")
    with pytest.raises(FileNotFoundError):
        RegexTokenizer().save(tmp_path / "no folder" / "t")
    (tmp_path / "t.model").write_bytes(b"minbpe v1\n\xff\n0\n")
    with pytest.raises(ValueError, match="not UTF-8 at byte 10"):
        RegexTokenizer().load(tmp_path / "t.model")


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_is_refused_or_means_what_it_says(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    tokenizer: Any = RegexTokenizer()
    tokenizer.train("low lower lowest newest widest", 256 + 12)
    tokenizer.register_special_tokens({"<|end|>": 300})
    tokenizer.save(tmp_path / "t")
    data = bytearray((tmp_path / "t.model").read_bytes())
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        data[at : at + rng.randint(0, 2)] = rng.choice([b"", b"9", b"\n", b" ", b"\xff", b"\0", b"-"])
    (tmp_path / "t.model").write_bytes(data)
    again = RegexTokenizer()
    try:
        again.load(tmp_path / "t.model")
    except ValueError as error:
        assert "t.model" in str(error)
    else:
        again.save(tmp_path / "u")
        assert (tmp_path / "u.model").read_bytes().split() == bytes(data).split()
