"""Shards of an engine, in this process: the files of one machine, for any parts, formats and options."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import Soup
from reading import corpus_of

import toksmith
from toksmith import Tokenizer
from toksmith.data.folder import ON_ENGINE, UNFINISHED
from toksmith.engines import workers

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

from parts_engine import PartsEngine, check_equal  # noqa: E402

END = "<|end|>"
FORMATS: Any = ("bin", "nanogpt", "llm.c", "megatron", "npy", "parquet")
engine = PartsEngine()


@pytest.fixture(scope="module")
def tokenizer(small: Tokenizer) -> Tokenizer:
    return Tokenizer(small.vocab, small.merges, [END, "<|begin|>"])


@pytest.fixture(scope="module")
def texts(soup: Soup) -> list[str | None]:
    rng = random.Random(21)
    made: list[str | None] = [soup(rng, rng.choice([0, 0, 1, 5, 60])) for _ in range(150)]
    made += [None, "", f"a{END}b", "the " * 2000, None, "the " * 300]
    rng.shuffle(made)
    return made


def parts(texts: list[Any], count: int, kind: Any = None) -> list[Any]:
    """Tables of texts with their numbers, some of them empty."""
    rng = random.Random(count)
    cuts = [0, *sorted(rng.randrange(len(texts) + 1) for _ in range(count - 1)), len(texts)]
    numbers = list(range(3, 2 * len(texts) + 3, 2))
    return [
        pa.table(
            {"n": pa.array(numbers[low:high], pa.int64()), "text": pa.array(texts[low:high], kind or pa.string())}
        )
        for low, high in itertools.pairwise(cuts)
    ]


def on_one_machine(texts: list[Any], tokenizer: Tokenizer, out: Path, **options: Any) -> Path:
    corpus = corpus_of(iter([text for text in texts if text is not None]), options)
    toksmith.tokenize(corpus, tokenizer, out, **options)
    return out


OPTIONS: list[dict[str, Any]] = [
    {},
    {"shard_size": 700, "append": END, "prepend": ["<|begin|>", END]},
    {"shard_size": 300, "split": {"val": 0.2, "test": 0.3}, "seed": 5, "append": END},
    {"shard_size": 900, "split": "val=0.01", "special": False, "dtype": "uint32"},
]


@pytest.mark.parametrize(
    ("count", "options"), [(7, each) for each in OPTIONS] + [(1, OPTIONS[2]), (64, OPTIONS[2])], ids=str
)
def test_any_parts(
    count: int, options: dict[str, Any], texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    expected = on_one_machine(texts, tokenizer, tmp_path / "one", **options)
    told = engine.tokenize(parts(texts, count), "text", tokenizer, tmp_path / "parts", **options)
    assert told == check_equal(tmp_path / "parts", expected)
    assert told["sources"] == [{"name": "tables", "bytes": None, "documents": len(texts) - texts.count(None)}]


def test_a_shard_for_each_document(texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Empty documents open no shard of their own, but where one was closed before them."""
    few: list[str | None] = ["", *texts[:25], "", "", "the", "", None, ""]
    expected = on_one_machine(few, tokenizer, tmp_path / "one", shard_size=1)
    engine.tokenize(parts(few, 9), "text", tokenizer, tmp_path / "parts", shard_size=1)
    check_equal(tmp_path / "parts", expected)


@pytest.mark.parametrize("format", FORMATS)
def test_all_formats(format: Any, texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path) -> None:
    options: dict[str, Any] = {"format": format, "append": END, "split": {"val": 0.1}}
    if format != "nanogpt":
        options["shard_size"] = 1200
    expected = on_one_machine(texts, tokenizer, tmp_path / "one", **options)
    told = engine.tokenize(parts(texts, 5, pa.string_view()), "text", tokenizer, tmp_path / "parts", **options)
    check_equal(tmp_path / "parts", expected)
    assert len(told["splits"]["train"]["shards"]) > 2 or format == "nanogpt"


def test_nothing_between_documents_is_a_choice(tmp_path: Path) -> None:
    tokenizer = Tokenizer(special_tokens=["</s>"])
    with pytest.warns(UserWarning, match='choose append="</s>", or append="none"'):
        engine.tokenize(parts(["low"], 1), "text", tokenizer, tmp_path / "warned")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.tokenize(parts(["low"], 1), "text", tokenizer, tmp_path / "chosen", append="none")


def test_an_order_by_numbers(texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path) -> None:
    options: dict[str, Any] = {"shard_size": 800, "append": END, "split": {"val": 0.2}}
    expected = on_one_machine(texts, tokenizer, tmp_path / "one", **options)
    rows = list(range(len(texts)))
    for count in (1, 13):
        random.Random(count).shuffle(rows)
        mixed = [pa.concat_tables(parts(texts, 3)).take(rows[start::count]) for start in range(count)]
        engine.tokenize(mixed, "text", tokenizer, tmp_path / str(count), order="n", **options)
        check_equal(tmp_path / str(count), expected)


def test_no_documents(tokenizer: Tokenizer, tmp_path: Path) -> None:
    expected = on_one_machine([], tokenizer, tmp_path / "one", split="val=0.1")
    for name, nothing in (("nulls", [None, None]), ("rows", [])):
        engine.tokenize(parts(nothing, 2, pa.null()), "text", tokenizer, tmp_path / name, split="val=0.1")
        check_equal(tmp_path / name, expected)


def test_texts_that_are_not_utf8(tokenizer: Tokenizer, tmp_path: Path) -> None:
    texts = [b"the", None, b"th\xff", b"he", b"\xc3", b"the end"]
    broken = parts(texts, 3, pa.binary())
    with pytest.raises(ValueError, match=r"column 'text' of a part: text number \d: not UTF-8 at byte 2"):
        engine.tokenize(broken, "text", tokenizer, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    replaced = on_one_machine(texts, tokenizer, tmp_path / "one", errors="replace")
    engine.tokenize(broken, "text", tokenizer, tmp_path / "out", errors="replace")
    check_equal(tmp_path / "out", replaced)
    with pytest.warns(UserWarning, match=r"2 documents were left out: see \"skipped\" in"):
        skipped = on_one_machine(texts, tokenizer, tmp_path / "other", on_error="skip")
    with pytest.warns(UserWarning, match="2 documents were left out") as warned:
        told = engine.tokenize(broken, "text", tokenizer, tmp_path / "skipped", on_error="skip")
    assert warned[0].filename == __file__
    check_equal(tmp_path / "skipped", skipped)
    assert [(one["place"], one["reason"]) for one in told["skipped"]] == [
        ("text number 1", "not UTF-8 at byte 2"),
        ("text number 3", "not UTF-8 at byte 0"),
    ]


def test_what_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"format": "tfrecord"}, "format is one of 'bin', .*, not 'tfrecord'"),
        ({"append": "<|no|>"}, r"append: '<\|no\|>' is not a special token"),
        ({"split": {"train": 0.5}}, "split: 'train' is not a valid name of a split"),
        ({"shard_size": 0}, "shard_size"),
        ({"errors": "ignore"}, "errors"),
    ]
    for options, text in wrong:
        with pytest.raises(ValueError, match=text):
            engine.tokenize([], "text", tokenizer, out, **options)
    assert not out.exists()
    with pytest.raises(ValueError, match="out must be a folder that all machines see, not 's3://"):
        engine.tokenize([], "text", tokenizer, "s3://bucket/data")
    for name, kind, error, text in (
        ("n", None, TypeError, "column 'n' is of type int64: texts are string, large_string"),
        ("text", pa.dictionary(pa.int32(), pa.string()), TypeError, "is of type dictionary"),
    ):
        with pytest.raises(error, match=text):
            engine.tokenize(parts(["the"], 1, kind), name, tokenizer, out)
    for numbers, error, text in (
        ([1.5, 2.5], TypeError, "column 'n' is of type double: documents are ordered by whole numbers"),
        ([7, None], ValueError, "column 'n' has a null: each document needs a number of its own"),
        ([2**63, 2**63], ValueError, f"column 'n' has the number {2**63} more than once"),
    ):
        kind = None if isinstance(numbers[0], float) else pa.uint64()
        for tables in (1, 2):
            table = pa.table({"n": pa.array(numbers, kind), "text": ["the", "he"]})
            split = [table] if tables == 1 else [table.slice(0, 1), table.slice(1)]
            with pytest.raises(error, match=text):
                engine.tokenize(split, "text", tokenizer, out, order="n")


class Killed(BaseException):
    """Ends a run without its cleaning up, as a kill does."""


def test_folders_that_hold_something(texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="the folder is not empty, and has no unfinished run"):
        engine.tokenize(parts(texts, 2), "text", tokenizer, out)
    (out / "thesis.txt").unlink()
    engine.tokenize(parts(texts, 2), "text", tokenizer, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(FileExistsError, match="the folder has a finished run: choose another folder"):
        engine.tokenize(parts(texts, 2), "text", tokenizer, out)
    with pytest.raises(ValueError, match=r"the finished run in .* had shard_size 100000000, not 5"):
        engine.tokenize(parts(texts, 2), "text", tokenizer, out, shard_size=5)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before

    def failing() -> Any:
        yield "the"
        raise RuntimeError("no more")

    begun = tmp_path / "begun"
    with pytest.raises(RuntimeError, match="no more"):
        toksmith.tokenize(failing(), tokenizer, begun)
    with pytest.raises(FileExistsError, match=r"has an unfinished run of toksmith.tokenize"):
        engine.tokenize(parts(texts, 2), "text", tokenizer, begun)
    assert (begun / UNFINISHED / "state.json").exists()


@pytest.mark.parametrize("error", [OSError("no space"), KeyboardInterrupt()], ids=["full", "interrupted"])
def test_after_an_error_at_the_end(
    error: BaseException,
    texts: list[str | None],
    tokenizer: Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the manifest nothing stays; behind it the folder is whole, and is left alone."""
    from toksmith.engines.run_folder import RunFolder

    write = RunFolder.write_manifest

    def failing(*_: Any) -> None:
        raise error

    def failing_behind_it(folder: Any, *told: Any) -> None:
        write(folder, *told)
        folder.unfinished.mkdir()
        folder._write_names(folder.core.names())
        raise error

    monkeypatch.setattr(RunFolder, "write_manifest", failing)
    with pytest.raises(type(error)):
        engine.tokenize(parts(texts, 2), "text", tokenizer, tmp_path / "out", shard_size=2000)
    assert list((tmp_path / "out").iterdir()) == []
    monkeypatch.setattr(RunFolder, "write_manifest", failing_behind_it)
    with pytest.raises(type(error)):
        engine.tokenize(parts(texts, 2), "text", tokenizer, tmp_path / "out", shard_size=2000)
    check_equal(tmp_path / "out", on_one_machine(texts, tokenizer, tmp_path / "one", shard_size=2000))


@pytest.mark.parametrize("stage", ["pieces", "shards", "publish", "names"])
def test_after_a_kill(
    stage: str, texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that was killed leaves no manifest; the next run leaves nothing of what it has left."""
    from toksmith.engines import run_folder
    from toksmith.engines.run_folder import RunFolder

    out = tmp_path / "out"
    with monkeypatch.context() as patch:

        def killed(*_: Any) -> Any:
            raise Killed

        def published(folder: Any, publish: Any = RunFolder.publish_all) -> None:
            publish(folder)
            raise Killed

        def planned(*arguments: Any, plans: Any = run_folder.shard_plans) -> Any:
            yield next(plans(*arguments))
            raise Killed

        patch.setattr(RunFolder, "_clean", lambda _: None)
        if stage == "pieces":
            patch.setattr(PartsEngine, "_worker", killed)
        elif stage == "shards":
            patch.setattr(run_folder, "shard_plans", planned)
        elif stage == "publish":
            patch.setattr(RunFolder, "publish_all", published)
        else:
            patch.setattr(RunFolder, "write_manifest", killed)
        with pytest.raises(Killed):
            engine.tokenize(parts(texts, 4), "text", tokenizer, out, shard_size=1000)
    assert (out / UNFINISHED / ON_ENGINE).exists()
    assert not (out / "manifest.json").exists()
    assert any(out.glob("train-*")) == (stage in ("publish", "names"))
    with pytest.raises(FileExistsError, match="has an unfinished run of Ray or Spark"):
        toksmith.tokenize(iter(["the"]), tokenizer, out)
    engine.tokenize(parts(texts, 3), "text", tokenizer, out, shard_size=2000)
    check_equal(out, on_one_machine(texts, tokenizer, tmp_path / "one", shard_size=2000))


def test_a_part_that_is_worked_off_twice(texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path) -> None:
    class Doubling(PartsEngine):
        def _worker(self, encode: Any, table: Any) -> Any:
            list(super()._worker(encode, table))
            yield from super()._worker(encode, table)

    Doubling().tokenize(parts(texts, 4), "text", tokenizer, tmp_path / "out", shard_size=900)
    check_equal(tmp_path / "out", on_one_machine(texts, tokenizer, tmp_path / "one", shard_size=900))


def test_a_folder_that_a_machine_does_not_see(
    texts: list[str | None], tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(PartsEngine):
        def _worker(self, encode: Any, table: Any) -> Any:
            folder = tmp_path / "elsewhere"
            (folder / workers.PIECES).mkdir(parents=True, exist_ok=True)
            options = {**encode._function.keywords, "work": str(folder)}
            yield from workers.write_pieces(table.to_batches(), **options)

    with pytest.raises(FileNotFoundError, match="the driver does not see it: out must be a folder"):
        Elsewhere().tokenize(parts(texts, 4), "text", tokenizer, tmp_path / "out", shard_size=100)

    class Blind(PartsEngine):
        def _worker(self, encode: Any, table: Any) -> Any:
            shutil.rmtree(Path(encode._function.keywords["work"], workers.PIECES))
            yield from super()._worker(encode, table)

    with pytest.raises(FileNotFoundError, match="does not see the folder of the run: out must be a folder that all"):
        Blind().tokenize(parts(texts, 4), "text", tokenizer, tmp_path / "out")


def test_a_damaged_state_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "out" / UNFINISHED).mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for files in (["../victim"], [str(victim)], "victim", [7], [".."]):
        (tmp_path / "out" / UNFINISHED / ON_ENGINE).write_text(json.dumps({"files": files}))
        with pytest.raises(ValueError, match="not a valid state of a run of Ray or Spark"):
            engine.tokenize(parts(["the"], 1), "text", tokenizer, tmp_path / "out")
    assert victim.read_text() == "mine"
