//! The scanners, for each pattern and each instruction set of this machine, against the plain matcher of one
//! pretoken.

use toksmith::pretokenize::spellings::NAMES;
use toksmith::pretokenize::{ENDS, Isa, Named, Scanner, next};

use crate::random::Random;

/// One character of each kind and length that some pattern or UTF-8 tells apart, and what contractions are
/// made of.
const ALPHABET: [&str; 30] = [
    "a",
    "s",
    "l",
    "v",
    "e",
    "A",
    "L",
    "é",
    "Д",
    "ſ",
    "ǅ",
    "ʰ",
    "中",
    "𐐷",
    "1",
    "٣",
    " ",
    "\n",
    "\r",
    "\t",
    "\u{a0}",
    "\u{3000}",
    ".",
    "'",
    "/",
    "\u{301}",
    "。",
    "😀",
    "\u{1c}",
    "\u{e0100}",
];

/// Bytes that make up valid, cut and impossible sequences alike.
const BROKEN: &[u8] = b"asA' \n1./\x80\x85\x8f\x90\x97\x9f\xa0\xa8\xb7\xbf\xc0\xc2\xc3\xc4\xd0\xd1\xd8\xe0\xe2\xe3\xe4\xe5\xec\xed\xef\xf0\xf4\xf5\xff";

fn plain_ends(named: Named, text: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = next(named, text, at);
        ends.push(at);
    }
    ends
}

fn scanned_ends(named: Named, isa: Isa, text: &[u8]) -> Vec<usize> {
    let mut scanner = Scanner::new(named, isa, text);
    let mut room = [0; ENDS];
    let mut ends = Vec::new();
    loop {
        let count = scanner.fill(&mut room);
        if count == 0 {
            return ends;
        }
        ends.extend_from_slice(&room[..count]);
    }
}

fn check_one(named: Named, text: &[u8], plain: &[usize]) {
    for isa in Isa::available() {
        let scanned = scanned_ends(named, isa, text);
        let shown = || String::from_utf8_lossy(text).into_owned();
        assert_eq!(scanned, plain, "{} with {} over {:?}, {text:?}", named.name(), isa.name(), shown());
    }
}

fn check(text: &[u8]) {
    for named in Named::ALL {
        check_one(named, text, &plain_ends(named, text));
    }
}

/// Calls `each` with every string of `length` characters of the alphabet.
fn for_all_strings(length: usize, each: &mut dyn FnMut(&str)) {
    fn grow(text: &mut String, left: usize, each: &mut dyn FnMut(&str)) {
        if left == 0 {
            return each(text);
        }
        for part in ALPHABET {
            let len = text.len();
            text.push_str(part);
            grow(text, left - 1, each);
            text.truncate(len);
        }
    }
    grow(&mut String::new(), length, each);
}

#[test]
fn every_short_string() {
    for length in 0..=3 {
        for_all_strings(length, &mut |text| check(text.as_bytes()));
    }
}

/// At every place in a block, and across its end, with text around that reaches further.
#[test]
fn every_offset_in_a_block() {
    let tail = "b ".repeat(40);
    let mut text = Vec::new();
    for_all_strings(2, &mut |middle| {
        for offset in 0..66 {
            for filler in ["x", " ", "é", ".", "\n", "A", "1", "/", "中"] {
                if offset > 0 && offset < 56 && offset % 7 != 0 {
                    continue;
                }
                text.clear();
                while text.len() + filler.len() <= offset {
                    text.extend(filler.bytes());
                }
                text.extend(middle.bytes());
                text.extend(tail.bytes());
                check(&text);
            }
        }
    });
}

/// A random text of characters that are few enough for runs.
fn soup(random: &mut Random, characters: usize) -> Vec<u8> {
    let few = [2, 3, 5, 8, ALPHABET.len()][random.below(5)];
    let some: Vec<&str> = (0..few).map(|_| ALPHABET[random.below(ALPHABET.len())]).collect();
    (0..characters).flat_map(|_| some[random.below(few)].bytes()).collect()
}

#[test]
fn random_texts_around_the_edges_of_blocks() {
    let mut random = Random::new(1);
    for round in 0..60_000 {
        let length = [5, 20, 62, 64, 66, 126, 130, 190, 200][round % 9] + random.below(8);
        let mut text = soup(&mut random, length);
        if round % 2 == 0 {
            text.truncate(length);
        }
        check(&text);
    }
}

#[test]
fn texts_that_are_not_utf8() {
    let mut random = Random::new(2);
    for round in 0..40_000 {
        let length = 3 + random.below(if round % 3 == 0 { 200 } else { 12 });
        let few = 2 + random.below(BROKEN.len() - 2);
        let start = random.below(BROKEN.len() - few);
        let text = random.text(&BROKEN[start..start + few], length);
        check(&text);
    }
}

#[test]
fn contractions_at_every_offset() {
    for contraction in [
        "'s", "'S", "'ll", "'Ll", "'vE", "'re", "'t", "'ſ", "'l", "'lv", "''s", "'s's", "'s'sfoo", "'t中A!",
        "'t中Ab",
    ] {
        for before in ["x", "X", "中", "1", ".", " ", "\n", "\u{301}", ".\u{301}"] {
            for after in ["", "a", "A", " ", "'s", "中", "\u{301}", "1", "."] {
                for offset in 0..70 {
                    check(format!("{}{before}{contraction}{after}", "x ".repeat(offset)).as_bytes());
                }
            }
        }
    }
}

/// The whole time is linear in the length: some seconds would show that it is not.
#[test]
fn long_runs() {
    for part in [
        "a", "A", " ", "\n", "1", "中", "\u{301}", "!", "/", "'", "\n ", "'s", "!\u{301}", "𐐷", "٣",
        "\u{3000}",
    ] {
        for (before, after) in [("", ""), ("\n", ""), ("中", "."), ("!\n", "x"), ("!!", "b"), (" ", "\n")] {
            let text = format!("{before}{}{after}", part.repeat(20_000));
            check(text.as_bytes());
        }
    }
}

#[test]
fn an_instruction_set_is_found_by_its_name() {
    for isa in Isa::available() {
        assert_eq!(Isa::from_name(isa.name()), Some(isa));
    }
    assert_eq!(Isa::from_name("abacus"), None);
    assert_eq!(Isa::available().next(), Some(Isa::best()));
    for named in Named::ALL {
        assert_eq!(Named::of(named.name(), &NAMES), Some(named));
    }
    assert_eq!(Named::of("gpt3", &NAMES), None);
}
