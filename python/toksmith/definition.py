"""What defines a tokenizer: the class that `Tokenizer` adds encoding and decoding to.

Reading files is in its base, `Loading`. Writing files, explanations and
pickles are imported when they are first used.
"""

from __future__ import annotations

import os
import types

from . import identity
from .common import arguments
from .loading import Loading
from .parts import Parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import EllipsisType
    from typing import Any, NoReturn

    from typing_extensions import Buffer, Self

    from ._core import Tokenizer as CoreTokenizer
    from .common.choices import Errors
    from .common.progress import Report
    from .huggingface.pipeline import Pipeline
    from .huggingface.template import Template
    from .inspection.inspect import Inspection
    from .patterns import Pattern
    from .training_record import Record

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
        """Return the bytes of a token; `KeyError` if there is none of this id."""
        return self._core.token_bytes(id)

    def token_id(self, token: Buffer | str) -> int:
        """Return the id of a token by its bytes, the ordinary one where a special token has the same.

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
        from .common.views import ListView

        view: ListView[tuple[bytes, bytes]] = self._cached("merges", lambda: ListView(self._parts.merges))
        return view

    @property
    def merge_counts(self) -> Sequence[int | None] | None:
        """How often the pair of each merge occurred when training chose it; read-only, saved by `save`.

        In the order of `merges`. None for a merge that was not chosen by its count: one of a tokenizer that
        was extended and knows none, or of a forced token. None as a whole for a tokenizer that was not trained here.
        It is no part of the identity.

        >>> import toksmith
        >>> list(toksmith.train(toksmith.PretokenCounts({b"low": 5, b"lower": 2}), 258).merge_counts)
        [7, 7]
        """
        from .common.views import ListView

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
            ValueError: It splits in stages, as some Hugging Face tokenizers do: there is no one pattern.
        """
        return self._pattern.compiled()

    @property
    def ignore_merges(self) -> bool:
        """Whether a pretoken that is a token stands for itself before any merge; always under rank semantics."""
        return self._core.ignores_merges()

    @property
    def pipeline(self) -> Pipeline | None:
        """What a Hugging Face tokenizer does beside all that: normalizer, added tokens with conditions, template.

        None for one that has nothing of the kind. See `docs/huggingface.md`.
        """
        return self._parts.pipeline

    @property
    def template(self) -> Template | None:
        """What a Hugging Face tokenizer puts around a text; no method here adds it by itself. None if nothing."""
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
        """Return what the vocabulary is made of, which tokens no text gives, and what texts use of it.

        `print` shows it, a notebook draws it, and `to_dict` gives plain data. The figures are defined in
        `docs/inspecting.md`.

        Args:
            on: Texts to count the uses of tokens on: a path, a glob, a folder, or "-" for standard input; a list or
                tuple of these; or any other iterable, of texts. None looks at the vocabulary alone.
            top: How many tokens each list of examples has at most.
            special: Whether special tokens in the texts become their ids.
            field: What has the text in each line of JSON; "text" by default.
            column: What has the text in each row of a Parquet file; "text" by default.
            document_separator: A string between two documents of a text.
            errors: "strict" refuses files that are not UTF-8, "replace" reads invalid bytes as U+FFFD.
            workers: Threads; default: all cores.
            progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes.

        Cost: each token is encoded once, and texts are encoded once: some seconds for a vocabulary of 200,000 and
        100 MB. Memory does not follow the length of texts, beyond the longest record of JSON lines or Parquet.

        Raises:
            OSError: A file cannot be read, or changes meanwhile.
            ValueError: A file is not UTF-8, is damaged, or a record has no text; names file and place.

        >>> import toksmith
        >>> found = toksmith.Tokenizer().inspect(iter(["low low", "lower"]))
        >>> found.usage.tokens, found.usage.most_used[0]
        (12, Used(id=108, token=b'l', uses=3))
        """
        from .inspection import inspect

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

        Special tokens whose ids are above all others move down to follow them, all other ids stay. Of a trained
        tokenizer this makes what training with `n` would have made. Under rank semantics the last ranks go.

        Raises:
            ValueError: `n` is more than there are, less than the bytes and special tokens, or less than the
                tokenizer had that this one was extended from; or there is a `pipeline`, which holds ids.

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
        """Save everything that makes the tokenizer into one JSON file that a person can read.

        Args:
            path: The file; an older one is replaced.
            verify: Whether the file is read back, and its ids compared on a stress text, before it takes its name.
                That takes about as long again as loading it.

        Raises:
            OSError: The file cannot be written.
            ValueError: The file, read back, is not this tokenizer. Nothing is written.
        """
        from .storage import save

        save.native(self._parts, path, verify)

    def save_gpt2(self, folder: StrPath, *, verify: bool = True) -> None:
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
        from .storage import save

        save.gpt2(self._parts, folder, verify)

    def save_tiktoken(self, path: StrPath, *, verify: bool = True) -> None:
        """Save the ordinary tokens as a rank file of tiktoken's. It holds no pattern and no special tokens.

        Args:
            path: The file; an older one is replaced.
            verify: As in `save`; read back by `tiktoken`, if that is installed.

        Raises:
            ValueError: Under rank semantics some text could encode otherwise: a token does not re-encode to
                itself, or ids do not rise with the merges; or the file, read back, encodes otherwise. Nothing is
                written.
        """
        from .storage import save

        save.tiktoken(self._parts, path, verify)

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

        It gets `tokenizer.json`, `tokenizer_config.json` and `special_tokens_map.json`; under GPT-2's pattern also
        `vocab.json` and `merges.txt`. Ids agree on all text but for code points that the Unicode version in
        `tokenizers` puts into another class (docs/unicode.md). What a Hugging Face folder or object said of the
        tokenizer beside is written as it was, but for what is given here.

        Args:
            folder: Where the files go; made if need be.
            bos_token: The special token that begins a text. Left out: the one that the tokenizer came with, else one
                of a usual name, if any; None: none.
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
        from .storage import save

        roles = {"bos_token": bos_token, "eos_token": eos_token, "unk_token": unk_token, "pad_token": pad_token}
        save.huggingface(self._parts, folder, roles, chat_template, model_max_length, verify)

    # Identity

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of everything that makes the tokenizer: equal exactly for equal tokenizers."""
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
