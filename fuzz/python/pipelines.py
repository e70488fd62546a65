"""Whole files of tokenizers against Hugging Face's library, each on many texts; what differs is made small."""

from __future__ import annotations

import itertools
import json
import os
import re
import time
import warnings
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pipeline_files
import splitting
import tokenizers
from choices import Input
from splitting import outcomes, without_panic

import toksmith
from toksmith.compat import huggingface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pipeline_files import File

    Check = Callable[[Any, str], dict[str, Any]]

TEXTS = 24
"""Texts for each file."""
SHOWN = 2
"""Differences of one category that a process makes small and reports; it counts the others."""
SECONDS = 4
"""For making one difference small."""

os.environ["RUST_BACKTRACE"] = "0"


class Loaded(NamedTuple):
    """The same file, loaded by each; None where it is refused."""

    theirs: Any
    plain: Any
    """Without post-processor, truncation and padding."""
    stand_in: Any
    core: Any


def view(encoding: Any) -> dict[str, Any]:
    """Return all that an encoding says."""
    return {
        "ids": encoding.ids,
        "tokens": encoding.tokens,
        "offsets": encoding.offsets,
        "type_ids": encoding.type_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
        "attention_mask": encoding.attention_mask,
        "word_ids": encoding.word_ids,
        "sequence_ids": encoding.sequence_ids,
        "overflowing": [view(part) for part in encoding.overflowing],
    }


def _ids(tokenizer: Any, text: str) -> list[int]:
    """Return an id for each character of a text, some of them without a token, many of them of the last ones."""
    size = tokenizer.get_vocab_size() + 1
    hashes = [zlib.crc32(character.encode()) for character in text]
    return [size - 1 - value // 2 % 20 % size if value % 2 else value // 2 % size for value in hashes]


def _decoded(tokenizer: Any, text: str) -> dict[str, Any]:
    found = {}
    for skip in (True, False):
        ids = _ids(tokenizer, text)
        found[f"random ids, skip_special_tokens={skip}"] = tokenizer.decode(ids, skip_special_tokens=skip)
        ids = tokenizer.encode(text).ids
        found[f"ids, skip_special_tokens={skip}"] = tokenizer.decode(ids, skip_special_tokens=skip)
    return found


def _special_off(tokenizer: Any, text: str) -> dict[str, Any]:
    tokenizer.encode_special_tokens = True
    try:
        return view(tokenizer.encode(text))
    finally:
        tokenizer.encode_special_tokens = False


def documented(file: File, category: str) -> bool:
    """Whether docs/huggingface.md says that such a file differs so."""
    model = file["model"]
    # The tokens of the bytes of a prefix or a suffix lie beyond the text there.
    is_about_places = "offsets" in category or "overflowing" in category or category.startswith("batch")
    if is_about_places and model["byte_fallback"]:
        return bool(model["continuing_subword_prefix"] or model["end_of_word_suffix"])
    # Text that is not found as a special token becomes none by `ignore_merges` here.
    rows = [row for row in file["added_tokens"] if row["special"] and row["content"] in model["vocab"]]
    as_text = category.startswith("encode_special_tokens") or category == "Tokenizer.encode: special=False"
    return model["ignore_merges"] and any(
        as_text or (row["single_word"] and "decode" not in category) for row in rows
    )


STAND_IN: dict[str, Check] = {
    "encode": lambda tokenizer, text: view(tokenizer.encode(text)),
    "add_special_tokens=False": lambda tokenizer, text: view(tokenizer.encode(text, add_special_tokens=False)),
    "pair": lambda tokenizer, text: view(tokenizer.encode(text, text[::2])),
    "is_pretokenized": lambda tokenizer, text: view(tokenizer.encode(text.split(" "), is_pretokenized=True)),
    "encode_special_tokens": _special_off,
    "decode": _decoded,
}
"""Calls that the stand-in takes as the original does."""


def _ids_there(plain: Any, text: str) -> dict[str, Any]:
    ids = plain.encode(text, add_special_tokens=False).ids
    plain.encode_special_tokens = True
    ordinary = plain.encode(text, add_special_tokens=False).ids
    plain.encode_special_tokens = False
    doors = dict.fromkeys(("ids", "iterable", "parts", "batch"), ids)
    return {**doors, "special=False": ordinary, "count": len(ids), "split": text}


def _ids_here(core: Any, plain: Any, text: str) -> dict[str, Any]:
    cut = len(text) // 3
    pieces = [text[:cut], text[cut : 2 * cut], text[2 * cut :]]
    return {
        "ids": core.encode(text),
        "iterable": list(core.encode_iterable(pieces)),
        "parts": core.encode_parts([(piece, True) for piece in pieces]),
        "batch": core.encode_batch([text, "a"])[0],
        "special=False": core.encode(text, special=False),
        "count": core.count(text),
        "split": "".join(core.split(text, 100)),
    }


def _offsets_there(plain: Any, text: str) -> dict[str, Any]:
    encoding = plain.encode(text, add_special_tokens=False)
    return {"ids": encoding.ids, "offsets": [list(span) for span in encoding.offsets]}


def _offsets_here(core: Any, plain: Any, text: str) -> dict[str, Any]:
    ids, spans = core.encode_with_offsets(text)
    return {"ids": ids, "offsets": spans.tolist()}


def _decoded_there(plain: Any, text: str) -> dict[str, Any]:
    ids = _known(plain, text)
    return {"text": plain.decode(ids, skip_special_tokens=False)} if plain.decoder else {}


def _decoded_here(core: Any, plain: Any, text: str) -> dict[str, Any]:
    return {"text": core.decode(_known(plain, text))}


def _streamed(core: Any, plain: Any, text: str) -> dict[str, Any]:
    return {"text": "".join(core.decode_stream(_known(plain, text)))}


CORE: dict[str, tuple[Check, Callable[[Any, Any, str], dict[str, Any]]]] = {
    "Tokenizer.encode": (_ids_there, _ids_here),
    "Tokenizer.encode_with_offsets": (_offsets_there, _offsets_here),
    "Tokenizer.decode": (_decoded_there, _decoded_here),
}
"""What `Tokenizer` gives, as the original without post-processor, truncation and padding."""


def _known(tokenizer: Any, text: str) -> list[int]:
    """Return random ids of tokens."""
    return [id for id in _ids(tokenizer, text) if tokenizer.id_to_token(id) is not None]


def load(file: File, count: bool = False) -> Loaded | None:
    """Load a file by each library; None if the original refuses it."""
    content = json.dumps(file)
    theirs = without_panic(lambda: tokenizers.Tokenizer.from_str(content))
    if theirs is None:
        return None
    parts = {**file, "post_processor": None, "truncation": None, "padding": None}
    plain = theirs if parts == file else tokenizers.Tokenizer.from_str(json.dumps(parts))
    stand_in, reason = _loaded(lambda: huggingface.Tokenizer.from_str(content))
    core, other_reason = _loaded(lambda: toksmith.Tokenizer.from_huggingface(theirs))
    if count and reason:
        outcomes[f"refused: {reason}"] += TEXTS
    elif count and other_reason:
        outcomes[f"refused by from_huggingface alone: {other_reason}"] += TEXTS
    return Loaded(theirs, plain, stand_in, core)


def _loaded(load: Callable[[], Any]) -> tuple[Any, str]:
    """Return what is loaded, or the reason why it is refused, in general words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load(), ""
    except ValueError as error:
        message = re.sub(r"^(\w+: )?\$\.([a-z_]+)[^:]*: ", r"\2: ", str(error).split("\n")[0])
        return None, _general(message)


def _general(message: str) -> str:
    """Return a message without what it quotes and counts."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\b[0-9,]+\b|<0x..>|(0x..(, )?)+", "…", message)[:110]


def differences(loaded: Loaded, texts: list[str], only: str = "") -> Iterator[tuple[str, list[str], Any, Any]]:
    """Yield a category, the texts, and what is expected and found, for each difference; or for one category."""

    def compare(name: str, texts: list[str], there: Callable[[], Any], here: Callable[[], Any]) -> Any:
        if only and not only.startswith(f"{name}: "):
            return
        expected = without_panic(there)
        if expected is None:
            return
        try:
            found = here()
        except Exception as error:
            category = f"{name}: raises {type(error).__name__}: {_general(str(error))}"
            if only in ("", category):
                yield category, texts, expected, repr(error)
            return
        for key, value in expected.items():
            if found[key] != value and only in ("", f"{name}: {key}"):
                yield f"{name}: {key}", texts, value, found[key]

    theirs, plain, stand_in, core = loaded
    for text in texts:
        for name, check in STAND_IN.items() if stand_in else ():
            yield from compare(name, [text], partial(check, theirs, text), partial(check, stand_in, text))
        for name, (there, here) in CORE.items() if core else ():
            yield from compare(name, [text], partial(there, plain, text), partial(here, core, plain, text))
        if core:
            decoded = lambda text: {"text": core.decode(_known(plain, text))}  # noqa: E731
            yield from compare("decode_stream", [text], partial(decoded, text), partial(_streamed, core, plain, text))

    def batch(tokenizer: Any) -> dict[str, Any]:
        encodings = [view(encoding) for encoding in tokenizer.encode_batch(texts)]
        fast = [view(encoding) for encoding in tokenizer.encode_batch_fast(texts)]
        pairs = [view(encoding) for encoding in tokenizer.encode_batch([(text, "a b") for text in texts[::4]])]
        return {"encode_batch": encodings, "encode_batch_fast": fast, "encode_batch of pairs": pairs}

    if stand_in:
        yield from compare("batch", texts, partial(batch, theirs), partial(batch, stand_in))
    if core:
        there = lambda: {"ids": [encoding.ids for encoding in plain.encode_batch(texts)]}  # noqa: E731
        yield from compare("Tokenizer.encode_batch", texts, there, lambda: {"ids": core.encode_batch(texts)})


def pipelines(data: bytes) -> None:
    """Whole files with texts: the stand-in and `Tokenizer` against Hugging Face's library."""
    maker = pipeline_files.Maker(Input(data))
    texts = maker.texts(TEXTS)
    with splitting.within_seconds(10):
        loaded = load(maker.file, count=True)
        if loaded is None:
            return
        if loaded.stand_in or loaded.core:
            outcomes["compared"] += TEXTS
        seen: dict[str, tuple[list[str], Any, Any]] = {}
        for category, *difference in differences(loaded, texts):
            seen.setdefault(category, tuple(difference))
    for category, (some, *_) in seen.items():
        if documented(maker.file, category):
            outcomes[f"documented: {category}"] += 1
            continue
        outcomes[f"differs: {category}"] += 1
        if outcomes[f"differs: {category}"] <= SHOWN:
            raise AssertionError(minimized(maker.file, some, category))


def minimized(file: File, texts: list[str], category: str) -> str:
    """Return the smallest file and the shortest text that were found to differ in the same way, and how."""

    def differ(file: File, texts: list[str]) -> bool:
        try:
            loaded = load(file)
            return loaded is not None and any(differences(loaded, texts, category))
        except Exception:
            return False

    file, texts = smallest(file, texts, differ)
    loaded = load(file)
    assert loaded is not None
    for _, some, expected, found in differences(loaded, texts, category):
        return f"{category} of {some!r}: expected {expected!r}, found {found!r}; {shown(file)}"
    return f"{category} of {texts!r}: not always; {shown(file)}"


def smallest(file: File, texts: list[str], differ: Callable[[File, list[str]], bool]) -> tuple[File, list[str]]:
    """Return the smallest file and texts that were found to differ still."""
    start, size = time.monotonic(), -1
    while size != (size := len(json.dumps([file, texts]))) and time.monotonic() - start < SECONDS:
        for change in (_smaller_texts, _smaller_files):
            position = 0  # what was tried before it in vain is in vain again
            while time.monotonic() - start < SECONDS:
                candidates = itertools.islice(change(file, texts), position, None)
                tried = 0
                for tried, smaller in enumerate(candidates):  # noqa: B007
                    if smaller != (file, texts) and differ(*smaller):
                        file, texts = smaller
                        break
                else:
                    break
                position += tried
    return file, texts


def _smaller_texts(file: File, texts: list[str]) -> Iterator[tuple[File, list[str]]]:
    for i, text in enumerate(texts):
        if len(texts) > 1:
            yield file, texts[:i] + texts[i + 1 :]
        for size in (max(len(text) // 2, 1), 1):
            for start in range(0, len(text), size):
                yield file, [*texts[:i], text[:start] + text[start + size :], *texts[i + 1 :]]


def _smaller_files(file: File, texts: list[str]) -> Iterator[tuple[File, list[str]]]:
    model, rows = file["model"], file["added_tokens"]
    yield {**file, "added_tokens": []}, texts
    yield {**file, "model": {**model, "merges": []}}, texts
    for key in ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding"):
        for smaller in _smaller_parts(file[key]):
            yield {**file, key: smaller}, texts
    for i, row in enumerate(rows):
        yield {**file, "added_tokens": rows[:i] + rows[i + 1 :]}, texts
        for flag in pipeline_files.FLAGS:
            if row[flag]:
                yield {**file, "added_tokens": [*rows[:i], {**row, flag: False}, *rows[i + 1 :]]}, texts
    for option, value in model.items():
        if value and option not in ("type", "vocab", "merges"):
            yield {**file, "model": {**model, option: False if value is True else None}}, texts
    for i in range(len(model["merges"])):
        yield {**file, "model": {**model, "merges": model["merges"][:i] + model["merges"][i + 1 :]}}, texts
    vocab = model["vocab"]
    usual = {*pipeline_files.BYTES} if len(vocab) > 200 else set()
    for tokens in (
        [token for token in vocab if token not in usual],
        *([token] for token in vocab if token not in usual),
    ):
        left = [token for token in vocab if token not in tokens]
        yield {**file, "model": {**model, "vocab": {token: id for id, token in enumerate(left)}}}, texts


def _smaller_parts(part: Any) -> Iterator[Any]:
    if part is None:
        return
    yield None
    for key, value in part.items():
        if key in ("normalizers", "pretokenizers", "processors", "decoders"):
            yield from value
            for i, inner in enumerate(value):
                for smaller in _smaller_parts(inner):
                    yield {**part, key: [*value[:i], *([] if smaller is None else [smaller]), *value[i + 1 :]]}
        elif value is True:
            yield {**part, key: False}
        elif key in ("single", "pair") and value:
            yield {**part, key: value[1:]}
            yield {**part, key: value[:-1]}


def shown(file: File) -> str:
    """Return a file as JSON without what is as usual."""
    model = {key: value for key, value in file["model"].items() if value and key not in ("type", "vocab")}
    usual = {*pipeline_files.BYTES, *(f"<0x{byte:02X}>" for byte in range(256))}
    vocab = file["model"]["vocab"]
    model["vocab"] = {token: id for token, id in vocab.items() if token not in usual}
    if len(vocab) > 200:
        model["vocab and"] = "all bytes" if "Ġ" in vocab else "<0x00> to <0xFF>"
    parts = {key: value for key, value in file.items() if value and key not in ("model", "added_tokens", "version")}
    rows = [
        {"id": row["id"], "content": row["content"], **{flag: True for flag in pipeline_files.FLAGS if row[flag]}}
        for row in file["added_tokens"]
    ]
    return json.dumps({**parts, **({"added_tokens": rows} if rows else {}), "model": model}, ensure_ascii=False)
