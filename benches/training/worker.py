"""One training in a process of its own: what it took, its peak of memory."""

import json
import os
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

Tokens = list[bytes]

# GPT-2's pattern, for those that take one.
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


END = "<|endoftext|>"


def documents(path: str) -> list[str]:
    """The documents of a file, for those that take texts and no separator."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return file.read().split(END)


def toksmith(path: str, size: int, threads: int, ties: str) -> Any:
    from toksmith import train

    tokenizer = train(path, size, special_tokens=[END], workers=threads, ties=ties)
    return lambda: [left + right for left, right in tokenizer.merges]


def gigatoken(path: str, size: int, threads: int, ties: str) -> Any:
    import gigatoken

    made = gigatoken.train_bpe(path, size, [END])
    return lambda: [left + right for left, right in made[1]]


def rustbpe(path: str, size: int, threads: int, ties: str) -> Any:
    import rustbpe

    trainer = rustbpe.Tokenizer()
    trainer.train_from_iterator(iter(documents(path)), size - 1, pattern=GPT2)

    def tokens() -> Tokens:
        ranks = sorted(trainer.get_mergeable_ranks(), key=lambda item: item[1])
        return [bytes(token) for token, rank in ranks if rank >= 256]

    return tokens


def tokenizers(path: str, size: int, threads: int, ties: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size - 1, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(documents(path), trainer)

    def tokens() -> Tokens:
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in printable]
        byte_of = {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}
        merges = json.loads(made.to_str())["model"]["merges"]
        return [bytes(byte_of[c] for c in left + right) for left, right in merges]

    return tokens


def sentencepiece(path: str, size: int, threads: int, ties: str) -> Any:
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            input=path,
            model_prefix=f"{folder}/model",
            model_type="bpe",
            vocab_size=size,
            byte_fallback=True,
            character_coverage=0.9995,
            num_threads=threads,
            normalization_rule_name="identity",
            max_sentence_length=1 << 24,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    return list


PEERS = {f.__name__: f for f in (toksmith, gigatoken, rustbpe, tokenizers, sentencepiece)}


def peak_memory() -> int:
    """The most memory that this process ever had resident; what `getrusage` says may be that of its parent."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(job: dict[str, Any]) -> dict[str, Any]:
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[-job["threads"] :])
    start = time.perf_counter()
    tokens = PEERS[job["peer"]](job["path"], job["size"], job["threads"], job.get("ties", "bytes"))
    taken = time.perf_counter() - start
    peak = peak_memory()
    found = {"train": taken, "peak": peak}
    if "tokens" in job:
        Path(job["tokens"]).write_text("\n".join(token.hex() for token in tokens()))
    return found


def main() -> None:
    job = json.loads(sys.argv[1])
    try:
        found = measure(job)
    except BaseException as error:  # a Rust panic is no Exception
        traceback.print_exc()
        found = {"error": f"{type(error).__name__}: {error}"[:200]}
    Path(job["out"]).write_text(json.dumps(found))


main()
