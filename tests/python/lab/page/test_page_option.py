"""What the option --html of `toksmith view` does."""

import json
import re
from pathlib import Path

from command import run_command

from toksmith import Tokenizer


def test_page_of_several_sources(tmp_path: Path, small: Tokenizer) -> None:
    names = ["a/tokenizer.json", "b/tokenizer.json", "x/small.json", "y/small.json"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        small.save(tmp_path / name)
    options = [option for name in names for option in ("-t", name)]
    done = run_command("view", "--html", "page.html", "--text", "text", *options, cwd=tmp_path)
    page = re.search(r'id="data">(.*?)</script>', (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page
    assert [tokenizer["name"] for tokenizer in json.loads(page[1])["tokenizers"]] == names
    assert re.fullmatch(r"page\.html: \d+\.\d KB, a/.*\n", done.stderr.decode())
