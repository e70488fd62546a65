"""No command writes over a file that it reads, whatever name the file is given by."""

import os
import shutil
from pathlib import Path

import pytest
from command import run_command

import toksmith
from toksmith.files import whole_files

TEXT = "the lowest of the low, the newest of the new\n" * 5


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("read")
    (folder / "book.txt").write_text(TEXT)
    (folder / "texts").mkdir()
    (folder / "texts/a.txt").write_text(TEXT)
    tokenizer = toksmith.train(folder / "book.txt", 262)
    tokenizer.save(folder / "t.json")
    tokenizer.save_huggingface(folder / "hf")
    tokenizer.save(folder / "ranks.tiktoken", format="tiktoken")
    model = toksmith.compat.minbpe.RegexTokenizer()
    model.train("low low lower", 258)
    model.save(str(folder / "trained"))
    (folder / "ids").write_text(" ".join(map(str, tokenizer.encode(TEXT))))
    os.link(folder / "t.json", folder / "hard.json")
    os.link(folder / "book.txt", folder / "hard.txt")
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy, in which the links are links to the copies."""
    copy = tmp_path / "copy"
    shutil.copytree(original, copy)
    for name in ("json", "txt"):
        (copy / f"hard.{name}").unlink()
    for target, name in (("t.json", "hard.json"), ("book.txt", "hard.txt")):
        os.link(copy / target, copy / name)
        (copy / name.replace("hard", "soft")).symlink_to(target)
    (copy / "hf2").symlink_to("hf")
    return copy


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


REFUSED = [
    (("view", "--html", "t.json", "-t", "t.json"), "t.json", ""),
    (("view", "--html", "./t.json", "-t", "t.json"), "./t.json", ", as t.json"),
    (("view", "--html", "soft.json", "-t", "t.json"), "soft.json", ", as t.json"),
    (("view", "--html", "t.json", "-t", "ids.json", "-t", "soft.json"), "t.json", ", as soft.json"),
    (("view", "--html", "hard.json", "-t", "t.json"), "hard.json", ", as t.json"),
    (("view", "--html", "book.txt", "-t", "t.json", "book.txt"), "book.txt", ""),
    (("view", "--html", "hf/tokenizer.json", "-t", "hf"), "hf/tokenizer.json", ""),
    (("view", "--html", "hf2/tokenizer_config.json", "-t", "hf"), "hf2/tokenizer_config.json",
     ", as hf/tokenizer_config.json"),
    (("encode", "-t", "t.json", "book.txt", "-o", "hard.txt"), "hard.txt", ", as book.txt"),
    (("encode", "-t", "t.json", "book.txt", "-o", "t.json"), "t.json", ""),
    (("encode", "-t", "t.json", "book.txt", "--format", "bin", "-o", "book.txt"), "book.txt", ""),
    (("decode", "-t", "t.json", "ids", "-o", "ids"), "ids", ""),
    (("decode", "-t", "t.json", "ids", "-o", "soft.json"), "soft.json", ", as t.json"),
    (("convert", "t.json", "soft.json", "--to", "toksmith"), "soft.json", ", as t.json"),
    (("convert", "hf", "hf2", "--to", "huggingface"), "hf2/tokenizer.json", ", as hf/tokenizer.json"),
    (("convert", "hf/tokenizer.json", "hf", "--to", "huggingface"), "hf/tokenizer.json", ""),
    (("convert", "ranks.tiktoken", "ranks.tiktoken", "--pattern", "gpt2", "--to", "tiktoken"), "ranks.tiktoken", ""),
    (("convert", "trained.model", "trained.model", "--to", "minbpe"), "trained.model", ""),
    (("train", "texts", "--vocab-size", "260", "-o", "texts/a.txt"), "texts/a.txt", ""),
    (("train", "*.txt", "--vocab-size", "260", "-o", "book.txt"), "book.txt", ""),
    (("train", "book.txt", "--base", "t.json", "--vocab-size", "270", "-o", "t.json"), "t.json", ""),
    (("compare", "t.json", "--on", "book.txt", "-o", "hard.txt"), "hard.txt", ", as book.txt"),
    (("compare", "mine=t.json", "--on", "book.txt", "-o", "t.json"), "t.json", ""),
    (("compare", "t.json", "--language", "en=texts", "-o", "texts/a.txt"), "texts/a.txt", ""),
    (("compare", "t.json", "--parallel", "en=book.txt", "-o", "book.txt"), "book.txt", ""),
]  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_outputs_that_are_inputs(folder: Path) -> None:
    shutil.copy(folder / "t.json", folder / "ids.json")
    before = contents(folder)
    for arguments, out, other_name in REFUSED:
        done = run_command(*arguments, cwd=folder)
        expected = f"toksmith: error: {out}: this file is read too{other_name}: name another one to write\n"
        assert (done.returncode, done.stderr.decode()) == (1, expected), arguments
        assert done.stdout == b""
    assert contents(folder) == before


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_plots_logs_and_standard_input(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    shutil.copy(folder / "book.txt", folder / "texts/compression.svg")
    (folder / "log.csv").symlink_to("book.txt")
    before = contents(folder)
    for arguments, out, name in (
        (("compare", "t.json", "--on", "texts", "--plots", "texts"), "texts/compression.svg", ""),
        (("train", "book.txt", "--vocab-size", "260", "-o", "new", "--log", "log.csv"), "log.csv", ", as book.txt"),
    ):
        done = run_command(*arguments, cwd=folder)
        assert f"error: {out}: this file is read too{name}:" in done.stderr.decode(), arguments
    done = run_command("train", "book.txt", "--vocab-size", "260", "-o", "new", "--checkpoint", "./new", cwd=folder)
    assert "error: ./new: two outputs have this name" in done.stderr.decode()
    assert contents(folder) == before
    with (folder / "book.txt").open("rb") as read:
        saved = os.dup(0)
        try:
            os.dup2(read.fileno(), 0)
            with pytest.raises(ValueError, match=r"soft.txt: this file is read too, as standard input:"):
                whole_files.check_not_read(folder / "soft.txt", ["-"])
        finally:
            os.dup2(saved, 0)
            os.close(saved)


def test_outputs_that_are_none(folder: Path) -> None:
    """A page beside a tokenizer is written, and a second time."""
    for _ in range(2):
        for arguments in (
            ("view", "--html", "hf/page.html", "-t", "hf"),
            ("encode", "-t", "t.json", "book.txt", "-o", "book.ids"),
            ("convert", "t.json", "other.json", "--to", "toksmith"),
            ("convert", "t.json", "other", "--to", "huggingface"),
            ("train", "book.txt", "--vocab-size", "260", "-o", "trained.json"),
            ("view", "--text", "book.txt", "--html", "book.html", "-t", "t.json"),
        ):
            done = run_command(*arguments, cwd=folder)
            assert done.returncode == 0, (arguments, done.stderr)


def test_calls_of_the_library(folder: Path) -> None:
    before = contents(folder)
    tokenizer = toksmith.Tokenizer.load(folder / "t.json")
    with pytest.raises(ValueError, match=r"hard\.txt: this file is read too, as .*book\.txt: name another one"):
        tokenizer.encode_file(folder / "book.txt", folder / "hard.txt")
    shutil.copy(folder / "book.txt", folder / "texts/b.csv")
    with pytest.raises(ValueError, match=r"b\.csv: this file is read too"):
        toksmith.train(folder / "texts", 260, log=folder / "texts/b.csv")
    (folder / "texts/b.csv").unlink()
    assert contents(folder) == before


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX devices")
def test_devices_may_be_both() -> None:
    whole_files.check_not_read("/dev/null", ["/dev/null"])
    whole_files.check_not_read("no such file", iter([]))

    def never() -> object:
        raise AssertionError("inputs are not looked at where there is no output yet")
        yield

    whole_files.check_not_read("no such file", never())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "-", "--vocab-size", "258", "-o", "old.txt"),
        ("compare", "t.json", "--on", "-", "-o", "old.txt"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_standard_input_is_no_file_that_an_output_may_be(
    arguments: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("old.txt").write_text("old")
    done = run_command(*arguments, stdin=TEXT.encode())
    assert done.returncode == 0, done.stderr
    assert Path("old.txt").read_text() != "old"


def test_a_name_of_a_folder_is_no_file(folder: Path) -> None:
    (folder / "old.npy").write_bytes(b"precious")
    done = run_command("encode", "-t", "t.json", "book.txt", "-o", "old.npy/", cwd=folder)
    assert (done.returncode, b"old.npy/: Not a directory" in done.stderr) == (1, True)
    assert (folder / "old.npy").read_bytes() == b"precious"


@pytest.mark.skipif(os.name == "nt", reason="Windows removes no current folder")
def test_no_file_is_written_in_a_folder_that_was_removed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(FileNotFoundError):
        toksmith.Tokenizer.load(folder / "t.json").save("t.json")
