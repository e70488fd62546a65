"""`toksmith data`: what a folder holds, its checksums, and a document as tokens."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from command import TOKSMITH, run_command
from training_folder import write_folder

import toksmith

SPECIAL = "<|endoftext|>"
TEXTS = ["the low,\nthe \x1b[31mnew", "", "日本 \u202e<|endof", "the"]


def run(*arguments: object, status: int = 0, cwd: Path | None = None) -> str:
    done = run_command("data", *arguments, cwd=cwd)
    assert done.returncode == status, done.stderr.decode()
    if status not in (0, 1) or not done.stdout:
        assert done.stdout == b""
        [line] = done.stderr.decode().splitlines()
        return line.removeprefix("toksmith: error: ")
    assert (b"with --verify, which repairs them" if status else b"") in done.stderr
    assert done.stderr.count(b"\n") == status
    return done.stdout.decode()


@pytest.fixture(scope="module")
def tokenizer() -> toksmith.Tokenizer:
    return toksmith.train(iter(["the lowest of the low, the newest"]), 268, special_tokens=[SPECIAL])


@pytest.fixture
def folder(tmp_path: Path, tokenizer: toksmith.Tokenizer) -> Path:
    documents = [[*tokenizer.encode(text), 0] for text in TEXTS]
    write_folder(tmp_path / "out", {"train": documents, "val": documents[:1]}, tokenizer=tokenizer, shard_size=20)
    return tmp_path / "out"


def test_what_is_in_it(folder: Path) -> None:
    shown = run("out", cwd=folder.parent)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert shown.startswith(
        "out: training data, bin, uint16\ntokenizer: tokenizer.toksmith, 268 tokens, fingerprint "
    )
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line}
    for name, split in manifest["splits"].items():
        size = sum(shard["bytes"] for shard in split["shards"])
        assert rows[name] == [str(len(split["shards"])), str(split["documents"]), str(split["tokens"]), str(size)]


def test_skipped_documents(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["totals"]["skipped"] = 7
    path.write_text(json.dumps(manifest))
    assert "skipped documents, which manifest.json lists: 7\n" in run(folder)
    for totals in ([1], {"tokens": "x"}, None):
        path.write_text(json.dumps(manifest | {"totals": totals}))
        assert "train" in run(folder)


def test_check(folder: Path) -> None:
    assert "all files are intact (shards: 3, bytes: " in run(folder, "--check")
    lines = run_command("data", folder, "--check", "--progress", "json").stderr.decode().splitlines()
    last = json.loads(lines[-1])
    assert last["stage"] == "check"
    assert last["done"] == last["total"]
    shard = folder / "train-00001.bin"
    data = bytearray(shard.read_bytes())
    data[3] ^= 1
    shard.write_bytes(data)
    [line] = run(folder, "--check", status=1).splitlines()
    assert line.startswith(f"{shard}: checksum mismatch: the BLAKE3 is ")
    assert "another" not in run(folder)  # only --check reads the bytes


def test_a_document_in_a_pipe(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    start = 0
    for number, text in enumerate(TEXTS):
        rows = [line.split("\t") for line in run(folder, "--document", number).splitlines()]
        ids = [*tokenizer.encode(text), 0]
        assert [int(row[0]) for row in rows] == list(range(start, start + len(ids)))
        assert [int(row[1]) for row in rows] == ids
        assert rows[-1][2:] == [SPECIAL, "special"]
        assert all(len(row) == 3 for row in rows[:-1])
        assert all(character.isprintable() for row in rows for character in row[2])
        start += len(ids)
    assert run(folder, "--document", 0, "--split", "val") == run(folder, "--document", 0)
    assert "\\x1b" in run(folder, "--document", 0)


def on_terminal(*arguments: object, **environment: str) -> str:
    """Run `toksmith data` with a terminal as standard output; return what appears."""
    import pty

    main, other = pty.openpty()
    command = [*TOKSMITH, "data", *map(str, arguments)]
    variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    child = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=variables | environment)
    os.close(other)
    shown = b""
    try:
        while data := os.read(main, 65536):
            shown += data
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(main)
    assert child.wait(60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")
def test_a_document_on_a_terminal(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    shown = on_terminal(folder, "--document", 0, TERM="xterm-256color")
    # Without our own colours only printable characters and line ends are left: what the text holds is shown.
    for colour in ("\x1b[30;46m", "\x1b[30;43m", "\x1b[97;45m", "\x1b[0m"):
        assert colour in shown
        shown = shown.replace(colour, "")
    assert shown == "the low,\\n\nthe \\x1b[31mnew<|endoftext|>\n"
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown = on_terminal(folder, "--document", 0, **({"TERM": "xterm-256color"} | variables))
        assert shown == run(folder, "--document", 0)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")
def test_trained_tokens_are_underlined(tokenizer: toksmith.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"prompt": "the ", "completion": "low"}))
    toksmith.tokenize(tmp_path / "a.jsonl", tokenizer, tmp_path / "out", messages=True, append=SPECIAL)
    shown = on_terminal(tmp_path / "out", "--document", 0, TERM="xterm-256color")
    underlined = re.findall(r"\x1b\[4m(.*?)\x1b\[0m", shown)
    assert "".join(underlined) == " low<|endoftext|>"


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("nowhere",), 1, "nowhere: there is no such folder"),
        (("out/tokenizer.toksmith",), 1, "not a folder"),
        (("out", "--document", 4), 1, "out: there is no document 4: there are 4, numbered from 0"),
        (("out", "--document", 0, "--split", "test"), 1, "no split 'test': the folder has 'train', 'val'"),
        (("out", "--document", 0, "--split", ""), 1, "no split '': the folder has 'train', 'val'"),
        (("out", "--split", "val"), 2, "--split says where the document, or the rows, are"),
        (("out", "--check", "--document", 1), 2, "--check, --document and --pack are mutually exclusive"),
        (("out", "--pack", 8, "--document", 1), 2, "--check, --document and --pack are mutually exclusive"),
        (("out", "--long", "drop"), 2, "--output, --long and --seed are options of --pack N"),
        (("out", "--pack", 8), 2, "--pack writes a file: give -o FILE"),
        (("out", "--pack", 0, "-o", "p"), 1, "--pack is at least 1, not 0"),
        (("out", "--pack", 8, "-o", "out/p"), 2, "out/p is in the folder that is read: choose another place"),
        ((), 2, "Missing argument 'FOLDER'"),
    ],
)
def test_errors(arguments: tuple[object, ...], status: int, expected: str, folder: Path) -> None:
    assert expected in run(*arguments, status=status, cwd=folder.parent)


def test_packed_rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(folder.parent)
    done = run_command("data", "out", "--pack", 8, "-o", "packed.parquet", cwd=folder.parent)
    rows = toksmith.data.open("out").rows(8, seed=0)
    assert (done.stdout, done.returncode) == (b"", 0)
    assert done.stderr.decode() == f"packed.parquet: {len(rows)} rows of up to 8 ids, {rows.padding:.2%} padding\n"
    assert parquet.read_table("packed.parquet")["input_ids"].to_pylist() == [row.ids.tolist() for row in rows]


def test_folders_that_are_not_whole(folder: Path) -> None:
    (folder / "train-00000.index.npy").rename(folder / "away")
    assert "train-00000.index.npy: the file is missing" in run(folder, status=1)
    (folder / "manifest.json").unlink()
    assert "run the same toksmith tokenize again" in run(folder, status=1)


def test_an_id_that_the_tokenizer_does_not_have(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    write_folder(folder / "other", {"train": [[5, 60_000]]}, tokenizer=tokenizer)
    done = run_command("data", folder / "other", "--document", 0)
    assert done.returncode == 1
    assert "the id at 1 is 60000, and the tokenizer of the folder has none" in done.stderr.decode()


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals, and files with holes")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_check_can_be_ended(sent: signal.Signals, status: int, folder: Path) -> None:
    """A shard of 40 GB that takes no room on the disk: its checksum takes many seconds."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    split = manifest["splits"]["val"]
    shard = split["shards"][0]
    added = 20 * 10**9 - shard["tokens"]
    for one in (shard, split):
        one["tokens"] += added
    shard["bytes"] += 2 * added
    os.truncate(folder / shard["file"], shard["bytes"])
    path.write_text(json.dumps(manifest))
    command = [*TOKSMITH, "data", str(folder), "--check", "--progress", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stderr.readline()  # it has begun
        child.send_signal(sent)
        output, errors = child.communicate(timeout=60)
    assert output == b""
    assert all(line.startswith(b'{"stage": "check"') for line in errors.splitlines())
    assert child.returncode == status
