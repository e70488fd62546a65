"""One door to all tokenizers: `Tokenizer.from_pretrained`, and `-t` of the command line."""

import shutil
from pathlib import Path

import pytest
from command import run_command

import toksmith
from toksmith import Encoding, Tokenizer, _core
from toksmith.formats import sources
from toksmith.formats.published import encodings

SPECIAL = "<|endoftext|>"
TEXT = f"the lowest of the low{SPECIAL}the newest\n\n"


@pytest.fixture
def trained() -> Tokenizer:
    return toksmith.train(iter([TEXT * 9]), 270, special_tokens=[SPECIAL], ids=toksmith.IdOrder("last"))


@pytest.fixture
def folder(trained: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same tokenizer in every format, under names that say it and under some that do not."""
    trained.save(tmp_path / "own.json")
    trained.save(tmp_path / "own")
    trained.save(tmp_path / "pair", format="gpt2")
    (tmp_path / "release").mkdir()
    shutil.copy(tmp_path / "pair/vocab.json", tmp_path / "release/encoder.json")
    shutil.copy(tmp_path / "pair/merges.txt", tmp_path / "release/vocab.bpe")
    trained.save(tmp_path / "ranks.tiktoken", format="tiktoken")
    shutil.copy(tmp_path / "ranks.tiktoken", tmp_path / "ranks.model")
    trained.save_huggingface(tmp_path / "hf")
    shutil.copy(tmp_path / "hf/tokenizer.json", tmp_path / "of_huggingface")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ranks_here(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank files of published encodings are in the cache folder."""
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(shared_data / "vocabs"))


def test_every_format_by_its_path(folder: Path, trained: Tokenizer) -> None:
    ids = trained.encode(TEXT)
    for name in ("own.json", "own", "hf", "hf/tokenizer.json", "of_huggingface"):
        for source in (name, folder / name):
            assert Tokenizer.from_pretrained(source).encode(TEXT) == ids, name
    for name in ("pair", "release"):
        assert Tokenizer.from_pretrained(name, special_tokens=[SPECIAL]).encode(TEXT) == ids
        assert Tokenizer.from_pretrained(name).encode("the low") == trained.encode("the low")
        other = Tokenizer.from_pretrained(name, pattern=r"\w+", unmatched="drop")
        pair = ("pair/vocab.json", "pair/merges.txt")
        assert other == Tokenizer.from_files(*pair, pattern=r"\w+", unmatched="drop")
    for name in ("ranks.tiktoken", "ranks.model"):
        specials = dict(trained.special_tokens)
        made = Tokenizer.from_pretrained(name, pattern="gpt2", special_tokens=specials)
        assert made == Tokenizer.from_tiktoken("ranks.tiktoken", pattern="gpt2", special_tokens=specials)
        assert made.encode(TEXT) == ids
    assert Tokenizer.from_pretrained("ranks.tiktoken", pattern=None).pattern is None


def test_the_command_line_takes_the_same(folder: Path, trained: Tokenizer) -> None:
    (folder / "text.txt").write_text(TEXT)
    expected = " ".join(map(str, trained.encode(TEXT))) + "\n"
    given = ["--pattern", "gpt2", "--special-token", f"{SPECIAL}={trained.special_tokens[SPECIAL]}"]
    cases = {"own.json": [], "own": [], "hf": [], "of_huggingface": [], "ranks.model": given, "release": given[2:3]}
    cases["release"] = ["--special-token", SPECIAL]
    for name, options in cases.items():
        for command in ("encode", "explain"):
            done = run_command(command, "-t", name, *options, "text.txt")
            assert done.returncode == 0, done.stderr.decode()
            assert command == "explain" or done.stdout.decode() == expected


@pytest.mark.usefixtures("ranks_here")
def test_published_encodings_and_models_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, encoding in {"cl100k_base": "cl100k_base", "gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}.items():
        made = Tokenizer.from_pretrained(name)
        assert made == toksmith.get_encoding(encoding).tokenizer
        assert made.encode(TEXT) == toksmith.get_encoding(encoding).encode(TEXT, allowed_special="all")
    for name in encodings.ENCODINGS:
        assert sources.kind_of(name) == "published"


@pytest.mark.usefixtures("ranks_here")
def test_each_command_takes_a_name(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("hello world\n")

    def run(*arguments: str) -> str:
        done = run_command(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    assert run("encode", "-t", "gpt-4", "text.txt", "-o", "ids") == ""
    assert (tmp_path / "ids").read_text() == "15339 1917 198\n"
    assert run("decode", "-t", "cl100k_base", "ids") == "hello world\n"
    assert "15339" in run("explain", "-t", "gpt-3.5-turbo", "--text", "hello")
    assert "the same ids as tiktoken" in run("verify", "gpt-4o", "--against", "tiktoken", "text.txt")
    assert "the same ids as tiktoken" in run("verify", "o200k_harmony", "--against", "tiktoken")


def test_a_folder_may_hold_a_file_of_toksmith(folder: Path, trained: Tokenizer) -> None:
    (folder / "saved").mkdir()
    trained.save(folder / "saved/tokenizer.json")
    assert Tokenizer.from_pretrained("saved") == trained


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["tokenizer.json", "vocab.json", "merges.txt", "tokenizer.model"], "tokenizer.json"),
        (["vocab.json", "merges.txt", "tokenizer.model"], "vocab.json"),
        (["vocab.json", "encoder.json", "vocab.bpe"], "encoder.json"),
        (["tokenizer.model", "a.model", "tekken.json"], "tekken.json"),
        (["tokenizer.model", "a.model"], "tokenizer.model"),
        (["x.model", "qwen.tiktoken", "y.gguf"], "x.model"),
        (["b.model", "a.model"], "2 files are *.model (a.model, b.model): name the file of the tokenizer"),
        (["vocab.json"], "this folder holds neither tokenizer.json nor"),
    ],
)
def test_the_file_that_leads_a_folder(names: list[str], expected: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()
    try:
        lead = Path(_core.tokenizer_lead(tmp_path)).name
    except ValueError as error:
        lead = str(error)
    assert expected in lead
    assert len(_core.tokenizer_files(tmp_path)) > 10


def test_a_path_goes_before_a_name(folder: Path, trained: Tokenizer) -> None:
    trained.save("gpt2")
    trained.save("gpt-4", format="gpt2")
    assert Tokenizer.from_pretrained("gpt2") == trained
    assert Tokenizer.from_pretrained("gpt-4", special_tokens=[SPECIAL]).encode(TEXT) == trained.encode(TEXT)


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        ("cl100k-base", {}, "did you mean 'cl100k_base'"),
        ("o200k", {}, "is the name of a pattern, not of a tokenizer"),
        ("llama3", {}, "name the tokenizer.json of a model"),
        ("model.safetensors", {}, "a safetensors file, which holds weights"),
        ("weights.bin", {}, "a zip archive"),
        ("kept.pkl", {}, "a pickle, which could run any program"),
        ("vocab.txt", {}, "a vocab.txt of WordPiece"),
        ("meta-llama/Llama-3-8B", {}, "not in the cache of the Hugging Face Hub"),
        ("nothing.json", {}, "No such file"),
        ("./gpt2", {}, "No such file"),
        ("empty", {}, "holds neither tokenizer.json nor vocab.json"),
        ("ranks.tiktoken", {}, "is a rank file, which holds no pattern"),
        ("own.json", {"pattern": "gpt2"}, "has its own pattern"),
        ("own.json", {"special_tokens": []}, "has its own pattern"),
        ("gpt2", {"unmatched": "keep"}, "has its own pattern"),
        ("broken.json", {}, "broken.json"),
        ("pair/vocab.json", {}, "this is a vocabulary: name the folder"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, source: str, options: dict[str, object], expected: str) -> None:
    (folder / "empty").mkdir()
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    (folder / "weights.bin").write_bytes(b"PK\x03\x04")
    (folder / "kept.pkl").write_bytes(b"\x80\x04N.")
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n")
    (folder / "broken.json").write_text('{"model": ')
    with pytest.raises((OSError, ValueError), match=expected):
        Tokenizer.from_pretrained(source, **options)  # type: ignore[arg-type]


def test_a_published_rank_file_says_its_name(shared_data: Path) -> None:
    with pytest.raises(ValueError, match=r"published file of gpt2 and r50k_base: load it by that name"):
        Tokenizer.from_pretrained(shared_data / "vocabs/gpt2.tiktoken")


def test_encoding_and_tokenizer_of_a_rank_file_agree(folder: Path) -> None:
    for pattern in ("gpt2", "cl100k_base", r"\w+|\s+"):
        ours = Tokenizer.from_tiktoken("ranks.tiktoken", pattern=pattern)
        assert ours == Encoding.from_tiktoken("ranks.tiktoken", pattern=pattern).tokenizer
