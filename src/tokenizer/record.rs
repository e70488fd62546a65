//! How a tokenizer was trained.

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// The rules by which one of several pairs of equal count merges first.
pub const TIES: [&str; 5] = ["bytes", "ids", "smallest_ids", "first", "huggingface"];
const MAX_COUNT: u64 = 1 << 63;

/// The record of a training. It is no part of a tokenizer's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The rule of ties, by its name.
    pub ties: String,
    /// The number of tokens before the first merge.
    pub initial_tokens: u32,
    /// The count of each merge; `None` for one that was not chosen by its count: of a base without counts, or
    /// of a forced token.
    pub counts: Vec<Option<u64>>,
}

impl Record {
    /// The record of a tokenizer with `merges` merges, without any count if there are not as many.
    ///
    /// Under rank semantics, training may reach a token of the base that no pair of the base reached. Its
    /// merge has no count, and stands among the merges of the base.
    pub(super) fn fitted(mut self, merges: usize) -> Self {
        if self.counts.len() != merges {
            self.counts = vec![None; merges];
        }
        self
    }

    /// The record of the merges at some places.
    pub(crate) fn pruned(&self, places: impl IntoIterator<Item = usize>, initial_tokens: u32) -> Self {
        let counts = places.into_iter().map(|place| self.counts.get(place).copied().flatten()).collect();
        Record { ties: self.ties.clone(), initial_tokens, counts }
    }

    /// The record as toksmith's own file has it.
    pub(crate) fn to_value(&self) -> Value {
        json!({"ties": self.ties, "least": self.initial_tokens, "merge_counts": self.counts})
    }

    /// Reads the field `training` of toksmith's own file.
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let broken = |name: &str, reason: String| Error::BrokenPart(format!("$.training.{name}"), reason);
        let (ties, initial) = (&value["ties"], &value["least"]);
        let Some(known) = ties.as_str().filter(|ties| TIES.contains(ties)) else {
            return Err(broken("ties", format!("{ties} is not one of {}", TIES.join(", "))));
        };
        let Some(initial_tokens) = initial.as_u64().filter(|&tokens| tokens >= 256) else {
            return Err(broken(
                "least",
                format!("the training began with {initial} tokens, not at least 256"),
            ));
        };
        let initial_tokens = u32::try_from(initial_tokens)
            .map_err(|_| broken("least", format!("{initial} tokens: ids are below 2^32")))?;
        let Some(rows) = value["merge_counts"].as_array() else {
            return Err(broken("merge_counts", "the counts of the merges are not a list".into()));
        };
        let count =
            |(at, row): (usize, &Value)| match row.as_u64().filter(|count| (1..=MAX_COUNT).contains(count)) {
                None if !row.is_null() => {
                    let reason = format!("the count of a merge is {row}, not between 1 and 2^63");
                    Err(broken(&format!("merge_counts[{at}]"), reason))
                }
                count => Ok(count),
            };
        let counts = rows.iter().enumerate().map(count).collect::<Result<_>>()?;
        Ok(Record { ties: known.to_owned(), initial_tokens, counts })
    }
}
