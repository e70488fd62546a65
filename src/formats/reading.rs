//! Whole files that may come from a stranger: their bytes, texts and JSON objects, with errors that name file
//! and line.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::marker::PhantomData;
use std::path::Path;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::{Error, Result, show_reason};
use crate::source::{Links, open_regular};
use crate::tokenizer::parts::place::quoted;

/// The number of bytes at the beginning of a file by which it is recognised.
pub const HEAD_BYTES: usize = 1 << 12;
/// Names of what the process was given open, which may be a pipe.
const GIVEN: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc"];

/// Opens a regular file, or one that the process was given open.
pub(super) fn open(path: &Path) -> std::io::Result<File> {
    match GIVEN.iter().any(|given| path.starts_with(given)) {
        true => File::open(path),
        false => open_regular(path, OpenOptions::new().read(true), Links::Follow),
    }
}

/// Reads a file that ends within `max_bytes`: a regular one, or one that the process was given open.
///
/// # Errors
/// [`Error::Io`]; [`Error::Unread`] for a larger file, and where a Git LFS pointer or an HTML page stands in
/// its place.
pub(super) fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    let done = open(path).and_then(|file| file.take(max_bytes + 1).read_to_end(&mut data));
    done.map_err(|source| Error::Io { path: path.to_owned(), source })?;
    if data.len() as u64 > max_bytes {
        return Err(unread(
            path,
            format!("larger than {max_bytes} bytes, the limit for a file of this kind"),
        ));
    }
    check_whole(path, &data[..data.len().min(HEAD_BYTES)])?;
    Ok(data)
}

/// Refuses a file with these first bytes if something else stands in its place.
pub(super) fn check_whole(path: &Path, head: &[u8]) -> Result<()> {
    if let Some(reason) = crate::source::substitute(head) {
        return Err(unread(path, reason));
    }
    Ok(())
}

/// The text of the content of a file.
pub(super) fn text_of<'d>(data: &'d [u8], path: &Path) -> Result<&'d str> {
    simdutf8::compat::from_utf8(data)
        .map_err(|error| unread(path, format!("not UTF-8 at byte {}", error.valid_up_to())))
}

/// The object in the text of a file that should be a `kind`.
///
/// # Errors
/// [`Error::Unread`], with the line for what is no JSON.
pub(super) fn object_of(text: &str, path: &Path, kind: &str) -> Result<Map<String, Value>> {
    let other = match serde_json::from_str(text).map_err(|error| not_json(path, &error))? {
        Value::Object(fields) => return Ok(fields),
        Value::Array(_) => "a list",
        Value::String(_) => "a text",
        _ => "a single value",
    };
    Err(unread(path, format!("not a {kind}: expected a JSON object, got {other}")))
}

/// The message of an error in JSON, without its place there.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    show_reason(text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason))
}

/// The error of JSON that was not read.
pub(super) fn not_json(path: &Path, error: &serde_json::Error) -> Error {
    let reason = reason(error);
    if error.is_data() {
        return unread(path, reason);
    }
    unread(path, format!("line {}: not JSON: {reason}", error.line()))
}

pub(super) fn unread(path: &Path, reason: String) -> Error {
    Error::Unread { path: path.to_owned(), reason }
}

/// The values of a JSON object by name, in the order of the file. A name that is there twice is an error.
pub(crate) struct Entries<T>(pub(crate) IndexMap<String, T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Entries<T>, A::Error> {
                let mut entries = IndexMap::new();
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    if entries.contains_key(&name) {
                        return Err(A::Error::custom(format!("{} is there twice", quoted(&name))));
                    }
                    entries.insert(name, value);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}
