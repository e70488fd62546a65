"""Conversations as a tokenizer's chat template lays them out, as plain data: texts with places for the messages.

A page runs no Jinja. Each shape of conversation (a system message or none, and some turns) is rendered here with
marks as messages; what stands between the marks is its layout. A layout is checked with other messages, too.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ...chat import templates

Files: TypeAlias = "Mapping[str, Any]"

MAX_TURNS = 6
_MAX_CHARACTERS = 1 << 18
"""Characters of the longest conversation that is rendered."""
_MAX_STEPS, _MAX_SECONDS = 100_000, 1
"""Steps of the template and processor time for one conversation."""

Render: TypeAlias = "Callable[[Sequence[tuple[str, str]]], str]"
"""From messages, each a role and its content, to the text."""
Layout = list[Any]
"""Texts and places of messages: [number of the message, what is stripped of its start, and of its end]."""

_STRIPPED = ("", "\n", None)
"""What `str.strip` is given for each number of a layout: nothing is stripped, newlines, white space."""
# What is left of "\n\v" before a message, and of "\v\n" behind it, for each number.
_LEFT, _RIGHT = ("\n\v", "\v", ""), ("\v\n", "\v", "")
_CHECKS = (
    " Hello, world! ",
    "\n \t two\n\n lines \t \n",
    '\tĞЖ日👍 <b>&amp;</b> {{ x }} {% if %} \\ "a"\'\u3000',
)


def described(name: str, files: Files, added: Iterable[str] = ()) -> dict[str, Any] | None:
    """Return the layouts of a tokenizer's conversations, and which of its added tokens the template writes.

    None without a chat template, or where it cannot be run.
    """
    source = templates.templates(files).get("default")
    if source is None:
        return None
    try:
        render, strings, read = _compiled(source, templates.special_tokens(files))
    except Exception as error:  # the template is from elsewhere: Jinja raises many kinds of errors
        warnings.warn(f"{name}: the page shows no conversations: {error}", stacklevel=2)
        return None
    shapes = [roles for count in range(1, MAX_TURNS + 1) for roles in _shapes(count)]
    layouts = {" ".join(roles): _layout_or_reason(render, roles, strings) for roles in shapes}
    return {"layouts": layouts, "read": read, "writes": [token for token in added if templates.writes(source, token)]}


def _shapes(count: int) -> Iterator[list[str]]:
    turns = ["user", "assistant"] * count
    yield turns[:count]
    yield ["system", *turns[:count]]


def _compiled(source: str, special_tokens: dict[str, str]) -> tuple[Render, list[str], list[str]]:
    """Return what renders messages, the strings of a template, and those of them that it looks for in messages."""
    from ...chat import bounds, sandbox

    bounds.start((), _MAX_STEPS, _MAX_SECONDS)
    strings, read = _strings(sandbox.environment().parse(source))
    template = sandbox.compiled(source).template

    def render(messages: Sequence[tuple[str, str]]) -> str:
        rows = [{"role": role, "content": content} for role, content in messages]
        prompt = rows[-1]["role"] == "user"
        options = {"tools": None, "documents": None, "add_generation_prompt": prompt, **special_tokens}
        text = ""
        bounds.start((), _MAX_STEPS, _MAX_SECONDS)
        for piece in template.generate(messages=rows, **options):
            text += str.__str__(piece)
            if len(text) > _MAX_CHARACTERS:
                raise ValueError(f"it is longer than {_MAX_CHARACTERS:,} characters")
        return text

    return render, strings, read


def _strings(tree: Any) -> tuple[list[str], list[str]]:
    """Return the strings of a template, and those that it may look for in a message; no names and no white space."""
    from jinja2 import nodes

    def strings(node: Any) -> set[str]:
        values = {const.value for const in node.find_all(nodes.Const) if isinstance(const.value, str)}
        return {value for value in values if value.strip()}

    places = tree.find_all((nodes.Compare, nodes.Filter, nodes.Call))
    names = {"raise_exception", "strftime_now"}
    asked = [node for node in places if getattr(getattr(node, "node", None), "name", None) not in names]
    read = {value for node in asked for value in strings(node) if not value.isidentifier()}
    return sorted(strings(tree)), sorted(read)


def _layout_or_reason(render: Render, roles: list[str], strings: list[str]) -> Layout | str:
    """Return the layout of a shape, or why there is none, in words."""
    try:
        layout = _layout(render, roles)
        names = " ".join(value for value in strings if value.isidentifier())
        for shift in range(len(_CHECKS) + 1):
            contents = [[*_CHECKS, names][(shift + place) % (len(_CHECKS) + 1)] for place in range(len(roles))]
            contents = [content or "x" for content in contents]
            if filled(layout, contents) != render([*zip(roles, contents, strict=True)]):
                return "The chat template changes messages in a way that this page cannot."
    except Exception as error:  # as above; a template also refuses conversations by an error
        return f"The chat template refuses this conversation: {error}"
    return layout


def _layout(render: Render, roles: list[str]) -> Layout:
    marks = [f"m{place}q7z" for place in range(len(roles))]
    cut = re.compile(f"({'|'.join(marks)})")
    texts = cut.split(render([*zip(roles, marks, strict=True)]))
    wrapped = cut.split(render([(role, f"\n\v{mark}\v\n") for role, mark in zip(roles, marks, strict=True)]))
    layout: Layout = [texts[0]]
    for mark, text in zip(texts[1::2], texts[2::2], strict=True):
        layout += [[marks.index(mark), 0, 0], text]
    last = len(texts) - 1
    for place in range(0, len(texts) if len(wrapped) == len(texts) else 0, 2):
        ends, starts = _RIGHT if place > 0 else ("",), _LEFT if place < last else ("",)
        end, start = _strips(texts[place], wrapped[place], ends, starts)
        if place > 0:
            layout[place - 1][2] = end
        if place < last:
            layout[place + 1][1] = start
    return layout


def _strips(text: str, wrapped: str, ends: Sequence[str], starts: Sequence[str]) -> tuple[int, int]:
    """Return which of some ends stands before a text, and which of some starts behind it; 0 and 0 if none does."""
    pairs = itertools.product(enumerate(ends), enumerate(starts))
    same = ((before, behind) for (before, end), (behind, start) in pairs if f"{end}{text}{start}" == wrapped)
    return next(same, (0, 0))


def filled(layout: Layout, contents: Sequence[str]) -> str:
    """Return the conversation of some messages."""
    return "".join(part if isinstance(part, str) else _stripped(contents[part[0]], *part[1:]) for part in layout)


def _stripped(content: str, before: int, behind: int) -> str:
    return content.lstrip(_STRIPPED[before]).rstrip(_STRIPPED[behind])
