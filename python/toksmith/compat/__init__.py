"""Stand-ins for other libraries: change the import, keep the program.

Each module here has the names, the signatures and the results of the library that it is named after, and runs on
toksmith. Its page in `docs/` lists where it differs from the original, and why.
"""

_MODULES = {"huggingface", "minbpe", "rustbpe", "tiktoken"}


def __getattr__(name: str) -> object:
    """Import a stand-in on first use: `import toksmith` is enough for `toksmith.compat.tiktoken`."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return importlib.import_module(f".{name}", __name__)
