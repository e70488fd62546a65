"""The definition of a tokenizer: the class to which `Tokenizer` adds encoding and decoding.

Reading files is in its base, `Loading`. Writing files, explanations and pickles are imported when they are first
used.
"""

from __future__ import annotations

import os
import types

from ._internal import arguments
from .formats import identity
from .formats.parts import Parts
from .loading import Loading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import EllipsisType
    from typing import Any, NoReturn

    from typing_extensions import Buffer, Self

    from ._core import Tokenizer as CoreTokenizer
    from ._internal.choices import Errors
    from ._internal.progress import Report
    from .formats.huggingface.pipeline import Pipeline
    from .formats.huggingface.template import Template
    from .formats.training_record import Record
    from .lab.inspection.inspect import Inspection
    from .patterns import Pattern

    StrPath = str | os.PathLike[str]
    Specials = Iterable[str] | Mapping[str, int]
    SpecialToken = str | EllipsisType | None


class Definition(Loading):
    """Vocabulary, merges, special tokens, pattern and pipeline: read-only, loaded, saved, compared and pickled."""

    __slots__ = ("__weakref__", "_cache", "_core", "_parts")

    _cache: dict[str, Any]
    _core: CoreTokenizer
    _parts: Parts

    @classmethod
    def _of(cls, parts: Parts) -> Self:
        made = cls.__new__(cls)
        made._fill(parts)
        return made

    def _fill(self, parts: Parts) -> None:
        if hasattr(self, "_parts"):
            raise AttributeError("a Tokenizer is immutable: it is made once; make a new one")
        values: Any = (("_parts", parts), ("_core", parts.core), ("_cache", {}))
        for name, value in values:
            object.__setattr__(self, name, value)
        identity.register(self)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Tokenizer is immutable: cannot set {name!r}; make a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Tokenizer is immutable: cannot delete {name!r}")

    # What it is made of

    def token_bytes(self, id: int) -> bytes:
        """Return the bytes of a token; `KeyError` if no token has this id."""
        return self._core.token_bytes(id)

    def token_id(self, token: Buffer | str) -> int:
        """Return the id of a token by its bytes; if a special token has the same bytes, the id of the ordinary one.

        Raises:
            KeyError: There is no such token.
        """
        return self._core.token_id(token.encode() if isinstance(token, str) else arguments.as_bytes(token))

    def _cached(self, name: str, make: Any) -> Any:
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Token bytes by id, special tokens included; read-only."""
        return types.MappingProxyType(self._parts.vocab)

    @property
    def merges(self) -> Sequence[tuple[bytes, bytes]]:
        """The merges in order; read-only. Under rank semantics, the pair that each token's bytes reach."""
        from ._internal.views import ListView

        view: ListView[tuple[bytes, bytes]] = self._cached("merges", lambda: ListView(self._parts.merges))
        return view

    @property
    def merge_counts(self) -> Sequence[int | None] | None:
        """How often the pair of each merge occurred when training chose it; read-only, saved by `save`.

        The counts are in the order of `merges`. A count is None for a merge that was not chosen by its count: a merge
        of an extended tokenizer without counts, or of a forced token. The whole is None for a tokenizer that was not
        trained here. The counts are no part of the identity.

        >>> import toksmith
        >>> list(toksmith.train(toksmith.PretokenCounts({b"low": 5, b"lower": 2}), 258).merge_counts)
        [7, 7]
        """
        from ._internal.views import ListView

        if self._parts.record is None:
            return None
        view: ListView[int | None] = self._cached("merge_counts", lambda: ListView(self._parts.merge_counts or []))
        return view

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Ids of the special tokens by name; read-only."""
        return types.MappingProxyType(self._core.special_tokens())

    @property
    def pattern(self) -> Any:
        """The pattern as a compiled `regex` pattern; None for no pretokenization.

        Raises:
            ValueError: The tokenizer splits in stages, as some Hugging Face tokenizers do: no single pattern does it.
        """
        return self._pattern.compiled()

    @property
    def ignore_merges(self) -> bool:
        """Whether a pretoken that is a token is encoded to it before any merge; always so under rank semantics."""
        return self._core.ignores_merges()

    @property
    def pipeline(self) -> Pipeline | None:
        """The other steps of a Hugging Face tokenizer: normalizer, added tokens with conditions, template.

        None for a tokenizer that has no such steps. See `docs/huggingface.md`.
        """
        return self._parts.pipeline

    @property
    def template(self) -> Template | None:
        """The tokens that a Hugging Face tokenizer puts around a text, or None; no method adds them by itself."""
        return None if self._parts.pipeline is None else self._parts.pipeline.template

    @property
    def vocab_size(self) -> int:
        """How many ids are in use."""
        return self._core.vocab_size()

    @property
    def max_id(self) -> int:
        """The highest id in use."""
        return self._core.max_id()

    @property
    def _pattern(self) -> Pattern:
        return self._parts.pattern

    @property
    def _record(self) -> Record | None:
        return self._parts.record

    def inspect(
        self,
        on: Any = None,
        *,
        top: int = 10,
        special: bool = True,
        field: str | None = None,
        column: str | None = None,
        document_separator: str | None = None,
        errors: Errors = "strict",
        workers: int | None = None,
        progress: bool | Report = False,
    ) -> Inspection:
        """Return what the vocabulary is made of, which tokens no text is encoded to, and how texts use it.

        `print` shows it, a notebook draws it, and `to_dict` gives plain data. The figures are defined in
        `docs/inspecting.md`.

        Args:
            on: Texts to count the uses of tokens on: a path, a glob, a folder, or "-" for standard input; a list or
                tuple of these; or any other iterable, of texts. None looks at the vocabulary alone.
            top: How many tokens each list of examples has at most.
            special: Whether special tokens in the texts become their ids.
            field: The name of the text in each line of JSON; "text" by default.
            column: The column of the text in Parquet files; "text" by default.
            document_separator: A string between two documents of a text.
            errors: "strict" refuses files that are not UTF-8, "replace" reads invalid bytes as U+FFFD.
            workers: Threads; default: all cores.
            progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes.

        Cost: each token is encoded once, and texts are encoded once: some seconds for a vocabulary of 200,000 and
        100 MB. Memory does not grow with the length of texts, beyond the longest record of JSON lines or Parquet.

        Raises:
            OSError: A file cannot be read, or changes meanwhile.
            ValueError: A file is not UTF-8, is damaged, or a record has no text; names file and place.

        >>> import toksmith
        >>> found = toksmith.Tokenizer().inspect(iter(["low low", "lower"]))
        >>> found.usage.tokens, found.usage.most_used[0]
        (12, Used(id=108, token=b'l', uses=3))
        """
        from .lab.inspection import inspect

        return inspect.inspect(
            self._parts,
            on,
            top=top,
            special=special,
            field=field,
            column=column,
            document_separator=document_separator,
            errors=errors,
            workers=workers,
            progress=progress,
        )

    def shrink(self, n: int) -> Self:
        """Return a tokenizer of `n` tokens, special ones included: this one without its last merges.

        Special tokens whose ids are above all others move down to follow them; all other ids stay. For a trained
        tokenizer the result is the same as training with `n`. Under rank semantics the last ranks are left out.

        Raises:
            ValueError: `n` is more than the number of tokens, less than the bytes and special tokens, or less than
                the size of the tokenizer that this one was extended from; or a `pipeline` does more than the
                vocabulary says (a normalizer, several stages, added tokens with conditions, a template).

        >>> import toksmith
        >>> counts = toksmith.PretokenCounts({b"low": 5, b"lower": 2})
        >>> toksmith.train(counts, 260).shrink(258) == toksmith.train(counts, 258)
        True
        """
        from . import shrinking

        parts = shrinking.shrink(self._parts, n)
        return self if parts is self._parts else self._of(parts)

    # Files

    def save(self, path: StrPath, *, verify: bool = True) -> None:
        """Save all parts of the tokenizer into one JSON file that a person can read.

        Args:
            path: The file; an older one is replaced.
            verify: Whether the file is read back, and its ids compared on a stress text, before it takes its name.
                That takes about as long again as loading it.

        Raises:
            OSError: The file cannot be written.
            ValueError: The file, read back, is not this tokenizer. Nothing is written.
        """
        from .formats import native

        native.save(self._parts, path, verify)

    def save_gpt2(self, folder: StrPath, *, verify: bool = True) -> None:
        """Save as `vocab.json` and `merges.txt` in `folder`, which is made if need be.

        The files hold no pattern: a warning says so if it is not GPT-2's.

        Args:
            folder: Where the two files go.
            verify: As in `save`; also read back by `tokenizers`, if that is installed.

        Raises:
            ValueError: The files cannot hold the tokenizer: under rank semantics, some token does not re-encode to
                itself (names the token); or a special token has the bytes of an ordinary one; or the files, read
                back, give other ids. Nothing is written.
        """
        from .formats import gpt2

        gpt2.save(self._parts, folder, verify)

    def save_tiktoken(self, path: StrPath, *, verify: bool = True) -> None:
        """Save the ordinary tokens as a rank file of tiktoken's. It holds no pattern and no special tokens.

        Args:
            path: The file; an older one is replaced.
            verify: As in `save`; read back by `tiktoken`, if that is installed.

        Raises:
            ValueError: Under rank semantics some text could have other ids: a token does not re-encode to itself, or
                ids do not rise with the merges; or the file, read back, gives other ids. Nothing is written.
        """
        from .formats import ranks

        ranks.save(self._parts, path, verify)

    def save_huggingface(
        self,
        folder: StrPath,
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

        The folder gets `tokenizer.json`, `tokenizer_config.json` and `special_tokens_map.json`; under GPT-2's pattern
        also `vocab.json` and `merges.txt`. Ids agree on all text but for code points that the Unicode version in
        `tokenizers` puts into another class (docs/unicode.md). Other settings that came from a Hugging Face folder or
        object are written unchanged, except those that the arguments replace.

        Args:
            folder: Where the files go; made if need be.
            bos_token: The special token that begins a text. By default the one that the tokenizer came with, else one
                with a usual name, if any; None: no such token.
            eos_token: The special token that ends a text.
            unk_token: The special token for unknown text. Byte-level BPE needs none.
            pad_token: The special token that fills up a batch. By default one with a usual name, else the eos token.
            chat_template: A Jinja template for `apply_chat_template`.
            model_max_length: How many ids the model takes; None: no limit.
            verify: Whether `tokenizer.json` is read back, by `tokenizers` if that is installed, and its ids compared
                on a stress text, before anything is written. A vocabulary of 100,000 takes a few seconds.

        Raises:
            ValueError: A part of the tokenizer has no exact equal there: a pattern that Oniguruma would read
                differently, a special token whose name spells another token (names the part); or a role is given to
                a name that is no special token; or the file, read back, gives other ids. Nothing is written.
        """
        from .formats.huggingface import folder as huggingface_folder

        roles = {"bos_token": bos_token, "eos_token": eos_token, "unk_token": unk_token, "pad_token": pad_token}
        huggingface_folder.save(self._parts, folder, roles, chat_template, model_max_length, verify)

    # Identity

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of all parts of the tokenizer's identity: equal exactly for equal tokenizers."""
        return identity.fingerprint(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Definition):
            return NotImplemented
        return self is other or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        return identity.reduced(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __repr__(self) -> str:
        pattern = self._pattern.name or self._pattern.text
        return f"<Tokenizer of {self.vocab_size} tokens, {len(self.special_tokens)} special, pattern {pattern!r}>"
