"""The page of tokens that Python computed: for tokenizers that do not run in a page, and for conversations."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser
import character_cases
import huggingface_cases
import page_texts
import pytest
from test_page_samples import pick, text
from tokenizers import normalizers

from toksmith import Tokenizer
from toksmith.lab import page
from toksmith.lab.page import document
from toksmith.lab.page.texts import CONVERSATION

OWN = "xe\u0301y <m> the 👍<|ends|>"

COMPUTED: dict[str, Callable[[], Tokenizer]] = {
    "a normalizer": lambda: of_huggingface(None, normalizers.NFC(), ["<m>"]),
    "added tokens with conditions": lambda: of_huggingface(None, None, huggingface_cases.ADDED),
    "a space in front": lambda: of_huggingface(huggingface_cases.byte_level(add_prefix_space=True)),
    "stages": lambda: of_huggingface(
        huggingface_cases.sequence(huggingface_cases.split(r"\p{N}"), huggingface_cases.byte_level())
    ),
    "characters": lambda: Tokenizer.from_huggingface(character_cases.make("llama")),
    "a pattern of regex": lambda: Tokenizer(pattern=r"(?<=a)b|.", special_tokens=["<m>"]),
}


def of_huggingface(*parts: Any) -> Tokenizer:
    return Tokenizer.from_huggingface(huggingface_cases.make(*parts))


def data(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.mark.parametrize("kind", COMPUTED)
def test_tokens_are_those_of_python(kind: str, chromium: browser.Browser, tmp_path: Path) -> None:
    tokenizer = COMPUTED[kind]()
    page.write(tmp_path / "page.html", {kind: tokenizer, "live": Tokenizer()}, text=OWN)
    chromium.open(tmp_path / "page.html")
    shown = data((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert ["vocabulary" in one for one in shown["tokenizers"]] == [False, True]
    assert chromium.evaluate("[...document.querySelectorAll('.note')].map((note) => !note.hidden)") == [True, False]
    for one in shown["texts"]:
        for special in (True, False):
            call = f"toksmith.encode({json.dumps(kind)}, {json.dumps(one['text'])}, {json.dumps(special)})"
            assert chromium.evaluate(call) == page_texts.expected(tokenizer, one["text"], special), one
    assert chromium.complaints() == []


def test_typed_text_has_no_tokens_until_a_text_is_picked(chromium: browser.Browser, tmp_path: Path) -> None:
    tokenizer = COMPUTED["a normalizer"]()
    page.write(tmp_path / "page.html", {"NFC": tokenizer, "live": Tokenizer()}, text=OWN)
    chromium.open(tmp_path / "page.html")
    counts = "[...document.querySelectorAll('.count')].map((one) => one.textContent)"
    assert chromium.evaluate(counts) == [str(tokenizer.count(OWN)), str(len(OWN.encode()))]
    chromium.evaluate("document.getElementById('text').focus()")
    chromium.type("a")
    assert chromium.evaluate(counts) == ["–", str(len(OWN.encode()) + 1)]
    assert chromium.evaluate("document.querySelector('.copy').disabled") is True
    pick(chromium, "First text")
    assert chromium.evaluate(counts) == [str(tokenizer.count(OWN)), str(len(OWN.encode()))]


def test_other_panels_mark_where_a_changed_text_comes_from(chromium: browser.Browser, tmp_path: Path) -> None:
    tokenizers = {"NFC": COMPUTED["a normalizer"](), "as it is": Tokenizer()}
    page.write(tmp_path / "page.html", tokenizers, text="xe\u0301y")
    chromium.open(tmp_path / "page.html")
    chromium.evaluate("document.querySelector('.tokens').children[1].focus()")
    assert "2 of 3 in NFC, from character 1" in chromium.evaluate("document.querySelector('.facts').innerText")
    assert chromium.evaluate("document.querySelectorAll('#panels > :nth-child(2) .same').length") == 1


# Conversations

pytest.importorskip("jinja2")

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}</s>\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
WITHOUT_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('No') }}{% endif %}" + TEMPLATE


def with_template(folder: Path, template: str) -> Tokenizer:
    Tokenizer(special_tokens=["</s>", "<|user|>"]).save_huggingface(folder, chat_template=template)
    return Tokenizer.from_huggingface(folder)


@pytest.mark.parametrize(("template", "first"), [(TEMPLATE, 0), (WITHOUT_SYSTEM, 1)])
def test_a_conversation_is_laid_out_by_the_template(
    template: str, first: int, chromium: browser.Browser, tmp_path: Path
) -> None:
    tokenizer = with_template(tmp_path / "t", template)
    page.write(tmp_path / "page.html", {"chat": tokenizer})
    chromium.open(tmp_path / "page.html")
    pick(chromium, "Chat template of chat")
    messages = CONVERSATION[first:]
    assert text(chromium) == tokenizer.apply_chat_template(messages, add_generation_prompt=True)
    labels = chromium.evaluate("[...document.querySelectorAll('.token')].map((token) => token.ariaLabel)")
    ids = [int(label.rpartition(" ")[2]) for label in labels]
    assert ids == tokenizer.encode_messages(messages, add_generation_prompt=True)


@pytest.mark.parametrize("template", ["{% if %}", "{{ raise_exception('no') }}", "{{ messages[0].nothing.more }}"])
def test_a_template_that_cannot_be_run_is_a_warning(template: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="^t: the page shows no conversation: "):
        html = document.document({"t": with_template(tmp_path / "t", template)}, "")
    assert {one["group"] for one in data(html)["texts"]} == {"This page", "Languages", "Code and symbols"}


def test_without_jinja_there_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = with_template(tmp_path / "t", TEMPLATE)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for name in ("sandbox", "conversation"):
        monkeypatch.delitem(sys.modules, f"toksmith.chat.{name}", raising=False)
        monkeypatch.delattr(f"toksmith.chat.{name}", raising=False)
    with pytest.warns(UserWarning, match=re.escape("needs jinja2>=3.1.6: pip install 'toksmith[chat]'")):
        document.document({"u": tokenizer}, "")


def test_a_hostile_template_is_no_part_of_the_page(chromium: browser.Browser, tmp_path: Path) -> None:
    tokenizer = with_template(tmp_path / "t", "</script><script>alert(1)</script>{{ messages[0].content }}")
    page.write(tmp_path / "page.html", {"chat": tokenizer})
    chromium.open(tmp_path / "page.html")
    pick(chromium, "Chat template of chat")
    assert "<script>alert(1)</script>" in text(chromium)
    assert chromium.complaints() == []
