//! Ids → bytes.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::vocab::Vocab;

/// Ids decoded between two looks at the control.
const CHECK: usize = 1 << 16;

/// The bytes of `ids`, joined: the exact inverse of encoding.
///
/// # Errors
/// [`Error::UnknownId`] naming the id and its place; [`Error::Interrupted`].
pub fn decode(vocab: &Vocab, ids: &[u32], control: &Control) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4 * ids.len());
    let tokens = vocab.tokens();
    for (run, ids) in ids.chunks(CHECK).enumerate() {
        control.check()?;
        for (at, &id) in ids.iter().enumerate() {
            match tokens.get(id) {
                Some(token) => bytes.extend_from_slice(token),
                None => {
                    return Err(Error::UnknownId { id: i128::from(id), index: Some(run * CHECK + at) });
                }
            }
        }
    }
    Ok(bytes)
}
