"""The reference of the documentation site has every public name. `make site` checks the rest."""

import re
from pathlib import Path

import toksmith
from toksmith import lab, surgery

PAGES = Path(__file__).resolve().parents[3] / "docs/site"


def test_the_reference_is_complete() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES.glob("*.rst"))
    names = re.findall(r"^\.\. auto(?:class|function):: (?:toksmith\.)?(?:\w+\.)?(\w+)$", text, re.MULTILINE)
    assert sorted(names) == sorted([*toksmith.__all__, *lab.__all__, *surgery.__all__])
