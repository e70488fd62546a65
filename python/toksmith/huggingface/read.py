"""Reading all parts of a `tokenizer.json` together."""

from __future__ import annotations

from typing import Any

from .. import _core
from ..common.messages import shown
from ..files import text_files
from ..parts import Parts
from . import added, characters, document, model, origin
from .checks import refused
from .cores import around
from .pipeline import Pipeline


def read(source: Any) -> Parts:
    """Read a `tokenizer.json`, or an object that gives one.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is malformed, inconsistent, or has a part that cannot be reproduced exactly; names file
            and place.
        TypeError: `source` is neither a path nor such an object.
    """
    content, name = document.load(source)
    with text_files.naming(name):
        return parts_of(content, origin.files_of(source))


def parts_of(content: dict[str, Any], files: origin.Files | None = None, keep_ids: bool = False) -> Parts:
    """Return the tokenizer of the content of a `tokenizer.json`, and of the files beside it.

    `keep_ids`: see `added.read`.

    Raises:
        ValueError: The content is inconsistent, or has a part that cannot be reproduced exactly; names the place.
    """
    version = content.get("version", "1.0")
    if version != "1.0":
        raise refused("$.version", f'{shown(version)}: toksmith reads "1.0"')
    if "model" not in content:
        raise refused("$", "the field 'model' is missing")
    vocab = model.read_vocab(content["model"])
    tokens = added.read(content.get("added_tokens") or [], vocab, keep_ids)
    spec = {
        "added_tokens": [token._asdict() for token in tokens],
        **{part: content.get(part) for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder")},
        **{part: content[part] for part in ("truncation", "padding") if content.get(part) is not None},
    }
    if characters.merges_characters(content):
        spec["characters"] = characters.options_of(content["model"])
        return _of_characters(content, vocab, tokens, Pipeline(spec), files)
    made = model.read(content["model"], vocab, tokens)
    pipeline = Pipeline(spec, {token.id for token in made.kept})
    pattern = pipeline.pattern
    core = made.core(pattern.core())
    came_from = origin.Origin.of(content, tokens, files or {})
    if pipeline.is_trivial:
        return Parts(core, pattern, None, None, came_from)
    return Parts(around(core, pipeline), pattern, pipeline, None, came_from)


def _of_characters(
    content: dict[str, Any],
    vocab: dict[str, int],
    tokens: list[added.AddedToken],
    pipeline: Pipeline,
    files: origin.Files | None,
) -> Parts:
    """Return a tokenizer whose model merges characters."""
    assert pipeline.spaces is not None
    steps = _core.Normalizer(pipeline.normalizer)
    made = characters.read(content["model"], vocab, tokens, pipeline.spaces.are_plain, steps.apply)
    core = around(made.core(pipeline.pattern), pipeline)
    return Parts(core, pipeline.pattern, pipeline, None, origin.Origin.of(content, tokens, files or {}))
