"""Encodings by name: the published ones, and those of tiktoken's plug-ins.

A plug-in is a module in the namespace package `tiktoken_ext` that has `ENCODING_CONSTRUCTORS`: names, each with a
function that returns the arguments of `Encoding`.
"""

from __future__ import annotations

import contextlib
import copyreg
import functools
import importlib
import importlib.util
import os
import pkgutil
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._internal.messages import shown
from ...formats.published import encodings, models
from . import core, load
from .core import Encoding

Constructor = Callable[[], dict[str, Any]]

TIKTOKEN_VERSION = "0.14.0"
"""The version of tiktoken whose API this folder has."""

_locks: dict[int, threading.RLock] = {}


def _lock() -> threading.RLock:
    """Return the lock of this process. A forked child has its own: its parent's may be held during a download."""
    return _locks.setdefault(os.getpid(), threading.RLock())


ENCODINGS: dict[str, Encoding] = {}
"""The encodings made so far, by name."""

ENCODING_CONSTRUCTORS: dict[str, Constructor] | None = None
"""The functions that make encodings, by name; None before the plug-ins are looked for."""


def _published(name: str) -> Encoding:
    """Return a published encoding. Its file is looked for on this machine, else downloaded."""
    encoding = encodings.ENCODINGS[name]
    return Encoding._of_ranks(
        encodings.rank_file(encoding.file),
        name,
        pat_str=encoding.pat_str,
        special_tokens=dict(encoding.special_tokens),
        explicit_n_vocab=encoding.explicit_n_vocab,
    )


def _arguments(name: str) -> dict[str, Any]:
    """Return the arguments of `Encoding` for a published encoding, as a constructor of a plug-in does."""
    arguments: dict[str, Any] = _published(name).__getstate__()
    count = encodings.ENCODINGS[name].explicit_n_vocab
    return arguments if count is None else {**arguments, "explicit_n_vocab": count}


PUBLISHED = {name: functools.partial(_arguments, name) for name in encodings.ENCODINGS}
# tiktoken's own plug-in. Its encodings are made here, from `published`, without tiktoken.
_OPENAI = "tiktoken_ext.openai_public"


def get_encoding(encoding_name: str) -> Encoding:
    """Return an encoding by its name: "gpt2", "cl100k_base", "o200k_base", … Each is made once in a process.

    Its rank file is looked for in tiktoken's and toksmith's cache folders, and else downloaded, with its SHA-256
    checked (`toksmith fetch` does that beforehand).

    Raises:
        ValueError: There is no encoding of this name.
        FileNotFoundError: Its rank file is not on this machine and cannot be downloaded; says where to put it.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(
            f"Expected a string in get_encoding, the name of an encoding, got {type(encoding_name).__name__}"
        )
    encoding = ENCODINGS.get(encoding_name)
    if encoding is not None:
        return encoding
    with _lock():
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = _make(encoding_name)
        return ENCODINGS[encoding_name]


def _make(name: str) -> Encoding:
    constructor = _constructors().get(name)
    if constructor is None:
        raise ValueError(
            f"Unknown encoding {shown(name)}: known are {', '.join(_constructors())} (plug-ins: "
            f"{', '.join(_available_plugin_modules()) or 'none'})"
        )
    if constructor is PUBLISHED.get(name):
        return _published(name)
    with _as_tiktoken():
        return Encoding(**constructor())


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding of a model, as `get_encoding` does.

    Raises:
        KeyError: No encoding is known for it.
    """
    return get_encoding(models.encoding_name_for_model(model_name))


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` knows.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    with _lock():
        return list(_constructors())


def _constructors() -> dict[str, Constructor]:
    global ENCODING_CONSTRUCTORS
    with _lock():
        if ENCODING_CONSTRUCTORS is None:
            ENCODING_CONSTRUCTORS = _find_constructors()
        return ENCODING_CONSTRUCTORS


def _find_constructors() -> dict[str, Constructor]:
    modules = list(_available_plugin_modules())
    if _OPENAI not in modules:
        modules.insert(0, _OPENAI)
    constructors: dict[str, Constructor] = {}
    for module in modules:
        for name, constructor in _constructors_of(module).items():
            if name in constructors:
                raise ValueError(
                    f"Duplicate encoding name {name}: the tiktoken plug-in {module} has one that is there already"
                )
            constructors[name] = constructor
    return constructors


def _constructors_of(module: str) -> dict[str, Constructor]:
    if module == _OPENAI:
        return dict(PUBLISHED)
    with _as_tiktoken():
        plugin = importlib.import_module(module)
    constructors: dict[str, Constructor] | None = getattr(plugin, "ENCODING_CONSTRUCTORS", None)
    if constructors is None:
        raise ValueError(f"the tiktoken plug-in {module} does not define ENCODING_CONSTRUCTORS")
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
    """Let plug-ins import `tiktoken` if it is not installed: they need the readers of its module `load`."""
    if "tiktoken" in sys.modules or importlib.util.find_spec("tiktoken") is not None:
        yield
        return
    stand_in = _stand_in()
    sys.modules.update(stand_in)
    try:
        yield
    finally:
        for name in stand_in:
            sys.modules.pop(name, None)


def _stand_in() -> dict[str, types.ModuleType]:
    """Return the modules of tiktoken by name, made of the modules of this folder."""
    model, whole = types.ModuleType("tiktoken.model"), types.ModuleType("tiktoken")
    vars(model).update(vars(models), encoding_for_model=encoding_for_model)
    parts = {"core": core, "load": load, "model": model, "registry": sys.modules[__name__]}
    public = (Encoding, encoding_for_model, models.encoding_name_for_model, get_encoding, list_encoding_names)
    vars(whole).update(
        parts, **{value.__name__: value for value in public}, __version__=TIKTOKEN_VERSION, __path__=[]
    )
    return {"tiktoken": whole, **{f"tiktoken.{name}": part for name, part in parts.items()}}


# Pickles


def _reduced(encoding: Encoding) -> tuple[Callable[..., Encoding], tuple[object, ...]]:
    """Pickle an encoding of this registry by its name, any other by its arguments."""
    if encoding is ENCODINGS.get(encoding.name):
        return restored, (encoding.name, core.digest(encoding.name))
    return encoding.__reduce__()


def restored(name: str, digest: str) -> Encoding:
    """Return the encoding of this name, which is pickled with a digest.

    Raises:
        pickle.UnpicklingError: The digest belongs to another name: the pickle is damaged.
        FileNotFoundError, ValueError: As `get_encoding`.
    """
    core.check_digest(name, digest)
    copy = Encoding.__new__(Encoding)
    copy.__dict__ = get_encoding(name).__dict__
    return copy


copyreg.pickle(Encoding, _reduced)
