"""Jinja's sandbox with what `transformers` offers a chat template, and with flags on all text."""

import functools
import json
import operator
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from . import bounds
from .marked_text import GENERATED, TRUSTED, UNKNOWN, MarkedText, flagged, flags_within, joined

REQUIREMENT = "jinja2>=3.1.6"
try:
    import jinja2.ext
    import jinja2.filters
    import jinja2.sandbox
    import jinja2.utils
    from jinja2 import nodes
    from jinja2.visitor import NodeTransformer
except ImportError as error:
    raise ImportError(f"a chat template needs {REQUIREMENT}: pip install 'toksmith[chat]'") from error
if tuple(map(int, jinja2.__version__.split(".")[:3])) < (3, 1, 6):
    raise ImportError(f"a chat template needs {REQUIREMENT}, whose sandbox is closed: pip install 'toksmith[chat]'")

_NOT_OFFERED = ("striptags", "urlize", "wordwrap", "xmlattr")  # some take quadratic time
_MAX_FORMAT = 1000
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_MONTHS = "January February March April May June July August September October November December"


class _Generation(jinja2.ext.Extension):
    """The block `{% generation %}`, which marks for training what the assistant says; it prints its content."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

    def _content(self, caller: Callable[[], str]) -> MarkedText:
        return flagged(caller(), GENERATED)


class _Rewritten(NodeTransformer):
    """Marks what a template itself writes as trusted, joins texts with their flags, and counts what no call sees.

    Literals become attributes of the environment, which is the template's own.
    """

    def __init__(self, environment: Any) -> None:
        self._environment = environment

    def _literal(self, text: str, node: Any) -> nodes.Node:
        name = f"literal_{len(vars(self._environment))}"
        setattr(self._environment, name, MarkedText(text, TRUSTED))
        return nodes.EnvironmentAttribute(name).set_lineno(node.lineno)

    def visit_Output(self, node: Any) -> Any:
        node.nodes = [without_safe(child) for child in node.nodes]
        self.generic_visit(node)
        return node

    def visit_TemplateData(self, node: Any) -> nodes.Node:
        return self._literal(node.data, node)

    def visit_Const(self, node: Any) -> nodes.Node:
        return self._literal(node.value, node) if isinstance(node.value, str) else node

    def visit_Concat(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        return _called("concat", nodes.List(node.nodes), node)

    def visit_Compare(self, node: Any) -> Any:
        self.generic_visit(node)
        node.expr = _called("comparable", node.expr, node)
        for operand in node.ops:
            if operand.op in ("in", "notin"):
                operand.expr = _called("comparable", operand.expr, node)
        return node

    def visit_Pair(self, node: Any) -> Any:
        self.generic_visit(node)
        node.key = _called("comparable", node.key, node)
        return node

    def visit_Getitem(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        return _called("charged", node, node) if isinstance(node.arg, nodes.Slice) else node


def without_safe(shown: Any) -> Any:
    """Return what is printed without the filter `safe`, which changes nothing there and would lose the flags."""
    while isinstance(shown, nodes.Filter) and shown.name == "safe" and not (shown.args or shown.kwargs):
        shown = shown.node
    return shown


def _called(name: str, argument: Any, place: Any) -> nodes.Node:
    return nodes.Call(nodes.EnvironmentAttribute(name), [argument], [], None, None).set_lineno(place.lineno)


@jinja2.pass_eval_context
def _join(context: Any, value: Any, d: str = "", attribute: Any = None) -> Any:
    attribute_of = jinja2.filters.make_attrgetter(context.environment, attribute)
    parts, separator = list(value if attribute is None else map(attribute_of, value)), joined([d])
    bounds.charge(sum(map(bounds.size, parts)) + len(separator) * len(parts))
    return joined(parts, separator)


def _as_json(value: Any, ensure_ascii: bool = False, **options: Any) -> MarkedText:
    """Return JSON as `transformers` writes it in templates: Jinja's own filter writes it for HTML."""
    indent, separators = options.get("indent"), options.get("separators")
    columns = len(indent) if isinstance(indent, str) else int(indent or 0)
    bounds.charge(bounds.size(value, columns, sum(map(len, separators or "  "))))
    within = flags_within(value)
    trust = functools.reduce(operator.and_, within, TRUSTED)
    written = functools.reduce(operator.or_, within, 0) & ~(TRUSTED | UNKNOWN)
    return MarkedText(json.dumps(value, ensure_ascii=ensure_ascii, **options), trust | written)


def _refuse(message: object) -> NoReturn:
    raise jinja2.TemplateError(str(bounds.shown(message)))


def date(format: str, now: datetime | None = None) -> MarkedText:
    """Return a time as a template asks for it: the present one in the locale, or a given one in English."""
    if len(format) > _MAX_FORMAT or re.search(r"%[^a-zA-Z%]*\d{3}", format):
        raise bounds.LimitError("the format of strftime_now is too long, or has a width of more than 99")
    text = datetime.now().strftime(format) if now is None else now.strftime(_in_english(format, now))
    return MarkedText(text, TRUSTED)


def _in_english(format: str, now: datetime) -> str:
    """Return a format in which what depends on the locale is written out, as in the locale C. Of flags `^` counts."""
    day, month, half = _DAYS.split()[now.weekday()], _MONTHS.split()[now.month - 1], "AM" if now.hour < 12 else "PM"
    texts = {"A": day, "a": day[:3], "B": month, "b": month[:3], "h": month[:3], "p": half, "P": half.lower()}
    texts |= {"x": f"{now:%m/%d/%y}", "X": f"{now:%H:%M:%S}", "r": f"{now:%I:%M:%S} {half}"}
    texts["c"] = f"{day[:3]} {month[:3]} {now.day:2} {now:%H:%M:%S} {now.year}"

    def directive(match: re.Match[str]) -> str:
        flags, width, letter = match.groups()
        if letter not in texts:
            return f"%{flags}{width}{letter}"
        return (texts[letter].upper() if "^" in flags else texts[letter]).rjust(int(width or 0))

    return re.sub(r"%([-_0^#+]*)(\d*)[EO]?([a-zA-Z%])", directive, format)


def _concat(parts: Iterable[Any]) -> MarkedText:
    pieces = list(parts)
    bounds.charge(sum(map(bounds.size, pieces)))
    return joined(pieces)


class _Namespace(jinja2.utils.Namespace):
    def __repr__(self) -> str:  # Jinja's shows the values, which may share their items
        return "<Namespace>"


class _Bounded:
    """Bounds the formatters of `str.format`, in which a width may be part of a value."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        bounds.checked_widths(format_spec)
        return bounds.charged(super().format_field(bounds.shown(value), format_spec))  # type: ignore[misc]

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return super().convert_field(bounds.shown(value), conversion)  # type: ignore[misc]


class _Formatter(_Bounded, jinja2.sandbox.SandboxedFormatter):
    pass


class _EscapeFormatter(_Bounded, jinja2.sandbox.SandboxedEscapeFormatter):
    pass


class _Environment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which operators, calls, filters and tests are bounded."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))
    concat = staticmethod(_concat)
    step = staticmethod(bounds.step)
    comparable = staticmethod(bounds.comparable)
    charged = staticmethod(bounds.charged)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        bounds.check_operation(operator, left, right)
        return self.binop_table[operator](left, right)

    def wrap_str_format(self, value: Any) -> Any:
        if super().wrap_str_format(value) is None:
            return None
        text = value.__self__
        escape = getattr(text, "escape", None)  # of `markupsafe.Markup`
        formatter: Any = _Formatter(self) if escape is None else _EscapeFormatter(self, escape=escape)

        @functools.wraps(value)
        def format(*args: Any, **named: Any) -> str:
            if value.__name__ == "format_map":
                (named,), args = args, ()
            return type(text)(formatter.vformat(text, args, named))  # type: ignore[no-any-return]

        return format

    def getitem(self, obj: Any, argument: Any) -> Any:
        return super().getitem(obj, bounds.comparable(argument))

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(__obj, "__name__", "") == "join" and len(args) == 1:
            args = (list(args[0]),)  # an iterator can be measured only once
        bounds.check_call(__obj, args, kwargs)
        return bounds.charged(super().call(__context, __obj, *args, **kwargs))


@functools.cache
def environment() -> Any:
    """Return the sandbox."""
    made: Any = _Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=bounds.shown,
        extensions=[_Generation, jinja2.ext.loopcontrols],
    )
    filters = {**made.filters, "tojson": _as_json, "join": _join}
    made.filters = {n: bounds.bounded_filter(n, filters[n]) for n in filters if n not in _NOT_OFFERED}
    made.tests = {name: bounds.bounded_test(name, test) for name, test in made.tests.items()}
    made.globals |= {
        "range": lambda *args: jinja2.sandbox.safe_range(*map(bounds.checked_index, args)),
        "raise_exception": _refuse,
        "strftime_now": date,
        "namespace": _Namespace,
        "dict": lambda *args, **fields: dict(*args, **fields),  # not the class, whose attributes lead elsewhere
    }
    del made.globals["lipsum"]
    return made


class Compiled(NamedTuple):
    """A template, and whether it has a block `{% generation %}`."""

    template: Any
    has_generation: bool


@functools.lru_cache(64)
def compiled(source: str) -> Compiled:
    """Return the template of a source. Each round of a loop and each call of a macro is a step."""
    tree = environment().parse(source)
    has_generation = next(tree.find_all(nodes.ExtensionAttribute), None) is not None
    own = environment().overlay()
    tree = _Rewritten(own).visit(tree)
    for node in tree.find_all((nodes.For, nodes.Macro, nodes.CallBlock)):
        call = nodes.Call(nodes.EnvironmentAttribute("step"), [], [], None, None)
        node.body.insert(0, nodes.Output([call], lineno=node.lineno))
    return Compiled(own.from_string(tree), has_generation)


def rendered(compiled: Compiled, values: dict[str, Any]) -> MarkedText:
    """Return the text that a template makes of values."""
    bounds.start(values)
    text: MarkedText = environment().concat(compiled.template.generate(**values))
    return text


# The syntax tree as JSON, for the core, which lays out many conversations without Jinja

_NODES = (
    "Output For If Assign AssignBlock Macro Break Continue TemplateData Const Name NSRef Getattr Getitem Slice Call "
    "Keyword Filter Test Compare Operand CondExpr Concat List Tuple Dict Pair And Or Add Sub Mod Not Neg"
)
_KNOWN = frozenset(_NODES.split())
"""The nodes that the core knows: `Statement` and `Expression` in Rust have the same fields."""
_UNKNOWN_NAMES = {"self", "super", "varargs", "kwargs", "caller", "lipsum"}
_UNKNOWN_FIELDS = {"dyn_args", "dyn_kwargs"}


class _UnknownNode(Exception):
    """A node that the core does not know."""


@functools.lru_cache(8)
def syntax_of(source: str) -> tuple[list[Any], list[str]] | None:
    """Return the tree of a template, and the formats in which it writes dates; None for parts unknown to the core."""
    try:
        template = environment().parse(source)
        calls = template.find_all(nodes.Call)
        dates = [call.args for call in calls if getattr(call.node, "name", None) == "strftime_now"]
        formats = [str(args[0].value) for args in dates if len(args) == 1 and isinstance(args[0], nodes.Const)]
        return [_exported(node) for node in template.body], formats
    except (_UnknownNode, RecursionError):
        return None


def _exported(value: Any) -> Any:
    if isinstance(value, list):
        return [_exported(item) for item in value]
    if not isinstance(value, nodes.Node):
        return value
    if isinstance(value, nodes.CallBlock) and isinstance(value.call.node, nodes.ExtensionAttribute):
        return {"Generation": _exported(value.body)}
    if isinstance(value, nodes.Output):
        value.nodes = [without_safe(child) for child in value.nodes]
    kind = type(value).__name__
    unknown = _UNKNOWN_FIELDS | ({"kwargs"} if kind == "Test" else set())
    if (
        kind not in _KNOWN
        or getattr(value, "name", None) in _UNKNOWN_NAMES
        or any(getattr(value, name, None) for name in unknown)
    ):
        raise _UnknownNode(kind)
    # `ctx` says whether a name is read or assigned, which its place says as well.
    fields = [_exported(field) for _, field in value.iter_fields(exclude={"ctx", *unknown})]
    return {kind: fields[0] if len(fields) == 1 else fields}
