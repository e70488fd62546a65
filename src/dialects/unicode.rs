//! The classes of characters of the crate regex-syntax, for programs without the `regex` package.
//!
//! They are those of an older version of Unicode than the named patterns have: that of tiktoken and
//! `tokenizers`. A class that the two packages are not known to read alike is refused.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind, Literal};

use super::cursor::is_among;
use super::members::{Ranges, Tables, joined, opposite};
use crate::error::{Error, Result, show_text};

/// Properties whose names both engines know, beside any script: general categories and a few others.
const PROPERTIES: &str = " l lc lu ll lt lm lo m mn mc me n nd nl no p pc pd ps pe pi pf po s sm sc sk so z zs zl zp c \
     cc cf co cn letter casedletter uppercaseletter lowercaseletter titlecaseletter modifierletter otherletter mark \
     nonspacingmark spacingmark enclosingmark number decimalnumber letternumber othernumber punctuation \
     connectorpunctuation dashpunctuation openpunctuation closepunctuation initialpunctuation finalpunctuation \
     otherpunctuation symbol mathsymbol currencysymbol modifiersymbol othersymbol separator spaceseparator \
     lineseparator paragraphseparator other control format privateuse unassigned any ascii assigned alphabetic \
     lowercase uppercase whitespace emoji ideographic math ";

/// The Unicode version of the classes.
pub const SYNTAX_UNICODE_VERSION: &str = "16.0";

/// The letters that `regex` takes for one letter under `(?i)`.
const DOTTED: [u32; 4] = ['i' as u32, 'I' as u32, '\u{130}' as u32, '\u{131}' as u32];
/// Code points beside the surrogates, which Rust's characters leave out: one that is not assigned, and one
/// for private use.
const BESIDE_SURROGATES: [u32; 2] = [0xD7FF, 0xE000];
const SURROGATES: std::ops::Range<u32> = 0xD800..0xE000;
/// Properties in which a surrogate differs from the code points beside them.
const OF_SURROGATES: [&str; 7] = ["cs", "surrogate", "co", "privateuse", "cn", "unassigned", "assigned"];
/// Properties of a single letter that only [`super::cases`] asks for.
const OF_CASES: [&str; 2] = ["CWCM", "CWCF"];

/// The classes of regex-syntax.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyntaxTables;

impl Tables for SyntaxTables {
    fn matched(&self, source: &str) -> Result<Ranges> {
        let unsupported = |what: &str| Error::Pattern(format!("{what} in {}", show_text(source)));
        let folds = source.contains("(?i") || source.contains("(?si");
        if source.contains("(?V1)") {
            return Err(unsupported("a set of version 1"));
        }
        check_properties(source, folds)?;
        let written = source.replace("(?V0)", "");
        let class = regex_syntax::parse(&written).ok().and_then(|parsed| class_of(parsed.kind()));
        let class = class.ok_or_else(|| unsupported("no known class of characters"))?;
        let mut ranges: Ranges =
            class.iter().map(|range| u32::from(range.start())..u32::from(range.end()) + 1).collect();
        let has = |ranges: &Ranges, code: u32| ranges.iter().any(|range| range.contains(&code));
        if BESIDE_SURROGATES.iter().all(|&code| has(&ranges, code)) {
            ranges.push(SURROGATES);
        }
        if folds {
            let is_negated = written.trim_start_matches(['(', '?', 'i', 's', ':', ')']).starts_with("[^");
            let is_odd = |&code: &u32| has(&ranges, code) != is_negated;
            let dotted: Ranges = match DOTTED.iter().any(is_odd) {
                true => DOTTED.iter().map(|&code| code..code + 1).collect(),
                false => Vec::new(),
            };
            let listed = if is_negated { opposite(&joined(ranges)) } else { ranges };
            ranges = joined([listed, dotted].concat());
            return Ok(if is_negated { opposite(&ranges) } else { ranges });
        }
        Ok(joined(ranges))
    }

    fn matched_among(&self, source: &str, among: &str) -> Result<Ranges> {
        let ranges = self.matched(source)?;
        let is_matched = |character: char| {
            let after = ranges.partition_point(|range| range.end <= u32::from(character));
            ranges.get(after).is_some_and(|range| range.contains(&u32::from(character)))
        };
        let places = among.chars().enumerate().filter(|(_, character)| is_matched(*character));
        Ok(joined(places.map(|(place, _)| place as u32..place as u32 + 1).collect()))
    }
}

/// The characters of an expression that matches one.
fn class_of(kind: &HirKind) -> Option<ClassUnicode> {
    match kind {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Literal(Literal(bytes)) => {
            let mut characters = std::str::from_utf8(bytes).ok()?.chars();
            let character = characters.next().filter(|_| characters.next().is_none())?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(character, character)]))
        }
        HirKind::Capture(capture) => class_of(capture.sub.kind()),
        HirKind::Alternation(parts) => {
            let mut all = ClassUnicode::empty();
            parts.iter().try_for_each(|part| class_of(part.kind()).map(|class| all.union(&class)))?;
            Some(all)
        }
        _ => None,
    }
}

/// Refuses properties that are not known to mean the same in both packages.
fn check_properties(source: &str, folds: bool) -> Result<()> {
    for (at, _) in source.match_indices(r"\p").chain(source.match_indices(r"\P")) {
        let name = match source[at + 2..].strip_prefix('{') {
            Some(braced) => braced.split('}').next().unwrap_or_default(),
            None => source[at + 2..].get(..1).unwrap_or_default(),
        };
        let plain = name.strip_prefix('^').unwrap_or(name);
        let is_alike = (is_property(plain) && !OF_SURROGATES.contains(&&*letters_of(plain)))
            || OF_CASES.contains(&plain)
            || is_script(plain);
        if folds || !is_alike {
            let under = if is_alike { " under (?i)" } else { "" };
            return Err(Error::Pattern(format!("the property {}{under} has no table here", show_text(name))));
        }
    }
    Ok(())
}

/// Whether a name is among [`PROPERTIES`].
pub(super) fn is_property(name: &str) -> bool {
    is_among(&letters_of(name), PROPERTIES)
}

/// The name of a property in lower case, without underscores, and without the name of what it is a value of.
fn letters_of(name: &str) -> String {
    let lower = name.to_lowercase();
    let prefix = ["gc=", "general_category="].into_iter().find(|prefix| lower.starts_with(prefix));
    lower[prefix.map_or(0, str::len)..].replace('_', "")
}

/// Whether a name, as `Han` or `sc=Han`, is that of a script.
pub(super) fn is_script(name: &str) -> bool {
    let (prefix, script) = name.split_once('=').unwrap_or(("sc", name));
    let prefixes = ["script", "sc", "script_extensions", "scx"];
    prefixes.iter().any(|known| known.eq_ignore_ascii_case(prefix))
        && script.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && regex_syntax::parse(&format!(r"\p{{sc={script}}}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::class::class_of;

    fn has(source: &str, character: char) -> bool {
        !SyntaxTables.matched_among(source, character.to_string().as_str()).unwrap().is_empty()
    }

    /// The tables of the named patterns were read off `regex`.
    #[test]
    fn classes_are_those_of_regex_at_all_code_points_of_the_older_version() {
        let marked = |ranges: Ranges| {
            let mut marks = vec![false; 0x11_0000];
            ranges.into_iter().flatten().for_each(|code| marks[code as usize] = true);
            marks
        };
        let unassigned = super::class_of(regex_syntax::parse(r"\p{Cn}").unwrap().kind()).unwrap();
        let mut is_new = marked(
            unassigned.iter().map(|range| u32::from(range.start())..u32::from(range.end()) + 1).collect(),
        );
        is_new[0x295] = true; // in another category since
        type Test = fn(crate::pretokenize::class::Class) -> bool;
        let classes: [(&str, Test); 8] = [
            (r"\p{L}", |class| class.is_letter()),
            (r"[\p{Lu}\p{Lt}]", |class| class as u8 == 4 || class as u8 == 6),
            (r"\p{Ll}", |class| class as u8 == 5),
            (r"\p{Lm}", |class| class as u8 == 7),
            (r"\p{N}", |class| class.is_number()),
            (r"\p{M}", |class| class.is_mark()),
            (r"\s", |class| class.is_space()),
            (r"(?V0)[^\s\p{L}\p{N}\p{M}]", |class| class as u8 == 0),
        ];
        for (source, expected) in classes {
            let matched = marked(SyntaxTables.matched(source).unwrap());
            let differs = (0..0x11_0000u32).find(|&code| {
                let at = code as usize;
                !is_new[at] && matched[at] != expected(class_of(code))
            });
            assert_eq!(differs, None, "{source}");
        }
    }

    #[test]
    fn letters_without_regard_to_case_are_those_of_regex() {
        for (source, yes, no) in [
            ("(?V0)(?i:s)", "sSſ", "ß"),
            ("(?V0)(?i:[k])", "kK\u{212a}", "l"),
            ("(?i:i)", "iIıİ", "j"),
            ("(?V0)(?i:[^i])", "j", "iIıİ"),
            ("(?V0)(?i:[^ı-ĵ])", "a", "iIıİ"),
            ("(?V0)(?:(?i:a)|(?i:ß))", "aAßẞ", "s"),
        ] {
            assert!(yes.chars().all(|character| has(source, character)), "{source}");
            assert!(!no.chars().any(|character| has(source, character)), "{source}");
        }
    }

    #[test]
    fn what_has_no_table_is_named() {
        let sources = r"\p{Cs} \P{gc=Cn} \p{GCB=L} (?i:\p{Lu}) \p{Nonsense} (?V1)[a] ab (?=a)";
        for source in sources.split(' ') {
            let error = SyntaxTables.matched(source).unwrap_err().to_string();
            assert!(error.contains("no table here") || error.contains(" in "), "{error}");
        }
    }
}
