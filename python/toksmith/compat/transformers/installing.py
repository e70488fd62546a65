"""`install`: every fast tokenizer that `transformers` makes from now on has toksmith inside."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

from ..huggingface.tokenizers import Tokenizer
from .pretrained import Fast, ToksmithTokenizer, adapter_of

Backend: Fast = ToksmithTokenizer.__base__  # the class around a `tokenizers.Tokenizer`

_installed: Installed | None = None


class Installed:
    """The result of `install`: `uninstall` ends the installation, and so does the end of a `with`.

    Attributes:
        kept: Names of classes whose tokenizers stayed as they are, with the reason.
    """

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        original: Callable[..., None] = Backend.__init__
        self._original: Callable[..., None] | None = original

        @functools.wraps(original)
        def init(tokenizer: Fast, *args: object, **options: object) -> None:
            original(tokenizer, *args, **options)
            self._put_into(tokenizer)

        Backend.__init__ = init

    def _put_into(self, tokenizer: Fast) -> None:
        name, backend = type(tokenizer).__name__, tokenizer.backend_tokenizer
        if isinstance(backend, Tokenizer):
            return
        try:
            tokenizer._tokenizer = adapter_of(backend, name)
        except ValueError as error:
            self.kept[name] = str(error)
            warnings.warn(f"this tokenizer stays as it is, without toksmith: {error}", stacklevel=4)

    def uninstall(self) -> None:
        """Let `transformers` make its own tokenizers again. Tokenizers that were made before stay as they are."""
        global _installed
        if self._original is not None:
            Backend.__init__ = self._original
            self._original = None
        if _installed is self:
            _installed = None

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *exception: object) -> None:
        self.uninstall()


def install() -> Installed:
    """Put toksmith into every fast tokenizer that `transformers` makes from now on, in whatever way it is made.

    A tokenizer that toksmith cannot replace (WordPiece, Unigram, …) stays as it is, and a warning names the part that
    is the reason. A second call changes nothing, and returns the same object as the first.

    Raises:
        ImportError: `transformers` is not installed.
    """
    global _installed
    if _installed is None:
        _installed = Installed()
    return _installed
