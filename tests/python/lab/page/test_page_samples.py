"""The samples of the page of tokens: each has Python's ids, and one's own text comes back."""

import json
from pathlib import Path
from typing import Any

import browser
import pytest

from toksmith import Tokenizer
from toksmith.lab import page

NAMES = {
    *("English", "German", "Russian", "Greek", "Arabic", "Hindi", "Chinese", "Japanese"),
    *("Python", "JSON", "Numbers", "Emoji", "Whitespace", "First text"),
}


@pytest.fixture
def opened(chromium: browser.Browser, tmp_path: Path, small: Tokenizer) -> browser.Browser:
    page.write(tmp_path / "page.html", {"small": small}, text="mine")
    chromium.size(1200, 900)
    chromium.open(tmp_path / "page.html")
    chromium.frames()
    return chromium


def pick(chromium: browser.Browser, name: str) -> None:
    chromium.evaluate(
        f"(select => {{ select.value = [...select.options].find((one) => one.text === {json.dumps(name)}).value;"
        "select.dispatchEvent(new Event('change')); })(document.getElementById('sample'))"
    )
    chromium.frames()


def text(chromium: browser.Browser) -> str:
    found: str = chromium.evaluate("document.getElementById('text').value")
    return found


def choice(chromium: browser.Browser) -> Any:
    return chromium.evaluate("document.getElementById('sample').selectedOptions[0].textContent")


def test_every_sample_has_the_ids_of_python(opened: browser.Browser, small: Tokenizer) -> None:
    names = opened.evaluate("[...document.querySelectorAll('#sample optgroup option')].map((one) => one.text)")
    assert set(names) == NAMES and len(names) == len(NAMES)
    texts = set()
    for name in names:
        pick(opened, name)
        texts.add(text(opened))
        shown = opened.evaluate("[...document.querySelectorAll('.token')].map((one) => one.ariaLabel)")
        ids = [int(label.rpartition(" ")[2]) for label in shown]
        assert ids == small.encode(text(opened)), name
    assert len(texts) == len(names)


def test_ones_own_text_comes_back(opened: browser.Browser) -> None:
    pick(opened, "Greek")
    pick(opened, "JSON")
    pick(opened, "Your text")
    assert text(opened) == "mine"


def test_an_edited_sample_is_ones_own_text(opened: browser.Browser) -> None:
    pick(opened, "Greek")
    opened.evaluate("document.getElementById('text').focus()")
    opened.type("x")
    edited = text(opened)
    assert choice(opened) == "Your text"
    pick(opened, "JSON")
    pick(opened, "Your text")
    assert text(opened) == edited
    pick(opened, "JSON")
    opened.evaluate("document.getElementById('clear').click()")
    assert choice(opened) == "Your text" and text(opened) == ""
