"""docs/unicode.md says where tiktoken and `tokenizers` class code points differently."""

import sys
from pathlib import Path

import pytest
import regex

from toksmith import _core

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "scripts"))

import write_unicode_page as page  # noqa: E402


@pytest.mark.skipif(regex.__version__ != _core.REGEX_VERSION, reason="another version of regex is installed")
def test_the_page_is_that_of_the_pinned_versions() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run: python scripts/write_unicode_page.py"
