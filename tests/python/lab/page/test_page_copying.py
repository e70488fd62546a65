"""What the page of tokens puts into the clipboard, and the notes at its buttons."""

from collections.abc import Iterator
from pathlib import Path

import browser
import pytest

from toksmith import Tokenizer
from toksmith.lab import page

TEXT = "lower <|end|>\tthey're\n\nžluť 日本\\ \u200b<b>\n"
V, CONTROL = 86, 2
LOCAL = "It leads to this file, so it opens on this device only."


@pytest.fixture
def tokenizers(small: Tokenizer) -> dict[str, Tokenizer]:
    special = Tokenizer(dict(small.vocab), list(small.merges), ["<|end|>"])
    return {"special": special, "bytes": Tokenizer()}


@pytest.fixture
def opened(chromium: browser.Browser, tmp_path: Path, tokenizers: dict[str, Tokenizer]) -> Iterator[browser.Browser]:
    page.write(tmp_path / "page.html", tokenizers, text=TEXT)
    chromium.size(1200, 900)
    chromium.open(tmp_path / "page.html")
    chromium.frames()
    yield chromium
    chromium.call("Browser.resetPermissions")


def click(chromium: browser.Browser, selector: str) -> None:
    """Click with the mouse: a browser lets a page copy for a click alone."""
    box = chromium.evaluate(f"document.querySelector({selector!r}).getBoundingClientRect().toJSON()")
    point = {"x": box["left"] + box["width"] / 2, "y": box["top"] + box["height"] / 2}
    chromium.evaluate("document.getElementById('message').textContent = ''")
    for kind in ("mousePressed", "mouseReleased"):
        chromium.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **point)
    chromium.wait_for("document.getElementById('message').textContent !== ''")


def note(chromium: browser.Browser) -> str:
    found: str = chromium.evaluate("document.getElementById('message').textContent")
    return found


def command(chromium: browser.Browser, name: str, key: str, code: int) -> None:
    chromium.call(
        "Input.dispatchKeyEvent",
        type="rawKeyDown",
        key=key,
        windowsVirtualKeyCode=code,
        modifiers=CONTROL,
        commands=[name],
    )
    chromium.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)


def pasted(chromium: browser.Browser) -> str:
    """Return the text in the clipboard, as it is pasted into a text box."""
    chromium.evaluate(
        "(() => { const box = document.createElement('textarea'); box.id = 'pasted';"
        "document.body.append(box); box.focus(); })()"
    )
    command(chromium, "paste", "v", V)
    found: str = chromium.evaluate("pasted.value")
    chromium.evaluate("pasted.remove()")
    return found


def joined(ids: list[int]) -> str:
    return ", ".join(map(str, ids))


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_ids_are_copied_with_commas(
    has_clipboard: bool, opened: browser.Browser, tokenizers: dict[str, Tokenizer]
) -> None:
    if not has_clipboard:  # as a page has that comes from a server without TLS
        opened.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    for number, tokenizer in enumerate(tokenizers.values()):
        click(opened, f"#panels > :nth-child({number + 1}) .copy")
        ids = tokenizer.encode(TEXT)
        assert note(opened) == f"{len(ids)} ids copied."
        assert pasted(opened) == joined(ids)
        assert opened.evaluate("document.getElementById('text').value") == TEXT


def test_no_ids_are_not_copied(opened: browser.Browser) -> None:
    opened.evaluate("document.getElementById('clear').click()")
    assert opened.evaluate("document.querySelector('.copy').disabled") is True


def test_link_of_a_local_file_says_where_it_opens(opened: browser.Browser) -> None:
    click(opened, "#link")
    assert note(opened) == f"Link copied. {LOCAL}"
    assert pasted(opened) == opened.evaluate("location.href")


def test_a_browser_that_blocks_copying(opened: browser.Browser) -> None:
    opened.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    opened.evaluate("document.execCommand = () => false")
    click(opened, "#link")
    assert note(opened) == f"The link is in the address bar. {LOCAL}"
    click(opened, ".copy")
    assert note(opened).startswith("The browser blocks copying")


@pytest.mark.parametrize("width", [1200, 390])
def test_a_note_stands_at_its_button_for_some_seconds(opened: browser.Browser, width: int) -> None:
    opened.size(width, 900, mobile=width < 600)
    box = "document.querySelector('{}').getBoundingClientRect().toJSON()"
    # Time passes at once.
    opened.evaluate(
        "globalThis.timers = []; globalThis.setTimeout = (run, delay) => timers.push([run, delay]);"
        "globalThis.clearTimeout = () => (timers.length = 0)"
    )
    for selector in ("#link", ".copy"):
        opened.evaluate(f"document.querySelector('{selector}').scrollIntoView({{ block: 'center' }})")
        click(opened, selector)
        button, shown = opened.evaluate(box.format(selector)), opened.evaluate(box.format("#message"))
        assert 0 <= shown["top"] - button["bottom"] < 12
        assert shown["left"] < button["right"] and shown["right"] > button["left"]
        assert shown["left"] >= 0 and shown["right"] <= width
        [[delay]] = [opened.evaluate("timers.map(([run, delay]) => { run(); return delay; })")]
        assert 3000 <= delay <= 10_000
        assert note(opened) == ""
        assert opened.evaluate(box.format("#message"))["height"] == 0
