"""Stand-ins under the names of the libraries that they replace: `import tiktoken` gives toksmith's stand-in.

There are two ways: `install()` of each stand-in, which can be undone, and the plain assignment
`sys.modules["tiktoken"] = stand_in`. Both need the finder of this module: with it `tiktoken.load` is the stand-in's
module `load`, not a second copy of it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder

STAND_INS = {name: f"toksmith.compat.{name}" for name in ("minbpe", "rustbpe", "tiktoken")}
"""The libraries, each with the module that replaces it."""

_PLUGINS = "tiktoken_ext"  # a namespace package of its own, to which other distributions add modules


class _Finder:
    """Finds the submodules of a library for which a stand-in is installed, and gives those of the stand-in."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        own = _own_name(name, path)
        if own is None:
            return None
        # `importlib.abc.Loader`, which it is for mypy, takes 14 ms to import.
        spec = ModuleSpec(name, self, loader_state=own, is_package=name == _PLUGINS)  # type: ignore[arg-type]
        if name == _PLUGINS:
            spec.submodule_search_locations = list(importlib.import_module(own).__path__)
        return spec

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(spec.loader_state)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        # The import system has replaced the spec of the module by that of the alias.
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def _own_name(name: str, path: Sequence[str] | None) -> str | None:
    """Return the name of the module of a stand-in that is to be imported as `name`; None if there is none."""
    library, _, submodule = name.partition(".")
    if library == _PLUGINS:
        # If tiktoken is installed, or a plug-in by itself, the package exists already.
        if not _stands("tiktoken") or PathFinder.find_spec(name, path) is not None:
            return None
        own = f"toksmith.compat.{name}"
    elif submodule and _stands(library):
        own = f"{STAND_INS[library]}.{submodule}"
    else:
        return None
    try:
        return own if importlib.util.find_spec(own) else None
    except ModuleNotFoundError:  # the parent is no package
        return None


def _stands(library: str) -> bool:
    """Return whether the name of a library now gives its stand-in."""
    module = sys.modules.get(library)
    return module is not None and module is sys.modules.get(STAND_INS.get(library, ""))


_finder = _Finder()


def ensure_finder() -> None:
    """Let submodules be found under any stand-in that has the name of its library."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


class Installation:
    """A stand-in that has the name of its library. As a context manager it restores the modules in the end."""

    def __init__(self, library: str) -> None:
        self.library = library
        self._installed_here = not _stands(library)
        ensure_finder()
        if self._installed_here:
            _originals[library] = _taken_out(library)
        sys.modules[library] = importlib.import_module(STAND_INS[library])

    def uninstall(self) -> None:
        """Give the name back to the library, whoever installed the stand-in. A second call does nothing.

        Modules that have imported the stand-in keep it.
        """
        if _stands(self.library):
            _taken_out(self.library)
            sys.modules.update(_originals.pop(self.library, {}))

    def __enter__(self) -> Installation:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._installed_here:
            self.uninstall()

    def __repr__(self) -> str:
        return f"<{STAND_INS[self.library]} {'as' if _stands(self.library) else 'no longer as'} {self.library}>"


_originals: dict[str, dict[str, types.ModuleType]] = {}


def _taken_out(library: str) -> dict[str, types.ModuleType]:
    """Forget the imported modules of a library, and return them by name."""
    libraries = (library, _PLUGINS) if library == "tiktoken" else (library,)
    names = [name for name in sys.modules if name.partition(".")[0] in libraries]
    return {name: sys.modules.pop(name) for name in names}
