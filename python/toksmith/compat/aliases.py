"""Stand-ins under the names of the libraries that they replace: `import tiktoken` gives toksmith's stand-in."""

import contextlib
import importlib
import importlib.util
import pkgutil
import sys
import types

STAND_INS = {name: f"toksmith.compat.{name}" for name in ("minbpe", "rustbpe", "tiktoken")}
"""The libraries, each with the module that replaces it."""

_PLUGINS = "tiktoken_ext"
"""A namespace package of tiktoken's, to which other distributions add modules."""
_OWN_PLUGIN = f"{_PLUGINS}.openai_public"


def _stands(library: str) -> bool:
    """Return whether the name of a library now gives its stand-in."""
    module = sys.modules.get(library)
    return module is not None and module is sys.modules.get(STAND_INS.get(library, ""))


class Installation(contextlib.AbstractContextManager["Installation"]):
    """A stand-in that has the name of its library. As a context manager it restores the modules in the end."""

    def __init__(self, library: str) -> None:
        self.library = library
        self._installed_here = not _stands(library)
        if not self._installed_here:
            return
        _originals[library] = _taken_out(library)
        own = STAND_INS[library]
        path = getattr(importlib.import_module(own), "__path__", [])
        names = {library: own} | {f"{library}.{name}": f"{own}.{name}" for _, name, _ in pkgutil.iter_modules(path)}
        if library == "tiktoken":
            # If tiktoken is installed, or a plug-in by itself, the package exists already.
            find = importlib.util.find_spec
            missing = [name for name in (_PLUGINS, _OWN_PLUGIN) if find(_PLUGINS) is None or find(name) is None]
            names |= {name: f"toksmith.compat.{name}" for name in missing}
        sys.modules.update({name: importlib.import_module(module) for name, module in names.items()})

    def uninstall(self) -> None:
        """Give the name back to the library, whoever installed the stand-in. A second call does nothing.

        Modules that have imported the stand-in keep it.
        """
        if _stands(self.library):
            _taken_out(self.library)
            sys.modules.update(_originals.pop(self.library, {}))

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
