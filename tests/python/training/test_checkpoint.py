"""Checkpoints: interrupted anywhere, a training goes on with the identical result; of anything else it is refused."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from extending_oracle import random_base, random_words
from training_data import END, TIES, quietly, train_as_asked

from toksmith import PretokenCounts, Tokenizer, _core, train


def learn(counts: PretokenCounts, merges: int, **options: Any) -> list[tuple[int, int, int, int]]:
    keywords = {name: options.pop(name) for name in ("base", "forced", "checkpoint") if name in options}
    return _core.learn(counts._core, {"max_merges": merges, **options}, **keywords).merges()


def test_every_place_to_go_on_from_gives_the_same_merges() -> None:
    rng = random.Random(1)
    for _ in range(150):
        kind = rng.choice(("none", "ranks", "merges"))
        alphabet = rng.choice(("ab", "abc", "abcd"))
        base = None if kind == "none" else random_base(rng, alphabet, kind)
        forced: Any = [] if kind != "none" or rng.random() < 0.7 else ["".join(rng.choices(alphabet, k=4)).encode()]
        counts = PretokenCounts(random_words(rng, alphabet), pattern=None)
        options: dict[str, Any] = {
            "ties": rng.choice(TIES),
            "base": base._core if base else None,
            "forced": forced,
            "min_frequency": rng.choice((1, 1, 2)),
            "max_token_length": rng.choice((None, None, 4)),
        }
        saved: list[bytes] = []
        whole = learn(counts, 15, checkpoint=(b"", saved.append, 0.0), **options)
        assert whole == learn(counts, 15, **options)
        assert len(saved) > len(whole) - len(forced) * 3
        assert len(saved[-1]) == 20 * len(whole)
        for made in saved:
            assert learn(counts, 15, checkpoint=(made, len, 60.0), **options) == whole, (options, made)


def test_a_callback_that_stops_the_training_leaves_a_checkpoint(tmp_path: Path) -> None:
    rng = random.Random(2)
    words = {rng.randbytes(6): rng.randint(1, 50) for _ in range(20_000)}
    counts = PretokenCounts(words, pattern=None)
    expected = train(counts, 3000)
    path = tmp_path / "checkpoint"
    places = []
    for stop_at in (0, 500, 1000, 2000):

        def stop(stage: str, done: int, total: int, stop_at: int = stop_at) -> None:
            if stage == "merge" and stop_at <= done < total:
                places.append(done)
                raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            train(counts, 3000, checkpoint=path, progress=stop)
            raise RuntimeError("stop")  # a fast machine may be done before it is asked
    found = train(counts, 3000, checkpoint=path)
    assert found == expected
    assert found.merge_counts == expected.merge_counts
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]


def test_outputs_of_a_training_are_files_of_their_own(tmp_path: Path) -> None:
    source, path = tmp_path / "in/a.txt", tmp_path / "in/c.csv"
    source.parent.mkdir()
    source.write_text("low lower")
    with pytest.raises(ValueError, match=r"c\.csv: two outputs have this name"):
        train(source, 258, checkpoint=path, log=tmp_path / "in/../in/c.csv")
    train(source, 258, checkpoint=path)
    with pytest.raises(ValueError, match=r"c\.csv: this file is read too"):
        train(source.parent, 258, checkpoint=path)


CHILD = r"""
import random, sys
from toksmith import PretokenCounts, train

rng = random.Random(5)
words = {rng.randbytes(rng.randint(2, 9)): rng.randint(1, 50) for _ in range(30_000)}
counts = PretokenCounts(words, pattern=None)
print("begun", flush=True)
train(counts, 9000, checkpoint=(sys.argv[1], 0.01)).save(sys.argv[2])
print("ended", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not to be had on Windows")
def test_killed_at_any_moment_a_training_goes_on_with_the_identical_result(tmp_path: Path) -> None:
    rng = random.Random(6)
    path, out = tmp_path / "checkpoint", tmp_path / "tokenizer.json"
    command = [sys.executable, "-c", CHILD, str(path), str(out)]
    sizes = []
    for _ in range(8):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(rng.uniform(0.01, 0.25))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        sizes.append(path.stat().st_size if path.exists() else 0)
    assert sizes == sorted(sizes)
    subprocess.run(command, check=True, capture_output=True)
    # A process killed later may have left another of the tokenizer's.
    assert [file.name for file in tmp_path.iterdir() if "checkpoint" in file.name] == ["checkpoint"]
    content = random.Random(5)
    words = {content.randbytes(content.randint(2, 9)): content.randint(1, 50) for _ in range(30_000)}
    expected = train(PretokenCounts(words, pattern=None), 9000)
    found = Tokenizer.load(out)
    assert found == expected
    assert found.merge_counts == expected.merge_counts


TEXT = ["low lower lowest newer newest widest " * 20]


def train_on_texts(sources: list[str], **options: Any) -> Tokenizer:
    return train_as_asked(iter(sources), **options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"ties": "ids"}, "ties"),
        ({"min_frequency": 2}, "min_frequency"),
        ({"max_token_length": 9}, "max_token_length"),
        ({"forced_tokens": ["ab"]}, "forced_tokens"),
        ({"pattern": "cl100k"}, "pattern"),
        ({"unmatched": "drop"}, "unmatched"),
        ({"special_tokens": [END, "<|x|>"]}, "special_tokens"),
        ({"vocab_size": 271}, "vocab_size"),
        ({"base": Tokenizer(None, None, [END])}, "base"),
        ({"sources": ["low lower lowest newer newest widest " * 21]}, "text"),
    ],
)
def test_another_text_or_option_is_refused(options: dict[str, Any], named: str, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    usual: dict[str, Any] = {"sources": TEXT, "vocab_size": 270, "special_tokens": [END], "checkpoint": path}
    first = train_on_texts(**usual)
    before = path.read_bytes()
    message = rf"checkpoint of (another training: its {named} was|a training on another {named})"
    with pytest.raises(ValueError, match=message):
        train_on_texts(**{**usual, **options})
    assert path.read_bytes() == before
    assert train_on_texts(**usual) == first


def test_options_are_compared_before_a_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    train(iter(TEXT), 270, checkpoint=path)
    with pytest.raises(ValueError, match="its vocab_size was 270, and is 280 now"):
        train(tmp_path / "missing.txt", 280, checkpoint=path)
    with pytest.raises(FileNotFoundError, match="missing"):
        train(iter(()), 280, checkpoint=tmp_path / "missing" / "checkpoint")


def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for content in (b"", b"my notes", b"toksmith checkpoint 1\n", b"toksmith checkpoint 1\n[]\n"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a checkpoint of a training"):
            train(iter(TEXT), 270, checkpoint=path)
        assert path.read_bytes() == content


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    train(iter(TEXT), 270, checkpoint=path)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"\0", whole[:-3] + b"\xff" + whole[-2:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="checksum mismatch"):
            train(iter(TEXT), 270, checkpoint=path)


def test_merges_that_no_training_made_are_refused() -> None:
    counts = PretokenCounts({b"abab": 3}, pattern=None)
    good = learn(counts, 2, checkpoint=(b"", len, 60.0))
    assert good == [(97, 98, 256, 6), (256, 256, 257, 3)]

    def packed(*numbers: int) -> bytes:
        return b"".join(number.to_bytes(4, "little") for number in numbers) + bytes(8)

    too_often = packed(97, 98, 256)[:12] + (2**63 + 1).to_bytes(8, "little")
    wrong = (b"x", packed(97, 300, 256), packed(97, 98, 257), packed(97, 98, 99), packed(97, 98, 256) * 2, too_often)
    for made in wrong:
        with pytest.raises(ValueError, match=r"corrupt|the same as number"):
            learn(counts, 2, checkpoint=(made, len, 60.0))


def test_fingerprints_in_files_stay_valid() -> None:
    counts = PretokenCounts({b"ab": 1, b"lowest price": 7})
    assert _core.fingerprint(counts._core) == "eee6bfedec2bff9e9b9b76be724ec5b2"


def test_an_error_of_saving_ends_the_training(tmp_path: Path) -> None:
    counts = PretokenCounts({b"abab": 3}, pattern=None)

    def refuse(merges: bytes) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        learn(counts, 2, checkpoint=(b"", refuse, 0.0))
    for seconds in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="the time between checkpoints must be 0 seconds or more"):
            quietly(train, counts, 260, checkpoint=(tmp_path / "c", seconds))
