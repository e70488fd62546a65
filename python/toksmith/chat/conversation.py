"""A conversation as a chat template lays it out: its text, its ids, and who wrote them."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from .._internal.messages import printable
from ..formats import templates
from . import bounds, sandbox
from .marked_text import ASSISTANT, GENERATED, TRUSTED, UNKNOWN, MarkedText, flagged, flags, marked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NOT_HERE = {"tokenize", "padding", "truncation", "return_tensors", "return_dict"}
_MAX_REASON = 1000
"""Characters of an error that a template raises."""
_OPEN_END = "THE_MESSAGE_IS_CONTINUED_HERE "
_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_REASONING = ("reasoning_content", "thinking", "reasoning")

_cores: weakref.WeakKeyDictionary[_core.Tokenizer, dict[str, _core.Tokenizer | None]] = weakref.WeakKeyDictionary()


class Conversation:
    """The text of a conversation, with the flags of its characters, and the tokenizer for it."""

    def __init__(self, core: _core.Tokenizer, text: MarkedText, has_generation: bool) -> None:
        self._core, self._text = core, text
        self._assistant = GENERATED if has_generation else ASSISTANT

    @property
    def text(self) -> str:
        """The text as a plain `str`."""
        return str.__str__(self._text)

    def ids(self) -> list[int]:
        """Return the ids: special tokens are those that lie in what the template wrote."""
        return self._core.encode_parts(self._parts())

    def count(self) -> int:
        """Return how many ids there are."""
        return self._core.count_parts(self._parts())

    def ids_and_mask(self) -> tuple[list[int], NDArray[np.bool_]]:
        """Return the ids, and which of them the assistant wrote.

        A template with a block `{% generation %}` says so itself, also where the block is not reached.
        """
        import numpy as np

        ids, spans = self._core.encode_parts_with_offsets(self._parts())
        codes = np.frombuffer(flags(self._text), np.uint8)
        written = codes & self._assistant != 0
        before = np.concatenate(([0], np.cumsum(written)))
        return ids, before[spans[:, 1]] > before[spans[:, 0]]

    def _parts(self) -> list[tuple[str, bool]]:
        """Return the text in parts, each trusted or not."""
        parts, others = self._parts_with(TRUSTED), self._parts_with(TRUSTED | UNKNOWN)
        if parts != others and self._core.encode_parts(parts) != self._core.encode_parts(others):
            raise ValueError(
                "the chat template rewrites text that has special tokens in it, so that nobody can tell whether the "
                "template or a message wrote them: encode the result of apply_chat_template if you trust all messages"
            )
        return parts

    def _parts_with(self, trust: int) -> list[tuple[str, bool]]:
        text, codes = self.text, flags(self._text).translate(bytes(each & trust != 0 for each in range(256)))
        runs = re.finditer(rb"\x00+|\x01+", codes)
        return [(text[run.start() : run.end()], codes[run.start()] == 1) for run in runs]


def conversation(
    core: _core.Tokenizer,
    messages: Iterable[Mapping[str, Any]],
    *,
    tools: Iterable[Any] | None = None,
    documents: Iterable[Mapping[str, Any]] | None = None,
    chat_template: str | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    trusted: Iterable[str] = (),
    **variables: Any,
) -> Conversation:
    """Return a conversation. See `Tokenizer.apply_chat_template` and `Tokenizer.encode_messages`."""
    if wrong := _NOT_HERE & variables.keys():
        raise TypeError(f"there is no option {min(wrong)!r}: apply_chat_template returns text, encode_messages ids")
    named, known = core.chat()
    source = _source(dict(known), chat_template, tools is not None)
    rows = _messages(messages, {trusted} if isinstance(trusted, str) else set(trusted))
    if continue_final_message and add_generation_prompt:
        raise ValueError("either continue_final_message or add_generation_prompt: both say what comes next")
    field = "content" if continue_final_message is True else continue_final_message
    last = _open(rows[-1], field) if field else None
    values = {
        **marked(named, TRUSTED),
        **{key: marked(value, TRUSTED if key in _ROLES else 0) for key, value in variables.items()},
        "messages": rows,
        "tools": _rows("tools", None if tools is None else map(_schema, tools)),
        "documents": _rows("documents", documents),
        "add_generation_prompt": add_generation_prompt,
    }
    text, has_generation = _rendered(source, values)
    return Conversation(_core_for(core, source), text if last is None else _cut(text, last), has_generation)


def _source(known: Mapping[str, str], name: str | None, has_tools: bool) -> str:
    """Return the source of a template by its name, or of the one for a call."""
    if name is not None:
        return known[name] if name in known else templates.checked_source(name, known)
    for default in ["tool_use"] * has_tools + ["default"]:
        if default in known:
            return known[default]
    which = f"give chat_template, one of {', '.join(map(repr, known))}" if known else "give one as chat_template"
    raise ValueError(f"the tokenizer has no {'default ' if known else ''}chat template: {which}")


def _messages(messages: Iterable[Mapping[str, Any]], trusted: set[str]) -> list[dict[str, Any]]:
    rows = []
    for at, message in enumerate(messages):
        row = marked(message, 0)
        if not isinstance(row, dict):
            raise TypeError(f"message {at} is a mapping with a role and content, not {type(message).__name__}")
        role = row.get("role")
        row = marked(row, TRUSTED * (role in trusted) | ASSISTANT * (role == "assistant"))
        row = {key: value for key, value in row.items() if value is not None}
        reasoning = next((row[name] for name in _REASONING if name in row), None)
        if reasoning is not None:
            row = {"thinking": reasoning, **row, "reasoning_content": reasoning}
        if isinstance(role, str):  # the program that calls chooses it
            row["role"] = flagged(role, TRUSTED)
        rows.append(row)
    if not rows:
        raise ValueError("there are no messages: a chat template needs one at least")
    return rows


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


def _rows(name: str, values: Iterable[Mapping[str, Any]] | None) -> list[Any] | None:
    rows = None if values is None else marked(list(values), 0)
    for at, row in enumerate(rows or ()):
        if not isinstance(row, dict):
            raise TypeError(f"{name}[{at}] is a mapping (of a tool, its JSON schema), not {row}")
    return rows


def _rendered(source: str, values: dict[str, Any]) -> tuple[MarkedText, bool]:
    """Return the text of a conversation, and whether the template marks what the assistant wrote."""
    try:
        bounds.start(values)
        template, has_generation = sandbox.compiled(source)
        text: MarkedText = sandbox.environment().concat(template.generate(**values))
        return text, has_generation
    except MemoryError:
        raise
    except Exception as error:  # a template is a program: it may raise any error
        line = getattr(error, "lineno", None)
        reason = printable(str(error)[:_MAX_REASON])
        raise ValueError(f"the chat template failed{f' in line {line}' if line else ''}: {reason}") from error


def _core_for(core: _core.Tokenizer, source: str) -> _core.Tokenizer:
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
