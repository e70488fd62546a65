//! Parts of a `tokenizer.json` with other ids.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::{Error, Result};

const FIELDS: [&str; 5] = ["id", "ids", "pad_id", "cls", "sep"];

/// Gives a post-processor or a padding other ids.
///
/// # Errors
/// [`Error::Invalid`] for an id without a new one.
pub fn renumber(part: &mut Value, new_ids: &HashMap<u64, u32>) -> Result<()> {
    renumber_within(part, new_ids, false)
}

fn renumber_within(part: &mut Value, new_ids: &HashMap<u64, u32>, is_id: bool) -> Result<()> {
    match part {
        Value::Object(fields) => fields
            .iter_mut()
            .try_for_each(|(name, part)| renumber_within(part, new_ids, FIELDS.contains(&name.as_str()))),
        Value::Array(parts) => parts.iter_mut().try_for_each(|part| renumber_within(part, new_ids, is_id)),
        _ => match part.as_u64().filter(|_| is_id) {
            Some(id) => {
                let new = new_ids.get(&id).ok_or_else(|| {
                    Error::Invalid(format!("the template or the padding needs the token of id {id}: keep it"))
                })?;
                *part = Value::from(*new);
                Ok(())
            }
            None => Ok(()),
        },
    }
}
