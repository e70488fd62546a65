"""The documentation site: the Markdown of the repository as it is, the notebooks, and the reference from docstrings.

`make site` builds it. Pages have the paths of their files, so a link means the same here and on a code host.
"""

import ast
import inspect
import re
import shutil
import sys
from pathlib import Path

from pygments.lexers import RustLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import toksmith  # noqa: E402
from toksmith import _core  # noqa: E402

NAVIGATION = {
    "": ["docs/README"],
    "Tutorials": [
        "docs/first",
        "docs/serving",
        "docs/data",
        "docs/finetuning",
        "docs/engines",
        "examples/tokenizer_from_scratch",
        "examples/which_tokenizer",
        "docs/cs336",
    ],
    "Moving to toksmith": ["docs/tiktoken", "docs/huggingface", "docs/sentencepiece", "docs/minbpe", "docs/rustbpe"],
    "Guides": [
        "docs/encoding",
        "docs/training",
        "docs/exports",
        "docs/vocabularies",
        "docs/scale",
        "docs/viewing",
        "docs/inspecting",
        "docs/comparing",
        "docs/cli",
    ],
    "Reference": [
        "docs/site/tokenizer",
        "docs/site/training",
        "docs/site/serving",
        "docs/site/surgery",
        "docs/site/data",
        "docs/site/engines",
        "docs/site/lab",
        "docs/site/compat",
        "docs/patterns",
        "docs/unicode",
        "python/toksmith/samples/README",
    ],
    "Benchmarks": ["benches/README", "benches/EXPERIMENTS"],
    "Design": [
        "docs/decisions",
        "docs/security",
        "docs/architecture",
        "CONTRIBUTING",
        "fuzz/README",
        "SECURITY",
        "CHANGELOG",
    ],
}

project = "toksmith"
author = "the authors of toksmith"
release = toksmith.__version__
html_title = f"toksmith {release}"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/site/*.rst",
    "benches/*.md",
    "fuzz/*.md",
    "python/**/*.md",
    "examples/*.ipynb",
]
exclude_patterns = ["target", ".*"]
suppress_warnings = ["ref.python"]  # `Tokenizer` in the signatures of stand-ins, each of which has one
highlight_language = "none"
default_role = "code"

myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88

html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Append what the sidebar lists to the README, which does not show it itself."""
    if page == root_doc:
        for caption, pages in NAVIGATION.items():
            options = [":hidden:", f":caption: {caption}"] if caption else [":hidden:"]
            source[0] += "\n".join(["\n```{toctree}", *options, "", *pages, "```\n"])


def typed_signatures() -> dict[str, tuple[str, str]]:
    """Return the arguments and results of the core's functions and methods, of which only the stub has the types."""
    signatures = {}
    module = ast.parse((ROOT / "python/toksmith/_core.pyi").read_text(encoding="utf-8"))
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    for prefix, body in [("", module.body), *((node.name + ".", node.body) for node in classes)]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                arguments = re.sub(r"^(self|cls|/)+(, )?", "", ast.unparse(node.args))
                texts = f"({arguments})", ast.unparse(node.returns) if node.returns else ""
                signatures[prefix + node.name] = tuple(re.sub(r"\b_(?=[A-Z])", "", text) for text in texts)
    return signatures


SIGNATURES = typed_signatures()


def key_of(value: object) -> str:
    """Return the name that the stub has for a class, function or attribute of the core; "" for anything else."""
    name = getattr(value, "__name__", "")
    if inspect.isclass(value):
        return f"{name}.__new__" if vars(_core).get(name) is value else ""
    owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
    if owner is _core:
        return name
    return f"{owner.__name__}.{name}" if inspect.isclass(owner) and owner in vars(_core).values() else ""


def add_types(app: Sphinx, what: str, name: str, value: object, *signature: object) -> tuple[str, str] | None:
    """Return the typed signature of what the core defines."""
    if what == "attribute" or key_of(value) not in SIGNATURES:
        return None
    arguments, result = SIGNATURES[key_of(value)]
    return arguments, "" if what == "class" else result


def add_type(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Begin the text of an attribute with the type that the stub has, and else with an empty line.

    Napoleon takes what is before a colon of the first line for a type.
    """
    if what in ("attribute", "property"):
        _, result = SIGNATURES.get(key_of(value), ("", ""))
        lines[:0] = [f"*{result}*" if result else "", ""]


def write_index(app: Sphinx, error: Exception | None) -> None:
    """Give the first page the name that servers look for."""
    if error is None:
        shutil.copyfile(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    """Connect what this site adds to Sphinx."""
    app.add_lexer("rust,no_run", RustLexer)  # how a fence says that rustdoc compiles the example only
    app.connect("source-read", add_navigation)
    app.connect("autodoc-process-signature", add_types)
    app.connect("autodoc-process-docstring", add_type, priority=400)  # before Napoleon
    app.connect("build-finished", write_index)
