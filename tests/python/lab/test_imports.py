"""The lab uses public names of a tokenizer, but for `parts`, which looks inside."""

import re
from pathlib import Path

LAB = Path(__file__).resolve().parents[3] / "python/toksmith/lab"


def test_one_module_looks_inside_a_tokenizer() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in LAB.rglob("*.py")}
    inside = {path for path, source in sources.items() if re.search(r"\b(_core|_parts)\b", source)}
    assert inside == {LAB / "parts.py"}
