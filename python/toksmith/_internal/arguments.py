"""Checks of arguments: a clear error before any work is done."""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args

from . import choices
from .messages import shown

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from typing_extensions import Buffer

_Item = TypeVar("_Item")
P = ParamSpec("P")
T = TypeVar("T")


def check_keywords(function: Callable[..., Any], keywords: Iterable[str], *takers: Callable[..., Any]) -> None:
    """Check keywords that a function forwards: they are arguments of one of the `takers`, or keys of a `TypedDict`.

    >>> def count(text, *, workers=1, **options): ...
    >>> check_keywords(count, ["worker"])
    Traceback (most recent call last):
    TypeError: count() got an unexpected keyword argument 'worker': did you mean 'workers'?
    """
    known = {name for taker in takers for name in _arguments_of(taker)}
    for name in keywords:
        if name not in known:
            import difflib

            close = difflib.get_close_matches(name, sorted(known.union(_arguments_of(function))), 1)
            hint = f": did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {shown(name)}{hint}")


def naming_keywords(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose error for an unknown keyword names the nearest one, as `check_keywords` does."""

    @functools.wraps(function)
    def checked(*args: P.args, **keywords: P.kwargs) -> T:
        check_keywords(function, keywords, function)
        return function(*args, **keywords)

    return checked


def _arguments_of(taker: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments of a function, or the keys of a `TypedDict`."""
    if hasattr(taker, "__total__"):
        return [*taker.__annotations__]
    code = getattr(taker, "__wrapped__", taker).__code__
    return [*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]


def whole(name: str, value: object, least: int | None = None, bits: int | None = None) -> int:
    """Return an argument that is a whole number: not below the least one, or from 0 to 2 to the power of `bits`.

    `True` and `False`, which Python counts among them, are mistakes.
    """
    if isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {value}")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {_kind_and_value(value)}") from None
    if least is not None and number < least:
        raise ValueError(f"{name} is at least {least}, not {shown(number)}")
    if bits is not None and not 0 <= number <= 2**bits:
        raise ValueError(f"{name} is {shown(number)}, not between 0 and 2^{bits}")
    return number


def fraction(name: str, value: object) -> float:
    """Return an argument that is a number."""
    if not isinstance(value, str):
        try:
            return float(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise TypeError(f"{name} is a number, not {_kind_and_value(value)}")


def path_of(name: str, value: object) -> str:
    """Return an argument that is a path as a str."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} is a path, not {_kind_and_value(value)}")
    return os.fsdecode(value)


def listed(name: str, values: Iterable[_Item], of: str) -> Iterable[_Item]:
    """Return an argument that is a list, or another iterable; one bare text is no list."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is a list of {of}, not {_kind_and_value(values)}")
    return values


def utf8(name: str, text: str) -> bytes:
    """Return the UTF-8 of a text."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has a lone surrogate at {error.start}") from None


def _kind_and_value(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__}: {shown(value)}"


def special_list(special_tokens: Iterable[str] | Mapping[str, int] | None) -> list[tuple[str, int | None]]:
    """Return special tokens as (name, id or None) pairs, checked."""
    if special_tokens is None:
        return []
    if isinstance(special_tokens, (str, bytes)):
        raise TypeError(f"special_tokens is a list of names: write [{shown(special_tokens)}]")
    if not isinstance(special_tokens, Iterable):
        raise TypeError(
            f"special_tokens is a list of names, or a mapping of names to ids, not {_kind_and_value(special_tokens)}"
        )
    pairs: Iterable[tuple[str, int | None]]
    items = getattr(special_tokens, "items", None)
    pairs = items() if items else ((name, None) for name in special_tokens)
    named = []
    for name, id in pairs:  # one by one: a long range is refused at its first number
        if not isinstance(name, str):
            raise TypeError(f"a special token is a str, not {type(name).__name__}: {shown(name)}")
        utf8(f"special token {shown(name)}", name)
        number, what = None, f"the id of special token {shown(name)}"
        if items and not 0 <= (number := whole(what, id)) < 2**32:
            raise ValueError(f"{what} is {shown(id)}: ids are whole numbers from 0 to 2^32 - 1")
        named.append((name, number))
    return named


def checked_workers(workers: int | None) -> int:
    """Return how many threads may be used; None is all cores that this process may run on."""
    if workers is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(whole("workers", workers, 1), 1024)


def special_names(special_tokens: Iterable[str]) -> list[str]:
    """Return the names, checked to be distinct and not empty before a file is read for an hour."""
    if hasattr(special_tokens, "items"):
        raise TypeError("training gives special tokens their ids (see ids): give a list of names, no mapping")
    names: dict[str, None] = {}
    for index, (name, _) in enumerate(special_list(special_tokens)):
        if not name:
            raise ValueError(f"special token number {index} is empty: leave it out")
        if name in names:
            raise ValueError(f"special token {shown(name)} is there twice: leave one out")
        names[name] = None
    return list(names)


def checked_separator(separator: str | None) -> str | None:
    """Return the string that separates documents, or None."""
    if separator is None:
        return None
    if not isinstance(separator, str):
        raise TypeError(f"document_separator is a str, not {type(separator).__name__}")
    if not separator:
        raise ValueError("document_separator is empty: leave it out")
    utf8("document_separator", separator)
    return separator


def one_of(name: str, value: object, kind: object) -> None:
    """Check that an option has one of the values of a `Literal`."""
    if value not in get_args(kind):
        raise ValueError(f"{name} is one of {', '.join(map(repr, get_args(kind)))}, not {shown(value)}")


def replaces_invalid(errors: str) -> bool:
    """Return whether the option `errors` says that invalid UTF-8 is replaced."""
    one_of("errors", errors, choices.Errors)
    return errors == "replace"


def is_wide(dtype: DTypeLike | None, default: bool) -> bool:
    """Return whether ids are `uint32`, not `uint16`."""
    if dtype is None:
        return default
    import numpy as np

    ids_dtype = np.dtype(dtype)
    if ids_dtype not in (np.dtype("<u2"), np.dtype("<u4")):
        raise ValueError(f"dtype is uint16 or uint32, not {ids_dtype}")
    return bool(ids_dtype.itemsize == 4)


def checked_text(text: object) -> str:
    """Return a text that is a str; the error of a list names what takes several texts."""
    if not isinstance(text, str):
        hint = "; encode_batch takes a list of texts" if isinstance(text, (list, tuple)) else ""
        raise TypeError(f"a text is a str, not {type(text).__name__}{hint}")
    return text


_Batch = TypeVar("_Batch", bound=Iterable[Any])


def checked_batch(batch: _Batch, function: str = "encode_batch", what: str = "texts") -> _Batch:
    """Return a batch. One text, a table and a set are refused: their items are characters, names, or in any order."""
    if isinstance(batch, (str, bytes, bytearray, memoryview)):
        single = function.replace("_batch", "").replace("_to_numpy", "")
        item = what.split()[0].removesuffix("s")
        raise TypeError(f"{function} takes a list of {what}, not {type(batch).__name__}; for one {item} use {single}")
    has_columns = isinstance(batch, Mapping) or hasattr(batch, "columns")
    if has_columns or isinstance(batch, Set):
        column = ': pass one of its columns, such as batch["text"]' if has_columns else ""
        raise TypeError(f"{function} takes a list of {what}, not {type(batch).__name__}{column}")
    return batch


def as_bytes(data: Buffer) -> bytes:
    """Return the data as bytes. bytes(data) would make so many zero bytes of an int."""
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def checked_seed(name: str, value: int) -> int:
    """Return a seed, a number of 64 bits."""
    number = whole(name, value)
    if not 0 <= number < 2**64:
        raise ValueError(f"{name} is a whole number from 0 to 2^64 - 1, not {shown(value)}")
    return number


def checked_limit(name: str, value: int, minimum: int) -> int:
    """Return a number of tokens."""
    return min(whole(name, value, minimum), 2**62)
