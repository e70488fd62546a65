"""The forms of a comparison: JSON, text, HTML and plots; names that are hostile in them are shown, not obeyed."""

import html.parser
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import toksmith
from toksmith import Tokenizer
from toksmith.lab.comparison import comparison, plots
from toksmith.lab.comparison.comparison import Comparison, sections

MARKUP = "<script>alert(1)</script> <img src=x onerror=alert(1)> & | `x` **b** $x^2$ {alpha}"
HOSTILE = f"{MARKUP} \" ' \x1b[31mred\x1b[0m \u202eabc "
NAMES = {'<b>"1"</b>': Tokenizer(), "_$x^$ \x1b[1m|`*": toksmith.train(iter([HOSTILE * 2]), 280)}
VOID = {"meta", "br", "img", "link", "hr", "input"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Names, languages, files and texts with markup, escape sequences and direction marks."""
    folder = tmp_path_factory.mktemp("hostile")
    file = folder / "<i>a|b`*_.txt"
    file.write_text(HOSTILE * 3)
    parallel = {"<u>en</u>": ["one two", "three"], "$x^$ \x07": ["eins zwei", "drei"]}
    return toksmith.lab.compare(NAMES, {"<s>l</s>": file, "other": iter([HOSTILE])}, parallel=parallel, resamples=20)


@pytest.fixture(scope="module")
def plain() -> Comparison:
    texts = [f"the lowest of the low, number {number} " * (number + 3) for number in range(12)]
    trained = toksmith.train(iter(texts), 275)
    return toksmith.lab.compare({"bytes": Tokenizer(), "trained": trained}, iter(texts), resamples=20)


class Page(html.parser.HTMLParser):
    """Checks that tags are closed, and gathers tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attributes]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)


def has_control(text: str) -> bool:
    return re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text) is not None


# JSON


def test_json_has_everything(hostile: Comparison) -> None:
    text = hostile.to_json()
    assert text.isascii() and not has_control(text)
    found = json.loads(text)
    assert found == hostile.to_dict()
    assert found["tokenizers"] == list(NAMES)
    assert set(found) == set(Comparison.__dataclass_fields__)
    group = found["groups"][0]
    assert group["figures"][0]["bytes_per_token"].keys() == {"value", "low", "high"}


# HTML


def test_the_page_loads_nothing_and_runs_nothing(hostile: Comparison) -> None:
    text = hostile.to_html()
    page = Page(text.removeprefix("<!doctype html>"))
    assert not {"script", "img", "iframe", "object", "link", "b", "u", "s"} & page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    addresses = [value for name, value in page.attributes if name in ("src", "href", "xlink:href", "action")]
    assert all(value.startswith("#") for value in addresses)
    assert "url(http" not in text and "@import" not in text
    assert not has_control(text)
    shown = "".join(page.text)
    for name in NAMES:
        assert name.replace("\x1b", "\\x1b") in shown
    assert any(value.startswith("default-src 'none'") for name, value in page.attributes if name == "content")


def test_the_page_has_all_tables(plain: Comparison) -> None:
    text = "".join(Page(plain.to_html().removeprefix("<!doctype html>")).text)
    for section in sections(plain):
        assert section.title in text
        for row in section.rows:
            for cell in (row.label, *row.cells):
                assert cell in text, cell
    fragment = plain._repr_html_()
    Page(fragment)
    assert "<html" not in fragment and "<svg" not in fragment


def test_without_matplotlib(plain: Comparison, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(plots, "available", lambda: False)
    page = plain.to_html()
    assert "<svg" not in page and "they need matplotlib" in page
    for draw in (plain.plot, lambda: plain.save_plots(tmp_path / "new")):
        with pytest.raises(ImportError, match=r"pip install 'toksmith\[plots\]'"):
            draw()
    assert not (tmp_path / "new").exists()


# Plots


def test_plots_are_files(hostile: Comparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert hostile.plots == ("compression", "parity")
    written = hostile.save_plots(tmp_path / "plots")
    assert [Path(path).name for path in written] == ["compression.svg", "parity.svg"]
    for path in written:
        content = Path(path).read_bytes()
        words = "".join(ElementTree.fromstring(content).itertext())
        assert "$x^$" in words or "bytes per token" in words
    before = [Path(path).read_bytes() for path in written]
    assert [Path(path).read_bytes() for path in hostile.save_plots(tmp_path / "plots")] == before


def test_what_a_plot_shows(plain: Comparison, hostile: Comparison) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    axes = hostile.plot("compression")
    marks = [line for line in axes.get_lines() if line.get_marker() not in ("None", None, "")]
    for number, line in enumerate(marks):
        expected = [group.figures[number].bytes_per_token.value for group in hostile.by("language")]  # type: ignore[union-attr]
        assert list(line.get_xdata()) == pytest.approx(expected)
    axes = hostile.plot("parity")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$x^$ \\x07"]
    with pytest.raises(ValueError, match="name is one of 'compression', not 'parity'"):
        plain.plot("parity")
    with pytest.raises(ValueError, match="name is one of"):
        plain.plot("pie")
    pyplot.close("all")


def test_plots_of_the_page_take_its_colours(plain: Comparison) -> None:
    pytest.importorskip("matplotlib")
    for name in plain.plots:
        picture = plots.inline(plain._plot(name))
        ElementTree.fromstring(picture)
        assert "currentColor" in picture and "var(--line)" in picture
        assert not set(re.findall(r"#[0-9a-f]{6}", picture)) - set(plots._COLOURS)
        assert 'id="figure' not in picture and "<metadata" not in picture


def test_intervals_are_small() -> None:
    assert comparison._html_cell("1.0 [0.5, 2.0]") == '1.0 <span class="interval">[0.5, 2.0]</span>'


def test_many_groups_are_cut_off(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text("low " * (number + 1))
    found = toksmith.lab.compare(Tokenizer(), str(tmp_path))
    [section] = [section for section in sections(found) if section.title == "By file"]
    assert len([row for row in section.rows if not row.cells]) == comparison.GROUPS_SHOWN
    assert section.note == "The 30 largest; 10 more are in the JSON."
    assert len(found.by("file")) == 40


def test_its_repr(plain: Comparison) -> None:
    size: Any = plain.all.bytes
    assert repr(plain) == f"<Comparison of bytes, trained on 12 documents, {size:,} bytes>"
