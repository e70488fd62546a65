"""Training that balances languages: tokens of each one with and without it, and time beside `tokenizers`.

    python benches/balance.py ../shared/data/corpora/multi.txt.gz [--vocab-size N] [--rounds N]

The texts are the documents of a file in many languages, grouped by script. The Universal Declaration of Human Rights,
which the file has in a language of each script, is what measures them, and is left out of the training.
"""

import argparse
import gzip
import itertools
import json
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from tokenizers import Tokenizer as HuggingFace
from tokenizers import models, pre_tokenizers, trainers

import toksmith
from toksmith._core import unspell

DECLARATIONS = {
    "Latin": "Die Allgemeine Erklärung der Menschenrechte",
    "Cyrillic": "Всеобщая декларация прав человека",
    "Chinese": "世界人权宣言",
    "Japanese": "『世界人権宣言』",
    "Korean": "세 계 인 권 선 언",
    "Arabic": "اعلامیه جهانی حقوق بشر",
    "Tamil": "மனித உரிமைகள் பற்றிய உலகப் பிரகடனம்",
    "Bengali": "মানবাধিকারের সার্বজনীন",
}
"""Where the declaration in a language of each script begins."""
SCRIPTS = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}

Texts = dict[str, list[str]]


def script_of(text: str) -> str:
    letters = [letter for letter in text if letter.isalpha()]
    names = Counter(unicodedata.name(letter, "?").split()[0].split("-")[0] for letter in letters if letter > "\x7f")
    if names.total() < 0.1 * len(letters) or not names:
        return "Latin"
    name = names.most_common(1)[0][0]
    return SCRIPTS.get(name, name.title())


def read(path: str) -> tuple[Texts, Texts]:
    """Return the texts to learn from and the declarations, by script."""
    texts, declarations = defaultdict(list), {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for document in file.read().split("<|endoftext|>"):
            title = next((name for name, start in DECLARATIONS.items() if document.strip().startswith(start)), None)
            if title is not None and title not in declarations:
                declarations[title] = [document]
            elif (script := script_of(document)) in DECLARATIONS:
                texts[script].append(document)
    return {name: texts[name] for name in DECLARATIONS}, {name: declarations[name] for name in DECLARATIONS}


def ours(texts: Texts, size: int, variant: Any, measure: dict[str, Any]) -> toksmith.Tokenizer:
    sources = {name: iter(documents) for name, documents in texts.items()}
    if "dev" in measure:
        measure = {"dev": {name: iter(documents) for name, documents in measure["dev"].items()}}
    return toksmith.train(
        sources, size, parity=toksmith.Parity(rule=variant, **measure), ties="huggingface", workers=1
    )


def theirs(texts: Texts, size: int, variant: str, measure: dict[str, Any]) -> list[Any]:
    tokenizer = HuggingFace(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.ParityBpeTrainer(
        num_merges=size - 256, variant=variant, initial_alphabet=alphabet, show_progress=False
    )
    dev = [iter(measure["dev"][name]) for name in texts] if "dev" in measure else None
    ratio = [float(measure["ratio"][name]) for name in texts] if "ratio" in measure else None
    trainer.train_from_iterator(tokenizer, [iter(documents) for documents in texts.values()], dev, ratio)
    return [tuple(map(unspell, merge)) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and the processor time of all threads in seconds."""
    start = time.process_time()
    return call(), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    texts, dev = read(options.file)
    size = options.vocab_size
    bytes_of = {name: len("".join(documents).encode()) for name, documents in dev.items()}
    ratio = {name: bytes_of[name] / bytes_of["Latin"] for name in dev}
    plain, seconds = timed(lambda: toksmith.train(itertools.chain(*texts.values()), size))
    columns = {"ordinary": plain}
    print(f"ordinary: {seconds:.2f} s")
    for variant, kind, measure in (
        ("base", "dev", {"dev": dev}),
        ("window", "dev", {"dev": dev}),
        ("base", "ratio", {"ratio": ratio}),
    ):
        label, times = f"{variant}, {kind}", ([], [])
        for _ in range(options.rounds):
            columns[label], seconds = timed(lambda v=variant, m=measure: ours(texts, size, v, m))
            merges, other = timed(lambda v=variant, m=measure: theirs(texts, size, v, m))
            times[0].append(seconds)
            times[1].append(other)
            assert list(columns[label].merges) == merges, "the merges differ"
        seconds, other = min(times[0]), min(times[1])
        print(f"{label}: {seconds:.2f} s, tokenizers {other:.2f} s, {other / seconds:.1f} times, equal merges")
    print(f"\n| tokens | MB of text | {' | '.join(columns)} |\n|---|---|{'---|' * len(columns)}")
    for name in texts:
        megabytes = sum(len(document.encode()) for document in texts[name]) / 1e6
        cells = [f"{len(column.encode(dev[name][0])):,}" for column in columns.values()]
        print(f"| {name} | {megabytes:.2f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
