"""The page of tokens for everybody: rules of axe, contrast, the system's theme, what a screen reader is told."""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import browser
import pytest

from toksmith import Tokenizer
from toksmith.lab import page

TEXT = "lower <|end|> the lowest\n\n\tžluť 日本 \u200b\u202e\n    return"


@pytest.fixture(scope="module")
def opened(chromium: browser.Browser, tmp_path_factory: pytest.TempPathFactory, small: Tokenizer) -> browser.Browser:
    path = tmp_path_factory.mktemp("page") / "page.html"
    special = Tokenizer(dict(small.vocab), list(small.merges), ["<|end|>"])
    needs_regex = Tokenizer(pattern=r"(?<=a)b|.")
    page.write(path, {"special": special, "small": small, "computed": needs_regex}, text=TEXT)
    chromium.open(path)
    return chromium


@pytest.fixture(scope="module")
def axe() -> str:
    """The program that checks a page against the rules of WCAG and others."""
    files = importlib.metadata.files("axe-core-python") or []
    [path] = [file.locate() for file in files if file.name == "axe.min.js"]
    return Path(str(path)).read_text(encoding="utf-8")


def findings(chromium: browser.Browser) -> Any:
    """Return the rules that the page breaks or may break, with the elements, and how many contrasts were compared."""
    return chromium.evaluate(
        """axe.run(document).then((found) => ({
            broken: [...found.violations, ...found.incomplete].flatMap(
                (rule) => rule.nodes.map((node) => [rule.id, node.html, node.failureSummary])),
            contrasts: found.passes.find((rule) => rule.id === "color-contrast")?.nodes.length ?? 0,
        }))"""
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_rule_of_axe_is_broken(opened: browser.Browser, axe: str, scheme: str, width: int) -> None:
    opened.evaluate(f"{axe}; 1")
    opened.media(scheme)
    opened.size(width, 844, mobile=width < 600)
    for change in ("", "document.querySelectorAll('.token')[3].focus()", "document.getElementById('ids').click()"):
        opened.evaluate(change)
        opened.frames()
        found = findings(opened)
        assert found["broken"] == []
        assert found["contrasts"] > 20
    opened.evaluate("document.getElementById('ids').click()")


def test_axe_sees_the_page(opened: browser.Browser, axe: str) -> None:
    """So that a rule that finds nothing is known to look."""
    opened.evaluate(f"{axe}; 1")
    opened.media("light")
    change = (
        "document.querySelector('.token').style.color = '{}'; document.getElementById('clear').textContent = '{}'"
    )
    opened.evaluate(change.format("#ccc", ""))
    rules = {rule for rule, _, _ in findings(opened)["broken"]}
    assert {"color-contrast", "button-name"} <= rules
    opened.evaluate(change.format("", "Clear"))


def test_the_theme_is_the_systems(opened: browser.Browser) -> None:
    backgrounds = []
    for theme in ("light", "dark", "light"):
        opened.media(theme)
        backgrounds.append(opened.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert backgrounds[0] == backgrounds[2] != backgrounds[1]


def test_tokens_differ_in_more_than_colour(opened: browser.Browser) -> None:
    """Each has an edge, and a gap to its neighbour."""
    edge = opened.evaluate("getComputedStyle(document.querySelector('.token')).boxShadow")
    assert edge != "none"
    gap = "document.querySelectorAll('.token')[1].getBoundingClientRect().left - "
    gap += "document.querySelectorAll('.token')[0].getBoundingClientRect().right"
    assert opened.evaluate(gap) >= 2


def test_equal_tokens_have_one_colour_wherever_they_are(opened: browser.Browser) -> None:
    """In both tokenizers, at each place, and in the details."""
    write(opened, TEXT * 2)
    query = "[token.textContent, getComputedStyle(token).backgroundColor]"
    shown = opened.evaluate(f"[...document.querySelectorAll('.token')].map((token) => {query})")
    assert len({token for token, _ in shown}) == len({*map(tuple, shown)}) > 20
    assert len({colour for _, colour in shown}) == 9  # of all tints, and of special tokens
    opened.evaluate("document.querySelectorAll('.token')[2].focus()")
    colour = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    assert opened.evaluate(colour.format(".facts .chip")) == opened.evaluate(colour.format(".token:focus"))


def write(opened: browser.Browser, text: str) -> None:
    event = "box.dispatchEvent(new Event('input'))"
    opened.evaluate(f"(box => {{ box.value = {json.dumps(text)}; {event} }})(document.getElementById('text'))")
    opened.frames()


def test_counts_are_read_out_after_a_pause_alone(opened: browser.Browser) -> None:
    opened.evaluate(
        "globalThis.read = []; new MutationObserver(() => read.push(document.getElementById('status').textContent))"
        ".observe(document.getElementById('status'), { childList: true });"
        "document.getElementById('text').value = ''; document.getElementById('text').focus()"
    )
    for letter in "the low":
        opened.type(letter)
    opened.wait_for("read.length > 0")
    read = opened.evaluate("read")
    assert len(read) == 1
    assert read[0].startswith("7 characters. special: ")
    live = opened.evaluate("document.querySelectorAll('[aria-live], [role=status], [role=alert], [role=log]').length")
    assert live == 2  # the counts, and messages of buttons


def test_page_does_not_scroll_sideways_on_a_phone(opened: browser.Browser) -> None:
    long = "a" * 300 + " " * 300 + "日" * 100
    opened.size(390, 844, mobile=True)
    write(opened, long)
    assert opened.evaluate("document.documentElement.scrollWidth") == 390
    opened.size(1280, 844)
