"""The choice of the core for a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .character_core import CharacterCore
from .pipeline_core import PipelineCore

if TYPE_CHECKING:
    from .. import _core
    from .pipeline import Pipeline


def around(core: _core.Tokenizer, pipeline: Pipeline) -> Any:
    """Return the core of a tokenizer with a pipeline: the core itself, if it does everything."""
    if pipeline.is_plain:
        return core
    return PipelineCore(core, pipeline) if pipeline.spaces is None else CharacterCore(core, pipeline)
