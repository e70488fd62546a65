"""The texts that a page offers beside one's own: samples, and a conversation for each chat template."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...tokenizer import Tokenizer
from ..parts import has_chat_template

LANGUAGES = {
    "English": "The ferry wasn't late; we'd simply forgotten that clocks change in spring.",
    "German": "Die Straßenbahn fährt übers Wochenende nur stündlich: Fahrplanänderung wegen Gleisbauarbeiten.",
    "Russian": "Утром над рекой стоял туман, и лодки казались нарисованными.",
    "Greek": "Το καράβι έφτασε αργά, μα ο καφές ήταν ακόμη ζεστός.",
    "Arabic": "وصل القطار متأخراً، لكنّ المحطة كانت مليئة بالأصدقاء.",
    "Hindi": "बारिश रुकते ही बच्चे गली में खेलने निकल आए।",
    "Chinese": "雨停了，街角的小店又亮起了灯，热茶三元一杯。",
    "Japanese": "電車が遅れたので、駅前のカフェでコーヒーを飲みました。",
}
CODE_AND_SYMBOLS = {
    "Python": (
        'def mean(values: list[float]) -> float:\n    """Return the average."""\n'
        '    if not values:\n        raise ValueError("no values")\n    return sum(values) / len(values)\n'
    ),
    "JSON": '{\n  "id": 4021,\n  "tags": ["new", "on sale"],\n  "price": 19.95,\n  "sold": null\n}\n',
    "Numbers": "7 42 365 2024 31415 1000000 1,234,567.89 0x1F 6.02e23 ½ ٣٤ +44 20 7946 0018\n",
    "Emoji": "👍 👍🏽 👩‍🚀 👨‍👩‍👧 🇯🇵 ❤️ ☕ 1️⃣",
    "Whitespace": (
        "one two  three   four\n\tone tab\n\t\ttwo tabs\n    four spaces\n\n\n"
        "thin\u2009no-break\u00a0wide\u3000end \n"
    ),
}
CONVERSATION = [
    {"role": "system", "content": "Answer in one sentence."},
    {"role": "user", "content": "What is a token?"},
    {"role": "assistant", "content": "A piece of text that has a number."},
    {"role": "user", "content": "How many are in this question?"},
]


class Text(NamedTuple):
    """A text of the page, its name in the list of texts, and the group under which it stands there."""

    group: str
    name: str | None  # None where it is not in the list
    text: str


def texts(tokenizers: Mapping[str, Tokenizer], own: str) -> list[Text]:
    """Return the texts of a page that begins with one's `own`. They are as a text box holds them."""
    found = [Text("This page", "First text" if own else None, own)]
    found += (Text("Languages", name, text) for name, text in LANGUAGES.items())
    found += (Text("Code and symbols", name, text) for name, text in CODE_AND_SYMBOLS.items())
    found += _conversations(tokenizers)
    return [text._replace(text=text.text.replace("\r\n", "\n").replace("\r", "\n")) for text in found]


def _conversations(tokenizers: Mapping[str, Tokenizer]) -> Iterator[Text]:
    for name, tokenizer in tokenizers.items():
        try:
            if has_chat_template(tokenizer):
                yield Text("Conversation", f"Chat template of {name}", _conversation(tokenizer))
        except (ValueError, ImportError) as error:
            warnings.warn(f"{name}: the page shows no conversation: {error}", stacklevel=2)


def _conversation(tokenizer: Tokenizer) -> str:
    try:
        return tokenizer.apply_chat_template(CONVERSATION, add_generation_prompt=True)
    except ValueError:  # some templates take no system message
        return tokenizer.apply_chat_template(CONVERSATION[1:], add_generation_prompt=True)
