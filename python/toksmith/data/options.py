"""The options of `tokenize`, checked before anything is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import NoneType
from typing import TYPE_CHECKING, Any, TypedDict

from .._internal import arguments
from .._internal.choices import Errors, LongDocument, OnError, ShardFormat
from .._internal.messages import shown
from ..files import tables
from ..tokenizer import Tokenizer
from .conversations import Conversations
from .manifest import FORMATS, Format, JsonObject

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

DEFAULT_SHARD = 100_000_000
DEFAULT_BUFFER = 20_000_000
NONE = "none"
"""What `append` is if no token is wanted, unless a special token has this name."""
REMAINDER = "train"
"""The split of all documents that belong to no other."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_HASHES = 2**64

SpecialTokens = str | int | Iterable[str | int]


class ShardOptions(TypedDict, total=False):
    """How documents become shards, on one machine and on engines; see `tokenize`."""

    format: ShardFormat
    dtype: DTypeLike | None
    shard_size: int
    split: str | Iterable[str] | Mapping[str, float] | None
    seed: int
    append: SpecialTokens | None
    prepend: SpecialTokens
    template: bool | None
    special: bool
    errors: Errors
    on_error: OnError


class Options:
    """The options of a run.

    `core` has them for the core, as `ShardOptions` in Rust, and `settings` those that decide what is written, as the
    manifest keeps them. `warning` says that documents have no token between them, if the tokenizer has a token for
    that, or a template.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        format: ShardFormat = "bin",
        dtype: DTypeLike | None = None,
        shard_size: int = DEFAULT_SHARD,
        split: str | Iterable[str] | Mapping[str, float] | None = None,
        seed: int = 0,
        append: SpecialTokens | None = None,
        prepend: SpecialTokens = (),
        template: bool | None = None,
        shuffle: int | None = None,
        shuffle_buffer: int = DEFAULT_BUFFER,
        pack: int | None = None,
        long: LongDocument = "split",
        pad: str | int | None = None,
        special: bool = True,
        conversations: Conversations | None = None,
        document_separator: str | None = None,
        errors: Errors = "strict",
        on_error: OnError = "stop",
        workers: int | None = None,
    ) -> None:
        arguments.one_of("format", format, ShardFormat)
        self.form = FORMATS[format]
        if format == "parquet":
            tables.arrow()
        wide = arguments.is_wide(dtype, tokenizer.max_id >= 2**16)
        shard_ids = _shard_ids(self.form, shard_size, wide, tokenizer)
        shares = _shares(split)
        has_layout = conversations is not None and bool(conversations.settings["templates"])
        if has_layout and template:
            raise ValueError("template is for texts, and conversations have a chat template")
        prepended, appended, self.warning = _ends(tokenizer, prepend, append, template)
        self.encoder, self.reading = tokenizer._core, None
        if conversations is not None:
            self.encoder, self.reading = conversations.encoder, (conversations.reading, conversations.read)
            if has_layout:
                self.warning = conversations.warning if append is None else None
        arguments.one_of("on_error", on_error, OnError)
        packing = _packing(tokenizer, self.form, (pack, long, pad), appended)
        buffer = _buffer(shuffle, shuffle_buffer, packing)
        if packing is not None:
            shard_ids = max(1, shard_ids // packing["length"]) * packing["length"]
        self.splits = [*shares, REMAINDER]
        self.dtype = "uint32" if wide else "uint16"
        self.core: dict[str, Any] = {
            "splits": _bounds(shares),
            "special": bool(special),
            "replace": arguments.replaces_invalid(errors),
            "skip": on_error == "skip",
            "wide": wide,
            "separator": arguments.checked_separator(document_separator),
            "prepend": _ids("prepend", prepended, tokenizer),
            "append": _ids("append", appended, tokenizer),
            "special_ids": _special_ids(tokenizer, conversations, special),
            "training": None if conversations is None else conversations.training,
            "seed": arguments.checked_seed("seed", seed),
            "buffer": buffer,
            "shard_size": shard_ids,
            "format": format,
            "workers": arguments.checked_workers(workers),
            "chunk_bytes": 1 << 20,
            "snapshot_seconds": 5.0,
        }
        self.settings = {
            "format": format,
            "dtype": self.dtype,
            "append": appended,
            "prepend": prepended,
            "template": bool(template),
            "shard_size": None if self.form.is_single else shard_ids,
            "split": shares,
            "seed": self.core["seed"],
            "shuffle": buffer and buffer["seed"],
            "shuffle_buffer": buffer and buffer["ids"],
            "pack": packing,
            "special": bool(special),
            "messages": None if conversations is None else conversations.settings,
            "document_separator": self.core["separator"],
            "errors": errors,
            "on_error": on_error,
        }


def _ends(
    tokenizer: Tokenizer, prepend: SpecialTokens, append: SpecialTokens | None, template: bool | None
) -> tuple[list[str | int], list[str | int], str | None]:
    """Return the tokens before and behind each document, and a warning if some seem to be missing."""
    prepended, appended = _names("prepend", prepend), _names("append", append)
    if appended == [NONE] and NONE not in tokenizer.special_tokens:
        appended = []
    own = None if tokenizer.pipeline is None else tokenizer.pipeline.template
    around = own.around() if own is not None and own.added() else None
    if template:
        if append is not None or prepended:
            raise ValueError("template puts its own tokens around each document: leave append and prepend out")
        if around is None:
            raise ValueError("template: the tokenizer has none that puts ids around a text")
        return [*around[0]], [*around[1]], None
    ids = (_ids("prepend", prepended, tokenizer), _ids("append", appended, tokenizer))
    if template is None and around not in (None, ids):
        advice = "choose template=True, or template=False"
        return (
            prepended,
            appended,
            f"the tokenizer has a template, whose tokens are not put around documents: {advice}",
        )
    end = tokenizer._core.end_of_text() if append is None and not prepended else None
    advice = "the documents have no token between them, and the tokenizer has one to end a text: choose"
    return prepended, appended, end and f'{advice} append="{end}", or append="{NONE}"'


def _special_ids(tokenizer: Tokenizer, conversations: Conversations | None, special: bool) -> list[int]:
    """Return the ids that are counted where text has become one."""
    if conversations is not None:
        return [*conversations.special_ids]
    return [*tokenizer.special_tokens.values()] if special else []


def _packing(
    tokenizer: Tokenizer,
    form: Format,
    options: tuple[int | None, LongDocument, str | int | None],
    appended: list[str | int],
) -> JsonObject | None:
    """Return how documents are packed into rows, as the core has it."""
    pack, long, pad = options
    arguments.one_of("long", long, LongDocument)
    if pack is None:
        if long != "split" or pad is not None:
            raise ValueError("long and pad are for rows: choose their length with pack=N")
        return None
    if form.name == "parquet":
        raise ValueError(
            "pack is for formats of bare ids: a Parquet file has a row for each document; to_parquet of "
            "toksmith.data.open(folder).rows(length) writes packed rows"
        )
    if pad is None:
        pad = appended[-1] if appended else tokenizer._core.end_of_text()
    length, names = arguments.checked_limit("pack", pack, 1), _names("pad", pad)
    if len(names) != 1:
        raise ValueError(f"pack={length} fills rows with one special token: name it with pad=…, or with append=…")
    return {"length": length, "long": long, "pad": _ids("pad", names, tokenizer)[0]}


def _buffer(shuffle: int | None, shuffle_buffer: int, packing: JsonObject | None) -> JsonObject | None:
    """Return the buffer in which documents are shuffled or packed, as the core has it."""
    size = arguments.checked_limit("shuffle_buffer", shuffle_buffer, 1)
    if packing is not None and packing["length"] > size:
        raise ValueError(f"pack is at most shuffle_buffer, {size:,} ids, not {packing['length']:,}")
    seed = None if shuffle is None else arguments.checked_seed("shuffle", shuffle)
    return None if seed is None and packing is None else {"seed": seed, "ids": size, "pack": packing}


def _shard_ids(form: Format, shard_size: int, wide: bool, tokenizer: Tokenizer) -> int:
    """Return the number of ids at which a shard is closed, if the format can have the ids of the tokenizer."""
    limit = arguments.checked_limit("shard_size", shard_size, 1)
    if limit > form.max_ids:
        raise ValueError(f"shard_size is at most {form.max_ids:,} in the format {form.name}, not {limit:,}")
    if form.name == "megatron" and wide and tokenizer.max_id >= 2**31:
        raise ValueError(f"megatron has no ids of 2^31 or more, and the tokenizer has {tokenizer.max_id}")
    if not form.is_single:
        return limit
    if tokenizer.max_id >= 2**16:
        raise ValueError(
            f"nanoGPT reads ids of uint16, up to 65,535, and the tokenizer has ids up to {tokenizer.max_id:,}: "
            "choose another format, or a smaller tokenizer"
        )
    if wide:
        raise ValueError("dtype must be uint16 in the format nanogpt, not uint32")
    if limit != DEFAULT_SHARD:
        raise ValueError("shard_size is for other formats than nanogpt, which has one file for each split")
    return form.max_ids


def _shares(split: str | Iterable[str] | Mapping[str, float] | None) -> dict[str, float]:
    """Return the share of each split by its name, from a mapping or from texts such as "val=0.01"."""
    pairs: Iterable[tuple[object, str | float]]
    if isinstance(split, Mapping):
        pairs = split.items()
    elif not isinstance(split, (str, Iterable, NoneType)):
        raise TypeError(f'split is names with their shares, such as {{"val": 0.01}}, not {shown(split)}')
    else:
        pairs = map(_pair, [split] if isinstance(split, str) else split or [])
    shares: dict[str, float] = {}
    for key, value in pairs:
        if not isinstance(key, str) or not _NAME.fullmatch(key) or key == REMAINDER or key in shares:
            raise ValueError(f"split: {shown(key)} is not a valid name of a split, is repeated, or is {REMAINDER!r}")
        try:
            shares[key] = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"split: the share of {key} must be a number, not {shown(value)}") from None
        if not 0 < shares[key] < 1:
            raise ValueError(f"split: the share of {key} must be between 0 and 1, not {shown(value)}")
    if sum(map(Fraction, shares.values())) >= 1:
        raise ValueError("split: the shares add up to 1 or more, so no document is left for 'train'")
    return shares


def _pair(text: object) -> tuple[str, str]:
    name, equals, share = str(text).partition("=")
    if not equals:
        raise ValueError(f"split must be a name and a share, such as val=0.01, not {shown(text)}")
    return name, share


def _bounds(shares: dict[str, float]) -> list[tuple[str, int]]:
    """Return a bound for each split: documents with a hash below it are in this split, or in one before it."""
    total, bounds = Fraction(0), []
    for name, share in shares.items():
        total += Fraction(share)
        bounds.append((name, int(total * _HASHES)))
    return [*bounds, (REMAINDER, _HASHES - 1)]


def _names(option: str, tokens: SpecialTokens | None) -> list[str | int]:
    if tokens is None:
        return []
    if isinstance(tokens, (str, int)):
        tokens = [tokens]
    if not isinstance(tokens, Iterable):
        raise TypeError(f"{option} is a special token, or a list of them, not {type(tokens).__name__}")
    return [token if isinstance(token, str) else arguments.whole(f"{option}: an id", token) for token in tokens]


def _ids(option: str, names: list[str | int], tokenizer: Tokenizer) -> list[int]:
    specials = tokenizer.special_tokens
    for name in names:
        if isinstance(name, int):
            try:
                tokenizer.token_bytes(name)
            except KeyError:
                raise ValueError(f"{option}: the tokenizer has no id {name}") from None
        elif name not in specials:
            known = ", ".join(map(shown, list(specials)[:8])) or "none"
            raise ValueError(f"{option}: {shown(name)} is not a special token of the tokenizer, which has {known}")
    return [name if isinstance(name, int) else specials[name] for name in names]
