"""Doctests of a module that needs an optional package are left out where it is missing."""

import importlib.util

_OPTIONAL = {"transformers": "toksmith/compat/huggingface/for_transformers.py"}
collect_ignore = [path for package, path in _OPTIONAL.items() if importlib.util.find_spec(package) is None]
