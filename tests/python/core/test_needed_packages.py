"""What works with NumPy alone, without the other packages that toksmith depends on; and when NumPy is used first."""

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys
for name in ("regex", "rich", "click"):
    sys.modules[name] = None  # an import of it fails
import toksmith
from toksmith import Tokenizer
"""
USES = {
    "import": "",
    "named patterns": """
for pattern in ("gpt2", "cl100k", "o200k", None):
    tokenizer = toksmith.train(iter(["low low lower"]), 260, pattern=pattern, special_tokens=["<|e|>"])
    assert tokenizer.decode(tokenizer.encode("lower<|e|>")) == "lower<|e|>"
    assert tokenizer.encode_to_numpy("lower<|e|>").tolist() == tokenizer.encode("lower<|e|>")
""",
    "files": """
tokenizer = toksmith.train(iter(["low low lower"]), 260)
tokenizer.save("own.json")
tokenizer.save_huggingface("tokenizer.json", verify=False)
tokenizer.save("ranks.tiktoken", format="tiktoken", verify=False)
assert Tokenizer.load("own.json") == Tokenizer.from_huggingface("tokenizer.json") == tokenizer
assert Tokenizer.from_tiktoken("ranks.tiktoken", pattern="gpt2").vocab == tokenizer.vocab
""",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_numpy_is_enough(use: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", WITHOUT + use], check=True, cwd=tmp_path)


def test_another_pattern_needs_regex(tmp_path: Path) -> None:
    code = WITHOUT + r"toksmith.train(iter(['low']), 258, pattern=r'\w+|\W+')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path)
    assert b"import of regex" in done.stderr.splitlines()[-1]


def test_the_first_array_does_not_wait_for_numpy() -> None:
    """The interface of NumPy is read when a tokenizer is made, if the program has imported NumPy."""
    code = """
import numpy.lib, toksmith
tokenizer = toksmith.train(iter(["low low lower"]), 260)
numpy.lib.NumpyVersion = None  # the crate `numpy` would call it
print(tokenizer.encode_to_numpy("lower").tolist() == tokenizer.encode("lower"))
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"


@pytest.mark.parametrize("module", ["None", "type(sys)('numpy')"])
@pytest.mark.parametrize("before", ["sys", "sys, numpy"])
def test_a_module_in_the_place_of_numpy_is_not_used(before: str, module: str) -> None:
    code = f"import {before}\nsys.modules['numpy'] = {module}\nimport toksmith\n"
    code += "print(toksmith.train(iter(['low low lower']), 260).encode('low'))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).startswith("[")
