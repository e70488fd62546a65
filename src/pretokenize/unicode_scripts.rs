//! The script of a character, as Hugging Face's UnicodeScripts has it.

use super::script_table::STARTS;

/// The number of the characters that belong to any script.
pub(super) const ANY: u8 = 0;

/// The scripts of ASCII, which need no search.
const ASCII: [u8; 128] = {
    let (mut scripts, mut next, mut script, mut at) = ([ANY; 128], 0, ANY, 0);
    while at < scripts.len() {
        if STARTS[next] >> 8 == at as u32 {
            script = STARTS[next] as u8;
            next += 1;
        }
        scripts[at] = script;
        at += 1;
    }
    scripts
};

/// The number of the script that a character belongs to.
pub(super) fn script_of(character: char) -> u8 {
    let code = u32::from(character);
    if let Some(&script) = ASCII.get(code as usize) {
        return script;
    }
    let behind = STARTS.partition_point(|start| start >> 8 <= code);
    behind.checked_sub(1).map_or(ANY, |at| STARTS[at] as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_gives_the_scripts_of_ascii() {
        for (code, script) in ASCII.iter().enumerate() {
            let behind = STARTS.partition_point(|&start| start >> 8 <= code as u32);
            assert_eq!(*script, behind.checked_sub(1).map_or(ANY, |at| STARTS[at] as u8), "{code}");
        }
        assert!(STARTS.is_sorted_by(|start, next| start >> 8 < next >> 8));
    }
}
