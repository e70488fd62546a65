"""One training in a process of its own: what it took, its peak of memory.

The time of the process is measured too, so nothing is imported here that a script which trains would not need.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Tokens = list[bytes]

# GPT-2's pattern, for those that take one.
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


END = "<|endoftext|>"


def documents(path: str) -> list[str]:
    """The documents of a file, for those that take texts and no separator."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read().split(END)


def spelled_tokens(merges: list[tuple[str, str]]) -> Tokens:
    """The tokens that merges make, from GPT-2's printable character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    byte_of = {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}
    return [bytes(byte_of[c] for c in left + right) for left, right in merges]


def toksmith(path: str, size: int, threads: int, ties: str) -> Any:
    from toksmith import count_pretokens, train

    tokenizer = train(count_pretokens(path, special_tokens=[END], workers=threads), size, ties=ties)
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
        import json

        return spelled_tokens(json.loads(made.to_str())["model"]["merges"])

    return tokens


def ffbpe(path: str, size: int, threads: int, ties: str) -> Any:
    from ffbpe import BpeTrainer, PreTokenizer

    words = PreTokenizer([END], pat_str=GPT2).word_counter()
    words.add_source(documents(path))
    trainer = BpeTrainer([END], tie_break="largest_content")
    trainer.add_word_counter(words)
    trainer.train(size)
    return lambda: [token for token, rank in sorted(trainer.vocab.items(), key=lambda item: item[1]) if rank > 256]


def gigabpe(path: str, size: int, threads: int, ties: str) -> Any:
    import gigabpe

    _, merges = gigabpe.train_bpe([path], size, special_tokens=[END], pretokenizer="bytelevel", threads=threads)
    # Its alphabet has only the bytes of the text, and so it learns more tokens than the others.
    return lambda: spelled_tokens(merges)[: size - 257]


def sentencepiece(path: str, size: int, threads: int, ties: str) -> Any:
    import tempfile

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


PEERS = {f.__name__: f for f in (toksmith, gigatoken, rustbpe, tokenizers, ffbpe, gigabpe, sentencepiece)}


def peak_memory() -> int:
    """The most memory that this process ever had resident; what `getrusage` says may be that of its parent."""
    if os.path.isfile("/proc/self/status"):
        with open("/proc/self/status") as status:
            line = next(line for line in status if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(peer: str, path: str, size: int, threads: int, ties: str, out: str, tokens_out: str = "") -> None:
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[-threads:])
    start = time.perf_counter()
    tokens = PEERS[peer](path, size, threads, ties)
    taken = time.perf_counter() - start
    with open(out, "w") as file:
        file.write(f'{{"train": {taken}, "peak": {peak_memory()}}}')
    if tokens_out:
        with open(tokens_out, "w") as file:
            file.write("\n".join(token.hex() for token in tokens()))


def main() -> None:
    peer, path, size, threads, *rest = sys.argv[1:]
    try:
        measure(peer, path, int(size), int(threads), *rest)
    except BaseException as error:  # a Rust panic is no Exception
        import json
        import traceback

        traceback.print_exc()
        with open(rest[1], "w") as file:
            json.dump({"error": f"{type(error).__name__}: {error}"[:200]}, file)


main()
