"""The vocabularies, from published rank files, and a `tokenizer.json` of each for peers that read nothing else."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

SOURCES = {"gpt2": "gpt2", "cl100k": "cl100k_base", "o200k": "o200k_base", "qwen3": "qwen3"}
"""The name of a vocabulary here, and of its files."""

REFERENCES = {"gpt2": "tiktoken", "cl100k": "tiktoken", "o200k": "tiktoken", "qwen3": "tokenizers"}
"""Whose ids the others must give."""

PATTERN_NAMES = {"gpt2": "gpt2", "cl100k": "cl100k", "o200k": "o200k", "qwen3": "qwen2"}
"""The name of its pattern in toksmith."""

# Oniguruma reads `{1,3}+` as a repeated repetition: the older spelling, which differs in whitespace at the very end.
HUGGINGFACE_PATTERNS = {"gpt2": "gpt2", "cl100k": "cl100k_old", "o200k": "o200k", "qwen3": "qwen2"}

QUICKTOK_QWEN3 = "qwen3_plain"
"""Its name in quicktok, which has a `qwen3` of its own that composes characters (NFC)."""


@dataclass(frozen=True)
class Vocabulary:
    """One published vocabulary: where its files are, and its special tokens."""

    name: str
    ranks_path: Path
    special_tokens: dict[str, int]
    pattern: str
    json_path: Path
    folder: Path
    toksmith_pattern: str
    quicktok_name: str = QUICKTOK_QWEN3

    def ranks(self) -> dict[bytes, int]:
        """Read the rank file into a dictionary."""
        lines = self.ranks_path.read_bytes().split(b"\n")
        pairs = (line.split() for line in lines if line)
        return {base64.b64decode(token): int(rank) for token, rank in pairs}


def specials_of(data: Path, name: str) -> dict[str, int]:
    specials: dict[str, int] = json.loads((data / "vocabs" / f"{SOURCES[name]}.special.json").read_text())
    return specials


def all_specials(data: Path) -> list[str]:
    return sorted({token for name in SOURCES for token in specials_of(data, name)})


def load(data: Path, folder: Path, name: str) -> Vocabulary:
    patterns = json.loads((folder / "patterns.json").read_text())
    return Vocabulary(
        name,
        data / "vocabs" / f"{SOURCES[name]}.tiktoken",
        specials_of(data, name),
        patterns[PATTERN_NAMES[name]],
        folder / f"{name}.json",
        folder,
        PATTERN_NAMES[name],
    )


def prepare(data: Path, folder: Path, names: list[str], peers: list[str]) -> dict[str, str]:
    """Write the patterns and the missing files in the virtual environment; returns what a peer refused, and why."""
    from toksmith import patterns

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "patterns.json").write_text(json.dumps(patterns.NAMED))
    refused = {}
    for name in names:
        vocabulary = load(data, folder, name)
        if not vocabulary.json_path.is_file():
            vocabulary.json_path.write_text(huggingface_json(vocabulary, patterns.NAMED[HUGGINGFACE_PATTERNS[name]]))
        if name == "qwen3" and "quicktok" in peers and not (folder / f"{QUICKTOK_QWEN3}.enc").is_file():
            try:
                import_into_quicktok(vocabulary)
            except Exception as error:
                refused[f"quicktok {name}"] = str(error).splitlines()[0]
    return refused


def import_into_quicktok(vocabulary: Vocabulary) -> None:
    """Import the file, which has no normalizer; quicktok proves it equal to `tokenizers` on texts of its own."""
    import importlib

    importer = importlib.import_module("quicktok.importer")
    importer.import_tokenizer(str(vocabulary.json_path), QUICKTOK_QWEN3, str(vocabulary.folder))


# A `tokenizer.json`, without a normalizer


def spelled_bytes() -> list[str]:
    """GPT-2's printable character for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [characters[byte] for byte in range(256)]


def merged_below(ranks: dict[bytes, int], token: bytes, limit: int) -> list[bytes]:
    """The parts of a token after all merges of a rank below `limit`."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while True:
        pairs = ((ranks.get(parts[i] + parts[i + 1], limit), i) for i in range(len(parts) - 1))
        rank, i = min(pairs, default=(limit, 0))
        if rank >= limit:
            return parts
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def merges_of(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The pair that makes each token, where there is one."""
    found = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = merged_below(ranks, token, rank) if len(token) > 1 else []
        if len(parts) == 2:
            found.append((parts[0], parts[1]))
    return found


def huggingface_json(vocabulary: Vocabulary, pattern: str) -> str:
    """The file's content, written by `tokenizers` itself."""
    import importlib

    hf = importlib.import_module("tokenizers")
    characters = spelled_bytes()
    ranks = vocabulary.ranks()

    def spell(token: bytes) -> str:
        return "".join(characters[byte] for byte in token)

    model = hf.models.BPE(
        vocab={spell(token): rank for token, rank in ranks.items()} | vocabulary.special_tokens,
        merges=[(spell(left), spell(right)) for left, right in merges_of(ranks)],
        ignore_merges=vocabulary.name in ("cl100k", "o200k"),
    )
    made = hf.Tokenizer(model)
    if vocabulary.name == "gpt2":
        made.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    else:
        split = hf.pre_tokenizers.Split(hf.Regex(pattern), "isolated")
        rest = hf.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        made.pre_tokenizer = hf.pre_tokenizers.Sequence([split, rest])
    made.decoder = hf.decoders.ByteLevel()
    made.add_special_tokens(sorted(vocabulary.special_tokens, key=vocabulary.special_tokens.__getitem__))
    text: str = made.to_str()
    return text
