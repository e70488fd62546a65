"""The model: BPE over the characters that stand for bytes; its vocabulary and merges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core
from ..formats.gpt2 import spell, unspell
from .added import AddedToken
from .checks import checked, checked_id, field, kind_of, refused, shown


class Model(NamedTuple):
    """The parts that the core is made of."""

    core: Callable[[_core.Pretokenizer], _core.Tokenizer]
    kept: list[AddedToken]
    """Added tokens that ordinary text can be encoded to as well."""


def read_vocab(model: Any) -> dict[str, int]:
    """Return the vocabulary as the file has it.

    Raises:
        ValueError: The model is not BPE, a value is no id, or two tokens share an id.
    """
    kind = kind_of({"type": "BPE", **checked(model, dict, "$.model")}, "$.model")
    if kind != "BPE":
        raise refused("$.model", f"a model of type {kind}: toksmith reads byte-level BPE")
    vocab: dict[str, int] = field(model, "vocab", dict, "$.model")
    # Most files are right, and checking that takes less time than finding the error in a wrong one.
    if _core.are_ids(vocab):
        return vocab
    by_id: dict[int, str] = {}
    for token, id in vocab.items():
        if type(id) is not int or not 0 <= id < 2**32:
            checked_id(id, f"$.model.vocab[{shown(token)}]")
        if id in by_id:
            raise refused("$.model.vocab", f"the id {id} is given to both {shown(by_id[id])} and {shown(token)}")
        by_id[id] = token
    return vocab


def read(model: dict[str, Any], vocab: dict[str, int], added: list[AddedToken]) -> Model:
    """Return the parts that the core is made of.

    Raises:
        ValueError: A merge is malformed or of unknown tokens, a token is not spelled in bytes, a byte has no token,
            or an option of the model cannot be honoured.
    """
    check_options(model)
    ignore_merges = field(model, "ignore_merges", bool, "$.model", False)
    return _quickly(model, vocab, added, ignore_merges) or _with_reasons(model, vocab, added, ignore_merges)


def _quickly(
    model: dict[str, Any], vocab: dict[str, int], added: list[AddedToken], ignore_merges: bool
) -> Model | None:
    """Return the same as `_with_reasons`, faster; None if only `_with_reasons` can tell what is wrong."""
    rows = model.get("merges")
    spelled = _core.SpelledModel.read(vocab, rows) if isinstance(rows, list) else None
    if spelled is None or not all(spell(bytes([byte])) in vocab for byte in range(256)):
        return None
    contents = {token.content: token for token in added}
    found = {id: contents[token] for token, id in vocab.items() if token in contents}
    needed = {*spelled.needed([*found])}
    kept = {id: token for id, token in found.items() if id in needed or not _can_be_special(token, ignore_merges)}
    specials = [(token.content, id) for id, token in found.items() if id not in kept]
    left_out = [id for _, id in specials]
    if not {*spelled.unspelled()} <= {*left_out}:
        return None
    specials += new_tokens(added, vocab)
    return Model(lambda cutter: spelled.tokenizer(left_out, specials, cutter, ignore_merges), [*kept.values()])


def _can_be_special(token: AddedToken, ignore_merges: bool) -> bool:
    """Whether ordinary text cannot reach an added token of the vocabulary that no merge takes or makes."""
    spelled = unspell(token.content)
    if len(token.content) < 2 or spelled not in (None, token.content.encode()):
        return False
    # With `ignore_merges` a pretoken of its bytes becomes the token where it is not found as an added one. Text never
    # becomes a token marked special in this way, so that `special=False` is safe.
    is_missed = spelled is not None and not (token.is_plain and token.normalized)
    return token.special or not (ignore_merges and is_missed)


def _with_reasons(
    model: dict[str, Any], vocab: dict[str, int], added: list[AddedToken], ignore_merges: bool
) -> Model:
    merges = merges_of(model, vocab)
    needed = {token for left, right in merges for token in (left, right, left + right)}
    tokens: dict[int, bytes] = {}
    specials, kept = [], []
    contents = {token.content: token for token in added}
    for token, id in vocab.items():
        if token in contents and token not in needed and _can_be_special(contents[token], ignore_merges):
            specials.append((token, id))
            continue
        spelled = unspell(token)
        if spelled is None:
            raise refused(
                f"$.model.vocab[{shown(token)}]", "holds a character that stands for no byte, and is no added token"
            )
        tokens[id] = spelled
        if token in contents:
            kept.append(contents[token])
    specials += new_tokens(added, vocab)
    _check_bytes(tokens)
    of_token = {token: tokens[vocab[token]] for token in needed}
    spelled_merges = [(of_token[left], of_token[right]) for left, right in merges]
    return Model(lambda cutter: _core.Tokenizer(tokens, spelled_merges, specials, cutter, ignore_merges), kept)


def merges_of(model: dict[str, Any], vocab: dict[str, int]) -> list[tuple[str, str]]:
    """Return the merges as pairs of spelled tokens.

    Raises:
        ValueError: A merge is malformed, or of unknown tokens.
    """
    merges = _last_of_each(_pairs(model))
    if not all(left in vocab and right in vocab and left + right in vocab for left, right in merges):
        raise _of_unknown(model, merges, vocab)
    return merges


def new_tokens(added: list[AddedToken], vocab: dict[str, int]) -> list[tuple[str, int]]:
    """Return the added tokens that the vocabulary does not have."""
    found = [(token.content, token.id) for token in added if token.content not in vocab]
    owners = {id: token for token, id in vocab.items()} if found else {}
    for content, id in found:
        if id in owners:
            raise refused(
                "$.added_tokens",
                f"{shown(content)} gets the id {id} from the original, the next behind a vocabulary of {len(vocab)} "
                f"tokens; but that is the id of {shown(owners[id])}",
            )
    return found


def _of_unknown(model: dict[str, Any], merges: list[tuple[str, str]], vocab: dict[str, int]) -> ValueError:
    """Return the error of the first merge that needs a token which does not exist."""
    left, right = next(pair for pair in merges if not {*pair, "".join(pair)} <= vocab.keys())
    token = next(token for token in (left, right, left + right) if token not in vocab)
    why = f"the merge of {shown(left)} and {shown(right)} needs {shown(token)}, which is no token"
    return refused(_place(model, left, right), why)


def check_options(model: dict[str, Any]) -> None:
    """Refuse options that would change ids. Options for bytes without a token have no effect: all bytes have one."""
    dropout = model.get("dropout")
    if dropout not in (None, 0, 0.0) or isinstance(dropout, bool):
        raise refused(
            "$.model.dropout", f"{shown(dropout)}: merges left out at random cannot be repeated; set it to null"
        )
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name) not in (None, ""):
            raise refused(
                f"$.model.{name}", f"{shown(model[name])}: byte-level tokenizers have none, and it is not read"
            )
    for name in ("fuse_unk", "byte_fallback"):
        if model.get(name) is not None:
            checked(model[name], bool, f"$.model.{name}")
    if model.get("unk_token") is not None:
        checked(model["unk_token"], str, "$.model.unk_token")


def _check_bytes(tokens: dict[int, bytes]) -> None:
    missing = sorted({bytes([byte]) for byte in range(256)}.difference(tokens.values()))
    if missing:
        raise refused(
            "$.model.vocab",
            f"{len(missing)} bytes have no token, the first is {shown(spell(missing[0]))} (byte {missing[0][0]}): "
            "what the original does with text that holds one (an unknown token, or nothing at all) is not done here",
        )


def _pairs(model: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the merges, in either notation: a list of two texts, or both in one with a space between."""
    rows: list[Any] = field(model, "merges", list, "$.model")
    texts = [row for row in rows if isinstance(row, str)]
    if texts and len(texts) < len(rows):
        raise refused("$.model.merges", "some merges are texts and some are lists")
    if not texts:
        return [_pair(row, i) for i, row in enumerate(rows)]
    # `tokenizers` leaves out a version line wherever it stands.
    pairs = [(i, text.split(" ")) for i, text in enumerate(texts) if not text.startswith("#version")]
    for i, parts in pairs:
        if len(parts) != 2:
            raise refused(
                f"$.model.merges[{i}]", f"expected two tokens with one space between, got {shown(texts[i])}"
            )
    return [(left, right) for _, (left, right) in pairs]


def _pair(row: Any, i: int) -> tuple[str, str]:
    if not (isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], str)):
        raise refused(f"$.model.merges[{i}]", f"expected two tokens, got {shown(row)}")
    return row[0], row[1]


def _last_of_each(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out repeated merges: the original takes the last place of each."""
    if len(set(pairs)) == len(pairs):
        return pairs
    return list(dict.fromkeys(reversed(pairs)))[::-1]


def _place(model: dict[str, Any], left: str, right: str) -> str:
    rows = model["merges"]
    at = next(i for i, row in enumerate(rows) if row in ([left, right], f"{left} {right}"))
    return f"$.model.merges[{at}]"
