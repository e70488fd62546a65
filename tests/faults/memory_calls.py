"""Kinds of calls, each run in forks of this program under limits on the address space; how each ended goes to stdout.

Usage: `python memory_calls.py FOLDER prepare WORDS`, with the number of words of the text, then
`python memory_calls.py FOLDER KINDS LIMITS`, the last two with commas between their parts; `all` for every kind.
A line is a list in JSON: the kind, the limit in bytes beyond what the process has, and how the call ended.
"""

import ctypes
import hashlib
import json
import os
import pickle
import random
import resource
import signal
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy.random  # noqa: F401 - an import under a limit would be what fails

import toksmith
from toksmith import PretokenCounts, Tokenizer
from toksmith.engines import count_arrow, encode_arrow
from toksmith.lab.page import document
from toksmith.training.plan import Plan, Request

try:
    import pyarrow
except ImportError:
    pyarrow = None

FORMS = ("NFC", "NFKD", "Lowercase", "Nmt", "StripAccents")

SECONDS = 60.0
"""After so long a call hangs."""

Call = Callable[[], Any]
Kinds = dict[str, tuple[Call, Call]]
"""A call with a large input, and the same with a small one."""


def words(count: int, letters: str, seed: int) -> str:
    """Text of many different words, of which some are frequent."""
    below = random.Random(seed)
    stock = ["".join(below.choices(letters, k=below.randint(2, 12))) for _ in range(40_000)]
    return " ".join(below.choices(stock, weights=[1 / (1 + at) for at in range(len(stock))], k=count))


def prepare(folder: Path, count: int) -> None:
    """Makes the files that the calls read, in a process of its own: what it leaves on its heap would hide a limit."""
    text = words(count, "etaoinshrdlu", 1)
    wide = words(count // 4, "абвгдежзийклмн中文字漢語", 2)
    (folder / "narrow.txt").write_text(text)
    (folder / "wide.txt").write_text(wide)
    (folder / "text.txt").write_text(text + "\n" + wide)
    tokenizer = toksmith.train(iter([text[:400_000], wide[:100_000]]), 12_000, special_tokens=["<|end|>"])
    tokenizer.save(folder / "saved.json")
    tokenizer.save(folder / "ranks.tiktoken", format="tiktoken")
    tokenizer.save(folder / "gpt2", format="gpt2")
    tokenizer.save_huggingface(folder / "hf")
    document = json.loads((folder / "hf/tokenizer.json").read_text())
    for form in (*FORMS, "Replace"):
        document["normalizer"] = {"type": form, "pattern": {"String": "e"}, "content": "eeeeeeee"}
        (folder / f"{form}.json").write_text(json.dumps(document))
    (folder / "ids").write_bytes(tokenizer.encode_to_numpy(text).tobytes())
    (folder / "wide_ids").write_bytes(tokenizer.encode_to_numpy(wide).tobytes())
    toksmith.count_pretokens(folder / "text.txt").save(folder / "counts")


class Inputs:
    """What the calls are made with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.text, self.wide = (folder / "narrow.txt").read_text(), (folder / "wide.txt").read_text()
        self.texts = [self.text[at : at + 5000] for at in range(0, len(self.text), 5000)]
        self.file = folder / "text.txt"
        self.saved = folder / "saved.json"
        self.tokenizer = Tokenizer.load(self.saved)
        self.ids, self.wide_ids = array("I"), array("I")
        self.ids.frombytes((folder / "ids").read_bytes())
        self.wide_ids.frombytes((folder / "wide_ids").read_bytes())
        self.pickled = pickle.dumps(self.tokenizer)
        self.counts = PretokenCounts.load(folder / "counts")
        self.pieces = dict(self.counts.items())
        below = random.Random(3)
        self.ranks = {bytes([byte]): byte for byte in range(256)}
        while len(self.ranks) < 60_000:
            self.ranks.setdefault(below.randbytes(below.randint(2, 40)), len(self.ranks))
        self.vocab = {rank: token for token, rank in self.ranks.items()}


def again(encoder: Tokenizer) -> Tokenizer:
    """The same tokenizer without what it has learned from texts."""
    return pickle.loads(pickle.dumps(encoder))


def calls(inputs: Inputs) -> Kinds:
    """All kinds, by name."""
    text, wide, texts, ids, folder = inputs.text, inputs.wide, inputs.texts, list(inputs.ids), inputs.folder
    fresh = again(inputs.tokenizer)
    pattern = Tokenizer(fresh.vocab, list(fresh.merges), pattern=r"\w+|\s+|[^\w\s]+|(?<=a)b")
    whole = Tokenizer(fresh.vocab, list(fresh.merges), pattern=None)
    encoding = toksmith.Encoding.from_tiktoken(
        folder / "ranks.tiktoken", pattern="gpt2", special_tokens={"<|end|>": 99_999}
    )
    small, few = text[:300], ids[:100]
    out = folder / "ids.bin"

    def both(call: Callable[[Any], Any], large: Any, little: Any) -> tuple[Call, Call]:
        return (lambda: call(large)), (lambda: call(little))

    def file_of(size: int) -> Path:
        path = folder / f"part{size}.txt"
        path.write_text(text[:size])
        return path

    def gone(path: Path) -> None:
        if path.is_dir():
            for each in path.iterdir():
                each.unlink()
        path.unlink(missing_ok=True) if not path.is_dir() else path.rmdir()

    def saving(save: Callable[[Path], Any]) -> tuple[Call, Call]:
        def call() -> Any:
            path = folder / f"out{os.getpid()}"
            before = set(folder.iterdir())
            try:
                save(path)
                return sorted(each.read_bytes() for each in path.iterdir()) if path.is_dir() else path.read_bytes()
            finally:
                left = {each for each in folder.iterdir() if each not in before and each != path}
                assert not left, f"files are left: {left}"
                if path.exists():
                    gone(path)

        return call, lambda: fresh.encode(small)

    def loading(load: Callable[[], Tokenizer]) -> tuple[Call, Call]:
        return (lambda: load().encode(small)), (lambda: fresh.encode(small))

    def to_file(workers: int) -> tuple[Call, Call]:
        def call(source: Path) -> Any:
            try:
                fresh.encode_file(source, out, workers=workers)
                return out.read_bytes()
            finally:
                gone(out)

        return both(call, inputs.file, file_of(300))

    def batches(workers: int) -> tuple[Call, Call]:
        return both(lambda batch: fresh.encode_batch(batch, workers=workers), texts, texts[:2])

    def stream(pieces: list[int]) -> str:
        decoder = fresh.decode_stream()
        return "".join([decoder.push(id) for id in pieces]) + decoder.flush()

    def trained(vocab_size: int, workers: int = 1, **options: Any) -> tuple[Call, Call]:
        def call() -> Any:
            return (
                Plan(Request(sources=inputs.file, vocab_size=vocab_size, workers=workers, **options))
                .run()
                .fingerprint
            )

        return call, lambda: fresh.encode(small)

    def counted(counts: PretokenCounts) -> Any:
        return counts.total, counts.items()

    kinds: Kinds = {
        "encode_bytes": both(fresh.encode, text.encode(), small.encode()),
        "encode_iterable": both(lambda pieces: list(fresh.encode_iterable(pieces)), texts, texts[:1]),
        "encode_with_offsets": both(
            lambda of: [list(map(bytes, fresh.encode_with_offsets(of, unit=u)[1])) for u in ("bytes", "characters")],
            text,
            small,
        ),
        "encode_parts": both(fresh.encode_parts, [(part, True) for part in texts], [(small, True)]),
        "truncate": both(lambda of: fresh.truncate(of, 400_000), text, small),
        "split": both(lambda of: fresh.split(of, 20, 3), text, small),
        "split_wide": both(lambda of: fresh.split(of, 2, 1), wide, wide[:300]),
        "explain": both(lambda of: repr(toksmith.lab.explain(fresh, of)), text[:60_000], small),
        "view": both(lambda of: toksmith.view(fresh, of, ids=True)._repr_html_(), text[:1_000_000], small),
        "inspect": (
            (lambda: toksmith.lab.inspect(fresh, on=iter(texts[:200])).to_dict()),
            (lambda: fresh.encode(small)),
        ),
        "compare": both(lambda of: toksmith.lab.compare([fresh, whole], iter(of)).to_json(), texts[:40], texts[:2]),
        "page": saving(lambda path: document.write(path, {"it": fresh})),
        "decode": both(fresh.decode, ids, few),
        "decode_wide": both(fresh.decode, list(inputs.wide_ids), few),
        "decode_bytes": both(fresh.decode_bytes, ids, few),
        "decode_iterable": both(lambda of: fresh.decode(iter(of)), ids, few),
        "decode_batch": both(fresh.decode_batch, [ids[at : at + 100] for at in range(0, len(ids), 100)], [few]),
        "decode_stream": both(stream, ids[:100_000], few),
        "tokenizer": both(
            lambda vocab: Tokenizer(vocab).fingerprint, inputs.vocab, dict(list(inputs.vocab.items())[:300])
        ),
        "tokenizer_merges": (
            (lambda: Tokenizer(fresh.vocab, list(fresh.merges)).fingerprint),
            (lambda: fresh.encode(small)),
        ),
        "tokenizer_specials": both(
            lambda count: Tokenizer(special_tokens=[f"<|{at}|>" for at in range(count)]).encode("<|7|>"), 30_000, 30
        ),
        "load": loading(lambda: Tokenizer.load(inputs.saved)),
        "from_tiktoken": loading(lambda: Tokenizer.from_tiktoken(folder / "ranks.tiktoken", pattern="gpt2")),
        "from_files": loading(lambda: Tokenizer.from_files(folder / "gpt2/vocab.json", folder / "gpt2/merges.txt")),
        "from_huggingface": loading(lambda: Tokenizer.from_huggingface(folder / "hf/tokenizer.json")),
        "save": saving(lambda path: fresh.save(path)),
        "save_gpt2": saving(lambda path: fresh.save(path, format="gpt2")),
        "save_tiktoken": saving(lambda path: fresh.save(path, format="tiktoken")),
        "save_huggingface": saving(lambda path: fresh.save_huggingface(path)),
        "pickle": ((lambda: pickle.dumps(fresh)), (lambda: fresh.encode(small))),
        "unpickle": loading(lambda: pickle.loads(inputs.pickled)),
        "vocab": ((lambda: sorted(again(fresh).vocab.items())), (lambda: fresh.encode(small))),
        "merges": ((lambda: list(again(fresh).merges)), (lambda: fresh.encode(small))),
        "train_iterator": (
            (lambda: toksmith.train(iter(texts), 3000).fingerprint),
            (lambda: fresh.encode(small)),
        ),
        "train_base": trained(15_000, base=fresh),
        "train_first": trained(3000, ties="first"),
        "train_limited": trained(6000, 2, memory_limit="6MB"),
        "count_iterator": both(lambda of: counted(toksmith.count_pretokens(iter(of))), texts, texts[:1]),
        "count_limited": both(
            lambda of: counted(toksmith.count_pretokens(of, memory_limit="8MB", workers=1)), inputs.file, file_of(300)
        ),
        "counts_add": both(lambda of: counted(of + of), inputs.counts, PretokenCounts({b"a": 1})),
        "counts_items": both(
            lambda of: (of.items(), of.first_places(), of.most_common(1000), counted(of.at_least(2))),
            inputs.counts,
            PretokenCounts({b"a": 1}),
        ),
        "counts_mapping": both(lambda of: counted(PretokenCounts(of)), inputs.pieces, {b"a": 1}),
        "counts_save": saving(lambda path: inputs.counts.save(path)),
        "counts_load": (
            (lambda: counted(PretokenCounts.load(folder / "counts"))),
            (lambda: counted(PretokenCounts({b"a": 1}))),
        ),
        "encoding": loading(
            lambda: toksmith.Encoding("it", pat_str=r"\w+|\W+", mergeable_ranks=inputs.ranks, special_tokens={})
        ),
        "encoding_encode": both(encoding.encode, text, small),
        "encoding_numpy": both(lambda of: bytes(encoding.encode_to_numpy(of)), text, small),
        "encoding_batch": both(encoding.encode_batch, texts, texts[:2]),
        "encoding_ordinary": both(encoding.encode_ordinary, text, small),
        "encoding_unstable": both(
            lambda of: [sorted(found) if at else found for at, found in enumerate(encoding.encode_with_unstable(of))],
            text,
            small,
        ),
        "encoding_decode": both(encoding.decode, ids, few),
        "encoding_offsets": both(encoding.decode_with_offsets, ids, few),
        "encoding_tokens": both(encoding.decode_tokens_bytes, ids, few),
        "encoding_decode_batch": both(
            encoding.decode_batch, [ids[at : at + 100] for at in range(0, len(ids), 100)], [few]
        ),
        "encoding_values": ((lambda: encoding.token_byte_values()), (lambda: encoding.encode(small))),
        "pattern_encode": both(pattern.encode, text[:1_000_000], small),
        "pattern_batch": both(lambda of: pattern.encode_batch(of, workers=2), texts[:200], texts[:2]),
        "whole_encode": both(whole.encode, text[:2_000_000], small),
        "whole_wide": both(lambda of: bytes(whole.encode_to_numpy(of)), wide, wide[:300]),
        "whole_count": both(whole.count, text, small),
    }
    for form in FORMS:
        own = Tokenizer.from_huggingface(folder / f"{form}.json")
        kinds[form] = both(own.encode, wide, wide[:300])
        kinds[f"{form}_offsets"] = both(lambda of, own=own: own.encode_with_offsets(of)[0], wide, wide[:300])
    replace = Tokenizer.from_huggingface(folder / "Replace.json")
    kinds["replace"] = both(replace.encode, text[:1_500_000], small)
    for workers in (1, 2):
        kinds |= {
            f"encode_{workers}": both(lambda of, n=workers: fresh.encode(of, workers=n), text, small),
            f"encode_wide_{workers}": both(lambda of, n=workers: fresh.encode(of, workers=n), wide, wide[:300]),
            f"numpy_{workers}": both(lambda of, n=workers: bytes(fresh.encode_to_numpy(of, workers=n)), text, small),
            f"count_{workers}": both(lambda of, n=workers: fresh.count(of, workers=n), wide, wide[:300]),
            f"batch_{workers}": batches(workers),
            f"batch_numpy_{workers}": both(
                lambda of, n=workers: [bytes(array) for array in fresh.encode_batch_to_numpy(of, workers=n)],
                texts,
                texts[:2],
            ),
            f"file_{workers}": both(
                lambda of, n=workers: bytes(fresh.encode_file(of, workers=n)), inputs.file, file_of(300)
            ),
            f"file_to_file_{workers}": to_file(workers),
            f"arrow_{workers}": both(
                lambda of, n=workers: lists(encode_arrow(fresh, of, workers=n)), column(texts), column(texts[:2])
            ),
            f"arrow_count_{workers}": both(
                lambda of, n=workers: lists(count_arrow(fresh, of, workers=n)),
                column(texts),
                column(texts[:2]),
            ),
            f"train_{workers}": trained(6000, workers),
            f"counted_{workers}": both(
                lambda of, n=workers: counted(toksmith.count_pretokens(of, workers=n)), inputs.file, file_of(300)
            ),
        }
    return kinds if pyarrow else {name: kind for name, kind in kinds.items() if not name.startswith("arrow_")}


def column(texts: list[str]) -> Any:
    """Texts as a column of Arrow."""
    return pyarrow.array(texts) if pyarrow else None


def lists(ids: Any) -> list[bytes]:
    """The buffers of a list of lists."""
    return [bytes(buffer) for buffer in ids.buffers() if buffer is not None]


def digest(result: Any) -> str:
    """What two equal results have in common. Numbers are fed piece by piece: that takes little memory."""
    sum = hashlib.blake2b(digest_size=16)
    if isinstance(result, list | tuple):
        for item in result:
            sum.update(digest(item).encode() if isinstance(item, list | tuple) else repr(item).encode() + b",")
    else:
        sum.update(result if isinstance(result, bytes) else repr(result).encode())
    return sum.hexdigest()


def ended(call: Call, address_space: int | None) -> str:
    """What a call under a limit returns, or raises, in some words."""
    limit(address_space)
    try:
        result = call()
    except BaseException as error:
        limit(None)
        return f"{type(error).__name__}: {error}"[:300]
    limit(None)
    return "is " + digest(result)


def limit(most: int | None) -> None:
    """Lets the process have so much address space; `None` for all that there is."""
    resource.setrlimit(resource.RLIMIT_AS, (-1 if most is None else most, -1))


def size_now() -> int:
    """Bytes of address space that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def within(address_space: int | None, kind: tuple[Call, Call]) -> str:
    """How the calls of a kind end in a fork under a limit: one result for the large one, one for the small one."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open("/dev/null" if not os.environ.get("LOUD") else "/dev/stderr", os.O_WRONLY), 2)
        large, small = kind
        most = None if address_space is None else size_now() + address_space
        first = ended(large, most)
        second = ended(small, most)
        os.write(write, f"{first}\n{second}".encode())
        os._exit(0)
    os.close(write)
    said = b""
    with os.fdopen(read, "rb") as pipe:
        due = time.monotonic() + SECONDS
        while time.monotonic() < due:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                said = pipe.read()
                break
            time.sleep(0.002)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hangs"
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return said.decode()


def main() -> None:
    folder, wanted = Path(sys.argv[1]), sys.argv[2]
    if wanted == "prepare":
        prepare(folder, int(sys.argv[3]))
        return
    limits = [int(each) for each in sys.argv[3].split(",")]
    kinds = calls(Inputs(folder))
    ctypes.CDLL(None).malloc_trim(0)
    names = list(kinds) if wanted == "all" else wanted.split(",")
    for name in names:
        expected = within(None, kinds[name])
        print(json.dumps([name, None, expected]), flush=True)
        for bytes_more in limits:
            found = within(bytes_more, kinds[name])
            print(json.dumps([name, bytes_more, found]), flush=True)


if __name__ == "__main__":
    main()
