"""Random chat templates with and without `{% generation %}`: the mask of the assistant beside transformers."""

from __future__ import annotations

import functools
import random
import tempfile
from typing import Any

from splitting import outcomes

import toksmith
from toksmith import Tokenizer

SPECIAL = ["<s>", "</s>", "<|end|>"]
TEXTS = ["low", "lower", " ", "\n", "newest ", "the end", "\n\n", " x", "ab", "<|end|>", "</s>", "1"]
ROLES = ["user", "assistant", "assistant", "system"]
LITERALS = ["<|end|>", "low", " ", "\n", "\n\n", "er", "x\n", "</s>", ": "]
VALUES = [
    "m.content", "m.content", "m['content']", "m.role", "m.content | trim", "m.content.strip()", "m.content[1:]",
    "m.content | replace('e', 'st')", "'low' + m.content", "m.role ~ m.content", "eos_token", "''",
    "m.content.split('e')[-1]", "m.content * 2", "[m.content, 'er'] | join(' ')", "m.content if loop.last else 'low'",
]  # fmt: skip
CONDITIONS = [
    "m.role == 'assistant'", "m.role == 'assistant'", "m.train is defined", "loop.first", "loop.last", "false",
    "loop.index0 % 2", "'e' in m.content", "m.content", "add_generation_prompt",
]  # fmt: skip
LOOPS = ["c in range(2)", "c in m.content.split('e')", "c in []", "c in m.content[:3]", "m in messages[:1]"]
# In front of the twin of a template, and behind: a block would take white space off where a value does not.
KEPT = "{{ '' }}"


def _tag(rng: random.Random, content: str) -> str:
    """Return a tag with or without control of white space."""
    return "{%" + rng.choice(["", "", "-"]) + f" {content} " + rng.choice(["", "", "-"]) + "%}"


def random_body(rng: random.Random, depth: int, marks: bool) -> str:
    """Return a part of a template; `marks` says whether it may have blocks."""
    parts = []
    for _ in range(rng.randrange(4)):
        kind = rng.randrange(8 if depth else 4)
        inside = functools.partial(random_body, rng, depth - 1, marks)
        if kind < 2:
            parts.append(rng.choice(LITERALS))
        elif kind < 4:
            opening, closing = rng.choice([("{{", "}}"), ("{{-", "}}"), ("{{", "-}}"), ("{{", "}}")])
            parts.append(f"{opening} {rng.choice(VALUES)} {closing}")
        elif kind == 4:
            other = _tag(rng, "else") + inside() if rng.random() < 0.5 else ""
            parts.append(_tag(rng, f"if {rng.choice(CONDITIONS)}") + inside() + other + _tag(rng, "endif"))
        elif kind == 5:
            parts.append(_tag(rng, f"for {rng.choice(LOOPS)}") + inside() + _tag(rng, "endfor"))
        elif marks:
            parts.append(_tag(rng, "generation") + inside() + _tag(rng, "endgeneration"))
    return "".join(parts)


def random_template(rng: random.Random) -> str:
    """Return a template that has a block, reached or not.

    It begins with two tokens that are in no block: transformers marks all that follows a block that ends in the first
    token, or is empty behind it.
    """
    loops = rng.choice([1, 1, 2])
    body = "".join(f"{{% for m in messages %}}{random_body(rng, 3, True)}{{% endfor %}}" for _ in range(loops))
    if " generation " not in body:
        body += "{% if false %}{% generation %}{% endgeneration %}{% endif %}"
    return f"<s><s>{body}{rng.choice(['', '{% generation %}low{% endgeneration %}', '<|end|>'])}"


def random_twins(rng: random.Random) -> tuple[str, str]:
    """Return a template without blocks, and one that marks in it the content of the assistant's messages."""
    content = rng.choice(["m.content", "m.content | trim", "m.content[1:]", "m.content.strip()"])
    value, block = f"{{{{ {content} }}}}", f"{{% generation %}}{{{{ {content} }}}}{{% endgeneration %}}"
    marked = f"{KEPT}{{% if m.role == 'assistant' %}}{block}{{% else %}}{value}{{% endif %}}{KEPT}"
    before, behind = (rng.choice(["", "low", "<|end|>", "{{ m.role }}\n", "{{ eos_token }}"]) for _ in range(2))
    return tuple(f"<s><s>{{% for m in messages %}}{before}{each}{behind}{{% endfor %}}" for each in (value, marked))  # type: ignore[return-value]


def random_chat(rng: random.Random) -> list[dict[str, Any]]:
    """Return a conversation."""
    rows = []
    for _ in range(rng.randrange(1, 5)):
        text = "".join(rng.choices(TEXTS, k=rng.randrange(5)))
        rows.append({"role": rng.choice(ROLES), "content": text} | rng.choice([{}, {"train": True}]))
    return rows


@functools.cache
def tokenizers() -> tuple[Tokenizer, Any]:
    """Return a tokenizer, and what `transformers` makes of its folder."""
    import transformers

    texts = ["low lower lowest newest the end of it all", "user assistant system\n\n x\n"] * 3
    with tempfile.TemporaryDirectory() as folder:
        trained = toksmith.train(iter(texts), 300, special_tokens=SPECIAL)
        trained.save_huggingface(folder, bos_token="<s>", eos_token="</s>", verify=False)
        return Tokenizer.from_huggingface(folder), transformers.AutoTokenizer.from_pretrained(folder)


def _expected(template: str, chat: list[dict[str, Any]], **options: Any) -> tuple[list[int], list[bool]] | None:
    """Return the ids and the mask of transformers; None where its mask has a block that is empty inside a token."""
    from transformers.utils.chat_template_utils import render_jinja_template

    theirs = tokenizers()[1]
    made = theirs.apply_chat_template(
        chat, chat_template=template, return_dict=True, return_assistant_tokens_mask=True, **options
    )
    names = theirs.special_tokens_map
    [text], [blocks] = render_jinja_template(
        [chat], chat_template=template, return_assistant_tokens_mask=True, **names, **options
    )
    spans = theirs(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    if any(start == end and any(first < start < last for first, last in spans) for start, end in blocks):
        return None
    return made["input_ids"], [bool(each) for each in made["assistant_masks"]]


def compare(rng: random.Random, count: int) -> None:
    """Compare the masks of a random template on `count` conversations. Roles are trusted, as transformers does it."""
    shown, marked = random_twins(rng) if rng.random() < 0.2 else (random_template(rng),) * 2
    for _ in range(count):
        chat, options = random_chat(rng), {"add_generation_prompt": rng.random() < 0.3}
        try:
            expected = _expected(marked, chat, **options)
        except Exception as error:
            outcomes[f"refused by transformers: {type(error).__name__}"] += 1
            continue
        if expected is None:
            outcomes["an empty block inside a token"] += 1
            continue
        found = tokenizers()[0].encode_messages(
            chat, assistant_mask=True, trusted=ROLES, chat_template=shown, **options
        )
        assert (found[0], found[1].tolist()) == expected, (shown, chat, options, found, expected)
        outcomes["compared masks" + (" without a mark" if not any(expected[1]) else "")] += 1


def masks(data: bytes) -> None:
    """Random chat templates beside transformers, each with five conversations."""
    compare(random.Random(data), 5)
