"""Print a page of Markdown with absolute links, for a package index, where relative ones lead nowhere.

usage: python scripts/absolute_links.py BASE [--images BASE] [--page README.md]

BASE is where the files of a release can be read, for example https://example.org/toksmith/blob/v0.1.0. Images need
the address of the bare file, if that is another one. A release is built from a tree whose README.md was replaced by
this.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def absolute(markdown: str, base: str, images: str) -> str:
    """Return the text with every relative link below `base`, and every relative image below `images`."""

    def link(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        return f"{mark}[{words}]({(images if mark else base).rstrip('/')}/{target})"

    return LINK.sub(link, markdown)


def main() -> None:
    parser = argparse.ArgumentParser(description="Print a page with absolute links.")
    parser.add_argument("base")
    parser.add_argument("--images")
    parser.add_argument("--page", type=Path, default=ROOT / "README.md")
    given = parser.parse_args()
    print(absolute(given.page.read_text("utf-8"), given.base, given.images or given.base), end="")


if __name__ == "__main__":
    main()
