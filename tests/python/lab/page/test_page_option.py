"""What the option --html of `toksmith view` does."""

import json
import re
from pathlib import Path

import pytest

from toksmith import Tokenizer
from toksmith.cli import view


def test_page_of_several_sources(tmp_path: Path, small: Tokenizer, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    sources = ["gpt2", "a/tokenizer.json", "b/tokenizer.json", "x/small.json", "y/small.json", "z/small.json"]
    view._write_page(str(path), [(source, small) for source in sources], "text")
    found = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found
    names = [one["name"] for one in json.loads(found[1])["tokenizers"]]
    assert names == sources
    assert re.fullmatch(r".*page\.html: \d+\.\d KB, gpt2, a/.*\n", capsys.readouterr().err)
