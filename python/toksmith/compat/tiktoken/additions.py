"""Methods of `Encoding` besides tiktoken's: those of `Tokenizer`, under tiktoken's rules for special tokens."""

from __future__ import annotations

import os

from ..._core import Encoding as CoreEncoding
from ..._core import SpecialSet
from ..._core import Tokenizer as CoreTokenizer
from ..._internal import arguments
from ..._internal.messages import shown
from ...tokenizer import Tokenizer
from . import checks, special_policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet
    from typing import Any, Literal, overload

    from typing_extensions import Self

    from ...encoding.decode_stream import DecodeStream
    from ...lab.explanation import Explanation
    from ...lab.view import View
    from ...patterns import Pattern
    from ...tokenizer import Ids

    Allowed = Literal["all"] | AbstractSet[str]
    Disallowed = Literal["all"] | Collection[str]

NONE: AbstractSet[str] = frozenset()
# Cores with some of the special tokens that are kept, since programs allow the same ones with each call.
_MAX_CORES = 4


class Additions:
    """Counting, truncating, splitting, explaining, views, chats, streams: on an encoding of tiktoken's kind.

    Every method that takes text has tiktoken's arguments: special tokens are an error unless they are allowed, or
    left out of `disallowed_special`. Lone surrogates are replaced by U+FFFD.
    """

    _core: CoreTokenizer
    _encoding: CoreEncoding
    _pattern: Pattern
    _rules: special_policy.Rules
    _special_tokens: dict[str, int]

    @classmethod
    def from_tiktoken(
        cls,
        path: str | os.PathLike[str],
        *,
        pattern: str,
        special_tokens: Mapping[str, int] | None = None,
        name: str | None = None,
    ) -> Self:
        """Load a rank file of tiktoken's. It holds no pattern and no special tokens: give them.

        Warns if the file is a published one and special tokens of it are missing, unless `special_tokens` is empty.

        Args:
            path: The file.
            pattern: A name (`toksmith.patterns.NAMED`, or a published encoding), or a regular expression in
                tiktoken's dialect.
            special_tokens: Names and ids.
            name: The name of the encoding; by default, the name of the file without its suffix.

        Raises:
            OSError: The file cannot be read.
            ValueError: The file is malformed (names file and line), or as for the class.
        """
        from ... import patterns
        from ...files import reading, text_files
        from ...formats.published.special_tokens import warn_of_missing

        specials = {} if special_tokens is None else special_tokens
        checks.checked_specials(specials)
        data = reading.read(path)
        with text_files.naming(path):
            made = cls._of_ranks(
                data,
                name or os.path.splitext(os.path.basename(os.fspath(path)))[0],  # noqa: PTH119, PTH122
                pat_str=patterns.expression(pattern),
                special_tokens=dict(specials),
            )
        if special_tokens is None:
            warn_of_missing(path, data, made.tokenizer._parts.pattern.name, stacklevel=2)
        return made

    @classmethod
    def _of_ranks(cls, data: bytes, name: str, *, pat_str: str, special_tokens: dict[str, int]) -> Self:
        raise NotImplementedError

    @property
    def tokenizer(self) -> Tokenizer:
        """The `Tokenizer` of the same tokens and pattern, which shares the memory of this object.

        By default it encodes special tokens in a text to their ids. Of several special tokens that have one id
        (`o200k_harmony` has two), it has the first. It lacks a special token that has the id of a rank.
        """
        made: Tokenizer | None = self.__dict__.get("_tokenizer")
        if made is None:
            made = self.__dict__["_tokenizer"] = self._with(self._core)
        return made

    def count(self, text: str, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all") -> int:
        """Return how many ids `encode` gives, without building them.

        Raises:
            ValueError: A disallowed special token is in the text.
        """
        text = self._checked(text, allowed_special, disallowed_special)
        if self._rest_in(text, allowed_special) is not None:
            found: Any = self._encoding.encode_to_numpy(text, self._rules.of(allowed_special, ())[0], None)
            return len(found)
        core, special = self._core_of(allowed_special)
        return core.count(text, special)

    def truncate(
        self, text: str, max_tokens: int, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all"
    ) -> str:
        """Return the longest prefix of at most `max_tokens` whole tokens of `encode(text)`.

        It ends on a character boundary, and is shortened until it has no more tokens on its own.

        Raises:
            ValueError: A disallowed special token is in the text, even after the prefix.
        """
        limit = arguments.checked_limit("max_tokens", max_tokens, 0)
        text = self._checked(text, allowed_special, disallowed_special)
        core, special = self._core_for(text, allowed_special)
        return core.truncate(text, limit, special)

    def split(
        self,
        text: str,
        max_tokens: int,
        overlap: int = 0,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[str]:
        """Cut `text` into successive pieces; each is the result of `truncate` on the rest.

        Each piece starts at most `overlap` tokens before the end of the previous one; without overlap the pieces join
        to the text.

        Raises:
            ValueError: A disallowed special token is in the text; or one character alone has more than `max_tokens`
                tokens.
        """
        text = self._checked(text, allowed_special, disallowed_special)
        core, special = self._core_for(text, allowed_special)
        return self._with(core).split(text, max_tokens, overlap, special=special)

    def explain(
        self, text: str, *, allowed_special: Allowed = NONE, disallowed_special: Disallowed = "all"
    ) -> list[Explanation]:
        """Return how each pretoken of `text` is encoded: every merge with its pair and rank, and the ids.

        For people and for tests: it runs in plain Python.

        Raises:
            ValueError: A disallowed special token is in the text.
        """
        text = self._checked(text, allowed_special, disallowed_special)
        core, special = self._core_for(text, allowed_special)
        of_all = self.tokenizer if core is self._core else self._with(core)
        from ...lab import explanation

        return explanation.explain(of_all, text, special=special)

    def view(
        self,
        text: str,
        *,
        allowed_special: Allowed = NONE,
        disallowed_special: Disallowed = "all",
        ids: bool = False,
        limit: int = 2000,
    ) -> View:
        """Return a view of the tokens of `text`: coloured in a notebook, plain text when it is printed.

        Args:
            text: Any text.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`.
            ids: Whether the id stands below each token.
            limit: How many tokens are drawn at the most; all are counted.

        Raises:
            ValueError: A disallowed special token is in the text; or `limit` is negative.
        """
        text = self._checked(text, allowed_special, disallowed_special)
        core, special = self._core_for(text, allowed_special)
        of_all = self.tokenizer if core is self._core else self._with(core)
        from ...lab import view

        return view.view(of_all, text, special=special, ids=ids, limit=limit)

    def encode_parts(
        self,
        parts: Iterable[tuple[str, bool]],
        *,
        allowed_special: Allowed = "all",
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Return the ids of the joined parts, with special tokens only where the text is trusted.

        Args:
            parts: (text, trusted) pairs. Neighbouring trusted parts count as one. A special token becomes its id only
                if it lies wholly inside a trusted part; text that is not trusted is always read as ordinary text.
            allowed_special: Special tokens that trusted parts may hold.
            disallowed_special: Special tokens that are an error in a trusted part; "all": all that are not allowed.

        Raises:
            ValueError: A disallowed special token is in a trusted part.

        >>> ranks = {bytes([byte]): byte for byte in range(256)}
        >>> from toksmith import Encoding
        >>> chat = Encoding("chat", pat_str=".", mergeable_ranks=ranks, special_tokens={"<|end|>": 256})
        >>> chat.encode_parts([("<|end|>", False), ("<|end|>", True)]) == [*b"<|end|>", 256]
        True
        """
        joined: list[tuple[str, bool]] = []
        for text, trusted in parts:
            if joined and joined[-1][1] == bool(trusted):
                joined[-1] = (joined[-1][0] + text, bool(trusted))
            else:
                joined.append((text, bool(trusted)))
        checked = [
            (self._checked(text, allowed_special, disallowed_special if trusted else ()), trusted)
            for text, trusted in joined
        ]
        core, special = self._core_for("\0".join(text for text, trusted in checked if trusted), allowed_special)
        return core.encode_parts(checked if special else [(text, False) for text, _ in checked])

    if TYPE_CHECKING:

        @overload
        def decode_stream(self, ids: None = None, *, prompt: Ids = (), errors: str = "replace") -> DecodeStream: ...
        @overload
        def decode_stream(
            self, ids: Iterable[int], *, prompt: Ids = (), errors: str = "replace"
        ) -> Iterator[str]: ...

    def decode_stream(
        self, ids: Iterable[int] | None = None, *, prompt: Ids = (), errors: str = "replace"
    ) -> DecodeStream | Iterator[str]:
        """Decode ids that arrive one by one, never half a character. See `Tokenizer.decode_stream`."""
        return self.tokenizer.decode_stream(ids, prompt=prompt, errors=errors)

    # The core for a set of allowed special tokens

    def _with(self, core: CoreTokenizer) -> Tokenizer:
        from ...formats.parts import Parts

        return Tokenizer._of(Parts(core, self._pattern))

    def _checked(self, text: str, allowed_special: Allowed, disallowed_special: Disallowed) -> str:
        """Return a text without surrogates, as `encode` reads it.

        Raises:
            TypeError: `text` is no str.
            ValueError: A disallowed special token is in the text.
        """
        arguments.checked_text(text)
        _, refused, odd = self._rules.of(allowed_special, disallowed_special)
        special_policy.check(text, odd)
        try:
            text.isascii() or text.encode()
        except UnicodeEncodeError:
            self._rules.check_surrogates(text, allowed_special, disallowed_special)
            return special_policy.without_surrogates(text)
        if refused is not None and (token := refused.first_in(text)) is not None:
            checks.raise_disallowed_special_token(token)
        return text

    def _core_for(self, text: str, allowed_special: Allowed) -> tuple[CoreTokenizer, bool]:
        """Return the core that knows the allowed special tokens, and whether it is to look for any.

        Raises:
            ValueError: The text has a special token that no core can have, since another token has its id.
        """
        if (token := self._rest_in(text, allowed_special)) is not None:
            raise ValueError(
                f"the special token {shown(token)} shares its id {self._special_tokens[token]} with another token: "
                "only encode, encode_to_numpy, encode_batch and count take a text that has it"
            )
        return self._core_of(allowed_special)

    def _core_of(self, allowed_special: Allowed) -> tuple[CoreTokenizer, bool]:
        if not allowed_special:
            return self._core, False
        known = self._core.special_tokens()
        names = frozenset(known) if allowed_special == "all" else frozenset(known).intersection(allowed_special)
        if not names or len(names) == len(known):
            return self._core, bool(names)
        cores: dict[frozenset[str], CoreTokenizer] = self.__dict__.setdefault("_cores", {})
        if names not in cores:
            while len(cores) >= _MAX_CORES:
                cores.pop(next(iter(cores)), None)
            cores[names] = self._made_for({name: known[name] for name in known if name in names}, set(known.values()))
        return cores[names], True

    def _made_for(self, specials: dict[str, int], others: set[int]) -> CoreTokenizer:
        """Return a core of the same ordinary tokens with some of the special ones."""
        vocab = {id: token for id, token in self._core.vocab().items() if id not in others}
        return CoreTokenizer(vocab, None, list(specials.items()), self._pattern.core())

    def _rest_in(self, text: str, allowed_special: Allowed) -> str | None:
        """Return an allowed special token in the text that the core lacks, since another token has its id."""
        if not allowed_special:
            return None
        rest: AbstractSet[str] | None = self.__dict__.get("_rest")
        if rest is None:
            rest = self.__dict__["_rest"] = self._special_tokens.keys() - self._core.special_tokens().keys()
        if allowed_special != "all":
            rest = rest & allowed_special
        return SpecialSet([(name, 0) for name in rest]).first_in(text) if rest else None
