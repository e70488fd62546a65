"""The options of a run, checked before anything is read."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..._internal import arguments
from ..._internal.choices import ON_ERROR
from ..._internal.messages import shown
from ...encoding.file_encoding import is_wide
from .folder import form_of

if TYPE_CHECKING:
    from ...tokenizer import Tokenizer

DEFAULT_SHARD = 100_000_000
DEFAULT_BUFFER = 20_000_000
NONE = "none"
"""What `append` is if no token is wanted, unless a special token has this name."""
REST = "train"
"""The split of all documents that belong to no other."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_HASHES = 2**64


class Options:
    """The options of a run, in the form that the core takes and in the form that the manifest keeps."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        format: str,
        dtype: Any,
        shard_size: int,
        split: Any,
        seed: int,
        prepend: Any,
        append: Any,
        shuffle: int | None,
        shuffle_buffer: int,
        special: bool,
        document_separator: str | None,
        errors: str,
        on_error: str,
        workers: int | None,
    ) -> None:
        self.form = form_of(format)
        self.wide = is_wide(dtype, tokenizer.max_id >= 2**16)
        self.shard_size = arguments.checked_limit("shard_size", shard_size, 1)
        if self.shard_size > self.form.most:
            raise ValueError(
                f"shard_size is at most {self.form.most:,} in the format {format}, not {self.shard_size:,}"
            )
        if self.form.is_single:
            self._check_single(tokenizer)
        if format == "megatron" and self.wide and tokenizer.max_id >= 2**31:
            raise ValueError(f"megatron has no ids of 2^31 or more, and the tokenizer has {tokenizer.max_id}")
        self.split = _split(split)
        self.seed = _seed("seed", seed)
        self.prepend, self.append = _names("prepend", prepend), _names("append", append)
        if self.append == [NONE] and NONE not in tokenizer.special_tokens:
            self.append = []
        self.unseparated = _unseparated(tokenizer) if append is None and not self.prepend else None
        """The warning that documents have nothing between them, if the tokenizer has a token for that."""
        self.prepend_ids = _ids("prepend", self.prepend, tokenizer)
        self.append_ids = _ids("append", self.append, tokenizer)
        self.shuffle = None if shuffle is None else _seed("shuffle", shuffle)
        self.shuffle_buffer = arguments.checked_limit("shuffle_buffer", shuffle_buffer, 1)
        self.special = bool(special)
        self.separator = arguments.checked_separator(document_separator)
        self.replace = arguments.replaces_invalid(errors)
        arguments.one_of("on_error", on_error, ON_ERROR)
        self.skip = on_error == "skip"
        self.workers = arguments.checked_workers(workers)

    def _check_single(self, tokenizer: Tokenizer) -> None:
        if tokenizer.max_id >= 2**16:
            raise ValueError(
                f"nanoGPT reads ids of uint16, up to 65,535, and the tokenizer has ids up to {tokenizer.max_id:,}: "
                "name another format, or a smaller tokenizer"
            )
        if self.wide:
            raise ValueError("dtype is uint16 in the format nanogpt, not uint32")
        if self.shard_size != DEFAULT_SHARD:
            raise ValueError("shard_size is for other formats than nanogpt, which has one file for each split")
        self.shard_size = self.form.most

    @property
    def width(self) -> int:
        """Bytes of an id."""
        return 4 if self.wide else 2

    @property
    def splits(self) -> list[str]:
        """The names of the splits, the one of all other documents last."""
        return [*self.split, REST]

    @property
    def told(self) -> dict[str, Any]:
        """All options that decide what is written."""
        return {
            "format": self.form.name,
            "dtype": "uint32" if self.wide else "uint16",
            "append": self.append,
            "prepend": self.prepend,
            "shard_size": None if self.form.is_single else self.shard_size,
            "split": self.split,
            "seed": self.seed,
            "shuffle": self.shuffle,
            "shuffle_buffer": None if self.shuffle is None else self.shuffle_buffer,
            "special": self.special,
            "document_separator": self.separator,
            "errors": "replace" if self.replace else "strict",
            "on_error": "skip" if self.skip else "stop",
        }

    @property
    def for_core(self) -> dict[str, Any]:
        """The options that the core takes."""
        return {
            "splits": list(zip(self.splits, _thresholds(self.split), strict=True)),
            "special": self.special,
            "replace": self.replace,
            "skip": self.skip,
            "wide": self.wide,
            "separator": self.separator,
            "prepend": self.prepend_ids,
            "append": self.append_ids,
            "seed": self.seed,
            "shuffle": None if self.shuffle is None else (self.shuffle, self.shuffle_buffer),
            "shard_ids": self.shard_size,
            "head_bytes": self.form.head_bytes,
            "is_hashed": True,
            "workers": self.workers,
        }


def _seed(name: str, value: int) -> int:
    number = operator.index(value)
    if not 0 <= number < _HASHES:
        raise ValueError(f"{name} is a whole number from 0 to 2^64 - 1, not {shown(value)}")
    return number


def _split(split: Any) -> dict[str, float]:
    """Return the share of each split by its name, from a mapping or from texts such as "val=0.01"."""
    if split is None:
        return {}
    if isinstance(split, Mapping):
        pairs = list(split.items())
    else:
        pairs = []
        for one in [split] if isinstance(split, str) else split:
            name, equals, share = str(one).partition("=")
            if not equals:
                raise ValueError(f"split is a name and a share, such as val=0.01, not {shown(one)}")
            pairs.append((name, share))
    shares: dict[str, float] = {}
    for name, share in pairs:
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name == REST or name in shares:
            raise ValueError(f"split: {shown(name)} is no name of a split, is there twice, or is {REST!r}")
        try:
            shares[name] = float(share)
        except (TypeError, ValueError):
            raise ValueError(f"split: the share of {name} is a number, not {shown(share)}") from None
        if not 0 < shares[name] < 1:
            raise ValueError(f"split: the share of {name} is between 0 and 1, not {shown(share)}")
    if sum(map(Fraction, shares.values())) >= 1:
        raise ValueError("split: the shares leave no document for the rest")
    return shares


def _thresholds(split: dict[str, float]) -> list[int]:
    """Return a bound for each split: documents with a hash below it are in this split, or in one before it."""
    total, found = Fraction(0), []
    for share in split.values():
        total += Fraction(share)
        found.append(int(total * _HASHES))
    return [*found, _HASHES - 1]


def _unseparated(tokenizer: Tokenizer) -> str | None:
    from ...formats.huggingface import folder

    end = folder.end_of_text(tokenizer._parts)
    return end and (
        "the documents have no token between them, and the tokenizer has one to end a text: choose "
        f'append="{end}", or append="{NONE}"'
    )


def _names(option: str, given: Any) -> list[str | int]:
    if given is None:
        return []
    if isinstance(given, (str, int)):
        given = [given]
    if not isinstance(given, Iterable):
        raise TypeError(f"{option} is a special token, or a list of them, not {type(given).__name__}")
    return [one if isinstance(one, str) else operator.index(one) for one in given]


def _ids(option: str, names: list[str | int], tokenizer: Tokenizer) -> list[int]:
    specials = tokenizer.special_tokens
    ids = []
    for name in names:
        if isinstance(name, int):
            try:
                tokenizer.token_bytes(name)
            except KeyError:
                raise ValueError(f"{option}: the tokenizer has no id {name}") from None
            ids.append(name)
        elif name in specials:
            ids.append(specials[name])
        else:
            known = ", ".join(map(shown, list(specials)[:8])) or "none"
            raise ValueError(f"{option}: {shown(name)} is no special token of the tokenizer, which has {known}")
    return ids
