"""Children that are forked while another thread of the parent works: they do everything, with the same results."""

import os
from pathlib import Path

import pytest
from child import run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# What all programs begin with: a text, tokenizers, and `forked(child)`, which says how a child ended.
COMMON = r"""
import io, itertools, os, pathlib, pickle, random, sys, tempfile, threading, time, traceback, warnings
import toksmith
from toksmith import Tokenizer

warnings.simplefilter("ignore")
folder, rng = pathlib.Path(sys.argv[1]), random.Random(int(sys.argv[2]))
words = ["".join(rng.choices("abcdefgh\u00e9\u65e5", k=rng.randint(1, 20))) for _ in range(5000)]
text = " ".join(rng.choices(words, k=60_000))
short = text[:3000] + "<|x|>" + text[3000:4000]
SECONDS = 60


def forked(child):
    process = os.fork()
    if process == 0:
        try:
            child()
            code = 0
        except BaseException:
            traceback.print_exc()
            code = 1
        os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            assert status == 0, f"a child ended with status {status}"
            return
        time.sleep(0.002)
    os.kill(process, 9)
    os.waitpid(process, 0)
    sys.exit("a child hangs")
"""


# Every method, of tokenizers of every origin, each fresh: threads begin with one of them, the process forks at a
# random moment of it, and the child calls all of them.
SOAK = (
    COMMON
    + r"""
import numpy, regex
from toksmith import *
from toksmith.engines import batch_function, count_arrow, encode_arrow

try:
    import pyarrow
except ImportError:
    pyarrow = None
from toksmith.surgery import pruning
from toksmith.lab import explanation
from toksmith.training import counting, counts, train as training

counting.CHUNK_BYTES = 1 << 16
forks = int(sys.argv[3])
pieces = [text[at : at + 5000] for at in range(0, len(text), 5000)]
(folder / "text").write_text(text)


def saved(save):
    with tempfile.TemporaryDirectory(dir=folder) as place:
        save(pathlib.Path(place))
        return sorted((path.name, path.read_bytes()) for path in pathlib.Path(place).rglob("*") if path.is_file())


def decoded(t):
    stream = t.decode_stream()
    return [stream.push(id) for id in t.encode(short)] + [stream.flush()]


TOKENIZER = {
    "encode": lambda t: t.encode(text, workers=2),
    "encode, short": lambda t: t.encode(short),
    "encode_ordinary": lambda t: t.encode(short, special=False),
    "encode_to_numpy": lambda t: t.encode_to_numpy(text).tolist(),
    "encode_bytes": lambda t: t.encode(text.encode() + b"\xff", workers=2),
    "encode_batch": lambda t: t.encode_batch(pieces, workers=2),
    "encode_batch_to_numpy": lambda t: [a.tolist() for a in t.encode_batch_to_numpy(pieces, workers=2)],
    "encode_iterable": lambda t: list(t.encode_iterable(pieces[:5])),
    "encode_with_offsets": lambda t: t.encode_with_offsets(short)[1].tolist(),
    "encode_parts": lambda t: t.encode_parts([(short, True), (short, False)]),
    "encode_file": lambda t: t.encode_file(folder / "text", workers=2).tolist(),
    "count": lambda t: t.count(text, workers=2),
    "truncate": lambda t: t.truncate(text, 900),
    "split": lambda t: t.split(short, 7),
    "explain": lambda t: str(toksmith.lab.explain(t, short[:50])),
    "view": lambda t: (str(toksmith.view(t, short)), toksmith.view(t, short, ids=True)._repr_html_()),
    "inspect": lambda t: toksmith.lab.inspect(t, on=iter(pieces[:2])).to_dict(),
    "compare": lambda t: toksmith.lab.compare([t, first], iter(pieces[:4]), workers=2).to_json(),
    "batch": lambda t: [list(ids) for ids in batch_function(t, "text")({"text": pieces[:3]})["input_ids"]],
    "decode": lambda t: t.decode(range(256)),
    "decode_bytes": lambda t: t.decode_bytes(list(range(256)) * 500),
    "decode_batch": lambda t: t.decode_batch([[65, 66], [67]]),
    "decode_stream": decoded,
    "token_bytes": lambda t: [t.token_bytes(id) for id in range(256)],
    "token_id": lambda t: [t.token_id(t.token_bytes(id)) for id in range(256)],
    "views": lambda t: (dict(t.vocab), list(t.merges), dict(t.special_tokens), t.vocab_size, t.max_id),
    "fingerprint": lambda t: (t.fingerprint, t == pickle.loads(pickle.dumps(t))),
    "pickle": lambda t: pickle.loads(pickle.dumps(t)).encode(short),
    "save": lambda t: saved(lambda place: t.save(place / "it")),
    "save_huggingface": lambda t: saved(lambda place: t.save_huggingface(place, verify=False)),
    "shrink": lambda t: toksmith.surgery.shrink(t, t.vocab_size - 9).encode(short),
    "extend": lambda t: train(iter(pieces[:3]), t.vocab_size + 9, base=t, ties="bytes").encode(short),
    "train": lambda t: train(count_pretokens(iter(pieces[:3]), workers=2), 300).merges,
    "count_pretokens": lambda t: count_pretokens(folder / "text", workers=2).most_common(9),
}
if pyarrow is not None:
    TOKENIZER["encode_arrow"] = lambda t: encode_arrow(t, pyarrow.array(pieces), workers=2).to_pylist()
    TOKENIZER["count_arrow"] = lambda t: count_arrow(t, pyarrow.array(pieces), workers=2).to_pylist()
ENCODING = {
    "encode": lambda e: e.encode(text),
    "encode_to_numpy": lambda e: e.encode_to_numpy(text).tolist(),
    "encode_ordinary": lambda e: e.encode_ordinary(short),
    "encode_batch": lambda e: e.encode_batch(pieces, num_threads=2),
    "encode_ordinary_batch": lambda e: e.encode_ordinary_batch(pieces, num_threads=2),
    "encode_with_unstable": lambda e: [*map(sorted, e.encode_with_unstable(short[:30])[1:])],
    "encode_single_token": lambda e: e.encode_single_token("a"),
    "decode": lambda e: (e.decode(range(97, 120)), e.decode_bytes([97]), e.decode_tokens_bytes([97, 98])),
    "decode_with_offsets": lambda e: e.decode_with_offsets([97, 98]),
    "decode_batch": lambda e: e.decode_batch([[97], [98]]),
    "token_byte_values": lambda e: e.token_byte_values(),
    "special_tokens_set": lambda e: (sorted(e.special_tokens_set), e.n_vocab, e.is_special_token(97)),
    "pickle": lambda e: pickle.loads(pickle.dumps(e)).encode("it is"),
}
COUNTS = {
    "items": lambda c: list(c.items()),
    "most_common": lambda c: c.most_common(99),
    "look": lambda c: (len(c), c.total, c[b" a"]),
    "add": lambda c: list((c + c).items()),
    "save": lambda c: saved(lambda place: c.save(place / "it")),
    "train": lambda c: train(c, 300).merges,
    "pretoken_bytes": lambda c: c._core.pretoken_bytes(),
    "fingerprint": lambda c: toksmith._core.fingerprint(c._core),
}

first = train(iter([text]), 900, special_tokens=["<|x|>"])
first.save(folder / "native")
first.save(folder / "gpt2", format="gpt2")
first.save_huggingface(folder / "huggingface")
Tokenizer(first.vocab, None, pattern="cl100k").save(folder / "ranks", verify=False, format="tiktoken")
pickled = pickle.dumps(first)
SUBJECTS = {
    "trained": (lambda: train(iter([text]), 900, special_tokens=["<|x|>"]), TOKENIZER),
    "native": (lambda: Tokenizer.load(folder / "native"), TOKENIZER),
    "gpt2": (lambda: Tokenizer.from_files(folder / "gpt2/vocab.json", folder / "gpt2/merges.txt"), TOKENIZER),
    "tiktoken": (lambda: Tokenizer.from_tiktoken(folder / "ranks", pattern="o200k"), TOKENIZER),
    "huggingface": (lambda: Tokenizer.from_huggingface(folder / "huggingface/tokenizer.json"), TOKENIZER),
    "unpickled": (lambda: pickle.loads(pickled), TOKENIZER),
    "regex": (lambda: Tokenizer(first.vocab, first.merges, pattern=r"\w+|\W+|(?<=a)b"), TOKENIZER),
    "shrunk": (lambda: toksmith.surgery.shrink(first, 700), TOKENIZER),
    "extended": (lambda: train(iter(pieces[:9]), 950, base=first), TOKENIZER),
    "Encoding": (lambda: Encoding.from_tiktoken(str(folder / "ranks"), pattern="cl100k"), ENCODING),
    "counts": (lambda: count_pretokens(iter(pieces), workers=2), COUNTS),
}


def result_of(call, subject):
    try:
        return call(subject)
    except (ValueError, KeyError, AttributeError) as error:
        return repr(error)  # what this kind cannot do is as it was


# The calls that each kind has, with the results of an equal one, and how long they take.
expected, takes = {}, {}
order = list(SUBJECTS)
rng.shuffle(order)
for number in range(forks):
    kind = order[number % len(order)]
    make, calls = SUBJECTS[kind]
    if kind not in expected:
        equal, expected[kind] = make(), {}
        for name, call in calls.items():
            start = time.monotonic()
            expected[kind][name] = result_of(call, equal)
            takes[kind, name] = time.monotonic() - start
    subject = make()
    name = rng.choice(list(calls))
    others = rng.sample(list(calls), len(calls))
    stop = threading.Event()

    def work():
        for one in itertools.chain([name], itertools.cycle(others)):
            result_of(calls[one], subject)
            if stop.is_set():
                return

    def child():
        for one in others:
            assert result_of(calls[one], subject) == expected[kind][one], (kind, name, one)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(rng.random() * min(2 * takes[kind, name] + 0.002, 0.5))
    try:
        print(kind, name, file=sys.stderr)
        forked(child)
    finally:
        stop.set()
    for thread in threads:
        thread.join()
print("all", forks)
"""
)


def soak(folder: Path, seed: int, forks: int, timeout: float) -> None:
    outcome = run(SOAK, folder, seed, forks, timeout=timeout)
    assert (outcome.status, outcome.out) == (0, f"all {forks}\n"), outcome.told


def test_children_of_a_process_whose_threads_work(tmp_path: Path) -> None:
    soak(tmp_path, 7, 4, 300)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_five_hundred_forks(seed: int, tmp_path: Path) -> None:
    soak(tmp_path, seed, 100, 3000)


# The tables of a large vocabulary that a training made take a while, at its first text.
TABLES = (
    COMMON
    + r"""
tokens, merges, seen = [bytes([byte]) for byte in range(256)], [], set()
while len(tokens) < 60_000:
    pair = tokens[rng.randrange(min(len(tokens), 20_000))], bytes([rng.randrange(97, 105)])
    if b"".join(pair) not in seen:
        seen.add(b"".join(pair))
        tokens.append(b"".join(pair))
        merges.append(pair)
base = Tokenizer(dict(enumerate(tokens)), merges)
trained = [toksmith.train(iter([text[:3000]]), 60_010, base=base) for _ in range(7)]
start = time.monotonic()
expected = trained[0].encode(short)
takes = time.monotonic() - start


def child():
    assert tokenizer.encode(short) == expected
    assert tokenizer.encode(text) == whole


whole = trained[0].encode(text)
for tokenizer in trained[1:]:
    thread = threading.Thread(target=lambda: tokenizer.encode(text))
    thread.start()
    time.sleep(takes * rng.random())
    forked(child)
    thread.join()
print("all")
"""
)


def test_a_child_makes_the_tables_that_a_thread_of_its_parent_was_making(tmp_path: Path) -> None:
    outcome = run(TABLES, tmp_path, 1, timeout=300)
    assert (outcome.status, outcome.out) == (0, "all\n"), outcome.told


REGISTRY = r"""
import os, threading, time
from toksmith.compat.tiktoken import registry

holds = threading.Event()
def hold():
    with registry._lock():
        holds.set()
        time.sleep(60)
threading.Thread(target=hold, daemon=True).start()
holds.wait()
process = os.fork()
if process == 0:
    os._exit("gpt2" not in registry.list_encoding_names())
print(os.waitpid(process, 0)[1], flush=True)
os._exit(0)
"""


def test_a_lock_of_the_registry_is_free_in_a_child() -> None:
    outcome = run(REGISTRY, timeout=30)
    assert (outcome.status, outcome.out) == (0, "0\n"), outcome.told


LAZY = r"""
import os, sys, threading, time
import toksmith
from toksmith import Tokenizer
from toksmith.data import dataset

out = sys.argv[1] + "/out"
toksmith.tokenize(iter(["low lower"]), Tokenizer(), out)
opened = toksmith.data.open(out)
loads, load = threading.Event(), dataset.load_tokenizer
def slowly(manifest):
    if not loads.is_set():
        loads.set()
        time.sleep(2)
    return load(manifest)
dataset.load_tokenizer = slowly
thread = threading.Thread(target=lambda: opened.tokenizer)
thread.start()
loads.wait()
process = os.fork()
if process == 0:
    os._exit(opened.documents.text(0) != "low lower")
print(os.waitpid(process, 0)[1], flush=True)
thread.join()
"""


def test_a_child_computes_what_a_thread_of_its_parent_was_computing(tmp_path: Path) -> None:
    outcome = run(LAZY, tmp_path, timeout=30)
    assert (outcome.status, outcome.out) == (0, "0\n"), outcome.told


BUSY = r"""
import os, sys, threading, time
from toksmith import Tokenizer, _core

tokenizer = Tokenizer()
stream = tokenizer._core.stream(True)
text = "it is\n" * 5_000_000
thread = threading.Thread(target=lambda: stream.push(text))
thread.start()
time.sleep(0.05)
process = os.fork()
if process == 0:
    try:
        stream.push("a")
    except RuntimeError as error:
        os._exit("used" not in str(error))
    os._exit(thread.is_alive())
print(os.waitpid(process, 0)[1], flush=True)
thread.join()
"""


def test_a_stream_that_was_in_use_is_refused_in_a_child() -> None:
    outcome = run(BUSY, timeout=60)
    assert (outcome.status, outcome.out) == (0, "0\n"), outcome.told


WORKERS = r"""
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from toksmith import train

text = "it is a lower slower text " * 40_000
tokenizer = train(iter([text]), 300)

def count(text):
    return tokenizer.count(text), len(tokenizer.encode_to_numpy(text)), train(iter([text]), 290).merges

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(count, [text] * 4))
    print(found == [count(text)] * 4)
"""


def test_workers_of_multiprocessing_that_are_forked() -> None:
    outcome = run(WORKERS, timeout=120)
    assert (outcome.status, outcome.out) == (0, "True\n"), outcome.told
