"""What cannot be read or written: errors that name the place, documents that are left out, nothing that is lost."""

import gzip
import json
import os
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import shards_oracle
from blake3 import blake3
from reading import corpus_of

import toksmith
from toksmith import Tokenizer
from toksmith.data import tokenize as module

GOOD = [f"low lower {number}" for number in range(40)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return toksmith.train(iter(["low lower newest"] * 9), 262, special_tokens=["<|endoftext|>"])


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)


def lines(documents: list[str]) -> list[bytes]:
    return [json.dumps({"text": text}).encode() + b"\n" for text in documents]


BROKEN = {
    "no JSON": (b'{"text": \n', "EOF while parsing a value"),
    "no field": (b'{"body": "x"}\n', 'there is no field "text"'),
    "no text": (b'{"text": 5}\n', "invalid type"),
    "no UTF-8": (b'{"text": "\xff"}\n', "not UTF-8 at byte"),
}


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("case", BROKEN)
def test_broken_lines(case: str, suffix: str, workers: int, tokenizer: Tokenizer, tmp_path: Path) -> None:
    line, reason = BROKEN[case]
    data = lines(GOOD)
    data.insert(30, line)
    data.insert(12, line)
    source = tmp_path / f"a.jsonl{suffix}"
    whole = b"".join(data)
    source.write_bytes(gzip.compress(whole) if suffix else whole)
    place = r"not UTF-8 at byte \d+" if case == "no UTF-8" else "line 13 "
    with pytest.raises(ValueError, match=f"{re.escape(str(source))}: {place}"):
        toksmith.tokenize(source, tokenizer, tmp_path / "stopped", workers=workers)
    assert not (tmp_path / "stopped/manifest.json").exists()
    with pytest.warns(UserWarning, match="2 documents were left out"):
        told = toksmith.tokenize(source, tokenizer, tmp_path / "out", workers=workers, on_error="skip")
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, GOOD))
    assert [(one["source"], one["place"]) for one in told["skipped"]] == [
        (str(source), f"line {n}") for n in (13, 32)
    ]
    assert all(reason in one["reason"] for one in told["skipped"])
    assert told["totals"]["skipped"] == 2


@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_that_goes_on_stops_at_the_same_document(workers: int, tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Whatever the other threads have done meanwhile."""
    data = lines([f"low {number} " + "lower " * (number % 50) for number in range(400)])
    data[200] = b"no JSON\n"
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"".join(data))
    for _ in range(30):
        with pytest.raises(ValueError, match=r"a\.jsonl: line 201 "):
            toksmith.tokenize(source, tokenizer, tmp_path / "out", workers=workers)


def test_files_that_are_not_utf8(tokenizer: Tokenizer, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, text in enumerate(GOOD):
        (folder / f"{number:02}.txt").write_text(text)
    (folder / "07b.txt").write_bytes(b"abc\xff")
    # Longer than a chunk, and invalid only at its end: nothing of it may be written.
    (folder / "09b.txt").write_bytes(b"low lower " * 9000 + b"\xff")
    with pytest.raises(ValueError, match=r"07b\.txt: not UTF-8 at byte 3"):
        toksmith.tokenize(folder, tokenizer, tmp_path / "stopped")
    with pytest.warns(UserWarning, match="2 documents were left out"):
        told = toksmith.tokenize(folder, tokenizer, tmp_path / "out", on_error="skip", workers=3)
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, GOOD))
    assert [(one["source"], one["place"]) for one in told["skipped"]] == [
        (str(folder / "07b.txt"), "byte 3"),
        (str(folder / "09b.txt"), "byte 90000"),
    ]
    told = toksmith.tokenize(toksmith.Corpus(folder, errors="replace"), tokenizer, tmp_path / "replaced")
    texts = [path.read_bytes().decode(errors="replace") for path in sorted(folder.iterdir())]
    shards_oracle.check(tmp_path / "replaced", shards_oracle.expected(tokenizer, texts))


def test_separated_documents_that_are_not_utf8(tokenizer: Tokenizer, tmp_path: Path) -> None:
    long = "low lower " * 9000
    parts = [*GOOD[:5], "\udcff", *GOOD[5:9], long + "\udcff", long, *GOOD[9:]]
    source = tmp_path / "a.txt"
    source.write_bytes("\n--\n".join(parts).encode(errors="surrogateescape"))
    with pytest.warns(UserWarning, match="2 documents were left out"):
        told = toksmith.tokenize(
            toksmith.Corpus(source, document_separator="\n--\n"),
            tokenizer,
            tmp_path / "out",
            on_error="skip",
            workers=2,
        )
    kept = [part for part in parts if not part.endswith("\udcff")]
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, kept))
    assert [one["source"] for one in told["skipped"]] == [str(source)] * 2
    compressed = tmp_path / "a.txt.gz"
    compressed.write_bytes(gzip.compress(long.encode() * 5 + b"\xff"))
    with pytest.raises(ValueError, match=r"a\.txt\.gz: byte \d+: .* too long to be left out"):
        toksmith.tokenize(
            toksmith.Corpus(compressed, document_separator="\n--\n"), tokenizer, tmp_path / "gz", on_error="skip"
        )


@pytest.mark.parametrize("workers", [1, 3])
def test_texts_that_are_none(workers: int, tokenizer: Tokenizer, tmp_path: Path) -> None:
    texts: list[Any] = [*GOOD[:3], b"\xff", "a\ud800", *GOOD[3:]]
    with pytest.raises(ValueError, match="texts: text number 3: not UTF-8 at byte 0"):
        toksmith.tokenize(iter(texts), tokenizer, tmp_path / "stopped", workers=workers)
    with pytest.warns(UserWarning, match="2 documents"):
        told = toksmith.tokenize(iter(texts), tokenizer, tmp_path / "out", on_error="skip", workers=workers)
    shards_oracle.check(tmp_path / "out", shards_oracle.expected(tokenizer, GOOD))
    assert [one["place"] for one in told["skipped"]] == ["text number 3", "text number 4"]
    with pytest.raises(ValueError, match="texts: text number 1: not UTF-8 at byte 2"):
        separated = toksmith.Corpus(iter(["a|b", b"c|\xff"]), document_separator="|")
        toksmith.tokenize(separated, tokenizer, tmp_path / "separated", workers=workers)
    for wrong in (5, None, ["a"]):
        with pytest.raises(TypeError, match=f"text number 1 is {type(wrong).__name__}: texts are str or bytes"):
            toksmith.tokenize(iter(["a", wrong]), tokenizer, tmp_path / f"t{wrong}", workers=workers)

    def failing() -> Any:
        yield from GOOD
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        toksmith.tokenize(failing(), tokenizer, tmp_path / "failing", workers=workers)
    toksmith.tokenize(iter(GOOD), tokenizer, tmp_path / "failing", workers=workers)
    shards_oracle.check(tmp_path / "failing", shards_oracle.expected(tokenizer, GOOD))


def test_other_texts_than_those_of_the_run(tokenizer: Tokenizer, tmp_path: Path) -> None:
    def failing() -> Any:
        yield from GOOD
        raise RuntimeError("mine")

    out = tmp_path / "out"
    with pytest.raises(RuntimeError):
        toksmith.tokenize(failing(), tokenizer, out, workers=1)
    if not (out / ".toksmith-unfinished/state.json").exists():
        pytest.fail("the texts before the failure are kept")
    for texts in (["other", *GOOD[1:]], GOOD[:3]):
        with pytest.raises(ValueError, match="texts differ from those of the unfinished run"):
            toksmith.tokenize(iter(texts), tokenizer, out)
    toksmith.tokenize(iter([*GOOD, "more"]), tokenizer, out)
    shards_oracle.check(out, shards_oracle.expected(tokenizer, [*GOOD, "more"]))


def _resigned(change: Any) -> Any:
    """Change a state, with a checksum that is right."""

    def changed(data: bytes) -> bytes:
        content = json.loads(data)
        change(content["state"])
        digest = blake3(json.dumps(content["state"]).encode()).hexdigest()
        return json.dumps({**content, "blake3": digest}).encode()

    return changed


STATES: dict[str, Any] = {
    "a byte": lambda data: data.replace(b'"documents":2', b'"documents":3').replace(b'"lines":0', b'"lines":1'),
    "cut off": lambda data: data[:-9],
    "another file": lambda data: b"{}",
    "version 4": lambda data: data.replace(b'"version":7', b'"version":4', 1),
    "no snapshot": _resigned(lambda state: state.pop("snapshot")),
    "no list": _resigned(lambda state: state["snapshot"].__setitem__("documents", 7)),
    "negative": _resigned(lambda state: state["snapshot"].__setitem__("text_bytes", -1)),
    "a path": _resigned(lambda state: state["shards"].append([0, 9, {"../x": "y"}, {}])),
    "other splits": _resigned(lambda state: state["snapshot"]["shards"].append([0, {"ids": 0, "documents": 0}])),
    "too many sources": _resigned(lambda state: state["snapshot"]["documents"].extend([1] * 9)),
    "a place behind all": _resigned(lambda state: state["snapshot"]["at"].__setitem__("source", 9)),
    "too much": _resigned(lambda state: state["snapshot"]["totals"][0].__setitem__("ids", 2**63)),
}


@pytest.mark.parametrize("case", STATES)
def test_damaged_states_are_refused(case: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    def failing() -> Any:
        yield from GOOD
        raise RuntimeError("mine")

    out = tmp_path / "out"
    with pytest.raises(RuntimeError):
        toksmith.tokenize(failing(), tokenizer, out, workers=1)
    state = out / ".toksmith-unfinished/state.json"
    state.write_bytes(STATES[case](state.read_bytes()))
    with pytest.raises(ValueError, match=r"not a valid state of a run|other splits|does not match its sources"):
        toksmith.tokenize(iter(GOOD), tokenizer, out)
    shutil.rmtree(out)
    toksmith.tokenize(iter(GOOD), tokenizer, out)
    shards_oracle.check(out, shards_oracle.expected(tokenizer, GOOD))


@pytest.mark.parametrize("offset", [2**40, 5_000])
def test_a_place_behind_its_file_is_refused(
    offset: int, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SNAPSHOT_SECONDS", 0.0)
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_bytes(b"".join(lines(GOOD)) + b"{")
    with pytest.raises(ValueError, match=f"line {len(GOOD) + 1}"):
        toksmith.tokenize(source, tokenizer, out, workers=1)
    state = out / ".toksmith-unfinished/state.json"
    place = json.loads(state.read_bytes())["state"]["snapshot"]["at"]
    assert place["source"] == 0
    assert 0 < place["offset"] < source.stat().st_size < 5_000
    behind = _resigned(lambda content: content["snapshot"]["at"].__setitem__("offset", offset))
    state.write_bytes(behind(state.read_bytes()))
    with pytest.raises(ValueError, match="does not match its sources"):
        toksmith.tokenize(source, tokenizer, out, workers=1)


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "split": ({"split": "val"}, ValueError, "split must be a name and a share, such as val=0.01, not 'val'"),
    "train": ({"split": {"train": 0.1}}, ValueError, "'train' is not a valid name of a split"),
    "share": ({"split": "val=2"}, ValueError, "the share of val must be between 0 and 1, not '2'"),
    "shares": ({"split": ["a=0.5", "b=0.5"]}, ValueError, "add up to 1 or more"),
    "path in split": ({"split": "../x=0.5"}, ValueError, "is not a valid name of a split"),
    "append": ({"append": "<|eot|>"}, ValueError, r"'<\|eot\|>' is not a special token of the tokenizer, which has"),
    "append id": ({"append": 9999}, ValueError, "append: the tokenizer has no id 9999"),
    "shard_size": ({"shard_size": 0}, ValueError, "shard_size is at least 1"),
    "seed": ({"seed": -1}, ValueError, "seed is a whole number from 0"),
    "shuffle": ({"shuffle": 2**64}, ValueError, "shuffle is a whole number from 0"),
    "pack": ({"pack": 0}, ValueError, "pack is at least 1"),
    "pack and buffer": ({"pack": 9, "shuffle_buffer": 8}, ValueError, "pack is at most shuffle_buffer, 8 ids, not 9"),
    "pad": ({"pack": 9, "pad": "<|x|>"}, ValueError, "pad: '<|x|>' is not a special token"),
    "two pads": ({"pack": 9, "pad": [1, 2]}, ValueError, "pack=9 fills rows with one special token"),
    "pack and parquet": ({"pack": 9, "format": "parquet"}, ValueError, "a Parquet file has a row for each document"),
    "pad alone": ({"pad": 1}, ValueError, "long and pad are for rows: choose their length with pack="),
    "long": ({"pack": 9, "long": "cut"}, ValueError, "long is"),
    "on_error": ({"on_error": "go"}, ValueError, "on_error is one of 'stop', 'skip', not 'go'"),
    "dtype": ({"dtype": "int8"}, ValueError, "dtype is uint16 or uint32, not int8"),
    "field": ({"field": "a"}, ValueError, "field='a' is for files of records: there is none"),
    "separator": ({"document_separator": ""}, ValueError, "document_separator is empty"),
    "progress": ({"progress": "loud"}, ValueError, 'progress is True, False, "json" or a callable'),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_options(case: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    chosen, kind, message = WRONG[case]
    options = {**chosen}
    with pytest.raises(kind, match=message):
        toksmith.tokenize(corpus_of(tmp_path / "a.txt", options), tokenizer, tmp_path / "out", **options)
    assert not (tmp_path / "out/manifest.json").exists()


def test_a_token_that_ends_a_text_is_pointed_out(tokenizer: Tokenizer, tmp_path: Path) -> None:
    names = ("</s>", "<|end_of_text|>", "<eos>", "[EOS]", "<|endoftext|>")
    cases = [(Tokenizer(special_tokens=["<|pad|>", name]), name) for name in names]
    huggingface = tmp_path / "hf"
    Tokenizer(special_tokens=["<stop>", "<pad>"]).save_huggingface(huggingface, eos_token="<stop>")
    cases.append((Tokenizer.from_huggingface(huggingface), "<stop>"))
    for number, (chosen, name) in enumerate(cases):
        with pytest.warns(UserWarning, match=re.escape(f'choose append="{name}", or append="none"')):
            toksmith.tokenize(iter(["a", "b"]), chosen, tmp_path / f"{number}")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for choice in ("none", (), [], name):
                out = tmp_path / f"{number}-{choice!r}".replace("/", "")
                told = toksmith.tokenize(iter(["a", "b"]), chosen, out, append=choice)
                assert told["options"]["append"] == ([name] if choice == name else [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for chosen in (Tokenizer(), Tokenizer(special_tokens=["<pad>", "<|bos|>"])):
            toksmith.tokenize(iter(["a"]), chosen, tmp_path / f"none{len(chosen.special_tokens)}")
        toksmith.tokenize(iter(["a"]), tokenizer, tmp_path / "prepended", prepend=list(tokenizer.special_tokens)[:1])


def test_wrong_sources(tokenizer: Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(FileNotFoundError, match="missing"):
        toksmith.tokenize(tmp_path / "missing", tokenizer, out)
    with pytest.raises(ValueError, match="no source is given"):
        toksmith.tokenize([], tokenizer, out)
    with pytest.raises(TypeError, match="sources are paths, or an iterable of texts, not int"):
        toksmith.tokenize(5, tokenizer, out)
    with pytest.raises(TypeError, match=r"tokenizer is a Tokenizer, the name or path of one, .* not int"):
        toksmith.tokenize(iter([]), 5, out)
    (tmp_path / "a.txt").write_bytes(gzip.compress(gzip.compress(b"low")))
    with pytest.raises(ValueError, match=r"a\.txt: this is gzip-compressed: decompress it first"):
        toksmith.tokenize(tmp_path / "a.txt", tokenizer, out)
    assert not out.exists()
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"low" * 999)[:40])
    with pytest.raises(ValueError, match="not a complete gzip file"):
        toksmith.tokenize(tmp_path / "b.jsonl.gz", tokenizer, tmp_path / "other")


def test_folders_that_are_taken(tokenizer: Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("kept")
    with pytest.raises(FileExistsError, match="the folder is not empty, and has no unfinished run"):
        toksmith.tokenize(iter(GOOD), tokenizer, out)
    assert shards_oracle.files(out) == {"mine": b"kept"}
    with pytest.raises(OSError, match="mine"):
        toksmith.tokenize(iter(GOOD), tokenizer, out / "mine")


def test_a_folder_inside_of_the_sources(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """What the run writes is none of its sources, when it goes on or is called again."""
    (tmp_path / "a.txt").write_text("low")
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines(GOOD)) + b"{")
    with pytest.raises(ValueError, match="line 41"):
        toksmith.tokenize(tmp_path, tokenizer, tmp_path / "out", shard_size=20)
    assert (tmp_path / "out/train-00000.bin").exists()
    with pytest.raises(ValueError, match="line 41"):
        toksmith.tokenize(tmp_path, tokenizer, tmp_path / "out", shard_size=20)


def test_a_finished_folder_is_left_as_it_is(tokenizer: Tokenizer, tmp_path: Path) -> None:
    source, out = tmp_path / "a.txt", tmp_path / "out"
    source.write_text("low lower")
    told = toksmith.tokenize(source, tokenizer, out)
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert toksmith.tokenize(source, tokenizer, out, workers=3) == told
    assert {path.name: path.stat().st_mtime_ns for path in out.iterdir()} == before
    source.write_text("low lower newest")
    with pytest.raises(ValueError, match=r"the finished run in .* of 9 bytes, which are 16 now"):
        toksmith.tokenize(source, tokenizer, out)
    with pytest.raises(ValueError, match=r"had the source .* where 'texts' is now"):
        toksmith.tokenize(iter(GOOD), tokenizer, out)
    toksmith.tokenize(iter(GOOD), tokenizer, tmp_path / "texts")
    with pytest.raises(FileExistsError, match="has a finished run"):
        toksmith.tokenize(iter(GOOD), tokenizer, tmp_path / "texts")


@pytest.mark.skipif(sys.platform != "linux", reason="locks as Linux has them")
def test_two_processes_never_write_to_one_folder(tokenizer: Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def texts() -> Any:
        yield "low"
        with pytest.raises(BlockingIOError, match="another process is writing to this folder"):
            toksmith.tokenize(iter(GOOD), tokenizer, out)

    toksmith.tokenize(texts(), tokenizer, out, workers=1)
    shards_oracle.check(out, shards_oracle.expected(tokenizer, ["low"]))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match="out"):
            toksmith.tokenize(iter(GOOD), tokenizer, tmp_path / "out")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_that_changes(tokenizer: Tokenizer, tmp_path: Path) -> None:
    sources = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for source in sources:
        source.write_bytes(b"".join(lines(GOOD)))

    def report(*_: Any) -> None:
        with sources[1].open("ab") as file:
            file.write(b"\n")

    with pytest.raises(OSError, match=r"1\.jsonl: the file became longer while it was read"):
        toksmith.tokenize(sources, tokenizer, tmp_path / "out", progress=report, workers=1)
