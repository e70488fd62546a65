"""What a tokenizer of `tokenizers` 0.23 or 1.0, or of toksmith's stand-in, says about a text; also as a process.

The process, `answers.py FOLDER`, has the library in FOLDER. It takes lines of JSON: file, texts, ids, questions.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def view(encoding: Any) -> dict[str, list[int]]:
    """Return all that an encoding of 1.0 has."""
    return {"ids": encoding.ids, "type_ids": encoding.type_ids, "attention_mask": encoding.attention_mask}


def _pair(tokenizer: Any, text: str) -> Any:
    pair = (text, text[::2])
    return tokenizer.encode(pair) if hasattr(tokenizer, "tokenize") else tokenizer.encode(*pair)


def _tokens(tokenizer: Any, text: str) -> list[str]:
    return tokenizer.tokenize(text) if hasattr(tokenizer, "tokenize") else tokenizer.encode(text).tokens


def _special_as_text(tokenizer: Any, text: str) -> Any:
    if hasattr(tokenizer, "tokenize"):
        return tokenizer.encode(text, encode_special_tokens=True)
    tokenizer.encode_special_tokens = True
    try:
        return tokenizer.encode(text)
    finally:
        tokenizer.encode_special_tokens = False


QUESTIONS: dict[str, Callable[[Any, str, list[list[int]]], Any]] = {
    "add_special_tokens=False": lambda tokenizer, text, _: view(tokenizer.encode(text, add_special_tokens=False)),
    "encode": lambda tokenizer, text, _: view(tokenizer.encode(text)),
    "encode_special_tokens": lambda tokenizer, text, _: view(_special_as_text(tokenizer, text)),
    "pair": lambda tokenizer, text, _: view(_pair(tokenizer, text)),
    "encode_batch": lambda tokenizer, text, _: [view(part) for part in tokenizer.encode_batch([text, "a b"])],
    "tokens": lambda tokenizer, text, _: _tokens(tokenizer, text),
    "decode": lambda tokenizer, _, ids: [
        tokenizer.decode(some, skip_special_tokens=skip) for some in ids for skip in (True, False)
    ],
}


def answers(
    tokenizer: Any, texts: list[str], ids: list[list[list[int]]], questions: tuple[str, ...] = tuple(QUESTIONS)
) -> list[dict[str, Any]]:
    """Return what a tokenizer answers for each text and its ids, or the errors that it raises."""
    return [
        {name: _attempt(QUESTIONS[name], tokenizer, text, some) for name in questions}
        for text, some in zip(texts, ids, strict=True)
    ]


def _attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except BaseException as error:  # a panic is no Exception
        return {"error": f"{type(error).__name__}: {error}"}


@contextlib.contextmanager
def process(folder: str) -> Iterator[Callable[..., Any]]:
    """Run the process; yields what asks it for the answers about a file, or for the error of loading it."""
    command = [sys.executable, __file__, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:

        def ask(*question: Any) -> Any:
            print(json.dumps(question), file=started.stdin, flush=True)
            return json.loads(started.stdout.readline())  # type: ignore[union-attr]

        yield ask


def main(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    from tokenizers import Tokenizer

    path = folder / f"tokenizer-{os.getpid()}.json"  # 1.0 reads nothing but a file
    for line in sys.stdin:
        content, *question = json.loads(line)
        path.write_text(content, encoding="utf-8")
        tokenizer = _attempt(Tokenizer.from_file, str(path))
        path.unlink()
        print(json.dumps(tokenizer if isinstance(tokenizer, dict) else answers(tokenizer, *question)), flush=True)


if __name__ == "__main__":
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # panics
    main(Path(sys.argv[1]))
