//! Which parts of a conversation a model is trained on.

use std::ops::Range;

use serde::Deserialize;

use crate::chat::Borders;
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
    /// What the template writes around turns.
    pub borders: &'t Borders,
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
    /// Where the special tokens are, with their ids.
    special: &'c [(Range<usize>, u32)],
    training: &'c Training,
}

impl Training {
    /// The ranges of the text, in bytes and in order, that a model is trained on.
    ///
    /// A turn begins behind the generation prompt, if that comes right before it; or behind what the template
    /// writes before a text of the assistant, as far as it writes that here; or else with what the assistant
    /// has written itself. It ends with the special token that ends turns, or else with the first special
    /// token behind it; without `end_of_turn` before that token. What the template writes in between belongs
    /// to it.
    ///
    /// A block `{% generation %}` is a turn as it is. A message of which the template shows nothing has no
    /// turn.
    ///
    /// # Errors
    /// The template changes a text, so that nobody can tell whose it is; says where.
    pub(super) fn ranges(
        &self,
        conversation: &Conversation<'_>,
        special: &[(Range<usize>, u32)],
    ) -> Result<Vec<Range<usize>>, String> {
        let turns = Turns { conversation, special, training: self };
        let all = turns.all();
        turns.check_origins(&all)?;
        Ok(all.into_iter().flat_map(|turn| turns.trained(turn)).collect())
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
        let is_lost = self.has(run, marks::UNKNOWN);
        !self.is_own(run) && if is_lost { self.is_number(run) } else { self.has(run, marks::TRUSTED) }
    }

    fn is_number(&self, run: usize) -> bool {
        let shown = &self.conversation.marked.text[self.runs()[run].0.clone()];
        shown.parse::<f64>().is_ok() || ["True", "False", "None"].contains(&shown)
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
                _ if self.is_of_other(run) => {}
                _ => turns.push(run..run + 1),
            }
        }
        turns.iter_mut().for_each(|turn| self.leave_out_repeated_name(turn));
        turns.retain(|turn| !turn.is_empty());
        if self.conversation.needs_own {
            turns.retain(|turn| turn.clone().any(|run| self.has(run, marks::ASSISTANT)));
        }
        turns
    }

    /// Whether a run is in the message of another role, as the name of a function is before what that
    /// answers.
    fn is_of_other(&self, run: usize) -> bool {
        let is_call = self.has(run, marks::TOOL_CALL) && !self.conversation.has_generation;
        is_call && self.opens_other(&(self.template_before(run)..self.runs()[run].0.start))
    }

    /// Where what the template writes right before a run begins.
    fn template_before(&self, run: usize) -> usize {
        let first = (0..run).rev().take_while(|&run| self.is_template(run)).last().unwrap_or(run);
        self.runs()[first].0.start
    }

    /// Leaves out the end of a turn that is the name of its function, repeated by the template before what
    /// the tool answers.
    fn leave_out_repeated_name(&self, turn: &mut Range<usize>) {
        let last = turn.end - 1;
        let shown = |run: usize| &self.conversation.marked.text[self.runs()[run].0.clone()];
        let is_before_other = || {
            let next = self.template_end(turn.end);
            next < self.runs().len() && !self.is_own(next) && {
                let between = self.runs()[last].0.end..self.runs()[next].0.start;
                self.special_in(&between).next().is_none()
            }
        };
        // The search comes last: it reads the conversation up to here.
        let is_repeated = || (0..last).any(|run| self.is_own(run) && shown(run).contains(shown(last)));
        if self.has(last, marks::TOOL_CALL) && is_before_other() && is_repeated() {
            turn.end =
                turn.clone().rev().skip(1).find(|&run| self.is_own(run)).map_or(turn.start, |run| run + 1);
        }
    }

    /// Whether a run is of the same message as a turn before it, or of the same block.
    fn goes_on(&self, turn: &Range<usize>, run: usize) -> bool {
        let message = |run: usize| self.has(run, marks::ASSISTANT).then(|| self.runs()[run].1 & marks::TURN);
        let (before, next) = (turn.clone().rev().find_map(message), message(run));
        if before.is_some() && next.is_some() && before != next {
            return false;
        }
        match self.conversation.has_generation {
            true => turn.end == run,
            false => {
                let between = self.runs()[turn.end - 1].0.end..self.runs()[run].0.start;
                self.template_end(turn.end) == run && !self.is_border(&between)
            }
        }
    }

    /// Whether the template ends a turn, or begins the message of another role, in a range of its text.
    fn is_border(&self, range: &Range<usize>) -> bool {
        let end = self.conversation.borders.end;
        self.special_in(range).any(|(_, id)| Some(*id) == end) || self.opens_other(range)
    }

    /// Whether the template begins the message of another role in a range of its text: with the special token
    /// that begins the generation prompt, but neither with the prompt nor with what is before an answer.
    fn opens_other(&self, range: &Range<usize>) -> bool {
        let text = |range: &Range<usize>| &self.conversation.marked.text[range.clone()];
        let Borders { generation_prompt, headers, .. } = self.conversation.borders;
        let mut special = self.special_in(range).map(|(special, _)| text(special));
        let Some(opening) = special.find(|special| generation_prompt.starts_with(special)) else {
            return false;
        };
        let mut own = headers.iter().filter_map(|header| Some(&header[header.rfind(opening)?..]));
        !text(range).contains(generation_prompt.as_str()) && !own.any(|own| text(range).contains(own))
    }

    /// The special tokens in a range of bytes.
    fn special_in(&self, range: &Range<usize>) -> impl Iterator<Item = &(Range<usize>, u32)> {
        let first = self.special.partition_point(|(special, _)| special.start < range.start);
        let end = range.end;
        self.special[first..].iter().take_while(move |(special, _)| special.end <= end)
    }

    /// Checks that the origin of all text outside of turns is known.
    fn check_origins(&self, turns: &[Range<usize>]) -> Result<(), String> {
        let Conversation { marked, has_generation, needs_own, .. } = self.conversation;
        if *has_generation && !needs_own && self.training.thinking && self.training.tool_calls {
            return Ok(());
        }
        let is_in_turn = |run| turns.iter().any(|turn| turn.contains(&run));
        let is_lost = |run| self.has(run, marks::UNKNOWN) && !self.is_number(run) && !is_in_turn(run);
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

    /// Where a turn begins: see [`Training::ranges`].
    fn start(&self, first: usize) -> usize {
        let end = self.runs()[first].0.start;
        let Borders { generation_prompt, headers, .. } = self.conversation.borders;
        if self.conversation.has_generation {
            return end;
        }
        let start = self.template_before(first);
        let text = &self.conversation.marked.text[start..end];
        let behind = |opening: &String| match text.ends_with(opening.as_str()) {
            true => Some(text.len()), // nearly always, and without a search
            false => Some(text.rfind(opening.as_str())? + opening.len()),
        };
        let prompted = Some(generation_prompt).filter(|prompt| !prompt.is_empty()).and_then(behind);
        if let Some(at) = prompted.or_else(|| headers.iter().filter_map(behind).max()) {
            return start + at;
        }
        let common = |header: &String| {
            text.bytes().zip(header.bytes()).take_while(|(left, right)| left == right).count()
        };
        let common = headers.iter().map(common).max().filter(|_| generation_prompt.is_empty()).unwrap_or(0);
        let last = self.special_in(&(start..start + common)).last();
        last.map_or(end, |(special, _)| special.end)
    }

    /// The special token that ends a turn, in what the template writes from a run on.
    fn end_token(&self, run: usize) -> Option<Range<usize>> {
        let behind = self.runs()[run - 1].0.end..self.runs()[self.template_end(run) - 1].0.end;
        let ending = self.special_in(&behind).find(|(_, id)| Some(*id) == self.conversation.borders.end);
        ending.or_else(|| self.special_in(&behind).next()).map(|(special, _)| special.clone())
    }

    /// The parts of a turn with their kinds. What the template writes beside thinking, or a tool call,
    /// belongs to it; between the two, the first tag and what is before it belong to thinking. The token
    /// that ends turns is speech, also in a block.
    fn parts(&self, turn: &Range<usize>) -> Vec<(Range<usize>, Kind)> {
        let own = |run: usize| match self.runs()[run].1 {
            mark if mark & marks::ASSISTANT == 0 => None,
            mark if mark & marks::THINKING != 0 => Some(Kind::Thinking),
            mark if mark & marks::TOOL_CALL != 0 => Some(Kind::ToolCall),
            _ => Some(Kind::Speech),
        };
        let (borders, first) = (self.conversation.borders, self.runs()[turn.start].0.start);
        let mut parts = vec![(self.start(turn.start)..first, own(turn.start).unwrap_or(Kind::Speech))];
        for run in turn.clone() {
            let Range { start, end } = self.runs()[run].0.clone();
            let around = [(turn.start..run).rev().find_map(own), (run + 1..turn.end).find_map(own)];
            let (border, kinds) = match (own(run), around) {
                (Some(kind), _) => (end, [kind; 2]),
                (None, [Some(Kind::Thinking), Some(Kind::ToolCall)]) => {
                    let tag = self.conversation.marked.text[start..end].find(['>', ']']);
                    let behind = tag.map_or(end, |tag| start + tag + 1);
                    let is_beside = own(run - 1).is_some();
                    (if is_beside { behind } else { start }, [Kind::Thinking, Kind::ToolCall])
                }
                (None, [_, next]) => {
                    let is_beside = |kind: &Kind| around.contains(&Some(*kind));
                    let kind = [Kind::Thinking, Kind::ToolCall].into_iter().find(is_beside);
                    let is_end = |(_, id): &&(_, u32)| next.is_none() && Some(*id) == borders.end;
                    let border = self.special_in(&(start..end)).find(is_end).map_or(end, |at| at.0.start);
                    (border, [kind.unwrap_or(Kind::Speech), Kind::Speech])
                }
            };
            parts.extend([(start..border, kinds[0]), (border..end, kinds[1])]);
        }
        parts
    }
}
