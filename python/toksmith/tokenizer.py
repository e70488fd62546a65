"""`Tokenizer`: text to ids and back."""

from __future__ import annotations

import errno
import functools
import itertools
import os
import pickle
import random
import types
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypedDict, TypeVar, overload

from . import patterns
from ._core import FORMATS, MARKS, Continuations, DecodeStream, Document, Pipeline
from ._core import Tokenizer as CoreTokenizer
from ._internal import arguments, choices
from ._internal.choices import Boundary, Errors, FileFormat, Side, Unmatched
from ._internal.messages import counted, shown
from ._internal.progress import Report, reporter
from .encoding import text_streaming
from .files import inputs, whole_files
from .formats import sources, templates, verification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray
    from typing_extensions import Buffer, Self, Unpack

    from .chat.conversation import Conversation

    Messages = Iterable[Mapping[str, Any]]
    Ids = Iterable[int] | NDArray[np.integer]

StrPath = str | os.PathLike[str]
Pairs = Iterable[tuple[bytes, bytes]]
Specials = Iterable[str] | Mapping[str, int]
SpecialToken = str | EllipsisType | None
Item = TypeVar("Item", covariant=True)

# Bytes of a file per read; None leaves it to the core. Tests make it small, so that short texts span several reads.
WINDOW_BYTES: int | None = None
# How often `text_of` tries, and how many pieces in a row may add no token: each time twice as many are added.
_ATTEMPTS = 100
_MAX_MISSES = 12

_cores: weakref.WeakValueDictionary[int, CoreTokenizer] = weakref.WeakValueDictionary()
"""The tokenizers of this process by address. Unpickling one of them shares it, and reads nothing."""


class EncodedPair(NamedTuple):
    """Ids with a border: what `Tokenizer.encode_pair` and `Tokenizer.append` return.

    Attributes:
        ids: All ids.
        border: How many of them are before the border.
        crosses: Whether the whole text, encoded at once, has a token with bytes of both sides.
    """

    ids: list[int]
    border: int
    crosses: bool


class FileOptions(TypedDict, total=False):
    """The options of `Tokenizer.encode_file`."""

    dtype: DTypeLike | None
    workers: int | None
    special: bool
    errors: Errors
    progress: bool | Report


class ListView(Sequence[Item]):
    """A list that cannot be changed. Equal to any list, tuple or view of the same items.

    >>> view = ListView([(b"a", b"b")])
    >>> view == [(b"a", b"b")], view[0], len(view)
    (True, (b'a', b'b'), 1)
    """

    __slots__ = ("_items",)

    def __init__(self, items: list[Item]) -> None:
        self._items = items

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ListView):
            return self._items == other._items
        if isinstance(other, (list, tuple)):
            return self._items == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._items)


class Tokenizer:
    """A byte-level BPE tokenizer: a vocabulary, merges, special tokens and a pattern. Immutable.

    The constructor is that of Stanford CS336's assignment 1; `Tokenizer()` is the bare 256 bytes.

    Special tokens in a text become their ids: every method that takes text has `special=False` to read them as
    ordinary text instead. No method raises because of a special token.

    Args:
        vocab: Token bytes by id. All 256 single bytes must be there.
        merges: Pairs of tokens in the order in which they merge. None means rank semantics, as in
            tiktoken's files: any adjacent pair whose bytes are a token merges, the lowest id first, and
            a pretoken that is a token is encoded to that token.
        special_tokens: Names, or name → id. A name that the vocabulary has keeps its id (the lower of two); a new
            name gets the next id above all others, in order. A name that equals a token that merging needs gets an
            id of its own. A token of the vocabulary that is not listed is ordinary. Each name has at most 4,096
            bytes, all together at most 16 MiB.
        pattern: What cuts text into pretokens: a name (see `toksmith.patterns`), a regular expression for the
            `regex` package, a compiled one, or None to cut only at special tokens.
        unmatched: What becomes of text that the pattern does not match: "keep" makes it pieces of its
            own, "drop" loses it, as `re.findall` does.
        ignore_merges: Whether, with merges, a pretoken that is a token is encoded to that token before any merge
            (`ignore_merges` of Hugging Face's models). Without merges it always is.

    Raises:
        ValueError: The vocabulary, the merges, the special tokens or the pattern are not consistent; the
            message names the token or the merge.

    >>> vocab = {i: bytes([i]) for i in range(256)} | {256: b"th", 257: b"the"}
    >>> tokenizer = Tokenizer(vocab, [(b"t", b"h"), (b"th", b"e")])
    >>> tokenizer.encode("the thing")
    [257, 32, 256, 105, 110, 103]
    >>> tokenizer.decode([257, 32, 256])
    'the th'
    """

    __slots__ = ("__weakref__", "_continuations", "_core", "_merges", "_vocab")

    _continuations: Continuations | None
    _core: CoreTokenizer
    _merges: list[tuple[bytes, bytes]] | None
    _vocab: dict[int, bytes] | None

    def __init__(
        self,
        vocab: Mapping[int, bytes] | None = None,
        merges: Pairs | None = None,
        special_tokens: Specials | None = None,
        *,
        pattern: object = "gpt2",
        unmatched: Unmatched = "keep",
        ignore_merges: bool = False,
    ) -> None:
        if vocab is None:
            vocab, merges = {byte: bytes([byte]) for byte in range(256)}, merges or []
        resolved = patterns.resolve(pattern, unmatched)
        if not isinstance(vocab, Mapping):
            raise TypeError(
                f"vocab is a mapping of ids to bytes, not {type(vocab).__name__}: {shown(vocab)}; "
                "Tokenizer.from_pretrained takes names and paths"
            )
        core = CoreTokenizer(
            dict(vocab),
            None if merges is None else arguments.listed("merges", merges, "pairs of bytes"),
            arguments.special_list(special_tokens),
            resolved.core(),
            ignore_merges,
        )
        self._fill(core)

    @classmethod
    def _of(cls, core: CoreTokenizer) -> Self:
        """Return the tokenizer of a core, with the warnings of loading it."""
        made = cls.__new__(cls)
        made._fill(core)
        for warning in core.warnings:
            warnings.warn(warning, stacklevel=3)
        return made

    def _fill(self, core: CoreTokenizer) -> None:
        if hasattr(self, "_core"):
            raise AttributeError("a Tokenizer is immutable: it is made once; make a new one")
        for name, value in (("_core", core), ("_continuations", None), ("_merges", None), ("_vocab", None)):
            object.__setattr__(self, name, value)
        _cores[id(core)] = core

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Tokenizer is immutable: cannot set {name!r}; make a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Tokenizer is immutable: cannot delete {name!r}")

    # Text to ids

    def encode(
        self,
        text: str | Buffer,
        *,
        special: bool = True,
        workers: int | None = None,
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[int]:
        r"""Return the ids of `text`. A long text is encoded on up to `workers` threads (default: all cores).

        For text that you do not trust pass `special=False`, or use `encode_parts`: the author of a text with special
        tokens in it could end a document, or speak for another role of a chat.

        Args:
            text: A text, or bytes that need not be UTF-8. A byte that is not part of valid UTF-8 is a character of
                its own that is no letter, number or space, as in `data.decode("utf-8", "surrogateescape")`;
                `decode_bytes` gives it back.
            special: Whether special tokens become their ids.
            workers: Threads; default: all cores.
            dropout: The probability that a possible merge is left out at each step (BPE-dropout, arXiv:1910.13267),
                for texts to train a model on. The text is a str then, and encoded on one thread, without the cache;
                no pretoken is looked up whole.
            seed: The seed of these choices, with which the result is always the same; default: a new one.

        Raises:
            ValueError: The text has a lone surrogate, which has no UTF-8; names the place. Or there is a dropout, and
                the tokenizer merges by the names of its tokens (docs/huggingface.md).

        >>> Tokenizer().encode("é"), Tokenizer().encode(b"\xff")
        ([195, 169], [255])
        >>> tokenizer = Tokenizer({**Tokenizer().vocab, 256: b"lo", 257: b"low"}, [(b"l", b"o"), (b"lo", b"w")])
        >>> [tokenizer.encode("low", dropout=0.5, seed=seed) for seed in range(3)]
        [[256, 119], [108, 111, 119], [257]]
        """
        if dropout:
            return self.encode_batch([arguments.checked_text(text)], special=special, dropout=dropout, seed=seed)[0]
        limit = None if workers is None else arguments.checked_workers(workers)
        try:
            return self._core.encode(text, special, limit)  # type: ignore[arg-type]
        except TypeError:
            if isinstance(text, str):
                raise
        try:
            data = arguments.as_bytes(text)
        except TypeError:
            arguments.checked_text(text)  # whose error names what takes several texts
            raise
        return self._core.encode_bytes(data, special, limit)

    def encode_to_numpy(
        self,
        text: str,
        *,
        special: bool = True,
        workers: int | None = None,
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> NDArray[np.uint32]:
        """Return the ids of `text` as an array of `uint32`, shape (n,); with the options of `encode`."""
        if dropout:
            return self._encode_randomly([text], special, workers, dropout, seed)[0]
        return self._core.encode_to_numpy(
            text, special, None if workers is None else arguments.checked_workers(workers)
        )

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        special: bool = True,
        workers: int | None = None,
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[list[int]]:
        """Return the ids of each text, encoded on up to `workers` threads (default: all cores).

        `dropout` and `seed` are those of `encode`. The choices depend on the number of the text, not on `workers`.
        """
        if dropout:
            ids, starts = self._encode_randomly(texts, special, workers, dropout, seed)
            return [ids[start:end].tolist() for start, end in itertools.pairwise(starts)]
        return self._core.encode_batch(arguments.checked_batch(texts), special, arguments.checked_workers(workers))

    def encode_batch_to_numpy(
        self,
        texts: Iterable[str],
        *,
        special: bool = True,
        workers: int | None = None,
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the ids of all texts in one array, and where each starts; with the options of `encode_batch`.

        Returns:
            `ids`, `uint32` of shape (total,), and `starts`, `int64` of shape (number of texts + 1,): text `i`
            is `ids[starts[i]:starts[i + 1]]`.
        """
        if dropout:
            return self._encode_randomly(texts, special, workers, dropout, seed)
        return self._core.encode_batch_to_numpy(
            arguments.checked_batch(texts, "encode_batch_to_numpy"), special, arguments.checked_workers(workers)
        )

    def _encode_randomly(
        self, texts: Iterable[str], special: bool, workers: int | None, dropout: float, seed: int | None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        number = int.from_bytes(os.urandom(8), "little") if seed is None else arguments.checked_seed("seed", seed)
        if not 0 <= (rate := arguments.fraction("dropout", dropout)) <= 1:
            raise ValueError(f"dropout is a probability from 0 to 1, not {shown(dropout)}")
        if self._core.is_spelled():
            raise ValueError(
                "a tokenizer that merges by the names of its tokens has no dropout but that of its model: see "
                "from_huggingface(dropout_seed=)"
            )
        limit = arguments.checked_workers(workers)
        return self._core.encode_batch_to_numpy(arguments.checked_batch(texts), special, limit, (rate, number))

    @overload
    def encode_file(self, path: StrPath, out: None = None, **options: Unpack[FileOptions]) -> NDArray[Any]: ...
    @overload
    def encode_file(self, path: StrPath, out: StrPath, **options: Unpack[FileOptions]) -> int: ...

    def encode_file(
        self,
        path: StrPath,
        out: StrPath | None = None,
        *,
        dtype: DTypeLike | None = None,
        workers: int | None = None,
        special: bool = True,
        errors: Errors = "strict",
        progress: bool | Report = False,
    ) -> NDArray[np.unsignedinteger] | int:
        """Return the ids of a UTF-8 file as an array, or write them to a file.

        The ids are those of `encode` of the whole file, whose bytes are taken as they are: no newline is translated,
        a byte order mark stays. The file is read in windows, and memory does not grow with its size; but under a
        pattern that runs in `regex`, and under no pattern, it is read and encoded in one piece.

        Args:
            path: The file. It must not change while it is read.
            out: The file to write. With the suffix `.npy` it is a file for `numpy.load`, else the bare numbers,
                little-endian, for `numpy.fromfile` and `numpy.memmap`. In the end it has all ids, or is as it was
                before.
            dtype: `uint16` or `uint32`. By default an array is `uint32`, and a file `uint16` if no id of the
                tokenizer needs more.
            workers: Threads; default: all cores.
            special: Whether special tokens become their ids.
            errors: "strict" refuses a file that is not UTF-8, "replace" reads invalid bytes as U+FFFD.
            progress: True shows a bar on standard error; a callable gets (stage, done, total).

        Returns:
            The array, of shape (n,); with `out`, n.

        Raises:
            OSError: A file cannot be read or written, or its size or its time of change changes while it is read.
            ValueError: The file is not UTF-8 (names file and byte); it is Parquet, an archive, compressed or
                otherwise no plain text, or its name is that of JSON lines; `out` is the file itself; or an id does
                not fit into `dtype`.
        """
        source, target = arguments.path_of("path", path), None if out is None else arguments.path_of("out", out)
        threads, replace = arguments.checked_workers(workers), arguments.replaces_invalid(errors)
        inputs.check_plain(source, "a text is for encode")
        wide = arguments.is_wide(dtype, out is None or self.max_id >= 2**16)
        options: dict[str, Any] = {"wide": wide, "workers": threads, "special": special, "replace": replace}
        with reporter(progress) as report:
            encode: Callable[..., NDArray[Any] | int] = functools.partial(
                self._core.encode_file, source, progress=report, window_bytes=WINDOW_BYTES, **options
            )
            if target is None:
                return encode(out=None)
            whole_files.check_not_read(target, [source])
            with whole_files.replacing(target) as temporary:
                return encode(out=(temporary, target))

    @overload
    def encode_iterable(
        self, iterable: Iterable[str], *, special: bool = True, arrays: Literal[False] = False, workers: None = None
    ) -> Iterator[int]: ...
    @overload
    def encode_iterable(
        self, iterable: Iterable[str], *, special: bool = True, arrays: Literal[True], workers: int | None = None
    ) -> Iterator[NDArray[np.uint32]]: ...
    def encode_iterable(
        self, iterable: Iterable[str], *, special: bool = True, arrays: bool = False, workers: int | None = None
    ) -> Iterator[int] | Iterator[NDArray[np.uint32]]:
        """Yield the ids of the joined pieces, wherever they are cut, without ever joining them.

        For the named patterns about the longest pretoken and the longest special token are held back. For a compiled
        pattern it is all text since the last place where it may be cut: for most patterns, a word that a space
        follows. For a pattern that runs in `regex` (`patterns.explain` says why), and for no pattern, it is all text
        since the last special token.

        Args:
            iterable: The pieces.
            special: Whether special tokens become their ids.
            arrays: Whether to yield arrays of `uint32` instead of single ids. Then pieces are gathered until they are
                some megabytes, and encoded on all threads where the pattern allows cuts.
            workers: The maximum number of threads for arrays; default: all cores.

        >>> list(Tokenizer().encode_iterable(["a", "b"]))
        [97, 98]
        >>> [ids.tolist() for ids in Tokenizer().encode_iterable(["a", "b"], arrays=True)]
        [[97, 98]]
        """
        threads = arguments.checked_workers(workers)
        if isinstance(iterable, (bytes, os.PathLike)) or not isinstance(iterable, Iterable):
            hint = ": encode_file takes a path" if isinstance(iterable, os.PathLike) else ""
            kind = f"{type(iterable).__name__}{hint}"
            raise TypeError(f"iterable is an iterable of str, such as an open file, not {kind}")
        if arrays:
            return text_streaming.arrays(self._core, iterable, special, threads)
        return itertools.chain.from_iterable(text_streaming.lists(self._core, iterable, special))

    def encode_with_offsets(
        self, text: str, *, unit: Literal["characters", "bytes"] = "characters", special: bool = True
    ) -> tuple[list[int], NDArray[np.int64]]:
        """Return the ids of `text`, and the place of each.

        Returns:
            `ids`, and `spans`, `int64` of shape (n, 2): start and end of each id. In characters, an id that starts
            inside a character starts at that character, and an id that ends inside a character ends after it; in
            bytes (of the UTF-8) both are exact.
        """
        if unit not in ("characters", "bytes"):
            raise ValueError(f'unit is "characters" or "bytes", not {shown(unit)}')
        return self._core.encode_with_offsets(text, special, unit == "characters")

    def encode_parts(self, parts: Iterable[tuple[str, bool]]) -> list[int]:
        """Return the ids of the joined parts, with special tokens only where the text is trusted.

        Args:
            parts: (`str`, `bool`) pairs: a text, and whether it is trusted. Neighbouring trusted parts count as one;
                empty parts do not count. A special token becomes its id only if it lies wholly inside a trusted part;
                all other text is ordinary.

        >>> chat = Tokenizer(None, None, ["<|end|>"])
        >>> chat.encode_parts([("<|end|>", False), ("<|end|>", True)]) == [*b"<|end|>", 256]
        True
        """
        if isinstance(parts, (str, bytes, Mapping)):
            raise TypeError(f"parts is a list of (text, trusted) pairs, not {type(parts).__name__}")
        checked: list[tuple[str, bool]] = []
        for at, part in enumerate(parts):
            if not isinstance(part, (tuple, list)) or len(part) != 2:
                raise TypeError(
                    f"part {at} is {shown(part)}: write a pair of a str and a bool, such as ('hi', False)"
                )
            text, trusted = part
            if not isinstance(text, str) or not isinstance(trusted, bool):  # nothing but True and False says so
                kinds = f"({type(text).__name__}, {type(trusted).__name__})"
                raise TypeError(f"part {at} is {kinds}: write (str, bool), where True means that the text is trusted")
            checked.append((text, trusted))
        marks = b"".join(bytes([MARKS["TRUSTED"] * trusted]) * len(text) for text, trusted in checked)
        try:
            return self._core.encode_marked("".join(text for text, _ in checked), marks, 0)[0]
        except ValueError:
            for text, _ in checked:  # a lone surrogate has its place in its part
                self._core.count(text, False)
            raise

    def encode_pair(
        self, prompt: str, completion: str, boundary: Boundary = "joint", *, special: bool = True
    ) -> EncodedPair:
        """Return the ids of a prompt and the completion behind it, and where those of the prompt end.

        Args:
            prompt: The text before the border.
            completion: The text behind it.
            boundary: "joint" gives the ids of the whole text, and a token across the border belongs to the
                completion, as for harnesses that score. "split" encodes both alone, as servers do. "heal" encodes the
                unstable end of the prompt (see `Continuations.heal`) with the completion, as constrained decoding
                does.
            special: Whether special tokens become their ids.

        >>> vocab = {i: bytes([i]) for i in range(256)} | {256: b"lo"}
        >>> tokenizer = Tokenizer(vocab, [(b"l", b"o")])
        >>> tokenizer.encode_pair("a l", "ow")
        EncodedPair(ids=[97, 32, 256, 119], border=2, crosses=True)
        >>> tokenizer.encode_pair("a l", "ow", "split").ids
        [97, 32, 108, 111, 119]
        """
        arguments.one_of("boundary", boundary, Boundary)
        how: bool | Continuations = boundary == "joint"
        if boundary == "heal":
            how = self._continuations or Continuations(self)
            object.__setattr__(self, "_continuations", how)
        return EncodedPair(*self._core.encode_pair(prompt, completion, special, how))

    def append(self, ids: Ids, text: str, *, special: bool = True) -> EncodedPair:
        """Return `ids`, unchanged, with those of `text` behind them: what a model sees after it sampled `ids`.

        The text is encoded as one that goes on, so it gets no space in front where a tokenizer adds one. Ids that the
        tokenizer lacks stay. `crosses` says whether encoding the text behind the last special id anew would make a
        token across the border: then the model sees other ids than those it was trained on.

        >>> Tokenizer().append([104, 105, 999], "!")
        EncodedPair(ids=[104, 105, 999, 33], border=3, crosses=False)
        """
        return EncodedPair(*self._core.append(ids, text, special))

    def mask_of_spans(
        self, text: str, spans: Iterable[tuple[int, int]], *, special: bool = True
    ) -> tuple[list[int], NDArray[np.bool_]]:
        """Return the ids of `text`, and which of them have a character in one of `spans`, (start, end) in characters.

        >>> ids, mask = Tokenizer().mask_of_spans("a: bc", [(3, 5)])
        >>> mask.tolist()
        [False, False, False, True, True]
        """
        import numpy as np

        ids, offsets = self.encode_with_offsets(text, special=special)
        marks = np.zeros(len(text) + 1, np.int64)
        for start, end in spans:
            if not 0 <= start <= end <= len(text):
                raise ValueError(f"span ({start}, {end}) is not within the {len(text)} characters of the text")
            marks[start:end] = 1
        before = np.concatenate(([0], np.cumsum(marks)))
        return ids, before[offsets[:, 1]] > before[offsets[:, 0]]

    def count(self, text: str, *, special: bool = True, workers: int | None = None) -> int:
        """Return how many ids `text` has, without building them; on up to `workers` threads, as `encode` does."""
        return self._core.count(text, special, None if workers is None else arguments.checked_workers(workers))

    def document(self, text: str = "", *, special: bool = True) -> Document:
        """Return a `Document`: a text that changes, always with the ids of the whole.

        >>> document = Tokenizer().document("a cat")
        >>> document.replace(2, 5, "dog")
        >>> document.text, bytes(document.ids.tolist()), document.changed
        ('a dog', b'a dog', 2)
        """
        return Document(self, text, special=special)

    # Conversations

    @overload
    def apply_chat_template(self, messages: Messages, **options: Any) -> str: ...
    @overload
    def apply_chat_template(self, messages: Sequence[Messages], **options: Any) -> list[str]: ...
    def apply_chat_template(self, messages: Any, **options: Any) -> str | list[str]:
        """Return the text of a conversation, as `apply_chat_template(messages, tokenize=False)` of `transformers`.

        Templates come with a Hugging Face folder or a GGUF file, and run in the sandbox of `jinja2` (`pip install
        'toksmith[chat]'`).

        Args:
            messages: Mappings with a `role` and `content`, and whatever else the template reads. Lists of messages
                give a list of texts.
            **options: `tools` (JSON schemas, or Python functions, of which `transformers` makes schemas), `documents`
                (mappings), `chat_template` (a name or a source; by default "tool_use" with tools, else "default"),
                `add_generation_prompt` (whether the beginning of an answer follows), `continue_final_message`
                (whether the text ends with the `content` of the last message; or the name of another field). All
                others are variables of the template, among them `bos_token` and the like in place of those of the
                tokenizer, and `strftime_now`, a date such as "2026-11-29" in place of today.

        Raises:
            ImportError: `jinja2` is not installed.
            ValueError: The tokenizer has no template, or the template refuses the messages or fails; says why.
        """
        if isinstance(messages, (list, tuple)) and isinstance(next(iter(messages), None), (list, tuple)):
            return [self._conversation(each, options).text for each in messages]
        return self._conversation(messages, options).text

    @overload
    def encode_messages(
        self, messages: Messages, *, assistant_mask: Literal[False] = False, **options: Any
    ) -> list[int]: ...
    @overload
    def encode_messages(
        self, messages: Messages, *, assistant_mask: Literal[True], **options: Any
    ) -> tuple[list[int], NDArray[np.bool_]]: ...
    def encode_messages(
        self, messages: Messages, *, trusted: Iterable[str] = (), assistant_mask: bool = False, **options: Any
    ) -> list[int] | tuple[list[int], NDArray[np.bool_]]:
        """Return the ids of a conversation, in which messages cannot speak for the template.

        Special tokens become their ids only in what the template itself writes, in roles, and in variables such as
        `bos_token`. In messages, tools, documents and other variables they are text, and so are other added tokens
        that the template writes.

        Args:
            messages: As in `apply_chat_template`.
            trusted: Roles whose messages may also have special tokens, such as "assistant".
            assistant_mask: Whether to return which ids the assistant wrote as well: those in `{% generation %}`
                blocks, or, if the template has no such block, those with text of the assistant's messages.
            **options: As in `apply_chat_template`.

        Returns:
            The ids; with `assistant_mask`, the ids and an array of `bool` of shape (n,).

        Raises:
            ValueError: As in `apply_chat_template`; or the template rewrites text with special tokens, so that it is
                not known who wrote them.
        """
        conversation = self._conversation(messages, {**options, "trusted": trusted})
        return conversation.ids_and_mask() if assistant_mask else conversation.ids()

    def count_messages(
        self,
        messages: Messages,
        *,
        trusted: Iterable[str] = (),
        image_tokens: Callable[[Mapping[str, Any]], int] | None = None,
        **options: Any,
    ) -> int:
        """Return how many ids `encode_messages` returns.

        Args:
            messages: As in `apply_chat_template`.
            trusted: As in `encode_messages`.
            image_tokens: What an image costs beside what the template writes for it: it gets each block of a content
                that has an image, such as `{"type": "image_url", ...}`, and returns a number.
            **options: As in `apply_chat_template`.
        """
        rows = list(arguments.listed("messages", messages, "mappings"))
        count = len(self._conversation(rows, {**options, "trusted": trusted}).ids())
        if image_tokens is not None:
            from .chat.conversation import images_of

            count += sum(map(image_tokens, images_of(rows)))
        return count

    def _conversation(self, messages: Messages, options: dict[str, Any]) -> Conversation:
        from .chat.conversation import conversation

        return conversation(self._core, messages, **options)

    def truncate(self, text: str, max_tokens: int, *, special: bool = True, side: Side = "right") -> str:
        """Return the longest prefix of at most `max_tokens` whole tokens of `encode(text)`.

        The prefix ends on a character boundary, and is shortened until it has no more tokens on its own. `side` is
        where the text is cut: "left" keeps its end.
        """
        arguments.one_of("side", side, Side)
        limit = arguments.checked_limit("max_tokens", max_tokens, 0)
        return self._core.truncate(text, limit, special, side == "left")

    def truncate_batch(
        self,
        texts: Iterable[str],
        max_tokens: int,
        *,
        special: bool = True,
        side: Side = "right",
        workers: int | None = None,
    ) -> list[str]:
        """Return what `truncate` returns for each text, on up to `workers` threads (default: all cores)."""
        arguments.one_of("side", side, Side)
        batch, threads = arguments.checked_batch(texts, "truncate_batch"), arguments.checked_workers(workers)
        limit = arguments.checked_limit("max_tokens", max_tokens, 0)
        return self._core.truncate_batch(batch, limit, special, side == "left", threads)

    def text_of(self, tokens: int, text: str | None = None, *, seed: int = 0) -> str:
        """Return a text that encodes to exactly so many tokens, for load tests.

        Args:
            tokens: The number of ids of `encode(text_of(tokens))`.
            text: What is repeated and cut; by default, the texts of random tokens follow each other.
            seed: The seed of these tokens.

        Raises:
            ValueError: No such text was found.

        >>> tokenizer = Tokenizer(pattern="gpt2")
        >>> tokenizer.text_of(12, "lorem ipsum ")
        'lorem ipsum '
        >>> tokenizer.count(tokenizer.text_of(1000))
        1000
        """
        limit = arguments.checked_limit("tokens", tokens, 0)
        tokens_of_piece = 1 if text is None else self.count(text)
        if not tokens_of_piece:
            raise ValueError("text has no tokens: give another, or None for random ones")
        pieces = self._random_texts(seed) if text is None else itertools.repeat(text)
        made, count = "", 0
        for _ in range(_ATTEMPTS):
            misses = 0  # rounds in a row without a new token, as of unknown characters that are one together
            while count < limit and misses < _MAX_MISSES:
                made += "".join(itertools.islice(pieces, max(-(-(limit - count) // tokens_of_piece), 1 << misses)))
                before, count = count, self.count(made)
                misses = misses + 1 if count <= before else 0
            if count < limit:
                break
            made = self.truncate(made, limit)
            count = self.count(made)
            if count == limit:
                return made
        raise ValueError(f"no text of exactly {counted(limit, 'token')} was found")

    def _random_texts(self, seed: int) -> Iterator[str]:
        """Yield the texts of random tokens that can be read, and that are one token each."""
        ids, rng, misses = list(self.vocab), random.Random(seed), 0
        while misses < _MAX_MISSES * len(ids):
            id, misses = rng.choice(ids), misses + 1
            text = self.decode([id])
            if text.isprintable() and self.encode(text, special=False) == [id]:
                misses = 0
                yield text

    def split(self, text: str, max_tokens: int, overlap: int = 0, *, special: bool = True) -> list[str]:
        """Cut `text` into successive pieces; each is the result of `truncate` on the rest.

        Each piece starts at most `overlap` tokens before the end of the previous one; without overlap the pieces join
        to the text.

        Raises:
            ValueError: One character alone has more than `max_tokens` tokens; names its place.
        """
        limit = arguments.checked_limit("max_tokens", max_tokens, 1)
        back = arguments.checked_limit("overlap", overlap, 0)
        if back >= limit:
            raise ValueError(f"overlap ({back}) must be less than max_tokens ({limit}), or no piece would be new")
        return self._core.split(text, limit, back, special)

    # Ids to text

    def decode(self, ids: Ids, errors: str = "replace", *, skip_special: bool = False) -> str:
        """Return the text of `ids`; bytes that are not UTF-8 follow `errors`, as in `bytes.decode`.

        Args:
            ids: A list, any iterable of int, or an array of integers.
            errors: "replace" gives U+FFFD for such bytes, "strict" raises `UnicodeDecodeError`, …
            skip_special: Whether special tokens are left out. Ordinary added tokens are not special.

        Raises:
            KeyError: An id has no token; names the id and its index.
        """
        return self._core.decode(ids, errors, skip_special)

    def decode_bytes(self, ids: Ids, *, skip_special: bool = False) -> bytes:
        """Return the bytes of `ids`: the exact inverse of encoding, unless special tokens are left out."""
        return self._core.decode(ids, None, skip_special)

    def decode_batch(
        self,
        batch: Iterable[Ids] | Ids,
        errors: str = "replace",
        *,
        starts: Iterable[int] | None = None,
        skip_special: bool = False,
    ) -> list[str]:
        """Return the text of each list of ids.

        Args:
            batch: Lists, or arrays, of ids; with `starts`, one array of ids.
            errors: As in `decode`.
            starts: Where each text starts in the array, and where the last one ends, as `encode_batch_to_numpy`
                returns them.
            skip_special: As in `decode`.

        Raises:
            KeyError: An id has no token; names the id and its index in its text.
            ValueError: `starts` do not rise, or are not within the array.

        >>> tokenizer = Tokenizer()
        >>> ids, starts = tokenizer.encode_batch_to_numpy(["ab", "c"])
        >>> tokenizer.decode_batch([[97, 98], [99]]) == tokenizer.decode_batch(ids, starts=starts)
        True
        """
        if starts is not None:
            ids: Any = batch
            places = [0]
            for start in starts:
                if not places[-1] <= start <= len(ids):
                    raise ValueError(f"starts must rise within 0 to {len(ids)}, the number of ids")
                places.append(start)
            batch = [ids[start:end] for start, end in itertools.pairwise(places[1:])]
        rows = arguments.checked_batch(batch, "decode_batch", "lists of ids")
        return self._core.decode_batch(rows, errors, skip_special)

    @overload
    def decode_stream(
        self, ids: None = None, *, prompt: Ids = (), errors: str = "replace", skip_special: bool = False
    ) -> DecodeStream: ...
    @overload
    def decode_stream(
        self, ids: Iterable[int], *, prompt: Ids = (), errors: str = "replace", skip_special: bool = False
    ) -> Iterator[str]: ...

    def decode_stream(
        self,
        ids: Iterable[int] | None = None,
        *,
        prompt: Ids = (),
        errors: str = "replace",
        skip_special: bool = False,
    ) -> DecodeStream | Iterator[str]:
        """Decode ids that arrive one by one, never half a character.

        Args:
            ids: Ids whose text is yielded piece by piece. Without them, the call returns a `DecodeStream` to push ids
                into.
            prompt: Ids that came before; their text is not returned again.
            errors: As in `decode`. `DecodeStream` has more options.
            skip_special: As in `decode`.

        >>> list(Tokenizer().decode_stream(iter("é!".encode())))
        ['é', '!']
        """
        stream = DecodeStream(self, prompt=prompt, errors=errors, skip_special=skip_special)
        return stream if ids is None else stream.pieces(ids)

    # What it is made of

    def token_bytes(self, id: int) -> bytes:
        """Return the bytes of a token; `KeyError` if no token has this id."""
        return self._core.token_bytes(id)

    def token_id(self, token: Buffer | str) -> int:
        """Return the id of a token by its bytes; if a special token has the same bytes, the id of the ordinary one.

        Raises:
            KeyError: There is no such token.
        """
        if isinstance(token, str):
            return self._core.token_id(token.encode())
        try:
            return self._core.token_id(arguments.as_bytes(token))
        except TypeError:
            raise TypeError(f"a token is bytes or str, not {type(token).__name__}: {shown(token)}") from None

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Token bytes by id, special tokens included; read-only."""
        if self._vocab is None:
            object.__setattr__(self, "_vocab", self._core.vocab())
        return types.MappingProxyType(self._vocab or {})

    @property
    def merges(self) -> Sequence[tuple[bytes, bytes]]:
        """The merges in order; read-only. Under rank semantics, the pair that each token's bytes reach."""
        if self._merges is None:
            vocab = self.vocab
            merges = [(vocab[left], vocab[right]) for left, right in self._core.merges()]
            object.__setattr__(self, "_merges", merges)
        return ListView(self._merges or [])

    @property
    def merge_counts(self) -> Sequence[int | None] | None:
        """How often the pair of each merge occurred when training chose it; read-only, saved by `save`.

        The counts are in the order of `merges`. A count is None for a merge that was not chosen by its count: a
        merge of an extended tokenizer without counts, or of a forced token. The whole is None for a tokenizer that
        was not trained here. The counts are no part of the identity.

        >>> import toksmith
        >>> list(toksmith.train(toksmith.PretokenCounts({b"low": 5, b"lower": 2}), 258).merge_counts)
        [7, 7]
        """
        record = self._core.record()
        return None if record is None else ListView(record[2])

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
        return patterns.of_core(self._core).compiled()

    @property
    def pipeline(self) -> Pipeline | None:
        """The other steps of a Hugging Face tokenizer: normalizer, added tokens with conditions, template.

        None for a tokenizer that has no such steps. See `docs/huggingface.md`.
        """
        return self._core.pipeline

    @property
    def vocab_size(self) -> int:
        """How many ids are in use."""
        return self._core.vocab_size()

    @property
    def max_id(self) -> int:
        """The highest id in use."""
        return self._core.max_id()

    def with_special_tokens(self, special_tokens: Mapping[str, int]) -> Self:
        """Return a tokenizer with more special tokens, at the ids of the mapping from names to ids.

        All other ids stay. A name that has its id already changes nothing.

        Raises:
            ValueError: A token has the id, or the text, of a new one; names both. Or the tokenizer merges characters,
                and an id is not above all others.

        >>> Tokenizer().with_special_tokens({"<|im_start|>": 300}).encode("a<|im_start|>")
        [97, 300]
        """
        if not hasattr(special_tokens, "items"):
            raise TypeError(f"special_tokens is a mapping from names to ids, not {type(special_tokens).__name__}")
        more = [(name, id) for name, id in arguments.special_list(special_tokens) if id is not None]
        return type(self)._of(self._core.with_special_tokens(more))

    # Files

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: object,
        *,
        pattern: object = ...,
        special_tokens: Specials | None = None,
        unmatched: Unmatched | None = None,
        download: bool | None = None,
    ) -> Self:
        """Load a tokenizer by name or by path, whatever its format, or from an object of another library.

        Args:
            name_or_path: A published encoding ("o200k_base"); a model of OpenAI's ("gpt-4o"); a file of `save`; a
                `tokenizer.json` or a folder with one; a folder with GPT-2's two files; a rank file; a `tekken.json`;
                a SentencePiece `.model`; a GGUF file; or a tokenizer of tiktoken, tokenizers, transformers or
                mistral_common. A file or folder goes before an encoding of the same name. The rank file of an
                encoding is looked for as by `toksmith.get_encoding`, and downloaded if it is not found. "org/name"
                and "org/name@revision" are looked up in the cache of the Hugging Face Hub.
            pattern: For a rank file, which holds none (see `from_tiktoken`), and for GPT-2's two files. For a GGUF
                file without `tokenizer.ggml.pre`, the name that llama.cpp has for the pre-tokenizer: it takes
                "default" for such files.
            special_tokens: For a rank file and GPT-2's two files.
            unmatched: For the same formats as `special_tokens`.
            download: Whether a model that is not in the cache of the Hugging Face Hub is downloaded, by
                `huggingface_hub`, with the token that it finds (`HF_TOKEN`). By default only if the environment has
                `TOKSMITH_DOWNLOAD=1`.

        Raises:
            OSError: There is nothing of this name, or a file cannot be read or downloaded.
            ValueError: The file is malformed, or an option is given that the file holds itself, or one is missing.
        """
        return cls._of(sources.open_source(name_or_path, pattern, special_tokens, unmatched, download))

    @classmethod
    def from_files(
        cls,
        vocab_filepath: StrPath,
        merges_filepath: StrPath,
        special_tokens: Specials | None = None,
        *,
        pattern: object = "gpt2",
        unmatched: Unmatched = "keep",
    ) -> Self:
        """Load GPT-2's two files, `vocab.json` and `merges.txt`. They hold no pattern: give it if it is not GPT-2's.

        Raises:
            OSError: A file cannot be read.
            ValueError: A file is malformed, with the line, or both are inconsistent; names the tokens.
        """
        for name, path in (("vocab_filepath", vocab_filepath), ("merges_filepath", merges_filepath)):
            arguments.path_of(name, path)
        specials, resolved = arguments.special_list(special_tokens), patterns.resolve(pattern, unmatched)
        files = (vocab_filepath, merges_filepath)
        return cls._of(CoreTokenizer.load(files, special_tokens=specials, pattern=resolved.core()))

    @classmethod
    def from_tiktoken(
        cls,
        path: StrPath,
        *,
        pattern: object,
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
        name = arguments.path_of("path", path)
        return cls._of(sources.load_ranks(name, pattern, special_tokens, unmatched))

    @classmethod
    def from_huggingface(cls, source: object, *, dropout_seed: int | None = None) -> Self:
        """Load a Hugging Face tokenizer, byte-level BPE or SentencePiece's BPE, with the same ids for every text.

        Its normalizer, splitting and added tokens are part of the result. The tokens that its post-processor puts
        around a text are in `pipeline.template`, and no method adds them by itself. See `docs/huggingface.md`.

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
        return cls._of(sources.load_huggingface(source, dropout_seed))

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Load a file that `save` wrote. Warns if its pattern runs under other Unicode tables than it was made with.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is no such file, of a later version, or inconsistent; names what is wrong.
        """
        name = arguments.path_of("path", path)
        hint = "load reads files of save; Tokenizer.from_pretrained reads folders, names and other files"
        try:
            return cls._of(CoreTokenizer.load(name, format="toksmith"))
        except (FileNotFoundError, IsADirectoryError) as error:
            code = error.errno or errno.EISDIR
            raise type(error)(code, f"{os.strerror(code)} ({hint})", name) from None
        except ValueError as error:
            if "not a toksmith file" not in str(error):
                raise
            raise ValueError(f"{error} ({hint})") from None

    def save(self, path: StrPath, *, format: FileFormat = "toksmith", verify: bool = True) -> None:
        """Save the tokenizer to a file, or to a folder for GPT-2's two files.

        Args:
            path: The file, or folder; an older one is replaced.
            format: "toksmith" is one JSON file with all parts of the tokenizer, which `load` reads and a person can
                too. "tiktoken" is a rank file, without pattern and special tokens. "gpt2" is a folder with
                `vocab.json` and `merges.txt`, without the pattern: a warning says so if it is not GPT-2's. "tekken"
                is Mistral's `tekken.json`; "sentencepiece" is a `.model`, if the tokenizer merges as SentencePiece;
                "gguf" is the metadata that llama.cpp reads. For Hugging Face's files see `save_huggingface`.
            verify: Whether the file is read back, and its ids compared on a stress text, before it takes its name:
                by toksmith, and by the library of the format, if that is installed. That takes about as long again
                as loading it.

        Raises:
            OSError: The file cannot be written.
            ValueError: The format cannot hold the tokenizer (names the token); or the file, read back, gives other
                ids. Nothing is written.
        """
        arguments.one_of("format", format, choices.FileFormat)
        place, names = arguments.path_of("path", path), FORMATS[format][1]
        text, _, pattern, *_ = self._core.pattern()
        template = self.pipeline and self.pipeline.template
        paths: list[StrPath] = [*(Path(place, name) for name in names)] or [place]
        self._write(zip(paths, self._core.written(format), strict=True), format, verify, make_folder=bool(names))
        if format == "gpt2" and pattern != "gpt2":
            shown_pattern = shown(pattern or text, 400)
            warnings.warn(
                f"{' and '.join(names)} hold no pattern: load them with pattern={shown_pattern}", stacklevel=2
            )
        if format == "sentencepiece" and template and template.added():
            warnings.warn(
                f"{place} holds no template: add the tokens around a text as its library does", stacklevel=2
            )

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
        if chat_template is not None:
            templates.checked_source(chat_template)
        roles = {"bos_token": bos_token, "eos_token": eos_token, "unk_token": unk_token, "pad_token": pad_token}
        chosen = {role: name for role, name in roles.items() if not isinstance(name, EllipsisType)}
        place = Path(arguments.path_of("folder", folder))
        files, warned = self._core.folder(chosen, chat_template, model_max_length)
        for warning in warned:
            warnings.warn(warning, stacklevel=2)
        self._write(((place / name, data) for name, data in files.items()), "huggingface", verify, make_folder=True)

    def _write(self, files: Iterable[tuple[StrPath, bytes]], format: str, verify: bool, *, make_folder: bool) -> None:
        check = functools.partial(verification.verify, self._core, format) if verify else None
        whole_files.write_all(((path, [data]) for path, data in files), check, make_folder=make_folder)

    # Identity

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of all parts of the tokenizer's identity: equal exactly for equal tokenizers."""
        return self._core.fingerprint

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self._core is other._core or self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[object, ...]:
        return restored, (type(self), self.fingerprint, *self._core.state(), self._core.extras())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        text, _, name, *_ = self._core.pattern()
        pattern = shown(name or text)
        return f"<Tokenizer of {self.vocab_size} tokens, {len(self.special_tokens)} special, pattern {pattern}>"


def restored(kind: type[Tokenizer], fingerprint: str, fields: str, core: bytes, extras: str = "{}") -> Tokenizer:
    """Return the tokenizer of a pickle: the one that this process has, or a new one."""
    if not (isinstance(kind, type) and issubclass(kind, Tokenizer)):
        raise pickle.UnpicklingError("the pickle of the Tokenizer is damaged: it is of another class")
    known = next((core for core in list(_cores.values()) if core.fingerprint == fingerprint), None)
    # An equal tokenizer may come from a file that holds no record of the training, or from another folder.
    if known is not None and extras in ("{}", known.extras()):
        return kind._of(known)
    try:
        made = kind._of(CoreTokenizer.of_state(fields, core, extras))
    except (AttributeError, TypeError, ValueError) as error:
        raise pickle.UnpicklingError(f"the pickle of the Tokenizer is damaged: {error}") from None
    return made


def tokenizer_of(tokenizer: object, argument: str = "tokenizer") -> Tokenizer:
    """Return the tokenizer that an argument is, or names.

    Args:
        tokenizer: A `Tokenizer`, a `toksmith.Encoding` or another object that has one as its attribute `tokenizer`,
            or what `Tokenizer.from_pretrained` takes.
        argument: The name of the argument, for the message.

    Raises:
        TypeError: It is none of these.
        ValueError, OSError: Those of `Tokenizer.from_pretrained`.

    >>> tokenizer_of(7, "base")
    Traceback (most recent call last):
    TypeError: base is a Tokenizer, the name or path of one, or a tokenizer of another library, not int: 7
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    inner = getattr(tokenizer, "tokenizer", None)
    if isinstance(inner, Tokenizer):
        return inner
    if isinstance(tokenizer, bytes):
        return Tokenizer.from_pretrained(os.fsdecode(tokenizer))
    if not sources.is_source(tokenizer):
        raise TypeError(
            f"{argument} is a Tokenizer, the name or path of one, or a tokenizer of another library, not "
            f"{type(tokenizer).__name__}: {shown(tokenizer)}"
        )
    return Tokenizer.from_pretrained(tokenizer)
