"""Runs one target under atheris: `python run.py TARGET [libFuzzer's options] [corpus]`."""

from __future__ import annotations

import importlib
import pkgutil
import resource
import sys

import atheris

# What is compared with needs no recording, which would take much of the time.
with atheris.instrument_imports(include=["toksmith"], exclude=["toksmith.reference"]):
    import targets

    import toksmith

    # Modules that are imported on first use, too.
    for module in pkgutil.walk_packages(toksmith.__path__, "toksmith."):
        if not module.name.endswith("__main__") and "compat.transformers" not in module.name:
            importlib.import_module(module.name)

# What asks for more gets a MemoryError.
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
atheris.Setup([sys.argv[0], *sys.argv[2:]], targets.ALL[sys.argv[1]], enable_python_coverage=True)
atheris.Fuzz()
