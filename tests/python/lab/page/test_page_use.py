"""The page of tokens in use: typing, pointing, keys, switches, links. What it shows is what Python says."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser
import pytest

from toksmith import Tokenizer
from toksmith.lab import page

TEXT = "lower <|end|> they're the lowest\n\nžluť 日本\n"
TAB, END, HOME, LEFT, UP, RIGHT, DOWN = 9, 35, 36, 37, 38, 39, 40

BYTES = {id: bytes([id]) for id in range(256)}

Open = Callable[..., browser.Browser]


@pytest.fixture(scope="module")
def tokenizers(small: Tokenizer) -> dict[str, Tokenizer]:
    specials = ["<|end|>", "<|start|>"]
    return {
        "merges": Tokenizer(dict(small.vocab), list(small.merges), specials),
        "ranks": Tokenizer(dict(small.vocab), None, specials, pattern="o200k"),
    }


@pytest.fixture
def opened(chromium: browser.Browser, tmp_path: Path, tokenizers: dict[str, Tokenizer]) -> Open:
    """Opens a page with a text in it."""

    def open(text: str = TEXT, fragment: str = "", shown: dict[str, Tokenizer] | None = None) -> browser.Browser:
        path = tmp_path / "page.html"
        page.write(path, shown or tokenizers, text=text)
        chromium.size(1200, 900)
        chromium.open(path, fragment)
        chromium.frames()
        return chromium

    return open


def labels(chromium: browser.Browser, panel: int = 0) -> list[str]:
    """Return the names of the tokens that a panel has drawn."""
    query = f"document.querySelectorAll('.panel')[{panel}].querySelectorAll('.token')"
    found: list[str] = chromium.evaluate(f"[...{query}].map((token) => token.getAttribute('aria-label'))")
    return found


def ids(chromium: browser.Browser, panel: int = 0) -> list[int]:
    return [int(label.rpartition(" ")[2]) for label in labels(chromium, panel)]


def content(chromium: browser.Browser, selector: str) -> str:
    """Return the text of an element as it is laid out."""
    found: str = chromium.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")
    return found


def click(chromium: browser.Browser, selector: str, number: int = 0) -> None:
    chromium.evaluate(f"document.querySelectorAll({json.dumps(selector)})[{number}].click()")
    chromium.frames()


def focused(chromium: browser.Browser) -> str:
    """Return the name of the element that has the focus."""
    name: str = chromium.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id")
    return name


def check_tokens(
    chromium: browser.Browser, tokenizers: dict[str, Tokenizer], text: str, special: bool = True
) -> None:
    for number, tokenizer in enumerate(tokenizers.values()):
        assert ids(chromium, number) == tokenizer.encode(text, special=special), text


def test_typing_shows_tokens_and_counts(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    chromium = opened("")
    chromium.evaluate("document.getElementById('text').focus()")
    text = ""
    for typed in ("l", "ower", " the\n", "<|end|>", "日本", "\n\nx", " the"):
        chromium.type(typed)
        text += typed
        check_tokens(chromium, tokenizers, text)
    assert content(chromium, "#characters") == str(len(text))
    assert content(chromium, "#bytes") == str(len(text.encode()))
    counts = chromium.evaluate("[...document.querySelectorAll('.count')].map((one) => one.textContent)")
    assert counts == [str(tokenizer.count(text)) for tokenizer in tokenizers.values()]
    chromium.evaluate("document.getElementById('text').setSelectionRange(2, 7)")
    chromium.type("AB")
    check_tokens(chromium, tokenizers, text[:2] + "AB" + text[7:])


def test_special_tokens_are_marked_or_read_as_text(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    chromium = opened()
    assert chromium.evaluate("document.querySelectorAll('.token.special').length") == 2
    assert any(label.startswith("special token <|end|>, id") for label in labels(chromium))
    click(chromium, "#special")
    check_tokens(chromium, tokenizers, TEXT, special=False)
    assert chromium.evaluate("document.querySelectorAll('.token.special').length") == 0


def test_text_that_the_pattern_drops_is_counted(opened: Open) -> None:
    drops = Tokenizer(pattern=r"[a-z]+", unmatched="drop")
    chromium = opened("ab é日 c 1", shown={"keeps": Tokenizer(), "drops": drops})
    rates = chromium.evaluate("[...document.querySelectorAll('.rate')].map((one) => one.textContent)")
    assert rates == ["1.00 bytes per token", "4.00 bytes per token; 9 bytes in no token: the pattern drops them"]
    assert ids(chromium, 1) == drops.encode("ab é日 c 1")


def test_switch_of_special_tokens_is_hidden_without_any(opened: Open, small: Tokenizer) -> None:
    assert opened(shown={"small": small}).evaluate("document.getElementById('special-switch').hidden") is True


def test_ids_in_place_of_texts(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    chromium = opened()
    click(chromium, "#ids")
    shown = chromium.evaluate(
        "[...document.querySelectorAll('.panel .token')].map((token) => Number(token.textContent))"
    )
    assert shown == [id for tokenizer in tokenizers.values() for id in tokenizer.encode(TEXT)]
    click(chromium, "#ids")
    check_tokens(chromium, tokenizers, TEXT)


def test_pointing_shows_id_bytes_and_characters(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    chromium = opened()
    for place in range(len(tokenizers["ranks"].encode(TEXT))):
        token = f"document.querySelectorAll('.panel')[1].querySelectorAll('.token')[{place}]"
        box = chromium.evaluate(f"{token}.getClientRects()[0].toJSON()")
        middle = {"x": box["left"] + box["width"] / 2, "y": box["top"] + box["height"] / 2}
        chromium.call("Input.dispatchMouseEvent", type="mouseMoved", **middle)
        check_facts(chromium, tokenizers["ranks"], place)


def test_other_panels_mark_the_same_characters(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    text = "they're 日本 the low, é\n👍"
    chromium = opened(text)
    spans = [tokenizer.encode_with_offsets(text)[1].tolist() for tokenizer in tokenizers.values()]
    for panel in (0, 1):
        for place, (start, end) in enumerate(spans[panel]):
            chromium.evaluate(
                f"document.querySelectorAll('.panel')[{panel}].querySelectorAll('.token')[{place}].focus()"
            )
            tokens = "[...panel.querySelectorAll('.token')]"
            same = f"{tokens}.flatMap((token, i) => token.classList.contains('same') ? [i] : [])"
            marked = chromium.evaluate(f"[...document.querySelectorAll('.panel')].map((panel) => {same})")
            assert marked[panel] == []
            others = spans[1 - panel]
            assert marked[1 - panel] == [i for i, (first, last) in enumerate(others) if first < end and last > start]


def check_facts(chromium: browser.Browser, tokenizer: Tokenizer, place: int) -> None:
    """Compare what the details say of a token with what Python says."""
    found, spans = tokenizer.encode_with_offsets(TEXT)
    token, (start, end) = tokenizer.token_bytes(found[place]), spans[place].tolist()
    facts = chromium.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.facts > div')].map((fact) => "
        "[fact.querySelector('dt').textContent, fact.querySelector('dd').textContent]))"
    )
    assert facts["Id"] == str(found[place])
    assert facts["Bytes"] == token.hex(" ")
    assert re.findall(r"U\+([0-9A-F]{4,6})", facts["Characters"]) == [f"{ord(one):04X}" for one in TEXT[start:end]]
    assert ("of" in facts["Characters"]) == (token != TEXT[start:end].encode())
    assert facts["Place"] == f"{place + 1} of {len(found)} in ranks, from character {start}"


def test_hostile_text_is_shown_and_not_obeyed(opened: Open) -> None:
    text = "<img src=x onerror=alert(1)>\x1b[31m\u202eabc\u200b\x00\x7f\x85\ufeff\u2028</textarea><script>1\t\\n"
    tokenizer = Tokenizer(BYTES | {256: "\u202e".encode(), 257: "\u2028".encode()})
    chromium = opened(text, shown={"<b>name</b>": tokenizer})
    assert (
        chromium.evaluate("document.querySelectorAll('#panels img, #panels script, #panels b:not(.count)').length")
        == 0
    )
    assert content(chromium, "h2") == "<b>name</b>"
    shown = chromium.evaluate("document.querySelector('.tokens').textContent")
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200b\u202e\ufeff\u2028]", shown)
    for mark in (r"\x1b", r"\xe2", r"\x00", r"\x7f", r"\t", r"\\"):
        assert mark in shown
    assert ids(chromium) == tokenizer.encode(text)
    assert chromium.complaints() == []


def test_whole_invisible_characters_are_escapes(opened: Open) -> None:
    characters = "\u202e\u200d\u00a0\u2028\ufeff\u00ad\u3164\ufe0f\U000e0041\u0301"
    vocab = BYTES | {256 + i: one.encode() for i, one in enumerate(characters)}
    chromium = opened(characters, shown={"all": Tokenizer(vocab, pattern=r"(?s:.)")})
    shown = chromium.evaluate("[...document.querySelectorAll('.token')].map((token) => token.textContent)")
    escapes = [f"\\u{{{ord(one):x}}}" for one in characters[:-1]]
    assert shown[: len(escapes)] == escapes
    assert shown[-1] == "◌\u0301"


# Keys


def test_arrow_keys_go_through_the_tokens(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    chromium = opened()
    names = labels(chromium)
    for _ in range(2):
        chromium.evaluate("document.querySelector('.copy').focus()")
        chromium.press("Tab", TAB)
        assert focused(chromium) == names[0]
        for key, code, place in (
            ("ArrowRight", RIGHT, 1),
            ("ArrowRight", RIGHT, 2),
            ("ArrowLeft", LEFT, 1),
            ("End", END, len(names) - 1),
            ("ArrowRight", RIGHT, len(names) - 1),
            ("Home", HOME, 0),
            ("ArrowLeft", LEFT, 0),
        ):
            chromium.press(key, code)
            assert focused(chromium) == names[place]
    assert content(chromium, ".facts b") == str(tokenizers["merges"].encode(TEXT)[0])


def test_up_and_down_go_to_the_next_line(opened: Open) -> None:
    chromium = opened("a b\nc d\ne")
    click(chromium, "#ids")
    click(chromium, "#ids")
    chromium.evaluate("document.querySelector('.token').focus()")
    start = focused(chromium)
    chromium.press("ArrowDown", DOWN)
    assert focused(chromium).startswith("c, id")
    chromium.press("ArrowUp", UP)
    assert focused(chromium) == start


def test_tab_leads_to_one_token_of_each_panel(opened: Open) -> None:
    chromium = opened()
    chromium.evaluate("document.getElementById('text').focus()")
    found = []
    for _ in range(9):
        chromium.press("Tab", TAB)
        found.append(focused(chromium))
    assert found[:3] == ["special", "ids", "clear"]
    assert found[3:5] == ["Copy ids of merges", labels(chromium, 0)[0]]
    assert found[5:7] == ["Copy ids of ranks", labels(chromium, 1)[0]]


# Long texts


def test_the_first_tokens_of_a_long_text_are_drawn(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    text = "".join(f"line {i} of a long text, with the lowest words\n" for i in range(1000))
    chromium = opened(text)
    count = tokenizers["merges"].count(text)
    assert ids(chromium) == tokenizers["merges"].encode(text)[:5000]
    assert content(chromium, ".count") == f"{count:,}"
    assert content(chromium, ".more") == f"… and {count - 5000:,} more tokens"
    chromium.evaluate("document.querySelector('.token').focus()")
    chromium.press("End", END)
    assert f"5,000 of {count:,}" in content(chromium, ".facts")


def test_edits_of_a_text_draw_what_changed(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    """What is the same at the beginning and at the end keeps its elements; all are those of the new text."""
    chromium, rng, text = opened("the low\n\nlower\n" * 3), random.Random(3), "the low\n\nlower\n" * 3
    for _ in range(60):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 0, 1, 2, 30]))
        text = text[:start] + rng.choice(["", "a", " the", "\n", "<|end|>", "日"]) + text[end:]
        write = "box.dispatchEvent(new Event('input'))"
        chromium.evaluate(f"(box => {{ box.value = {json.dumps(text)}; {write} }})(document.getElementById('text'))")
        chromium.frames()
        check_tokens(chromium, tokenizers, text)
        lines = sum(tokenizers["merges"].token_bytes(id).endswith(b"\n") for id in ids(chromium))
        assert chromium.evaluate("document.querySelector('.tokens').querySelectorAll('br').length") == lines


# Links


def link(chromium: browser.Browser) -> str:
    click(chromium, "#link")
    chromium.wait_for("location.hash !== ''")
    fragment: str = chromium.evaluate("location.hash")
    return fragment


@pytest.mark.parametrize("text", [TEXT, "a+b c&d=e#f%20", "žluť 日本 👍\n" * 300, "\u202e<script>"])
def test_link_brings_the_text_and_the_switch_back(text: str, opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    chromium = opened(text)
    click(chromium, "#special")
    fragment = link(chromium)
    chromium = opened("other", fragment)
    assert chromium.evaluate("document.getElementById('text').value") == text
    assert chromium.evaluate("document.getElementById('special').checked") is True
    assert chromium.evaluate("document.querySelector('.count').textContent") == (
        f"{tokenizers['merges'].count(text, special=False):,}"
    )


def test_links_that_hold_no_text_are_passed_over(opened: Open) -> None:
    for fragment in ("#", "#panels", "#other=1"):
        assert opened("mine", fragment).evaluate("document.getElementById('text').value") == "mine", fragment


def test_text_that_is_too_long_for_a_link_says_so(opened: Open) -> None:
    chromium = opened("日" * 4000)
    click(chromium, "#link")
    chromium.wait_for("document.getElementById('message').textContent === 'This text is too long for a link.'")


def test_carriage_returns_become_newlines(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    check_tokens(opened("a\r\nb\rc"), tokenizers, "a\nb\nc")


def test_lone_surrogates_are_read_as_replacement_characters(opened: Open, tokenizers: dict[str, Tokenizer]) -> None:
    chromium = opened("")
    chromium.evaluate(
        "(() => { const text = document.getElementById('text'); text.value = 'a\\ud800b\\udc00'; "
        "text.dispatchEvent(new Event('input')); })()"
    )
    chromium.frames()
    check_tokens(chromium, tokenizers, "a\ufffdb\ufffd")


def facts_of(chromium: browser.Browser) -> Any:
    return chromium.evaluate("document.querySelector('.facts').children.length")


def test_a_change_of_the_text_empties_the_details(opened: Open) -> None:
    chromium = opened()
    chromium.evaluate("document.querySelectorAll('.token')[1].focus()")
    assert facts_of(chromium) == 5
    chromium.evaluate("document.getElementById('text').focus()")
    chromium.type("x")
    assert facts_of(chromium) == 0
