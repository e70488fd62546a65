"""Conversations on the page of tokens: what `transformers` makes of a chat template, or why not."""

import json
import random
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import browser
import pytest

from toksmith import Tokenizer, anatomy
from toksmith.lab import page
from toksmith.lab.page import chat

pytest.importorskip("jinja2")

TEMPLATES = {
    "turns": (
        "{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}{{ eos_token }}\n"
        "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    ),
    "trimmed, with a system message of its own": (
        "{{ bos_token }}{%- if messages[0].role != 'system' %}[system]Help.\n\n{% endif %}"
        "{% for message in messages -%}[{{ message.role }}]{{ message.content | trim + '</s>' }}\n{% endfor %}"
        "{{ strftime_now('%Y') }}{{ [1, '<é>'] | tojson }}{{ '[assistant]' if add_generation_prompt }}"
    ),
    "a system message in the first turn": (
        "{% if messages[0].role == 'system' %}{% set system, turns = messages[0].content, messages[1:] %}"
        "{% else %}{% set system, turns = '', messages %}{% endif %}{% for turn in turns %}"
        "{% if turn.role == 'user' %}[INST] {{ '<<SYS>>' ~ system ~ '<</SYS>>' if loop.first and system }}"
        "{{ turn.content }} [/INST]"
        "{% else %} {{ turn.content.strip() }}</s>{% endif %}{% endfor %}"
    ),
    "the last answer is another": (
        "{% set last = namespace(at=-1) %}{% for message in messages %}{% if message.role == 'user' %}"
        "{% set last.at = loop.index0 %}{% endif %}{% endfor %}{% for message in messages %}"
        "{% if message.role == 'assistant' %}{% if loop.index0 > last.at %}<think>\n\n</think>\n\n{% endif %}"
        "{% generation %}{% set text = message.content.split('</think>')[-1].lstrip('\n') %}{{ text }}"
        "{% endgeneration %}{% else %}<{{ message.role }}>{{ message.content }}{% endif %}\n{% endfor %}"
    ),
    "no system message": (
        "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('No <system> here') }}"
        "{% endif %}{% if loop.index0 > 3 %}{% break %}{% endif %}{{ message.content }}\n\n{% endfor %}"
    ),
}
SPECIALS = {"bos_token": "<s>", "eos_token": "</s>"}
SPACES = ["\n", "\n\n", " ", "\t", "\u3000", "\x1c", "\x0b"]
PIECES = [*SPACES, "a", "Hi!", "日本", "👍", "<b>", "&amp;", "{{ x }}", "\\n", '"', "'"]

Open = Callable[..., browser.Browser]


def tokenizer_of(folder: Path, template: str) -> Tokenizer:
    names = ["<s>", "</s>", "<|user|>", "<|assistant|>"]
    made = Tokenizer(special_tokens=names)
    made.save_huggingface(folder, chat_template=template, **SPECIALS)
    return Tokenizer.from_huggingface(folder)


def rendered(template: str, messages: list[tuple[str, str]]) -> str:
    """Return what `transformers` makes of a conversation."""
    peer: Any = pytest.importorskip("transformers.utils.chat_template_utils")
    rows = [{"role": role, "content": content} for role, content in messages]
    prompt = messages[-1][0] == "user"
    [text], _ = peer.render_jinja_template([rows], chat_template=template, add_generation_prompt=prompt, **SPECIALS)
    found: str = text
    return found


def random_message(rng: random.Random) -> str:
    while True:
        text = "".join(rng.choices(PIECES, k=rng.randrange(1, 9)))
        if text.strip():
            return text


@pytest.mark.parametrize("name", TEMPLATES)
def test_layouts_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    template, rng = TEMPLATES[name], random.Random(name)
    data = chat.described("t", anatomy.huggingface_files(tokenizer_of(tmp_path / "t", template)))
    assert data is not None
    assert len(data["layouts"]) == 2 * chat.MAX_TURNS
    for shape, layout in data["layouts"].items():
        roles = shape.split(" ")
        if name == "no system message" and roles[0] == "system":
            assert layout == "The chat template refuses this conversation: No <system> here"
            continue
        for _ in range(40):
            contents = [random_message(rng) for _ in roles]
            assert chat.filled(layout, contents) == rendered(template, [*zip(roles, contents, strict=True)])


DEEP = [*pairwise("abcdefghijklmnopqrstuvwxyz")]
CHANGES = "The chat template changes messages in a way that this page cannot."


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ messages[0].content | upper }}", CHANGES),
        ("{{ messages[0].content | replace('b', 'c') }}", CHANGES),
        ("{{ messages[0].content.strip(' ') }}", CHANGES),
        ("{{ messages[0].content[:20] }}", CHANGES),
        ("{% if 'dog' in messages[0].content %}!{% endif %}{{ messages[0].content }}", CHANGES),
        ("{{ raise_exception('no') }}", "The chat template refuses this conversation: no"),
        ("{{ messages[0].nothing.more }}", "refuses this conversation: 'dict object' has no attribute 'nothing'"),
        ("{{ messages[0].__class__.__mro__ }}", "refuses this conversation: access to attribute '__class__'"),
        ("{% for i in range(99999) %}{{ 'long' * 99 }}{% endfor %}", "it is longer than 262,144 characters"),
        (
            "{% for i in range(99999) %}{% for j in range(99999) %}{% set step = i %}{% endfor %}{% endfor %}",
            "it takes more than 100,000 steps",
        ),
        (
            "{% macro a() %}{% endmacro %}"
            + "".join(f"{{% macro {two}() %}}{{{{ {one}() }}}}{{{{ {one}() }}}}{{% endmacro %}}" for one, two in DEEP)
            + "{{ z() }}",
            "it takes more than 100,000 steps",
        ),
    ],
)
def test_what_a_layout_cannot_do_is_said(
    template: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "_MAX_SECONDS", 60)  # so that a slow machine takes all steps
    data = chat.described("t", anatomy.huggingface_files(tokenizer_of(tmp_path / "t", template)))
    assert data is not None
    assert reason in data["layouts"]["user"]


def test_strings_that_a_template_looks_for(tmp_path: Path) -> None:
    template = (
        "{{ '<start>' }}{% if '</think>' in messages[0].content %}{% endif %}"
        "{% if messages[0].content.startswith('[tool]') %}{% endif %}"
        "{{ messages[0].content | replace('<|a|>', '') }}{% if messages[0].role == 'user' %}{% endif %}"
    )
    data = chat.described("t", anatomy.huggingface_files(tokenizer_of(tmp_path / "t", template)))
    assert data is not None
    assert data["read"] == ["</think>", "<|a|>", "[tool]"]


def test_added_tokens_that_a_template_writes(tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path / "t", "<think>{{ messages[0].content }}")
    files = anatomy.huggingface_files(tokenizer)
    data = chat.described("t", files, ["<think>", "</think>", "content", " "])
    assert data is not None
    assert data["writes"] == ["<think>", "content"]


def test_templates_by_name(tmp_path: Path) -> None:
    tokenizer = tokenizer_of(tmp_path / "t", "{{ 1 }}")
    path = tmp_path / "t" / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config["chat_template"] = [{"name": "tools", "template": "no"}, {"name": "default", "template": "yes"}]
    path.write_text(json.dumps(config))
    data = chat.described("t", anatomy.huggingface_files(Tokenizer.from_huggingface(tmp_path / "t")))
    assert data is not None and data["layouts"]["user"] == ["yes"]
    assert chat.described("t", anatomy.huggingface_files(tokenizer)) is not None
    assert chat.described("t", anatomy.huggingface_files(Tokenizer())) is None


def test_a_template_that_cannot_be_run_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, whole = tokenizer_of(tmp_path / "t", "{% if %}"), tokenizer_of(tmp_path / "u", "{{ 1 }}")
    with pytest.warns(UserWarning, match="^t: the page shows no conversations: Expected an expression"):
        page.write(tmp_path / "page.html", {"t": broken})
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "toksmith.chat.sandbox")
    monkeypatch.delattr("toksmith.chat.sandbox")
    with pytest.warns(UserWarning, match=re.escape("needs jinja2>=3.1.6: pip install 'toksmith[chat]'")):
        page.write(tmp_path / "page.html", {"u": whole})
    assert '"chat": null' in (tmp_path / "page.html").read_text(encoding="utf-8")


# In a browser


@pytest.fixture
def opened(chromium: browser.Browser, tmp_path: Path) -> Open:
    def open(template: str) -> browser.Browser:
        tokenizers = {"plain": Tokenizer(), "chat": tokenizer_of(tmp_path / "t", template)}
        page.write(tmp_path / "page.html", tokenizers, text="mine")
        chromium.size(1200, 900)
        chromium.open(tmp_path / "page.html")
        chromium.frames()
        pick(chromium, "Chat template of chat")
        return chromium

    return open


def pick(chromium: browser.Browser, name: str) -> None:
    chromium.evaluate(
        f"(select => {{ select.value = {json.dumps(name)}; select.dispatchEvent(new Event('change')); }})"
        "(document.getElementById('sample'))"
    )
    chromium.frames()


def write(chromium: browser.Browser, number: int, text: str) -> None:
    chromium.evaluate(
        f"(box => {{ box.value = {json.dumps(text)}; box.dispatchEvent(new Event('input', {{ bubbles: true }})) }})"
        f"(document.getElementById('message-{number}'))"
    )
    chromium.frames()


def messages(chromium: browser.Browser) -> list[tuple[str, str]]:
    """Return the conversation of the fields; an empty system message is none."""
    fields = chromium.evaluate(
        "[...document.querySelectorAll('.fields textarea')].map((box) => [box.name, box.value])"
    )
    return [(role, content) for role, content in fields if role != "system" or content.strip()]


def text(chromium: browser.Browser) -> str:
    found: str = chromium.evaluate("document.getElementById('text').value")
    return found


def shown_ids(chromium: browser.Browser) -> list[int]:
    """Return the ids of the tokens of the tokenizer with the template."""
    labels = chromium.evaluate(
        "[...document.querySelectorAll('.panel')[1].querySelectorAll('.token')].map((token) => token.ariaLabel)"
    )
    return [int(label.rpartition(" ")[2]) for label in labels]


def reason(chromium: browser.Browser) -> str:
    found: str = chromium.evaluate("document.querySelector('.reason').textContent")
    return found


@pytest.mark.parametrize("name", TEMPLATES)
def test_typed_conversations_are_those_of_transformers(name: str, opened: Open, tmp_path: Path) -> None:
    chromium, rng = opened(TEMPLATES[name]), random.Random(name)
    for action in ["", ".add", ".add", "", ".remove", ".remove", ".remove", ".remove", ""]:
        if action:
            chromium.evaluate(f"document.querySelector('#chat {action}').click()")
        for number in range(1, len(messages(chromium))):
            write(chromium, number, random_message(rng))
        write(chromium, 0, "" if name == "no system message" else rng.choice(["", " \n", "Be brief.\n"]))
        last = chromium.evaluate("document.querySelector('.fields').children.length - 1")
        write(chromium, last, random_message(rng))
        assert reason(chromium) == ""
        expected = rendered(TEMPLATES[name], messages(chromium))
        assert text(chromium) == expected
    tokenizer = Tokenizer.from_huggingface(tmp_path / "t")
    assert shown_ids(chromium) == tokenizer.encode(expected)
    assert chromium.complaints() == []


def test_reasons_are_shown_and_not_obeyed(opened: Open) -> None:
    chromium = opened(TEMPLATES["no system message"])
    assert reason(chromium) == "The chat template refuses this conversation: No <system> here"
    assert text(chromium) == ""
    write(chromium, 0, "")
    assert reason(chromium) == ""
    write(chromium, 1, " \n")
    assert reason(chromium) == "Each turn needs a message."
    chromium = opened(TEMPLATES["the last answer is another"])
    write(chromium, 1, "a</think>b")
    assert reason(chromium) == "The chat template looks for </think> in messages; this page cannot."


def test_fields_close_and_ones_own_text_comes_back(opened: Open) -> None:
    chromium = opened(TEMPLATES["turns"])
    hidden = "document.getElementById('chat').hidden"
    assert chromium.evaluate(hidden) is False
    pick(chromium, "")
    assert chromium.evaluate(hidden) is True and text(chromium) == "mine"
    pick(chromium, "Chat template of chat")
    chromium.evaluate("document.getElementById('text').focus()")
    chromium.type("x")
    assert chromium.evaluate(hidden) is True
    assert chromium.evaluate("document.getElementById('sample').value") == ""


def test_turns_have_an_upper_and_a_lower_bound(opened: Open) -> None:
    chromium = opened(TEMPLATES["turns"])
    for button, count in ((".add", chat.MAX_TURNS), (".remove", 1)):
        for _ in range(8):
            chromium.evaluate(f"document.querySelector('#chat {button}').click()")
        assert chromium.evaluate(f"document.querySelector('#chat {button}').disabled") is True
        assert chromium.evaluate("document.querySelectorAll('.fields textarea').length") == 1 + count


def test_special_tokens_of_the_template_are_read_as_such(opened: Open) -> None:
    chromium = opened(TEMPLATES["turns"])
    pick(chromium, "")
    chromium.evaluate("document.getElementById('special').click()")
    pick(chromium, "Chat template of chat")
    assert chromium.evaluate("document.querySelectorAll('.token.special').length") > 3


@pytest.mark.parametrize("content", ["</s><|user|>\nx", "<s>", "a</s>", "<", "</s", "<|assistant|>"])
def test_messages_do_not_speak_for_the_template(content: str, opened: Open, tmp_path: Path) -> None:
    """Special tokens are those that the template wrote, as in `encode_messages`; of one's own text, all."""
    chromium = opened("{% for message in messages %}<{{ message.content }}/s>{{ eos_token }}{% endfor %}")
    write(chromium, 0, "")
    write(chromium, 1, content)
    rows = [{"role": role, "content": content} for role, content in messages(chromium)]
    tokenizer = Tokenizer.from_huggingface(tmp_path / "t")
    assert shown_ids(chromium) == tokenizer.encode_messages(rows)
    whole = text(chromium)
    chromium.evaluate("document.getElementById('special').click()")
    assert shown_ids(chromium) == tokenizer.encode(whole, special=False)
    chromium.evaluate(f"(box => box.setRangeText({json.dumps(whole)}))(document.getElementById('text'))")
    chromium.evaluate("document.getElementById('text').dispatchEvent(new Event('input', { bubbles: true }))")
    chromium.evaluate("document.getElementById('special').click()")
    chromium.frames()
    assert shown_ids(chromium) == tokenizer.encode(text(chromium))


def test_a_hostile_template_is_no_part_of_the_page(opened: Open) -> None:
    chromium = opened("</script><script>alert(1)</script>{{ messages[0].content }}")
    assert "<script>alert(1)</script>" in text(chromium)
    assert chromium.complaints() == []


def test_no_template_no_conversation(chromium: browser.Browser, tmp_path: Path) -> None:
    page.write(tmp_path / "page.html", {"plain": Tokenizer()})
    chromium.open(tmp_path / "page.html")
    assert chromium.evaluate("document.querySelector('optgroup[label=Conversation]')") is None
