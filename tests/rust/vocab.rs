//! What a vocabulary accepts, what it refuses, and where special tokens go.

use toksmith::formats::huggingface::TokenizerFile;
use toksmith::train::{Options, Saver, Start, build_vocab, resume};
use toksmith::vocab::{CharacterTokens, Semantics, SpecialSpec, TextSpelling};
use toksmith::{Control, Error, Vocab};

type Merges<'a> = Option<&'a [(&'a str, &'a str)]>;

fn bytes() -> Vec<(u32, Vec<u8>)> {
    (0..256).map(|byte| (byte, vec![byte as u8])).collect()
}

fn vocab(extra: &[(u32, &str)], merges: Merges, specials: &[(&str, Option<u32>)]) -> Result<Vocab, Error> {
    let mut tokens = bytes();
    tokens.extend(extra.iter().map(|(id, token)| (*id, token.as_bytes().to_vec())));
    let own = |&(a, b): &(&str, &str)| (a.as_bytes().to_vec(), b.as_bytes().to_vec());
    let merges: Option<Vec<_>> = merges.map(|list| list.iter().map(own).collect());
    let specials: Vec<SpecialSpec> =
        specials.iter().map(|(name, id)| (name.as_bytes().to_vec(), *id)).collect();
    Vocab::new(&tokens, merges.as_deref(), &specials)
}

#[test]
fn special_tokens_keep_or_get_ids() {
    let merges: Merges = Some(&[("a", "b")]);
    // In the vocabulary and not needed by merges: it keeps its id, and is no ordinary token.
    let kept = vocab(&[(256, "ab"), (300, "<s>")], merges, &[("<s>", None)]).unwrap();
    assert_eq!((kept.special_ids(), kept.ordinary_id(b"<s>")), (&[300][..], None));
    // New ones follow the highest id, in order.
    let new = vocab(&[(256, "ab"), (300, "x1")], merges, &[("<s>", None), ("<t>", None)]).unwrap();
    assert_eq!(new.special_ids(), [301, 302]);
    assert_eq!(new.token_bytes(302).unwrap(), b"<t>");
    // A byte, or a token that merges make, stays ordinary: the special token gets an id of its own.
    let own = vocab(&[(256, "ab")], merges, &[("a", None), ("ab", None), ("q", Some(999))]).unwrap();
    assert_eq!(own.special_ids(), [1000, 1001, 999]);
    assert_eq!((own.ordinary_id(b"a"), own.ordinary_id(b"ab")), (Some(97), Some(256)));
    // Of two ids for the same bytes the lower one is special.
    let lower = vocab(&[(256, "ab"), (257, "ab")], merges, &[("ab", None)]).unwrap();
    assert_eq!((lower.special_ids(), lower.ordinary_id(b"ab")), (&[256][..], Some(257)));
}

#[test]
fn more_special_tokens_are_as_if_they_had_been_there() {
    let same = |grown: &Vocab, expected: &Vocab| {
        assert_eq!(grown.state(), expected.state());
        assert_eq!(grown.special_ids(), expected.special_ids());
        assert_eq!(grown.specials().tokens(), expected.specials().tokens());
        assert_eq!(grown.unmade().unwrap(), expected.unmade().unwrap());
        assert!(grown.tokens().iter().eq(expected.tokens().iter()));
    };
    let merges: Merges = Some(&[("a", "b"), ("ab", "c")]);
    // Ids without gaps, with a gap, and so far apart that the table of tokens is not indexed by id.
    for (extra, merges, first) in [
        (&[(256, "ab"), (257, "abc")][..], merges, 258),
        (&[(256, "ab"), (257, "abc"), (400, "xyz")], None, 500),
        (&[(256, "ab"), (2_000_000_000, "abc")], merges, 2_000_000_001),
    ] {
        let specials = ["<s>", "<t>", "ab", "a token that is longer", "é"];
        let ids = [0, 1, 2, 99, 100].map(|more| Some(first + more));
        let all: Vec<_> = specials.into_iter().zip(ids).collect();
        let expected = vocab(extra, merges, &all).unwrap();
        let more: Vec<_> = all.iter().map(|(name, id)| (name.as_bytes().to_vec(), id.unwrap())).collect();
        let base = vocab(extra, merges, &all[..1]).unwrap();
        let grown = base.with_specials(&more[1..3]).unwrap().unwrap();
        same(&grown.with_specials(&more[3..]).unwrap().unwrap(), &expected);
        same(&base.with_specials(&more[1..]).unwrap().unwrap(), &expected);
        same(&base.with_specials(&[]).unwrap().unwrap(), &base);
        for id in [0, first] {
            assert!(base.with_specials(&[(b"<u>".to_vec(), id)]).unwrap().is_none());
        }
        assert!(base.with_specials(&[(b"<s>".to_vec(), first + 1)]).is_err());
    }
    let sparse = vocab(&[], None, &[]).unwrap().with_specials(&[(b"<s>".to_vec(), u32::MAX)]).unwrap();
    assert!(sparse.is_none(), "the table of tokens would be too large");
}

#[test]
fn a_vocabulary_of_characters_takes_more_special_tokens() {
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let tokens = |more: &[(u32, &'static str)]| -> Vec<(u32, &[u8])> {
        let all = [(256, "a"), (257, "b"), (258, "ab")].into_iter().chain(more.iter().copied());
        let all = all.map(|(id, token)| (id, token.as_bytes()));
        (0..).zip(bytes.iter().map(|byte| &byte[..])).chain(all).collect()
    };
    let kinds = |outside: &[u32]| CharacterTokens {
        bytes: (0..256).collect(),
        outside: outside.iter().copied().collect(),
        ..CharacterTokens::default()
    };
    let base = Vocab::of_characters(tokens(&[]), &[(256, 257)], kinds(&[]), &[]).unwrap();
    let grown = base.with_specials(&[(b"<s>".to_vec(), 300), (b"ab".to_vec(), 307)]).unwrap().unwrap();
    let specials: [SpecialSpec; 2] = [(b"<s>".to_vec(), Some(300)), (b"ab".to_vec(), Some(307))];
    let all = tokens(&[(300, "<s>"), (307, "ab")]);
    let expected = Vocab::of_characters(all, &[(256, 257)], kinds(&[300, 307]), &specials).unwrap();
    assert_eq!(grown.state(), expected.state());
    assert_eq!(grown.special_ids(), expected.special_ids());
    assert_eq!(grown.unmade().unwrap(), expected.unmade().unwrap());
    assert_eq!(grown.ordinary_id(b"ab"), Some(258));
}

#[test]
fn what_is_wrong_is_named() {
    let merges: Merges = Some(&[]);
    let message = |result: Result<Vocab, Error>| result.unwrap_err().to_string();
    let has = |result, parts: &[&str]| {
        let message = message(result);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    assert_eq!(vocab(&[(256, "")], merges, &[]).unwrap().token_bytes(256).unwrap(), b"", "Whisper's has one");
    has(vocab(&[(97, "zz")], merges, &[]), &["97", "zz"]);
    has(vocab(&[(256, "a")], merges, &[]), &["97", "256", "b\"a\""]);
    has(vocab(&[], merges, &[("", None)]), &["empty"]);
    has(vocab(&[], merges, &[("<s>", None), ("<s>", None)]), &["<s>", "twice"]);
    has(vocab(&[], merges, &[("<s>", Some(97))]), &["97", "<s>"]);
    has(vocab(&[], merges, &[("a", Some(97))]), &["97", "ordinary"]);
    has(vocab(&[], merges, &[("<s>", Some(500)), ("<t>", Some(500))]), &["500", "<s>", "<t>"]);
    has(vocab(&[(u32::MAX, "zz")], merges, &[("<s>", None)]), &["<s>", "2^32"]);
    has(vocab(&[], Some(&[("a", "b")]), &[]), &["number 0", "b\"ab\""]);
    has(vocab(&[(256, "ab")], Some(&[("a", "b"), ("ab", "xy")]), &[]), &["number 1", "xy"]);
    has(vocab(&[(256, "ab")], Some(&[("a", "b"), ("a", "b")]), &[]), &["number 1", "number 0"]);
    let mut tokens = bytes();
    tokens.remove(0x41);
    has(Vocab::new(&tokens, None, &[]), &["0x41"]);
}

#[test]
fn ids_may_have_gaps_and_be_large() {
    let sparse = vocab(&[(4_000_000_000, "ab")], None, &[]).unwrap();
    assert_eq!(sparse.token_bytes(4_000_000_000).unwrap(), b"ab");
    assert!(matches!(sparse.token_bytes(256), Err(Error::UnknownId { id: 256, .. })));
    assert_eq!(sparse.tokens().len(), 257);
}

#[test]
fn ranks_know_the_pair_that_each_token_reaches() {
    let ranks = vocab(&[(256, "ab"), (257, "abc"), (258, "xyz")], None, &[]).unwrap();
    assert_eq!(ranks.semantics(), Semantics::Ranks);
    // "xyz" is made by no pair; a text that is just that still is that token.
    assert_eq!(ranks.merges(), [(97, 98), (256, 99)]);
    assert_eq!(ranks.first_unmergeable(), Some(258));
}

#[test]
fn a_state_is_the_whole_vocabulary() {
    let ranks = vocab(&[(256, "ab"), (70_000, "abc")], None, &[("<s>", Some(5000))]).unwrap();
    let merges = vocab(&[(256, "ab"), (257, "abc")], Some(&[("a", "b"), ("ab", "c")]), &[]).unwrap();
    for vocab in [ranks, merges] {
        let names = vocab.specials().tokens().iter().cloned();
        let specials = names.zip(vocab.special_ids().iter().map(|&id| Some(id))).collect::<Vec<_>>();
        let state = vocab.state();
        let back = Vocab::from_state(&state, &specials).unwrap();
        assert_eq!(
            (back.state(), back.merges(), back.semantics()),
            (state.clone(), vocab.merges(), vocab.semantics())
        );
        for cut in 0..state.len() {
            assert!(Vocab::from_state(&state[..cut], &specials).is_err() || cut == state.len() - 4 - 16);
        }
    }
}

#[test]
fn the_last_merge_of_each_token() {
    let tokens = [(256, "ab"), (257, "cd"), (258, "abcd"), (259, "bcd"), (260, "xyz")];
    // Ranks: "bcd" is made by b + cd, also where "ab" merges first in "abcd"; no pair makes "xyz".
    let ranks = vocab(&tokens, None, &[]).unwrap();
    let expected = [Some((97, 98)), Some((99, 100)), Some((256, 257)), Some((98, 257)), None];
    assert_eq!(ranks.last_pairs().unwrap()[256..], expected);
    assert_eq!(ranks.unmade().unwrap(), [(260, vec![120, 121, 122])]);
    // A list with two pairs that would make "abcd": the first can never be, since a and b have merged before.
    let list = [("a", "b"), ("c", "d"), ("b", "cd"), ("a", "bcd"), ("ab", "cd")];
    let merges = vocab(&tokens[..4], Some(&list), &[]).unwrap();
    assert_eq!(merges.last_pairs().unwrap()[256..], expected[..4]);
    assert_eq!(merges.unmade().unwrap(), []);
}

#[test]
fn a_token_stays_with_what_it_is_merged_from() {
    let merges: Merges = Some(&[("a", "b"), ("c", "d"), ("ab", "cd"), ("b", "c"), ("x", "y"), ("y", "z")]);
    let extra =
        [(300, "ab"), (301, "cd"), (302, "abcd"), (303, "bc"), (304, "xy"), (305, "yz"), (306, "xyz")];
    let whole = vocab(&extra, merges, &[("<s>", Some(299))]).unwrap();
    let pruned = whole.pruned(&[302, 305, 306], &[299]).unwrap();
    // "xyz" is made by no merge, and is left out.
    let old: Vec<u32> = (0..256).chain([299, 300, 301, 302, 305]).collect();
    assert_eq!((pruned.old_ids, pruned.merges), (old, vec![0, 1, 2, 5]));
    assert_eq!(pruned.needed, (0..256).chain([300, 301]).collect::<Vec<u32>>());
    let left: Merges = Some(&[("a", "b"), ("c", "d"), ("ab", "cd"), ("y", "z")]);
    let expected = [(256, "<s>"), (257, "ab"), (258, "cd"), (259, "abcd"), (260, "yz")];
    assert_eq!(pruned.vocab.state(), vocab(&expected, left, &[("<s>", Some(256))]).unwrap().state());
    // Under rank semantics "xyz" is made of "xy" and "z".
    let ranks = vocab(&extra, None, &[]).unwrap().pruned(&[303, 306], &[]).unwrap();
    assert_eq!(
        ranks.vocab.state(),
        vocab(&[(256, "bc"), (257, "xy"), (258, "xyz")], None, &[]).unwrap().state()
    );
    assert!(matches!(whole.pruned(&[7, 400], &[]), Err(Error::UnknownId { id: 400, .. })));
}

/// The beginning of a state of the tokens of all bytes and of `more`, and the numbers after it.
fn state_of(flags: u32, more: &[(u32, &str)], numbers: &[u32]) -> Vec<u8> {
    let mut tokens = bytes();
    tokens.extend(more.iter().map(|(id, token)| (*id, token.as_bytes().to_vec())));
    let rows = tokens.iter().flat_map(|(id, token)| [*id, token.len() as u32]);
    let head: Vec<u32> = [flags, tokens.len() as u32].into_iter().chain(rows).collect();
    let little_endian = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let tokens = tokens.into_iter().flat_map(|(_, token)| token).collect();
    [little_endian(&head), tokens, little_endian(numbers)].concat()
}

/// Pickles and fingerprints of users depend on these bytes.
#[test]
fn the_bytes_of_a_state_never_change() {
    let more = [(256, "ab"), (70_000, "abc"), (70_001, "<s>")];
    let list: Merges = Some(&[("a", "b"), ("ab", "c")]);
    let pairs = [2, 97, 98, 256, 99];
    let specials: [(&str, Option<u32>); 1] = [("<s>", Some(70_001))];
    let of_bytes = |merges: Merges| vocab(&more[..2], merges, &specials).unwrap();
    assert_eq!(of_bytes(None).state(), state_of(0, &more, &[0]));
    assert_eq!(of_bytes(None).ignoring_merges().state(), state_of(0, &more, &[0]));
    assert_eq!(of_bytes(list).state(), state_of(1, &more, &pairs));
    assert_eq!(of_bytes(list).ignoring_merges().state(), state_of(3, &more, &pairs));

    let all_bytes: Vec<u32> = (0..256).collect();
    for (ties, flags, last) in [(vec![], 5, vec![]), (vec![1], 21, vec![1, 1])] {
        let more = [(256, "ab"), (257, "abc"), (300, "<s>")];
        let own: Vec<(u32, Vec<u8>)> =
            more.iter().map(|&(id, token)| (id, token.as_bytes().to_vec())).chain(bytes()).collect();
        let tokens = own.iter().map(|(id, token)| (*id, token.as_slice())).collect();
        let characters = CharacterTokens {
            bytes: all_bytes.clone(),
            outside: [300].into(),
            ties,
            ..CharacterTokens::default()
        };
        let specials = [(b"<s>".to_vec(), Some(300))];
        let made = Vocab::of_characters(tokens, &[(97, 98), (256, 99)], characters, &specials).unwrap();
        let numbers = [&pairs[..], &[256], &all_bytes, &[0, 1, 300], &last].concat();
        assert_eq!(made.state(), state_of(flags, &more, &numbers));
        assert_eq!(Vocab::from_state(&made.state(), &specials).unwrap().state(), made.state());
    }
}

#[test]
fn the_bytes_of_a_state_of_names_never_change() {
    let model = r##"{"type": "BPE", "dropout": 0.5, "unk_token": "?", "continuing_subword_prefix": "#",
        "end_of_word_suffix": "!", "vocab": {"a": 3, "#b!": 5, "ab!": 1, "?": 9}, "merges": ["a #b!"]}"##;
    let added = r#"[{"id": 12, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true}]"#;
    let json = format!(r#"{{"version": "1.0", "added_tokens": {added}, "model": {model}}}"#);
    let file = TokenizerFile::read(json.as_bytes(), true).unwrap();
    let numbers = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    for (spelling, outside) in [(0, &[][..]), (1, &[12]), (2, &[12])] {
        let by_number = [TextSpelling::Bytes, TextSpelling::Characters, TextSpelling::Spaces];
        let made = file.vocab(by_number[spelling], &["<s>".to_owned()], Some(1 << 33 | 7)).unwrap();
        let mut state = numbers(&[8, 5, 1, 3, 3, 1, 5, 3, 9, 1, 12, 3]);
        state.extend(b"ab!a#b!?<s>");
        state.extend(numbers(&[spelling as u32, 0b11000, 0.5_f32.to_bits(), 7, 2, 4]));
        for (id, name) in [(3, "a"), (5, "#b!"), (1, "ab!"), (9, "?")] {
            state.extend(numbers(&[id, name.len() as u32]));
            state.extend(name.as_bytes());
        }
        for option in ["#", "!", "?"] {
            state.extend(numbers(&[1]));
            state.extend(option.as_bytes());
        }
        let mut tied = state.clone();
        tied[63] |= 1 << 5;
        tied.extend(numbers(&[2, 3, 5, 1, 3, 3, 1, 0, 0, 1, 1]));
        state.extend(numbers(&[1, 3, 5, 1, outside.len() as u32]));
        state.extend(numbers(outside));
        state.extend(numbers(&[0]));
        assert_eq!(made.state(), state);
        let specials = [(b"<s>".to_vec(), Some(12))];
        assert_eq!(Vocab::from_state(&state, &specials).unwrap().state(), state);
        // Among byte-level names no merges have one rank: a state of them would lose it.
        assert_eq!(
            Vocab::from_state(&tied, &specials).map(|tied| tied.ties().to_vec()).ok(),
            [None, Some(vec![1])][spelling.min(1)]
        );
    }
}

#[test]
fn a_vocabulary_of_names_is_not_extended() {
    let bytes: Vec<String> = (0..=255).map(|byte| format!("\"<0x{byte:02X}>\": {byte}")).collect();
    let model = format!(
        r#"{{"byte_fallback": true, "dropout": 0.5, "vocab": {{{}}}, "merges": []}}"#,
        bytes.join(",")
    );
    let json = format!(r#"{{"version": "1.0", "model": {model}}}"#);
    let file = TokenizerFile::read(json.as_bytes(), false).unwrap();
    let names = file.vocab(TextSpelling::Characters, &[], None).unwrap();
    let start = Start { base: Some(&names), ..Start::default() };
    let options = Options { max_merges: 1, ..Options::default() };
    let word = (b"abab".as_slice(), 1);
    let learned = resume([word].into_iter(), &start, &options, &mut Saver::none(), &Control::none());
    assert!(matches!(learned, Err(Error::BrokenState)));
    assert!(matches!(build_vocab(Some(&names), &[], |id| id, &[]), Err(Error::BrokenState)));
}
