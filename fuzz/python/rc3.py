"""`tokenizers` 1.0 against toksmith's stand-in and `tokenizers` 0.23, on random files: `rc3.py FOLDER 3000`.

FOLDER is where `pip install --target FOLDER tokenizers==1.0.0rc3` put the library. Prints a small case of each reason
why answers differ, then how many files 1.0 refuses, and in how many its answers differ.
"""

from __future__ import annotations

import collections
import functools
import itertools
import json
import random
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pipeline_files
import pipelines
import tokenizers
from answers import answers, process
from choices import Input
from splitting import without_panic

from toksmith.compat import huggingface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pipeline_files import File

TEXTS = 12


def differences(ask: Callable[..., Any], file: File, texts: list[str]) -> Iterator[tuple[str, str, Any, Any, Any]]:
    """Yield a question, a text, and the answers of 0.23, 1.0 and toksmith, where 1.0 differs or refuses the file."""
    content = json.dumps(file)
    theirs = without_panic(lambda: tokenizers.Tokenizer.from_str(content))
    ids_of = lambda text: [theirs.encode(text).ids, pipelines._ids(theirs, text)]  # noqa: E731
    ids = theirs and without_panic(lambda: [ids_of(text) for text in texts])
    if not ids:
        yield "load", "", None, "0.23 refuses the file, or panics at a text", None
        return
    newer = ask(content, texts, ids)
    if isinstance(newer, dict):
        yield "load", "", None, newer["error"], None
        return
    stand_in, _ = pipelines._loaded(lambda: huggingface.Tokenizer.from_str(content))
    ours = answers(stand_in, texts, ids) if stand_in else itertools.repeat({})
    expected = json.loads(json.dumps(answers(theirs, texts, ids)))
    for text, *three in zip(texts, expected, newer, ours, strict=False):
        differ = [name for name, answer in three[0].items() if "error" not in answer and answer != three[1][name]]
        names = [name for name in differ if name != "tokens" or name == differ[0]]  # tokens follow from ids
        yield from ((name, text, *(answer.get(name) for answer in three)) for name in names)


def reason(file: File, question: str, newer: Any) -> str:
    """Return why the answers about a small file differ."""
    model, rows, before = file["model"], file["added_tokens"], json.dumps(file["pre_tokenizer"])
    flags = {flag for row in rows for flag in pipeline_files.FLAGS if row[flag]}
    reasons = {
        "the pattern of a `Split`": "fancy-regex" in str(newer),
        "`single_word`: a panic": "PanicException" in str(newer),
        "a prefix or a suffix": model["continuing_subword_prefix"] or model["end_of_word_suffix"],
        "truncation to less than the special tokens": file["truncation"] and file["post_processor"],
        "tokens are those of the ids": question == "tokens",
        "`single_word`": "single_word" in flags,
        "what `rstrip` takes": "rstrip" in flags,
        "`Metaspace` before added tokens that are normalized": "Metaspace" in before and "normalized" in flags,
        "special tokens that are normalized": question == "decode" and {"special", "normalized"} <= flags,
        "the decoder behind `ByteLevel`": question == "decode" and "ByteLevel" in before,
        "the order of the ids of added tokens": len(rows) > 1,
        "the class `\\w` of a `Replace`": r"\\w" in json.dumps([file["normalizer"], file["decoder"]]),
    }
    return next((name for name, holds in reasons.items() if holds), "other")


def compare(ask: Callable[..., Any], seed: int, counts: collections.Counter[str]) -> None:
    """Count what becomes of the file of a seed, with a reason for `encode`, `tokens` and `decode` each."""
    maker = pipeline_files.Maker(Input(random.Random(seed).randbytes(1024)))
    texts = maker.texts(TEXTS)
    differ = list(differences(ask, maker.file, texts))
    refused = [error for question, _, _, error, _ in differ if question == "load"]
    counts["compared" if not refused else f"refused: {pipelines._general(refused[0])}"] += 1
    counts["differ"] += bool(differ) and not refused
    counts["answers of toksmith that are not 0.23's"] += sum(own not in (None, old) for _, _, old, _, own in differ)
    for kind, question in {_kind(name): name for name, *_ in reversed(differ) if name != "load"}.items():
        rows = functools.partial(
            lambda name, *case: [row for row in differences(ask, *case) if row[0] == name], question
        )
        file, some = pipelines.smallest(maker.file, texts, lambda *case, rows=rows: bool(rows(*case)))
        # A difference by chance may be gone: then it is shown as it was newer.
        _, text, old, new, _ = next(iter(rows(file, some)), next(row for row in differ if row[0] == question))
        why = f"{kind}: {reason(file, question, new)}"
        counts[why] += 1
        if counts[why] == 1:
            print(f"{why}: {question} of {text!r} is {old} in 0.23, {new} in 1.0; {pipelines.shown(file)}")


def _kind(question: str) -> str:
    return question if question in ("tokens", "decode") else "encode"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    outcomes: collections.Counter[str] = collections.Counter()
    with process(sys.argv[1]) as ask:
        for seed in range(int(sys.argv[2])):
            compare(ask, seed, outcomes)
    print(*(f"{count:>7,}  {outcome}" for outcome, count in outcomes.most_common()), sep="\n")
