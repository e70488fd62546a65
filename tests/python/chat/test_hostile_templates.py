"""Chat templates that would run for ever, or take all memory, if nothing stopped them."""

from __future__ import annotations

import pytest

import toksmith

pytest.importorskip("jinja2")

CHAT = [{"role": "user", "content": "x"}]
BIG = "('a' * 100000)"


def doubled(start: str, step: str) -> str:
    """Return a template that doubles two values a hundred times."""
    loop = "".join(f"{{% set ns.{name} = {step.replace('ns.x', f'ns.{name}')} %}}" for name in "xy")
    return f"{{% set ns = namespace(x={start}, y={start}) %}}{{% for i in range(100) %}}{loop}{{% endfor %}}"


LISTS, TUPLES = doubled("['a']", "[ns.x, ns.x]"), doubled("('a',)", "(ns.x, ns.x)")

BIG_NUMBER, SAME = "('f' * 2000000) | int(base=16)", "range(0, 100000 * (2**61 - 1), 2**61 - 1)"
# Numbers of many digits, equal hashes, methods that take quadratic time.
SLOW = (
    *(f"{BIG_NUMBER} is divisibleby({BIG_NUMBER})", f"{BIG_NUMBER} | round(-99999)"),
    *(f"{SAME} | unique | list", f"dict({SAME} | batch(2) | list)"),
    *("('a' * 1000000) | wordwrap(1)", "('<!---->' * 200000 | safe).striptags()"),
    *("('é' * 1000000).encode('idna')", "('é' * 1000000).encode('punycode')"),
)
LATE = (  # texts that differ in the last character only
    *("([x] * 300000).count(y)", "([x] * 300000).index(y)", "y in [x] * 300000", "y is in([x] * 300000)"),
    "y not in [x] * 300000",
)
LATE_TEXTS = "{% set x = 'a' * 500000 %}{% set y = x[1:] ~ 'b' %}"

NUMBERS = ("9**(9**9)", "(9**99)**99", "(7**300) * (7**300)", "1 - 7**500")
WIDTHS = (
    *("'%1000000000d' % 1", "'%*d' % (10**9, 1)", "'%-.*f' % (10**9, 1)", "'%.999999999f' % 1"),
    "'%(a)999999999s' % {'a': 1}",
    *("'{:>1000000000}'.format(1)", "'{:>{}}'.format(1, 10**9)", "'{a:>1000000000}'.format_map({'a': 1})"),
    *("'%1000000000d' | format(1)", "'%1000000000d' is even", "'%1000000000d' is divisibleby(1)"),
    *("'{:>00000000001000000000}'.format(1)", "'{:{}1000000000}'.format(1, '>')", "'{:{}}'.format(1, '>1000000000')"),
    *("'{a:{b}}'.format_map({'a': 1, 'b': '>1000000000'})", "('{:{}}' | safe).format(1, '<1000000000')"),
    *("'%((a))1000000000d' % {'(a)': 1}", "('%(' * 2000000) % 1"),
    *("'a' | center(10**10)", "'a'.center(10**10)", "'a'.ljust(10**10)", "'a'.zfill(10**10)"),
    *("'\\t'.expandtabs(10**10)", "'a' | indent(10**10, true)", "(1).to_bytes(10**10, 'big')"),
    *("{'a': 1} | tojson(indent=10**9)", "[1] | batch(10**9, 'x') | list", "[1] | slice(10**9) | list"),
    *("1 | round(10**9, 'ceil')", "1 | round(-(10**9))", "strftime_now('%999999999Y')"),
)
PRODUCTS = (
    *("'a' * 10**10", "[1] * 10**10", "strftime_now('%Y' * 100000000)", "strftime_now('%Y' * 100000)"),
    *(f"{BIG}.replace('a', {BIG})", f"{BIG} | replace('a', {BIG})", f"{BIG} | replace('', {BIG})"),
    *(
        f"{BIG}.translate({{97: {BIG}}})",
        f"{BIG}.join(range(100000) | map('string'))",
        f"range(100000) | join({BIG})",
    ),
    *(f"range(1000) | list | tojson(separators=({BIG}, 'b'))", f"('a\\n' * 100000) | indent({BIG})"),
    *(f"{BIG} | wordwrap(1, wrapstring={BIG})", "range(100000) | map('string') | map('center', 100000) | list"),
    *(f"('%s' * 100000) % (({BIG},) * 100000)", f"('{{0}}' * 100000).format({BIG})"),
    "([[1] * 1000] * 1000) | sum(start=[])",
)
SHARED = (
    *(
        "ns.x",
        "ns",
        "ns.x | string",
        "ns.x | tojson",
        "ns.x ~ ''",
        "'%s' % ns.x",
        "'{}'.format(ns.x)",
        "ns.x | upper",
    ),
    *("raise_exception(ns.x)", "{'a': ns.x}.items()", "ns.x == ns.y", "ns.x in [ns.y]", "[ns.x, ns.y] | sort"),
    *("[ns.x, ns.y] | max", "[ns.x] | select('eq', ns.y) | list", "[ns.x].index(ns.y)", "ns.x | pprint"),
)
HASHED = ("{ns.x: 1}", "{}[ns.x]", "{}.get(ns.x)", "[ns.x, ns.x] | unique | list")
TEMPLATES = (
    *(f"{{{{ {each} }}}}" for each in (*NUMBERS, *WIDTHS, *PRODUCTS, *SLOW, "lipsum(n=10**9)", "'x' | urlize")),
    *(f"{LATE_TEXTS}{{{{ {each} }}}}" for each in LATE),
    LISTS + "{% for i in range(2) %}{{ loop.changed(ns.x if i else ns.y) }}{% endfor %}",
    "{% set x = 'a' * 1500000 %}{% set ns = namespace(l=[]) %}"
    "{% for i in range(1000) %}{% set ns.l = ns.l + [x.partition('b')] %}{% endfor %}",
    *(f"{LISTS}{{{{ {each} }}}}" for each in SHARED if each != "ns"),
    *(f"{TUPLES}{{{{ {each} }}}}" for each in HASHED),
    *(doubled(*each) for each in (("'a'", "ns.x ~ ns.x"), ("'a'", "ns.x + ns.x"), ("'a'.center(5)", "ns.x + ns.x"))),
    *(doubled(*each) for each in (("['a']", "ns.x + ns.x"), ("7", "ns.x * ns.x"), ("7**350", "ns.x + ns.x"))),
    "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    *(
        f"{{% set x = {BIG} %}}{{% set ns = namespace(l=[]) %}}{{% for i in range(100000) %}}{each}{{% endfor %}}"
        for each in ("{{ x }}", "{% set ns.l = ns.l + [x[1:]] %}", "{% set ns.l = ns.l + [x.upper()] %}")
    ),
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_is_bounded(template: str) -> None:
    tokenizer = toksmith.Tokenizer()
    with pytest.raises(ValueError, match="the chat template failed"):
        tokenizer.apply_chat_template(CHAT, chat_template=template)


def test_an_error_of_a_template_is_short_and_printable() -> None:
    with pytest.raises(ValueError, match=r"^the chat template failed: \\x1b\[2Ja+$") as raised:
        toksmith.Tokenizer().apply_chat_template(
            CHAT, chat_template="{{ raise_exception('\x1b[2J' ~ 'a' * 1000000) }}"
        )
    assert len(str(raised.value)) < 1100


@pytest.mark.parametrize("body", ["", "{% if x.count('aab') %}{% endif %}"])
@pytest.mark.parametrize(
    "limit, value, message", [("STEPS", 100_000, "more than 100,000 steps"), ("SECONDS", 0.05, "time")]
)
def test_loops_end(limit: str, value: float, message: str, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"toksmith.chat.bounds.MAX_{limit}", value)
    loops = "{% for i in range(99999) %}{% for j in range(99999) %}" + body + "{% endfor %}{% endfor %}"
    with pytest.raises(ValueError, match=message):
        toksmith.Tokenizer().apply_chat_template(CHAT, chat_template="{% set x = 'a' * 1000 %}" + loops)


def test_a_namespace_shows_no_values() -> None:
    assert toksmith.Tokenizer().apply_chat_template(CHAT, chat_template=LISTS + "{{ ns }}") == "<Namespace>"


@pytest.mark.parametrize(
    "template, text",
    [
        ("{{ '%5d|%-3s|%%' % (3, 'a') }}", "    3|a  |%"),
        ("{{ '{:>5}|{a}'.format(3, a=[1]) }}{{ '%s at %d' | format('x', 1700000000) }}", "    3|[1]x at 1700000000"),
        ("{{ 1700000000 // 7 * 9 - 2 ** 3 }}{{ 7.5 % 2 }}{{ 2 ** 0.5 > 1 }}", "21857142701.5True"),
        ("{{ 'a-b'.replace('-', '+', 1) }}{{ 'ab' | replace('a', 'c') | center(6) }}|", "a+b  cb  |"),
        ("{{ ['a', 'b'].index('b') }}{{ {'a': 1}.get('a') }}{{ [3, 1] | sort | join('-') }}", "111-3"),
        ("{{ [{'n': 'a'}, {'n': 'b'}] | map(attribute='n') | join('+') }}", "a+b"),
        ("{{ [{'n': 'a'}, {'n': 'b'}] | join('+', attribute='n') }}{{ 'x'.join(['a', 'b']) }}", "a+baxb"),
        (
            "{{ {'a': [1, {'b': none}]} | tojson(indent=2) }}",
            '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ]\n}',
        ),
        (
            "{{ 'a\\nb' | indent(2) }}{{ [1, 2, 3] | batch(2) | list }}{{ 2.567 | round(1) }}",
            "a\n  b[[1, 2], [3]]2.6",
        ),
        ("{% for c in range(4)[1:3] %}{{ c is even }}{{ c is divisibleby 2 }}{% endfor %}", "FalseFalseTrueTrue"),
    ],
)
def test_what_is_bounded_means_what_it_means(template: str, text: str) -> None:
    assert toksmith.Tokenizer().apply_chat_template(CHAT, chat_template=template) == text


def test_long_conversations_are_no_attack() -> None:
    """A template may join all that came before with each message."""
    chat = [{"role": "user", "content": f"{number} " * 250} for number in range(400)]
    template = (
        "{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t + m.content %}{% endfor %}{{ ns.t }}"
    )
    text = toksmith.Tokenizer().apply_chat_template(chat, chat_template=template)
    assert text == "".join(str(message["content"]) for message in chat)
