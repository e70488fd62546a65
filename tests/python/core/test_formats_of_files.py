"""Formats that are found, chosen or refused; nested fields; errors that name file, member and place."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import run_command

import toksmith
import toksmith.data
from toksmith import Corpus, Tokenizer
from toksmith._core import file_format

LINE = b'{"text": "a"}\n'


def texts(path: Any, **options: Any) -> list[str]:
    return ["".join(document.pieces) for document in Corpus(path, **options).documents()]


def tar(*members: tuple[str, bytes], **facts: Any) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for fact, value in facts.items():
                setattr(info, fact, value)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def warc(block: bytes, content: str = "text/plain", kind: str = "conversion", length: object = None) -> bytes:
    size = len(block) if length is None else length
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Type: {content}\r\nContent-Length: {size}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
FOUND: dict[str, tuple[bytes, list[str]]] = {
    "c4.json.gz": (gzip.compress(LINE * 2), ["a", "a"]),
    "part-0000": (LINE, ["a"]),
    "a.jl": (b"\xef\xbb\xbf" + LINE.replace(b"\n", b"\r\n") + b"\r\n" + LINE, ["a", "a"]),
    "dump.json": (b"\xef\xbb\xbf [" + LINE + b"," + LINE + b"] \n", ["a", "a"]),
    "empty.json": (b"[ ]\n", []),
    "none.json": (b"", []),
    "none.csv": (b"", []),
    "a.csv": (b'\xef\xbb\xbfid,text\r\n1,"x,""y""\nz"\r\n2,\r\n', ['x,"y"\nz', ""]),
    "a.tsv.bz2": (bz2.compress(b"text\tid\nx,y\t1"), ["x,y"]),
    "a.tgz": (gzip.compress(tar(("./a.txt", b"x"), ("b.jsonl", LINE))), ["x", "a"]),
    "empty.tar": (tar(), []),
    "a.wet.gz": (gzip.compress(warc(b"x")) + gzip.compress(warc(b"y")), ["x", "y"]),
    "lines.txt": (b'{"text": not JSON\n'[1:], ['"text": not JSON\n']),
    "a.md": (b"[link](target) {a: b}", ["[link](target) {a: b}"]),
    "text": (b"{{template}} {", ["{{template}} {"]),
    "late.txt": (b"\n\nx" + LINE, ["\n\nx" + LINE.decode()]),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, tmp_path: Path) -> None:
    data, expected = FOUND[name]
    (tmp_path / name).write_bytes(data)
    assert texts(tmp_path / name) == expected


WRONG: dict[str, tuple[bytes, str]] = {
    "a.txt": (LINE, r"looks like a file of JSON lines: give input_format=\"jsonl\", or \"text\""),
    "b.txt": (b"[" + LINE + b"]", 'looks like a JSON array: give input_format="json"'),
    "state.json": (b'{\n  "a": 1\n}', "this is a JSON document of several lines"),
    "c.jsonl": (b'{\n  "text": 1\n}', r"line 1 \(byte 0\): EOF"),
    "d.json": (b"nothing", "byte 0: this is not a JSON array"),
    "e.json": (b'[{"text": "a"}, {"text": "b"', "record 2: the file ends inside of the array"),
    "f.json": (b'[{"text": "a"},]', "record 2: there is no record"),
    "g.json": (b'[{"text": "a"}] {}', "record 1: there is data after the end of the array"),
    "h.json": (b'[{"text": "a"}, {"body": "b"}]', 'record 2: there is no field "text", only \\["body"\\]'),
    "i.json": (b'[{"text": "a\xff"}]', "record 1: not UTF-8 at byte 11"),
    "j.json": (b'[{"text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}]", "record 1: invalid type: sequence"),
    "k.json": (b'[{"a": {"text": "a\xed\xa0\x80"}, "text": "\\ud800"}]', "record 1: not UTF-8 at byte 17"),
    "a.csv": (b"text,id\nx,1\ny\n", "row 2: it has 1 values, and there are 2 columns"),
    "b.csv": (b"body,id\nx,1\n", r'row 1: there is no field "text", only \["body", "id"\]'),
    "c.csv": (b"text\n\xff\n", "row 1: not UTF-8 at byte 9"),
    "a.tar": (tar(("dir/b.jsonl", LINE + b"bad\n")), 'member "dir/b.jsonl": line 2: expected value'),
    "b.tar": (tar(("a.txt", b"ab\xff")), 'member "a.txt": not UTF-8 at byte 2'),
    "c.tar": (tar(("a.png", b"\x89PNG\r\n\x1a\n")), 'member "a.png": this is a PNG image'),
    "d.tar": (tar(("a.parquet", b"PAR1\0")), 'member "a.parquet": a Parquet or Arrow file'),
    "e.tar": (tar(("a.txt.gz", gzip.compress(b"abc")[:-3])), 'member "a.txt.gz": it ends too early'),
    "f.tar": (tar(("a.txt", b"abc"))[:514], 'member "a.txt": it ends too early'),
    "g.tar": (tar(("a.txt", b"abc"))[:1024], "byte 1024: the archive ends without a mark of its end"),
    "h.tar": (tar(("a.txt", b"abc"))[:900], "the last member: it ends too early"),
    "i.tar": (tar(("a.txt", b"abc")) + b"x", "byte 1024: there is data after the end"),
    "j.tar": (tar(("a.txt", b"abc"))[:1024] + b"x" * 512, "byte 1024: the checksum of a header is wrong"),
    "k.tar": (tar(("a", tar(("b", tar(("c", tar(("d", tar(("e", b"x")))))))))), "inside of each other"),
    "l.tar": (tar(("a.txt", b""), type=tarfile.GNUTYPE_SPARSE), "a sparse file"),
    "m.tar": (tar(("a.txt", LINE)), 'member "a.txt": this looks like a file of JSON lines, and its name says text'),
    "a.warc": (warc(b"x", length=-3), "record 1: its Content-Length is missing or is no number"),
    "b.warc": (warc(b"x", length=10**30), "record 1: its Content-Length is missing or is no number"),
    "c.warc": (warc(b"x", length=1 << 60), "record 1: it ends too early"),
    "d.warc": (warc(b"x") + b"nothing", "record 2: it does not begin with WARC/"),
    "e.warc": (warc(HTML, "application/http", "response"), "record 1: this is HTML: extract its text"),
    "f.warc": (warc(b"x") + b"WARC/1.0\r\n" + b"a: b\r\n" * 30_000, "record 2: its header is too long"),
    "g.warc": (warc(CHUNKED, "application/http", "response"), "record 1: the body of the response is chunked"),
    "h.warc": (warc(b"x") + warc(b"\xff"), "record 2: not UTF-8 at byte 0"),
    "a.feather": (b"FEA1\0\0\0", "Feather version 1"),
    "b.arrow": (b"ARROW1\0\0", "not an Arrow file, or truncated"),
}
DOORS: dict[str, Callable[[Path, Path], object]] = {
    "documents": lambda path, _: texts(path),
    "count": lambda path, _: toksmith.count_pretokens(path),
    "tokenize": lambda path, out: toksmith.tokenize(path, Tokenizer(), out),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str, door: str, tmp_path: Path) -> None:
    if name == "b.arrow":
        pytest.importorskip("pyarrow")
    data, message = WRONG[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        DOORS[door](path, tmp_path / "out")
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["h.json", "b.tar", "h.warc", "c.csv"])
def test_what_is_left_out_is_listed(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(WRONG[name][0])
    with pytest.warns(UserWarning, match="1 document was left out"):
        manifest = toksmith.tokenize(tmp_path / name, Tokenizer(), tmp_path / "out", on_error="skip")
    [skipped] = manifest["skipped"]
    places = {"h.json": "record 2", "b.tar": 'member "a.txt"', "h.warc": "record 2", "c.csv": "row 1"}
    assert skipped["place"] == places[name]
    assert texts(tmp_path / name, errors="replace") if name != "h.json" else True


def test_a_chosen_format(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(LINE)
    assert texts(path, input_format="text") == [LINE.decode()]
    assert texts(path, input_format="jsonl") == ["a"]
    path.write_bytes(gzip.compress(b"text;\tid\nx\ty"))
    assert texts(path, input_format="tsv", field="id") == ["y"]
    with pytest.raises(ValueError, match="input_format is one of"):
        Corpus(path, input_format="xml")  # type: ignore[arg-type]
    path.write_bytes(b"PAR1\0\xff")
    with pytest.raises(ValueError, match="this is a Parquet file, not plain text"):
        texts(path, input_format="text", errors="replace")
    for name in ("train", "count", "tokenize", "inspect", "compare"):
        assert b"--input-format" in run_command(name, "--help", cwd=tmp_path).stdout


def test_nested_fields(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows: list[dict[str, Any]] = [
        {"a": {"b": {"c": "one"}, "b.c": "no"}, "id": 1},
        {"a": {"b": {"c": "two"}, "b.c": "no"}, "id": 2},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = pa.table({"id": [1, 2, 3], "a": [{"b": {"c": "one"}}, {"b": {"c": "two"}}, {"b": None}]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    assert texts(tmp_path / "a.jsonl", field="a.b.c") == ["no", "no"], "the longest name counts if it comes last"
    for name in ("a.parquet", "a.arrow"):
        for option in ("field", "column"):
            with pytest.raises(ValueError, match=r"row 2: the column 'a\.b\.c' holds no text"):
                texts(tmp_path / name, **{option: "a.b.c"})
        with pytest.warns(UserWarning, match="1 document was left out"):
            manifest = toksmith.tokenize(
                tmp_path / name, Tokenizer(), tmp_path / f"{name}.out", field="a.b.c", on_error="skip"
            )
        assert manifest["totals"]["documents"] == 2
        for wrong in ("a.x", "a.b.c.d", "x", "id.a"):
            with pytest.raises(ValueError, match=f"there is no column '{wrong}', only"):
                texts(tmp_path / name, field=wrong)
    for line, field, expected in [
        ({"x": {"y": "in"}}, "x.y", "in"),
        ({"x.y": "out"}, "x.y", "out"),
        ({"x": 5, "x.y": "out"}, "x.y", "out"),
        ({"x": {"y.z": {"w": "deep"}}}, "x.y.z.w", "deep"),
        ({"": {"": "empty"}}, ".", "empty"),
    ]:
        (tmp_path / "b.jsonl").write_text(json.dumps(line))
        assert texts(tmp_path / "b.jsonl", field=field) == [expected]
    for line, field in [({"x": 5}, "x.y"), ({"x": {"z": "a"}}, "x.y"), ({"xx": {"y": "a"}}, "x.y")]:
        (tmp_path / "b.jsonl").write_text(json.dumps(line))
        with pytest.raises(ValueError, match=r'there is no field "x\.y", only'):
            texts(tmp_path / "b.jsonl", field=field)


def test_a_folder_of_datasets(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["one", "two"]})
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        with pa.ipc.new_stream(tmp_path / split / "data-00000-of-00001.arrow", table.schema) as writer:
            writer.write_table(table)
        (tmp_path / split / "state.json").write_text('{\n  "_split": "train"\n}')
        (tmp_path / split / "dataset_info.json").write_text("{}")
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert texts(tmp_path) == ["one", "two"] * 2


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_damaged_arrow_files_end_no_process(kind: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "a.arrow"
    table = pa.table({"text": [f"text {number}" for number in range(20)]})
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(path, table.schema) as writer:
        writer.write_table(table)
    code = """if True:
        import sys
        from pathlib import Path
        import toksmith
        path = Path(sys.argv[1])
        data = path.read_bytes()
        tokenizer, read = toksmith.Tokenizer(), 0
        for at in range(8, len(data), 3):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
            for call in (
                lambda: toksmith.count_pretokens(path, input_format="arrow"),
                lambda: toksmith.tokenize(path, tokenizer, path.parent / f"out{at}", input_format="arrow"),
            ):
                try:
                    call()
                    read += 1
                except MemoryError:  # pyarrow asks for as much as the file says
                    pass
                except (ValueError, OSError) as error:
                    assert str(path) in str(error), repr(error)
        print(read)
    """
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_pipes(tmp_path: Path) -> None:
    Tokenizer().save(tmp_path / "t.json")

    def run(data: bytes, *options: str, status: int = 0) -> str:
        out = f"out{len(list(tmp_path.iterdir()))}"
        done = run_command("tokenize", "-", "-t", "t.json", "-o", out, *options, stdin=data, cwd=tmp_path)
        assert done.returncode == status, done.stderr.decode()
        if status:
            return done.stderr.decode()
        manifest = json.loads((tmp_path / out / "manifest.json").read_text())
        return str(manifest["totals"]["tokens"])

    assert "standard input: this looks like a file of JSON lines: give --input-format jsonl" in run(LINE, status=1)
    assert run(LINE, "--input-format", "text") == str(len(LINE))
    assert run(LINE, "--input-format", "jsonl") == run(LINE, "--field", "text") == "1"
    assert run(tar(("a.txt", b"xy"), ("b.jsonl", LINE)), "--input-format", "tar") == "3"
    assert run(b"text\nabc\n", "--input-format", "csv") == "3"
    for data in (gzip.compress(LINE), bz2.compress(LINE), lzma.compress(LINE), b"PAR1\0\xff", tar(("a", b"x"))):
        assert "standard input: this is " in run(data, "--errors", "replace", status=1)


def test_what_is_compressed_is_seen_in_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(gzip.compress(os.urandom(99_999))[:200])
    for errors in ("strict", "replace"):
        with pytest.raises(ValueError, match="not a complete gzip file: it ends too early"):
            toksmith.count_pretokens(tmp_path / "a.txt", errors=errors)  # type: ignore[arg-type]
    assert file_format(tmp_path / "a.txt") == ("gzip", "text")


def test_separators_and_labels_in_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    members = ("a.txt", b"|low||low|er"), ("b.jsonl", b'{"text": "a|b", "lang": "en"}\n'), ("c.txt", b"x|y\xff")
    path.write_bytes(tar(*members))
    expected = ["low", "low", "er", "a|b", "x", "y\ufffd"]
    assert texts(path, document_separator="|", errors="replace") == expected
    options: dict[str, Any] = {"document_separator": "|", "errors": "replace"}
    toksmith.tokenize(path, Tokenizer(), tmp_path / "out", **options)
    documents = toksmith.data.open(tmp_path / "out").documents
    assert [documents.text(number) for number in range(len(documents))] == expected
    with pytest.raises(ValueError, match=r'member "c.txt": not UTF-8 at byte 3'):
        toksmith.tokenize(path, Tokenizer(), tmp_path / "strict", document_separator="|")
    with pytest.warns(UserWarning, match="1 document was left out"):
        manifest = toksmith.tokenize(path, Tokenizer(), tmp_path / "skipped", document_separator="|", on_error="skip")
    assert manifest["totals"]["documents"] == 5
    assert manifest["skipped"][0]["place"] == 'member "c.txt"'
    with pytest.raises(ValueError, match=r'member "a.txt": this is a text, and has no field "lang"$'):
        list(Corpus(path).documents(label="lang"))
    path.write_bytes(tar(members[1]))
    assert [document.label for document in Corpus(path).documents(label="lang")] == ["en"]
