//! Cuts and final pretokens under GPT-2's pattern, against a matcher that reads the pattern word by word.

use toksmith::pretokenize::class::{Class, class_of, decode_char, incomplete_tail};
use toksmith::pretokenize::cut::CutRule;
use toksmith::pretokenize::{Named, next};

use crate::random::Random;

/// One character of each class and length that the pattern or UTF-8 tells apart, and what contractions are
/// made of.
const ALPHABET: [&str; 18] = [
    "a", "s", "l", "é", "中", "𐐷", "1", "٣", " ", "\n", "\u{a0}", "\u{3000}", ".", "'", "\u{301}", "。",
    "😀", "\u{1c}",
];

/// The characters of `text`: class, bytes.
fn characters(text: &[u8]) -> Vec<(Class, &[u8])> {
    let mut at = 0;
    let mut found = Vec::new();
    while at < text.len() {
        // The standard library decides what is valid, one length after the other.
        let whole = (1..=4).filter_map(|len| text.get(at..at + len)).find_map(|bytes| {
            let mut chars = std::str::from_utf8(bytes).ok()?.chars();
            Some((class_of(u32::from(chars.next()?)), bytes))
        });
        let (class, bytes) = whole.unwrap_or((Class::Other, &text[at..at + 1]));
        found.push((class, bytes));
        at += bytes.len();
    }
    found
}

/// How many characters the pattern's first alternative that matches takes; the alternatives in their order.
fn naive_match(chars: &[(Class, &[u8])]) -> usize {
    for contraction in ["'s", "'d", "'m", "'t", "'ll", "'ve", "'re"] {
        let bytes: Vec<u8> = chars.iter().take(contraction.len()).flat_map(|c| c.1).copied().collect();
        if bytes == contraction.as_bytes() {
            return contraction.len();
        }
    }
    let other = |class: Class| !class.is_space() && !class.is_letter() && !class.is_number();
    let kinds: [&dyn Fn(Class) -> bool; 3] = [&|c| c.is_letter(), &|c| c.is_number(), &other];
    for belongs in kinds {
        let prefix = usize::from(chars[0].1 == b" ");
        let run = chars[prefix..].iter().take_while(|c| belongs(c.0)).count();
        if run > 0 {
            return prefix + run;
        }
    }
    let run = chars.iter().take_while(|c| c.0.is_space()).count();
    if run == chars.len() || run == 1 { run } else { run - 1 }
}

/// The ends of the pretokens of `text`.
fn naive_ends(text: &[u8]) -> Vec<usize> {
    let chars = characters(text);
    let (mut at, mut end) = (0, 0);
    let mut ends = Vec::new();
    while at < chars.len() {
        let len = naive_match(&chars[at..]);
        end += chars[at..at + len].iter().map(|c| c.1.len()).sum::<usize>();
        at += len;
        ends.push(end);
    }
    ends
}

fn check(text: &[u8]) {
    let expected = naive_ends(text);
    let shown = || String::from_utf8_lossy(text).into_owned();
    let starts = std::iter::once(0).chain(expected.iter().copied());
    for (start, &end) in starts.zip(&expected) {
        assert_eq!(next(Named::Gpt2, text, start), end, "next from {start} in {:?}, {text:?}", shown());
    }
}

/// Calls `each` with every string of up to `longest` characters of the alphabet.
fn for_all_strings(longest: usize, each: &mut dyn FnMut(&str)) {
    fn grow(text: &mut String, left: usize, each: &mut dyn FnMut(&str)) {
        each(text);
        if left == 0 {
            return;
        }
        for part in ALPHABET {
            let len = text.len();
            text.push_str(part);
            grow(text, left - 1, each);
            text.truncate(len);
        }
    }
    grow(&mut String::new(), longest, each);
}

#[test]
fn every_short_string() {
    for_all_strings(4, &mut |text| check(text.as_bytes()));
}

/// How many random cases a test takes.
const CASES: usize = 20_000;

/// Up to `longest` characters of the alphabet.
fn soup(random: &mut Random, longest: usize) -> String {
    (0..random.below(longest)).map(|_| ALPHABET[random.below(ALPHABET.len())]).collect()
}

/// Bytes that make up valid, cut and impossible sequences alike.
fn broken(random: &mut Random) -> Vec<u8> {
    let bytes =
        b"as' \n1.\x80\x85\x8f\x90\x9f\xa0\xa8\xbf\xc0\xc2\xc3\xe0\xe2\xe3\xe4\xed\xef\xf0\xf4\xf5\xff";
    let len = random.below(100);
    random.text(bytes, len)
}

/// Calls `each` for the cases of a test, with the same random numbers in every run.
fn for_cases(mut each: impl FnMut(&mut Random)) {
    let random = &mut Random::new(1);
    (0..CASES).for_each(|_| each(random));
}

#[test]
fn longer_strings() {
    for_cases(|random| {
        let text = soup(random, 9);
        check(text.as_bytes());
    });
}

#[test]
fn strings_of_several_blocks() {
    for_cases(|random| {
        let text = soup(random, 150);
        check(text.as_bytes());
    });
}

#[test]
fn invalid_utf8() {
    for_cases(|random| {
        let text = broken(random);
        check(&text);
    });
}

#[test]
fn any_bytes() {
    for_cases(|random| {
        let text = (0..random.below(200)).map(|_| random.next() as u8).collect::<Vec<u8>>();
        check(&text);
    });
}

#[test]
fn a_text_may_be_cut_where_it_is_said() {
    for_cases(|random| {
        let text = soup(random, 12);
        let text = text.as_bytes();
        let whole = naive_ends(text);
        let cuts: Vec<usize> = (0..=text.len()).filter(|&at| CutRule::Gpt2.is_cut(text, at)).collect();
        for &at in &cuts {
            let mut parts = naive_ends(&text[..at]);
            parts.extend(naive_ends(&text[at..]).iter().map(|end| at + end));
            assert_eq!(&parts, &whole, "cut at {}", at);
        }
        for at in 0..=text.len() {
            assert_eq!(CutRule::Gpt2.next_cut(text, at), cuts.iter().copied().find(|&cut| cut >= at));
        }
    });
}

/// A window never shows a cut that the whole text does not have.
#[test]
fn a_window_shows_no_cut_of_its_own() {
    for_cases(|random| {
        let text = soup(random, 12);
        let from = random.below(8);
        let short = random.below(8);
        let text = text.as_bytes();
        let from = from.min(text.len());
        let window = &text[from..text.len() - short.min(text.len() - from)];
        for rule in [CutRule::Gpt2, CutRule::Cl100k, CutRule::O200k] {
            for at in 0..=window.len() {
                let cut = rule.is_cut(window, at);
                assert!(!cut || rule.is_cut(text, from + at), "{rule:?} at {at}");
                let enough = at >= 3 && at + 4 <= window.len();
                assert!(cut || !enough || !rule.is_cut(text, from + at), "{rule:?} misses {at}");
            }
        }
    });
}

#[test]
fn settled_pretokens_stay() {
    for_cases(|random| {
        let text = soup(random, 14);
        let broken = broken(random);
        for text in [text.as_bytes(), &broken] {
            let whole = naive_ends(text);
            for len in 0..text.len() {
                let bound = CutRule::Gpt2.settled_end(&text[..len]);
                let upto = |ends: &[usize]| -> Vec<usize> {
                    ends.iter().copied().filter(|&end| end <= bound).collect()
                };
                assert_eq!(upto(&naive_ends(&text[..len])), upto(&whole), "{} of {:?}", len, text);
            }
        }
    });
}

#[test]
fn an_incomplete_tail_is_what_the_standard_library_says() {
    for_cases(|random| {
        let text = broken(random);
        let mut rest: &[u8] = &text;
        let expected = loop {
            match std::str::from_utf8(rest) {
                Ok(_) => break 0,
                Err(error) => match error.error_len() {
                    None => break rest.len() - error.valid_up_to(),
                    Some(len) => rest = &rest[error.valid_up_to() + len..],
                },
            }
        };
        assert_eq!(incomplete_tail(&text), expected);
    });
}

#[test]
fn every_code_point_decodes_to_itself() {
    for point in 0..=0x0010_FFFF {
        let Some(char) = char::from_u32(point) else { continue };
        let mut bytes = [0; 4];
        let len = char.encode_utf8(&mut bytes).len();
        assert_eq!(decode_char(&bytes[..len], 0), (class_of(point), len), "U+{point:04X}");
        assert_eq!(class_of(point).is_space(), char.is_whitespace(), "U+{point:04X}");
    }
    assert_eq!(class_of(0xD800), Class::Other);
    assert_eq!(class_of(0x0011_0000), Class::Other);
    assert_eq!(class_of(u32::MAX), Class::Other);
}

#[test]
fn nothing_is_cut_or_settled_under_never() {
    let text = b"one two three four five six seven";
    assert!((0..=text.len()).all(|at| !CutRule::Never.is_cut(text, at)));
    assert_eq!(CutRule::Never.next_cut(text, 0), None);
    assert_eq!(CutRule::Never.settled_end(text), 0);
}
