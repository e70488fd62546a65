//! Tokenizers made of a part of another one.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;

use super::counts::PyPretokenCounts;
use super::tokenizer::Tokenizer;
use super::{arrays, call};
use crate::count::PretokenCounts;
use crate::room;
use crate::vocab::Pruned;

/// The tokenizer, the old id of each new one, the old ids that were needed, and the places of the merges that stay.
type PrunedParts<'py> =
    (Tokenizer, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// The tokenizer, without a pipeline, of the tokens `keep`, of those that they need, and of the tokens `fixed`. See
/// `Vocab::pruned`.
#[pyfunction]
pub(super) fn prune<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    keep: Vec<u32>,
    fixed: Vec<u32>,
) -> PyResult<PrunedParts<'py>> {
    let (encoder, [old_ids, needed, merges]) = call::long(py, None, |_| {
        let Pruned { vocab, old_ids, needed, merges } = tokenizer.encoder().vocab().pruned(&keep, &fixed)?;
        let numbers = [
            room::collected(old_ids.into_iter().map(i64::from))?,
            room::collected(needed.into_iter().map(i64::from))?,
            room::collected(merges.into_iter().map(|place| place as i64))?,
        ];
        Ok((tokenizer.encoder().with_vocab(vocab)?, numbers))
    })?;
    let array = |numbers| arrays::array(py, numbers);
    Ok((Tokenizer::of(Arc::new(encoder)), array(old_ids)?, array(needed)?, array(merges)?))
}

/// The tokenizer, without a pipeline, of some tokens under other ids, and of more special tokens. `ids` are pairs of old
/// and new ids, and `added` are pairs of id and name.
#[pyfunction]
#[pyo3(signature = (tokenizer, ids, added=vec![]))]
pub(super) fn relabel(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    ids: Vec<(u32, u32)>,
    added: Vec<(u32, String)>,
) -> PyResult<Tokenizer> {
    let added: Vec<_> = added.into_iter().map(|(id, name)| (id, name.into_bytes())).collect();
    let encoder = call::long(py, None, |_| {
        let vocab = tokenizer.encoder().vocab();
        let mut new_ids = room::filled(None, vocab.tokens().len())?;
        for (old, new) in ids {
            if let Some(index) = vocab.tokens().index_of(old) {
                new_ids[index as usize] = Some(new);
            }
        }
        tokenizer.encoder().with_vocab(vocab.relabeled(&new_ids, &added)?.0)
    })?;
    Ok(Tokenizer::of(Arc::new(encoder)))
}

/// Old and new ids of the tokens that stay in a tokenizer without its last merges or ranks. See `Vocab::shrunk_ids`.
#[pyfunction]
pub(super) fn shrunk_ids(py: Python<'_>, tokenizer: &Tokenizer, size: usize) -> PyResult<Vec<(u32, u32)>> {
    call::long(py, None, |_| {
        let vocab = tokenizer.encoder().vocab();
        let ids = (0..).zip(vocab.shrunk_ids(size)?);
        room::collected(ids.filter_map(|(index, new)| Some((vocab.tokens().id_at(index), new?))))
    })
}

/// The words of ids of a tokenizer that merges characters, with how often each occurs. See `Vocab::words_of`.
#[pyfunction]
pub(super) fn words_of(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    ids: &Bound<'_, PyAny>,
) -> PyResult<PyPretokenCounts> {
    let ids = tokenizer.all_ids(ids)?;
    let counts = call::long(py, None, |control| {
        let (bytes, words) = tokenizer.encoder().vocab().words_of(&ids)?;
        let items = words.into_iter().map(|word| (&bytes[word.clone()], 1, word.start as u64));
        PretokenCounts::from_items(items, bytes.len() as u64, control)
    })?;
    Ok(PyPretokenCounts::new_of(counts))
}
