"""The head of a tokenizer: all its parts besides tokens and merges, as JSON."""

from __future__ import annotations

import warnings

from .. import patterns
from .._internal.messages import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .huggingface.pipeline import Pipeline
    from .parts import Parts


def of_parts(parts: Parts) -> dict[str, Any]:
    """Return the head of a tokenizer."""
    pattern = parts.pattern
    found: dict[str, Any] = {
        "pattern": pattern.text,
        "pattern_flags": pattern.flags,
        "unmatched": pattern.unmatched,
        "unicode": pattern.unicode,
        "special_tokens": dict(sorted(parts.special_tokens.items(), key=lambda item: (item[1], item[0]))),
    }
    if parts.core.has_merges() and parts.core.ignores_merges():
        found["ignore_merges"] = True
    if not parts.core.is_spelled() and (characters := parts.core.characters()) is not None:
        found["characters"] = dict(zip(("bytes", "unknown", "outside"), characters, strict=True))
    if parts.pipeline is not None:
        found["pipeline"] = parts.pipeline.spec
    return found


def state(parts: Parts) -> tuple[bytes, bytes]:
    """Return the head as JSON, and tokens and merges as the core writes them: equal for equal tokenizers."""
    import json

    return json.dumps(of_parts(parts), sort_keys=True).encode(), parts.core.state()


def pattern_and_pipeline(head: dict[str, Any], name: str) -> tuple[patterns.Pattern, Pipeline | None]:
    """Return pattern and pipeline of a head; warns if the pattern runs under another Unicode version here.

    Args:
        head: What `of_parts` returned.
        name: The name of the tokenizer in the warning.
    """
    pipeline = None
    if head.get("pipeline") is not None:
        from .huggingface.pipeline import Pipeline

        pipeline = Pipeline.of_spec(head["pipeline"])
        pattern = pipeline.pattern
    else:
        pattern = patterns.of_source(head["pattern"], head["pattern_flags"], head["unmatched"])
    if pattern.unicode != head["unicode"]:
        warnings.warn(
            f"{name} was made under Unicode {shown(head['unicode'])}; its pattern runs under {pattern.unicode} here: "
            "characters that changed class between the two may be cut differently",
            stacklevel=4,
        )
    return pattern, pipeline


def with_pipeline(core: Any, pipeline: Pipeline | None) -> Any:
    """Return the core of a tokenizer with a pipeline."""
    if pipeline is None:
        return core
    return pipeline.around(core)


def with_origin(parts: Parts, state: Any) -> Parts:
    """Return a tokenizer with the origin of a state; a state of None is no origin.

    Raises:
        ValueError: `state` is no such state, or belongs to another tokenizer.
    """
    if state is None:
        return parts
    from .huggingface.origin import Origin
    from .parts import Parts

    origin = Origin.of_state(state)
    origin.check(parts)
    return Parts(parts.core, parts.pattern, parts.pipeline, parts.record, origin)
