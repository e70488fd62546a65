"""The post-processors of a `tokenizer.json`, which change the ids of an encoded text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...common.messages import shown
from . import components
from .encoding import Encoding, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

Content = dict[str, Any]

_ROBERTA = "RobertaProcessing"
_KNOWN = ("ByteLevel", "TemplateProcessing", _ROBERTA, "BertProcessing", "Sequence")


class PostProcessor(components.Component):
    """A post-processor, which puts tokens around the ids of a text."""

    _LIST = "processors"

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the post-processor adds."""
        return added_count(self, is_pair)

    def process(self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True) -> Encoding:
        """Return one encoding, made of one or two, which stay as they are."""
        encodings = [encoding] if pair is None else [encoding, pair]
        for each in encodings:
            if not isinstance(each, Encoding):
                raise TypeError(f"expected an Encoding, not {type(each).__name__}")
        return process(self, [each._copy() for each in encodings], add_special_tokens)


def content_of(processor: Any) -> Content | None:
    """Return a post-processor as a `tokenizer.json` has it; one of `tokenizers` is read from its state.

    Raises:
        ValueError: The post-processor is of an unknown kind; names it.
    """
    content = None if processor is None else components.content_of(processor)
    _check(content)
    return content


def _check(content: Content | None) -> None:
    if content is None:
        return
    kind = content.get("type")
    if kind not in _KNOWN:
        raise ValueError(f"the post-processor {shown(kind)} is not supported; these are: {', '.join(_KNOWN)}")
    for part in content["processors"] if kind == "Sequence" else ():
        _check(part)


def added_count(content: Content | None, is_pair: bool) -> int:
    """Return how many tokens a post-processor adds."""
    if content is None:
        return 0
    kind = content["type"]
    if kind == "Sequence":
        return sum(added_count(part, is_pair) for part in content["processors"])
    if kind == "TemplateProcessing":
        pieces = content["pair" if is_pair else "single"]
        names = [piece["SpecialToken"]["id"] for piece in pieces if "SpecialToken" in piece]
        return sum(len(content["special_tokens"][name]["ids"]) for name in names)
    if kind == "ByteLevel":
        return 0
    return (4 if kind == _ROBERTA else 3) if is_pair else 2


def process(content: Content | None, encodings: list[Encoding], add_special_tokens: bool) -> Encoding:
    """Return one encoding, made of one or two."""
    if content is not None or len(encodings) > 1:
        for number, encoding in enumerate(encodings):
            encoding.set_sequence_id(number)
            encoding._set_type_id(number)
            for other in encoding._overflowing if content is not None else ():
                other.set_sequence_id(number)
    for part in _parts(content):
        encodings = _process(part, encodings, add_special_tokens)
    return encodings[0] if len(encodings) == 1 else Encoding.merge(encodings, growing_offsets=False)


def _parts(content: Content | None) -> list[Content]:
    """Return the post-processors of a sequence of any depth, in order."""
    if content is None:
        return []
    if content["type"] != "Sequence":
        return [content]
    return [part for inner in content["processors"] for part in _parts(inner)]


def _process(content: Content, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
    kind = content["type"]
    if kind in ("ByteLevel", _ROBERTA) and content.get("trim_offsets"):
        for encoding in encodings:
            encoding._trim(bool(content.get("add_prefix_space")))
    if kind == "TemplateProcessing":
        return _of_template(content, encodings, add_special_tokens)
    if kind == "ByteLevel":
        for number, encoding in enumerate(encodings):
            encoding.set_sequence_id(number)
        return encodings
    if kind == _ROBERTA:
        for encoding in encodings:
            encoding._set_type_id(0)
            for other in encoding._overflowing if add_special_tokens else ():
                other._set_type_id(0)
    return _framed(content, encodings) if add_special_tokens else encodings


def _of_template(content: Content, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
    if len(encodings) > 2:
        raise ValueError(f"a TemplateProcessing takes one or two parts, and the one before it makes {len(encodings)}")
    made = []
    for piece in content["pair" if len(encodings) == 2 else "single"]:
        if "Sequence" in piece:
            number = 0 if piece["Sequence"]["id"] == "A" else 1
            encodings[number]._set_type_id(piece["Sequence"]["type_id"])
            encodings[number].set_sequence_id(number)
            made.append(encodings[number]._copy())
        elif add_special_tokens:
            added, type_id = content["special_tokens"][piece["SpecialToken"]["id"]], piece["SpecialToken"]["type_id"]
            pairs = zip(added["ids"], added["tokens"], strict=True)
            made.append(Encoding(Run([id], type_id, token=token, added=1) for id, token in pairs))
    return made


def _framed(content: Content, encodings: list[Encoding]) -> list[Encoding]:
    """Return encodings between the tokens of BERT's or RoBERTa's own post-processor."""
    roberta = content["type"] == _ROBERTA
    framed = []
    for number, encoding in enumerate(encodings):
        type_id = 0 if roberta or number == 0 else 1
        start, end = (_token(content[name], type_id) for name in ("cls" if number == 0 else "sep", "sep"))
        for part in (encoding, *encoding._overflowing):
            part._ranges = {min(number, 1): (0, len(part))}
            part._runs = [run._replace(added=0) for run in part._runs]
        parts = [start, encoding, end] if roberta or number == 0 else [encoding, end]
        framed.append(Encoding.merge(parts, growing_offsets=False))
    return framed


def _token(pair: Sequence[Any], type_id: int) -> Encoding:
    token, id = pair
    return Encoding([Run([id], type_id, token=token, added=1)])
