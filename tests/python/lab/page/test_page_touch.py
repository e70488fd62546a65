"""The page of tokens on a phone: one tap shows the details, and nothing covers the token."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest

from toksmith import Tokenizer
from toksmith.lab import page

TEXT = "".join(f"line {i}: they lower the lowest 日本 tower\n" for i in range(30))
RIGHT = 39


@pytest.fixture
def phone(chromium: browser.Browser, tmp_path: Path, small: Tokenizer) -> Iterator[browser.Browser]:
    page.write(tmp_path / "page.html", {"small": small}, text=TEXT)
    chromium.size(390, 844, 2, mobile=True)
    chromium.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
    chromium.open(tmp_path / "page.html")
    chromium.frames()
    yield chromium
    chromium.call("Emulation.setTouchEmulationEnabled", enabled=False)
    chromium.size(1280, 844)


def box(phone: browser.Browser, number: int) -> dict[str, float]:
    found: dict[str, float] = phone.evaluate(
        f"document.querySelectorAll('.token')[{number}].getClientRects()[0].toJSON()"
    )
    return found


def tap(phone: browser.Browser, number: int) -> None:
    place = box(phone, number)
    point = {"x": place["left"] + place["width"] / 2, "y": place["top"] + place["height"] / 2}
    phone.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
    phone.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    phone.wait_for("document.activeElement.classList.contains('token')")
    phone.frames()
    phone.frames()


def top_of_details(phone: browser.Browser) -> Any:
    return phone.evaluate("document.getElementById('details').getBoundingClientRect().top")


def test_a_tap_shows_the_token_and_covers_none(phone: browser.Browser) -> None:
    for number in (4, 40, 77):
        for above_edge in (60, 80, 400):
            phone.evaluate("document.activeElement.blur()")
            phone.evaluate("document.getElementById('text').dispatchEvent(new Event('input'))")
            phone.frames()
            phone.evaluate(f"scrollBy(0, {box(phone, number)['bottom'] + above_edge} - innerHeight)")
            phone.frames()
            tap(phone, number)
            assert f"{number + 1} of " in phone.evaluate("document.querySelector('.facts').textContent")
            assert box(phone, number)["bottom"] < top_of_details(phone)


def test_keys_lead_to_no_token_behind_the_details(phone: browser.Browser) -> None:
    phone.evaluate("document.querySelector('.token').focus()")
    for number in range(1, 150):
        phone.press("ArrowRight", RIGHT)
        assert box(phone, number)["bottom"] < top_of_details(phone), number
