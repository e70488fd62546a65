"""`toksmith train` on a terminal: the live screen, the summary behind it, and what an interruption leaves."""

import contextlib
import io
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from command import TOKSMITH, run_command
from rich.console import Console

import toksmith
from toksmith.cli import train_screen

TEXT = "the lowest of the low, \x1b[31mthe newest of the new; wider, widest, somewhere between\n" * 400

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")


class Terminal:
    """A process with a terminal as all its streams, and what it has written."""

    def __init__(self, *arguments: object, cwd: Path) -> None:
        import pty

        self.main, other = pty.openpty()
        variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
        self.child = subprocess.Popen(
            [*TOKSMITH, *map(str, arguments)],
            stdin=other, stdout=other, stderr=other, cwd=cwd,
            env=variables | {"TERM": "xterm-256color", "COLUMNS": "90"},
        )  # fmt: skip
        os.close(other)
        self.written = b""

    def read_to(self, what: bytes) -> None:
        while what not in self.written:
            self.written += os.read(self.main, 65536)

    def end(self) -> int:
        with contextlib.suppress(OSError):  # how Linux says that the other side is closed
            while data := os.read(self.main, 65536):
                self.written += data
        os.close(self.main)
        return self.child.wait(60)


def left_on_screen(written: bytes) -> list[str]:
    """Return the lines that a terminal shows in the end, by the few sequences that a live screen uses."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", written.decode()):
        if part == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r":
            column = 0
        elif part.endswith("A") and part.startswith("\x1b"):
            row -= int(part[2:-1] or 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif not part.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    return [line.rstrip() for line in lines if line.strip()]


@posix_only
def test_a_screen_and_a_summary(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    terminal = Terminal("train", "in.txt", "--vocab-size", 280, "-o", "out.json", cwd=tmp_path)
    assert terminal.end() == 0
    assert b"counting pretokens" in terminal.written
    assert terminal.written.count(b"\x1b[?25l") == terminal.written.count(b"\x1b[?25h") == 1  # the cursor is back
    size, text, first, longest = left_on_screen(terminal.written)
    tokenizer = toksmith.Tokenizer.load(tmp_path / "out.json")
    assert size == "out.json: 280 tokens, 24 of them merged"
    tokens = tokenizer.count(TEXT)
    counts = f"text: {len(TEXT):,} bytes, {tokens:,} tokens, {len(TEXT) / tokens:.3f} bytes per token"
    assert re.fullmatch(re.escape(counts) + r"; counted in \d+\.\d s, learned in \d+\.\d s", text)
    merged = [left + right for left, right in tokenizer.merges]
    assert first.split() == ["first", "tokens:", *(token.decode().replace(" ", "␣") for token in merged[:12])]
    assert longest.startswith(f"longest tokens: {max(merged, key=len).decode().replace(' ', '␣')} (")


def test_a_pipe_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    done = run_command("train", "in.txt", "--vocab-size", 280, "-o", "out.json", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"out.json: 280 tokens, 24 of them merged\n")
    asked = run_command("train", "in.txt", "--vocab-size", 280, "-o", "out.json", "--progress", "bar", cwd=tmp_path)
    assert b"out.json: 280 tokens, 24 of them merged\ntext: " in asked.stderr
    assert b"\x1b" not in asked.stderr


@posix_only
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_leaves_a_clean_terminal(sent: signal.Signals, status: int, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT * 500)
    # Through `regex`, letter by letter: many seconds.
    options = ("--vocab-size", 300, "--pattern", r"\w|\W|(?<=a)b", "-o", "out.json")
    terminal = Terminal("train", "in.txt", *options, cwd=tmp_path)
    terminal.read_to(b"counting pretokens")
    time.sleep(0.2)
    terminal.child.send_signal(sent)
    assert terminal.end() == status
    assert terminal.written.count(b"\x1b[?25l") == terminal.written.count(b"\x1b[?25h") == 1
    assert left_on_screen(terminal.written) in ([], ["^C"])
    assert not (tmp_path / "out.json").exists()


def test_the_screen_shows_the_last_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train_screen, "_REFRESH", 0.0)
    screen = train_screen.Screen()
    tokenizer = toksmith.train_from_iterator([TEXT], 280, progress=screen)
    console = Console(file=io.StringIO(), width=90)
    console.print(screen._drawing())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in shown
    assert "learning merges" in shown
    assert "24/24" in shown or "100%" in shown
    assert screen.compression() in shown
    rows = [line.split() for line in shown.splitlines() if re.match(r"\s*\d+ ", line)]
    assert [int(row[0]) for row in rows] == list(range(24, 16, -1))
    counts = tokenizer.merge_counts or []
    for row in rows:
        left, right = (part.decode().replace(" ", "␣") for part in tokenizer.merges[int(row[0]) - 1])
        assert row[1:] == [left + right, left, "+", right, f"{counts[int(row[0]) - 1]:,}"]


def test_a_summary_of_nothing_and_of_long_tokens() -> None:
    screen = train_screen.Screen()
    assert list(train_screen.summary(toksmith.Tokenizer(), None, screen)) == [
        "text: 0 bytes, 0 tokens, 0.000 bytes per token"
    ]
    long = toksmith.train_from_iterator(["=" * 5000], 264, progress=screen)
    _, first, longest = train_screen.summary(long, None, screen)
    assert first.startswith("first tokens:   ==  ====  ========")
    assert longest.startswith("longest tokens: =======================… (256 bytes)  ")
    extended = toksmith.train_from_iterator(["the the"], 266, base=long, progress=train_screen.Screen())
    assert "first tokens:   th  the" in list(train_screen.summary(extended, long, screen))


def test_drawing_takes_little_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a drawing that took long, the next one waits fifty times as long."""
    now = [0.0]
    monkeypatch.setattr(train_screen.time, "monotonic", lambda: now[0])
    screen = train_screen.Screen()
    drawn = []

    def refresh() -> None:
        drawn.append(now[0])
        now[0] += 0.02

    monkeypatch.setattr(screen._live, "refresh", refresh)
    for _ in range(5000):
        screen("merge", 1, 2)
        now[0] += 0.001
    assert 4 <= len(drawn) <= 6
