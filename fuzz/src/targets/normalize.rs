//! Normalizers with and without places, and splitting in stages, against what each step says of itself.

use toksmith::normalize::{Aligned, NormalizeStep, Normalizer};
use toksmith::pretokenize::{
    Behavior, CharKind, Isa, Matcher, Named, Pattern, SplitStage, SplitStages, Splitter,
};

use super::input::Input;

const LETTERS: [&str; 24] = [
    "a",
    "A",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{323}",
    "ﬁ",
    "İ",
    "ß",
    " ",
    "\u{a0}",
    "\t",
    "\u{7f}",
    "\u{200b}",
    "\u{2581}",
    "가",
    "\u{1100}\u{1161}\u{11a8}",
    "Å",
    "½",
    "，",
    "😀",
    "-",
    "ab",
    "\u{fb2c}",
];

/// Bytes that a text may become.
const MOST: usize = 1 << 24;

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let steps: Vec<NormalizeStep> = (0..input.below(5)).map(|_| step(&mut input)).collect();
    let stages: Vec<SplitStage> = (0..input.below(4)).map(|_| stage(&mut input)).collect();
    let text = input.text(&LETTERS);
    staged(&stages, &text);
    let Ok(text) = std::str::from_utf8(&text) else { return };
    if text.len() <= 400 {
        normalized(&Normalizer(steps), text);
    }
}

fn step(input: &mut Input<'_>) -> NormalizeStep {
    let text = |input: &mut Input<'_>, least: usize| {
        let word = String::from_utf8(input.word(3, &LETTERS)).unwrap();
        if word.len() < least { "a".to_owned() } else { word }
    };
    match input.below(16) {
        0 => NormalizeStep::Nfc,
        1 => NormalizeStep::Nfd,
        2 => NormalizeStep::Nfkc,
        3 => NormalizeStep::Nfkd,
        4 => NormalizeStep::Lowercase,
        5 => NormalizeStep::StripAccents,
        6 => NormalizeStep::Nmt,
        7 | 8 => NormalizeStep::Strip { left: input.flag(), right: input.flag() },
        9 => NormalizeStep::Prepend(text(input, 0)),
        10 => NormalizeStep::CleanText,
        11 => NormalizeStep::SpaceIdeographs,
        12 => NormalizeStep::StripNonspacing,
        13 => NormalizeStep::SpellBytes,
        14 => NormalizeStep::Replace(matcher(input), text(input, 0)),
        _ => NormalizeStep::Replace(Matcher::Literal(text(input, 1).into_bytes()), text(input, 0)),
    }
}

fn matcher(input: &mut Input<'_>) -> Matcher {
    match input.below(6) {
        0 => Matcher::CharKind(CharKind::Numeric),
        1 => Matcher::CharKind(CharKind::Whitespace),
        2 => Matcher::CharKind(CharKind::Punctuation),
        3 => Matcher::Pattern(Pattern::Named(Named::Gpt2, Isa::best())),
        4 => Matcher::Scripts,
        _ => Matcher::Literal(input.pick(&LETTERS).into()),
    }
}

fn stage(input: &mut Input<'_>) -> SplitStage {
    let behavior = input.pick(&[
        Behavior::Removed,
        Behavior::Isolated,
        Behavior::MergedWithPrevious,
        Behavior::MergedWithNext,
        Behavior::Contiguous,
    ]);
    SplitStage { matcher: matcher(input), behavior, invert: input.flag() }
}

/// Pieces lie in order and leave out only what a stage removes.
fn staged(stages: &[SplitStage], text: &[u8]) {
    let removes = stages.iter().any(|stage| stage.behavior == Behavior::Removed);
    let (mut end, mut count) = (0, 0);
    let mut take = |piece: std::ops::Range<usize>| {
        assert!(piece.start == end || removes && piece.start > end, "{piece:?} behind {end}");
        assert!(!piece.is_empty() && piece.end <= text.len());
        end = piece.end;
        count += 1;
        Ok(true)
    };
    SplitStages(stages.to_vec()).split(text, &mut take).unwrap();
    assert!(end == text.len() || removes);
    let mut first = 0;
    let mut one = |_| {
        first += 1;
        Ok(false)
    };
    SplitStages(stages.to_vec()).split(text, &mut one).unwrap();
    assert_eq!(first, count.min(1));
}

/// With places the text becomes the same, and they stay inside of it, in order but for what was moved.
fn normalized(normalizer: &Normalizer, text: &str) {
    let (mut plain, mut tracked) = (Aligned::plain(text).unwrap(), Aligned::tracked(text).unwrap());
    let mut expected = Some(text.to_owned());
    for step in &normalizer.0 {
        expected = expected.and_then(|text| known(step, &text));
    }
    normalizer.apply(&mut plain, MOST).unwrap();
    normalizer.apply(&mut tracked, MOST).unwrap();
    let (changed, places) = tracked.into_parts();
    assert_eq!(plain.text(), changed);
    assert!(expected.is_none_or(|expected| expected == changed));
    assert_eq!(places.len(), changed.len());
    for (start, end) in places {
        let (start, end) = (start as usize, end as usize);
        assert!(start <= end && text.is_char_boundary(start) && text.is_char_boundary(end), "{start}..{end}");
    }
    if normalizer.leaves(text) {
        assert_eq!(changed, text);
        for (at, _) in text.char_indices() {
            let mut part = Aligned::plain(&text[at..]).unwrap();
            normalizer.apply(&mut part, MOST).unwrap();
            assert_eq!(part.text(), &text[at..]);
        }
    }
}

/// What the standard library makes of a step that it knows.
fn known(step: &NormalizeStep, text: &str) -> Option<String> {
    Some(match step {
        NormalizeStep::Lowercase => text.chars().flat_map(char::to_lowercase).collect(),
        NormalizeStep::Strip { left, right } => {
            let text = if *left { text.trim_start() } else { text };
            (if *right { text.trim_end() } else { text }).to_owned()
        }
        NormalizeStep::Prepend(before) if !text.is_empty() => format!("{before}{text}"),
        NormalizeStep::Replace(Matcher::Literal(literal), content) => {
            text.replace(std::str::from_utf8(literal).ok()?, content)
        }
        NormalizeStep::Replace(Matcher::CharKind(kind), content) => {
            let replaced =
                |character| if kind.has(character) { content.clone() } else { character.to_string() };
            text.chars().map(replaced).collect()
        }
        _ => return None,
    })
}
