"""Encodings by name: the published ones, and those of tiktoken's plug-ins.

A plug-in is a module in the namespace package `tiktoken_ext` that has `ENCODING_CONSTRUCTORS`: names, each with a
function that returns the arguments of `Encoding`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import os
import pkgutil
import sys
import threading
from typing import TYPE_CHECKING

from ..common.messages import shown
from . import openai_public

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .encoding import Encoding

    Constructor = Callable[[], dict[str, Any]]

_lock = threading.RLock()


def _renew_lock() -> None:
    """Make the lock anew in a forked child: another thread of the parent may have held it, even during a download."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

ENCODINGS: dict[str, Encoding] = {}
"""Those that are made."""

ENCODING_CONSTRUCTORS: dict[str, Constructor] | None = None
"""What makes them; None before the plug-ins are looked for."""

_PUBLISHED = {name: functools.partial(openai_public.arguments, name) for name in openai_public.ENCODINGS}
# tiktoken's own plug-in: what it makes is made here, without tiktoken.
_OPENAI = "tiktoken_ext.openai_public"


def get_encoding(encoding_name: str) -> Encoding:
    """Return an encoding by its name: "gpt2", "cl100k_base", "o200k_base", … It is made once in a process.

    Its rank file is looked for in tiktoken's and toksmith's cache folders, and else downloaded, with its SHA-256
    checked (`toksmith fetch` does that beforehand).

    Raises:
        ValueError: There is no encoding of this name.
        FileNotFoundError: Its rank file is not on this machine and cannot be downloaded; says where to put it.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"the name of an encoding is a str, not {type(encoding_name).__name__}")
    made = ENCODINGS.get(encoding_name)
    if made is not None:
        return made
    with _lock:
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = _make(encoding_name)
        return ENCODINGS[encoding_name]


def _make(name: str) -> Encoding:
    constructor = _constructors().get(name)
    if constructor is None:
        raise ValueError(
            f"there is no encoding {shown(name)}: known are {', '.join(_constructors())} (plug-ins: "
            f"{', '.join(_available_plugin_modules()) or 'none'})"
        )
    if constructor is _PUBLISHED.get(name):
        return openai_public.make(name)
    from .encoding import Encoding

    with _as_tiktoken():
        return Encoding(**constructor())


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` knows.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    with _lock:
        return list(_constructors())


def _constructors() -> dict[str, Constructor]:
    global ENCODING_CONSTRUCTORS
    with _lock:
        if ENCODING_CONSTRUCTORS is None:
            ENCODING_CONSTRUCTORS = _find_constructors()
        return ENCODING_CONSTRUCTORS


def _find_constructors() -> dict[str, Constructor]:
    modules = list(_available_plugin_modules())
    if _OPENAI not in modules:
        modules.insert(0, _OPENAI)
    found: dict[str, Constructor] = {}
    for module in modules:
        for name, constructor in _constructors_of(module).items():
            if name in found:
                raise ValueError(f"the tiktoken plug-in {module} has the encoding {name}, which is there already")
            found[name] = constructor
    return found


def _constructors_of(module: str) -> dict[str, Constructor]:
    if module == _OPENAI:
        return dict(_PUBLISHED)
    with _as_tiktoken():
        plugin = importlib.import_module(module)
    constructors: dict[str, Constructor] | None = getattr(plugin, "ENCODING_CONSTRUCTORS", None)
    if constructors is None:
        raise ValueError(f"the tiktoken plug-in {module} has no ENCODING_CONSTRUCTORS")
    return constructors


def _available_plugin_modules() -> Sequence[str]:
    """Return the modules of the namespace package, which may be spread over several folders, or not be there."""
    try:
        package = importlib.import_module("tiktoken_ext")
    except ModuleNotFoundError:
        return []
    return [name for _, name, _ in pkgutil.iter_modules(package.__path__, "tiktoken_ext.")]


@contextlib.contextmanager
def _as_tiktoken() -> Iterator[None]:
    """Let plug-ins import `tiktoken` where it is not installed: they need the readers of its module `load`."""
    if "tiktoken" in sys.modules or importlib.util.find_spec("tiktoken") is not None:
        yield
        return
    from ..compat import tiktoken as compat
    from ..compat.tiktoken import core, model, registry
    from . import load

    stand_ins = {"": compat, ".core": core, ".load": load, ".model": model, ".registry": registry}
    sys.modules.update({f"tiktoken{suffix}": module for suffix, module in stand_ins.items()})
    try:
        yield
    finally:
        for suffix in stand_ins:
            sys.modules.pop(f"tiktoken{suffix}", None)
