"""The files of a tokenizer: what loads it, and what saves it."""

from __future__ import annotations

import contextlib
import os

from . import arguments, patterns
from ._core import Tokenizer as CoreTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from typing_extensions import Self

    from .patterns import Pattern, Unmatched
    from .pipeline import Pipeline

    Specials = Iterable[str] | Mapping[str, int]


class Stored:
    """What `Tokenizer` has from here: loading and saving. Each format is in `formats`."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _fill(self, core: CoreTokenizer, pattern: Pattern, pipeline: Pipeline | None = None) -> None: ...

    @classmethod
    def _of(cls, core: CoreTokenizer, pattern: Pattern, pipeline: Pipeline | None = None) -> Self:
        tokenizer = cls.__new__(cls)
        tokenizer._fill(core, pattern, pipeline)
        return tokenizer

    @classmethod
    def from_files(
        cls,
        vocab_filepath: str | os.PathLike[str],
        merges_filepath: str | os.PathLike[str],
        special_tokens: Specials | None = None,
        *,
        pattern: Any = "gpt2",
        unmatched: Unmatched = "keep",
    ) -> Self:
        """Load GPT-2's two files, `vocab.json` and `merges.txt`. They hold no pattern: give it if it is not GPT-2's.

        Raises:
            OSError: A file cannot be read.
            ValueError: A file is malformed or inconsistent; names file and line.
        """
        from . import loading

        vocab, merges = loading.read_gpt2(vocab_filepath, merges_filepath, special_tokens)
        with loading.of_file(f"{os.fspath(vocab_filepath)}, {os.fspath(merges_filepath)}"):
            resolved = patterns.resolve(pattern, unmatched)
            specials = arguments.special_list(special_tokens)
            core = CoreTokenizer(vocab, arguments.checked_merges(merges), specials, resolved.core())
        return cls._of(core, resolved)

    @classmethod
    def from_tiktoken(
        cls,
        path: str | os.PathLike[str],
        *,
        pattern: Any,
        special_tokens: Specials | None = None,
        unmatched: Unmatched = "keep",
    ) -> Self:
        """Load a rank file of tiktoken's. It holds no pattern and no special tokens: give them.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is malformed, or lacks a single byte; names file and line.
        """
        resolved = patterns.resolve(pattern, unmatched)
        specials = arguments.special_list(special_tokens)
        core = None
        # fspath: an int would be a file descriptor. pathlib takes long to import.
        with open(os.fspath(path), "rb") as file, contextlib.suppress(ValueError):  # noqa: PTH123
            core = CoreTokenizer.from_ranks(file.read(), specials, resolved.core())
        if core is None:
            # Odd or wrong: the reader in Python takes every spelling, and says what is wrong where.
            from . import loading

            vocab = loading.read_tiktoken(path)
            with loading.of_file(path):
                core = CoreTokenizer(vocab, None, specials, resolved.core())
        return cls._of(core, resolved)

    @classmethod
    def from_huggingface(cls, source: Any) -> Self:
        """Load a Hugging Face tokenizer of the byte-level BPE family: the same ids, whatever the text.

        Its normalizer, splitting and added tokens are part of the result; what its post-processor adds around a
        text is in `template`, and no method adds it by itself. See `docs/huggingface.md`.

        Args:
            source: The path of a `tokenizer.json`, or of a folder with one; a `tokenizers.Tokenizer`; or a fast
                tokenizer of `transformers`.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is malformed or inconsistent, or has a part that cannot be had exactly; names the part
                by its place in the file.
        """
        from .formats.huggingface import read

        return cls._of(*read.read(source))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a file that `save` wrote. Warns if its pattern runs under other Unicode tables than it was made with.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is no such file, of a later version, or inconsistent; names what is wrong.
        """
        from . import loading

        vocab, merges, specials, pattern, pipeline, ignore_merges = loading.read_native(path)
        with loading.of_file(path):
            core = CoreTokenizer(vocab, merges, list(specials.items()), pattern.core(), ignore_merges)
        return cls._of(loading.behind(core, pipeline), pattern, pipeline)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything that makes the tokenizer into one JSON file that a person can read."""
        from . import loading

        tokenizer: Any = self
        loading.write_native(tokenizer, path)

    def save_gpt2(self, folder: str | os.PathLike[str]) -> None:
        """Save as `vocab.json` and `merges.txt` in `folder`, which is made if need be.

        The files hold no pattern: a warning says so if it is not GPT-2's.

        Raises:
            ValueError: The files could not hold it: under rank semantics, some token does not re-encode to itself
                (it is named); or a special token has the bytes of an ordinary one. Nothing is written.
        """
        from . import loading

        tokenizer: Any = self
        loading.write_gpt2(tokenizer, folder)

    def save_tiktoken(self, path: str | os.PathLike[str]) -> None:
        """Save the ordinary tokens as a rank file of tiktoken's. It holds no pattern and no special tokens.

        Raises:
            ValueError: Under rank semantics some text could encode otherwise: a token does not re-encode to
                itself, or ids do not rise with the merges. Nothing is written.
        """
        from . import loading

        tokenizer: Any = self
        loading.write_tiktoken(tokenizer, path)
