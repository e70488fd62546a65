"""The syntax tree of a chat template as JSON, for the core, which lays out many conversations without Jinja."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from jinja2 import nodes

from . import sandbox

_FIELDS: dict[str, tuple[str, ...]] = {
    "Output": ("nodes",),
    "For": ("target", "iter", "body", "else_", "test", "recursive"),
    "If": ("test", "body", "elif_", "else_"),
    "Assign": ("target", "node"),
    "AssignBlock": ("target", "filter", "body"),
    "Macro": ("name", "args", "defaults", "body"),
    "Break": (),
    "Continue": (),
    "TemplateData": ("data",),
    "Const": ("value",),
    "Name": ("name",),
    "NSRef": ("name", "attr"),
    "Getattr": ("node", "attr"),
    "Getitem": ("node", "arg"),
    "Slice": ("start", "stop", "step"),
    "Call": ("node", "args", "kwargs"),
    "Keyword": ("key", "value"),
    "Filter": ("node", "name", "args", "kwargs"),
    "Test": ("node", "name", "args"),
    "Compare": ("expr", "ops"),
    "Operand": ("op", "expr"),
    "CondExpr": ("test", "expr1", "expr2"),
    "Concat": ("nodes",),
    "List": ("items",),
    "Tuple": ("items",),
    "Dict": ("items",),
    "Pair": ("key", "value"),
    **dict.fromkeys(("And", "Or", "Add", "Sub", "Mod"), ("left", "right")),
    **dict.fromkeys(("Not", "Neg"), ("node",)),
}
"""The nodes that the core knows, with the fields of `Statement` and `Expression` in Rust."""
_UNKNOWN_NAMES = {"self", "super", "varargs", "kwargs", "caller", "lipsum"}
_UNKNOWN_FIELDS = ("dyn_args", "dyn_kwargs")


class _UnknownNode(Exception):
    """A node that the core does not know."""


class Syntax(NamedTuple):
    """What the core takes of a template: its tree, and the formats in which it writes the date."""

    tree: list[Any]
    formats_of_dates: list[str]


@functools.lru_cache(8)
def of(source: str) -> Syntax | None:
    """Return the syntax of a template; None if it has a part that the core does not know."""
    try:
        template = sandbox.environment().parse(source)
        calls = template.find_all(nodes.Call)
        dates = [call.args for call in calls if getattr(call.node, "name", None) == "strftime_now"]
        formats = [str(args[0].value) for args in dates if len(args) == 1 and isinstance(args[0], nodes.Const)]
        return Syntax([_exported(node) for node in template.body], formats)
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
        value.nodes = [sandbox.without_safe(child) for child in value.nodes]
    kind = type(value).__name__
    is_known = kind in _FIELDS and not any(getattr(value, name, None) for name in _UNKNOWN_FIELDS)
    if (
        not is_known
        or getattr(value, "name", None) in _UNKNOWN_NAMES
        or (kind == "Test" and getattr(value, "kwargs", None))
    ):
        raise _UnknownNode(kind)
    fields = [_exported(getattr(value, name)) for name in _FIELDS[kind]]
    return {kind: fields[0] if len(fields) == 1 else fields}
