"""Whole random files of tokenizers against `tokenizers`: the short form of `fuzz/python/campaign.py pipelines`."""

import random
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz/python"))
with warnings.catch_warnings():
    import pipeline_files
    import pipelines
    from choices import Input


def is_known(file: pipeline_files.File, category: str) -> bool:
    """Whether a difference is still to be mended: several post-processors."""
    several = (file["post_processor"] or {}).get("type") == "Sequence"
    return several and not category.startswith("Tokenizer.")


@pytest.mark.parametrize("first", [0, 50, 100, 150])
def test_random_files(first: int) -> None:
    compared = 0
    for seed in range(first, first + 50):
        maker = pipeline_files.Maker(Input(random.Random(seed).randbytes(1024)))
        texts = maker.texts(8)
        loaded = pipelines.load(maker.file)
        if loaded is None or not (loaded.stand_in or loaded.core):
            continue
        compared += 1
        for category, some, expected, found in pipelines.differences(loaded, texts):
            if not pipelines.documented(maker.file, category) and not is_known(maker.file, category):
                raise AssertionError(f"seed {seed}, {category} of {some!r}: expected {expected!r}, found {found!r}")
    assert compared > 4
