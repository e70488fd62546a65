"""A memory limit of a whole training: the same merges, errors that say what would do, and counts that are kept."""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from extending_oracle import random_base, random_words
from small_sizes import sizes
from training_data import TIES, train_as_asked

import toksmith
from toksmith import PretokenCounts, _core, train
from toksmith._internal import memory, progress

BENCH = Path(__file__).resolve().parents[3] / "benches/memory_limit.py"
Merges = list[tuple[int, int, int, int]]


def learn(counts: PretokenCounts, merges: int, **options: Any) -> Merges:
    keywords = {name: options.pop(name) for name in ("base", "forced", "checkpoint") if name in options}
    return _core.learn(counts._core, {"max_merges": merges, **options}, **keywords).merges()


# The lean layout


@pytest.mark.parametrize("seed", range(8))
def test_a_limit_changes_no_merge_of_any_start(seed: int, one_in: int) -> None:
    """Under any limit, with a base or forced tokens, and from any checkpoint on."""
    rng = random.Random(seed)
    for _ in range(25 // one_in):
        kind = rng.choice(("none", "none", "ranks", "merges"))
        alphabet = rng.choice(("ab", "abc", "abcdefgh"))
        base = None if kind == "none" else random_base(rng, alphabet, kind)
        forced = [] if base or rng.random() < 0.5 else ["".join(rng.choices(alphabet, k=4)).encode()]
        words = random_words(rng, alphabet) | {
            "".join(rng.choices(alphabet, k=rng.randint(1, 12))).encode(): rng.randint(1, 30) for _ in range(60)
        }
        counts = PretokenCounts(words, pattern=None)
        options: dict[str, Any] = {
            "ties": rng.choice(TIES),
            "base": base._core if base else None,
            "forced": forced,
            "min_frequency": rng.choice((1, 2)),
            "max_token_length": rng.choice((None, 5)),
        }
        saved: list[bytes] = []
        fast = learn(counts, 30, checkpoint=(b"", saved.append, 0.0), **options)
        for limit in (1, rng.randint(2, 40_000), rng.randint(40_000, 400_000)):
            assert learn(counts, 30, memory_limit=limit, **options) == fast, (options, limit)
            checkpoint = (rng.choice(saved), len, 60.0)
            assert learn(counts, 30, memory_limit=limit, checkpoint=checkpoint, **options) == fast, (options, limit)


# A limit that cannot be met


LIMIT = 1_000_000


@pytest.fixture
def small_tables() -> Iterator[None]:
    """Tables as small as the limit, so that little text is too much for it."""
    with sizes(None, 1 << 20):
        yield


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files with 60,000 pretokens that occur once, and some more often."""
    made = [tmp_path / "one.txt", tmp_path / "two.txt"]
    rng = random.Random(46)
    for part, file in enumerate(made):
        words = [f"{rng.choice('abcdefgh')}x{number}é" for number in range(part * 30_000, (part + 1) * 30_000)]
        words += rng.choices(words[:4000], k=10_000) + [f"a word of a length that no slot holds {part}"] * 3
        rng.shuffle(words)
        file.write_text(" ".join(words))
    return made


def refused(*arguments: Any, **options: Any) -> str:
    with pytest.raises(MemoryError) as error:
        train_as_asked(*arguments, **options)
    return str(error.value)


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize("ties", ["bytes", "first"])
def test_a_second_call_goes_on_from_the_counts_of_the_first(ties: Any, files: list[Path], tmp_path: Path) -> None:
    expected = train(files, 400, ties=ties)
    fewer = train_as_asked(files, 400, ties=ties, min_pretoken_count=2)
    checkpoint = tmp_path / "checkpoint"
    options: dict[str, Any] = {"ties": ties, "checkpoint": checkpoint}
    saved = f"{checkpoint}.counts"
    found = re.fullmatch(
        r"there are ([\d,]+) different pretokens: training on them takes at least (\d+) MB, "
        r"and memory_limit is 1 MB: "
        r"raise it, or leave rare ones out with min_pretoken_count=2, which keeps ([\d,]+) and changes the result\. "
        rf"The counts are saved in {re.escape(saved)}: "
        rf"give PretokenCounts\.load\({re.escape(repr(saved))}\) to train",
        refused(files, 400, memory_limit=LIMIT, **options),
    )
    assert found
    unique, least, kept = (int(number.replace(",", "")) for number in found.groups())
    counts = PretokenCounts.load(saved)
    assert counts.items() == toksmith.count_pretokens(files).items()
    assert (unique, kept) == (len(counts), len(counts.at_least(2)))
    for file in files:
        file.unlink()
    assert refused(counts, 400, memory_limit=LIMIT, **options).endswith("changes the result")
    for _ in range(2):  # from the counts, and once it is complete
        assert train(counts, 400, memory_limit=f"{least + 1}MB", **options) == expected
    counts = PretokenCounts.load(saved, min_pretoken_count=2)
    assert train(counts, 400, memory_limit=LIMIT, ties=ties) == fewer


@pytest.mark.usefixtures("small_tables")
def test_counts_that_fit_are_saved_where_learning_does_not(files: list[Path], tmp_path: Path) -> None:
    """Wide cells take more than the counts do."""
    options: dict[str, Any] = {"ties": "first", "min_pretoken_count": 2}
    message = refused(files, 100_000, memory_limit=LIMIT, checkpoint=tmp_path / "checkpoint", **options)
    assert "checkpoint.counts" in message
    with pytest.warns(UserWarning, match="no pair is left"):
        counts = PretokenCounts.load(tmp_path / "checkpoint.counts")
        assert train(counts, 100_000, ties="first") == train_as_asked(files, 100_000, **options)


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize("checkpoint", [False, True])
def test_counts_of_an_iterator_are_saved_and_no_file_is_replaced(
    checkpoint: bool, files: list[Path], tmp_path: Path
) -> None:
    options: Any = {"checkpoint": tmp_path / "checkpoint"} if checkpoint else {}
    texts = [file.read_text() for file in files]
    message = refused(iter(texts), 300, memory_limit=LIMIT, **options)
    saved = [*tmp_path.glob("checkpoint*")]
    if not checkpoint:
        assert re.search(r"training on them .*changes the result$", message) and not saved
        return
    assert PretokenCounts.load(saved[0]) == toksmith.count_pretokens(iter(texts))
    saved[0].write_text("notes")
    message = refused(iter(texts), 300, memory_limit=LIMIT, **options)
    assert message.endswith(f"The counts are not saved, because {saved[0]} already exists")
    assert saved[0].read_text() == "notes"
    assert train(iter(texts), 300, memory_limit="60MB", **options) == train(files, 300)


def test_counts_need_no_room_of_their_own() -> None:
    """The limit is beyond what the process holds before, as counts that are passed in."""
    counts = PretokenCounts({f"w{number}".encode(): 1 + number % 3 for number in range(50_000)})
    least = _core.memory_to_learn(counts._core, {"max_merges": 200}, False)[0][2]
    assert train(counts, 456, memory_limit=least + 100_000) == train(counts, 456)
    message = refused(counts, 456, memory_limit=least - 100_000)
    assert "leave rare ones out with min_pretoken_count=2, which keeps 33,333 and" in message
    assert train(counts.at_least(2), 456, memory_limit=least - 100_000).vocab_size == 456


# Limits of the process


def test_a_limit_of_the_process_is_a_warning_with_the_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = PretokenCounts({f"word{number}".encode(): 1 for number in range(200_000)})
    expected = train(counts, 300)
    files = [tmp_path / name for name in ("own", "parent", "root")]
    monkeypatch.setattr(memory, "_cgroup_files", lambda: files)
    for limited in files[:2]:
        for file in files:
            file.write_text("max\n")
        limited.write_text(f"{memory.taken()[0] + 36_000_000}\n")
        with pytest.warns(UserWarning, match=r'up to 38 MB, and there are 3\d MB: memory_limit="\d+MB"') as warned:
            assert train(counts, 300) == expected
        assert warned[0].filename == __file__
    train(counts, 300, memory_limit="20MB")  # says nothing
    limited.write_text(f"{memory.taken()[0] + 2_000_000}\n")
    with pytest.raises(MemoryError, match=r"at least \d MB, and there are \d MB: count fewer files"):
        train(counts, 300)


def test_all_groups_around_the_process_are_asked() -> None:
    if not Path("/proc/self/cgroup").exists():
        pytest.skip("there are no control groups")
    names = [str(path) for path in memory._cgroup_files()]
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            parts = [part for part in group.split("/") if part]
            for count in range(len(parts) + 1):
                assert "/".join(["/sys/fs/cgroup", *parts[:count], "memory.max"]) in names


UNDER_A_LIMIT = """
import random, resource, sys, warnings
import toksmith
from toksmith._internal import memory

path, limit, spare, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
toksmith.train(iter(["low lower lowest"] * 2), 258)  # imports what a training needs
if kind == "addresses":
    most = memory.taken()[1] + limit + spare
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
trained = toksmith.train(path, 2000, memory_limit=limit)
print(trained.fingerprint)
"""


def run_limited(path: Path, limit: int, spare: int, kind: str, before: tuple[str, ...] = ()) -> str:
    command = [*before, sys.executable, "-c", UNDER_A_LIMIT, str(path), str(limit), str(spare), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a million words that occur once: their counts take 16 MB, and learning takes 45 without a limit."""
    rng = random.Random(46)
    letters = bytes(ord("a") + byte % 16 for byte in range(256))
    words = (rng.randbytes(8 + number % 5).translate(letters).decode() for number in range(500_000))
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(" ".join(words))
    return path


@pytest.mark.memory
@pytest.mark.skipif(sys.platform != "linux", reason="addresses are limited as on Linux")
def test_a_training_that_fits_works_under_a_limit_of_addresses(text: Path) -> None:
    assert run_limited(text, 30_000_000, 30_000_000, "addresses") == train(text, 2000).fingerprint


def scope() -> tuple[tuple[str, ...], str]:
    """Return the command that runs another in a control group with a limit, and why there is none."""
    reason = "systemd-run is not installed"
    for manager in ("--user", "--system") if shutil.which("systemd-run") else ():
        before = ("systemd-run", manager, "--scope", "--quiet", "-p", "MemorySwapMax=0", "-p")
        tried = subprocess.run([*before, "MemoryMax=1G", "true"], capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            return before, ""
        reason = f"systemd-run makes no control group: {tried.stderr.strip()}"
    return (), reason


@pytest.mark.memory
def test_a_training_that_fits_is_not_killed_in_a_control_group(text: Path) -> None:
    before, reason = scope()
    if reason:
        pytest.skip(reason)
    limit, interpreter = 30_000_000, 60_000_000
    most = f"MemoryMax={limit + interpreter + 30_000_000}"
    assert run_limited(text, limit, 0, "group", (*before, most)) == train(text, 2000).fingerprint


@pytest.mark.long
@pytest.mark.memory
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as on Linux")
def test_the_peak_of_a_training_with_millions_of_pretokens() -> None:
    limits = ["300MB", "400MB", "500MB"]
    command = [sys.executable, str(BENCH), "--limits", "none", *limits]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.match(r"4,[3-5]\d\d,\d\d\d different pretokens.* the same merges: yes", printed), printed
    for limit in limits:
        row = re.search(rf"^\| {limit} \|.* (\d+) \|$", printed, re.MULTILINE)
        assert row, printed
        assert int(row[1]) <= int(limit[:-2]) + 30, printed


# Progress


@pytest.mark.parametrize(("columns", "is_shown"), [(200, True), (80, True), (50, False)])
@pytest.mark.parametrize("name", ["count", "merge"])
def test_a_bar_shows_memory_and_its_limit(
    name: str, columns: int, is_shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    monkeypatch.setenv("COLUMNS", str(columns))
    bars = progress.Bars(lambda: [memory.use_of(1_412_000_000, 2_500_000_000)])
    bars.report(name, 1, 2)
    console = Console(width=columns, file=io.StringIO())
    console.print(bars.drawn.get_renderable())
    [line] = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert ("RAM 1.4 of 2.5 GB" in line) == is_shown, line


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory a process has")
def test_memory_in_use_is_beyond_what_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    use = memory.Use(10**9)
    held = bytearray(os.urandom(1 << 16) * 800)
    found = re.fullmatch(r"RAM (\d\.\d) of 1\.0 GB", *use.facts())
    assert found, use.facts()
    assert 0.0 < float(found[1]) < 0.3, len(held)
    monkeypatch.setattr(memory, "taken", lambda: (0, 0))
    assert memory.Use(None).facts() == []


@pytest.mark.parametrize("call", [train, toksmith.count_pretokens])
def test_the_bar_of_a_call_has_the_limit(call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    original = progress.Bars.report

    def report(bars: Any, *arguments: Any) -> None:
        shown.extend(bars._facts())
        original(bars, *arguments)

    monkeypatch.setattr(progress.Bars, "report", report)
    texts = iter(["low lower lowest "] * 100_000)
    call(texts, *([263] if call is train else []), memory_limit="100MB", progress=True)
    assert shown
    assert all(fact.endswith(" of 100 MB") for fact in shown if sys.platform == "linux")
