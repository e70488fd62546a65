"""TEMP"""
from .character_core import CharacterCore
def around(core, pipeline):
    return pipeline.around(core) if pipeline.spaces is None else CharacterCore(core, pipeline)
