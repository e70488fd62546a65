"""What a training tells while it runs: its last merges, and how many tokens the text has under them."""

import contextlib
import random
from typing import Any

import pytest
from conftest import TEXT, Soup

import toksmith
from toksmith import _core
from toksmith.training.watching import Watcher


class Recorder(Watcher):
    """Notes each state that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.states: list[tuple[int, int]] = []
        self.stages: set[str] = set()

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.stages.add(stage)

    def changed(self) -> None:
        self.states.append((self.merges(), self.text_tokens))


def check(recorder: Recorder, tokenizer: toksmith.Tokenizer, texts: list[str]) -> None:
    """Compare the last state with what the tokenizer makes of the texts, and its merges with the tokenizer's."""
    assert recorder.text_bytes == sum(len(text.encode()) for text in texts)
    assert recorder.text_tokens == sum(len(tokenizer.encode(text, special=False)) for text in texts)
    learned = [(left, right) for _, left, right, _ in reversed(recorder.last(1 << 30))]
    assert learned == list(tokenizer.merges)[len(tokenizer.merges) - len(learned) :]
    numbers = [number for number, _, _, _ in recorder.last(3)]
    assert numbers == list(range(recorder.merges(), max(recorder.merges() - 3, 0), -1))


@pytest.mark.parametrize("pattern", ["gpt2", None])
@pytest.mark.parametrize("ties", ["bytes", "first"])
def test_tokens_of_the_text(pattern: str | None, ties: Any, soup: Soup) -> None:
    rng = random.Random(7)
    for text in (TEXT * 3, "aaa aaaa aaaaa " * 9 + "a" * 100, soup(rng, 400), "abab" * 30, "x", ""):
        recorder = Recorder()
        texts = [text, text[: len(text) // 2]]
        with pytest.warns() if len(text) < 300 else contextlib.nullcontext():
            tokenizer = toksmith.train_from_iterator(texts, 330, pattern=pattern, ties=ties, progress=recorder)
        check(recorder, tokenizer, texts)
        assert recorder.states[0][0] == 0
        assert recorder.stages == {"count", "merge"}
        counts = [count for _, _, _, count in recorder.last(1 << 30)]
        assert counts[::-1] == list(tokenizer.merge_counts or [])


def test_extended_and_forced_and_resumed(tmp_path: Any) -> None:
    base = toksmith.train_from_iterator([TEXT], 300, special_tokens=["<|x|>"])
    for options in (
        {"base": base},
        {"base": toksmith.Tokenizer(base.vocab, None, ["<|x|>"])},
        {"forced_tokens": ["zebra", "quick"]},
        {"checkpoint": tmp_path / "check", "checkpoint_seconds": 0},
        {"checkpoint": tmp_path / "check"},
    ):
        recorder = Recorder()
        tokenizer = toksmith.train_from_iterator([TEXT * 2], 330, progress=recorder, **options)
        assert recorder.text_bytes == 2 * len(TEXT.encode())
        if "forced_tokens" in options:
            assert [count for _, _, _, count in recorder.last(1 << 30)].count(0) > 0
        check(recorder, tokenizer, [TEXT * 2])


def test_a_base_with_tokens_that_no_merge_makes() -> None:
    """The corpus is laid out anew in the middle: what is left of it is told anew, too."""
    vocab = {id: bytes([id]) for id in range(256)} | {256: b"abc", 257: b"abcd"}
    base = toksmith.Tokenizer(vocab, [(b"abc", b"d")], pattern=None)
    recorder = Recorder()
    texts = ["abcd abcd abc ab " * 5, "dabc"]
    with pytest.warns():
        tokenizer = toksmith.train_from_iterator(texts, 290, base=base, progress=recorder)
    assert recorder.text_bytes == sum(map(len, texts))
    assert recorder.text_tokens == sum(len(tokenizer.encode(text)) for text in texts)
    assert all(left + right in tokenizer.vocab.values() for _, left, right, _ in recorder.last(99))


def test_an_exception_of_a_watcher_ends_the_training() -> None:
    class Broken(Watcher):
        def changed(self) -> None:
            raise RuntimeError("seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        toksmith.train_from_iterator([TEXT], 300, progress=Broken())


def test_bytes_of_counts() -> None:
    counts = _core.PretokenCounts([(b"ab", 3, 0), (b"x" * 20, 2, 9)])
    assert counts.text_bytes() == 46
    assert _core.PretokenCounts([]).text_bytes() == 0
