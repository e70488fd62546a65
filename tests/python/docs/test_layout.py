"""The package in rooms: no import that runs upward, no circle of files, no class in two files, and short functions.

Imports are taken from the source, all of them: those inside functions and under `if TYPE_CHECKING:` too.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3] / "python" / "toksmith"

MAX_FUNCTION_LINES = 25
MAX_BODY_LINES = 60
MAX_CORE_ARGUMENTS = 8
MIN_SHARE_OF_SHORT_FUNCTIONS = 0.9

ROOMS = {
    "_core": "the Rust core",
    "reference": "the algorithm in plain Python, which needs nothing else of the package",
    "_internal": "checks of arguments, values in messages, progress, memory",
    "files": "files of text found, columns of tables read, what a stranger may have written, writing whole files",
    "corpus": "`Corpus`: where texts come from, and how they are read",
    "patterns": "the named patterns, and `regex` for any other",
    "formats": "every file of a tokenizer to what it is made of, and back; published encodings",
    "encoding": "text that arrives in pieces to ids, and ids that arrive one by one",
    "chat": "conversations: chat templates, and who wrote each character",
    "tokenizer": "`Tokenizer`: text to ids, and back",
    "training": "files to counts, counts to merges, merges to a tokenizer",
    "surgery": "tokenizers made of others: fewer tokens, more, and new ones in the place of reserved ones",
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

Trees = dict[str, ast.Module]
"""The modules of a package by name; the package itself is ""."""


def package() -> tuple[Trees, set[str]]:
    """Return the modules of toksmith, and the names of those that are packages."""
    trees, packages = {}, set()
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
            packages.add(".".join(parts))
        trees[".".join(parts)] = ast.parse(path.read_text(encoding="utf-8"))
    return trees, packages


TREES, PACKAGES = package()


def targets(node: ast.AST, parts: list[str]) -> list[str]:
    """Return the absolute names that a node in a module of the package `parts` imports; [] for no import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = parts[: len(parts) + 1 - node.level] if node.level else []
    base = [*base, *node.module.split(".")] if node.module else base
    return [".".join([*base, alias.name]) for alias in node.names]


def imports(trees: Trees, packages: set[str]) -> dict[str, set[str]]:
    """Return the modules of toksmith that each module imports; the extension `_core` imports none."""
    graph: dict[str, set[str]] = {"_core": set()}
    for module, tree in trees.items():
        parts = ["toksmith", *module.split(".")] if module else ["toksmith"]
        parts = parts if module in packages else parts[:-1]
        own = {name for node in ast.walk(tree) for name in targets(node, parts) if name.split(".")[0] == "toksmith"}
        graph[module] = {module_of(name, trees) for name in own} - {module}
    return graph


def module_of(name: str, trees: Trees) -> str:
    """Return the module that an absolute name is, or is in."""
    name = name.removeprefix("toksmith").removeprefix(".")
    while name and name not in trees and name != "_core":
        name = name.rpartition(".")[0]
    return name


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that reach each other, and so can only be understood together."""
    reached = {module: reachable(module, graph) for module in graph}
    sets: list[set[str]] = []
    for module in sorted(graph):
        circle = {other for other in reached[module] if module in reached[other]}
        if circle and circle not in sets:
            sets.append(circle)
    return sets


def reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    """Return all that a module imports, directly or through others."""
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += graph[module]
    return reached


def upward(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Return the imports of a higher room, as pairs of modules."""
    order = {room: number for number, room in enumerate(ROOMS)}

    def height(module: str) -> int:
        return order.get(module.split(".")[0], len(order))

    return {(module, other) for module in graph for other in graph[module] if height(other) > height(module)}


def classes_in_pieces(trees: Trees) -> set[tuple[str, str]]:
    """Return the classes with a base of another file that is used for nothing else, as pairs of class and base.

    A class is known by its name: the classes of toksmith that share one are in stand-ins, and none is a base.
    """
    places: dict[str, set[str]] = {}
    subclasses: dict[str, list[tuple[str, str]]] = {}
    uses: Counter[str] = Counter()
    for module, tree in trees.items():
        uses.update(names(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, set()).add(module)
                uses.subtract(name for child in node.body for name in names(child) if name == node.name)
                for base in {name for expression in node.bases for name in names(expression)}:
                    subclasses.setdefault(base, []).append((module, node.name))
    return {
        (name, base)
        for base, [(module, name), *others] in subclasses.items()
        if not others and base in places and module not in places[base] and uses[base] == 1
    }


def names(tree: ast.AST) -> Iterator[str]:
    """Yield what an expression or a statement refers to, other than by an import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # of `__all__`, or an annotation
            yield node.value


def lengths_of_functions(tree: ast.AST) -> Iterator[int]:
    """Yield the number of lines of each function, with its docstring and without its decorators."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno:
            yield node.end_lineno - node.lineno + 1


def body_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """Return the statements of a function behind its docstring."""
    return function.body[1:] if ast.get_docstring(function) else function.body


def test_no_function_is_long() -> None:
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (body := body_of(node)):
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
                assert lines <= MAX_BODY_LINES, f"{module}: {node.name} has {lines} lines"


def test_calls_of_the_core_have_few_arguments() -> None:
    for node in ast.walk(ast.parse((ROOT / "_core.pyi").read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            own = {"self", "cls"} & set(names[:1])
            assert len(names) - len(own) <= MAX_CORE_ARGUMENTS, f"{node.name} of _core takes {', '.join(names)}"


def test_every_module_is_in_a_room() -> None:
    assert {module.split(".")[0] for module in TREES} | {"_core"} == ROOMS.keys()


def test_no_import_runs_upward() -> None:
    pairs = sorted(upward(imports(TREES, PACKAGES)))
    assert not pairs, "\n".join(
        f"{module or 'toksmith'} imports {other or 'toksmith'}" for module, other in sorted(pairs)
    )


def test_no_circles() -> None:
    sets = circles(imports(TREES, PACKAGES))
    assert not sets, "\n".join(", ".join(sorted(circle)) for circle in sets)


def test_a_class_is_in_one_file() -> None:
    pairs = classes_in_pieces(TREES)
    assert not pairs, "\n".join(f"{name} is in pieces: {base}" for name, base in sorted(pairs))


def test_functions_are_short() -> None:
    lengths = [length for tree in TREES.values() for length in lengths_of_functions(tree)]
    short = sum(length <= MAX_FUNCTION_LINES for length in lengths)
    assert short / len(lengths) >= MIN_SHARE_OF_SHORT_FUNCTIONS, f"{short} of {len(lengths)}"


def test_an_import_that_is_added_is_seen() -> None:
    sources = {
        "files.a": "import os\nfrom ..formats import save\n",
        "files.b": "def f():\n    from toksmith import tokenizer\n",
        "files.c": "if TYPE_CHECKING:\n    from .. import cli\nelse:\n    from . import a, d\n",
        "files.d": "import toksmith.files.c\n",
    }
    others = ("formats.save", "formats", "tokenizer", "cli", "files", "")
    trees = {module: ast.parse(source) for module, source in (sources | dict.fromkeys(others, "")).items()}
    graph = imports(trees, {"formats", "files", "cli", ""})
    assert upward(graph) == {("files.a", "formats.save"), ("files.b", "tokenizer"), ("files.c", "cli")}
    assert upward({"": {"forgotten"}}) == {("", "forgotten")}
    assert circles(graph) == [{"files.c", "files.d"}]


def test_a_class_in_pieces_is_seen() -> None:
    piece = "class Loading:\n    def load(self) -> 'Loading':\n        return Loading()\n"
    whole = "from .loading import Loading\nclass Tokenizer(Loading):\n    pass\n"
    trees = {"loading": ast.parse(piece), "tokenizer": ast.parse(whole)}
    assert classes_in_pieces(trees) == {("Tokenizer", "Loading")}
    for use in ("class Other(Loading): pass", "def f(x: Loading): pass", "isinstance(x, loading.Loading)"):
        assert classes_in_pieces(trees | {"other": ast.parse(use)}) == set()
    assert classes_in_pieces({"tokenizer": ast.parse(piece + whole)}) == set()


def test_lines_of_functions() -> None:
    function = '@cache\ndef f():\n    """Return g."""\n    async def g(): pass\n    return g\n'
    assert list(lengths_of_functions(ast.parse(function))) == [4, 1]
