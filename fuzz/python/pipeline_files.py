"""Whole files of tokenizers that are made by the choices of an input, and texts that they have something to do in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tokenizers

from toksmith._core import spell

if TYPE_CHECKING:
    from choices import Input

File = dict[str, Any]

BYTES = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
PIECES = [
    "a", "b", " ", "ab", "  ", "\n", "A", "é", "e\u0301", "中", "1", "12", "'s", ".", "▁", "\t", "\u3000", "ß", "İ",
    "ﬁ", "½", "가", "\u1112\u1161\u11ab", "\u200b", "\0", "😀", "_", "-", "x", "<0x0A>", "\u00a0", "Ǆ", "\u0301", "ｱ",
    " a", "\r\n", "\x7f", "\ufffd", "\u2028", "\ue000", "я", "あ", "ー", "𠀀", "Ġ",
]  # fmt: skip
CONTENTS = [
    "<s>", "</s>", "<unk>", "[M]", "a", "ab", " ", "\n", "  ", " a", "a ", "é", "e\u0301", "A", "▁", "\u3000", "1",
    "b\n", "ﬁ", "<a>\n", "▁a", "Ab", "中", "_", "Ġa", "\x7f", "あ",
]  # fmt: skip
CHARACTERS = [*"ab ▁A1é中.'\n-x_ĠÃあ", "\u0301"]
PATTERNS = [
    {"String": " "}, {"Regex": r"\s+"}, {"Regex": r"\w+|[^\w\s]+"}, {"String": "a"}, {"Regex": r"\p{L}+|\p{N}{1,2}"},
    {"Regex": r"[^\r\n\p{L}\p{N}]?\p{L}+|\s+(?!\S)|\s+"}, {"Regex": "[a-k]"}, {"String": "▁"},
    {"Regex": r"(?i:'s|A)|b"}, {"String": "é"}, {"Regex": r"\n|\d"},
]  # fmt: skip
STRINGS = ["", "a", " ", "▁", "b", "éé", "\n", "ab", "e\u0301", "中 "]
BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


class Maker:
    """Makes a file, and texts for it. An input that is at its end makes the simplest of everything."""

    def __init__(self, input: Input) -> None:
        self.input = input
        self.file: File = {"version": "1.0", "truncation": self.truncation(), "padding": self.padding()}
        kind = input.pick(["bytes", "bytes", "characters", "characters", "affixes"])
        self.model: File = self.bytes_model() if kind == "bytes" else self.characters_model(kind == "affixes")
        self.file["model"] = self.model
        self.file["added_tokens"] = self.added_tokens()
        self.file["normalizer"] = self.optional(3, self.normalizer)
        self.file["pre_tokenizer"] = self.pre_tokenizer(kind == "bytes")
        self.file["post_processor"] = self.optional(2, self.post_processor)
        self.file["decoder"] = self.decoder_of_model(kind == "bytes")

    def flag(self) -> bool:
        return bool(self.input.below(2))

    def rarely(self) -> bool:
        return self.input.below(8) == 7

    def optional(self, parts: int, make: Any) -> Any:
        return make(2) if self.input.below(parts) else None

    def some(self, kinds: list[Any], most: int) -> list[Any]:
        return [self.input.pick(kinds) for _ in range(self.input.below(most + 1))]

    # The model

    def bytes_model(self) -> File:
        likely = [*"abA1.'Ċ", "Ġ", *spell("é中".encode())]
        vocab, merges = self.merged(likely, "")
        vocab = list(dict.fromkeys([*BYTES, *vocab, *self.some(["ĠaĠ", "abab", "ĠĠ", "Ã©a"], 2)]))
        if self.rarely():
            vocab = vocab[self.input.below(60) :]
            merges = [merge for merge in merges if {*merge, "".join(merge)} <= set(vocab)]
        return self.model_of(vocab, merges)

    def characters_model(self, affixes: bool) -> File:
        input = self.input
        few = [character for character in CHARACTERS if input.below(8)]
        prefix = input.pick(["##", "", "@"]) if affixes and self.flag() else None
        suffix = input.pick(["</w>", "", "b"]) if affixes and (prefix is None or self.flag()) else None
        tokens = [*few, *(f"{prefix or ''}{one}" for one in few)]
        if suffix:
            tokens += [one + suffix for one in tokens]
        vocab, merges = self.merged(list(dict.fromkeys(tokens)), prefix or "")
        names = [f"<0x{byte:02X}>" for byte in range(256)] if self.flag() else []
        if self.rarely():
            names = names[: input.below(256)]
        vocab = list(
            dict.fromkeys([*input.pick([["<unk>"], ["<unk>"], []]), *names, *vocab, *self.some(["abab", "b a"], 1)])
        )
        model = self.model_of(vocab, merges)
        model["unk_token"] = input.pick(["<unk>", "<unk>", None]) if "<unk>" in vocab else None
        model["byte_fallback"] = (len(names) > 0) ^ self.rarely()
        model["continuing_subword_prefix"], model["end_of_word_suffix"] = prefix, suffix
        return model

    def merged(self, tokens: list[str], prefix: str) -> tuple[list[str], list[list[str]]]:
        merges = []
        for _ in range(self.input.below(12)):
            left, right = self.input.pick(tokens), self.input.pick(tokens)
            made = left + right[len(prefix) :]
            if right.startswith(prefix) and len(made) < 12 and [left, right] not in merges:
                merges.append([left, right])
                tokens = [*tokens, made, made]
        if self.rarely():
            merges.reverse()
        return list(dict.fromkeys(tokens)), merges

    def model_of(self, vocab: list[str], merges: list[list[str]]) -> File:
        if self.rarely():
            vocab = vocab[::-1]
        as_texts = self.rarely() and not any(" " in part for merge in merges for part in merge)
        return {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": self.flag(), "byte_fallback": False,
            "ignore_merges": self.input.below(4) == 3, "vocab": {token: id for id, token in enumerate(vocab)},
            "merges": [" ".join(merge) for merge in merges] if as_texts else merges,
        }  # fmt: skip

    def added_tokens(self) -> list[File]:
        vocab, rows = self.model["vocab"], []
        for content in dict.fromkeys(self.some(CONTENTS + list(vocab)[-10:], 5)):
            bits = self.input.byte()
            flags = [bits & 7 == 7, bits >> 3 & 3 == 3, bits >> 5 & 3 == 3, self.flag(), self.flag()]
            new = sum(row["content"] not in vocab for row in rows)
            row = {"id": vocab.get(content, len(vocab) + new), "content": content}
            rows.append(row | dict(zip(FLAGS, flags, strict=True)))
        return rows

    # What is before it

    def normalizer(self, depth: int) -> File:
        input = self.input
        kind = input.pick(
            [
                "NFC",
                "NFD",
                "NFKC",
                "NFKD",
                "Lowercase",
                "StripAccents",
                "Nmt",
                "Strip",
                "Prepend",
                "Replace",
                "Replace",
                "Sequence",
                "Sequence",
                "Sequence",
                "BertNormalizer",
                "ByteLevel",
            ]
        )
        if kind == "Sequence":
            parts = [self.normalizer(depth - 1) for _ in range(input.below(4))] if depth else []
            return {"type": kind, "normalizers": parts}
        options: dict[str, File] = {
            "Strip": {"strip_left": self.flag(), "strip_right": self.flag()},
            "Prepend": {"prepend": input.pick(["▁", "a", " ", "é "])},
            "Replace": {"pattern": input.pick(PATTERNS), "content": input.pick(STRINGS)},
            "BertNormalizer": {
                "clean_text": self.flag(),
                "handle_chinese_chars": self.flag(),
                "strip_accents": input.pick([None, True, False]),
                "lowercase": self.flag(),
            },
        }
        return {"type": kind, **options.get(kind, {})}

    def pre_tokenizer(self, for_bytes: bool) -> File | None:
        if for_bytes and not self.rarely():
            level = self.byte_level()
            before = [self.one_pre_tokenizer(1) for _ in range(self.input.pick([0, 0, 1, 2]))]
            return {"type": "Sequence", "pretokenizers": [*before, level]} if before else level
        return self.optional(3, self.one_pre_tokenizer)

    def byte_level(self) -> File:
        return {
            "type": "ByteLevel",
            "add_prefix_space": self.flag(),
            "trim_offsets": self.flag(),
            "use_regex": self.flag(),
        }

    def metaspace(self) -> File:
        scheme = self.input.pick(["first", "always", "never"])
        return {
            "type": "Metaspace",
            "replacement": self.input.pick("▁▁▁_ aé"),
            "prepend_scheme": scheme,
            "split": self.flag(),
        }

    def one_pre_tokenizer(self, depth: int) -> File:
        input = self.input
        kind = input.pick(
            [
                "Metaspace",
                "Metaspace",
                "Split",
                "Split",
                "Digits",
                "Punctuation",
                "WhitespaceSplit",
                "Whitespace",
                "Sequence",
                "Sequence",
                "CharDelimiterSplit",
                "BertPreTokenizer",
                "UnicodeScripts",
                "FixedLength",
                "ByteLevel",
            ]
        )
        if kind == "Sequence":
            parts = [self.one_pre_tokenizer(depth - 1) for _ in range(input.below(4))] if depth else []
            return {"type": kind, "pretokenizers": parts}
        if kind in ("ByteLevel", "Metaspace"):
            return self.byte_level() if kind == "ByteLevel" else self.metaspace()
        options: dict[str, File] = {
            "Split": {"pattern": input.pick(PATTERNS), "behavior": input.pick(BEHAVIORS), "invert": self.rarely()},
            "Digits": {"individual_digits": self.flag()},
            "Punctuation": {"behavior": input.pick(BEHAVIORS)},
            "CharDelimiterSplit": {"delimiter": input.pick(" a▁é")},
            "FixedLength": {"length": 1 + input.below(4)},
        }
        return {"type": kind, **options.get(kind, {})}

    # What is behind it

    def token(self) -> tuple[str, int]:
        rows = [(row["content"], row["id"]) for row in self.file["added_tokens"]]
        token: tuple[str, int] = self.input.pick([*rows, *list(self.model["vocab"].items())[:4]])
        return token

    def post_processor(self, depth: int) -> File:
        kind = self.input.pick(
            [
                "ByteLevel",
                "TemplateProcessing",
                "TemplateProcessing",
                "RobertaProcessing",
                "BertProcessing",
                "Sequence",
                "Sequence",
            ]
        )
        if kind == "Sequence":
            parts = [self.post_processor(depth - 1) for _ in range(self.input.below(4))] if depth else []
            return {"type": kind, "processors": parts}
        if kind == "ByteLevel":
            return self.byte_level()
        if kind == "TemplateProcessing":
            return self.template()
        ends = {"type": kind, "sep": self.token(), "cls": self.token()}
        return (
            ends
            if kind == "BertProcessing"
            else {**ends, "trim_offsets": self.flag(), "add_prefix_space": self.flag()}
        )

    def template(self) -> File:
        tokens: File = {}

        def around(sequences: list[str]) -> list[File]:
            pieces = []
            for name in [None, *(part for sequence in sequences for part in (sequence, None))]:
                if name is not None:
                    pieces.append({"Sequence": {"id": name, "type_id": self.input.pick([0, 1, 2])}})
                elif self.flag():
                    content, id = self.token()
                    tokens[content] = {"id": content, "ids": [id], "tokens": [content]}
                    pieces.append({"SpecialToken": {"id": content, "type_id": self.input.pick([0, 1])}})
            return pieces

        single, pair = around(["A"]), around(self.input.pick([["A", "B"], ["A", "B"], ["B", "A"]]))
        return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens}

    def truncation(self) -> File | None:
        if self.input.below(4) < 3:
            return None
        length = self.input.pick([4, 5, 1, 2, 3, 8, 0])
        strategy = self.input.pick(["LongestFirst", "OnlyFirst", "OnlySecond"])
        stride = self.input.below(max(length, 1)) if self.flag() else 0
        return {
            "direction": self.input.pick(["Right", "Left"]),
            "max_length": length,
            "strategy": strategy,
            "stride": stride,
        }

    def padding(self) -> File | None:
        if self.input.below(4) < 3:
            return None
        return {
            "strategy": self.input.pick(["BatchLongest", {"Fixed": 5}, {"Fixed": 1}]),
            "direction": self.input.pick(["Right", "Left"]), "pad_to_multiple_of": self.input.pick([None, 4, 0]),
            "pad_id": self.input.below(4), "pad_type_id": self.input.below(3),
            "pad_token": self.input.pick(["<pad>", "a"]),
        }  # fmt: skip

    def decoder_of_model(self, for_bytes: bool) -> File | None:
        if for_bytes and self.input.below(4):
            return self.byte_level()
        return self.optional(4, self.decoder)

    def decoder(self, depth: int) -> File:
        input = self.input
        kind = input.pick(
            [
                "ByteFallback",
                "Fuse",
                "Strip",
                "Replace",
                "Replace",
                "Metaspace",
                "Sequence",
                "Sequence",
                "Sequence",
                "Sequence",
                "ByteLevel",
                "BPEDecoder",
                "WordPiece",
                "CTC",
            ]
        )
        if kind == "Sequence":
            parts = [self.decoder(depth - 1) for _ in range(input.below(5))] if depth else []
            return {"type": kind, "decoders": parts}
        if kind in ("ByteLevel", "Metaspace"):
            return self.byte_level() if kind == "ByteLevel" else self.metaspace()
        options: dict[str, File] = {
            "Strip": {"content": input.pick(" ▁a"), "start": input.below(3), "stop": input.below(3)},
            "Replace": {"pattern": input.pick(PATTERNS), "content": input.pick(STRINGS)},
            "BPEDecoder": {"suffix": input.pick(["</w>", "", "b"])},
            "WordPiece": {"prefix": input.pick(["##", "@"]), "cleanup": self.flag()},
            "CTC": {"pad_token": "<s>", "word_delimiter_token": input.pick("|a"), "cleanup": self.flag()},
        }
        return {"type": kind, **options.get(kind, {})}

    # Texts

    def texts(self, count: int) -> list[str]:
        """Return texts of a few different pieces, some of them added tokens and tokens of the vocabulary."""
        own = [row["content"] for row in self.file["added_tokens"]]
        own += [token for token in list(self.model["vocab"])[-12:] if token not in BYTES]
        return [self.text(own or PIECES) for _ in range(count)]

    def text(self, own: list[str]) -> str:
        few = [self.input.pick(own if self.input.below(3) == 2 else PIECES) for _ in range(1 + self.input.below(5))]
        return "".join(self.input.pick(few) for _ in range(self.input.below(9)))
