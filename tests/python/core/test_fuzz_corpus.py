"""Every input of the corpus once through its fuzz target, without the fuzzer."""

import sys
import warnings
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[3] / "fuzz"
sys.path.insert(0, str(FUZZ / "python"))
with warnings.catch_warnings():
    import targets


@pytest.mark.parametrize("name", targets.ALL)
@pytest.mark.filterwarnings("ignore")
def test_the_corpus_holds(name: str) -> None:
    for path in sorted((FUZZ / "corpus" / name).glob("*")):
        try:
            targets.ALL[name](path.read_bytes())
        except Exception as error:
            raise AssertionError(path) from error
