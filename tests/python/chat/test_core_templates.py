# ruff: noqa: E501 (templates take one line each)
"""Templates that the core lays out, beside Jinja: the same ids and masks, and the same records refused."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.data import conversations as module

pytest.importorskip("jinja2")
sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz/python"))
import masks

from toksmith.chat import bounds
from toksmith.chat.conversation import Layout

TEMPLATES = {
    path.stem: path.read_text("utf-8")
    for path in sorted((Path(__file__).parents[2] / "data" / "chat_templates").glob("*.jinja"))
}
SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "[INST]", "[/INST]", "<|end|>", "<|user|>", "<|assistant|>"]
TEXTS = [
    "", "low", "lower ", " newest", "\n", "é中", "the end", "\u00a0\x1c x \u2003", "<|im_end|>", "</s>[INST]", "1", "er", "e",
    "</think>", "<think>low</think>\n\nx", "\"q\" \\ \t\x01\u007f", "𝒳ß", "user", "lowe",
]  # fmt: skip
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -3,
    7,
    2**40,
    1.5,
    -0.25,
    1e10,
    0.0001,
    "low",
    'é"\n',
    [],
    {},
    [1, [2, "x"]],
    {"a": {"b": None}},
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    texts = ["low lower lowest newest the end of it all", "user assistant system\n\n tool"] * 3
    return toksmith.train(iter(texts), 300, special_tokens=SPECIAL)


def random_value(rng: random.Random, depth: int = 2) -> Any:
    if depth and rng.random() < 0.3:
        values = [random_value(rng, depth - 1) for _ in range(rng.randrange(3))]
        return values if rng.random() < 0.5 else {rng.choice(TEXTS): value for value in values}
    return rng.choice(VALUES)


def random_message(rng: random.Random) -> dict[str, Any]:
    message = {"role": rng.choice(["user", "assistant", "assistant", "system", "tool"])}
    message["content"] = "".join(rng.choices(TEXTS, k=rng.randrange(4)))
    if rng.random() < 0.1:
        message["content"] = [{"type": "text", "text": rng.choice(TEXTS)}, {"type": "image"}]
    for name in ("reasoning_content", "thinking", "reasoning"):
        if rng.random() < 0.1:
            message[name] = rng.choice(TEXTS)
    if message["role"] == "assistant" and rng.random() < 0.3:
        arguments = {rng.choice(TEXTS): random_value(rng) for _ in range(rng.randrange(3))}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    if rng.random() < 0.1:
        message["name"] = rng.choice([*TEXTS, None])
    if rng.random() < 0.2:
        message["weight"] = rng.choice([0, 1, 0.0, False, "0", None])
    message["x"] = random_value(rng)
    return message


def random_records(rng: random.Random, count: int) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for _ in range(count):
        messages = [random_message(rng) for _ in range(rng.randrange(1, 5))]
        record = (
            {"messages": messages} if rng.random() < 0.8 else {"prompt": messages[:1], "completion": messages[1:]}
        )
        if rng.random() < 0.2:
            record["tools"] = [
                {"type": "function", "function": {"name": "f", "parameters": {"x": random_value(rng)}}}
            ]
        records.append(record)
    return records


def outcome(records: list[dict[str, Any]], tokenizer: Tokenizer, out: Path, **options: Any) -> tuple[Any, ...]:
    manifest = toksmith.tokenize(
        iter(records), tokenizer, out, messages=True, append="none", on_error="skip", **options
    )
    files = [path.read_bytes() for path in sorted(out.glob("train*"))]
    return files, manifest["skipped"], manifest["totals"]


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The records that went through Python."""
    lines: list[bytes] = []
    read = module.Conversations.read

    def spy(self: Any, line: bytes) -> Any:
        lines.append(line)
        return read(self, line)

    monkeypatch.setattr(module.Conversations, "read", spy)
    yield lines


def compare(
    records: list[dict[str, Any]], tokenizer: Tokenizer, folder: Path, left: list[bytes], **options: Any
) -> int:
    """Compare both ways to lay out records; returns how many Python laid out in the first."""
    folder.mkdir(exist_ok=True)
    number = len([*folder.iterdir()])
    found = outcome(records, tokenizer, folder / str(number), **options)
    count = len(left)
    left.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Layout, "exported", lambda layout: None)
        assert outcome(records, tokenizer, folder / f"{number}p", **options) == found
    assert len(left) == len(records)
    left.clear()
    return count


pytestmark = [
    pytest.mark.filterwarnings("ignore:.*left out"),
    pytest.mark.filterwarnings("ignore:a model is trained on none of the ids"),
]

IN_PYTHON = {"rewritten_words": "title, format and the like"}
"""Templates that have parts which the core does not know."""


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates(name: str, tokenizer: Tokenizer, tmp_path: Path, left: list[bytes]) -> None:
    rng, chat = random.Random(name), {"chat_template": TEMPLATES[name]}
    for train_on in ("assistant", "completion", "last"):
        compare(random_records(rng, 30), tokenizer, tmp_path / "out", left, chat=chat, train_on=train_on)
    usual = [{"role": "user", "content": "low"}, {"role": "assistant", "content": "lower"}] * 2
    in_python = compare([{"messages": usual}] * 5, tokenizer, tmp_path / "out", left, chat=chat)
    assert in_python == 5 * (name in IN_PYTHON)


@pytest.mark.parametrize("seed", range(12))
def test_random_templates(seed: int, tokenizer: Tokenizer, tmp_path: Path, left: list[bytes]) -> None:
    rng = random.Random(seed)
    for _ in range(3):
        template = masks.random_template(rng)
        records = [{"messages": masks.random_chat(rng)} for _ in range(20)]
        compare(records, tokenizer, tmp_path / "out", left, chat={"chat_template": template})


TEXT = "m.content if m.content is string else 'list'"
EXPRESSIONS = [
    "t.strip()", "t.lstrip()", "t.rstrip('\\n x')", "t | trim", "t.split('e')[-1]", "t.split('e', 1) | length", "t.split('</think>')[0]",
    "t.replace('e', '<|end|>')", "t.upper()", "t | lower", "t[1:3]", "t[-2:]", "t[:-1]", "t[0]", "t[-9]", "t[99:]", "t | length",
    "'e' in t", "t not in 'lower'", "t.startswith('lo')", "t.endswith(' ')", "t == 'low'", "t ~ 1 ~ none ~ true", "t + t", "t or 'x'",
    "t and 'x'", "not t", "t is string", "t is mapping", "t is iterable", "t is sequence", "m.x is number", "m.x is none", "m.x is boolean",
    "m.x is mapping", "m.x is iterable and m.x is not string", "m.y is defined", "m.y", "m.y or 'no'", "m.y | default('d')",
    "m.x | default('d', true)", "m.x | tojson", "m.x | tojson(indent=2)", "m | tojson", "tools | tojson", "m.x", "m['x']", "m.get('x')",
    "m.get('nothing', 3)", "m.keys() | list | length", "m.x.a.b", "m.x['a']", "m.items() | list | length", "m.thinking", "m.reasoning_content",
    "loop.index ~ loop.first ~ loop.last ~ loop.length ~ loop.revindex0", "loop.previtem.role", "loop.nextitem is defined",
    "messages[loop.index0].role", "messages[-1].role == m.role", "messages[1:] | length", "messages[::-1][0].role", "range(3) | join(', ')",
    "[t, 'x'] | join(t)", "['a', t][1]", "('a', t)[0]", "{'a': t}.a", "{'a': t} | tojson", "'b' if m.role == 'user'", "1 + 2 - loop.index",
    "loop.index % 2 == 0", "-loop.index", "1 < loop.index <= 3", "bos_token", "strftime_now('%Y')", "add_generation_prompt", "documents is none",
    "m.content[0].text", "m.content | map(attribute='text') | list", "t | title", "t | safe", "m.x | string", "t.isdigit()", "t.count('e')",
    "namespace(a=t).a", "m.content is not string and m.content | length", "m.x in [1, 'low', none]", "m.x == 7", "m.x != 'low'", "t | first",
    "messages | selectattr('role', 'equalto', 'user') | list | length", "messages | selectattr('name') | list | length",
    "messages | rejectattr('name', 'defined') | map(attribute='role') | join('|')", "messages | map(attribute='x.a') | list | length",
    "m | dictsort | length", "(m | dictsort)[0][0]", "m.items() | first", "m.values() | list | length", "m.keys() | length", "m.keys()[0]",
    "m.items() and 'x'", "m | list | first", "m.x | tojson(ensure_ascii=false)", "t | capitalize", "t.capitalize()", "m.x | string | length",
    "m.x + 1", "m.x * 2", "m.x / 2", "t % 2", "t * 2", "m.tool_calls",
    "m.tool_calls[0].function.arguments | tojson", "m.tool_calls is defined and m.tool_calls", "m.nothing.x", "t.x", "none.x",
]  # fmt: skip


@pytest.mark.parametrize("part", range(6))
def test_expressions(part: int, tokenizer: Tokenizer, tmp_path: Path, left: list[bytes]) -> None:
    in_core = 0
    for expression in EXPRESSIONS[part::6]:
        rng = random.Random(expression)
        template = (
            "{% for m in messages %}{% set t = "
            + TEXT
            + " %}<|im_start|>{{ m.role }}\n{{ "
            + expression
            + " }}<|im_end|>{% endfor %}"
        )
        in_core += (
            compare(random_records(rng, 40), tokenizer, tmp_path / "out", left, chat={"chat_template": template}) < 40
        )
    assert in_core >= 10


STATEMENTS = [
    "{% set ns = namespace(a=0, b='') %}{% for m in messages %}{% set ns.a = ns.a + 1 %}{% set b = ns.a %}{% endfor %}{{ ns.a }}{{ b }}",
    "{% set x = 1 %}{% for m in messages %}{{ x }}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}",
    "{% if messages[0].role == 'system' %}{% set rest = messages[1:] %}{% else %}{% set rest = messages %}{% endif %}{{ rest | length }}",
    "{% for m in messages if m.role == 'assistant' %}{{ loop.index }}{{ m.content }}{% else %}none{% endfor %}",
    "{% for m in messages %}{% if loop.index > 2 %}{% break %}{% endif %}{% if m.role == 'user' %}{% continue %}{% endif %}{{ m.role }}{% endfor %}",
    "{% macro say(m, end='<|end|>') %}{{ m.role }}: {{ m.content }}{{ end }}{% endmacro %}{% for m in messages %}{{ say(m) }}{{ say(m, end='') }}{% endfor %}",
    "{% macro deep(n) %}{{ n }}{% if n > 0 %}{{ deep(n - 1) }}{% endif %}{% endmacro %}{{ deep(3) }}{{ messages[0].content }}",
    "{% set top = 'x' %}{% macro m1() %}{{ top }}{{ m }}{% endmacro %}{% for m in messages %}{{ m1() }}{% set top = 'y' %}{{ m1() }}{% endfor %}",
    "{% for k, v in messages[0].items() %}{{ k }}={{ v | tojson }};{% endfor %}",
    "{% for k in messages[0] %}{{ k }}{% endfor %}{% for c in messages[0].x %}{{ c }}{% endfor %}",
    "{% set body %}a{{ messages[0].content }}{% endset %}{{ body | trim }}{{ body | length }}",
    "{% generation %}{{ messages[0].content }}{% set z = 1 %}{% endgeneration %}{{ z }}",
    "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{{ m.content }}{% endfor %}",
    "{%- for m in messages -%} {{- m.content -}} {%- endfor -%}\n{# c #}{% raw %}{{ x }}{% endraw %}",
    "{% for i in range(3) %}{% for m in messages %}{{ loop.index }}{{ i }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% set loop_messages = messages %}{% for m in loop_messages %}{{ m.content if m.content is string else m.content[0]['text'] }}{% endfor %}",
    "{% for m in messages %}{{ raise_exception('no ' + m.role) if m.role == 'tool' else m.role }}{% endfor %}",
    "{% for m in messages %}{% filter upper %}{{ m.role }}{% endfilter %}{% endfor %}",
    "{% with a = 1 %}{{ a }}{{ messages | length }}{% endwith %}",
    "{% set x, y = 1, 2 %}{{ x + y }}{{ messages | length }}",
]


@pytest.mark.parametrize("number", range(len(STATEMENTS)))
def test_statements(number: int, tokenizer: Tokenizer, tmp_path: Path, left: list[bytes]) -> None:
    records = random_records(random.Random(number), 40)
    compare(records, tokenizer, tmp_path / "out", left, chat={"chat_template": STATEMENTS[number]})


HOSTILE = [
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x | length }}",
    "{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ messages | length }}",
    "{% set ns = namespace(x=[1, 2]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x | length }}",
    "{% set ns = namespace() %}{% set ns.x = ns %}{{ messages | length }}",
    "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}",
    "{{ range(9223372036854775807) | length }}{{ range(-9223372036854775807, 9223372036854775807) }}",
    "{{ 9223372036854775807 + 1 }}{{ -9223372036854775807 - 2 }}",
    "{{ ('x' * 99999) | join('y' * 99999) }}",
    "{{ messages[0].content[-9223372036854775807:9223372036854775807] }}{{ messages[9223372036854775807] }}",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_templates(
    number: int, tokenizer: Tokenizer, tmp_path: Path, left: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too large is left to Jinja, whose limits refuse it."""
    monkeypatch.setattr(bounds, "MAX_STEPS", 20_000)
    records = [{"messages": [{"role": "user", "content": "low lower"}]}]
    compare(records, tokenizer, tmp_path / "out", left, chat={"chat_template": HOSTILE[number]})


def test_deep_records(tokenizer: Tokenizer, tmp_path: Path, left: list[bytes]) -> None:
    deep: Any = "x"
    for _ in range(120):
        deep = [deep]
    records = [
        {"messages": [{"role": "user", "content": "low", "x": deep}]},
        {"messages": json.loads("[" * 500 + "]" * 500)},
    ]
    compare(records, tokenizer, tmp_path / "out", left, chat={"chat_template": "{{ messages[0].x | tojson }}"})
