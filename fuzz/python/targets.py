"""What is fuzzed in Python: each target takes any bytes, and raises where something other than documented happens.

The inputs are choices (`choices`): of a good file and of what is changed in it. Loaders may raise `ValueError` alone.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import io
import json
import pickle
import pickletools
import warnings
from collections.abc import Callable
from typing import Any

import alignments
import auto_folders
import checks
import documents
import folders
import masks
import methods
import pipelines
import sentencepiece_models
import splitting
from checks import FOLDER, written
from choices import Input, changed_bytes, changed_value

import toksmith.tokenizer
from toksmith import Encoding, PretokenCounts, Tokenizer, train
from toksmith._core import spell
from toksmith.compat.minbpe import BasicTokenizer, RegexTokenizer

Target = Callable[[bytes], None]

CORPUS = ["ab ab abc lower low low lowest 'll 12 é中é中"]


@functools.cache
def trained(pattern: str | None = "gpt2") -> Tokenizer:
    """Return the tokenizer that good files are made of."""
    return train(iter(CORPUS), 270, special_tokens=["<|end|>", "<s>"], pattern=pattern)


def refused(load: Callable[[], Any]) -> Any:
    """Return what is loaded, or None where it is refused as documented. Messages are short, and all printable."""
    loaded, messages = None, list[str]()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            loaded = load()
        except ValueError as error:
            messages.append(str(error))
    for message in (*messages, *(str(one.message) for one in warned)):
        assert len(message) < 3000, "a message repeats its input"
        assert message.replace("\n", "").isprintable(), "a message has a character that a terminal obeys"
    return loaded


def _json(value: Any, input: Input) -> bytes:
    data = json.dumps(value, ensure_ascii=bool(input.below(2))).encode("utf-8", "surrogatepass")
    return changed_bytes(data, input) if input.below(3) == 0 else data


# Loaders


@functools.cache
def _native() -> list[str]:
    good = []
    for pattern in ("gpt2", None, r"\w+|\s"):
        trained(pattern).save(FOLDER / "good")
        good.append((FOLDER / "good").read_text())
    return good


def native(data: bytes) -> None:
    """`Tokenizer.load`."""
    input = Input(data)
    path = written("native", _json(changed_value(input.pick(_native()), input), input))
    tokenizer = refused(lambda: Tokenizer.load(path))
    if tokenizer is not None:
        checks.works(tokenizer)


@functools.cache
def _ranks() -> bytes:
    more = {256: b"ab", 257: b"abc", 258: b" l", 259: b"low", 262: b"lo", 300: b"xyz"}
    tokens = {byte: bytes([byte]) for byte in range(256)} | more
    return b"".join(base64.b64encode(token) + b" %d\n" % id for id, token in tokens.items())


def tiktoken(data: bytes) -> None:
    """`from_tiktoken` of both classes, which agree."""
    input = Input(data)
    specials = input.pick([{}, {"<|end|>": 400}, {"<|end|>": 97}, {"ab": 256}, {"low": 2**32}, {"a": 500, "<": 501}])
    path = written("ranks.tiktoken", changed_bytes(_ranks(), input))
    tokenizer = refused(lambda: Tokenizer.from_tiktoken(path, pattern="gpt2", special_tokens=specials))
    encoding = refused(lambda: Encoding.from_tiktoken(path, pattern="gpt2", special_tokens=specials))
    if tokenizer is not None:
        checks.works(tokenizer)
    if encoding is not None:
        ids = encoding.encode_ordinary(checks.TEXT)
        assert encoding.decode(ids) == checks.TEXT
        # A special token on the id of a rank leaves that rank there in one of them.
        if tokenizer is not None and all(id >= 400 for id in specials.values()):
            assert ids == tokenizer.encode(checks.TEXT, special=False)


@functools.cache
def _gpt2() -> tuple[str, bytes]:
    merges = [("a", "b"), ("ab", "c"), ("Ġ", "l"), ("Ġl", "ow"), ("o", "w")]
    tokens = [spell(bytes([byte])) for byte in range(256)] + ["ab", "abc", "Ġl", "ow", "Ġlow", "<|end|>"]
    lines = "#version: 0.2\n" + "".join(f"{left} {right}\n" for left, right in merges)
    return json.dumps({token: id for id, token in enumerate(tokens)}), lines.encode()


def gpt2(data: bytes) -> None:
    """`Tokenizer.from_files`."""
    input = Input(data)
    vocab, merges = _gpt2()
    specials = input.pick([None, ["<|end|>"], ["a"], ["ab", "<new>"], {"<|end|>": 261}, {"x": 5}])
    one = written("vocab.json", _json(changed_value(vocab, input), input))
    other = written("merges.txt", changed_bytes(merges, input))
    tokenizer = refused(lambda: Tokenizer.from_files(one, other, specials))
    if tokenizer is not None:
        checks.works(tokenizer)


@functools.cache
def _huggingface() -> list[str]:
    vocab, lines = _gpt2()
    merges = [line.split(" ") for line in lines.decode().splitlines()[1:]]
    model = {"type": "BPE", "vocab": json.loads(vocab), "merges": merges, "dropout": None, "unk_token": None,
             "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
             "ignore_merges": False}  # fmt: skip
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    split = {"type": "Split", "pattern": {"Regex": r"\p{L}+|\d{1,3}|\s+|."}, "behavior": "Isolated", "invert": False}
    base = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 261, "content": "<|end|>", **flags}],
        "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": {"type": "ByteLevel"},
        "model": model,
    }  # fmt: skip
    steps = [{"type": "NFC"}, {"type": "Prepend", "prepend": "a"}, {"type": "Strip", "strip_left": True,
    "strip_right": False},
             {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "Lowercase"}]  # fmt: skip
    template = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "<|end|>", "type_id": 0}}], "pair": [],
                "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [261], "tokens": ["<|end|>"]}}}  # fmt: skip
    staged = {
        "type": "Sequence",
        "pretokenizers": [{"type": "Digits", "individual_digits": True}, split, {**level, "use_regex": False}],
    }
    more = [{"id": 262, "content": "low", **flags, "special": False, "lstrip": True, "normalized": True}]
    good = [
        base,
        {**base, "normalizer": {"type": "Sequence", "normalizers": steps}, "post_processor": template},
        {**base, "pre_tokenizer": staged, "added_tokens": base["added_tokens"] + more},
        {**base, "pre_tokenizer": {**level, "add_prefix_space": True}, "normalizer": steps[3],
         "model": {**model, "ignore_merges": True}},
    ]  # fmt: skip
    return [json.dumps(whole) for whole in good]


def huggingface(data: bytes) -> None:
    """`Tokenizer.from_huggingface`."""
    input = Input(data)
    path = written("tokenizer.json", _json(changed_value(input.pick(_huggingface()), input), input))
    tokenizer = refused(lambda: Tokenizer.from_huggingface(path))
    if tokenizer is not None:
        checks.works(tokenizer)


@functools.cache
def _sentencepiece() -> list[str]:
    """Files of tokenizers that merge characters: as Llama's, as Gemma's, with Metaspace, with an unknown token."""
    merges = ["▁ l", "o w", "▁l ow", "e r", "▁▁ ▁▁", "▁ ▁", "a b", "l ow", "1 2", "é 中"]
    made = [merge.replace(" ", "") for merge in merges]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁lower ab12é中", *made]
    model = {"type": "BPE", "vocab": {token: id for id, token in enumerate(dict.fromkeys(tokens))}, "merges": merges,
             "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None,
             "fuse_unk": True, "byte_fallback": True, "ignore_merges": False}  # fmt: skip
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = [{"id": id, "content": token, **flags} for id, token in enumerate(tokens[:3])]
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    prepend = {"type": "Prepend", "prepend": "▁"}
    back = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    steps = [back, {"type": "ByteFallback"}, {"type": "Fuse"}]
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    base = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": [prepend, replace]}, "pre_tokenizer": None,
        "post_processor": None, "decoder": {"type": "Sequence", "decoders": [*steps, strip]}, "model": model,
    }  # fmt: skip
    few = {token: id for id, token in enumerate(["<unk>", *"▁lower ab12", *made[:3]])}
    without_bytes = {**model, "byte_fallback": False, "vocab": few, "merges": merges[:3]}
    good = [
        base,
        {**base, "normalizer": replace, "pre_tokenizer": split, "decoder": {"type": "Sequence", "decoders": steps}},
        {**base, "normalizer": None, "pre_tokenizer": metaspace, "decoder": metaspace},
        {**base, "model": without_bytes, "added_tokens": added[:1]},
    ]
    return [json.dumps(whole) for whole in good]


def sentencepiece(data: bytes) -> None:
    """`Tokenizer.from_huggingface`, of tokenizers that merge characters."""
    input = Input(data)
    path = written("characters.json", _json(changed_value(input.pick(_sentencepiece()), input), input))
    tokenizer = refused(lambda: Tokenizer.from_huggingface(path))
    if tokenizer is not None:
        checks.works(tokenizer)


@functools.cache
def _counts() -> bytes:
    PretokenCounts({b"low": 5, b"lower": 200, b"a" * 40: 1, "é".encode(): 2**40}).save(FOLDER / "good")
    return (FOLDER / "good").read_bytes()[:-32]


def counts(data: bytes) -> None:
    """`PretokenCounts.load`, mostly with a checksum that is right."""
    input = Input(data)
    magic, head, body = _counts().split(b"\n", 2)
    head = _json(changed_value(head, input), input)
    content = b"\n".join((magic, head, changed_bytes(body, input)))
    digest = hashlib.sha256(content).digest()
    path = written("counts", content + (digest if input.below(8) else digest[::-1]))
    loaded = refused(lambda: PretokenCounts.load(path))
    if loaded is None:
        return
    items = loaded.items()
    assert sum(count for _, count in items) == loaded.total
    assert all(loaded[pretoken] == count for pretoken, count in items)
    loaded.save(FOLDER / "again")
    again = PretokenCounts.load(FOLDER / "again")
    assert (again.items(), again.first_places()) == (items, loaded.first_places())
    with contextlib.suppress(ValueError):
        assert (loaded + again).total == 2 * loaded.total


def minbpe(data: bytes) -> None:
    """`load` of minbpe's classes."""
    input = Input(data)
    kind = input.pick([BasicTokenizer, RegexTokenizer])
    pattern = "" if kind is BasicTokenizer else input.pick([r"\w+|\s", r"\p{L}+|\s+|.", r"'(?i:[sdmt]|ll|ve|re)|\S+"])
    good = f"minbpe v1\n{pattern}\n1\n<|end|> 300\n97 98\n256 99\n108 111\n258 119\n"
    path = written("x.model", changed_bytes(good.encode(), input))
    loaded = kind()
    if refused(lambda: loaded.load(path) or True) is None:
        return
    text = checks.TEXT.replace("<|end|>", "")
    ids = refused(lambda: loaded.encode(text))  # None where it has a special token in it
    if kind is BasicTokenizer and not loaded.special_tokens:
        assert loaded.decode(ids) == text
    with contextlib.suppress(ValueError):  # a name with a line break in it
        loaded.save(FOLDER / "y")
        again = kind()
        again.load(FOLDER / "y.model")
        assert (again.merges, again.pattern) == (loaded.merges, loaded.pattern)
        assert refused(lambda: again.encode(text)) == ids


class _Unpickler(pickle.Unpickler):
    """Knows the names alone that a pickle of a tokenizer has: a changed name must not run anything else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name stands for."""
        if not module.startswith("toksmith"):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def _is_bomb(stream: bytes) -> bool:
    """Whether `pickle` itself would fill gigabytes: it makes room for any number of an object that a stream names."""
    with contextlib.suppress(ValueError):
        return any("PUT" in op.name and int(argument or 0) > 10_000 for op, argument, _ in pickletools.genops(stream))
    return False


@functools.cache
def _pickles() -> list[tuple[Any, bytes]]:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
    encoding = Encoding("x", pat_str=r"\w+|\s", mergeable_ranks=ranks, special_tokens={"<|end|>": 257, "<s>": 300})
    some = [trained("gpt2"), trained(None), trained(r"\w+|\s"), encoding]
    return [(one, pickle.dumps(one)) for one in some]


def pickled(data: bytes) -> None:
    """A pickle with changes: what is loaded is what was pickled."""
    input = Input(data)
    original, stream = input.pick(_pickles())
    # Else it is the one that is here already.
    toksmith.tokenizer._cores.clear()
    stream = changed_bytes(stream, input)
    if _is_bomb(stream):
        return
    try:
        loaded = _Unpickler(io.BytesIO(stream)).load()
    except (pickle.UnpicklingError, ValueError, TypeError, LookupError, EOFError, ImportError, OverflowError):
        return
    except (AttributeError, MemoryError) as error:
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        assert frame is not None and frame.tb_frame.f_code.co_filename == __file__, "more than `pickle` itself"
        return
    if isinstance(loaded, Tokenizer):
        assert loaded == original
    elif isinstance(loaded, Encoding):
        ranks = (loaded._mergeable_ranks, loaded._special_tokens, loaded._pat_str)
        assert ranks == (original._mergeable_ranks, original._special_tokens, original._pat_str)


@functools.cache
def _checkpoint() -> tuple[Tokenizer, bytes]:
    path = FOLDER / "checkpoint"
    tokenizer = train(iter(CORPUS), 268, checkpoint=(path, 0))
    return tokenizer, path.read_bytes() if path.exists() else b""


def checkpoint(data: bytes) -> None:
    """A training that goes on from a changed checkpoint: the same tokenizer, or a refusal, or one that works."""
    input = Input(data)
    expected, good = _checkpoint()
    magic, head, body = good.split(b"\n", 2)
    content = json.loads(head)
    if input.below(2):
        body = changed_bytes(body, input)
        content["sha256"] = hashlib.sha256(body).hexdigest()
    same = content["sha256"] == json.loads(head)["sha256"]
    path = written("changed", b"\n".join((magic, _json(changed_value(json.dumps(content), input), input), body)))
    tokenizer = refused(lambda: train(iter(CORPUS), 268, checkpoint=path))
    if tokenizer is not None and same:
        assert tokenizer == expected
    elif tokenizer is not None:
        checks.works(tokenizer)


ALL: dict[str, Target] = {
    target.__name__: target
    for target in (
        native, tiktoken, gpt2, huggingface, sentencepiece, counts, minbpe, pickled, checkpoint,
        folders.unfinished, folders.folder,
        splitting.named, splitting.tiktoken_patterns, splitting.huggingface_patterns, pipelines.pipelines,
        methods.arguments, documents.documents, alignments.alignments,
        auto_folders.auto_folders,
        sentencepiece_models.sentencepiece_models, masks.masks,
    )
}  # fmt: skip

warnings.simplefilter("ignore")
