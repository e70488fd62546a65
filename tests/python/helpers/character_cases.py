"""What the tests of tokenizers that merge characters share: small ones, the definition in plain Python, texts."""

import functools
import itertools
import random
from pathlib import Path
from typing import Any

import tokenizers
from huggingface_cases import encoded
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers

from toksmith import Tokenizer
from toksmith.formats.stress import PROSE

META = "\u2581"
ROOT = Path(__file__).parents[3]

# Words, runs of spaces, whitespace of all kinds, U+2581 in the text, scripts, characters that no vocabulary here has,
# characters of two and more code points, added tokens, and what is spelled like a token for a byte.
PIECES = (
    *("the", "King", " the", "  ", "   ", " ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\x00", "\x7f"),
    *(META, META * 2, f" {META}", "\u200b", "\ufeff", "é", "e\u0301", "日本", "語", "한국", "Привет", "ﬁ", "Å"),
    *("😀", "👩\u200d👩", "𝔘", "﷽", "1", "23", "4567", "²", "—", "...", "==", "( )", "a", "b", "x", "ing", "world"),
    *("<s>", "</s>", "<unk>", " <s>", "<s> ", "<|user|>", " <|im|> ", "<table>", "<b>", "<0x0A>", "</b>", "wor"),
)


@functools.cache
def vocab_and_merges(size: int = 1500) -> tuple[dict[str, int], tuple[tuple[str, str], ...]]:
    """A vocabulary as SentencePiece lays it out, and all pairs that make its tokens, as `transformers` lists them."""
    trained = tokenizers.Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.Metaspace(META)
    files = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))]
    trained.train_from_iterator([PROSE, *files], trainers.BpeTrainer(vocab_size=size, show_progress=False))
    learned = sorted(trained.get_vocab(), key=lambda token: (len(token) == 1, trained.get_vocab()[token]))
    runs = [META * count for count in (2, 3, 4, 8)]
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\n\n", "\n", *runs, *learned]
    vocab = {token: id for id, token in enumerate(dict.fromkeys(names))}
    merges = []
    for token, id in vocab.items():
        cuts = [(token[:at], token[at:]) for at in range(1, len(token))]
        pairs = [(left, right) for left, right in cuts if left in vocab and right in vocab]
        merges += [(id, *pair) for pair in sorted(pairs, key=lambda pair: (vocab[pair[0]], vocab[pair[1]]))]
    return vocab, tuple((left, right) for _, left, right in sorted(merges, key=lambda merge: merge[0]))


def model(**options: Any) -> Any:
    vocab, merges = vocab_and_merges()
    chosen = {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>", **options}
    return models.BPE(vocab=vocab, merges=[*merges], **chosen)


_DECODER = (decoders.Replace(META, " "), decoders.ByteFallback(), decoders.Fuse())
_STRIP = decoders.Strip(" ", 1, 0)
_REPLACE, _PREPEND = normalizers.Replace(" ", META), normalizers.Prepend(META)

KINDS: dict[str, tuple[Any, Any, Any]] = {
    # Llama 2, TinyLlama, Mistral 7B, Mixtral, Phi-3.
    "llama": (normalizers.Sequence([_PREPEND, _REPLACE]), None, decoders.Sequence([*_DECODER, _STRIP])),
    # The same before their special tokens were `normalized: false`.
    "old_llama": (normalizers.Sequence([_PREPEND, _REPLACE]), None, decoders.Sequence([*_DECODER, _STRIP])),
    "gemma": (_REPLACE, pre_tokenizers.Split(" ", "merged_with_previous"), decoders.Sequence([*_DECODER])),
    **{
        f"metaspace_{scheme}_{split}": (
            None,
            pre_tokenizers.Metaspace(META, scheme, split),
            decoders.Metaspace(META, scheme) if split else decoders.Sequence([*_DECODER, _STRIP]),
        )
        for scheme in ("always", "first", "never")
        for split in (True, False)
    },
    "nfkc": (normalizers.Sequence([normalizers.NFKC(), _PREPEND, _REPLACE]), None, decoders.Sequence([*_DECODER])),
    # NFKC makes spaces after they were replaced.
    "spaces_left": (normalizers.Sequence([_REPLACE, normalizers.NFKC()]), None, decoders.Sequence([*_DECODER])),
    "scripts_metaspace": (
        None,
        pre_tokenizers.Sequence([pre_tokenizers.UnicodeScripts(), pre_tokenizers.Metaspace(META, "first")]),
        decoders.Metaspace(META, "first"),
    ),
    "bert_metaspace": (
        normalizers.BertNormalizer(lowercase=False),
        pre_tokenizers.Sequence([pre_tokenizers.Punctuation(), pre_tokenizers.Metaspace("e", "always", False)]),
        decoders.BPEDecoder(),
    ),
    "spelled_bytes": (normalizers.ByteLevel(), None, decoders.ByteLevel()),
    "bare": (None, None, None),
}

_ADDED: dict[str, list[Any]] = {
    "llama": [
        AddedToken("<|user|>", rstrip=True, normalized=False, special=True),
        AddedToken("<|im|>", lstrip=True, normalized=False, special=True),
    ],
    "gemma": [
        *(AddedToken(text, normalized=False) for text in ("\n\n", META * 2, "<table>")),
        AddedToken("<b>", normalized=True),
    ],
    "metaspace_first_False": [AddedToken("wor", single_word=True), AddedToken("the ")],
    "spaces_left": [AddedToken("<b>", lstrip=True, normalized=True)],
}


def make(kind: str, **options: Any) -> Any:
    """A `tokenizers.Tokenizer` of a kind."""
    made = tokenizers.Tokenizer(model(**options))
    normalizer, pre_tokenizer, decoder = KINDS[kind]
    for name, part in (("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer), ("decoder", decoder)):
        if part is not None:
            setattr(made, name, part)
    names = ("<unk>", "<s>", "</s>")
    made.add_special_tokens([AddedToken(name, normalized=kind == "old_llama", special=True) for name in names])
    if kind in _ADDED:
        made.add_tokens(_ADDED[kind])
    return made


def text_of(rng: random.Random, pieces: int) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(pieces + 1)))


def ids_of(rng: random.Random, count: int) -> list[int]:
    """Some ids, of which half are of bytes."""
    size = len(vocab_and_merges()[0])
    return [rng.choice((rng.randrange(size), rng.randrange(3, 259))) for _ in range(rng.randrange(count + 1))]


def assert_same(ours: Tokenizer, theirs: Any, text: str) -> None:
    """Compare ids, tokens, offsets and the text that ids become."""
    truth = theirs.encode(text, add_special_tokens=False)
    found = encoded(ours, text)
    assert found.ids == truth.ids, text
    assert ours.encode(text) == truth.ids, text
    assert ours.count(text) == len(truth.ids), text
    assert found.tokens == truth.tokens, text
    assert found.offsets == truth.offsets, text
    assert list(map(tuple, ours.encode_with_offsets(text)[1].tolist())) == truth.offsets, text
    assert ours.decode(truth.ids) == theirs.decode(truth.ids, skip_special_tokens=False), text


# The definition


def by_definition(word: str, *, byte_fallback: bool = True, fuse_unk: bool = True) -> list[int]:
    """The ids of a word: its characters, else their bytes, else the unknown token, merged the first pair first."""
    vocab, merges = vocab_and_merges()
    ranks = {(vocab[left], vocab[right]): (rank, vocab[left + right]) for rank, (left, right) in enumerate(merges)}
    symbols: list[int] = []
    for character in word:
        if character in vocab:
            symbols.append(vocab[character])
        elif byte_fallback:
            symbols += [vocab[f"<0x{byte:02X}>"] for byte in character.encode()]
        elif not (fuse_unk and symbols[-1:] == [vocab["<unk>"]]):
            symbols.append(vocab["<unk>"])
    while True:
        pairs = enumerate(itertools.pairwise(symbols))
        found = min(
            ((*ranks[pair], at) for at, pair in pairs if pair in ranks), key=lambda f: (f[0], f[2]), default=None
        )
        if found is None:
            return symbols
        _, made, at = found
        symbols[at : at + 2] = [made]
