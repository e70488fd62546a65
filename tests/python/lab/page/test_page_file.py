"""The file that a page is: what it holds, what is refused, and that nothing in it is obeyed. No browser is needed."""

import json
import re
from pathlib import Path

import pytest

from toksmith import Tokenizer
from toksmith.lab import page
from toksmith.lab.page import document


def test_file_is_one_page_with_a_strict_policy(tmp_path: Path, small: Tokenizer) -> None:
    path = tmp_path / "page.html"
    page.write(path, {"small": small}, text="Hello")
    html = path.read_text(encoding="utf-8")
    policy = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    assert len(policy) == 1
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; img-src data:; "
        r"base-uri 'none'; form-action 'none'",
        policy[0],
    )
    # The page loads nothing: its only address is that of its empty icon.
    assert re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?([^\"'>) ]*)", html.partition("<script")[0]) == [
        "data:,",
        "#panels",
    ]
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|WebSocket|innerHTML|eval\(", html)
    assert html.count("</script>") == html.count("<script")


def test_text_and_names_cannot_end_their_element(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script><!--<script>{{PROGRAM}}{{BLOCKS}}\u2028"
    tokenizer = Tokenizer(special_tokens=[hostile])
    html = document.document({hostile: tokenizer}, hostile)
    assert html.count("alert(1)") == 3
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert data["texts"][0]["text"] == data["tokenizers"][0]["name"] == hostile
    assert data["tokenizers"][0]["special"] == {hostile: 256}


def test_equal_patterns_and_vocabularies_are_there_once(small: Tokenizer) -> None:
    one, two = document.document({"a": small}, ""), document.document({"a": small, "b": small}, "")
    assert two.count('type="text/plain"') == one.count('type="text/plain"') == 2
    assert len(two) - len(one) < 500


def test_published_vocabulary_is_small(o200k: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    page.write(path, {"o200k_base": o200k})
    assert path.stat().st_size < 1_500_000


def test_module_names_of_the_program_are_all_there_once() -> None:
    assets = Path(document.__file__).parent / "assets"
    assert {path.name for path in assets.glob("*.js")} == set(document.SCRIPTS)
    assert {path.name for path in assets.glob("*.css")} == set(document.STYLES)
    names: list[str] = []
    for place, name in enumerate(document.SCRIPTS):
        source = (assets / name).read_text(encoding="utf-8")
        names += re.findall(r"^(?:export )?(?:async )?(?:class|function|const|let) (\w+)", source, re.MULTILINE)
        # A module imports only from those before it: all are in one scope, in this order.
        assert set(re.findall(r'from "\./(.*)";', source)) <= set(document.SCRIPTS[:place])
        assert len(source.splitlines()) <= 400
    assert len(names) == len(set(names))


def test_bad_arguments(tmp_path: Path, small: Tokenizer) -> None:
    with pytest.raises(ValueError, match="at least one tokenizer"):
        page.write(tmp_path / "page.html", {})
    with pytest.raises(ValueError, match="the text has a lone surrogate at character 1"):
        page.write(tmp_path / "page.html", {"small": small}, text="a\ud800")
    with pytest.raises(FileNotFoundError):
        page.write(tmp_path / "none" / "page.html", {"small": small})
    assert list(tmp_path.iterdir()) == []
