"""Formats that are found, chosen or refused; nested fields; errors that name file, member and place."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
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
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n"
PAGE = b"\n<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n"


def response(body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in ("HTTP/1.1 200 OK", "Content-Type: text/plain", *headers))
    return warc(lines.encode() + b"\r\n" + body, "application/http; msgtype=response", "response")


def chunked(body: bytes, size: int = 3) -> bytes:
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;a=b\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


CHUNKED = response(b"1\r\na\r\n0\r\n", "Transfer-Encoding: chunked")
PRETTY = json.dumps({"id": ["}", {"a": 1}], "text": 'x "}{'}, indent=2).encode()
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
    "pretty.json": (b"\xef\xbb\xbf" + PRETTY + b"\n" + PRETTY + PRETTY + b"\n\n", ['x "}{'] * 3),
    "pretty.jsonl": (PRETTY, ['x "}{']),
    "zeros.txt.gz": (gzip.compress(b"a") + gzip.compress(b"b") + bytes(200_000), ["ab"]),
    "chunked.warc": (CHUNKED, ["a"]),
    "gzip.warc": (response(gzip.compress(b"a"), "content-encoding:\r\n\tGZIP"), ["a"]),
    "both.warc": (
        response(chunked(zlib.compress(b"a" * 99)), "Content-Encoding: deflate", "TRANSFER-ENCODING: chunked"),
        ["a" * 99],
    ),
    "dns.warc": (warc(b"20260101\nexample.com. 1 IN A ::1", "text/dns", "response") + CHUNKED, ["a"]),
    "none.warc": (response(b"", "Content-Encoding: gzip"), [""]),
    "lfs.html": (PAGE, [PAGE.decode()]),
    "twice.jsonl": (b'{"a": 1, "text": "x", "a": 2}\n', ["x"]),
    "twice.csv": (b"a,text,a\n1,x,2\n", ["x"]),
    "late.txt": (b"\n\nx" + LINE, ["\n\nx" + LINE.decode()]),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, tmp_path: Path) -> None:
    data, expected = FOUND[name]
    (tmp_path / name).write_bytes(data)
    assert texts(tmp_path / name) == expected


WRONG: dict[str, tuple[bytes, str]] = {
    "a.txt": (LINE, r"looks like a file of JSON lines: give input_format=\"jsonl\", or \"text\""),
    "b.txt": (b"[" + LINE + b"]", 'looks like a JSON document: give input_format="json"'),
    "state.json": (b'{\n  "a": 1\n}', 'record 1: there is no field "text", only'),
    "c.jsonl": (b'{"text": "a\n{"text": "b"}', r"line 1 \(byte 0\): .*EOF|line 1 \(byte 0\): control character"),
    "d.json": (b"nothing", "byte 0: this is neither a JSON array nor objects"),
    "o.json": (PRETTY + b"\n,", "record 2: this is no object, and objects come before it"),
    "p.json": (PRETTY + PRETTY[:-1], "record 2: the file ends inside of the object"),
    "twice.jsonl": (b'{"text": "b", "text": "a"}\n', 'the field "text" is there twice'),
    "twice.json": (b'[{"text": "a", "text": "b"}]', 'record 1: the field "text" is there twice'),
    "twice.tsv": (b"text\ttext\na\tb\n", 'row 1: the field "text" is there twice'),
    "lfs": (LFS, "this is a Git LFS pointer"),
    "lfs.parquet": (LFS, "this is a Git LFS pointer"),
    "lfs.txt.gz": (LFS, "this is a Git LFS pointer"),
    "page.jsonl": (PAGE, "this is an HTML page"),
    "page.arrow": (PAGE, "this is an HTML page"),
    "page.csv.zst": (PAGE, "this is an HTML page"),
    "page.txt": (PAGE, 'this is an HTML page.*input_format="text"'),
    "zeros.gz": (gzip.compress(b"a") + bytes(9) + gzip.compress(b"a"), "there is data behind the zeros"),
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
    "g.warc": (response(b"a", "Content-Encoding: br"), 'record 1: its body has the coding "br", which is not read'),
    "i.warc": (response(b"a", "Content-Encoding: gzip"), "record 1: "),
    "j.warc": (response(b"a", "Content-Encoding: chunked"), 'record 1: its body has the coding "chunked"'),
    "k.warc": (response(b"a", "Content-Encoding: " + "gzip," * 9), "record 1: its body has more than 4 codings"),
    "l.warc": (response(b"-1\r\n", "Transfer-Encoding: chunked"), "record 1: the size of a chunk of its body is no"),
    "m.warc": (response(b"1\r\nab\r\n0\r\n", "Transfer-Encoding: chunked"), "record 1: a chunk .* is longer"),
    "n.warc": (response(b"9\r\nab", "Transfer-Encoding: chunked"), "record 1: it ends too early"),
    "p.warc": (response(gzip.compress(b"a")[:-1], "Content-Encoding: gzip"), "record 1: it ends too early"),
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
        {"a": {"b": {"d": "no"}, "b.c": "one"}, "id": 1},
        {"a": {"b": {"c": "two"}, "c": "no"}, "id": 2},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table = pa.table({"id": [1, 2, 3], "a": [{"b": {"c": "one"}}, {"b": {"c": "two"}}, {"b": None}]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    assert texts(tmp_path / "a.jsonl", field="a.b.c") == ["one", "two"]
    for name in ("a.parquet", "a.arrow"):
        for option in ("field", "column"):
            with pytest.raises(ValueError, match=r"row 2: the column 'a\.b\.c' holds no text"):
                texts(tmp_path / name, **{option: "a.b.c"})
        with pytest.warns(UserWarning, match="1 document was left out"):
            manifest = toksmith.tokenize(
                toksmith.Corpus(tmp_path / name, field="a.b.c"),
                Tokenizer(),
                tmp_path / f"{name}.out",
                on_error="skip",
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


def test_several_fields_are_joined(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"title": "low", "a": {"b": "er"}}, {"title": "new \u00e9", "a": {"b": ""}}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "a.csv").write_text("title,a.b\nlow,er\nnew é,\n", "utf-8")
    table = pa.table(
        {"title": pa.array(["low", "new é", "x"]).dictionary_encode(), "a": [*(r["a"] for r in rows), None]}
    )
    parquet.write_table(table.slice(0, 2), tmp_path / "a.parquet")
    Tokenizer().save(tmp_path / "t.json")
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        assert texts(tmp_path / name, field=["title", "a.b"]) == ["low\n\ner", "new é\n\n"]
        assert texts(tmp_path / name, field=["a.b", "title"], field_separator="|") == ["er|low", "|new é"]
        shown = run_command(
            "count", name, "-t", "t.json", "--field", "title", "--field", "a.b", "--json", cwd=tmp_path
        )
        assert shown.returncode == 0, shown.stderr
    with pytest.raises(ValueError, match=r'line 1 .*: there is no field "c"'):
        texts(tmp_path / "a.jsonl", field=["title", "c"])
    parquet.write_table(table, tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"row 2: the column 'title, a\.b' holds no text"):
        texts(tmp_path / "b.parquet", field=("title", "a.b"))
    for wrong in ([], 5, ["a", 5]):
        with pytest.raises(TypeError, match="field is a name, or a list of names"):
            Corpus(tmp_path / "a.jsonl", field=wrong)  # type: ignore[arg-type]
    manifest = toksmith.tokenize(Corpus(tmp_path / "a.jsonl", field=["title", "a.b"]), Tokenizer(), tmp_path / "out")
    assert manifest["run"]["options"]["field"] == ["title", "a.b"]
    with pytest.raises(ValueError, match=r"had field_separator"):
        corpus = Corpus(tmp_path / "a.jsonl", field=["title", "a.b"], field_separator=" ")
        toksmith.tokenize(corpus, Tokenizer(), tmp_path / "out")


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
        arrow = lambda: toksmith.Corpus(path, input_format="arrow")
        for at in range(8, len(data), 3):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
            for call in (
                lambda: toksmith.count_pretokens(arrow()),
                lambda: toksmith.tokenize(arrow(), tokenizer, path.parent / f"out{at}"),
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
            toksmith.count_pretokens(toksmith.Corpus(tmp_path / "a.txt", errors=errors))  # type: ignore[arg-type]
    assert file_format(tmp_path / "a.txt") == ("gzip", "text")


def test_separators_and_labels_in_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    members = ("a.txt", b"|low||low|er"), ("b.jsonl", b'{"text": "a|b", "lang": "en"}\n'), ("c.txt", b"x|y\xff")
    path.write_bytes(tar(*members))
    expected = ["low", "low", "er", "a|b", "x", "y\ufffd"]
    assert texts(path, document_separator="|", errors="replace") == expected
    toksmith.tokenize(Corpus(path, document_separator="|", errors="replace"), Tokenizer(), tmp_path / "out")
    documents = toksmith.data.open(tmp_path / "out").documents
    assert [documents.text(number) for number in range(len(documents))] == expected
    with pytest.raises(ValueError, match=r'member "c.txt": not UTF-8 at byte 3'):
        toksmith.tokenize(toksmith.Corpus(path, document_separator="|"), Tokenizer(), tmp_path / "strict")
    with pytest.warns(UserWarning, match="1 document was left out"):
        manifest = toksmith.tokenize(
            toksmith.Corpus(path, document_separator="|"), Tokenizer(), tmp_path / "skipped", on_error="skip"
        )
    assert manifest["totals"]["documents"] == 5
    assert manifest["skipped"][0]["place"] == 'member "c.txt"'
    with pytest.raises(ValueError, match=r'member "a.txt": this is a text, and has no field "lang"$'):
        list(Corpus(path).documents(label="lang"))
    path.write_bytes(tar(members[1]))
    assert [document.label for document in Corpus(path).documents(label="lang")] == ["en"]


def bodies(data: bytes) -> Iterator[bytes]:
    """Yield the texts of a WARC file, read as RFC 9110 and 9112 say; the whole file is in memory."""
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        block, data = data[:length], data[length + 4 :]
        names, _, body = block.partition(b"\r\n\r\n")
        fields = [line.split(b": ", 1) for line in names.split(b"\r\n")[1:]]
        lists = {
            wanted: [value for name, value in fields if name.lower() == wanted]
            for wanted in (b"content-encoding", b"transfer-encoding")
        }
        codings = [
            each.strip().lower() for values in lists.values() for value in values for each in value.split(b",")
        ]
        for coding in reversed(codings):
            if coding == b"chunked":
                joined = b""
                while size := int((body := body.partition(b"\r\n"))[0].split(b";")[0], 16):
                    joined, body = joined + body[2][:size], body[2][size + 2 :]
                body = joined
            elif coding == b"deflate":
                body = zlib.decompress(body) if body[0] & 15 == 8 else zlib.decompress(body, -15)
            elif coding != b"identity":
                body = gzip.decompress(body)
        yield body


def test_bodies_are_read_as_http_says(tmp_path: Path) -> None:
    def bare(data: bytes) -> bytes:
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(data) + packer.flush()

    rng = random.Random(4)
    codings: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress, "X-Gzip": gzip.compress, "deflate": zlib.compress, "Deflate": bare, "identity": bytes,
    }  # fmt: skip
    for _ in range(300):
        archive, expected = b"", []
        for _ in range(rng.randint(1, 4)):
            text = rng.randbytes(rng.randint(1, 300)).hex().encode()
            expected.append(text.decode())
            of_content, of_transfer = rng.choices(list(codings), k=rng.randint(0, 2)), rng.choices(list(codings), k=1)
            for name in of_content + of_transfer:
                text = codings[name](text)
            if rng.random() < 0.5:
                of_transfer.append("CHUNKED")
                text = chunked(text, rng.randint(1, 50))
            separate = [f"Content-Encoding: {name}" for name in of_content]
            joined = [f"content-encoding: {', '.join(of_content)}"] if of_content else []
            headers = [*rng.choice([separate, joined]), f"Transfer-Encoding: {','.join(of_transfer)}"]
            archive += response(text, *headers)
        (tmp_path / "a.warc").write_bytes(archive)
        assert [body.decode() for body in bodies(archive)] == expected
        assert texts(tmp_path / "a.warc") == expected


def test_zeros_behind_gzip(tmp_path: Path) -> None:
    rng = random.Random(5)
    for _ in range(100):
        data = b"".join(
            gzip.compress(rng.randbytes(rng.randint(0, 9)).hex().encode()) for _ in range(rng.randint(1, 3))
        )
        data += bytes(rng.choice([0, 1, 511, 1 << 17, (1 << 17) - len(data)]))
        (tmp_path / "a.txt.gz").write_bytes(data)
        assert "".join(texts(tmp_path / "a.txt.gz")) == gzip.decompress(data).decode()


def test_objects_over_several_lines(tmp_path: Path) -> None:
    rng = random.Random(6)
    for _ in range(200):
        words = ["".join(rng.choices('a"\\{}[]\n,: é', k=rng.randint(0, 5))) for _ in range(rng.randint(1, 5))]
        objects = [{"x": [word, {word: {}}], "text": word} for word in words]
        dumped = [json.dumps(each, indent=rng.choice([1, 4]), ensure_ascii=False) for each in objects]
        (tmp_path / "a.json").write_text(rng.choice(["", "\n", " \r\n\n"]).join(dumped), encoding="utf-8")
        assert texts(tmp_path / "a.json") == words


LONG = b'{"text": "' + b"a" * 3000 + b'"}\n'
OVER: dict[str, tuple[bytes, str]] = {
    "a.jsonl": (LINE * 3 + LONG + LINE, r"line 4 \(byte 42\)"),
    "a.jsonl.gz": (gzip.compress(LINE + LONG[:-1]), "line 2"),
    "bom.jsonl": (b"\xef\xbb\xbf" + LONG, "line 1"),
    "spaces.jsonl": (LINE + b" " * 3000 + LINE, "line 2"),
    "a.json": (b"[" + LINE + b"," + LONG + b"]", "record 2"),
    "pretty.json": (b'{"text":\n"a"}' + LONG, "record 2"),
    "a.csv": (b"text\na\n" + b"a" * 3000, "row 2"),
    "names.csv": (b"a" * 3000, "row 0"),
    "a.tar": (tar(("a.txt", b"a" * 3000)), 'member "a.txt"'),
    "a.warc": (response(gzip.compress(b"a" * 3000), "Content-Encoding: gzip"), "record 1"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", OVER)
def test_records_have_a_limit(name: str, door: str, tmp_path: Path) -> None:
    data, place = OVER[name]
    (tmp_path / name).write_bytes(data)
    calls: dict[str, Callable[..., object]] = {
        "documents": lambda **options: texts(tmp_path / name, **options),
        "count": lambda **options: toksmith.count_pretokens(Corpus(tmp_path / name, **options)),
        "tokenize": lambda **options: toksmith.tokenize(
            Corpus(tmp_path / name, **options), Tokenizer(), tmp_path / "out"
        ),
    }
    with pytest.raises(ValueError, match=f"{place}.*longer than max_record_bytes=2000"):
        calls[door](max_record_bytes=2000)
    if name not in ("spaces.jsonl", "names.csv"):
        calls[door](max_record_bytes="3.1kB")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
def test_the_limit_bounds_memory(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "' + b"a" * (1 << 28)))
    code = """if True:
        import sys, toksmith
        def tokenize(corpus):
            toksmith.tokenize(corpus, toksmith.Tokenizer(), "out")
        for call in (toksmith.count_pretokens, tokenize):
            try:
                call(toksmith.Corpus(sys.argv[1], max_record_bytes="1MB"))
            except ValueError as error:
                assert "max_record_bytes=1000000" in str(error)
        [peak] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
        print(peak.split()[1])
    """
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.jsonl.gz"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert int(done.stdout) < 200_000
    Tokenizer().save(tmp_path / "t.json")
    told = run_command("count", "a.jsonl.gz", "-t", "t.json", "--max-record-bytes", "1MB", cwd=tmp_path)
    assert b"--max-record-bytes 1000000" in told.stderr


def test_tables(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    packed = pa.array(["x", "y", "x"]).dictionary_encode()
    table = pa.table(
        {"a": pa.StructArray.from_arrays([packed, pa.array([1, 2, 3])], ["b", "c"]), "text": ["a" * 99] * 3}
    )
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    assert texts(tmp_path / "a.parquet", field="a.b") == ["x", "y", "x"]
    with pytest.raises(ValueError, match="a text of the column 'text' is longer than max_record_bytes=98"):
        texts(tmp_path / "a.parquet", max_record_bytes=98)
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array(["c"])], ["text", "x", "x"])
    nested = pa.table({"a.b": ["x"], "a": pa.array([{"b": "y", "c": "z"}])})
    for name, columns in (("twice", twice), ("nested", nested)):
        parquet.write_table(columns, tmp_path / f"{name}.parquet")
        with pa.ipc.new_stream(tmp_path / f"{name}.arrow", columns.schema) as writer:
            writer.write_table(columns)
    for suffix in ("parquet", "arrow"):
        assert texts(tmp_path / f"twice.{suffix}") == ["a"]
        assert texts(tmp_path / f"nested.{suffix}", field="a.c") == ["z"]
        for name, field in (("twice", "x"), ("nested", "a.b")):
            with pytest.raises(ValueError, match=f"the column '{field}' is there twice"):
                texts(tmp_path / f"{name}.{suffix}", field=field)


def test_long_numbers_are_cut_in_messages(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": 1e300}')
    with pytest.raises(ValueError, match=r"floating point `1e\+300`, expected a string"):
        texts(tmp_path / "a.jsonl")
    Tokenizer().save_huggingface(tmp_path / "t")
    path = tmp_path / "t" / "tokenizer.json"
    content = json.loads(path.read_text())
    content["model"]["vocab"]["!"] = "ID"
    for number, message in (("1e300", r"`1e\+300`"), ("9" * 300, r"`1e\+300`"), ("-1e300", r"`-1e\+300`")):
        path.write_text(json.dumps(content).replace('"ID"', number))
        with pytest.raises(ValueError, match=message):
            Tokenizer.from_pretrained(path)
    with pytest.raises(KeyError, match=r"id 10{39}… \(301 digits\) \(at index 0\)"):
        Tokenizer().decode([10**300])
