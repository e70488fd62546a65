"""`Tokenizer`: the methods that programs call on `tokenizers.Tokenizer`, with the same results.

A small mutable shell around an immutable `toksmith.Tokenizer`: what it holds itself is truncation, padding, the
post-processor, and which added tokens are special.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
from typing import TYPE_CHECKING, Any

from ...common.messages import shown
from ...files import temporary, text_files, whole_files
from ...formats.gpt2 import unspell
from ...storage import verification
from ...tokenizer import Tokenizer as Core
from . import inputs, lengths, processors
from .encoding import Encoding, Run
from .parts import BPE, AddedToken, Decoder
from .settings import Settings
from .texts import Spelling, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Tokenizer(Settings):
    """A `toksmith.Tokenizer` behind the interface of `tokenizers.Tokenizer`.

    It encodes as `tokenizers` does from the folder that `save_huggingface` writes. `normalizer`, `pre_tokenizer` and
    `model` cannot be taken apart or replaced, and it does not train: make a `toksmith.Tokenizer` for that.

    Args:
        tokenizer: What encodes.

    >>> from toksmith import Tokenizer as Ours
    >>> tokenizer = Tokenizer(Ours(None, None, ["<|end|>"]))
    >>> tokenizer.encode("a b<|end|>").ids
    [97, 32, 98, 256]
    >>> tokenizer.encode("a b<|end|>").tokens
    ['a', 'Ġ', 'b', '<|end|>']
    """

    def __init__(self, tokenizer: Core) -> None:
        if not isinstance(tokenizer, Core):
            raise TypeError(f"expected a toksmith.Tokenizer, not {type(tokenizer).__name__}")
        super().__init__()
        self.encode_special_tokens = False
        self._plain: set[int] = set()
        self._skipped: set[int] = set()
        self._beside_model: set[int] = set()
        self._source: dict[str, Any] | None = None
        self._take(tokenizer)

    def _take(self, tokenizer: Core) -> None:
        self._tokenizer = tokenizer
        pipeline = tokenizer.pipeline
        listed = {token.content: token.id for token in pipeline.added_tokens} if pipeline else {}
        self._added: dict[str, int] = {**tokenizer.special_tokens, **listed}
        self._spelling = Spelling(tokenizer, {id: name for name, id in self._added.items()})
        # As in `tokenizers`, a token that was special once is skipped, even when it is added again as not special.
        self._skipped = self._skipped | (set(self._added.values()) - self._plain)

    # Files

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Load a `tokenizer.json`.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is no such file, or a part of it is not supported; names the part.
        """
        return cls._of(Core.from_huggingface(path), text_files.read_object(path, "tokenizer.json"))

    @classmethod
    def from_str(cls, json: str) -> Tokenizer:
        """Load the content of a `tokenizer.json`."""
        with temporary.file() as given:
            given.file.write(json.encode())
            given.file.flush()
            return cls.from_file(given.path)

    @classmethod
    def from_buffer(cls, buffer: bytes) -> Tokenizer:
        """Load the content of a `tokenizer.json`."""
        return cls.from_str(bytes(buffer).decode())

    @classmethod
    def _of(cls, tokenizer: Core, content: dict[str, Any]) -> Tokenizer:
        made = cls(tokenizer)
        added = content.get("added_tokens") or []
        made._plain = {token["id"] for token in added if not token.get("special")}
        in_model = content["model"]["vocab"]
        made._beside_model = {token["id"] for token in added if token["content"] not in in_model}
        made._source, made._skipped = content, set()
        made._take(tokenizer)
        made.post_processor = content.get("post_processor")
        made._truncation = lengths.truncation_of(content.get("truncation"))
        made._padding = lengths.padding_of(content.get("padding"))
        return made

    def to_str(self, pretty: bool = False) -> str:
        """Return the content of a `tokenizer.json`.

        Raises:
            ValueError: The tokenizer cannot be expressed there; names the part.
        """
        content = self._content()
        if pretty:
            return json.dumps(content, ensure_ascii=False, indent=2)
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    def save(self, path: str | os.PathLike[str], pretty: bool = True, *, verify: bool = True) -> None:
        """Write a `tokenizer.json`; it is verified as `toksmith.Tokenizer.save_huggingface` does.

        Raises:
            ValueError: The tokenizer cannot be expressed there, or is read back as another. Nothing is written.
        """
        check = functools.partial(verification.huggingface, self._tokenizer._parts) if verify else None
        whole_files.write(path, [self.to_str(pretty).encode()], check)

    def _content(self) -> dict[str, Any]:
        if self._source is None:
            from ...huggingface import write

            content = write.tokenizer_object(self._tokenizer._parts)
            for token in content["added_tokens"]:
                token["special"] = token["id"] not in self._plain
        else:
            content = dict(self._source)
        content["truncation"] = lengths.truncation_content(self._truncation)
        content["padding"] = lengths.padding_content(self._padding)
        content["post_processor"] = self._post_processor
        return content

    # Text to ids

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Return the encoding of a text, or of a list of words with `is_pretokenized`, and of a second one behind it.

        Raises:
            TypeError: A text is no str.
            ValueError: Truncation has no room for what it must leave.
        """
        sequences = [sequence] if pair is None else [sequence, pair]
        encodings = [self._encode(text, i, is_pretokenized) for i, text in enumerate(sequences)]
        return self._finish(encodings, add_special_tokens)

    def encode_batch(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the encoding of each text, or pair of texts, on all cores; padded to one length if padding is on."""
        return self._encode_batch(input, is_pretokenized, add_special_tokens, fast=False)

    def encode_batch_fast(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """As `encode_batch`, without tokens, offsets and words, as in `tokenizers`."""
        return self._encode_batch(input, is_pretokenized, add_special_tokens, fast=True)

    def _encode_batch(
        self, input: Iterable[Any], is_pretokenized: bool, add_special_tokens: bool, fast: bool
    ) -> list[Encoding]:
        if isinstance(input, str):
            raise TypeError("encode_batch takes a list of texts; for one text use encode")
        given = list(input)
        if not is_pretokenized and all(type(text) is str for text in given):
            return self._encode_texts(given, add_special_tokens, fast)
        items = [inputs.sequences(item, is_pretokenized) for item in given]
        texts = [text for sequences in items for words in sequences for text in inputs.words(words, is_pretokenized)]
        ids = iter(self._tokenizer.encode_batch(texts, special=not self.encode_special_tokens))
        done = []
        for sequences in items:
            encodings = []
            for i, words in enumerate(sequences):
                pieces = inputs.words(words, is_pretokenized)
                runs = [
                    self._run(text, next(ids), i, word if is_pretokenized else None, fast)
                    for word, text in enumerate(pieces)
                ]
                encodings.append(Encoding(runs))
            done.append(self._finish(encodings, add_special_tokens))
        return self._padded(done)

    def _encode_texts(self, texts: list[str], add_special_tokens: bool, fast: bool) -> list[Encoding]:
        special = not self.encode_special_tokens
        done = []
        for text, ids in zip(texts, self._tokenizer.encode_batch(texts, special=special), strict=True):
            about = None if fast else Text(self._tokenizer, self._spelling, text, ids, special)
            done.append(Encoding((Run(ids, 0, about),)))
        if self._truncation is None and self._post_processor is None:
            return self._padded(done)
        return self._padded([self._finish([encoding], add_special_tokens) for encoding in done])

    def _padded(self, encodings: list[Encoding]) -> list[Encoding]:
        if self._padding is not None:
            lengths.pad(encodings, self._padding)
        return encodings

    def _encode(self, sequence: Any, type_id: int, is_pretokenized: bool) -> Encoding:
        special, runs = not self.encode_special_tokens, []
        for word, text in enumerate(inputs.words(inputs.checked(sequence, is_pretokenized), is_pretokenized)):
            ids = self._tokenizer.encode(text, special=special)
            runs.append(self._run(text, ids, type_id, word if is_pretokenized else None))
        return Encoding(runs)

    def _run(self, text: str, ids: list[int], type_id: int, word: int | None, fast: bool = False) -> Run:
        if fast:
            return Run(ids, 0)
        special = not self.encode_special_tokens
        return Run(ids, type_id, Text(self._tokenizer, self._spelling, text, ids, special, word))

    def _finish(self, encodings: list[Encoding], add_special_tokens: bool) -> Encoding:
        if self._truncation is not None:
            added = self.num_special_tokens_to_add(len(encodings) == 2) if add_special_tokens else 0
            lengths.truncate(encodings, self._truncation, added)
        done = processors.process(self._post_processor, encodings, add_special_tokens)
        if self._padding is not None:
            lengths.pad([done], self._padding)
        return done

    # Ids to text

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids, without special tokens. An id that is no token is left out."""
        return self._tokenizer.decode(self._shown(ids, skip_special_tokens))

    def decode_batch(self, sequences: Iterable[Sequence[int]], skip_special_tokens: bool = True) -> list[str]:
        """Return the text of each list of ids."""
        return self._tokenizer.decode_batch([self._shown(ids, skip_special_tokens) for ids in sequences])

    def _shown(self, ids: Sequence[int], skip_special_tokens: bool) -> list[int]:
        vocab = self._tokenizer.vocab
        skipped = self._skipped if skip_special_tokens else ()
        return [id for id in ids if id in vocab and id not in skipped]

    # The vocabulary

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, spelled as the vocabulary has it; None if there is none."""
        if token in self._added:
            return self._added[token]
        plain = unspell(token) if token else None
        if plain is None:
            return None
        try:
            id = self._tokenizer.token_id(plain)
        except KeyError:
            return None
        return None if id in self._added.values() else id

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id, spelled as the vocabulary has it; None if there is none."""
        try:
            return self._spelling[id]
        except KeyError:
            return None

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return ids by token; without added tokens, those of the model, which may have some of them too."""
        left_out = set() if with_added_tokens else self._beside_model
        return {self._spelling[id]: id for id in self._tokenizer.vocab if id not in left_out}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return how many tokens there are."""
        return self._tokenizer.vocab_size - (0 if with_added_tokens else len(self._beside_model))

    def get_added_tokens_decoder(self) -> dict[int, Any]:
        """Return the added tokens by id; of the class of `tokenizers` where that is installed."""
        try:
            kind: Any = importlib.import_module("tokenizers").AddedToken
        except ImportError:
            kind = AddedToken
        flags = {token["id"]: token for token in (self._source or {}).get("added_tokens", ())}
        names = ("single_word", "lstrip", "rstrip", "normalized")
        return {
            id: kind(
                name, special=id not in self._plain, **{flag: flags.get(id, {}).get(flag, False) for flag in names}
            )
            for name, id in sorted(self._added.items(), key=lambda item: item[1])
        }

    def add_special_tokens(self, tokens: Iterable[Any]) -> int:
        """Add tokens that decoding leaves out by default; returns how many are new."""
        return self._add(tokens, special=True)

    def add_tokens(self, tokens: Iterable[Any]) -> int:
        """Add tokens that are found in the text before all else; returns how many are new."""
        return self._add(tokens, special=False)

    def _add(self, tokens: Iterable[Any], special: bool) -> int:
        new: dict[str, int] = {}
        changed = 0
        for token in tokens:
            name = str(token)
            skipped = special or bool(getattr(token, "special", False))
            for flag in ("lstrip", "rstrip", "single_word"):
                if not isinstance(token, str) and getattr(token, flag, False) and name not in self._added:
                    raise ValueError(f"added token {shown(name)}: {flag} is not supported here")
            if name in self._added:
                # A known token counts only if it changes between special and not special.
                changed += skipped == (self._added[name] in self._plain)
                (self._plain.discard if skipped else self._plain.add)(self._added[name])
            elif name and name not in new:
                if self.token_to_id(name) is not None:
                    raise ValueError(
                        f"{shown(name)} is an ordinary token: as an added token it would need an id of its own"
                    )
                new[name] = self._next_id(new)
                if not skipped:
                    self._plain.add(new[name])
        self._take(self._with(new) if new else self._tokenizer)
        self._beside_model |= set(new.values())
        return len(new) + changed

    def _next_id(self, new: Mapping[str, int]) -> int:
        """Return the id of a new token, by the rule of `tokenizers`: above all added ones, and the model's size."""
        size = self.get_vocab_size(with_added_tokens=False)
        highest = max([*self._added.values(), *new.values()], default=-1)
        return max(highest + 1, size)

    def _with(self, new: Mapping[str, int]) -> Core:
        if self._source is not None:
            from ...huggingface import write

            listed = [write.added(name, id, id not in self._plain) for name, id in new.items()]
            self._source = {**self._source, "added_tokens": [*self._source["added_tokens"], *listed]}
            return self.from_str(json.dumps(self._source))._tokenizer
        core, ordinary = self._tokenizer, set(self._added.values())
        vocab = {id: token for id, token in core.vocab.items() if id not in ordinary}
        merges = core.merges if core._core.has_merges() else None
        return Core(vocab, merges, {**self._added, **new}, pattern=core._pattern)

    # What is done to encodings

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return an encoding truncated, post-processed and padded."""
        return self._finish([part._copy() for part in (encoding, pair) if part is not None], add_special_tokens)

    # What `transformers` looks at

    @property
    def decoder(self) -> Decoder:
        """What turns tokens into text."""
        return Decoder()

    @property
    def model(self) -> BPE:
        """The vocabulary, by itself."""
        return BPE(self)

    @property
    def normalizer(self) -> None:
        """Part of the `toksmith.Tokenizer`, and not to be had alone."""
        return None

    @property
    def pre_tokenizer(self) -> None:
        """Part of the `toksmith.Tokenizer`, and not to be had alone."""
        return None

    def __deepcopy__(self, memo: Any) -> Tokenizer:
        copy = object.__new__(type(self))
        for name, value in vars(self).items():
            # Only sets are changed in place. All other attributes are immutable, or replaced as a whole.
            setattr(copy, name, value.copy() if isinstance(value, set) else value)
        return copy

    def __repr__(self) -> str:
        return f"<Tokenizer of tokenizers' interface over {self._tokenizer!r}>"
