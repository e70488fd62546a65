"""Rows of tokens with their ids, held against a definition that goes token by token."""

import random

import pytest
from rich.cells import cell_len

import toksmith
from toksmith.lab import terminal
from toksmith.lab.spans import Spans, shown
from toksmith.lab.terminal import END, FAINT, colour, framed

CHARACTERS = ["a", "b", " ", "\n", "é", "日", "\u0301", "\u202e", "│", "⟦", "\\", "\t", "\x1b", "w\n", "x" * 30]
Row = list[tuple[int, int]]


@pytest.fixture(scope="module")
def tokenizer() -> toksmith.Tokenizer:
    choose = random.Random(1)
    texts = ["".join(choose.choices(CHARACTERS, k=200)) for _ in range(100)]
    return toksmith.train(iter(texts), 500, special_tokens=["<|end|>", "<|a\n|>"], pattern=None)


def expected(spans: Spans, ids: list[int], colours: bool, width: int) -> str:
    """Draw the tokens one by one: a row is full when the next token has no room in it."""

    def text(id: int) -> str:
        return shown(spans[id].token, " ") if colours else framed(spans[id])

    def columns(id: int) -> int:
        return max(cell_len(text(id)), len(str(id)))

    found: list[Row] = [[]]
    for place, id in enumerate(ids):
        taken = sum(columns(other) + 1 for _, other in found[-1])
        if found[-1] and taken + columns(id) > width:
            found.append([])
        found[-1].append((place, id))
        if spans[id].token.endswith(b"\n"):
            found.append([])
    return "".join(drawn_row(row, spans, text, columns, colours) for row in found if row)


def drawn_row(row: Row, spans: Spans, text, columns, colours: bool) -> str:  # type: ignore[no-untyped-def]
    uppers = [text(id) + " " * (columns(id) - cell_len(text(id))) for _, id in row]
    lowers = [str(id).ljust(columns(id)) for _, id in row]
    if colours:
        uppers = [f"{colour(spans[id], place % 2)}{one}{END}" for one, (place, id) in zip(uppers, row, strict=True)]
        lowers = [f"{FAINT}{one}{END}" for one in lowers]
    between = " " if colours else "│"
    return f"{between.join(uppers).rstrip()}\n{between.join(lowers).rstrip()}\n"


@pytest.mark.parametrize("colours", [False, True])
def test_rows_are_those_of_the_definition(colours: bool, tokenizer: toksmith.Tokenizer) -> None:
    choose = random.Random(2)
    spans = Spans(tokenizer)
    for _ in range(300):
        ids = choose.choices(range(tokenizer.vocab_size), k=choose.choice([0, 1, 2, 5, 50, 200]))
        if choose.random() < 0.5:
            ids = [id for id in ids if not spans[id].token.endswith(b"\n")]
        width = choose.choice([1, 2, 5, 20, 80, 1000])
        assert "".join(terminal.rows(spans, ids, colours, width)) == expected(spans, ids, colours, width)


def test_ids_without_a_token_and_very_large_ones() -> None:
    top = 2**32 - 2
    tokenizer = toksmith.Tokenizer({**{byte: bytes([byte]) for byte in range(256)}, top: b"ab"}, [(b"a", b"b")], {})
    assert "".join(terminal.rows(Spans(tokenizer), [top, 97], False, 80)) == f"ab        │a\n{top}│97\n"
    for bad in (256, -1, 2**32 + 5):
        with pytest.raises((KeyError, OverflowError)):
            list(terminal.rows(Spans(tokenizer), [97, bad], False, 80))


@pytest.mark.parametrize("legacy", [False, True])
def test_an_old_console_of_windows_gets_no_escapes(legacy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.detect_legacy_windows", lambda: legacy)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.has_colours() is not legacy
