"""What a chat template writes around the turns of the assistant, found by asking it."""

import itertools
import re
from typing import Any

from .. import _core
from .conversation import Layout
from .marked_text import GENERATED

_USER, _ANSWER, _NEXT = "WHAT-THE-USER-SAYS", "WHAT-THE-ASSISTANT-SAYS", "WHAT-THE-USER-SAYS-NEXT"
_CLOSING = re.compile(r"</[\w:]+>")
_ROWS = [
    {"role": "user", "content": _USER},
    {"role": "assistant", "content": _ANSWER},
    {"role": "user", "content": _NEXT},
    {"role": "assistant", "content": _ANSWER},
]


def of(layout: Layout, core: _core.Tokenizer) -> dict[str, Any]:
    """Return what a template writes around turns, as `Borders` in Rust; nothing where it cannot be asked.

    The token that ends a turn is the last special token that the template writes behind an answer both at the end and
    before another message.
    """
    question = _text(layout, 1)
    if not question:  # a template that takes its time to fail is not asked four times
        return {"generation_prompt": "", "headers": [], "end": None}
    answer, asked_again = _text(layout, 2), _text(layout, 3)
    prompted = _text(layout, 1, add_generation_prompt=True)
    pairs = zip(_between(answer, _ANSWER), _between(asked_again, _ANSWER, _NEXT), strict=False)
    ending = "".join(character for character, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    tokens = special_tokens(core)
    # A template that always begins an answer, as Cohere's, writes the opening token behind each one.
    names = [name for name in tokens if name in ending and "start" not in name.lower()]
    ends = [(ending.rindex(name) + len(name), len(name), tokens[name]) for name in names]
    return {
        "generation_prompt": prompted[len(question) :] if prompted.startswith(question) else "",
        "headers": sorted({_between(text, _USER, _ANSWER) for text in (answer, _text(layout, 4))} - {""}),
        "end": max(ends)[2] if ends else None,
    }


def is_open(layout: Layout) -> bool:
    """Return whether no special token follows the last answer, or the block `{% generation %}` ends before one."""
    try:
        conversation = layout.conversation(_ROWS[:2])
    except ValueError:
        return False
    before, answer, behind = conversation.text.rpartition(_ANSWER)
    if conversation.has_generation:
        flags = conversation.flags[len(before + answer) :]
        behind = behind[: sum(1 for _ in itertools.takewhile(lambda flag: flag & GENERATED, flags))]
    return bool(answer) and not any(name in behind for name in special_tokens(layout.core))


def special_tokens(core: _core.Tokenizer) -> dict[str, int]:
    """Return the special tokens that may begin or end a turn.

    Tags such as `<think>` and `</think>` are none of them, unless they have a role, as `</s>` may: Hugging Face's
    files add them, and a tokenizer may not tell them from special tokens.
    """
    known = core.special_tokens()
    named = {"<s>", "</s>", *map(str, core.chat()[0].values())}
    closing = {name for name in known if _CLOSING.fullmatch(name)}
    tags = closing | {name.replace("/", "", 1) for name in closing}
    return {name: id for name, id in known.items() if name in named or name not in tags}


def _text(layout: Layout, count: int, **options: Any) -> str:
    """Return the text of the first messages; nothing if the template refuses them."""
    try:
        return layout.conversation(_ROWS[:count], **options).text
    except ValueError:
        return ""


def _between(text: str, start: str, end: str = "") -> str:
    """Return what is behind one text, and before another."""
    _, start, behind = text.partition(start)
    before, _, _ = behind.partition(end) if end and end in behind else (behind, "", "")
    return before if start and (not end or end in behind) else ""
