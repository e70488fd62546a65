"""Whole random files of tokenizers against `tokenizers`: the short form of `fuzz/python/campaign.py pipelines`."""

import collections
import random
import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "fuzz/python"))
with warnings.catch_warnings():
    import pipeline_files
    import pipelines
    import rc3
    from answers import process
    from choices import Input


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
            if not pipelines.documented(maker.file, category):
                raise AssertionError(f"seed {seed}, {category} of {some!r}: expected {expected!r}, found {found!r}")
    assert compared > 4


def test_no_answer_of_the_same_version_differs(tmp_path: Path) -> None:
    """The comparison with `tokenizers` 1.0, with an empty folder: so the process has the version of the tests."""
    counts: collections.Counter[str] = collections.Counter()
    with process(str(tmp_path)) as ask:
        for seed in range(20):
            rc3.compare(ask, seed, counts)
    assert counts.pop("compared") > 10
    assert not any(count for outcome, count in counts.items() if "panics at a text" not in outcome), counts
