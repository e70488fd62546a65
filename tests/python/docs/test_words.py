"""Values are named after what they are, and a constant says how it was chosen."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

WORDS = {"found", "given", "told", "held", "rest", "one"}
"""Names that say how a value came to be, not what it is."""
MAX_NAMES = 59
MAX_CHOSEN_WITHOUT_MEASUREMENT = 9

COMMENTS_AND_STRINGS = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])'|r#".*?"#|"(?:\\.|[^"\\])*\"""", re.S)
WORD = re.compile(rf"\b({'|'.join(sorted(WORDS))})\b")
BINDINGS = [
    re.compile(r"\blet\b[^=;]*"),
    re.compile(r"\bfor\b[^{;]*?\bin\b"),
    re.compile(r"(?:[(,=]\s*|\bmove\s*)\|[^|;{]*\|"),  # arguments of closures
    re.compile(r"^[^\n=;]*?(?=(?:\bif\b[^\n]*)?=>)", re.M),  # arms of `match`
    re.compile(r"\b\w+\s*:(?!:)"),  # arguments of functions, fields
    re.compile(r"\bfn\s+\w+"),
]


def names_in_python(source: str) -> Iterator[str]:
    """Yield the names that a module binds: functions, arguments, variables and attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=str(name)) | ast.AsyncFunctionDef(name=str(name)):
                yield name
            case ast.arg(arg=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name


def words_in_rust(source: str) -> list[str]:
    """Return the names of `WORDS` that a module binds."""
    source = COMMENTS_AND_STRINGS.sub('""', source)
    spans = [match.span() for binding in BINDINGS for match in binding.finditer(source)]
    places = {match.start(): match[0] for span in spans for match in WORD.finditer(source, *span)}
    return list(places.values())


def counts() -> Counter[str]:
    """Return how many names of `WORDS` the files of each folder bind."""
    numbers: Counter[str] = Counter()
    for path in sorted(ROOT.glob("python/toksmith/**/*.py")):
        names = names_in_python(path.read_text(encoding="utf-8"))
        numbers[str(path.parent.relative_to(ROOT))] += sum(name in WORDS for name in names)
    for path in sorted(ROOT.glob("src/**/*.rs")):
        numbers[str(path.parent.relative_to(ROOT))] += len(words_in_rust(path.read_text(encoding="utf-8")))
    return +numbers


def test_names_of_values() -> None:
    numbers = counts()
    lines = "\n".join(f"{number} in {folder}" for folder, number in numbers.most_common())
    assert numbers.total() <= MAX_NAMES, lines


def test_constants_are_measured() -> None:
    numbers = Counter(
        {path: path.read_text().count("Chosen without measurement") for path in ROOT.glob("src/**/*.rs")}
    )
    lines = "\n".join(f"{number} in {path.relative_to(ROOT)}" for path, number in (+numbers).most_common())
    assert numbers.total() <= MAX_CHOSEN_WITHOUT_MEASUREMENT, lines


def test_a_name_is_seen() -> None:
    python = """
def found(given, *rest, **told):
    one, (held, x) = given
    for rest in (found := x): self.held = one
    with open(x) as told: pass
    [one for one in x]
    lambda held: x
"""
    assert sum(name in WORDS for name in names_in_python(python)) == 12
    rust = """
        fn found(given: &str) -> u8 { // found: one
            let (one, mut rest) = given.split(found == "let told = one");
            if let Some(found) = given && held == rest {}
            for (one, x) in rest.map(|held| held + one) {}
            match given {
                Some(one) if rest == '"' => found,
                [told, rest @ ..] => told,
            }
            Struct { held: given }
        }
    """
    assert sorted(words_in_rust(rust)) == sorted(
        ["found", "given", "one", "rest", "found", "one", "held", "one", "told", "rest", "held"]
    )
