"""A conversation as a chat template lays it out: its text, its ids, and who wrote them."""

from __future__ import annotations

import functools
import json
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import _core
from .._internal import arguments
from .._internal.messages import printable, shown
from ..formats import templates
from . import sandbox
from .marked_text import (
    ASSISTANT,
    GENERATED,
    THINKING,
    TOOL_CALL,
    TRUSTED,
    TURN_UNIT,
    MarkedText,
    flags,
    marked,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Result = TypeVar("Result")

_OPTIONS = ("tools", "documents", "add_generation_prompt", "continue_final_message")
"""Options of a conversation; all others are variables of the template."""
_NOT_HERE = {"tokenize", "padding", "truncation", "return_tensors", "return_dict"}
_MAX_REASON = 1000
"""Characters of an error that a template raises."""
_OPEN_END = "THE_MESSAGE_IS_CONTINUED_HERE "
_REASONING = ("reasoning_content", "thinking", "reasoning")
_KINDS = {**dict.fromkeys(_REASONING, THINKING), "tool_calls": TOOL_CALL}
_NAMES = ("name", "tool_call_id")
"""Fields that a program fills in, for the assistant too."""

_cores: weakref.WeakKeyDictionary[_core.Tokenizer, dict[str, _core.Tokenizer | None]] = weakref.WeakKeyDictionary()


class Conversation(NamedTuple):
    """The text of a conversation, with the flags of its characters, and the tokenizer for it."""

    core: _core.Tokenizer
    marked: MarkedText
    has_generation: bool
    """Whether the template says itself what the assistant wrote, by a block `{% generation %}`, reached or not."""

    @property
    def flags(self) -> bytes:
        """The flags of each character."""
        return flags(self.marked)

    @property
    def text(self) -> str:
        """The text as a plain `str`."""
        return str.__str__(self.marked)

    def ids(self) -> list[int]:
        """Return the ids: special tokens are those that lie in what the template wrote."""
        return self.core.encode_marked(self.text, self.flags, 0)[0]

    def ids_and_mask(self) -> tuple[list[int], NDArray[np.bool_]]:
        """Return the ids, and which of them the assistant wrote."""
        import numpy as np  # takes long

        written = GENERATED if self.has_generation else ASSISTANT
        ids, mask = self.core.encode_marked(self.text, self.flags, written)
        return ids, np.frombuffer(mask, np.bool_).copy()


class Layout:
    """A chat template with its variables, for many conversations.

    Args:
        core: The tokenizer.
        chat_template: The name or the source of a template; None for the default one.
        has_tools: Whether the conversations have tools, for which a tokenizer may have a template of its own.
        trusted: Roles whose messages may have special tokens.
        variables: Variables of the template.
    """

    def __init__(
        self,
        core: _core.Tokenizer,
        chat_template: str | None = None,
        has_tools: bool = False,
        trusted: Iterable[str] = (),
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        named, known = core.chat()
        self.source = _source(dict(known), chat_template, has_tools)
        self.core = core_for(core, self.source)
        self._trusted = {trusted} if isinstance(trusted, str) else set(trusted)
        self._values = {**marked(named, TRUSTED), **_marked_variables(variables or {})}

    @property
    def template(self) -> sandbox.Compiled:
        """The template, compiled."""
        return _run(lambda: sandbox.compiled(self.source))

    def exported(self) -> str | None:
        """Return the template for the core (`Template` in Rust), as JSON; None if a part is not known there."""
        parsed, date = sandbox.syntax_of(self.source), self._values.get("strftime_now", sandbox.date)
        if parsed is None:
            return None
        tree, formats = parsed
        template = {
            "body": tree,
            "dates": {format: str.__str__(date(format)) for format in formats},
            "has_generation": self.template.has_generation,
        }
        return json.dumps(template)

    def conversation(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        first: int = 0,
        tools: Iterable[Any] | None = None,
        documents: Iterable[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        variables: Mapping[str, Any] | None = None,
    ) -> Conversation:
        """Return a conversation. The assistant's messages from the number `first` on are marked as its own.

        For the others, and for the errors, see `Tokenizer.apply_chat_template` and `Tokenizer.encode_messages`.
        """
        rows = _messages(messages, self._trusted, first)
        if continue_final_message and add_generation_prompt:
            raise ValueError("either continue_final_message or add_generation_prompt: both say what comes next")
        field = "content" if continue_final_message is True else continue_final_message
        last = _open(rows[-1], field) if field else None
        values = {
            **self._values,
            **_marked_variables(variables or {}),
            "messages": rows,
            "tools": _rows("tools", tools, _schema),
            "documents": _rows("documents", documents),
            "add_generation_prompt": add_generation_prompt,
        }
        template = self.template
        text = _run(lambda: sandbox.rendered(template, values))
        return Conversation(self.core, text if last is None else _cut(text, last), template.has_generation)


def conversation(
    core: _core.Tokenizer,
    messages: Iterable[Mapping[str, Any]],
    /,
    *,
    chat_template: str | None = None,
    trusted: Iterable[str] = (),
    **options: Any,
) -> Conversation:
    """Return a conversation. See `Tokenizer.apply_chat_template` and `Tokenizer.encode_messages`."""
    if wrong := _NOT_HERE & options.keys():
        raise TypeError(f"there is no option {min(wrong)!r}: apply_chat_template returns text, encode_messages ids")
    own = {name: options.pop(name) for name in _OPTIONS if name in options}
    layout = Layout(core, chat_template, own.get("tools") is not None, trusted, options)
    return layout.conversation(messages, **own)


def _marked_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    values = {key: marked(value, TRUSTED if key in templates.ROLES else 0) for key, value in variables.items()}
    values.pop("strftime_now", None)
    if (now := variables.get("strftime_now")) is not None:  # tables have null where a record has none
        try:
            values["strftime_now"] = functools.partial(sandbox.date, now=datetime.fromisoformat(str(now)))
        except ValueError:
            raise ValueError(f"strftime_now is a date such as 2026-11-29, not {shown(now)}") from None
    return values


def _source(known: Mapping[str, str], name: str | None, has_tools: bool) -> str:
    """Return the source of a template by its name, or of the one for a call."""
    if name is not None:
        return known[name] if name in known else templates.checked_source(name, known)
    for default in ["tool_use"] * has_tools + ["default"]:
        if default in known:
            return known[default]
    which = f"give chat_template, one of {', '.join(map(repr, known))}" if known else "give one as chat_template"
    raise ValueError(f"the tokenizer has no {'default ' if known else ''}chat template: {which}")


def _messages(messages: Iterable[Mapping[str, Any]], trusted: set[str], first: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    turns = 0
    for at, message in enumerate(arguments.listed("messages", messages, "mappings")):
        row = message if isinstance(message, dict) else marked(message, 0)
        if not isinstance(row, dict):
            raise TypeError(f"message {at} is a mapping with a role and content, not {type(message).__name__}")
        role = row.get("role")
        flag = own = TRUSTED * (role in trusted)
        if role == "assistant" and at >= first and has_weight(row):
            turns += 1
            own |= ASSISTANT | TURN_UNIT * (turns % 4)
        row = {
            marked(key, flag): marked(value, flag if key in _NAMES else own | _KINDS.get(key, 0))
            for key, value in row.items()
            if value is not None
        }
        reasoning = next((row[name] for name in _REASONING if name in row), None)
        if reasoning is not None:
            row = {"thinking": reasoning, **row, "reasoning_content": reasoning}
        if isinstance(role, str):  # the program that calls chooses it
            row["role"] = MarkedText(role, TRUSTED)
        rows.append(row)
    if not rows:
        raise ValueError("there are no messages: a chat template needs one at least")
    return rows


def has_weight(message: Mapping[str, Any]) -> bool:
    """Return whether a message has weight: those that a model must not learn have `weight: 0` in OpenAI's files."""
    weight = message.get("weight")
    return isinstance(weight, bool) or weight != 0


def _open(message: dict[str, Any], field: str) -> str:
    """Mark where the text in a field of a message ends; returns the text before."""
    text = message.get(field)
    if isinstance(text, (list, tuple)):
        blocks = [block for block in text if isinstance(block, dict)]
        message, field = next((block for block in reversed(blocks) if "text" in block), {}), "text"
        text = message.get(field)
    if not isinstance(text, str):
        raise ValueError(f"the final message has no text in its {field!r} that could be continued")
    names = _REASONING if field in _REASONING else (field,)
    message |= {name: text + _OPEN_END for name in names if message.get(name) == text}
    return text


def _cut(text: MarkedText, last: str) -> MarkedText:
    """Return the text of a conversation up to the mark of `_open`."""
    before, mark, after = text.rpartition(_OPEN_END.strip())
    if not mark or last.strip() not in text:
        raise ValueError("the chat template does not show the final message as it is, so it cannot be continued")
    if _OPEN_END.strip() in before:
        raise ValueError("the chat template shows the final message more than once, so it cannot be continued")
    result: MarkedText = before if after.startswith(" ") else before.rstrip()  # the template takes spaces off, too
    return result


def images_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks with an image of all contents."""
    for message in messages:
        content = message.get("content")
        for block in content if isinstance(content, (list, tuple)) else ():
            if isinstance(block, Mapping) and ("image" in str(block.get("type")) or "image" in block):
                yield block


def _schema(tool: Any) -> Any:
    """Return the JSON schema of a tool; that of a function is what `transformers` makes of its signature."""
    if not callable(tool):
        return tool
    try:
        from transformers.utils import get_json_schema
    except ImportError:
        raise ImportError(
            "a tool that is a Python function needs the package `transformers`: install it, or give its JSON schema"
        ) from None
    try:
        return get_json_schema(tool)
    except Exception as error:  # transformers has its own for docstrings and for types
        raise ValueError(f"no JSON schema can be made of the tool {printable(str(tool))}: {error}") from error


def _rows(
    name: str, values: Iterable[Mapping[str, Any]] | None, row_of: Callable[[Any], Any] = lambda value: value
) -> list[Any] | None:
    if values is None:
        return None
    rows: list[Any] = marked([*map(row_of, arguments.listed(name, values, "mappings"))], 0)
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise TypeError(f"{name}[{at}] is a mapping (of a tool, its JSON schema), not {row}")
    return rows


def _run(work: Callable[[], Result]) -> Result:
    """Return what a template gives."""
    try:
        return work()
    except MemoryError:
        raise
    except Exception as error:  # a template is a program: it may raise any error
        line = getattr(error, "lineno", None)
        reason = printable(str(error)[:_MAX_REASON])
        raise ValueError(f"the chat template failed{f' in line {line}' if line else ''}: {reason}") from error


def core_for(core: _core.Tokenizer, source: str) -> _core.Tokenizer:
    """Return the core to encode with: added tokens that the template writes also count as special tokens.

    Hugging Face's files call `<think>` or `<tool_call>` ordinary added tokens, which are found in any text. In a
    message they would speak for the template.
    """
    pipeline = core.pipeline
    if pipeline is None:
        return core
    cores = _cores.setdefault(core, {})
    if source not in cores:
        if len(cores) >= 8:
            cores.clear()
        tokens = pipeline.added_tokens
        contents = {token["content"] for token in tokens if token["content"] in source}
        # The core itself as a value of its own key would never be freed.
        is_own = all(token["special"] for token in tokens)
        cores[source] = None if is_own else core.with_special({text for text in contents if not text.isspace()})
    return cores[source] or core
