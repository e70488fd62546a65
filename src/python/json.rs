//! Parses JSON to objects of the interpreter.

use std::fmt;

use pyo3::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::objects;
use crate::room;

/// The value of a JSON text, as `json.loads` makes it. Returns None for a text that this reader cannot handle: one
/// with errors, with numbers that are not integers of 64 bits, with a key that occurs twice in one object, or with
/// half surrogates. The standard library, which takes twice as long, then reads the text or raises the error.
#[pyfunction]
pub(super) fn parse_json<'py>(py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    room::check_available(text.len())?; // a string with escapes is unpacked into a buffer of its own
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Value(py).deserialize(&mut json);
    Ok(value.ok().filter(|_| json.end().is_ok()))
}

/// Makes a Python object of a JSON value.
#[derive(Clone, Copy)]
struct Value<'py>(Python<'py>);

impl<'de, 'py> DeserializeSeed<'de> for Value<'py> {
    type Value = Bound<'py, PyAny>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, 'py> Visitor<'de> for Value<'py> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without fractions")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(self.0.None().into_bound(self.0))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(value.into_pyobject(self.0).map_err(E::custom)?.to_owned().into_any())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        objects::int(self.0, value).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        let size = objects::int(self.0, value.unsigned_abs()).map_err(E::custom)?;
        if value < 0 { size.neg().map_err(E::custom) } else { Ok(size) }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(objects::string(self.0, value).map_err(E::custom)?.into_any())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let list = objects::list(self.0).map_err(A::Error::custom)?;
        while let Some(item) = items.next_element_seed(self)? {
            list.append(item).map_err(A::Error::custom)?;
        }
        Ok(list.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let dict = objects::dict(self.0).map_err(A::Error::custom)?;
        let mut count = 0;
        while let Some(key) = entries.next_key_seed(self)? {
            dict.set_item(key, entries.next_value_seed(self)?).map_err(A::Error::custom)?;
            count += 1;
        }
        if dict.len() < count {
            return Err(A::Error::custom("a key occurs twice"));
        }
        Ok(dict.into_any())
    }
}
