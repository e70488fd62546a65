"""The Python of docs/reading_data.md runs, on a folder that is written here."""

import re
from pathlib import Path

import pytest
from training_folder import write_folder

import toksmith

PAGE = Path(__file__).resolve().parents[3] / "docs/reading_data.md"


def test_the_python_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = ["the lowest of the low", "the newest", "newer and lower"] * 4
    tokenizer = toksmith.train_from_iterator(texts, 270, special_tokens=["<|endoftext|>"])
    write_folder(
        tmp_path / "tokens", {"train": [[*tokenizer.encode(text), 0] for text in texts]}, tokenizer=tokenizer
    )
    checks = []

    def check(value: object, expected: str) -> None:
        checks.append(expected)
        assert repr(value) == expected

    page, namespace = PAGE.read_text(encoding="utf-8"), {"_check": check}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        code = re.sub(
            r"^(\S.*?)  # → (.*)$", lambda line: f"_check({line[1]}, {line[2]!r})", block, flags=re.MULTILINE
        )
        exec(compile(code, str(PAGE), "exec"), namespace)
    assert len(checks) == page.count("  # → ")
