"""The syntax tree of a chat template as JSON, for the core, which lays out many conversations without Jinja."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from jinja2 import nodes

from . import sandbox

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
