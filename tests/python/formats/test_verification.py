"""Every export is read back before it takes its name: a broken one is refused, and nothing is left of it."""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_peers import EOT, trained

from toksmith import Tokenizer
from toksmith.files import whole_files
from toksmith.files.new_file import NewFile
from toksmith.formats import verification

BYTES = {byte: bytes([byte]) for byte in range(256)}

EXPORTS: dict[str, tuple[Callable[..., None], str]] = {
    "native": (lambda tokenizer, folder, **options: tokenizer.save(folder / "file", **options), "file"),
    "tiktoken": (
        lambda tokenizer, folder, **options: tokenizer.save(folder / "file", **options, format="tiktoken"),
        "file",
    ),
    "gpt2": (
        lambda tokenizer, folder, **options: tokenizer.save(folder / "new", **options, format="gpt2"),
        "new/merges.txt",
    ),
    "huggingface": (
        lambda tokenizer, folder, **options: tokenizer.save_huggingface(folder / "new", **options),
        "new/tokenizer.json",
    ),
}


def left_behind(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def lost_merge(name: str, data: bytes) -> bytes:
    """A file whose writer forgot the last merge, or swapped two tokens."""
    if name == "native":
        content = json.loads(data)
        content["merges"] = content["merges"][:-1]
        content["training"]["merge_counts"].pop()
        return json.dumps(content).encode()
    if name == "tiktoken":
        lines = data.split(b"\n")
        left, right = (line.split() for line in lines[-3:-1])
        return b"\n".join([*lines[:-3], left[0] + b" " + right[1], right[0] + b" " + left[1], b""])
    if name == "gpt2":
        return data if data.startswith(b"{") else data.rsplit(b"\n", 2)[0] + b"\n"
    if b'"merges"' not in data:
        return data
    content = json.loads(data)
    content["model"]["merges"] = content["model"]["merges"][:-1]
    return json.dumps(content).encode()


def broken(monkeypatch: pytest.MonkeyPatch, change: Callable[[bytes], bytes]) -> None:
    """Make every file that is written another than what it should be."""
    fill = whole_files._fill

    def fill_otherwise(file: NewFile, target: Path, parts: Any) -> None:
        fill(file, target, [change(b"".join(parts))])

    monkeypatch.setattr(whole_files, "_fill", fill_otherwise)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_file_that_lost_something_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, _ = EXPORTS[name]
    tokenizer = trained("last")
    broken(monkeypatch, lambda data: lost_merge(name, data))
    with pytest.raises(ValueError, match=r"was not written: .* has, around id number \d+, \[.*\] here and \["):
        save(tokenizer, tmp_path)
    assert left_behind(tmp_path) == []
    save(tokenizer, tmp_path, verify=False)
    assert left_behind(tmp_path)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_old_file_stays(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, written = EXPORTS[name]
    save(Tokenizer(None, None, [EOT]), tmp_path)
    before = {path: (tmp_path / path).read_bytes() for path in left_behind(tmp_path) if (tmp_path / path).is_file()}
    assert written in before
    broken(monkeypatch, lambda data: lost_merge(name, data))
    with pytest.raises(ValueError, match="was not written"):
        save(trained("last"), tmp_path)
    assert {path: (tmp_path / path).read_bytes() for path in left_behind(tmp_path) if path in before} == before
    assert len([path for path in left_behind(tmp_path) if (tmp_path / path).is_file()]) == len(before)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_file_that_cannot_be_read_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, _ = EXPORTS[name]
    broken(monkeypatch, lambda data: data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"was not written"):
        save(trained("last"), tmp_path)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("name", ["tiktoken", "gpt2"])
def test_without_the_library_toksmith_reads(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, written = EXPORTS[name]
    monkeypatch.setitem(sys.modules, verification._LIBRARIES[name].module, None)  # as if it were not installed
    save(trained("last"), tmp_path)
    assert (tmp_path / written).is_file()
    broken(monkeypatch, lambda data: lost_merge(name, data))
    with pytest.raises(ValueError, match="was not written"):
        save(trained("last"), tmp_path)


def test_the_pattern_of_a_tokenizer_json_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer(BYTES | {256: b" a", 257: b"1234"}, None, [EOT], pattern="cl100k")
    broken(monkeypatch, lambda data: data.replace(rb"\\p{N}{1,3}", rb"\\p{N}{1,4}"))
    with pytest.raises(ValueError, match=r"tokenizer\.json, read back, does not encode .*'[^']*\d{4}[^']*' has"):
        tokenizer.save_huggingface(tmp_path / "new")
    assert left_behind(tmp_path) == []


def test_decoding_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_decoder(data: bytes) -> bytes:
        return json.dumps(json.loads(data) | {"decoder": None}).encode() if b'"decoder"' in data else data

    broken(monkeypatch, without_decoder)
    with pytest.raises(ValueError, match=r"does not decode as this tokenizer does"):
        Tokenizer().save_huggingface(tmp_path / "new")


def test_special_tokens_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, lambda data: data.replace(b'"lstrip": false', b'"lstrip": true'))
    with pytest.raises(ValueError, match="does not encode"):
        trained("last").save_huggingface(tmp_path / "new")


def test_the_difference_is_cut_down() -> None:
    def ours(text: str) -> list[int]:
        return list(text.encode())

    def theirs(text: str) -> list[int]:
        return [0 if byte == ord("!") else byte for byte in text.encode()]

    with pytest.raises(ValueError, match=r"'!' has, around id number 0, \[33\] here and \[0\] there"):
        verification.compare("the file", ["fine", "a" * 5000 + "!" + "b" * 3000], ours, theirs)
    with pytest.raises(ValueError, match=r"'ab' has, around id number 1, \[97, 98\] here and \[97\] there"):
        verification.compare("the file", ["ab"], ours, lambda text: [97] if text == "ab" else list(text.encode()))
    verification.compare("the file", ["fine"], ours, theirs)


def test_the_stress_text_has_every_token_and_every_special() -> None:
    tokenizer = trained("last")
    texts = list(verification.stress_texts(tokenizer._core))
    joined = "\0\0".join(texts)
    special = set(tokenizer.special_tokens.values())
    assert all(token.decode() in joined for token in tokenizer.vocab.values() if token.isascii())
    ids = {id for text in texts for id in tokenizer.encode(text)}
    whole = {id for id, token in tokenizer.vocab.items() if id not in special and verification.text_of(token)}
    assert special <= ids
    assert len(whole & ids) > 0.9 * len(whole)


def test_files_that_are_no_regular_ones(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs POSIX's named pipes")
    pipe, read = tmp_path / "pipe", bytearray()
    os.mkfifo(pipe)
    for verify in (True, False):
        read.clear()
        reader = threading.Thread(target=lambda: read.extend(pipe.read_bytes()))
        reader.start()
        Tokenizer().save(pipe, verify=verify, format="tiktoken")
        reader.join()
        assert read.startswith(b"AA== 0\n")
    assert left_behind(tmp_path) == ["pipe"]
