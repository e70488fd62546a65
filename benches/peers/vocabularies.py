"""The vocabularies, from published rank files, and a `tokenizer.json` of each for peers that read nothing else."""

import json
from dataclasses import dataclass
from pathlib import Path

from published_ranks import huggingface, rank_file, read_ranks, read_specials

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
    data: Path
    special_tokens: dict[str, int]
    pattern: str
    json_path: Path
    folder: Path
    toksmith_pattern: str
    quicktok_name: str = QUICKTOK_QWEN3

    @property
    def ranks_path(self) -> Path:
        """The rank file."""
        return rank_file(self.data, SOURCES[self.name])

    @property
    def contiguous_json_path(self) -> Path:
        """The `tokenizer.json` without unused ids, for peers that refuse a gap before the special tokens."""
        return self.folder / f"{self.name}.contiguous.json"

    def ranks(self) -> dict[bytes, int]:
        """Read the rank file into a dictionary."""
        return read_ranks(self.data, SOURCES[self.name])


def all_specials(data: Path) -> list[str]:
    return sorted({token for name in SOURCES for token in read_specials(data, SOURCES[name])})


def load(data: Path, folder: Path, name: str) -> Vocabulary:
    patterns = json.loads((folder / "patterns.json").read_text())
    return Vocabulary(
        name,
        data,
        read_specials(data, SOURCES[name]),
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
        if not vocabulary.contiguous_json_path.is_file():
            vocabulary.contiguous_json_path.write_text(contiguous(vocabulary.json_path.read_text()))
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


def contiguous(text: str) -> str:
    """A `tokenizer.json` with a token for each unused id, which no merge makes and no pretoken of the pattern is."""
    found = json.loads(text)
    vocab = found["model"]["vocab"]
    used = {*vocab.values(), *(token["id"] for token in found["added_tokens"])}
    vocab |= {f"<|unused_{id}|>": id for id in range(max(used)) if id not in used}
    return json.dumps(found, ensure_ascii=False)


def huggingface_json(vocabulary: Vocabulary, pattern: str) -> str:
    """A `tokenizer.json` without a normalizer, written by `tokenizers` itself."""
    name = vocabulary.name
    made = huggingface(
        vocabulary.ranks(),
        vocabulary.special_tokens,
        None if name == "gpt2" else pattern,
        ignore_merges=name in ("cl100k", "o200k"),
    )
    text: str = made.to_str()
    return text
