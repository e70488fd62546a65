"""What programs make of texts with tiktoken: run as `consumers.py NAME FOLDER`, it prints the results as JSON.

The tests run it twice, with tiktoken and with toksmith under its name, and compare what it prints.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import tiktoken

TEXTS = [
    "",
    "Hello world, it's a test.\n\nA second paragraph of   spaces, and 1234567 digits. " * 20,
    "def f(x):\n    return x + 1\n\n\nclass A:\n\tpass\n" * 15,
    "Žluťoučký kůň úpěl ďábelské ódy. 我能吞下玻璃而不伤身体。 👍🏽 q\u0301\u200d" * 12,
    "The quick brown fox jumps over the lazy dog. " * 60,
]


def langchain() -> Any:
    from langchain_text_splitters import CharacterTextSplitter, RecursiveCharacterTextSplitter, TokenTextSplitter

    splitters: list[Any] = [
        TokenTextSplitter(encoding_name="cl100k_base", chunk_size=50, chunk_overlap=7),
        TokenTextSplitter(model_name="gpt-4o", chunk_size=33, chunk_overlap=0),
        TokenTextSplitter(
            encoding_name="gpt2", chunk_size=40, chunk_overlap=9, allowed_special="all", disallowed_special=()
        ),
        CharacterTextSplitter.from_tiktoken_encoder("cl100k_base", chunk_size=30, chunk_overlap=5, separator=" "),
        RecursiveCharacterTextSplitter.from_tiktoken_encoder("o200k_base", chunk_size=30, chunk_overlap=3),
    ]
    splits = [splitter.split_text(text) for splitter in splitters for text in TEXTS]
    return [splits, refusal(lambda: splitters[0].split_text("a <|endoftext|>"))]


def chonkie() -> Any:
    from chonkie import RecursiveChunker, SentenceChunker, TokenChunker
    from chonkie.tokenizer import AutoTokenizer

    found: list[Any] = []
    for name in ("cl100k_base", "o200k_base", "gpt2"):
        encoding = tiktoken.get_encoding(name)
        tokenizer = AutoTokenizer(encoding)
        found.append([tokenizer._backend, tokenizer.count_tokens_batch(TEXTS), tokenizer.encode_batch(TEXTS)])
        found.append(tokenizer.decode_batch(tokenizer.encode_batch(TEXTS)))
        for chunker in (
            TokenChunker(encoding, chunk_size=40, chunk_overlap=10),
            SentenceChunker(encoding, chunk_size=60, chunk_overlap=8),
            RecursiveChunker(encoding, chunk_size=30),
        ):
            for text in TEXTS[1:]:
                chunks = chunker.chunk(text)
                found.append([[one.text, one.start_index, one.end_index, one.token_count] for one in chunks])
    return found


def semchunk() -> Any:
    import semchunk

    found: list[Any] = []
    for tokenizer in ("gpt-4", "o200k_base", tiktoken.get_encoding("gpt2")):
        chunker = semchunk.chunkerify(tokenizer, 25)
        found += [chunker(text) for text in TEXTS]
        found += [list(map(list, chunker(text, offsets=True, overlap=0.3))) for text in TEXTS[1:]]
        found.append(chunker(TEXTS))
    return found


def ttok() -> Any:
    from click.testing import CliRunner
    from ttok.cli import cli

    text = TEXTS[1]
    calls = [
        ["hello world"],
        ["hello world", "--tokens"],
        ["hello world", "--encode"],
        ["hello world", "--encode", "-m", "gpt2"],
        ["--decode", "9906 1917 0"],
        ["--decode", "9906 1917", "--tokens"],
        [text, "-t", "12"],
        [text, "-m", "gpt-4o"],
        ["x", "-m", "no-such-model"],
        ["a <|endoftext|> b", "--allow-special"],
        ["a <|endoftext|> b"],
        ["--list-models"],
    ]
    found: list[Any] = []
    for call in calls:
        result = CliRunner().invoke(cli, call)
        # The refusal has other words around the phrase that ttok looks for.
        phrases = ("disallowed special token", "Use --allow-special to allow special tokens")
        same = [phrase in result.output for phrase in phrases] if call == calls[-2] else result.output
        found.append([result.exit_code, same])
    return found


def whisper(folder: Path) -> Any:
    # The package imports torch; its module of tokenizers does not.
    spec = importlib.util.spec_from_file_location("whisper_tokenizer", folder / "whisper/tokenizer.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: list[Any] = []
    for arguments in (
        {"multilingual": False},
        {"multilingual": True},
        {"multilingual": True, "language": "ja", "task": "translate", "num_languages": 100},
    ):
        one = module.get_tokenizer(**arguments)
        found.append([one.encoding.n_vocab, one.eot, one.sot, one.sot_sequence, one.timestamp_begin, one.no_speech])
        found.append([one.all_language_tokens, one.all_language_codes, sorted(one.non_speech_tokens)])
        ids = [one.encode(text) for text in TEXTS]
        found.append([ids, [one.decode(some) for some in ids], one.special_tokens])
        times = [*ids[1][:9], one.timestamp_begin + 5, *ids[3][:9], one.timestamp_begin + 50]
        found.append([one.decode_with_timestamps(times), one.split_to_word_tokens(ids[1] + [one.eot])])
        found.append([one.split_tokens_on_unicode(ids[3]), one.split_tokens_on_spaces(ids[3])])
        empty = [id for id in (50256, 50255) if one.encoding.decode([id]) == ""]
        found.append([empty, refusal(lambda tokenizer=one: tokenizer.encode("<|endoftext|>"))])
    return found


def refusal(call: Any) -> Any:
    """The type of what a call raises, and whether the phrase is in it that programs look for."""
    try:
        return call()
    except ValueError as error:
        return [type(error).__name__, "disallowed special token" in str(error)]


if __name__ == "__main__":
    name, folder = sys.argv[1], Path(sys.argv[2])
    result = whisper(folder) if name == "whisper" else globals()[name]()
    print(json.dumps([tiktoken.__name__, result]))
