"""Conversations as training data: what `tokenize(messages=True)` makes of records."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from types import NoneType
from typing import TYPE_CHECKING, Any

from .._internal import arguments
from .._internal.choices import TrainOn, Untrained
from .._internal.messages import shown
from ..corpus import Corpus
from ..files import inputs, tables
from ..files.inputs import Source
from ..formats.templates import ROLES
from ..tokenizer import Tokenizer
from .manifest import JsonObject

if TYPE_CHECKING:
    from .. import _core
    from ..chat.conversation import Layout

_NOW = "strftime_now"
"""The function by which a template writes the date, and the key of `chat` that has the date."""
_EXTRAS = ("tools", "documents", "chat_template_kwargs")
_NOT_VARIABLES = {"messages", *_EXTRAS, "add_generation_prompt", "continue_final_message"}
_NO_END = (
    "no special token of the tokenizer follows an answer in the chat template (inside its block {% generation %}, if "
    "it has one), and a model that never learns one never stops: add that of the template to the tokenizer, or to "
    "the block, or give another one with append=…"
)
_SURROGATE = re.compile("[\ud800-\udfff]")

Record = tuple[str, str] | tuple[str, bytes, bool, bool, bool, bool]
"""What the core gets of a record: see `Record` in Rust."""


class Conversations:
    """How records become conversations.

    The core reads records by `reading`, its options as JSON, and leaves to `read` what it does not know; `training`
    has its other options. `settings` are what decides what is written, as the manifest keeps it. `encoder` is the
    tokenizer with what the templates write as special tokens. `warning` says that nothing ends an answer.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        corpus: Corpus,
        train_on: TrainOn,
        untrained: Untrained | Iterable[Untrained],
        end_of_turn: bool,
        chat: Mapping[str, Any] | None,
    ) -> None:
        arguments.one_of("train_on", train_on, TrainOn)
        names = [untrained] if isinstance(untrained, str) else list(untrained)
        for name in names:
            arguments.one_of("untrained", name, Untrained)
        field = corpus.reading["field"] or corpus.reading["column"] or "messages"
        if isinstance(field, list):
            raise ValueError("field has one name with messages=True: that of the messages")
        self._field, self._train_on, self._replaces = field, train_on, corpus.replaces_invalid
        self._layouts = _Layouts(tokenizer._core, dict(chat or {}))
        self.encoder, self.special_ids = self._layouts.encoder, self._layouts.special_ids
        self.warning = _NO_END if end_of_turn and train_on != "all" and self._layouts.has_no_end() else None
        self.training: JsonObject = {
            "all": train_on == "all",
            "end_of_turn": bool(end_of_turn),
            "thinking": "thinking" not in names,
            "tool_calls": "tool_calls" not in names,
        }
        self.settings: JsonObject = {
            "train_on": train_on,
            "untrained": sorted(set(names)),
            "end_of_turn": bool(end_of_turn),
            **self._layouts.settings,
        }
        self.reading = json.dumps(
            {
                "field": field,
                "train_on": train_on,
                "end_of_turn": bool(end_of_turn),
                "templates": self._layouts.templates,
                "borders": self._layouts.borders,
                "surroundings": self._layouts.surroundings(tokenizer._core),
            }
        )

    @classmethod
    def of(cls, messages: bool, tokenizer: Tokenizer, corpus: Corpus, **options: Any) -> Conversations | None:
        """Return the conversations of a call of `tokenize`, whose other options of theirs need `messages`."""
        if messages:
            return cls(tokenizer, corpus, **options)
        defaults = {"train_on": "assistant", "untrained": (), "end_of_turn": True, "chat": None}
        for name, value in options.items():
            if value != defaults[name]:
                raise ValueError(f"{name} is for conversations: give messages=True with it")
        return None

    def corpus(self, corpus: Corpus) -> Corpus:
        """Return a corpus whose documents are whole records, as JSON."""
        corpus = copy.copy(corpus)
        corpus.sources = [_of_records(source) for source in corpus.sources]
        return corpus

    def read(self, line: bytes) -> Record:
        """Return what a record has, for the core.

        Raises:
            ValueError: The record has neither messages nor a prompt with a completion, or the template refuses it.
            TypeError: A message is no object.
        """
        try:
            outer = self._field.partition(".")[0]
            return self._record(_parsed(line, {self._field, outer, "prompt", "completion", *_EXTRAS}))
        except RecursionError:
            raise ValueError("the record is nested too deeply") from None

    def _record(self, record: JsonObject) -> Record:
        messages = _of_json(self._field, _field(record, self._field))
        if messages is not None:
            return self._conversation(_listed(self._field, messages), None, record)
        prompt, completion = record.get("prompt"), record.get("completion")
        if isinstance(prompt, str) and isinstance(completion, str):
            return self._readable(prompt), self._readable(completion)
        if prompt is None or completion is None:
            names = [name for name, value in record.items() if value is not None]
            others = f"only {shown(names, 400)}" if names else "and nothing else"
            there = f'there is neither {shown(self._field)} nor "prompt" and "completion", {others}'
            advice = "name the field that has the messages with field=…; in an iterable it is 'messages'"
            raise ValueError(f"{there}: {advice}")
        if isinstance(prompt, str) or isinstance(completion, str):
            raise ValueError("prompt and completion are neither both texts nor both messages")
        before = _listed("prompt", prompt)
        return self._conversation(before + _listed("completion", completion), len(before), record)

    def _conversation(self, messages: list[Any], prompt: int | None, record: JsonObject) -> Record:
        from ..chat.conversation import has_weight

        tools, documents, variables = (_of_json(name, record.get(name)) for name in _EXTRAS)
        if not isinstance(variables, (dict, NoneType)):
            raise ValueError("chat_template_kwargs is no object")
        layout = self._layouts.of(tools is not None)
        first = _first_trained(self._train_on, messages, prompt)
        made = layout.conversation(messages, first=first, tools=tools, documents=documents, variables=variables)
        own = [message.get("role") == "assistant" and has_weight(message) for message in messages[first:]]
        needs_own = prompt is not None or self._train_on != "assistant" or not all(map(has_weight, messages))
        trains_end = self.training["all"] or (self.training["end_of_turn"] and own[-1:] == [True])
        text = self._readable(made.text)
        return text, made.flags, made.has_generation, needs_own, tools is not None, trains_end

    def _readable(self, text: str) -> str:
        """Return a text without escapes of half a character, which cannot be encoded."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            if self._replaces:
                return _SURROGATE.sub("\ufffd", text)
            escape = f"\\u{ord(text[error.start]):x}"
            advice = 'is half of a character: give errors="replace" to read it as U+FFFD'
            raise ValueError(f"an escape such as {escape} {advice}") from None
        return text


class _Layouts:
    """The chat templates of a tokenizer, without tools and with them, and what `tokenize(chat=)` says of them.

    `encoder` is the tokenizer to encode with, in which what the templates write counts as special tokens.
    """

    def __init__(self, core: _core.Tokenizer, chat: dict[str, Any]) -> None:
        if wrong := _NOT_VARIABLES & chat.keys():
            raise ValueError(
                f"chat: {min(wrong)} is no variable of a template: messages, tools and documents are in records"
            )
        template, trusted, now = chat.pop("chat_template", None), chat.pop("trusted", ()), chat.pop(_NOW, None)
        now = date.today() if now is None else now
        self.encoder = core
        self.special_ids = [*core.special_tokens().values()]
        self.settings: JsonObject = {
            "templates": [],
            "variables": _json_values(chat),
            "trusted": [trusted] if isinstance(trusted, str) else sorted(trusted),
            "date": None,
            "ends": [],
        }
        self.templates: list[str | None] = [None, None]
        self._layouts: list[Layout] = []
        self.borders: list[JsonObject] = [{"generation_prompt": "", "headers": [], "end": None}] * 2
        if template is None and not core.chat()[1]:
            return
        from ..chat import borders
        from ..chat.conversation import Layout, core_for

        layouts = [Layout(core, template, has_tools, trusted, chat | {_NOW: now}) for has_tools in (False, True)]
        for layout in layouts:
            _ = layout.template  # which may not compile
        sources = [layout.source for layout in layouts]
        self.encoder = core_for(core, "".join(sources))
        if any(_NOW in source for source in sources):
            self.settings["date"] = datetime.fromisoformat(str(now)).isoformat()
        self.settings["templates"] = list(dict.fromkeys(sources))
        of_sources = {
            layout.source: borders.of(layout, core) for layout in dict(zip(sources, layouts, strict=True)).values()
        }
        self.borders = [of_sources[source] for source in sources]
        self.templates = [layout.exported() for layout in layouts]
        names = {id: name for name, id in borders.special_tokens(core).items()}
        self.special_ids = [*names]
        ends = {of["end"] for of in self.borders} - {None}
        self.settings["ends"] = sorted(names[id] for id in ends)
        self._layouts = layouts

    def of(self, has_tools: bool) -> Layout:
        """Return the layout of a conversation."""
        if not self._layouts:
            raise ValueError("the tokenizer has no chat template: chat needs a chat_template")
        return self._layouts[has_tools]

    def has_no_end(self) -> bool:
        """Whether no special token follows an answer at the end."""
        from ..chat import borders

        is_known = any(of["headers"] for of in self.borders)
        return is_known and borders.is_open(self._layouts[0])

    def surroundings(self, core: _core.Tokenizer) -> JsonObject:
        """Return what templates know besides a conversation, for the core."""
        variables, trusted = self.settings["variables"], self.settings["trusted"]
        return {"named": core.chat()[0], "variables": variables, "roles": ROLES, "trusted": trusted}


def _first_trained(train_on: TrainOn, messages: list[Any], prompt: int | None) -> int:
    """Return the number of the first message of the assistant that a model is trained on."""
    first, role = prompt or 0, {"last": "assistant", "completion": "user"}.get(train_on)
    if role is None or (role == "user" and prompt is not None):
        return first
    last = next((at for at in reversed(range(len(messages))) if messages[at].get("role") == role), -1)
    return max(first, last + (role == "user"))


def _parsed(line: bytes, fields: set[str]) -> JsonObject:
    """Return a record of JSON. A repeated name other than those of `fields` is ignored, as with records of text."""
    names: list[str] = []

    def of_pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
        names[:] = (name for name, _ in pairs)  # those of the whole record in the end
        return dict(pairs)

    try:
        record = json.loads(line, object_pairs_hook=of_pairs)
    except ValueError as error:
        raise ValueError(f"not a record of JSON: {error}") from None
    if not isinstance(record, dict):
        raise ValueError(f"not a record, but {type(record).__name__}")
    if repeated := [name for name in names if name in fields and names.count(name) > 1]:
        raise ValueError(f"the field {shown(repeated[0])} is there twice: keep one of them")
    return record


def _field(record: JsonObject, name: str) -> Any:
    """Return what a record has by a name, or None; `a.b` is the field `b` of `a`."""
    outer, dot, inner = name.partition(".")
    if name in record or not dot:
        return record.get(name)
    return _field(record[outer], inner) if isinstance(record.get(outer), dict) else None


def _of_json(name: str, value: Any) -> Any:
    """Return a value, which may be JSON in a text, as in tables; an empty text is none."""
    try:
        return (json.loads(value) if value.strip() else None) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"{shown(name)} is a text that is not JSON: {error}") from None


def _listed(name: str, messages: object) -> list[Any]:
    """Return messages: objects with a role. What the assistant says is no number, as templates print some."""
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ValueError(f"{shown(name)} is no list of messages")
    for at, message in enumerate(messages):
        if not isinstance(message.get("role"), str):
            advice = 'a message has "role" and "content"'
            raise ValueError(f"{name}[{at}] has no role, only {shown(list(message), 400)}: {advice}")
        if message["role"] == "assistant" and isinstance(message.get("content"), (int, float)):
            raise ValueError(f"{name}[{at}]: the content is {message['content']}: write it as a text")
    return messages


def _of_records(source: Source) -> Source:
    if source.texts is not None:
        return source._replace(texts=map(_record, source.texts))
    if source.path == inputs.DEVICE and source.format is None:
        source = source._replace(format="jsonl")
    if source.is_text:
        raise ValueError(f"{source.name}: plain text, and conversations are records: name another input_format")
    return source._replace(fields=())


def _record(record: object) -> object:
    return tables.as_json(record) if isinstance(record, Mapping) else record


def _json_values(variables: dict[str, Any]) -> JsonObject:
    try:
        values: JsonObject = json.loads(json.dumps(variables))
    except TypeError as error:
        raise TypeError(f"chat: variables of the template are values of JSON: {error}") from None
    return values
