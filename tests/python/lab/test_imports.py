"""The lab imports only public names of the package, but for `parts`, which looks inside a tokenizer."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3] / "python" / "toksmith"

PUBLIC = {"corpus", "patterns", "reference", "tokenizer.Tokenizer", "tokenizer.tokenizer_of"}
"""Modules of the package, and names in modules, that the lab may import."""
OF_NAMED_TUPLES = {"_asdict", "_replace"}


def imports(tree: ast.AST, package: list[str]) -> Iterator[str]:
    """Yield the absolute names that are imported, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            yield from (".".join(filter(None, [*base, node.module, alias.name])) for alias in node.names)


def private(tree: ast.AST, package: list[str]) -> list[str]:
    """Return what is imported from outside the lab and is not public, and private attributes of other objects."""
    names = []
    for name in imports(tree, package):
        top, _, inner = name.partition(".")
        if top == "toksmith" and inner.split(".")[0] != "lab":
            is_public = any(inner == public or inner.startswith(f"{public}.") for public in PUBLIC)
            names += [] if is_public and "._" not in name else [name]
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            of_itself = isinstance(node.value, ast.Name) and node.value.id in ("self", "other")
            if not (of_itself or node.attr in own | OF_NAMED_TUPLES or ast.unparse(node.value).startswith("self.")):
                names.append(ast.unparse(node))
    return names


def test_only_public_names_are_imported() -> None:
    files = sorted({*(ROOT / "lab").rglob("*.py")} - {ROOT / "lab" / "parts.py"})
    assert len(files) > 20
    for path in files:
        package = ["toksmith", *path.relative_to(ROOT).parts[:-1]]
        assert private(ast.parse(path.read_text(encoding="utf-8")), package) == [], path


def test_the_check_finds_what_is_private() -> None:
    source = """
from .._internal import messages
from ..tokenizer import Tokenizer, _helper
from ..patterns import NAMED
from . import text
def f(tokenizer):
    from toksmith import _core
    return tokenizer._parts
"""
    names = private(ast.parse(source), ["toksmith", "lab"])
    assert names == [
        "toksmith._internal.messages",
        "toksmith.tokenizer._helper",
        "toksmith._core",
        "tokenizer._parts",
    ]
