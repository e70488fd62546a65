"""Documents of corpora, in an order that is drawn from a seed."""

from __future__ import annotations

import collections
import gzip
import random
from pathlib import Path

from pyarrow import parquet

from toksmith.lab.characters import scripts_of

END = "<|endoftext|>"
LOOKED_AT = 4000
"""Characters of a document by which its script is found."""


def documents(paths: list[Path], seed: int = 1) -> list[str]:
    """Return the documents of Parquet files (column `text`) and of texts in gzip, separated by `END`, shuffled."""
    found: list[str] = []
    for path in paths:
        if path.suffix == ".parquet":
            found += parquet.read_table(path, columns=["text"])["text"].to_pylist()
        else:
            found += gzip.decompress(path.read_bytes()).decode().split(END)
    random.Random(seed).shuffle(found)
    return found


def megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def by_script(texts: list[str]) -> dict[str, list[str]]:
    """Return documents by the script that most of their letters belong to."""
    letters = [collections.Counter(filter(str.isalpha, text[:LOOKED_AT])) for text in texts]
    script_of = scripts_of("".join(sorted(set().union(*letters))))
    found: dict[str, list[str]] = {}
    for text, counted in zip(texts, letters, strict=True):
        in_script: collections.Counter[str] = collections.Counter()
        for letter, count in counted.items():
            in_script[script_of[letter]] += count
        script = in_script.most_common(1)[0][0] if in_script else "none"
        found.setdefault({"Hiragana": "Japanese", "Katakana": "Japanese"}.get(script, script), []).append(text)
    return found
