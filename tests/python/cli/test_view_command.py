"""`toksmith view`: what is drawn of each token, in a pipe and on a terminal, for one tokenizer and for several."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command import TOKSMITH, run_command

import toksmith

SPECIAL = "<|end|>"
# What could do harm on a terminal, or could not be seen: an escape sequence, a title, bidirectional controls, a bell.
HOSTILE = "a\x1b[31mred\x1b]0;title\x07 \u202egpj.exe\u2066\r\x9b2J\x00\u200b\ufe0f\u3164é\\n│⟦\x7f"
TEXT = f"the lowest of the low,\nthe newest{SPECIAL}日本 🫨\n\n{HOSTILE}"

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")


def run(*arguments: object, cwd: Path | None = None, status: int = 0, stdin: bytes = b"", says: str = "") -> str:
    done = run_command("view", *arguments, cwd=cwd, stdin=stdin)
    assert done.returncode == status, done.stderr.decode()
    assert says in done.stderr.decode()
    assert bool(done.stderr) == bool(says)
    return done.stdout.decode()


def on_terminal(*arguments: object, cwd: Path, **environment: str) -> str:
    """Run the command with a terminal of 80 columns as standard output; return what appears."""
    import pty

    main, other = pty.openpty()
    variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    variables |= {"TERM": "xterm-256color", "COLUMNS": "80"} | environment
    command = [*TOKSMITH, "view", *map(str, arguments)]
    child = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=variables, cwd=cwd)
    os.close(other)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other side is closed
        while data := os.read(main, 65536):
            shown += data
    os.close(main)
    assert child.wait(60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def tokenizer() -> toksmith.Tokenizer:
    return toksmith.train(iter(["the lowest of the low, the newest"]), 268, special_tokens=[SPECIAL])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tokenizer: toksmith.Tokenizer) -> Path:
    folder = tmp_path_factory.mktemp("view")
    tokenizer.save(folder / "t.json")
    tokenizer.save(folder / "t.tiktoken", format="tiktoken")
    toksmith.Tokenizer(special_tokens=[SPECIAL]).save(folder / "bytes.json")
    (folder / "in.txt").write_bytes(TEXT.encode())
    return folder


def unshown(word: str) -> bytes:
    """Return the bytes behind a word of `--lines`: the marks read back, by a way of their own."""
    found = re.findall(r"\\\\|\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}|\\[nrt]|.", word)
    named = {"\\\\": b"\\", "\\n": b"\n", "\\r": b"\r", "\\t": b"\t", "␣": b" ", "◌": b""}

    def one(part: str) -> bytes:
        if part in named:
            return named[part]
        if part.startswith("\\x"):
            return bytes.fromhex(part[2:])
        return chr(int(part[3:-1], 16)).encode() if part.startswith("\\u") else part.encode()

    return b"".join(map(one, found))


# In a pipe


@pytest.mark.parametrize("source", ["text", "file", "stdin"])
def test_lines_are_the_tokens(source: str, folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    text = TEXT.replace("\0", "")  # no argument has a null
    (folder / "plain.txt").write_bytes(text.encode())
    given = {"text": ["--text", text], "file": ["plain.txt"], "stdin": []}[source]
    shown = run(*given, "-t", "t.json", "--lines", "--ids", cwd=folder, stdin=text.encode())
    rows = [line.split("\t") for line in shown.splitlines()]
    assert [int(row[0]) for row in rows] == tokenizer.encode(text)
    assert b"".join(unshown(row[1]) for row in rows) == text.encode()
    assert [row[2:] for row in rows] == [["special"] if int(row[0]) == 0 else [] for row in rows]
    plain = run(*given, "-t", "t.json", "--lines", cwd=folder, stdin=text.encode())
    assert plain.splitlines() == ["\t".join(row[1:]) for row in rows]


def test_no_special(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    shown = run("--text", SPECIAL, "-t", "t.json", "--no-special", "--lines", "--ids", cwd=folder)
    assert [int(line.split("\t")[0]) for line in shown.splitlines()] == tokenizer.encode(SPECIAL, special=False)
    assert "special" not in shown
    assert run("--text", SPECIAL, "-t", "t.json", cwd=folder).startswith(f"⟦{SPECIAL}⟧\n1 token, 7 bytes")


def test_what_is_separated(folder: Path) -> None:
    shown = run("--text", "the low\nthe │ ⟦\n", "-t", "t.json", cwd=folder)
    assert shown == (
        "the│␣lo│w│\\n\nthe│␣│\\xe2│\\x94│\\x82│␣│\\xe2│\\x9f│\\xa6│\\n\n14 tokens, 20 bytes, 1.43 bytes per token\n"
    )
    assert run("--text", "", "-t", "t.json", cwd=folder) == "\n0 tokens, 0 bytes\n"


def test_signs_of_the_frame_are_escaped(folder: Path) -> None:
    toksmith.train(iter(["│⟦⟧" * 9]), 265, pattern=None).save(folder / "frames.json")
    shown = run("--text", "│⟦⟧", "-t", "frames.json", cwd=folder).splitlines()[0]
    assert shown == "\\u{2502}\\u{27e6}\\u{27e7}"


def test_ids_stand_below(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    text = "the lowest of the low " * 9 + "\n\nthe"
    *rows, counts = run("--text", text, "-t", "t.json", "--ids", cwd=folder).splitlines()
    assert counts.startswith(f"{tokenizer.count(text)} tokens, ")
    uppers, lowers = rows[::2], rows[1::2]
    assert [int(id) for row in lowers for id in row.split("│")] == tokenizer.encode(text)
    cells = [cell.rstrip() for row in uppers for cell in row.split("│")]
    assert b"".join(map(unshown, cells)) == text.encode()
    for upper, lower in zip(uppers, lowers, strict=True):
        assert [at for at, sign in enumerate(upper) if sign == "│"] == [
            at for at, sign in enumerate(lower) if sign == "│"
        ]
        assert max(len(upper), len(lower)) <= 80
    assert uppers[-1] == "the"


def test_several_one_below_the_other(folder: Path) -> None:
    for stdin, given in ((b"", ["--text", "the low"]), (b"the low", [])):
        shown = run(*given, "-t", "t.json", "-t", "bytes.json", cwd=folder, stdin=stdin)
        assert shown == (
            "t.json\nthe│␣lo│w\n3 tokens, 7 bytes, 2.33 bytes per token\n\n"
            "bytes.json\nt│h│e│␣│l│o│w\n7 tokens, 7 bytes, 1.00 bytes per token\n"
        )
    lines = run("--text", "the", "-t", "t.json", "-t", "bytes.json", "--lines", cwd=folder)
    assert lines == "t.json\tthe\nbytes.json\tt\nbytes.json\th\nbytes.json\te\n"


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs /dev/stdin")
def test_a_pipe_that_is_a_file_is_read_once(folder: Path) -> None:
    shown = run("/dev/stdin", "-t", "t.json", "-t", "bytes.json", "--limit", 0, cwd=folder, stdin=b"the low")
    assert [line for line in shown.splitlines() if "tokens" in line] == [
        "3 tokens, 7 bytes, 2.33 bytes per token",
        "7 tokens, 7 bytes, 1.00 bytes per token",
    ]


def test_options_go_to_the_files_that_hold_no_pattern(folder: Path) -> None:
    shown = run("--text", "a  b", "-t", "t.tiktoken", "-t", "bytes.json", "--pattern", "[a-z]+", cwd=folder)
    counts = "2 tokens, 4 bytes, 2.00 bytes per token"
    assert f"a│b\n{counts}; 2 bytes are in no token: the pattern does not match them\n" in shown
    assert "\na│␣│␣│b\n4 tokens, 4 bytes, 1.00 bytes per token\n" in shown


def test_limits(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    counts = f"{tokenizer.count(TEXT):,} tokens, {len(TEXT.encode()):,} bytes, "
    shown = run("in.txt", "-t", "t.json", "--limit", 0, cwd=folder)
    assert shown.startswith(counts)
    assert len(shown.splitlines()) == 1
    drawn, more, last = run("in.txt", "-t", "t.json", "--limit", 2, cwd=folder).splitlines()
    assert (drawn, more) == ("the│␣lo", f"… and {tokenizer.count(TEXT) - 2} more tokens")
    assert last.startswith(counts)
    assert len(run("in.txt", "-t", "t.json", "--limit", 3, "--lines", cwd=folder).splitlines()) == 3
    assert run("in.txt", "-t", "t.json", "--limit", 0, "--lines", cwd=folder) == ""
    whole = run("in.txt", "-t", "t.json", cwd=folder)
    assert whole == run("in.txt", "-t", "t.json", "--limit", 10_000, cwd=folder)
    assert whole == run("in.txt", "-t", "t.json", "--all", cwd=folder)


def test_blocks_are_joined(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    """More tokens than are drawn at a time, so that colours, rows and separators go on."""
    text = "the lowest of the low, the newest\n" * 12_000
    (folder / "long.txt").write_text(text)
    for options in ((), ("--ids",)):
        *rows, counts = run("long.txt", "-t", "t.json", *options, cwd=folder).splitlines()
        assert counts.startswith(f"{tokenizer.count(text):,} tokens")
        one = run("--text", text[:34], "-t", "t.json", *options, cwd=folder).splitlines()[:-1]
        assert rows == one * 12_000


# On a terminal


@posix_only
def test_a_terminal_gets_colours_and_no_harm(folder: Path) -> None:
    for options in ((), ("--ids",)):
        shown = on_terminal("in.txt", "-t", "t.json", "-t", "bytes.json", *options, cwd=folder)
        # Without our own colours only printable characters and line ends are left.
        for colour in ("\x1b[30;46m", "\x1b[30;43m", "\x1b[97;45m", "\x1b[1m", "\x1b[0m"):
            assert colour in shown
        bare = re.sub(r"\x1b\[(30;4[36]|97;45|[012])m", "", shown)
        assert all(character.isprintable() or character == "\n" for character in bare)
        assert not set(bare) & set("\u202e\u2066\u200b\ufe0f\u3164")
        assert "\\x1b[31mred" in "".join(bare.split()) or options
        assert all(line.endswith("\x1b[0m") or "\x1b" not in line for line in shown.splitlines())


@posix_only
def test_neighbours_differ_and_spaces_stay(folder: Path, tokenizer: toksmith.Tokenizer) -> None:
    shown = on_terminal("--text", "the low\n the", "-t", "t.json", cwd=folder)
    assert shown == (
        "\x1b[30;46mthe\x1b[0m\x1b[30;43m lo\x1b[0m\x1b[30;46mw\x1b[0m\x1b[30;43m\\n\x1b[0m\n\x1b[30;43m\x1b[0m"
        "\x1b[30;46m the\x1b[0m\n5 tokens, 12 bytes, 2.40 bytes per token\n"
    )


@posix_only
@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours(variables: dict[str, str], folder: Path) -> None:
    shown, piped = (
        on_terminal("in.txt", "-t", "t.json", cwd=folder, **variables),
        run("in.txt", "-t", "t.json", cwd=folder),
    )
    assert shown == piped


@posix_only
def test_a_terminal_gets_the_first(folder: Path) -> None:
    (folder / "many.txt").write_text("x" * 5000)
    shown = on_terminal("many.txt", "-t", "t.json", cwd=folder)
    assert shown.count("x\x1b") == 2000
    assert "… and 3,000 more tokens\n5,000 tokens, 5,000 bytes" in shown
    assert on_terminal("many.txt", "-t", "t.json", "--all", cwd=folder).count("x\x1b") == 5000


@posix_only
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_colours(sent: signal.Signals, status: int, folder: Path) -> None:
    (folder / "huge.txt").write_text("the lowest of the low, the newest\n" * 300_000)
    command = [*TOKSMITH, "view", "huge.txt", "-t", "t.json", "--all"]
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment |= {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment
    ) as child:
        assert child.stdout is not None
        child.stdout.read(1000)  # it has begun, and waits for its reader
        child.send_signal(sent)
        time.sleep(0.1)
        output, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (status, b"")
    assert output.endswith(b"\x1b[0m")
    assert len(output) < 20_000_000


# Errors


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("--text", "x"), 2, "Missing option '-t'"),
        (("--text", "x", "-t", "nowhere.json"), 1, "nowhere.json"),
        ((".", "-t", "t.json"), 1, ".: Is a directory"),
        (("--text", "x", "-t", "t.json", "--limit", "-1"), 2, "--limit is at least 0, not -1"),
        (("--text", "x", "-t", "t.json", "--limit", "3", "--all"), 2, "--limit and --all are mutually exclusive"),
        (("--text", "x", "-t", "t.json", "--pattern", "gpt2"), 2, "t.json has its own pattern"),
        (("--text", "x", "-t", "t.tiktoken", "-t", "t.json"), 2, "t.tiktoken"),
        (("broken.txt", "-t", "t.json"), 1, "broken.txt: not UTF-8 at byte 2: give --errors replace"),
        (("lines.jsonl", "-t", "t.json"), 1, "lines.jsonl"),
        (("--text", b"a\xff", "-t", "t.json"), 1, "--text is not UTF-8 at character 1"),
    ],
)
def test_errors(arguments: tuple[object, ...], status: int, expected: str, folder: Path) -> None:
    (folder / "broken.txt").write_bytes(b"ab\xff")
    (folder / "lines.jsonl").write_text('{"text": "a"}\n')
    given = [os.fsdecode(one) if isinstance(one, bytes) else one for one in arguments]
    assert run(*given, status=status, says=expected, cwd=folder) == ""


def test_replaced_bytes(folder: Path) -> None:
    (folder / "broken.txt").write_bytes(b"ab\xff")
    shown = run("broken.txt", "-t", "t.json", "--errors", "replace", cwd=folder)
    assert shown.startswith("a│b│\\xef│\\xbf│\\xbd\n5 tokens, 5 bytes")


def test_a_text_is_no_file(folder: Path) -> None:
    assert run("--text", "in.txt", "-t", "bytes.json", cwd=folder).startswith("i│n│.│t│x│t\n")
    assert run("--text", "x" * 5000, "-t", "t.json", "--limit", 0, cwd=folder).startswith("5,000 tokens")
    hostile = "\\x1b[2Jx/y: No such file or directory: a text is given by --text"
    assert run("\x1b[2Jx/y", "-t", "bytes.json", status=1, says=hostile, cwd=folder) == ""


# A page


def page_of(path: Path) -> dict[str, Any]:
    """Return the names of the tokenizers of a page, and its text."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found
    data = json.loads(found[1])
    return {"names": [one["name"] for one in data["tokenizers"]], "text": data["texts"][0]["text"]}


@pytest.mark.parametrize(
    ("given", "text"), [(["--text", "the low"], "the low"), (["in.txt"], TEXT), (["-"], "<b>é"), ([], "")], ids=str
)
def test_a_page_begins_with_the_text(given: list[str], text: str, folder: Path) -> None:
    says = "page.html: "
    assert run(*given, "-t", "t.json", "--html", "page.html", cwd=folder, stdin="<b>é".encode(), says=says) == ""
    assert page_of(folder / "page.html") == {"names": ["t.json"], "text": text.replace("\r", "\n")}


def test_a_page_of_several_goes_to_standard_output(folder: Path) -> None:
    shown = run("--text", "low", "-t", "t.json", "-t", "bytes.json", "--html", "-", cwd=folder)
    (folder / "piped.html").write_text(shown, encoding="utf-8")
    assert page_of(folder / "piped.html") == {"names": ["t.json", "bytes.json"], "text": "low"}


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("--html", "nowhere/page.html"), 1, "nowhere: there is no such folder to write into"),
        (("--html", "."), 1, ".: this is a folder: name a file to write"),
        (("--html", "kept.html", "--errors", "strict", "broken.txt"), 1, "broken.txt: not UTF-8 at byte 2"),
        *(
            (("--html", "kept.html", *option), 2, "--html takes no --ids, --lines, --limit, --all or --no-special")
            for option in (["--ids"], ["--lines"], ["--limit", "3"], ["--all"], ["--no-special"])
        ),
    ],
)
def test_pages_that_are_refused(arguments: tuple[str, ...], status: int, expected: str, folder: Path) -> None:
    (folder / "broken.txt").write_bytes(b"ab\xff")
    (folder / "kept.html").write_text("as it was")
    assert run(*arguments, "-t", "t.json", status=status, says=expected, cwd=folder) == ""
    assert (folder / "kept.html").read_text() == "as it was"
