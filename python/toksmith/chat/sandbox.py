"""Jinja's sandbox with what `transformers` offers a chat template, and with flags on all text."""

from __future__ import annotations

import functools
import itertools
import json
import operator
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any, NoReturn

from .marked_text import ASSISTANT, GENERATED, TRUSTED, MarkedText, flagged, flags_within, joined

REQUIREMENT = "jinja2>=3.1.6"
try:
    import jinja2.ext
    import jinja2.filters
    import jinja2.sandbox
    from jinja2 import nodes
    from jinja2.visitor import NodeTransformer
except ImportError as error:
    raise ImportError(f"a chat template needs {REQUIREMENT}: pip install 'toksmith[chat]'") from error
if tuple(map(int, jinja2.__version__.split(".")[:3])) < (3, 1, 6):
    raise ImportError(f"a chat template needs {REQUIREMENT}, whose sandbox is closed: pip install 'toksmith[chat]'")

_steps = threading.local()


class _Generation(jinja2.ext.Extension):
    """The block `{% generation %}`, which marks for training what the assistant says; it prints its content."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

    def _content(self, caller: Callable[[], str]) -> MarkedText:
        return flagged(caller(), GENERATED)


class _Literals(NodeTransformer):
    """Marks what a template itself writes as trusted, and joins texts with their flags."""

    def visit_TemplateData(self, node: Any) -> nodes.Node:
        return _called("literal", nodes.Const(node.data), node)

    def visit_Const(self, node: Any) -> nodes.Node:
        return _called("literal", node, node) if isinstance(node.value, str) else node

    def visit_Concat(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        return _called("concat", nodes.List(node.nodes), node)


def _called(name: str, argument: Any, place: Any) -> nodes.Node:
    return nodes.Call(nodes.EnvironmentAttribute(name), [argument], [], None, None).set_lineno(place.lineno)


@jinja2.pass_eval_context
def _join(context: Any, value: Any, d: str = "", attribute: Any = None) -> Any:
    return jinja2.filters.sync_do_join(context, value, joined([d]), attribute)


def _as_json(value: Any, ensure_ascii: bool = False, **options: Any) -> MarkedText:
    """Return JSON as `transformers` writes it in templates: Jinja's own filter writes it for HTML."""
    within = flags_within(value)
    trust = functools.reduce(operator.and_, within, TRUSTED)
    written = functools.reduce(operator.or_, within, 0) & (ASSISTANT | GENERATED)
    return MarkedText(json.dumps(value, ensure_ascii=ensure_ascii, **options), trust | written)


def _refuse(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _step() -> str:
    if next(_steps.numbers) >= _steps.limit:
        raise jinja2.TemplateError(f"it takes more than {_steps.limit:,} steps")
    return ""


def start(limit: int) -> None:
    """Let the next template of this thread run for so many rounds of loops and calls of macros."""
    _steps.numbers, _steps.limit = itertools.count(), limit


@functools.cache
def environment() -> Any:
    """Return the sandbox."""
    made: Any = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    made.filters |= {"tojson": _as_json, "join": _join}
    made.globals |= {
        "raise_exception": _refuse,
        "strftime_now": lambda format: MarkedText(datetime.now().strftime(format), TRUSTED),
        "dict": lambda *args, **fields: dict(*args, **fields),  # not the class, whose attributes lead elsewhere
    }
    made.step, made.concat = _step, joined
    made.literal = functools.lru_cache(4096)(lambda text: MarkedText(text, TRUSTED))
    return made


@functools.lru_cache(64)
def compiled(source: str) -> Any:
    """Return the template of a source. Each round of a loop and each call of a macro counts, so that it ends."""
    tree = _Literals().visit(environment().parse(source))
    for node in tree.find_all((nodes.For, nodes.Macro, nodes.CallBlock)):
        call = nodes.Call(nodes.EnvironmentAttribute("step"), [], [], None, None)
        node.body.insert(0, nodes.Output([call], lineno=node.lineno))
    return environment().from_string(tree)
