"""Long calls let other threads run: how long they stop an event loop is measured by `benches/event_loop.py`."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import toksmith

TEXT = "the lower lowest newer é theme 中 isn't 12345\n" * 20_000
ATTEMPTS = 50
"""How often a call is tried, since a busy machine may run nothing else meanwhile."""


@pytest.fixture
def no_switches() -> Iterator[None]:
    """Let threads change only where one of them releases the GIL."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(100)
    yield
    sys.setswitchinterval(before)


def turns(call: Callable[[], Any]) -> int:
    """Return how often another thread has its turn during a call."""
    state = {"in": False, "done": False}

    def work() -> None:
        state["in"] = True
        call()
        state.update({"in": False, "done": True})

    thread, count = threading.Thread(target=work), 0
    thread.start()
    while not state["done"]:
        count += state["in"]
        time.sleep(0)
    thread.join()
    return count


TOKENIZER = toksmith.train(iter([TEXT[:2000]]), 280, special_tokens=["<s>"])
IDS = TOKENIZER.encode_to_numpy(TEXT)
CALLS: dict[str, Callable[[], Any]] = {
    "count": lambda: TOKENIZER.count(TEXT),
    "encode_to_numpy": lambda: TOKENIZER.encode_to_numpy(TEXT),
    "encode_with_offsets": lambda: TOKENIZER.encode_with_offsets(TEXT),
    "encode_parts": lambda: TOKENIZER.encode_parts([(TEXT, True)]),
    "count_messages": lambda: TOKENIZER.count_messages(
        [{"content": TEXT}], chat_template="{{ messages[0].content }}"
    ),
    "truncate": lambda: TOKENIZER.truncate(TEXT, len(IDS)),
    "decode": lambda: TOKENIZER.decode(IDS),
    "decode_bytes": lambda: TOKENIZER.decode_bytes(IDS),
    "document": lambda: TOKENIZER.document(TEXT),
    "prefix cache": lambda: toksmith.PrefixCache(TOKENIZER, 1 << 20).encode(TEXT),
    "align": lambda: toksmith.surgery.align(TOKENIZER, IDS, TOKENIZER, IDS),
    "retokenization": lambda: toksmith.surgery.retokenization(TOKENIZER, IDS),
}


@pytest.mark.usefixtures("no_switches")
@pytest.mark.parametrize("name", CALLS)
def test_others_have_their_turns(name: str) -> None:
    if name == "count_messages":
        pytest.importorskip("jinja2")
    assert any(turns(CALLS[name]) for _ in range(ATTEMPTS))


@pytest.mark.usefixtures("no_switches")
def test_a_call_that_keeps_the_gil_is_seen() -> None:
    assert not any(turns(lambda: sum(range(30_000))) for _ in range(5))
