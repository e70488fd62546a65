"""Files of strangers: whatever is in them, a `ValueError` in bounded time and memory, or a tokenizer that works."""

import base64
import json
import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toksmith import Tokenizer, _core, patterns, train
from toksmith._core import spell
from toksmith.files import reading

BYTES = {byte: bytes([byte]) for byte in range(256)}


def ranks(extra: dict[int, bytes]) -> bytes:
    return b"".join(base64.b64encode(token) + b" %d\n" % id for id, token in (BYTES | extra).items())


def native(**fields: Any) -> bytes:
    rows = [[id, token.decode("latin-1") if id < 128 and id != 92 else f"\\x{id:02x}"] for id, token in BYTES.items()]
    content: dict[str, Any] = {
        "format": "toksmith",
        "version": 1,
        "pattern": None,
        "pattern_flags": 0,
        "unmatched": "keep",
        "unicode": None,
        "special_tokens": {},
        "tokens": rows,
        "merges": [],
    }
    return json.dumps(content | fields).encode()


def vocab(extra: dict[str, Any]) -> bytes:
    return json.dumps({spell(token): id for id, token in BYTES.items()} | extra).encode()


LOADERS: dict[str, Callable[[Path], Tokenizer]] = {
    "native": Tokenizer.load,
    "tiktoken": lambda path: Tokenizer.from_tiktoken(path, pattern="gpt2"),
    "vocab": lambda path: Tokenizer.from_files(path, path.with_name("merges")),
    "merges": lambda path: Tokenizer.from_files(path.with_name("vocab"), path),
}
GOOD = {"native": native(), "tiktoken": ranks({}), "vocab": vocab({}), "merges": b"#version: 0.2\n"}


def load(kind: str, data: bytes, folder: Path) -> Tokenizer:
    (folder / "vocab").write_bytes(GOOD["vocab"])
    (folder / "merges").write_bytes(GOOD["merges"])
    (folder / kind).write_bytes(data)
    return LOADERS[kind](folder / kind)


def test_what_the_bad_ones_are_made_of_is_good(tmp_path: Path) -> None:
    for kind, data in GOOD.items():
        assert load(kind, data, tmp_path).encode("ab") == [97, 98]


MILLION = 1_000_000
BAD: list[tuple[str, str, bytes]] = [
    ("native", "deep lists", b"[" * MILLION),
    ("native", "deep objects", b'{"a":' * MILLION),
    ("vocab", "deep objects", b'{"a":' * MILLION),
    ("native", "a giant number", native(pattern="a").replace(b"0", b"9" * 6000, 1)),
    ("vocab", "a giant number", vocab({"ab": 10**30})),
    ("vocab", "a giant float", vocab({}).replace(b": 0,", b": 1e999,", 1)),
    ("native", "an id that is no u32", native(special_tokens={"<x>": 2**32})),
    ("native", "a negative id", native(special_tokens={"<x>": -1})),
    ("tiktoken", "an id that is no u32", ranks({2**32: b"ab"})),
    ("tiktoken", "an id of many digits", ranks({}) + b"YWI= " + b"9" * MILLION + b"\n"),
    ("tiktoken", "one long line", b"A" * (8 * MILLION)),
    ("tiktoken", "NUL bytes", ranks({}) + b"\0" * MILLION),
    ("tiktoken", "NUL within a line", ranks({}).replace(b"YQ==", b"Y\0==")),
    ("native", "NUL bytes", native() + b"\0"),
    ("native", "NUL in a name", native().replace(b'"format"', b'"for\0mat"')),
    ("native", "only NUL bytes", b"\0" * MILLION),
    ("vocab", "NUL bytes", b"\0" + vocab({})),
    ("vocab", "NUL in a token", vocab({"a\0": 256})),
    ("merges", "NUL bytes", b"#version: 0.2\na\0 b\n"),
    ("merges", "one long line", b"#version: 0.2\n" + b"a" * (8 * MILLION)),
    ("merges", "many spaces", b"#version: 0.2\n" + b" " * MILLION + b"\n"),
    ("merges", "unknown tokens", b"a b\n" * 2),
    ("native", "not UTF-8", native().replace(b"toksmith", b"tok\xff")),
    ("vocab", "UTF-16", vocab({}).decode().encode("utf-16")),
    ("native", "a key twice", native().replace(b'"version": 1', b'"version": 1, "version": 1')),
    ("native", "a pattern that repeats", native(pattern="a{1000000000}")),
    ("native", "a pattern that repeats repetitions", native(pattern="(?:(?:a{1000}){1000}){1000}")),
    ("native", "a long pattern", native(pattern="a" * MILLION)),
    ("native", "a deep pattern", native(pattern="(" * 20_000 + "a" + ")" * 20_000)),
    ("native", "a broken pattern", native(pattern="(")),
    ("native", "a surrogate", native(special_tokens={"a": 300}).replace(b'"a"', b'"\\ud800"')),
]


@pytest.mark.parametrize(("kind", "what", "data"), BAD, ids=[f"{kind}-{what}" for kind, what, _ in BAD])
def test_bad_content(kind: str, what: str, data: bytes, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=str(kind)) as caught:
        load(kind, data, tmp_path)
    assert len(str(caught.value)) < 2000, what


@pytest.mark.parametrize("kind", LOADERS)
def test_files_cut_short(kind: str, tmp_path: Path) -> None:
    tokenizer = train(iter(["low lower lowest newest widest"]), 270, special_tokens=["<|end|>"])
    good = dict(GOOD)
    tokenizer.save(tmp_path / "native")
    tokenizer.save(tmp_path / "tiktoken", format="tiktoken")
    tokenizer.save(tmp_path / "gpt2", format="gpt2")
    good |= {name: (tmp_path / name).read_bytes() for name in ("native", "tiktoken")}
    good |= {name: next((tmp_path / "gpt2").glob(f"{name}.*")).read_bytes() for name in ("vocab", "merges")}
    rng = random.Random(kind)
    for _ in range(60):
        data = good[kind][: rng.randrange(len(good[kind]))]
        for name, content in (good | {kind: data}).items():
            (tmp_path / name).write_bytes(content)
        try:
            made = LOADERS[kind](tmp_path / kind)
        except ValueError as error:
            assert str(tmp_path) in str(error)
        else:  # cut between two lines of a file that has no end
            assert kind in ("tiktoken", "merges")
            assert made.decode(made.encode("lowest")) == "lowest"


@pytest.mark.parametrize("kind", LOADERS)
def test_files_with_bytes_changed(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    for _ in range(250):
        data = bytearray(GOOD[kind] + (b"a b\n" if kind == "merges" else b""))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data))
            data[at : at + rng.randrange(3)] = rng.choice(
                [b"", b"\0", b"\xff", b"[", b"{", b'"', b"9", b"-", b"\n", b" "]
            )
        try:
            made = load(kind, bytes(data), tmp_path)
        except ValueError as error:
            assert str(tmp_path) in str(error)
        else:
            assert made.decode(made.encode("lowest")) == "lowest"


def test_sizes_are_checked_before_memory_is_taken(tmp_path: Path) -> None:
    # A file of a terabyte without content: no more than the limit is read of it.
    for kind, read in LOADERS.items():
        (tmp_path / "vocab").write_bytes(GOOD["vocab"])
        (tmp_path / "merges").write_bytes(GOOD["merges"])
        with (tmp_path / kind).open("wb") as file:
            file.truncate(reading.MAX_BYTES + 1)
        with pytest.raises(ValueError, match=rf"{kind}: larger than {reading.MAX_BYTES} bytes"):
            read(tmp_path / kind)
        (tmp_path / kind).unlink()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_devices() -> None:
    for read in (Tokenizer.load, lambda path: Tokenizer.from_tiktoken(path, pattern=None)):
        with pytest.raises(OSError, match="not a regular file"):
            read("/dev/zero")


CHILD = """
    import resource, sys
    from pathlib import Path
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    sys.path.insert(0, sys.argv[1])
    import test_hostile_files as tests
    for kind, what, data in tests.BAD:
        try:
            tests.load(kind, data, Path(sys.argv[2]))
        except ValueError:
            continue
        raise SystemExit(f"{kind}, {what}: loaded")
    # Of this process alone: what getrusage tells was that of the parent, too.
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


@pytest.mark.memory
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit on memory")
def test_none_of_them_takes_much_memory(tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(Path(__file__).parent), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 700_000  # KB


# What is odd, but a tokenizer


def test_odd_files_that_work(tmp_path: Path) -> None:
    assert load("tiktoken", ranks({2**32 - 1: b"ab"}), tmp_path).encode("ab") == [2**32 - 1]
    long = b"ab" * 200_000
    assert load("tiktoken", ranks({256: b"ab", 300: long}), tmp_path).count("ab" * 7) == 7
    names = {f"<{i}>": 1000 + i for i in range(20_000)}
    assert load("native", native(special_tokens=names), tmp_path).encode("<7>") == [1007]


# Patterns


def test_what_a_pattern_comes_to() -> None:
    for text in (*patterns.NAMED.values(), *patterns.SPELLINGS, r"[a-z]{2,5}|\p{L}{1,3}(?:x|y){,4}", "é" * 1000, ""):
        _core.check_pattern_size(text)
    for text, parts in (
        ("a{1000000000}", "1000000000"),
        ("(?:a{300}){300}", "90300"),
        ("a{99999999999999999999}", "99999"),
        ("((a{9}){90}){90}", "72900"),
        ("[]{5}]{60000}", "240000"),
        (r"\p{L}{60000,}", "600"),
    ):
        with pytest.raises(ValueError, match=rf"comes to {parts}\d* parts, more than 50000"):
            _core.check_pattern_size(text)
    for text in ("a" * 3000, r"\{60000\}", "[{60000}]", "a{2}" * 1000, "(a)" * 1000, "(((", ")))", "{5}"):
        _core.check_pattern_size(text)
