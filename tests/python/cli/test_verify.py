"""`toksmith verify`, and what it stands on: comparing two tokenizers, and the texts for it."""

import os
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
import regex
import tiktoken
from command import run_command
from huggingface_cases import DEEPSEEK

import toksmith
from toksmith import Tokenizer, train
from toksmith._core import tokens_of_ranks
from toksmith.formats import stress
from toksmith.formats.published import encodings, rank_cache
from toksmith.lab import first_difference
from toksmith.lab.first_difference import Side

# Kimi K2, tokenization_kimi.py.
KIMI = (
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def run(*args: object, cwd: Path, status: int = 0, **more: str) -> SimpleNamespace:
    environment = {key: value for key, value in os.environ.items() if key != "TIKTOKEN_CACHE_DIR"}
    environment |= {"TOKSMITH_CACHE_DIR": str(cwd / "own"), "DATA_GYM_CACHE_DIR": "", **more}
    done = run_command("verify", *args, cwd=cwd, env={**environment, "PYTHONIOENCODING": "utf-8"})
    shown = SimpleNamespace(stdout=done.stdout.decode(), stderr=done.stderr.decode())
    assert done.returncode == status, shown
    return shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small trained tokenizer, its rank file, and a text."""
    trained = train(iter(["the lowest of the low, the newest of the new " * 3]), 270, ids=toksmith.IdOrder("last"))
    trained.save(tmp_path / "t.json")
    trained.save(tmp_path / "t.tiktoken", format="tiktoken")
    (tmp_path / "text.txt").write_text("the newest\nof the low\n" * 1000)
    return tmp_path


def side(name: str, tokenizer: Tokenizer) -> Side:
    return Side(name, tokenizer.encode, tokenizer.decode_bytes)


def test_a_published_encoding(folder: Path, shared_data: Path) -> None:
    own = folder / "own"
    own.mkdir()
    (own / "r50k_base.tiktoken").write_bytes((shared_data / "vocabs/gpt2.tiktoken").read_bytes())
    for name in ("gpt2", "p50k_edit"):
        done = run(name, "--against", "tiktoken", "text.txt", cwd=folder)
        assert done.stdout.startswith(f"{name}: the same ids as tiktoken 0.")
        assert "(texts: 1, bytes: 22,000, ids: 7,000)" in done.stdout
    assert "texts: 3," in run("gpt2", "--against", "tiktoken", cwd=folder).stdout
    # Under its plain name in tiktoken's folder, where tiktoken itself does not look.
    elsewhere = {"TOKSMITH_CACHE_DIR": str(folder / "none"), "TIKTOKEN_CACHE_DIR": str(own)}
    assert "the same ids" in run("gpt2", "--against", "tiktoken", "text.txt", cwd=folder, **elsewhere).stdout


def test_files(folder: Path) -> None:
    specials = ("--special-token", "<|a|>=500", "--special-token", "é=501")
    for pattern in ("gpt2", "cl100k", r"\w+|\s+|[^\w\s]"):
        arguments = ("t.tiktoken", "--pattern", pattern, *specials, "--against", "tiktoken")
        assert "t.tiktoken: the same ids as tiktoken" in run(*arguments, cwd=folder).stdout
    assert "the same ids" in run("t.json", "--against", "tiktoken", "text.txt", "-", cwd=folder).stdout


def test_a_difference_is_shown_with_its_place(folder: Path) -> None:
    tokenizer = train(iter(["the low the low"]), 259, pattern=r"\w+")
    tokenizer.save(folder / "keep.json")
    (folder / "differs.txt").write_text("first\nsecond the low end\n")
    done = run("keep.json", "--against", "tiktoken", "text.txt", "differs.txt", cwd=folder, status=1)
    lines = done.stdout.splitlines()
    assert lines[0] == "text.txt, line 1, character 4: different ids, after 1 equal ones"
    assert lines[1].split(maxsplit=1) == ["text", "'the' | ' newest\\nof the low\\nthe newest\\n'"]
    assert lines[2].split(maxsplit=1)[0] == "toksmith"
    assert lines[3].split(maxsplit=1)[0] == "tiktoken"
    assert "32 ' '" in lines[2]
    done = run("keep.json", "--against", "tiktoken", cwd=folder, status=1)
    assert done.stdout.startswith("stress text ")


def test_huggingface(folder: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    trained = Tokenizer.load(folder / "t.json")
    trained.save(folder / "gpt2", format="gpt2")
    model = tokenizers.models.BPE.from_file(str(folder / "gpt2/vocab.json"), str(folder / "gpt2/merges.txt"))
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    theirs.save(str(folder / "hf.json"))
    arguments = ("t.json", "--against", "huggingface", "--with", "hf.json", "text.txt")
    assert "the same ids as tokenizers 0." in run(*arguments, cwd=folder).stdout
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    theirs.save(str(folder / "hf.json"))
    lines = run(*arguments, cwd=folder, status=1).stdout.splitlines()
    assert lines[0].startswith("text.txt, line 1, character 1: different ids, after 0 equal ones")
    assert "the same ids" in run("hf.json", "--against", "huggingface", "text.txt", cwd=folder).stdout
    trained.save_huggingface(folder / "written")  # with vocab.json and merges.txt beside it
    assert "the same ids" in run("written", "--against", "huggingface", "text.txt", cwd=folder).stdout


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("nothing.json", "--against", "tiktoken"), 1, "nothing.json: No such file"),
        (("t.tiktoken", "--against", "tiktoken"), 2, "holds no pattern"),
        (("t.tiktoken", "--pattern", "gpt2", "--special-token", "", "--against", "tiktoken"), 1, "empty"),
        (("t.tiktoken", "--pattern", "(", "--against", "tiktoken"), 1, "( without its )"),
        (("gpt2", "--pattern", "gpt2", "--against", "tiktoken"), 2, "has its own pattern"),
        (("t.json", "--against", "tiktoken", "--with", "x"), 2, "--with is for huggingface"),
        (("t.json", "--against", "huggingface"), 2, "not a tokenizer.json"),
        (("t.json",), 2, "--against"),
        (("t.json", "--against", "sentencepiece"), 2, "sentencepiece"),
        (("t.json", "--against", "tiktoken", "none.txt"), 1, "none.txt"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, arguments: tuple[str, ...], status: int, expected: str) -> None:
    done = run(*arguments, cwd=folder, status=status)
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_every_first_difference_is_found() -> None:
    ours = Tokenizer()
    rng = random.Random(4)
    for _ in range(300):
        text = "".join(rng.choice("ab\né🙂") for _ in range(rng.randrange(1, 40)))
        at = rng.randrange(len(text))
        data = text.encode()
        start = len(text[:at].encode())
        changed = [*data[:start], 7, *data[start + 1 :]]
        theirs = Side("other", lambda text, ids=changed: ids, ours.decode_bytes)
        found = first_difference.difference(side("ours", ours), theirs, text, "name")
        assert found is not None
        assert (found.index, found.after) == (start, text[at : at + 30])
        assert found.line == text[:at].count("\n") + 1
        assert found.column == at - text.rfind("\n", 0, at)
        assert (text[:at]).endswith(found.before)
    short = Side("short", lambda text: list(text.encode())[:2], ours.decode_bytes)
    found = first_difference.difference(side("ours", ours), short, "abc")
    assert found is not None
    assert found.sides == (("ours", "99 'c'"), ("short", "(no more ids)"))
    assert first_difference.difference(side("ours", ours), side("same", ours), "abc") is None


def test_places_count_over_pieces_and_failures_are_differences() -> None:
    ours = Tokenizer()

    def fails(text: str) -> list[int]:
        if "z" in text:
            raise BaseException("a panic")
        return list(text.encode())

    report = first_difference.compare(
        side("ours", ours), Side("fails", fails, ours.decode_bytes), [("t", ["ab\ncd", "ef\ngh", "z"])]
    )
    assert report.difference is not None
    assert (report.difference.line, report.difference.column, report.bytes) == (3, 3, 10)
    assert report.difference.sides[1] == ("fails", "BaseException: a panic")


def test_pieces_join_to_the_text() -> None:
    rng = random.Random(2)
    for _ in range(200):
        text = "".join(rng.choice("ab\n") for _ in range(rng.randrange(60)))
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(3))
        parts = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        pieces = list(first_difference.pieces_of(parts, size=7))
        assert "".join(pieces) == text
        assert all(0 < len(piece) <= 7 for piece in pieces)


def test_stress_texts_are_the_same_each_time_and_have_the_special_tokens() -> None:
    made = list(stress.texts(["<|end|>"]))
    assert made == list(stress.texts(["<|end|>"]))
    joined = "".join(made)
    assert "<|end|>" in joined
    assert "<|end|" in joined.replace("<|end|>", "")
    assert len(set(joined)) > 100_000
    assert all(text.encode() or text == "" for text in made)


def test_the_address_of_a_file_gives_its_name_in_the_cache() -> None:
    known = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
    assert rank_cache.cache_key(encodings.FILES["cl100k_base"].url) == known


@pytest.mark.parametrize("pattern", [KIMI, DEEPSEEK, r"\h+|[^\h]$|.", r"[\p{L}&&[^\p{Han}]]+|\s+"])
def test_encode_gives_the_ids_that_verify_approves(pattern: str, folder: Path) -> None:
    """A rank file means tiktoken's dialect and its rule for unmatched text, by every way of loading it."""
    text = "Hello WORLD, it's 1234 new low 今天天气 abc\n\n  ok 🙂\n"
    (folder / "mixed.txt").write_text(text, encoding="utf-8")
    by_token = {token: rank for rank, token in tokens_of_ranks((folder / "t.tiktoken").read_bytes()).items()}
    expected = tiktoken.Encoding("t", pat_str=pattern, mergeable_ranks=by_token, special_tokens={}).encode(text)
    assert toksmith.Encoding.from_tiktoken(folder / "t.tiktoken", pattern=pattern).encode(text) == expected
    assert Tokenizer.from_tiktoken(folder / "t.tiktoken", pattern=pattern).encode(text) == expected
    assert Tokenizer.from_pretrained(folder / "t.tiktoken", pattern=pattern).encode(text) == expected
    given = ("t.tiktoken", "--pattern", pattern)
    assert "the same ids" in run(*given, "--against", "tiktoken", "mixed.txt", cwd=folder).stdout
    done = run_command("encode", "-t", *given, "mixed.txt", cwd=folder)
    assert list(map(int, done.stdout.split())) == expected


def test_verify_compares_the_tokenizer_that_encode_uses(folder: Path) -> None:
    """What is asked for by name, and differs from tiktoken, is shown as a difference."""
    (folder / "mixed.txt").write_text("the low, 12\n")
    given = ("t.tiktoken", "--pattern", r"\w+", "--unmatched", "keep")
    done = run(*given, "--against", "tiktoken", "mixed.txt", cwd=folder, status=1)
    assert "different ids" in done.stdout
    ours = Tokenizer.from_tiktoken(folder / "t.tiktoken", pattern=regex.compile(r"\h+|.", regex.S))
    assert ours.pattern.pattern == r"\h+|."


@pytest.mark.parametrize(
    ("name", "of"), [("gpt2", "gpt2"), ("o200k_base", "o200k_base"), ("cl100k_base", "cl100k_base")]
)
def test_a_published_rank_file_is_compared_with_its_encoding(
    name: str, of: str, folder: Path, shared_data: Path
) -> None:
    own = folder / "own"
    own.mkdir()
    ranks_of = shared_data / "vocabs" / f"{name}.tiktoken"
    plain = {"gpt2": "r50k_base"}.get(name, name)
    (own / f"{plain}.tiktoken").write_bytes(ranks_of.read_bytes())
    right = {"gpt2": "gpt2", "o200k_base": "o200k", "cl100k_base": "cl100k"}[name]
    (folder / "it.txt").write_text("it's 12345 isn'THello getElementById <|endoftext|>\r\n  x")
    for pattern in ("gpt2", "o200k", "cl100k"):
        is_right = pattern == right
        files = () if is_right else ("it.txt",)
        arguments = (ranks_of, "--pattern", pattern, "--against", "tiktoken", *files)
        done = run(*arguments, cwd=folder, status=0 if is_right else 1)
        assert ("whose pattern is" in done.stderr) is not is_right
        if is_right:
            assert f"the same ids as {of} of tiktoken 0." in done.stdout
        else:
            assert f"{of} of tiktoken 0." in done.stdout
    end = toksmith.formats.published.encodings.ENCODINGS[of].special_tokens["<|endoftext|>"]
    special = (ranks_of, "--pattern", right, "--against", "tiktoken", "it.txt", "--special-token")
    run(*special, f"<|endoftext|>={end}", cwd=folder)
    run(*special, f"<|endoftext|>={end + 5000}", cwd=folder, status=1)


def test_the_library_under_both_names(folder: Path) -> None:
    Tokenizer.load(folder / "t.json").save_huggingface(folder / "hf")
    results = [run("hf", "--against", name, cwd=folder).stdout for name in ("huggingface", "tokenizers")]
    assert results[0] == results[1]
    assert "the same ids as tokenizers 0." in results[0]
