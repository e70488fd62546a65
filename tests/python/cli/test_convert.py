"""`toksmith convert`: every format to every other, with the same ids, or a refusal by name."""

import io
import os
import shlex
import shutil
from pathlib import Path

import pytest
from command import run_command

import toksmith
from toksmith import Tokenizer
from toksmith.compat.minbpe import RegexTokenizer

SPECIAL = "<|endoftext|>"
TEXT = f"the lowest of the low, the newest of the new{SPECIAL}žluťoučký 日本\n\n  3.14159 don't\r\n"
NAMES = {
    "toksmith": "t.toksmith",
    "huggingface": "hf",
    "gpt2": "pair",
    "tiktoken": "ranks.tiktoken",
    "gguf": "t.gguf",
    "minbpe": "t.model",
}


def run(*arguments: object, cwd: Path, status: int = 0, env: dict[str, str] | None = None) -> str:
    done = run_command("convert", *arguments, cwd=cwd, env=env)
    assert done.returncode == status, done.stderr.decode()
    assert done.stdout == b""
    return done.stderr.decode()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """One that every format can hold: bytes by value, then merges, then special tokens."""
    return toksmith.train(iter([TEXT * 3]), 290, special_tokens=[SPECIAL], ids=toksmith.IdOrder("last"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    """The tokenizer in each format."""
    folder = tmp_path_factory.mktemp("convert")
    tokenizer.save(folder / "start.json")
    for to, name in NAMES.items():
        run("start.json", name, "--to", to, cwd=folder)
    return folder


def options_of(format: str, tokenizer: Tokenizer) -> list[str]:
    """What must be said of a file beside its name."""
    pattern = ["--pattern", "gpt2"] if format == "tiktoken" else []
    special = f"{SPECIAL}={tokenizer.special_tokens[SPECIAL]}"
    return [*pattern, "--special-token", special] if format in ("gpt2", "tiktoken") else []


@pytest.mark.parametrize("start", NAMES)
@pytest.mark.parametrize("end", NAMES)
def test_every_format_to_every_other(
    start: str, end: str, folder: Path, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    out = tmp_path / NAMES[end]
    run(folder / NAMES[start], out, "--to", end, *options_of(start, tokenizer), cwd=folder)
    if end == "minbpe":
        shell = RegexTokenizer()
        shell.load(out)
        ids = shell.encode(TEXT, allowed_special="all")
    else:
        encoded = run_command("encode", "-t", out, *options_of(end, tokenizer), stdin=TEXT.encode())
        ids = [int(id) for id in encoded.stdout.split()]
    assert ids == tokenizer.encode(TEXT)


def test_what_is_converted_twice_is_the_same_file(folder: Path, tmp_path: Path, tokenizer: Tokenizer) -> None:
    run(folder / "hf", "a.toksmith", "--to", "toksmith", cwd=tmp_path)
    run("a.toksmith", "hf", "--to", "huggingface", cwd=tmp_path)
    for path in (folder / "hf").iterdir():
        assert (tmp_path / "hf" / path.name).read_bytes() == path.read_bytes()
    assert Tokenizer.load(tmp_path / "a.toksmith") == tokenizer


def test_a_warning_says_how_to_load_it_again(folder: Path, tmp_path: Path) -> None:
    specials = ["a b", "cc=9", "dd", "ee", "ff"]
    other = toksmith.train(iter([TEXT]), 280, special_tokens=specials, pattern=r"\w+|\s")
    other.save(tmp_path / "o.json")
    for to, out in (("tiktoken", "o.tiktoken"), ("gpt2", "pair")):
        message = run("o.json", out, "--to", to, cwd=tmp_path)
        written = f"{out}: {to}, 280 tokens, 5 of them special\n"
        start = f"{written}toksmith: warning: {out} holds no pattern and no special tokens: load it with "
        assert message.startswith(start)
        assert message.endswith(" and 2 special tokens more, or all in --special-tokens FILE\n")
        options = shlex.split(message.removeprefix(start).rpartition(" and 2 special")[0])
        more = [f"{name}={other.special_tokens[name]}" for name in ("ee", "ff")]
        options += [word for name in more for word in ("--special-token", name)]
        encoded = run_command("encode", "-t", out, *options, stdin=b"a bcc=9 low..low", cwd=tmp_path)
        assert [int(id) for id in encoded.stdout.split()] == other.encode("a bcc=9 low..low"), encoded.stderr
    assert run(folder / "start.json", "x.toksmith", "--to", "toksmith", cwd=tmp_path) == (
        "x.toksmith: toksmith, 290 tokens, 1 of them special\n"
    )


def test_a_published_encoding(tiktoken_cache: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tiktoken_cache)}
    run("gpt2", "hf", "--to", "huggingface", cwd=tmp_path, env=environment)
    expected = run_command("encode", "-t", "gpt2", stdin=TEXT.encode(), env=environment).stdout
    assert run_command("encode", "-t", tmp_path / "hf", stdin=TEXT.encode()).stdout == expected != b""


def test_what_a_format_cannot_hold(tmp_path: Path) -> None:
    first = toksmith.train(iter([TEXT]), 280, special_tokens=[SPECIAL])
    first.save(tmp_path / "first.json")
    loses = toksmith.train(iter([TEXT]), 280, pattern=r"\w+")
    loses.save(tmp_path / "keeps.json")
    whole = toksmith.train(iter([TEXT]), 280, pattern=None, special_tokens=[SPECIAL], ids=toksmith.IdOrder("last"))
    whole.save(tmp_path / "whole.json")
    between = toksmith.train(iter([TEXT]), 280, special_tokens=[SPECIAL], ids=toksmith.IdOrder("after_bytes"))
    between.save(tmp_path / "between.json")
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"abc", 257: b"ab"}
    Tokenizer(vocab).save(tmp_path / "ranks.json")
    swapped = {byte: bytes([byte]) for byte in range(256)} | {256: b"abc", 257: b"ab"}
    Tokenizer(swapped, [(b"a", b"b"), (b"ab", b"c")]).save(tmp_path / "swapped.json")
    before = sorted(path.name for path in tmp_path.iterdir())
    for name, to, expected in (
        ("first", "minbpe", r'numbers the bytes by their values, and here b"\x00" has the id 1'),
        ("between", "minbpe", 'numbers the merges from 256 on, and here b"'),
        ("keeps", "minbpe", "loses text that the pattern does not match, and this tokenizer keeps it"),
        ("whole", "minbpe", "without a pattern holds no special tokens, and there is '<|endoftext|>'"),
        ("ranks", "minbpe", 'holds a merges list, and this tokenizer has ranks: token 256 (b"abc")'),
        ("ranks", "gpt2", 'holds a merges list, and this tokenizer has ranks: token 256 (b"abc")'),
        ("swapped", "tiktoken", "holds ranks, and this tokenizer has a merges list"),
    ):
        message = run(f"{name}.json", NAMES[to], "--to", to, cwd=tmp_path, status=1)
        assert expected in message, (name, message)
        if to != "minbpe" or name == "ranks":
            assert "--to toksmith keeps everything" in message
        assert len(message.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("nope.json", "x", "--to", "toksmith"), 1, "nope.json: No such file"),
        (("start.json", "x"), 2, "Missing option '--to'"),
        (("start.json", "x", "--to", "unigram"), 2, "'unigram' is not one of"),
        (("start.json", "-", "--to", "toksmith"), 2, "convert writes a file or a folder"),
        (("start.json", "no/x", "--to", "toksmith"), 1, "no: there is no such folder"),
        (("start.json", "hf", "--to", "toksmith"), 1, "hf: this is a folder"),
        (("start.json", "start.json", "--to", "gpt2"), 2, "start.json: gpt2 is a folder of several files"),
        (("start.json", "x.bin", "--to", "minbpe"), 2, "minbpe reads files whose name ends in .model"),
        (("start.json", "x.tiktoken", "--to", "toksmith"), 2, "-t would read a file of this name as a rank file"),
        (("start.json", "x.tiktoken", "--to", "gguf"), 2, "-t would read a file of this name as a rank file"),
        (("start.json", "x", "--to", "tekken"), 1, "gives special tokens the ids from 0 on"),
        (("start.json", "x", "--to", "sentencepiece"), 1, "only a tokenizer that merges characters"),
        (("ranks.tiktoken", "x", "--to", "toksmith"), 2, "holds no pattern: give --pattern"),
        (("t.model", "x", "--to", "toksmith", "--pattern", "gpt2"), 2, "t.model has its own pattern"),
    ],
)
def test_errors(arguments: tuple[str, ...], status: int, expected: str, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    message = run(*arguments, cwd=folder, status=status)
    assert expected in message
    assert len(message.splitlines()) == 1
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("to", "name"), [("tekken", "tekken.json"), ("sentencepiece", "t.model"), ("gguf", "t.gguf")]
)
def test_a_folder_of_one_file(to: str, name: str, tmp_path: Path) -> None:
    """It opens by `-t folder`, and its file is not written over."""
    if to == "sentencepiece":
        write_model(tmp_path / "start.json")
    else:
        toksmith.train(iter([TEXT * 3]), 290, special_tokens=[SPECIAL], ids=toksmith.IdOrder("first")).save(
            tmp_path / "start.json"
        )
    (tmp_path / "folder").mkdir()
    message = run("start.json", f"folder/{name}", "--to", to, cwd=tmp_path)
    assert message.splitlines()[0].startswith(f"folder/{name}: {to}, ")
    expected = Tokenizer.load(tmp_path / "start.json")
    assert Tokenizer.from_pretrained(tmp_path / "folder").special_tokens == expected.special_tokens
    encoded = run_command("encode", "-t", "folder", stdin=TEXT.encode(), cwd=tmp_path)
    assert [int(id) for id in encoded.stdout.split()] == expected.encode(TEXT)
    message = run("folder", f"folder/{name}", "--to", to, cwd=tmp_path, status=1)
    assert "this file is read too" in message


def write_model(path: Path) -> None:
    """Write what a SentencePiece model becomes."""
    spm, model = pytest.importorskip("sentencepiece"), io.BytesIO()
    options = {"model_type": "bpe", "vocab_size": 330, "byte_fallback": True, "hard_vocab_limit": False}
    spm.SentencePieceTrainer.train(sentence_iterator=iter([TEXT] * 3), model_writer=model, minloglevel=2, **options)
    path.with_suffix(".model").write_bytes(model.getvalue())
    Tokenizer.from_pretrained(path.with_suffix(".model")).save(path)


def test_a_folder_of_several_files(tmp_path: Path, folder: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        shutil.copy(folder / "t.gguf", tmp_path / name)
    message = run(tmp_path, "x", "--to", "toksmith", cwd=tmp_path, status=1)
    assert "2 files are *.gguf (a.gguf, b.gguf): name the file of the tokenizer" in message


def test_a_model_file_that_is_broken(tmp_path: Path) -> None:
    (tmp_path / "bad.model").write_text("minbpe v1\n\n0\n97 98\n300 97\n")
    message = run("bad.model", "x", "--to", "toksmith", cwd=tmp_path, status=1)
    assert "bad.model: line 5: 300 97: there is no token 300 yet" in message


def test_special_tokens_that_begin_alike(tmp_path: Path) -> None:
    """minbpe finds the first of its list, and toksmith the longest."""
    specials = {"<a": 300, "<a>": 301, "<a>>": 302}
    Tokenizer(None, None, specials).save(tmp_path / "t.json")
    run("t.json", "t.model", "--to", "minbpe", cwd=tmp_path)
    shell = RegexTokenizer()
    shell.load(tmp_path / "t.model")
    assert shell.encode("<a>><a><a", allowed_special="all") == [302, 301, 300]
    run("t.model", "again.json", "--to", "toksmith", cwd=tmp_path)
    assert Tokenizer.load(tmp_path / "again.json").encode("<a>><a><a") == [302, 301, 300]
    lines = (tmp_path / "t.model").read_text().splitlines()
    (tmp_path / "t.model").write_text("\n".join([*lines[:3], *reversed(lines[3:])]) + "\n")
    message = run("t.model", "x.json", "--to", "toksmith", cwd=tmp_path, status=1)
    assert "the special token '<a>' begins with '<a', which stands before it" in message
