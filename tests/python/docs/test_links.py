"""Links between documents lead to files and headings that exist."""

import re
import sys
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").is_file())
sys.path.append(str(ROOT / "scripts"))

from absolute_links import LINK, absolute  # noqa: E402

FOLDERS = (".", ".github", "benches", "docs", "fuzz")
PAGES = sorted(path.relative_to(ROOT) for folder in FOLDERS for path in ROOT.joinpath(folder).glob("*.md"))


def prose(page: Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> list[str]:
    """The anchors that code hosts give the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def broken(page: Path, target: str) -> str | None:
    """What is wrong with a link of a page."""
    path, _, anchor = target.partition("#")
    file = (ROOT / page.parent / path).resolve() if path else ROOT / page
    if not file.exists():
        return "no such file"
    if not file.is_relative_to(ROOT):
        return "outside of the repository"
    if anchor and anchor not in anchors(file.relative_to(ROOT)):
        return "no such heading"
    return None


def links(page: Path) -> list[str]:
    without_code = re.sub(r"`[^`\n]*`", lambda code: code[0].replace("[", "").replace("]", ""), prose(page))
    return [target for _, _, target in LINK.findall(without_code)]


def test_there_are_pages() -> None:
    assert {Path("README.md"), Path("docs/decisions.md"), Path("benches/README.md")} <= set(PAGES)
    assert len(links(Path("README.md"))) > 15


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_links_of_a_page(page: Path) -> None:
    local = [target for target in links(page) if not re.match(r"[a-z]+:", target)]
    assert {target: broken(page, target) for target in local if broken(page, target)} == {}


def test_the_index_lists_every_page() -> None:
    listed = {(ROOT / "docs" / target).resolve() for target in links(Path("docs/README.md"))}
    pages = {(ROOT / page).resolve() for page in PAGES if page.parts[0] == "docs"}
    assert pages - listed == {ROOT / "docs/README.md"}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/decisions.md", "docs/security.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    named = re.findall(r"`((?:src|python/toksmith|tests|docs)/[^`\s*]*)`", (ROOT / page).read_text(encoding="utf-8"))
    assert [path for path in dict.fromkeys(named) if not (ROOT / path).exists()] == []


def test_the_tests_that_hold_promises_exist() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    file = None
    for path, name in re.findall(r"`((?:faults|python|rust)/(?!toksmith/)[\w/]+\.(?:py|rs))?(?:::(\w+))?`", page):
        file = ROOT / "tests" / path if path else file
        if path or name:
            assert file is not None
            assert file.is_file(), path
            assert not name or f"def {name}" in file.read_text(encoding="utf-8"), name
    assert file is not None


def test_the_glossary_is_short() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| (.*?) \| ", page.partition("\n## Glossary\n")[2], re.MULTILINE)[1:]
    assert 10 < len(words) < 30
    assert words == sorted(words)


def test_a_broken_link_is_found() -> None:
    page = Path("README.md")
    assert broken(page, "docs/nothing.md") == "no such file"
    assert broken(page, "docs/decisions.md#nothing") == "no such heading"
    assert broken(page, "#install") is None
    assert anchors(page)[:2] == ["toksmith", "install"]


def test_links_for_a_package_index() -> None:
    markdown = "[a](docs/a.md#b) ![c](d.svg) [e](https://example.org/f) [g](#h) [`i[0]`](j.py)"
    assert absolute(markdown, "https://example.org/x/", "https://example.org/raw") == (
        "[a](https://example.org/x/docs/a.md#b) ![c](https://example.org/raw/d.svg) "
        "[e](https://example.org/f) [g](#h) [`i[0]`](https://example.org/x/j.py)"
    )
    made = absolute((ROOT / "README.md").read_text(encoding="utf-8"), "https://example.org", "https://example.org")
    targets = [target for _, _, target in LINK.findall(made)]
    assert targets
    assert all(target.startswith(("https://", "#")) for target in targets)
