"""Limits of a chat template: its steps, its time, and the size of the texts, lists and numbers that it makes.

A template comes with a model, so anybody may have written it. Loops and calls end by their number and by time. A
single call into C does neither, so what could make a large value is measured before it runs.
"""

import collections.abc
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

MAX_STEPS = 10_000_000
"""Rounds of loops, calls, filters and operators for one conversation."""
MAX_SECONDS = 10
"""Processor time for one conversation."""
MAX_CHARACTERS, CHARACTERS_PER_CHARACTER = 1 << 22, 1000
"""Characters of text and items of lists that a template may make, and as many more for each character of messages."""
MAX_BITS = 1024
"""Size of a whole number."""
MAX_WIDTH, MAX_INDEX = 100_000, 1 << 53
"""Largest width, precision or count that a filter takes, and largest number of a range."""

Value = TypeVar("Value")
_VIEWS = (collections.abc.KeysView, collections.abc.ValuesView, collections.abc.ItemsView)
_CONTAINERS = (list, tuple, dict, set, frozenset, *_VIEWS)
_SIZED = (str, bytes, list, tuple)
_CLOCK_STEPS, _CLOCK_CHARACTERS = 16, 1 << 14  # reading the clock of a thread is a system call


class LimitError(Exception):
    """A template that went over a limit."""


class _Budget(threading.local):
    steps = characters = 0
    max_characters, deadline = MAX_CHARACTERS, float("inf")


_budget = _Budget()


def start(values: Any) -> None:
    """Begin to count for the next template of this thread, which is run on these values."""
    _budget.steps = _budget.characters = 0
    _budget.max_characters = sys.maxsize
    _budget.max_characters = MAX_CHARACTERS + CHARACTERS_PER_CHARACTER * size(values)
    _budget.deadline = time.thread_time() + MAX_SECONDS


def step() -> str:
    """Count a step; returns no text, so that it can be printed."""
    _budget.steps += 1
    if _budget.steps > MAX_STEPS:
        raise LimitError(f"it takes more than {MAX_STEPS:,} steps")
    if _budget.steps % _CLOCK_STEPS == 0:
        _check_clock()
    return ""


def _check_clock() -> None:
    if time.thread_time() > _budget.deadline:
        raise LimitError(f"it takes more than {MAX_SECONDS:g} seconds of processor time")


def charge(characters: int) -> None:
    """Count characters or items that are about to be made."""
    _budget.characters += characters
    if _budget.characters > _budget.max_characters:
        raise LimitError(f"it makes more than {_budget.max_characters:,} characters of text")
    if characters > _CLOCK_CHARACTERS:
        _check_clock()


def charged(value: Value) -> Value:
    """Return a result, after it is counted: a text, a list, and the texts in a list. A large number is refused."""
    if isinstance(value, _SIZED):
        charge(len(value))
        if isinstance(value, (list, tuple)):
            charge(sum(len(item) for item in value if isinstance(item, (str, bytes))))
    elif isinstance(value, int):
        check_bits(value)
    return value


def check_bits(value: Any) -> None:
    """Refuse a number that is too large."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise LimitError(f"it makes a number of more than {MAX_BITS:,} bits")


def size(value: Any, indent: int = 0, around: int = 2) -> int:
    """Return about how many characters a value has when it is shown, and refuse one that has more than are left.

    `indent` is that of a level, `around` how many characters are written around each item.
    """
    if not isinstance(value, _CONTAINERS):
        return _scalar_size(value)
    characters, items, depth = _measured(value, {})
    total = characters + items * (around + indent * depth)
    if total > _budget.max_characters - _budget.characters:
        charge(total)
    return total


def _measured(value: Any, known: dict[int, tuple[Any, tuple[int, int, int]]]) -> tuple[int, int, int]:
    """Return the characters, items and depth of a value as it is shown: each list in every place that has it."""
    if not isinstance(value, _CONTAINERS):
        return _scalar_size(value), 1, 0
    if id(value) not in known:
        rows = [*value, *value.values()] if isinstance(value, dict) else value
        characters, items, depths = zip(*(_measured(row, known) for row in rows), (0, 0, 0), strict=True)
        sizes = sum(characters), sum(items) + 1, max(depths) + 1
        known[id(value)] = value, sizes  # the value itself, since an id can be used again
    return known[id(value)][1]


def _scalar_size(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    return value.bit_length() // 3 + 1 if isinstance(value, int) else 32


def comparable(value: Value) -> Value:
    """Return a value that is compared, hashed or searched, after its items are counted: shared ones every time."""
    size(value)
    return value


def check_operation(operator: str, left: Any, right: Any) -> None:
    """Refuse an operation whose result is too large."""
    step()
    if operator == "%" and isinstance(left, (str, bytes)):
        charge(_percent_size(left, right))
    elif operator == "*" and isinstance(left, int) != isinstance(right, int):
        count, text = (left, right) if isinstance(left, int) else (right, left)
        if isinstance(text, _SIZED):
            charge(len(text) * max(0, count))
    elif operator == "+" and isinstance(left, _SIZED) and isinstance(right, _SIZED):
        charge(len(left) + len(right))
    elif isinstance(left, int) and isinstance(right, int):
        bits, others = left.bit_length(), right.bit_length()
        bits = {"**": bits * max(1, right), "*": bits + others}.get(operator, max(bits, others))
        if bits > MAX_BITS:
            raise LimitError(f"it makes a number of more than {MAX_BITS:,} bits")


def checked_index(value: Any) -> Any:
    """Return a number for `range`, whose numbers must differ in their hashes."""
    if isinstance(value, int) and abs(value) > MAX_INDEX:
        raise LimitError(f"range takes numbers up to {MAX_INDEX:,}")
    return value


def _width(value: Any) -> int:
    """Return a width, precision or count."""
    if isinstance(value, int) and abs(value) > MAX_WIDTH:
        raise LimitError(f"a number is larger than {MAX_WIDTH:,}")
    return abs(value) if isinstance(value, int) else size(value)


_FIELD = re.compile(r"%(?:\([^()]*\))?([-+ #0\d.*]*)")  # of `%-5.3f` or `%(name)5d`; a width `*` is itself a value


def _percent_size(text: str | bytes, values: Any) -> int:
    """Return at least how many characters `text % values` has."""
    pattern = text.decode("latin-1") if isinstance(text, bytes) else str.__str__(text)
    if re.search(r"%\([^()]*\(", pattern):
        raise LimitError("a name in % has no parentheses")
    fields = _FIELD.findall(pattern)
    widths = [checked_widths(field) for field in fields]
    if any("*" in field for field in fields) and isinstance(values, tuple):
        widths += [_width(value) for value in values if isinstance(value, int)]
    return len(pattern) + len(fields) * (size(values) + max(widths, default=0))


def checked_widths(spec: str) -> int:
    """Return the largest number in a format, such as `>5` or `.3f`, and refuse one that is too large."""
    numbers = re.findall(r"\d+", spec)
    return max((_width(int(number) if len(number) < 100 else sys.maxsize) for number in numbers), default=0)


def _replaced_size(text: Any, old: Any, new: Any, count: int | None = None) -> int:
    text = text if isinstance(text, (str, bytes)) else str(shown(text))
    places = text.count(old) if len(old) else len(text) + 1
    return len(text) + places * len(new)


def shown(value: Value) -> Value:
    """Return a value that is about to become text, after its characters are counted if it is a container."""
    if isinstance(value, _CONTAINERS):
        charge(size(value))
    return value


def _summed(iterable: Any, attribute: Any = None, start: Any = 0) -> int:
    if not isinstance(start, (int, float)):
        raise LimitError("the filter sum adds numbers only")
    return 0


def _refused(text: str, *arguments: Any, **named: Any) -> int:
    raise LimitError("the methods encode, decode and striptags are not offered")


_METHODS: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), lambda text, width, *fill: _width(width)),
    "expandtabs": lambda text, tabsize=8: len(text) * _width(tabsize),
    "replace": _replaced_size,
    "join": lambda text, parts: sum(map(size, parts)) + len(text) * len(parts),
    "translate": lambda text, table: len(text) * size(table),
    **dict.fromkeys(("encode", "decode", "striptags"), _refused),
}
"""Methods of texts whose result may be much larger than the text: how large. `format` is bounded by its formatter."""

_FILTERS: dict[str, Callable[..., int]] = {
    "center": lambda value, width=80: size(value) + _width(width),
    "indent": lambda s, width=4, first=False, blank=False: size(s) + (str(s).count("\n") + 1) * _width(width),
    "replace": lambda s, old, new, count=None: _replaced_size(s, str(shown(old)), str(shown(new))),
    "format": lambda value, *values, **named: _percent_size(str(value), named or values),
    "truncate": lambda s, length=255, killwords=False, end="...", leeway=None: size(s) + len(end),
    "batch": lambda value, linecount, fill_with=None: _width(linecount),
    "slice": lambda value, slices, fill_with=None: _width(slices),
    "round": lambda value, precision=0, method="common": _width(precision),
    "sum": _summed,
}
"""Filters whose result may be much larger than their arguments: how large."""

# These take values as they are. All other filters show them as text, or compare or hash their items.
_SELECTING = {
    "abs", "attr", "count", "d", "default", "first", "float", "int", "items", "join", "last", "length", "list", "map",
    "random", "reject", "rejectattr", "reverse", "safe", "select", "selectattr", "tojson",
}  # fmt: skip


def check_call(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse a call whose result is too large."""
    step()
    method = getattr(function, "__wrapped__", function)  # Jinja wraps `format`
    receiver, name = getattr(method, "__self__", None), getattr(method, "__name__", "")
    if isinstance(receiver, (str, bytes)):
        if name in _METHODS:
            own = {key: named[key] for key in named.keys() - {"_loop_vars", "_block_vars"}}  # the others are Jinja's
            charge(_METHODS[name](receiver, *arguments, **own))
    elif isinstance(receiver, int):
        for value in (*arguments, *named.values()):
            _width(value)
    elif isinstance(receiver, _CONTAINERS) or name == "changed":  # of a loop
        for value in arguments:
            comparable(value)
        if name in ("count", "index"):
            comparable(receiver)


def bounded_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that refuses to make a result that is too large."""
    measure = _FILTERS.get(name, None if name in _SELECTING else lambda value, *arguments, **named: size(value))

    def check(*arguments: Any, **named: Any) -> None:
        if measure is not None:
            charge(measure(*arguments, **named))

    return _bounded(function, check)


def bounded_test(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test that counts the items of what it compares."""

    def check(value: Any, *arguments: Any, **named: Any) -> None:
        comparable(value)
        for argument in (value, *arguments):
            check_bits(argument)
        if name == "in":
            comparable(arguments[0])
        if name in ("even", "odd", "divisibleby") and not isinstance(value, (int, float)):
            raise TypeError(f"the test {name} takes a number, not {type(value).__name__}")

    return _bounded(function, check)


def _bounded(function: Callable[..., Any], check: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of Jinja whose arguments are checked before it is called, and whose result is counted."""
    before = int(hasattr(function, "jinja_pass_arg"))

    def bounded(*arguments: Any, **named: Any) -> Any:
        step()
        check(*arguments[before:], **named)
        return charged(function(*arguments, **named))

    bounded.__dict__.update(getattr(function, "__dict__", {}))  # what Jinja passes it
    return bounded
