"""The package in rooms: no circle of imports, none that runs upward, and no file that is too long to read.

Imports are taken from the source, those inside functions too; only what stands under `if TYPE_CHECKING:` is left out,
since it never runs.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3] / "python" / "toksmith"

MAX_LINES = 400
LONG_FILES = {"compat/tiktoken/core.py", "reference.py", "regex_dialects/from_oniguruma.py"}

ROOMS = {
    "_core": "the Rust core",
    "reference": "the algorithm in plain Python, which needs nothing else of the package",
    "_internal": "checks of arguments, values in messages, progress, memory, read-only views",
    "files": "files of text found and read as documents, what a stranger may have written, writing whole files",
    "regex_dialects": "patterns of other engines, written for `regex`, and how large a pattern may be",
    "patterns": "the named patterns, and `regex` for any other",
    "formats": "every file of a tokenizer to what it is made of, and back; published encodings",
    "shrinking": "a tokenizer without its last merges",
    "encoding": "files, streams, batches and columns to ids, and ids that arrive one by one",
    "loading": "the constructors that read files",
    "definition": "what defines a tokenizer: looked at, loaded, saved, compared, pickled",
    "showing": "`Tokenizer.explain` and `.view`: how a text is encoded, for people",
    "tokenizer": "`Tokenizer`: text to ids, and back",
    "training": "files to counts, counts to merges, merges to a tokenizer",
    "data": "folders of training data: documents to shards of ids, and back",
    "engines": "counting, encoding and tokenizing in parts, for Ray and Spark",
    "lab": "vocabularies and texts looked at and compared: views, pages, reports",
    "compat": "stand-ins for other libraries: each a shell around the rooms below",
    "": "the package itself: its public names, most of them imported when they are first used",
    "cli": "the command line",
    "run": "`python -m toksmith.run`: a program with stand-ins in place of libraries",
    "__main__": "`python -m toksmith`",
}
"""The rooms, from low to high, with what each is for. A module imports from its own room and from lower ones."""


def files() -> dict[str, Path]:
    """Return the source file of each module; the package itself is ""."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def import_statements(node: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    """Return the import statements that can run, wherever they stand."""
    found: list[ast.Import | ast.ImportFrom] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            found.append(child)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                found += import_statements(other)
        else:
            found += import_statements(child)
    return found


def targets(statement: ast.Import | ast.ImportFrom, package: list[str]) -> list[str]:
    """Return the absolute names that a statement in a module of `package` asks for."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    base = package[: len(package) + 1 - statement.level] if statement.level else []
    base = [*base, *(statement.module or "").split(".")] if statement.module else base
    return [".".join([*base, alias.name]) for alias in statement.names]


def imports(modules: dict[str, Path]) -> dict[str, set[str]]:
    """Return the modules of the package that each module imports; the extension `_core` imports none."""
    found: dict[str, set[str]] = {"_core": set()}
    for module, path in modules.items():
        package = ["toksmith", *module.split(".")] if module else ["toksmith"]
        if path.name != "__init__.py":
            package.pop()
        found[module] = set()
        for statement in import_statements(ast.parse(path.read_text(encoding="utf-8"))):
            for target in targets(statement, package):
                if target.split(".")[0] == "toksmith":
                    found[module].add(module_of(target, modules))
        found[module].discard(module)
    return found


def module_of(target: str, modules: dict[str, Path]) -> str:
    """Return the module that an absolute name is, or is in."""
    name = target.removeprefix("toksmith").removeprefix(".")
    while name and name not in modules and name != "_core":
        name = name.rpartition(".")[0]
    return name


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that reach each other, and so can only be understood together."""
    reached = {module: reachable(module, graph) for module in graph}
    found: list[set[str]] = []
    for module in sorted(graph):
        circle = {other for other in reached[module] if module in reached[other]}
        if module in reached[module] and circle not in found:
            found.append(circle)
    return found


def reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    """Return all that a module imports, directly or through others."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += graph[module]
    return found


def test_no_circles() -> None:
    assert circles(imports(files())) == []


def test_no_import_runs_upward() -> None:
    order = list(ROOMS)
    found = set()
    for module, imported in imports(files()).items():
        room = order.index(module.split(".")[0])
        found |= {(module, other) for other in imported if order.index(other.split(".")[0]) > room}
    assert not found


def test_files_are_short() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in files().values()
    }
    assert {name for name, length in lengths.items() if length > MAX_LINES} == LONG_FILES


def test_the_checks_find_what_they_are_for() -> None:
    inside = "def f():\n    from .b import g\n\nif TYPE_CHECKING:\n    from .c import h\n"
    [statement] = import_statements(ast.parse(inside))
    assert targets(statement, ["toksmith", "room"]) == ["toksmith.room.b.g"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [{"b", "c"}]
