//! The script of a character, as Hugging Face's UnicodeScripts has it.

use super::script_table::STARTS;

/// The number of the characters that belong to any script.
pub(super) const ANY: u8 = 0;

/// The number of the script that a character belongs to.
pub(super) fn script_of(character: char) -> u8 {
    let code = u32::from(character);
    let behind = STARTS.partition_point(|start| start >> 8 <= code);
    behind.checked_sub(1).map_or(ANY, |at| STARTS[at] as u8)
}
