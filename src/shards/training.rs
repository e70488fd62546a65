//! Which parts of a conversation a model is trained on.

use std::ops::Range;

use serde::Deserialize;

use crate::encode::{Mark, MarkedText, marks};
use crate::error::show_text;

/// How conversations are trained on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Whether on all ids. Otherwise on what is marked as the assistant's.
    pub all: bool,
    /// Whether also on the special token that ends a turn.
    pub end_of_turn: bool,
    /// Whether also on reasoning.
    pub thinking: bool,
    /// Whether also on tool calls.
    pub tool_calls: bool,
}

/// A text that a chat template has laid out, and what else is known of it.
pub(super) struct Conversation<'t> {
    /// The text, with marks.
    pub marked: MarkedText<'t>,
    /// Whether the template has a block `{% generation %}`, which says itself what the assistant writes.
    pub has_generation: bool,
    /// Whether only turns with text that is marked as the assistant's count. Otherwise each block counts.
    pub needs_own: bool,
    /// What the template writes where the assistant is to speak.
    pub generation_prompt: &'t str,
}

/// What a part of a turn is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Speech,
    ToolCall,
    Thinking,
}

/// The turns of a conversation: runs that the assistant, or a block, has written.
struct Turns<'c, 't> {
    conversation: &'c Conversation<'t>,
    /// Where the special tokens are.
    special: &'c [Range<usize>],
    training: &'c Training,
}

impl Training {
    /// The ranges of the text, in bytes and in order, that a model is trained on.
    ///
    /// A turn begins behind the generation prompt, if that comes right before it, or else with what the
    /// assistant has written itself. What the template writes between two parts of it belongs to it, and what
    /// it writes before the first special token behind it; with `end_of_turn` that token too. A block `{%
    /// generation %}` is a turn as it is. A message of which the template shows nothing has no turn.
    ///
    /// # Errors
    /// The template changes a text, so that nobody can tell whose it is; says where.
    pub(super) fn ranges(
        &self,
        conversation: &Conversation<'_>,
        special: &[Range<usize>],
    ) -> Result<Vec<Range<usize>>, String> {
        let turns = Turns { conversation, special, training: self };
        let found = turns.all();
        turns.check_origins(&found)?;
        Ok(found.into_iter().flat_map(|turn| turns.trained(turn)).collect())
    }
}

impl Turns<'_, '_> {
    fn runs(&self) -> &[(Range<usize>, Mark)] {
        &self.conversation.marked.runs
    }

    fn has(&self, run: usize, bits: Mark) -> bool {
        self.runs()[run].1 & bits != 0
    }

    fn is_own(&self, run: usize) -> bool {
        self.has(run, if self.conversation.has_generation { marks::GENERATED } else { marks::ASSISTANT })
    }

    /// Whether the template wrote a run, or printed a number.
    fn is_template(&self, run: usize) -> bool {
        let is_number = || {
            let shown = &self.conversation.marked.text[self.runs()[run].0.clone()];
            shown.parse::<f64>().is_ok() || ["True", "False", "None"].contains(&shown)
        };
        !self.is_own(run)
            && if self.has(run, marks::UNKNOWN) { is_number() } else { self.has(run, marks::TRUSTED) }
    }

    /// The end of the stretch of the template's text that begins with a run.
    fn template_end(&self, run: usize) -> usize {
        (run..self.runs().len()).find(|&run| !self.is_template(run)).unwrap_or(self.runs().len())
    }

    /// All turns, as ranges of runs.
    fn all(&self) -> Vec<Range<usize>> {
        let mut turns: Vec<Range<usize>> = Vec::new();
        for run in (0..self.runs().len()).filter(|&run| self.is_own(run)) {
            match turns.last_mut() {
                Some(turn) if self.goes_on(turn, run) => turn.end = run + 1,
                _ => turns.push(run..run + 1),
            }
        }
        if self.conversation.needs_own {
            turns.retain(|turn| turn.clone().any(|run| self.has(run, marks::ASSISTANT)));
        }
        turns
    }

    /// Whether a run is of the same message as a turn before it, or of the same block.
    fn goes_on(&self, turn: &Range<usize>, run: usize) -> bool {
        let is_next = match self.conversation.has_generation {
            true => turn.end == run,
            false => self.template_end(turn.end) == run,
        };
        let message = |run: usize| self.has(run, marks::ASSISTANT).then(|| self.has(run, marks::ODD));
        let before = turn.clone().rev().find_map(message);
        is_next && (before.is_none() || message(run).is_none() || before == message(run))
    }

    /// Checks that the origin of all text outside of turns is known.
    fn check_origins(&self, turns: &[Range<usize>]) -> Result<(), String> {
        let Conversation { marked, has_generation, needs_own, .. } = self.conversation;
        if *has_generation && !needs_own && self.training.thinking && self.training.tool_calls {
            return Ok(());
        }
        let is_in_turn = |run| turns.iter().any(|turn| turn.contains(&run));
        let is_lost = |run| self.has(run, marks::UNKNOWN) && !self.is_template(run) && !is_in_turn(run);
        let Some(run) = (0..self.runs().len()).find(|run| is_lost(*run)) else { return Ok(()) };
        let before = turns.iter().filter(|turn| turn.end <= run).count();
        let text = show_text(&marked.text[self.runs()[run].0.clone()]);
        Err(format!(
            "the chat template changes a text after {before} turns of the assistant, so that nobody can tell who \
             wrote {text}"
        ))
    }

    /// The ranges of a turn that a model is trained on.
    fn trained(&self, turn: Range<usize>) -> Vec<Range<usize>> {
        let end = self.runs()[turn.end - 1].0.end;
        let mut parts = self.parts(&turn);
        if !self.conversation.has_generation
            && let Some(token) = self.end_token(turn.end)
        {
            let last = parts.last().map_or(Kind::Speech, |(_, kind)| *kind);
            parts.push((end..token.start, last));
            parts.extend(self.training.end_of_turn.then_some((token, Kind::Speech)));
        }
        let is_trained = |kind: &Kind| match kind {
            Kind::Speech => true,
            Kind::ToolCall => self.training.tool_calls,
            Kind::Thinking => self.training.thinking,
        };
        parts.into_iter().filter(|(_, kind)| is_trained(kind)).map(|(range, _)| range).collect()
    }

    /// Where a turn begins: behind the generation prompt, if that is right before it.
    fn start(&self, first: usize) -> usize {
        let end = self.runs()[first].0.start;
        let prompt = self.conversation.generation_prompt;
        if self.conversation.has_generation || prompt.is_empty() {
            return end;
        }
        let before = (0..first).rev().take_while(|&run| self.is_template(run)).last().unwrap_or(first);
        let start = self.runs()[before].0.start;
        let found = self.conversation.marked.text[start..end].rfind(prompt);
        found.map_or(end, |at| start + at + prompt.len())
    }

    /// The special token that ends a turn: the first one in what the template writes from a run on.
    fn end_token(&self, run: usize) -> Option<Range<usize>> {
        let (start, end) = (self.runs()[run - 1].0.end, self.runs()[self.template_end(run) - 1].0.end);
        let next = self.special.partition_point(|special| special.start < start);
        self.special.get(next).filter(|special| special.end <= end).cloned()
    }

    /// The runs of a turn with their kinds. What the template writes beside thinking, or a tool call, belongs
    /// to it.
    fn parts(&self, turn: &Range<usize>) -> Vec<(Range<usize>, Kind)> {
        let own = |run: usize| match self.runs()[run].1 {
            mark if mark & marks::ASSISTANT == 0 => None,
            mark if mark & marks::THINKING != 0 => Some(Kind::Thinking),
            mark if mark & marks::TOOL_CALL != 0 => Some(Kind::ToolCall),
            _ => Some(Kind::Speech),
        };
        let kind = |run: usize| {
            let around = [(turn.start..run).rev().find_map(own), (run + 1..turn.end).find_map(own)];
            let beside = |kind| around.contains(&Some(kind)).then_some(kind);
            own(run)
                .or_else(|| beside(Kind::Thinking))
                .or_else(|| beside(Kind::ToolCall))
                .unwrap_or(Kind::Speech)
        };
        let before = self.start(turn.start)..self.runs()[turn.start].0.start;
        let runs = turn.clone().map(|run| (self.runs()[run].0.clone(), kind(run)));
        std::iter::once((before, kind(turn.start))).chain(runs).collect()
    }
}
