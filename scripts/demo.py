"""What `make demo` runs: toksmith from training to decoding, on text that this repository holds."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

import toksmith
from toksmith.lab.merge_table import merge_table
from toksmith.lab.spans import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[1]
VOCAB_SIZE = 4096
SPECIAL = "<|endoftext|>"
SAMPLES = {
    "English": "The tokenizer merges the pair of pieces that occurs most often.",
    "Python": "def decode(ids: list[int]) -> str:\n    return text",
    "Rust": "pub fn merge(&mut self) -> Result<Vec<u32>, Error> {",
    "German": "Die häufigsten Paare verschmelzen zuerst.",
    "Chinese": "先合并最常见的一对。",
    "Emoji": "ok 👍🏽",
}
WORD = " tokenizers"
SHADES = ("on dark_green", "on dark_blue", "on purple4", "on dark_red")

console = Console(highlight=False)


def main() -> None:
    files = documents()
    tokenizer = train(files)
    show_merges(tokenizer)
    show_samples(tokenizer)
    show_explanation(tokenizer)
    save_and_load(tokenizer)
    console.print("\nNext: toksmith --help, and the README.")


def documents() -> list[Path]:
    """Return this project's documents and sources; not this file, whose samples would be known by heart."""
    found = [*ROOT.glob("*.md")]
    for folder in ("docs", "src", "python", "tests", "benches"):
        found += [path for kind in ("md", "py", "rs") for path in (ROOT / folder).rglob(f"*.{kind}")]
    return sorted(path for path in found if path.name != "unicode_tables.rs")  # a table of numbers


def title(text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def train(files: list[Path]) -> toksmith.Tokenizer:
    size = sum(path.stat().st_size for path in files)
    title(f"Training on toksmith's own documents and sources: {len(files)} files, {size:,} bytes")
    start = time.perf_counter()
    tokenizer = toksmith.train(files, VOCAB_SIZE, special_tokens=[SPECIAL])
    seconds = time.perf_counter() - start
    console.print(
        f"{tokenizer.vocab_size:,} tokens = 256 bytes + 1 special token + {len(tokenizer.merges):,} merges, "
        f"in {seconds:.2f} s"
    )
    tokens = sum(tokenizer.count(path.read_bytes().decode()) for path in files)
    console.print(f"with it this text is {tokens:,} tokens: {size / tokens:.2f} bytes per token")
    return tokenizer


def show_merges(tokenizer: toksmith.Tokenizer) -> None:
    title("The first merges: the most frequent pairs (␣ is a space)")
    first = [f"{shown(left)}+{shown(right)}" for left, right in tokenizer.merges[:24]]
    console.print("   ".join(first), markup=False)
    title("The longest tokens")
    longest = sorted(tokenizer.vocab.values(), key=len, reverse=True)
    words = [token for token in longest if any(map(str.isalpha, token.decode(errors="ignore")))]
    console.print("   ".join(map(shown, words[:14])), markup=False)


def show_samples(tokenizer: toksmith.Tokenizer) -> None:
    title("Other texts, token by token")
    cut = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    cut.add_column()
    cut.add_column(overflow="fold")
    sizes = Table("", "bytes", "tokens", "bytes per token", box=None, padding=(0, 3, 0, 0))
    for name, text in SAMPLES.items():
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        cut.add_row(name, pieces(map(tokenizer.token_bytes, ids)))
        size = len(text.encode())
        sizes.add_row(name, str(size), str(len(ids)), f"{size / len(ids):.2f}")
    console.print(cut)
    title("Bytes per token, where raw bytes have 1.00")
    console.print(sizes)
    console.print("Text like that it was trained on becomes short; any other is longer, and exact all the same.")


def pieces(tokens: Iterable[bytes]) -> Text:
    """Return tokens side by side, told apart by colour, or by bars where there is none."""
    if console.color_system is None:
        return Text("|".join(map(shown, tokens)))
    parts = [Text(shown(token).replace("␣", " "), SHADES[i % len(SHADES)]) for i, token in enumerate(tokens)]
    return Text.assemble(*parts)


def show_explanation(tokenizer: toksmith.Tokenizer) -> None:
    title(f"How {shown(WORD.encode())} is encoded: the pair of the lowest rank merges first")
    console.print(merge_table(toksmith.lab.explain(tokenizer, WORD)))


def save_and_load(tokenizer: toksmith.Tokenizer) -> None:
    title("Saved and loaded again")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tokenizer.save(path)
        loaded = toksmith.Tokenizer.load(path)
        assert loaded == tokenizer
        size = f"one JSON file of {path.stat().st_size:,} bytes"
        console.print(f"{size}; the tokenizer in it equals the first, fingerprint {loaded.fingerprint[:16]}…")


if __name__ == "__main__":
    main()
