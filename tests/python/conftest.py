"""Fixtures that several test files use."""

import base64
import gc
import gzip
import hashlib
import importlib.util
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import browser
import own_data
import pytest
from hypothesis import settings
from published_data import load_as

from toksmith import Tokenizer, _core, train
from toksmith.formats.published import encodings, rank_cache

# A run in the background ignores Ctrl-C, and so would every child that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same cases in every run, few enough for each change; `make test-long` looks for new ones, and for longer.
settings.register_profile("short", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile("short")


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples in docstrings that need pyarrow are skipped where it is not installed."""
    has_arrow = importlib.util.find_spec("pyarrow") is not None
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            if not has_arrow and any("arrow" in one.source for one in item.dtest.examples):
                item.add_marker(pytest.mark.skip(reason="needs pyarrow"))
        elif "one_in" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.sampled)


@pytest.fixture(scope="session")
def one_in() -> int:
    """One of how many of its cases a test tries: of each in `make test-long`."""
    return 1 if settings.default.max_examples > 100 else 5


SHARED = Path(__file__).resolve().parents[2].parent / "shared"

Soup = Callable[[random.Random, int], str]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder `../shared/data` beside the repository: corpora, vocabularies and the CS336 fixtures."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data beside the repository (published vocabularies)")
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rank files of the names of published ones: `shared_data`, or own ones where that is not there."""
    if (SHARED / "data").is_dir():
        return SHARED / "data"
    folder = tmp_path_factory.mktemp("data")
    own_data.write_vocabularies(folder)
    return folder


@pytest.fixture(scope="session")
def corpora() -> dict[str, str]:
    """The three corpora, 10 or 15 million characters each: "en", "code" and "multi"."""
    files = sorted((SHARED / "data/corpora").glob("*.txt.gz"))
    own = {} if files else own_data.corpora()
    return own | {path.name.partition(".")[0]: gzip.decompress(path.read_bytes()).decode() for path in files}


@pytest.fixture(scope="session")
def published(data: Path) -> Callable[[str, str], Tokenizer]:
    """A rank file of `data` by name, with its special tokens, under a pattern; each is loaded once."""
    loaded: dict[tuple[str, str], Tokenizer] = {}

    def load(name: str, pattern: str) -> Tokenizer:
        if (name, pattern) not in loaded:
            loaded[name, pattern] = load_as(data, name, pattern)
        return loaded[name, pattern]

    return load


@pytest.fixture(scope="session")
def gpt2_files(data: Path) -> tuple[Path, Path]:
    """GPT-2's `vocab.json` and `merges.txt`."""
    return data / "vocabs/gpt2_vocab.json", data / "vocabs/gpt2_merges.txt"


@pytest.fixture(scope="session")
def gpt2(gpt2_files: tuple[Path, Path]) -> Tokenizer:
    """GPT-2 from its two files: a merges list."""
    return Tokenizer.from_files(*gpt2_files, ["<|endoftext|>"])


@pytest.fixture(scope="session")
def gpt2_ranks(published: Callable[[str, str], Tokenizer]) -> Tokenizer:
    """GPT-2 from tiktoken's rank file."""
    return published("gpt2", "gpt2")


@pytest.fixture(scope="session")
def cl100k(published: Callable[[str, str], Tokenizer]) -> Tokenizer:
    return published("cl100k_base", "cl100k")


@pytest.fixture(scope="session")
def o200k(published: Callable[[str, str], Tokenizer]) -> Tokenizer:
    return published("o200k_base", "o200k")


# None is what a tokenizer runs with by itself, the first; then every other that the core has a path for here.
INSTRUCTION_SETS: list[str | None] = [None, *_core.Pretokenizer.instruction_sets()[1:]]


@pytest.fixture(params=INSTRUCTION_SETS, ids=lambda name: name or "default")
def isa(request: pytest.FixtureRequest) -> str | None:
    """An instruction set for `_core.Pretokenizer(name, isa=…)`; None to leave it out."""
    chosen: str | None = request.param
    return chosen


TEXT = (
    "The quick brown fox, the lazy dog: they're here, aren't they? We'll see; I'd say so.\n\n"
    "    def f(x):\n        return x + 1234567890  # twice\r\n\t\n"
    "Žluťoučký kůň úpěl ďábelské ódy. 我能吞下玻璃而不伤身体。私はガラスを食べられます。"
    "நான் கண்ணாடி சாப்பிடுவேன். 👍🏽 🇨🇿 a\u0301 x² Ⅷ ǅ ʰ <|a|> <|ab|>\n"
)


@pytest.fixture(scope="session")
def small() -> Tokenizer:
    """A small trained tokenizer without special tokens, of GPT-2's pattern."""
    return train(iter([TEXT * 3]), 400)


# Pieces of random text: what one pattern or another treats in its own way, and scripts of all lengths in UTF-8.
WORDS = "|".join(
    [
        "the|The|THE|they|don't|DON'T|we'll|I'Ve|'s|'S|'|''|'ſ|'lL|'re|x'|a|ab|abab|aaa|hello|helloWorld|XMLHttp|_x",
        "0|12|123|1234|1234567890|٣|²|Ⅷ|½|.|,|...|!?|#|##|//|/|\\|$|^^^^|()|{\n|.\n|.\r\n/|。\n\n|" + "-" * 50,
        "žluťoučký|ÅNGSTRÖM|straße|你好|ガラス|நடிகர்|சூர்யா|ไทย|नमस्ते|שלום|ال|한글|ǅ|ʰ|ª|" + "ab" * 40,
        "👍|👍🏽|🇨🇿|🫨|q\u0301x|\u0301|\u200d|\ufeff|\U00010400|\ue000|\U0010ffff|\x00|\x1c|\x1f|\x7f|\u00ad|\ufffd",
    ]
).split("|")
SPACES = ["  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", " \n ", "\xa0", "\u3000", "\u2028", "\x85", "\x0b", " " * 20]


@pytest.fixture(scope="session")
def soup() -> Soup:
    """Makes random text of about so many pieces: words of many scripts, whitespace runs, contractions, symbols."""

    def make(rng: random.Random, pieces: int) -> str:
        found = []
        for _ in range(pieces):
            kind = rng.random()
            if kind < 0.5:
                found.append(rng.choice(WORDS))
            elif kind < 0.85:
                found.append(" " if kind < 0.7 else rng.choice(SPACES))
            elif kind < 0.95:
                found.append("".join(chr(rng.randrange(128)) for _ in range(rng.randrange(1, 6))))
            else:
                point = rng.randrange(0x110000)
                found.append(chr(point) if not 0xD800 <= point < 0xE000 else "\ud7ff")
        return "".join(found)

    return make


@pytest.fixture(scope="session")
def chromium() -> Iterator[browser.Browser]:
    """A browser without a window, for the page of tokens."""
    path = browser.program()
    if path is None:
        pytest.skip("needs Chromium (Debian's package chromium, or its path in CHROMIUM): no browser is installed")
    with browser.started(path) as started:
        yield started


@pytest.fixture(scope="session")
def tiktoken_cache(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """tiktoken's cache folder with the published rank files."""
    folder = tmp_path_factory.mktemp("cache")
    for name, file in encodings.FILES.items():
        source = {"r50k_base": "gpt2", "p50k_base": "gpt2"}.get(name, name)
        data = (shared_data / f"vocabs/{source}.tiktoken").read_bytes()
        if name == "p50k_base":
            runs = enumerate(range(2, 26), 50257)
            data += b"".join(base64.b64encode(b" " * count) + b" %d\n" % id for id, count in runs)
        assert hashlib.sha256(data).hexdigest() == file.sha256
        (folder / rank_cache.cache_key(file.url)).write_bytes(data)
    for name, source in (("vocab.bpe", "gpt2_merges.txt"), ("encoder.json", "gpt2_vocab.json")):
        url = f"https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/{name}"
        data = (shared_data / "vocabs" / source).read_bytes()
        if name == "vocab.bpe":
            data = b"#version: 0.2\n" + data.removeprefix(b"#version: 0.2\n")
        (folder / rank_cache.cache_key(url)).write_bytes(data)
    return folder
