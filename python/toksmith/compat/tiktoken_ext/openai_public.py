"""tiktoken's own plug-in: for each published encoding a function that returns the arguments of `Encoding`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...formats.published import encodings
from ..tiktoken import openai_public
from ..tiktoken.load import data_gym_to_mergeable_bpe_ranks as data_gym_to_mergeable_bpe_ranks
from ..tiktoken.load import load_tiktoken_bpe as load_tiktoken_bpe

if TYPE_CHECKING:
    from typing import Any

ENDOFTEXT = "<|endoftext|>"
FIM_PREFIX = "<|fim_prefix|>"
FIM_MIDDLE = "<|fim_middle|>"
FIM_SUFFIX = "<|fim_suffix|>"
ENDOFPROMPT = "<|endofprompt|>"

r50k_pat_str = encodings.ENCODINGS["r50k_base"].pat_str


def gpt2() -> dict[str, Any]:
    """Return the arguments for `gpt2`."""
    return openai_public.arguments("gpt2")


def r50k_base() -> dict[str, Any]:
    """Return the arguments for `r50k_base`."""
    return openai_public.arguments("r50k_base")


def p50k_base() -> dict[str, Any]:
    """Return the arguments for `p50k_base`."""
    return openai_public.arguments("p50k_base")


def p50k_edit() -> dict[str, Any]:
    """Return the arguments for `p50k_edit`."""
    return openai_public.arguments("p50k_edit")


def cl100k_base() -> dict[str, Any]:
    """Return the arguments for `cl100k_base`."""
    return openai_public.arguments("cl100k_base")


def o200k_base() -> dict[str, Any]:
    """Return the arguments for `o200k_base`."""
    return openai_public.arguments("o200k_base")


def o200k_harmony() -> dict[str, Any]:
    """Return the arguments for `o200k_harmony`."""
    return openai_public.arguments("o200k_harmony")


ENCODING_CONSTRUCTORS = {
    one.__name__: one for one in (gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony)
}
