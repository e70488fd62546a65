//! The state of a decoder that decodes id by id, as Python keeps it.

use crate::decode::{DecoderState, Flow, StageState};

/// The state of a decoder as a tuple of its fields.
pub(super) type StateTuple = (Vec<StageTuple>, String, (usize, usize));
/// The state of a stage as a tuple of its fields.
pub(super) type StageTuple = (usize, String, Vec<u8>, usize, bool, Option<String>);

pub(super) fn to_tuple(state: DecoderState) -> StateTuple {
    let fields = |stage: StageState| {
        (stage.tokens, stage.text, stage.bytes, stage.stripped, stage.has_begun, stage.before)
    };
    let flow = (state.flow.taken, state.flow.made);
    (state.stages.into_iter().map(fields).collect(), state.shown, flow)
}

pub(super) fn of_tuple((stages, shown, (taken, made)): StateTuple) -> DecoderState {
    let stage = |(tokens, text, bytes, stripped, has_begun, before)| StageState {
        tokens,
        text,
        bytes,
        stripped,
        has_begun,
        before,
    };
    let stages = stages.into_iter().map(stage).collect();
    DecoderState { stages, shown, flow: Flow { taken, made } }
}
