"""Encodings by name: the published ones, and those of tiktoken's plug-ins.

A plug-in is a module in the namespace package `tiktoken_ext` that has `ENCODING_CONSTRUCTORS`: names, each with a
function that returns the arguments of `Encoding`.
"""

import contextlib
import copyreg
import functools
import importlib
import importlib.util
import os
import pkgutil
import sys
import threading
from collections.abc import Callable
from typing import Any

from ..._internal.messages import shown
from ...formats.published import encodings
from .. import aliases
from .core import Encoding

Constructor = Callable[[], dict[str, Any]]
"""A function that returns the arguments of an `Encoding`."""

ENCODINGS: dict[str, Encoding] = {}
"""The encodings made so far, by name."""

ENCODING_CONSTRUCTORS: dict[str, Constructor] | None = None
"""The functions that make encodings, by name; None before the plug-ins are looked for."""

_locks: dict[int, threading.RLock] = {}


def _lock() -> threading.RLock:
    """Return the lock of this process. A forked child has its own: its parent's may be held during a download."""
    return _locks.setdefault(os.getpid(), threading.RLock())


def _published(name: str) -> Encoding:
    """Return a published encoding. Its file is looked for on this machine, else downloaded."""
    encoding = encodings.ENCODINGS[name]
    return Encoding(
        name,
        pat_str=encoding.pat_str,
        mergeable_ranks=encodings.rank_file(encoding.file),
        special_tokens=dict(encoding.special_tokens),
        explicit_n_vocab=encoding.explicit_n_vocab,
    )


def _arguments(name: str) -> dict[str, Any]:
    """Return the arguments of `Encoding` for a published encoding."""
    count = encodings.ENCODINGS[name].explicit_n_vocab
    return _published(name).__getstate__() | ({} if count is None else {"explicit_n_vocab": count})


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
    if encoding_name in ENCODINGS:
        return ENCODINGS[encoding_name]
    with _lock():
        if encoding_name not in ENCODINGS:
            constructor = _constructors().get(encoding_name)
            if constructor is None:
                raise ValueError(
                    f"Unknown encoding {shown(encoding_name)}: known are {', '.join(_constructors())} (plug-ins: "
                    f"{', '.join(_available_plugin_modules()) or 'none'})"
                )
            if constructor is PUBLISHED.get(encoding_name):
                ENCODINGS[encoding_name] = _published(encoding_name)
            else:
                with _as_tiktoken():
                    ENCODINGS[encoding_name] = Encoding(**constructor())
        return ENCODINGS[encoding_name]


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding of a model, as `get_encoding` does; `KeyError` if none is known for it."""
    return get_encoding(encodings.encoding_name_for_model(model_name))


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` knows.

    >>> "o200k_base" in list_encoding_names()
    True
    """
    return list(_constructors())


def _constructors() -> dict[str, Constructor]:
    global ENCODING_CONSTRUCTORS
    with _lock():
        if ENCODING_CONSTRUCTORS is None:
            constructors: dict[str, Constructor] = dict(PUBLISHED)
            for module in _available_plugin_modules():
                if module == _OPENAI:
                    continue
                with _as_tiktoken():
                    plugin = importlib.import_module(module)
                own: dict[str, Constructor] | None = getattr(plugin, "ENCODING_CONSTRUCTORS", None)
                if own is None:
                    raise ValueError(f"the tiktoken plug-in {module} does not define ENCODING_CONSTRUCTORS")
                for name in own.keys() & constructors.keys():
                    raise ValueError(f"Duplicate encoding name {name}: the tiktoken plug-in {module} repeats it")
                constructors |= own
            ENCODING_CONSTRUCTORS = constructors
        return ENCODING_CONSTRUCTORS


def _available_plugin_modules() -> list[str]:
    """Return the modules of the namespace package, which may be spread over several folders, or not be there."""
    try:
        package = importlib.import_module("tiktoken_ext")
    except ModuleNotFoundError:
        return []
    return [name for _, name, _ in pkgutil.iter_modules(package.__path__, "tiktoken_ext.")]


def _as_tiktoken() -> contextlib.AbstractContextManager[object]:
    """Let plug-ins import `tiktoken` if it is not installed: they need the readers of its module `load`."""
    if "tiktoken" in sys.modules or importlib.util.find_spec("tiktoken") is not None:
        return contextlib.nullcontext()
    return aliases.Installation("tiktoken")


# Pickles


def _reduced(encoding: Encoding) -> Any:
    """Pickle an encoding of this registry by its name, any other by its arguments."""
    return (restored, (encoding.name,)) if encoding is ENCODINGS.get(encoding.name) else encoding.__reduce_ex__(2)


def restored(name: str) -> Encoding:
    """Return the encoding of this name."""
    copy = Encoding.__new__(Encoding)
    copy.__dict__ = get_encoding(name).__dict__
    return copy


copyreg.pickle(Encoding, _reduced)
