# ruff: noqa: E501 (templates and what they make take one line each)
"""`tokenize(messages=True)`: ids and masks beside a renderer that knows the templates."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import run_command
from examples import example
from failing_sources import Stopped, failing, until_stopped

import toksmith
from toksmith import Corpus, Tokenizer
from toksmith.data import TrainingData
from toksmith.data import tokenize as module

SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|eot|>", "[INST]", "[/INST]"]
CHATML = (
    "{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}"
    "{%- if m.reasoning_content %}{{ '<think>' + m.reasoning_content + '</think>\\n' }}{% endif %}{{ m.content }}"
    "{%- for call in m.tool_calls or [] %}"
    "{{ '\\n<call>' + call.function.name + '(' + call.function.arguments | tojson + ')</call>' }}{% endfor %}"
    "{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
INST = (
    "<s>{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content | trim }} [/INST]"
    "{% else %} {{ m.content | trim }}</s>{% endif %}{% endfor %}"
)
GENERATION = (
    "{% for m in messages %}{{ m.role }}: {% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|eot|>"
    "{% endgeneration %}{% else %}{{ m.content }}{% endif %}\n{% endfor %}"
)
WORDS = ["low", "lower ", " newest", "\n", "é中", "the end", " x ", "<|im_end|>", "</s>[INST]", "1", "er"]
CALL = {"function": {"name": "weather", "arguments": {"city": "Köln", "days": [1, 2.5, None]}}}

ARGUMENTS = '{"city": "Köln", "days": [1, 2.5, null]}'

Part = tuple[str, str]
"""Text with who writes it: "special", "template", "other", "speech", "thinking", "call", "end"."""


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    texts = ["low lower lowest newest the end of it all <think> weather", "user assistant system\n\n"] * 5
    return toksmith.train(iter(texts), 310, special_tokens=SPECIAL)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 900)


def text(rng: random.Random) -> str:
    return "".join(rng.choices(WORDS, k=rng.randrange(1, 12)))


def conversation(rng: random.Random, fields: bool = False) -> list[dict[str, Any]]:
    """Return messages; the assistant's may have `fields` of reasoning and tool calls."""
    messages = [{"role": "system", "content": text(rng)}] if fields and rng.random() < 0.3 else []
    for _ in range(rng.randrange(1, 4)):
        messages.append({"role": "user", "content": text(rng)})
        messages.append({"role": "assistant", "content": text(rng)})
        if fields and rng.random() < 0.3:
            messages[-1]["reasoning_content"] = text(rng)
        if fields and rng.random() < 0.3:
            messages[-1]["tool_calls"] = [CALL] * rng.randrange(1, 3)
    return messages[: rng.randrange(1, len(messages) + 1)]


def chatml(messages: list[dict[str, Any]]) -> Iterator[list[Part]]:
    """Yield the parts of each message as the template lays them out."""
    for message in messages:
        is_own = message["role"] == "assistant"
        speech, thinking, call = ("speech", "thinking", "call") if is_own else ("other",) * 3
        yield [
            ("<|im_start|>", "special"),
            (message["role"] + "\n", "template"),
            *[(f"<think>{message[name]}</think>\n", thinking) for name in ("reasoning_content",) if name in message],
            (message["content"], speech),
            *[(f"\n<call>weather({ARGUMENTS})</call>", call)] * len(message.get("tool_calls", ())),
            ("<|im_end|>", "end" if is_own else "special"),
            ("\n", "template"),
        ]


def inst(messages: list[dict[str, Any]]) -> Iterator[list[Part]]:
    for number, message in enumerate(messages):
        begin: list[Part] = [("<s>", "special")] * (number == 0)
        if message["role"] == "user":
            content = (f" {message['content'].strip()} ", "other")
            yield [*begin, ("[INST]", "special"), content, ("[/INST]", "special")]
        else:
            text = message["content"].strip()  # where nothing is left, there is no turn
            yield [*begin, (" ", "template"), (text, "speech"), ("</s>", "end" if text else "special")]


def encoded(
    tokenizer: Tokenizer, turns: Iterable[list[Part]], trained: set[str], wanted: Iterable[int] | None = None
) -> tuple[list[int], list[bool]]:
    """Return ids and mask: special tokens by themselves, and the text between them at once."""
    ids, mask = [], []
    parts = [(*part, wanted is None or number in wanted) for number, turn in enumerate(turns) for part in turn]
    for is_special, run in itertools.groupby(parts, lambda part: part[1] in ("special", "end")):
        rows = [*run]
        if is_special:
            ids += [tokenizer.special_tokens[name] for name, _, _ in rows]
            mask += [kind in trained and is_wanted for _, kind, is_wanted in rows]
            continue
        found, spans = tokenizer.encode_with_offsets("".join(row[0] for row in rows), special=False)
        flags = [kind in trained and is_wanted for part, kind, is_wanted in rows for _ in part]
        ids += found
        mask += [any(flags[start:end]) for start, end in spans]
    return ids, mask


ALL = {"speech", "thinking", "call", "end"}


def written(data: TrainingData) -> list[tuple[list[int], list[bool]]]:
    bounds = [data.documents.bounds(number) for number in range(len(data.documents))]
    return [(data.read(*pair).tolist(), data.read_mask(*pair).tolist()) for pair in bounds]


def write(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


@pytest.mark.parametrize(
    ("options", "trained"),
    [
        ({}, ALL),
        ({"end_of_turn": False}, ALL - {"end"}),
        ({"untrained": "thinking"}, ALL - {"thinking"}),
        ({"untrained": ["tool_calls", "thinking"], "workers": 2}, ALL - {"thinking", "call"}),
        ({"train_on": "all"}, {*ALL, "special", "template", "other"}),
    ],
)
def test_masks(options: dict[str, Any], trained: set[str], tokenizer: Tokenizer, tmp_path: Path) -> None:
    rng = random.Random(3)
    chats = [conversation(rng, fields=True) for _ in range(120)]
    source = write(tmp_path / "chats.jsonl", [{"id": 1, "messages": chat} for chat in chats])
    manifest = toksmith.tokenize(
        source, tokenizer, tmp_path / "out", messages=True, chat={"chat_template": CHATML}, **options
    )
    expected = [encoded(tokenizer, chatml(chat), trained) for chat in chats]
    assert written(toksmith.data.open(tmp_path / "out")) == expected
    assert manifest["options"]["messages"]["templates"] == [CHATML]
    assert manifest["options"]["messages"]["ends"] == ["<|im_end|>"]
    assert manifest["totals"]["trained_tokens"] == sum(sum(mask) for _, mask in expected)
    assert manifest["totals"]["text_bytes"] == sum(
        len("".join(part for turn in chatml(chat) for part, _ in turn).encode()) for chat in chats
    )


@pytest.mark.parametrize("train_on", ["assistant", "last", "completion"])
def test_which_turns_are_trained_on(train_on: Any, tokenizer: Tokenizer, tmp_path: Path) -> None:
    rng = random.Random(4)
    chats = [conversation(rng) for _ in range(80)]
    for message in itertools.chain.from_iterable(chats[40:]):
        message["weight"] = rng.randrange(2)
    options: dict[str, Any] = {"messages": True, "train_on": train_on}

    def wanted(messages: list[dict[str, Any]], start: int = 0) -> set[int]:
        own = [number for number, message in enumerate(messages) if message["role"] == "assistant"]
        users = [number for number, message in enumerate(messages) if message["role"] == "user"]
        kept = {"assistant": own, "last": own[-1:], "completion": own if start else [n for n in own if n > users[-1]]}
        return {number for number in kept[train_on] if number >= start and messages[number].get("weight") != 0}

    source = write(tmp_path / "chats.jsonl", [{"messages": chat} for chat in chats])
    toksmith.tokenize(source, tokenizer, tmp_path / "out", chat={"chat_template": INST}, **options)
    expected = [encoded(tokenizer, inst(chat), ALL, wanted(chat)) for chat in chats]
    assert written(toksmith.data.open(tmp_path / "out")) == expected

    borders = [rng.randrange(1, len(chat) + 1) for chat in chats]
    pairs = [{"prompt": chat[:at], "completion": chat[at:]} for chat, at in zip(chats, borders, strict=True)]
    write(source, pairs)
    toksmith.tokenize(source, tokenizer, tmp_path / "pairs", chat={"chat_template": INST}, **options)
    expected = [
        encoded(tokenizer, inst(chat), ALL, wanted(chat, at)) for chat, at in zip(chats, borders, strict=True)
    ]
    assert written(toksmith.data.open(tmp_path / "pairs")) == expected


def test_a_block_of_the_template_says_what_is_trained_on(tokenizer: Tokenizer, tmp_path: Path) -> None:
    chats = [conversation(random.Random(seed)) for seed in range(40)]
    source = write(tmp_path / "chats.jsonl", [{"messages": chat} for chat in chats])
    chat = {"chat_template": GENERATION}
    toksmith.tokenize(source, tokenizer, tmp_path / "out", messages=True, end_of_turn=False, chat=chat)
    expected = []
    for messages in chats:
        ids, mask = tokenizer.encode_messages(messages, assistant_mask=True, **chat)
        expected.append((ids, mask.tolist()))
    assert written(toksmith.data.open(tmp_path / "out")) == expected
    toksmith.tokenize(source, tokenizer, tmp_path / "last", messages=True, train_on="last", chat=chat)
    for messages in chats:
        for message in [message for message in messages if message["role"] == "assistant"][:-1]:
            message["weight"] = np.int64(0)
    rows = [{"messages": np.array(chat, object)} for chat in chats]
    toksmith.tokenize(iter(rows), tokenizer, tmp_path / "numpy", messages=True, chat=chat)
    chats = [[message | {"weight": int(message.get("weight", 1))} for message in messages] for messages in chats]
    write(source, [{"messages": chat} for chat in chats])
    toksmith.tokenize(source, tokenizer, tmp_path / "weights", messages=True, chat=chat)
    last_turns = written(toksmith.data.open(tmp_path / "last"))
    for name in ("weights", "numpy"):
        assert written(toksmith.data.open(tmp_path / name)) == last_turns
    for (_, mask), (_, whole) in zip(last_turns, expected, strict=True):
        runs = [[*run] for _, run in itertools.groupby(whole)]
        last = max((at for at, run in enumerate(runs) if run[0]), default=None)
        assert mask == [flag and at == last for at, run in enumerate(runs) for flag in run]


def test_texts_of_a_prompt_and_a_completion(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """A token across the border belongs to the completion, and the token that is appended is trained on."""
    rng = random.Random(5)
    pairs = [(text(rng), text(rng)) for _ in range(100)]
    source = write(
        tmp_path / "pairs.jsonl", [{"prompt": prompt, "completion": completion} for prompt, completion in pairs]
    )
    manifest = toksmith.tokenize(source, tokenizer, tmp_path / "out", messages=True, append="</s>", prepend="<s>")
    count = sum(text.count(name) for pair in pairs for text in pair for name in SPECIAL)
    assert manifest["totals"]["special_tokens"] == count > 9
    begin, end = tokenizer.special_tokens["<s>"], tokenizer.special_tokens["</s>"]
    for (ids, mask), (prompt, completion) in zip(written(toksmith.data.open(tmp_path / "out")), pairs, strict=True):
        joint = tokenizer.encode_pair(prompt, completion)
        assert ids == [begin, *joint.ids, end]
        assert mask == [False] * (1 + joint.border) + [True] * (len(joint.ids) - joint.border + 1)
    options: dict[str, Any] = {"messages": True, "append": "</s>", "special": False}
    toksmith.tokenize(source, tokenizer, tmp_path / "plain", end_of_turn=False, **options)
    for (ids, mask), (prompt, completion) in zip(written(toksmith.data.open(tmp_path / "plain")), pairs, strict=True):
        assert ids == [*tokenizer.encode(prompt + completion, special=False), end]
        assert not mask[-1]


@pytest.mark.parametrize("format", ["bin", "nanogpt", "llm.c", "megatron", "npy", "parquet"])
@pytest.mark.parametrize("shuffle", [None, 7])
def test_formats(format: Any, shuffle: int | None, tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Every format has the mask; shards, splits, workers and a shuffle change nothing in it."""
    if format == "parquet":
        pytest.importorskip("pyarrow")
    rng = random.Random(6)
    chats = [conversation(rng) for _ in range(150)]
    source = write(tmp_path / "chats.jsonl", [{"messages": chat} for chat in chats])
    size = {} if format == "nanogpt" else {"shard_size": 2000}
    options: dict[str, Any] = {
        "format": format,
        "shuffle": shuffle,
        "shuffle_buffer": 3000,
        "split": "val=0.2",
        **size,
    }
    contents = []
    for workers in (1, 3):
        out = tmp_path / str(workers)
        manifest = toksmith.tokenize(
            source, tokenizer, out, messages=True, chat={"chat_template": INST}, workers=workers, **options
        )
        contents.append({path.name: path.read_bytes() for path in out.iterdir()})
        assert not [*toksmith.data.differences(out)]
    assert contents[0] == contents[1]
    assert ("train.mask" if format == "nanogpt" else "train-00000.mask") in contents[0] or format == "parquet"
    found = [document for split in ("train", "val") for document in written(toksmith.data.open(out, split))]
    expected = [encoded(tokenizer, inst(chat), ALL) for chat in chats]
    assert sorted(found) == sorted(expected)
    if shuffle is None:
        order = iter(expected)
        assert all(document in order for document in written(toksmith.data.open(out)))
    if format == "parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(out / "train-00000.parquet")
        assert table.column_names == ["ids", "mask"]
        assert all(len(ids) == len(mask) for ids, mask in zip(*map(table.column, ("ids", "mask")), strict=True))
    for shard in manifest["splits"]["train"]["shards"]:
        assert ("mask" in shard) == (format != "parquet")


@pytest.mark.parametrize("long", ["split", "truncate", "drop"])
def test_padding_is_not_trained_on(long: Any, tokenizer: Tokenizer, tmp_path: Path) -> None:
    chats = [conversation(random.Random(seed)) for seed in range(80)]
    source = write(tmp_path / "chats.jsonl", [{"messages": chat} for chat in chats])
    pad = tokenizer.special_tokens["</s>"]
    manifest = toksmith.tokenize(
        source, tokenizer, tmp_path / "out", messages=True, chat={"chat_template": INST}, shard_size=300, pack=64,
        long=long, pad="</s>", shuffle_buffer=1000,
    )  # fmt: skip
    data = toksmith.data.open(tmp_path / "out")
    assert len(data) % 64 == 0
    totals = manifest["totals"]
    assert totals["trained_tokens"] == data.read_mask(0, len(data)).sum()
    expected = [encoded(tokenizer, inst(chat), ALL) for chat in chats]
    assert totals["tokens"] + totals["left_out_tokens"] - totals["padding_tokens"] == sum(
        len(ids) for ids, _ in expected
    )
    assert (totals["left_out_tokens"] == 0) == (long == "split")
    padding = 0
    for window in range(len(data) // 64):
        ids, mask = data[window * 64 : window * 64 + 64], data.read_mask(window * 64, window * 64 + 64)
        last = 63
        while ids[last] == pad and not mask[last]:
            last -= 1
        padding += 63 - last
    assert padding == totals["padding_tokens"]


def test_rows_have_the_mask(tokenizer: Tokenizer, tmp_path: Path) -> None:
    chats = [conversation(random.Random(seed)) for seed in range(60)]
    source = write(tmp_path / "chats.jsonl", [{"messages": chat} for chat in chats])
    toksmith.tokenize(
        source, tokenizer, tmp_path / "out", messages=True, chat={"chat_template": INST}, shard_size=500
    )
    data = toksmith.data.open(tmp_path / "out")
    documents = written(data)
    for row in data.rows(100, seed=1):
        assert row.mask is not None and row.mask.dtype == bool
        for number, (start, end) in zip(
            row.documents.tolist(), itertools.pairwise(row.cu_seqlens.tolist()), strict=True
        ):
            pairs = list(zip(row.ids[start:end].tolist(), row.mask[start:end].tolist(), strict=True))
            whole = list(zip(*documents[number], strict=True))
            assert any(whole[at : at + len(pairs)] == pairs for at in range(0, len(whole), 100))
    toksmith.tokenize(iter(["low"]), tokenizer, tmp_path / "texts", append="none")
    texts = toksmith.data.open(tmp_path / "texts")
    assert not texts.has_mask and texts.rows(4)[0].mask is None
    with pytest.raises(ValueError, match="write the folder with messages=True"):
        texts.read_mask(0, 1)


@pytest.mark.parametrize(
    "order", [{}, {"shuffle": 3}, {"pack": 60}, {"pack": 60, "shuffle": 3, "long": "drop"}], ids=str
)
@pytest.mark.parametrize("kind", ["texts", "file"])
def test_going_on(
    kind: str, order: dict[str, Any], tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that ends anywhere goes on to the same bytes."""
    monkeypatch.setattr(module, "SNAPSHOT_SECONDS", 0.0)
    rng = random.Random(8)
    records = [{"messages": conversation(rng)} for _ in range(120)]
    source = write(tmp_path / "a.jsonl", records)
    options: dict[str, Any] = {"messages": True, "chat": {"chat_template": INST}, "shard_size": 900}
    options |= order | {"shuffle_buffer": 700} | ({"pad": "</s>"} if "pack" in order else {})

    def ending(count: int) -> Iterator[dict[str, Any]]:
        yield from records[:count]
        raise Stopped("the sources end here")

    toksmith.tokenize(iter(records), tokenizer, tmp_path / "whole", **options)
    out = tmp_path / "out"
    for part in range(1, 12):
        sources: Any = ending(part * 10)
        if kind == "file":
            sources = failing([source], part * source.stat().st_size // 12)
        with until_stopped():
            toksmith.tokenize(sources, tokenizer, out, workers=1 + part % 2, **options)
    toksmith.tokenize(iter(records) if kind == "texts" else source, tokenizer, out, **options)
    names = {path.name for path in out.iterdir()} - {"manifest.json"}
    assert len(names) > 9
    for name in names:
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_damaged_mask_is_found_and_repaired(tokenizer: Tokenizer, tmp_path: Path) -> None:
    rng = random.Random(9)
    source = write(tmp_path / "chats.jsonl", [{"messages": conversation(rng)} for _ in range(50)])
    options: dict[str, Any] = {"messages": True, "chat": {"chat_template": INST}, "shard_size": 900}
    out = tmp_path / "out"
    toksmith.tokenize(source, tokenizer, out, **options)
    mask = out / "train-00001.mask"
    before = mask.read_bytes()
    mask.write_bytes(bytes(len(before)))
    assert "train-00001.mask" in "".join(toksmith.data.differences(out))
    mask.write_bytes(before[:-1])
    with pytest.raises(ValueError, match="the file has"):
        toksmith.data.open(out)
    mask.unlink()
    with pytest.warns(UserWarning, match="1 damaged file"):
        toksmith.tokenize(source, tokenizer, out, **options)
    assert mask.read_bytes() == before


def test_sources(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Records of every kind of source, under another name, with a template for tools."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    chats = [conversation(random.Random(seed)) for seed in range(30)]
    records = [{"chat": chat} for chat in chats]
    write(tmp_path / "a.jsonl", records)
    (tmp_path / "a.json").write_text(json.dumps(records), "utf-8")
    table = pa.table({"chat": chats, "id": range(30)})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    with pa.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    expected = [encoded(tokenizer, inst(chat), ALL) for chat in chats]
    options: dict[str, Any] = {"messages": True, "chat": {"chat_template": INST}}
    for name in ("a.jsonl", "a.json", "a.parquet", "a.arrow"):
        corpus = Corpus(tmp_path / name, field="chat")
        toksmith.tokenize(corpus, tokenizer, tmp_path / f"{name}.out", **options)
        assert written(toksmith.data.open(tmp_path / f"{name}.out")) == expected
    for number, texts in enumerate(
        [({"messages": chat} for chat in chats), (json.dumps({"messages": chat}) for chat in chats)]
    ):
        toksmith.tokenize(texts, tokenizer, tmp_path / str(number), **options)
        assert written(toksmith.data.open(tmp_path / str(number))) == expected
    (tmp_path / "a.txt").write_text("low")
    with pytest.raises(ValueError, match=r"a\.txt: plain text, and conversations are records"):
        toksmith.tokenize(tmp_path / "a.txt", tokenizer, tmp_path / "text", **options)


def test_fields_of_records(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Messages in a field of a field, or as JSON in a text; what is null, or an empty text, is not there."""
    chat, options = [USER, says("A")], {"messages": True, "chat": {"chat_template": INST}}
    text = json.dumps(chat)
    records: list[dict[str, Any]] = [
        {"a": {"b": chat}, "tools": None},
        {"a.b": chat},
        {"a.b": text, "tools": "", "documents": "[]", "chat_template_kwargs": "{}"},
        {"a": None, "prompt": "U", "completion": "A"},
        {"a.b": "", "prompt": "U", "completion": "A"},
    ]
    toksmith.tokenize(
        Corpus(write(tmp_path / "a.jsonl", records), field="a.b"), tokenizer, tmp_path / "out", **options
    )
    pair = tokenizer.encode("UA"), [False, True]
    expected = [encoded(tokenizer, inst(chat), ALL)] * 3
    assert written(toksmith.data.open(tmp_path / "out")) == [*expected, pair, pair]


def test_tables_have_every_field_of_every_row(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """What is null in a table, or in a mapping, is not shown; in JSON it is, in the arguments of a call."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    template = (
        "{% for m in messages %}{% for b in m.content or [] %}{{ '<image>' if 'image' in b else b.text }}{% endfor %}"
        "{{ m.tool_calls | tojson if m.tool_calls }}{% endfor %}{{ tools | tojson if tools }}</s>"
    )
    rows = [
        {"messages": [{"role": "user", "content": [{"text": "low"}, {"image": "x"}]}], "tools": None},
        {
            "messages": [calls({"a": 1}), calls({"b": None, "c": [{"d": 1}, {"e": 2}]})],
            "tools": [{"x": 2}, {"y": 1}],
        },
    ]
    text = 'low<image></s>[{"function": {"name": "f", "arguments": {"a": 1}}}][{"function": {"name": "f", '
    text += '"arguments": {"c": [{"d": 1}, {"e": 2}]}}}][{"x": 2}, {"y": 1}]</s>'
    table = pa.Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / "a.parquet")
    for name, source in {"table": tmp_path / "a.parquet", "mappings": iter(table.to_pylist())}.items():
        options: dict[str, Any] = {"messages": True, "train_on": "all", "chat": {"chat_template": template}}
        toksmith.tokenize(source, tokenizer, tmp_path / name, **options)
        data = toksmith.data.open(tmp_path / name)
        assert tokenizer.decode(data[:]) == text
    write(tmp_path / "a.jsonl", rows)
    toksmith.tokenize(tmp_path / "a.jsonl", tokenizer, tmp_path / "json", **options)
    assert '"b": null' in toksmith.data.open(tmp_path / "json").documents.text(1)


def test_a_warning_if_nothing_ends_an_answer(tokenizer: Tokenizer, tmp_path: Path) -> None:
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}<end>\n{% endfor %}"
    options: dict[str, Any] = {"messages": True, "chat": {"chat_template": template}}
    source = write(tmp_path / "a.jsonl", [{"messages": [USER, says("A")]}])
    with pytest.warns(UserWarning, match="no special token of the tokenizer follows an answer"):
        toksmith.tokenize(source, tokenizer, tmp_path / "out", **options)
    block = "{% for m in messages %}{% generation %}{{ m.content }}END{% endgeneration %}</s>{% endfor %}"
    outside = options | {"chat": {"chat_template": block.replace("END", "")}}
    with pytest.warns(UserWarning, match=r"inside its block \{% generation %\}"):
        toksmith.tokenize(source, tokenizer, tmp_path / "outside", **outside)
    inside = options | {"chat": {"chat_template": block.replace("END", "</s>")}}
    toksmith.tokenize(source, tokenizer, tmp_path / "inside", **inside)
    for number, more in enumerate([{"append": "</s>"}, {"append": "none"}, {"end_of_turn": False}]):
        toksmith.tokenize(source, tokenizer, tmp_path / str(number), **options, **more)
    pairs, with_end = (
        iter([{"prompt": "U", "completion": "A"}]),
        toksmith.train(iter(["low"]), 258, special_tokens=["<|endoftext|>"]),
    )
    with pytest.warns(UserWarning, match='choose append="<|endoftext|>"'):
        toksmith.tokenize(pairs, with_end, tmp_path / "pairs", messages=True)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            '{"text": "low"}',
            r"line 2 \(byte \d+\): there is neither 'messages' nor \"prompt\" and \"completion\", only \['text'\]",
        ),
        ('{"prompt": "low", "completion": []}', "neither both texts nor both messages"),
        ('{"messages": "low"}', "'messages' is a text that is not JSON: Expecting value"),
        ('{"messages": {}}', "'messages' is no list of messages"),
        ('{"messages": [{"role": "user"}], "tools": "low"}', "'tools' is a text that is not JSON"),
        ('{"messages": [{"from": "gpt", "value": "x"}]}', r"messages\[0\] has no role, only \['from', 'value'\]"),
        (
            '{"messages": [{"role": "assistant", "content": 5}]}',
            r"messages\[0\]: the content is 5: write it as a text",
        ),
        ('{"messages": []}', "there are no messages"),
        ('{"messages": [{"role": "user"}], "x": 1, "messages": []}', "the field 'messages' is there twice"),
        ('{"prompt": "low", "completion": "low", "prompt": "er"}', "the field 'prompt' is there twice"),
        ('{"messages": [{"role": "user"', "not a record of JSON"),
        ('{"messages": [{"role": "judge", "content": "x"}]}', "the chat template failed.*: no judge"),
        ('{"messages": [{"role": "assistant", "content": "ſ"}]}', "changes a text after 0 turns of the assistant"),
    ],
)
def test_records_that_are_refused(record: str, message: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'judge' %}{{ raise_exception('no judge') }}{% endif %}"
        "{{ '%s!' | format(m.content) if m.content == 'ſ' else m.content }}{% endfor %}"
    )
    good = json.dumps({"messages": [{"role": "assistant", "content": "low"}]})
    source = tmp_path / "a.jsonl"
    source.write_text("\n".join([good, record, good]), "utf-8")
    options: dict[str, Any] = {"messages": True, "append": "none", "chat": {"chat_template": template}}
    with pytest.raises(ValueError, match=message):
        toksmith.tokenize(source, tokenizer, tmp_path / "out", **options)
    with pytest.warns(UserWarning, match="1 document was left out"):
        manifest = toksmith.tokenize(source, tokenizer, tmp_path / "skipped", on_error="skip", **options)
    assert [skipped["place"] for skipped in manifest["skipped"]] == ["line 2"]
    assert manifest["totals"]["documents"] == 2


def test_options_that_are_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", [{"messages": [{"role": "user", "content": "low"}]}])

    def fails(message: str, error: type[Exception] = ValueError, **options: Any) -> None:
        with pytest.raises(error, match=message):
            toksmith.tokenize(source, tokenizer, tmp_path / "out", **options)

    fails("the tokenizer has no chat template: chat needs a chat_template", messages=True)
    fails("tools is no variable of a template", messages=True, chat={"tools": []})
    fails("train_on is for conversations: give messages=True", train_on="last")
    fails("train_on is one of", messages=True, train_on="user")
    fails("untrained is one of", messages=True, untrained="speech")
    fails("template is for texts", messages=True, template=True, chat={"chat_template": INST})
    fails("variables of the template are values of JSON", TypeError, messages=True, chat={"x": object()})
    fails(
        "strftime_now is a date",
        messages=True,
        chat={"chat_template": "{{ strftime_now('%Y') }}", "strftime_now": "x"},
    )
    fails("the chat template failed in line 1", messages=True, chat={"chat_template": "{% if %}"})


def test_the_date_is_that_of_the_first_call(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SNAPSHOT_SECONDS", 0.0)
    source = write(tmp_path / "a.jsonl", [{"messages": [{"role": "user", "content": "low"}]}] * 40)
    chat = {"chat_template": "{{ strftime_now('%d.%m.%Y') }}{{ year }}", "year": 7}
    first, options = chat | {"strftime_now": "2025-01-02"}, {"messages": True, "train_on": "all", "shard_size": 20}
    with until_stopped():
        toksmith.tokenize(failing([source], 1500), tokenizer, tmp_path / "out", chat=first, workers=1, **options)
    assert (tmp_path / "out/train-00000.bin").exists()
    for _ in ("unfinished", "finished"):
        manifest = toksmith.tokenize(source, tokenizer, tmp_path / "out", chat=chat, **options)
        assert manifest["options"]["messages"]["date"] == "2025-01-02T00:00:00"
    documents = toksmith.data.open(tmp_path / "out").documents
    assert {documents.text(number) for number in range(40)} == {"02.01.20257"}
    with pytest.raises(ValueError, match=r"had messages\.date '2025-01-02T00:00:00', not"):
        toksmith.tokenize(source, tokenizer, tmp_path / "out", chat=chat | {"strftime_now": "2025-01-03"}, **options)


def test_the_end_of_what_was_said_is_a_special_token(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """The mask ends a turn with the token that ends it, and not with the line feed behind."""
    source = write(tmp_path / "a.jsonl", [{"messages": [{"role": "assistant", "content": "low<|im_end|>"}]}])
    toksmith.tokenize(source, tokenizer, tmp_path / "out", messages=True, chat={"chat_template": CHATML})
    [(ids, mask)] = written(toksmith.data.open(tmp_path / "out"))
    trained = tokenizer.decode(np.array(ids)[np.array(mask)])
    assert trained == "low<|im_end|><|im_end|>"
    assert ids.count(tokenizer.special_tokens["<|im_end|>"]) == 1


def test_the_command(tokenizer: Tokenizer, tmp_path: Path) -> None:
    """The options of the command are those of the function."""
    chats = [conversation(random.Random(seed)) for seed in range(20)]
    write(tmp_path / "a.jsonl", [{"chat": chat} for chat in chats])
    tokenizer.save(tmp_path / "t.json")
    (tmp_path / "inst.jinja").write_text(INST + "{{ year }}", "utf-8")
    options = [
        "--messages",
        "--field",
        "chat",
        "--train-on",
        "last",
        "--no-end-of-turn",
        "--chat-template",
        "inst.jinja",
    ]
    options += ["--untrained", "thinking", "--untrained", "tool_calls", "--chat", "year=7", "--chat", "name=x y"]
    done = run_command("tokenize", "a.jsonl", "-t", "t.json", "-o", "out", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    chat = {"chat_template": INST + "{{ year }}", "year": 7, "name": "x y"}
    toksmith.tokenize(
        Corpus(tmp_path / "a.jsonl", field="chat"), tokenizer, tmp_path / "same", messages=True, train_on="last",
        end_of_turn=False, untrained=["tool_calls", "thinking"], chat=chat,
    )  # fmt: skip
    for name in ("train-00000.bin", "train-00000.mask"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "same" / name).read_bytes()
    wrong = run_command("tokenize", "a.jsonl", "-t", "t.json", "-o", "x", "--messages", "--chat", "x", cwd=tmp_path)
    assert wrong.returncode == 2 and b"--chat is a name and a value" in wrong.stderr
    for option, message in {
        "--train-on=last": b"--train-on is for conversations: give --messages with it",
        "--messages": b"chat needs a --chat-template",
    }.items():
        wrong = run_command("tokenize", "a.jsonl", "-t", "t.json", "-o", "x", "--field=chat", option, cwd=tmp_path)
        assert wrong.returncode == 1 and message in wrong.stderr
    mask = toksmith.data.open(tmp_path / "out").documents.bounds(0)
    rows = [
        line.split("\t")
        for line in run_command("data", "out", "--document", 0, cwd=tmp_path).stdout.decode().splitlines()
    ]
    assert ["trained" in row for row in rows] == toksmith.data.open(tmp_path / "out").read_mask(*mask).tolist()
    assert b"trained on: " in run_command("data", "out", cwd=tmp_path).stdout


def test_the_example_trains(tokenizer: Tokenizer, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs PyTorch")
    chats = [[{"role": "user", "content": "low"}, {"role": "assistant", "content": "lower newest"}]] * 50
    source = write(tmp_path / "chats.jsonl", [{"messages": chat} for chat in chats])
    tokenizer.save_huggingface(tmp_path / "model", verify=False)
    (tmp_path / "model/chat_template.jinja").write_text(CHATML, "utf-8")
    assert example("finetune").main(str(source), str(tmp_path / "model"), steps=40) < 0.5


USER, TOOL = {"role": "user", "content": "U"}, {"role": "tool", "content": "R"}
IM = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
IM_END = "<|im_end|>\n{% endfor %}"
CALLS = "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }} {{ c.function.arguments | tojson }}</tool_call>{% endfor %}"


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*arguments: dict[str, Any]) -> dict[str, Any]:
    rows = [{"function": {"name": "fg"[at], "arguments": row}} for at, row in enumerate(arguments)]
    return {"role": "assistant", "tool_calls": rows}


TURNS = {
    "a call in tags": (
        IM + CALLS + IM_END + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
        [USER, calls({}), says("A")],
        "<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n[[<tool_call>f {}</tool_call><|im_end|>]]\n<|im_start|>assistant\n[[A<|im_end|>]]\n",
    ),
    "a header that changes at the end": (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' and loop.last %}<think>\n\n</think>\n\n{% endif %}"
        "{{ m.content }}" + IM_END + "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}",
        [USER, says("A"), USER, says("B")],
        "<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n[[A<|im_end|>]]\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
        "<think>\n[[\n</think>\n\nB<|im_end|>]]\n",
    ),
    "no generation prompt, and a user who says nothing": (
        IM + IM_END,
        [{"role": "user", "content": ""}, says("A"), says(""), {"role": "user", "content": ""}, says("B")],
        "<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n[[A<|im_end|>]]\n<|im_start|>assistant\n<|im_end|>\n<|im_start|>user\n<|im_end|>\n"
        "<|im_start|>assistant\n[[B<|im_end|>]]\n",
    ),
    "two tokens at the end": (
        "{% for m in messages %}<|B|>{{ m.role }}<|R|>{{ m.content }}<|/R|><|E|>{% endfor %}",
        [USER, says("A")],
        "<|B|>user<|R|>U<|/R|><|E|><|B|>assistant<|R|>[[A<|/R|><|E|>]]",
    ),
    "an answer that always begins": (
        "{% for m in messages %}<|START|><|{{ m.role }}|>{{ m.content }}<|END|>{% endfor %}<|START|><|assistant|>",
        [USER, says("A"), USER, says("B")],
        "<|START|><|user|>U<|END|><|START|><|assistant|>[[A<|END|>]]<|START|><|user|>U<|END|><|START|><|assistant|>[[B<|END|>]]"
        "<|START|><|assistant|>",
    ),
    "the next role at the end": (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}"
        "{% for k, v in c.function.arguments.items() %}<k>{{ k }}</k>{{ v }}{% endfor %}</tool_call>{% endfor %}{% endfor %}",
        [USER, calls({"days": 2}), USER],
        "<|user|>U<|assistant|>[[<tool_call>f<k>days</k>2</tool_call><|user|>]]U",
    ),
    "a name before what the tool answers": (
        "{% set ns = namespace(n='') %}{% for m in messages %}{% if m.tool_calls %}{% set ns.n = m.tool_calls[0].function.name %}"
        "<|start|>assistant to={{ ns.n }}<|message|>{{ m.tool_calls[0].function.arguments | tojson }}<|call|>{% elif m.role == 'tool' %}"
        "<|start|>{{ ns.n }}<|message|>{{ m.content }}<|end|>{% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}",
        [USER, calls({"c": "P"}), TOOL, says("A")],
        '<|start|>user<|message|>U<|end|><|start|>assistant[[ to=f<|message|>{"c": "P"}<|call|>]]<|start|>f<|message|>R<|end|>'
        "<|start|>assistant[[<|message|>A<|end|>]]",
    ),
    "names inside of the turn of a model": (
        "{% for m in messages if m.role != 'tool' %}<|turn>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}<|call>{{ c.function.name }}"
        "{{ c.function.arguments | tojson }}<call|>{% endfor %}{% if m.tool_calls %}{% for n in messages if n.role == 'tool' %}<|response>"
        "{{ m.tool_calls[loop.index0].function.name }}:{{ n.content }}<response|>{% endfor %}{% else %}<turn|>\n{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|turn>assistant\n{% endif %}",
        [USER, calls({"c": "P"}, {"c": "Q"}), TOOL, TOOL, says("A")],
        '<|turn>user\nU<turn|>\n<|turn>assistant\n[[<|call>f{"c": "P"}<call|><|call>g{"c": "Q"}<call|>]]<|response>f:R<response|>'
        "<|response>g:R<response|><|turn>assistant\n[[A<turn|>]]\n",
    ),
    "a call that begins with a token": (
        "{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.tool_calls %}[CALLS]{{ m.tool_calls | tojson }}</s>"
        "{% else %}{{ m.content }}</s>{% endif %}{% endfor %}",
        [USER, calls({}), USER, says("A")],
        '[INST]U[/INST][[[CALLS][{"function": {"name": "f", "arguments": {}}}]</s>]][INST]U[/INST][[A</s>]]',
    ),
    "an end that looks like a tag": (
        "{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content }}<end_of_turn>\n{% endfor %}",
        [USER, says("A")],
        "<start_of_turn>user\nU<end_of_turn>\n<start_of_turn>assistant\n[[A<end_of_turn>]]\n",
    ),
}


def shown(tokenizer: Tokenizer, ids: list[int], mask: list[bool]) -> str:
    """Return the text of a document; what is trained on is between [[ and ]]."""
    runs = itertools.groupby(zip(ids, mask, strict=True), lambda pair: pair[1])
    texts = [(is_trained, tokenizer.decode([id for id, _ in run])) for is_trained, run in runs]
    return "".join(f"[[{text}]]" if is_trained else text for is_trained, text in texts)


@pytest.mark.parametrize("case", TURNS)
def test_turns_of_published_kinds(case: str, tmp_path: Path) -> None:
    """Where turns begin and end, between [[ and ]], in templates like published ones."""
    template, messages, expected = TURNS[case]
    names = dict.fromkeys(re.findall(r"<[|/]?[\w/]+\|?>|\[/?[A-Z]+\]", expected.replace("[[", "").replace("]]", "")))
    texts = ["user assistant tool U A B R f g days c P Q 2"] * 3
    tokenizer = toksmith.train(iter(texts), 256 + len(names) + 3, special_tokens=[*names])
    toksmith.tokenize(
        iter([{"messages": messages}]),
        tokenizer,
        tmp_path / "out",
        messages=True,
        append="none",
        chat={"chat_template": template},
    )
    [(ids, mask)] = written(toksmith.data.open(tmp_path / "out"))
    assert shown(tokenizer, ids, mask) == expected


THINKING = (
    "{% for m in messages %}{% if m.role == 'assistant' %}<|im_start|>assistant\n{% generation %}"
    "{% if m.thinking %}<think>\n{{ m.thinking }}\n</think>\n\n{% endif %}{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function.name }}{% for k, v in c.function.arguments.items() %} {{ k }}={{ v }}"
    "{% endfor %}</tool_call>{% endfor %}<|im_end|>\n{% endgeneration %}"
    "{% else %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
)
BLOCK = THINKING.replace("{% generation %}", "").replace("{% endgeneration %}", "")
BEGIN, THOUGHT, CALLED = "<|im_start|>assistant\n", "<think>\nT\n</think>", "\n\n<tool_call>\nf n=3</tool_call>"


@pytest.mark.parametrize("template", [THINKING, BLOCK], ids=["a block", "no block"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, f"[[{THOUGHT}{CALLED}<|im_end|>]]"),
        ({"untrained": "thinking"}, f"{THOUGHT}[[{CALLED}<|im_end|>]]"),
        ({"untrained": "tool_calls"}, f"[[{THOUGHT}]]{CALLED}[[<|im_end|>]]"),
        ({"untrained": ["thinking", "tool_calls"]}, f"{THOUGHT}{CALLED}[[<|im_end|>]]"),
        ({"train_on": "last"}, f"{THOUGHT}{CALLED}<|im_end|>"),
    ],
)
def test_a_call_behind_thinking(template: str, options: dict[str, Any], expected: str, tmp_path: Path) -> None:
    """The template's text between them is of both, and the token that ends the turn of neither."""
    texts, names = ["user assistant tool U A R T f n = 3 think tool_call"] * 3, ["<|im_start|>", "<|im_end|>"]
    tokenizer = toksmith.train(iter(texts), 270, special_tokens=names)
    messages = [USER, calls({"n": 3}) | {"reasoning_content": "T", "content": ""}, TOOL, says("A")]
    toksmith.tokenize(
        iter([{"messages": messages}]),
        tokenizer,
        tmp_path / "out",
        messages=True,
        chat={"chat_template": template},
        **options,
    )
    text = shown(tokenizer, *written(toksmith.data.open(tmp_path / "out"))[0]).replace(
        "<|im_end|>\n]]", "<|im_end|>]]\n"
    )
    assert text == (
        f"<|im_start|>user\nU<|im_end|>\n{BEGIN}{expected}\n<|im_start|>tool\nR<|im_end|>\n{BEGIN}[[A<|im_end|>]]\n"
    )
