"""Tokenizers from files: the constructors of `Tokenizer` that read one format each, and one that reads all."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from typing_extensions import Self

    from ._internal.choices import Unmatched
    from .formats.parts import Parts

    StrPath = str | os.PathLike[str]
    Specials = Iterable[str] | Mapping[str, int]


class Loading:
    """Reads files. `_of`, which the class that encodes has, makes a tokenizer of the content of a file."""

    __slots__ = ()

    @classmethod
    def _of(cls, parts: Parts) -> Self:
        raise NotImplementedError

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: StrPath,
        *,
        pattern: Any = ...,
        special_tokens: Specials | None = None,
        unmatched: Unmatched | None = None,
    ) -> Self:
        """Load a tokenizer by name or by path, whatever its format.

        Args:
            name_or_path: A published encoding ("o200k_base"); a model of OpenAI's ("gpt-4o"); a file of `save`; a
                `tokenizer.json` or a folder with one; a folder with GPT-2's two files; or a rank file. A file or
                folder goes before an encoding of the same name. The rank file of an encoding is looked for as by
                `toksmith.get_encoding`, and downloaded if it is not found. Nothing else is downloaded.
            pattern: For a rank file, which holds none (see `from_tiktoken`), and for GPT-2's two files.
            special_tokens: For the same formats as `pattern`.
            unmatched: For the same formats as `pattern`.

        Raises:
            OSError: There is nothing of this name, or a file cannot be read or downloaded.
            ValueError: The file is malformed, or an option is given that the file holds itself, or one is missing.
        """
        from .formats import sources

        return cls._of(sources.open_source(name_or_path, pattern, special_tokens, unmatched))

    @classmethod
    def from_files(
        cls,
        vocab_filepath: StrPath,
        merges_filepath: StrPath,
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
        from .formats import gpt2

        return cls._of(gpt2.load(vocab_filepath, merges_filepath, special_tokens, pattern, unmatched))

    @classmethod
    def from_tiktoken(
        cls,
        path: StrPath,
        *,
        pattern: Any,
        special_tokens: Specials | None = None,
        unmatched: Unmatched | None = None,
    ) -> Self:
        """Load a rank file of tiktoken's. It holds no pattern and no special tokens: give them.

        Warns if the file is a published one and special tokens of it are missing; `special_tokens=()` is for a
        tokenizer without any.

        The ids are those of `toksmith.Encoding` and of tiktoken, with special tokens in a text turned into their ids.

        Args:
            path: The file.
            pattern: A name (`toksmith.patterns.NAMED`, or a published encoding), a regular expression in the dialect
                of tiktoken's engine, or None. A compiled `regex` pattern is read in the dialect of `regex`.
            special_tokens: As in `Tokenizer`.
            unmatched: What becomes of text that the pattern does not match; by default it is dropped, as in tiktoken.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is malformed, or lacks a single byte; names file and line. Or the pattern is broken,
                has a part without an equal in `regex`, or looks like a name but is none.
        """
        from .formats import ranks

        return cls._of(ranks.load(path, pattern, special_tokens, unmatched))

    @classmethod
    def from_huggingface(cls, source: Any, *, dropout_seed: int | None = None) -> Self:
        """Load a Hugging Face tokenizer, byte-level BPE or SentencePiece's BPE, with the same ids for every text.

        Its normalizer, splitting and added tokens are part of the result. The tokens that its post-processor puts
        around a text are in `template`, and no method adds them by itself. See `docs/huggingface.md`.

        Args:
            source: The path of a `tokenizer.json`, or of a folder with one; a `tokenizers.Tokenizer`; or a fast
                tokenizer of `transformers`.
            dropout_seed: For a model with `dropout`: with a seed, the ids of a pretoken depend on the seed and the
                pretoken alone; without one, they are drawn anew each time. No effect on other models.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is malformed or inconsistent, or has a part that cannot be reproduced exactly; names
                the part by its place in the file.
        """
        from .formats.huggingface import read

        return cls._of(read.read(source, dropout_seed))

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Load a file that `save` wrote. Warns if its pattern runs under other Unicode tables than it was made with.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is no such file, of a later version, or inconsistent; names what is wrong.
        """
        from .formats import native

        return cls._of(native.load(path))
