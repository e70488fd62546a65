"""The files of a tokenizer: what loads it, and what saves it."""

from __future__ import annotations

import contextlib
import os

from . import patterns
from ._core import Tokenizer as CoreTokenizer
from .common import arguments
from .files import reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import EllipsisType
    from typing import Any

    from typing_extensions import Self

    from .huggingface.pipeline import Pipeline
    from .patterns import Pattern, Unmatched

    Specials = Iterable[str] | Mapping[str, int]
    SpecialToken = str | EllipsisType | None


class Stored:
    """What `Tokenizer` has from here: loading and saving. Each format is in `formats`."""

    __slots__ = ()

    if TYPE_CHECKING:
        _cache: dict[str, Any]

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
        from .storage import loading

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
        data = reading.read(path)
        with contextlib.suppress(ValueError):
            core = CoreTokenizer.from_ranks(data, specials, resolved.core())
        if core is None:
            # Odd or wrong: the reader in Python takes every spelling, and says what is wrong where.
            from .storage import loading

            vocab = loading.parse_tiktoken(data, path)
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
        from .huggingface import read

        return cls._of(*read.read(source))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a file that `save` wrote. Warns if its pattern runs under other Unicode tables than it was made with.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is no such file, of a later version, or inconsistent; names what is wrong.
        """
        from .storage import loading

        saved = loading.read_native(path)
        specials = list(saved.special_tokens.items())
        with loading.of_file(path):
            core = CoreTokenizer(saved.vocab, saved.merges, specials, saved.pattern.core(), saved.ignore_merges)
        tokenizer = cls._of(loading.behind(core, saved.pipeline), saved.pattern, saved.pipeline)
        if saved.record is not None:
            tokenizer._cache["record"] = saved.record
        return tokenizer

    def save(self, path: str | os.PathLike[str], *, verify: bool = True) -> None:
        """Save everything that makes the tokenizer into one JSON file that a person can read.

        Args:
            path: The file; an older one is replaced.
            verify: Whether the file is read back, and its ids compared on a stress text, before it takes its name.
                That takes about as long again as loading it.

        Raises:
            OSError: The file cannot be written.
            ValueError: The file, read back, is not this tokenizer. Nothing is written.
        """
        from .storage import loading

        tokenizer: Any = self
        loading.write_native(tokenizer, path, verify)

    def save_gpt2(self, folder: str | os.PathLike[str], *, verify: bool = True) -> None:
        """Save as `vocab.json` and `merges.txt` in `folder`, which is made if need be.

        The files hold no pattern: a warning says so if it is not GPT-2's.

        Args:
            folder: Where the two files go.
            verify: As in `save`; also read back by `tokenizers`, if that is installed.

        Raises:
            ValueError: The files could not hold it: under rank semantics, some token does not re-encode to itself
                (it is named); or a special token has the bytes of an ordinary one; or, read back, they encode
                otherwise. Nothing is written.
        """
        from .storage import loading

        tokenizer: Any = self
        loading.write_gpt2(tokenizer, folder, verify)

    def save_tiktoken(self, path: str | os.PathLike[str], *, verify: bool = True) -> None:
        """Save the ordinary tokens as a rank file of tiktoken's. It holds no pattern and no special tokens.

        Args:
            path: The file; an older one is replaced.
            verify: As in `save`; read back by `tiktoken`, if that is installed.

        Raises:
            ValueError: Under rank semantics some text could encode otherwise: a token does not re-encode to
                itself, or ids do not rise with the merges; or the file, read back, encodes otherwise. Nothing is
                written.
        """
        from .storage import loading

        tokenizer: Any = self
        loading.write_tiktoken(tokenizer, path, verify)

    def save_huggingface(
        self,
        folder: str | os.PathLike[str],
        *,
        bos_token: SpecialToken = ...,
        eos_token: SpecialToken = ...,
        unk_token: SpecialToken = ...,
        pad_token: SpecialToken = ...,
        chat_template: str | None = None,
        model_max_length: int | None = None,
        verify: bool = True,
    ) -> None:
        """Save as a folder that `tokenizers.Tokenizer` and `transformers.AutoTokenizer` load, with the same ids.

        It gets `tokenizer.json`, `tokenizer_config.json` and `special_tokens_map.json`; under GPT-2's pattern also
        `vocab.json` and `merges.txt`. Ids agree on all text but for code points that the Unicode version in
        `tokenizers` puts into another class (docs/unicode.md).

        Args:
            folder: Where the files go; made if need be.
            bos_token: The special token that begins a text. Left out: one of a usual name, if any; None: none.
            eos_token: The one that ends a text.
            unk_token: The one for what is unknown. Byte-level BPE needs none.
            pad_token: The one that fills up a batch. Left out: one of a usual name, else the eos token.
            chat_template: A Jinja template for `apply_chat_template`.
            model_max_length: How many ids the model takes; None: no limit.
            verify: Whether `tokenizer.json` is read back, by `tokenizers` if that is installed, and its ids compared
                on a stress text, before anything is written. A vocabulary of 100,000 takes a few seconds.

        Raises:
            ValueError: A part of the tokenizer has no exact equal there: a pattern that Oniguruma would read
                otherwise, a special token whose name spells another token (each is named); or a role is given to
                what is no special token; or the file, read back, encodes otherwise. Nothing is written.
        """
        from .storage import loading

        tokenizer: Any = self
        roles = {"bos_token": bos_token, "eos_token": eos_token, "unk_token": unk_token, "pad_token": pad_token}
        loading.write_huggingface(tokenizer, folder, roles, chat_template, model_max_length, verify)
