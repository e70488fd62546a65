"""Which encoding a model of OpenAI's has: names and prefixes of names, as tiktoken 0.14 has them (model.py)."""

from __future__ import annotations

# In tiktoken's order. The first prefix that fits decides.
_PREFIXES = (
    ("o200k_base", "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o-"),
    ("cl100k_base", "gpt-4- gpt-3.5-turbo- gpt-35-turbo-"),
    ("o200k_harmony", "gpt-oss-"),
    ("o200k_base", "ft:gpt-4o"),
    ("cl100k_base", "ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002"),
)
_MODELS = (
    ("o200k_base", "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o"),
    ("cl100k_base", "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002"),
    ("cl100k_base", "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large"),
    ("p50k_base", "text-davinci-003 text-davinci-002"),
    ("r50k_base", "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada"),
    ("p50k_base", "code-davinci-002 code-davinci-001 code-cushman-002 code-cushman-001 davinci-codex cushman-codex"),
    ("p50k_edit", "text-davinci-edit-001 code-davinci-edit-001"),
    ("r50k_base", "text-similarity-davinci-001 text-similarity-curie-001"),
    ("r50k_base", "text-similarity-babbage-001 text-similarity-ada-001"),
    ("r50k_base", "text-search-davinci-doc-001 text-search-curie-doc-001"),
    ("r50k_base", "text-search-babbage-doc-001 text-search-ada-doc-001"),
    ("r50k_base", "code-search-babbage-code-001 code-search-ada-code-001"),
    ("gpt2", "gpt2 gpt-2"),
)

MODEL_PREFIX_TO_ENCODING = {prefix: encoding for encoding, prefixes in _PREFIXES for prefix in prefixes.split()}
MODEL_TO_ENCODING = {model: encoding for encoding, models in _MODELS for model in models.split()}


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of a model; for a model that is not listed, by the prefix of its name.

    Raises:
        KeyError: No encoding is known for it.

    >>> encoding_name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    """
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    for prefix, name in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return name
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser: name its encoding yourself, with get_encoding"
    )
