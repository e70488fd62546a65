//! Encoding, whole and in pieces, against the definition.

use std::sync::Arc;

use toksmith::control::Control;
use toksmith::decode::decode;
use toksmith::encode::{Continuations, EncodeStream, Encoder, LocatedIds, MarkedText, Spans, SpecialSet};
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::special::{Segment, Specials};
use toksmith::vocab::CharacterTokens;
use toksmith::{Error, Vocab};

use crate::oracle;
use crate::random::Random;

/// What random texts and vocabularies are made of: with bytes that make junctions between characters.
const LETTERS: &str = "aab é中";

fn characters(random: &mut Random, len: usize) -> Vec<u8> {
    let letters: Vec<char> = LETTERS.chars().collect();
    (0..len).map(|_| letters[random.below(letters.len())]).collect::<String>().into_bytes()
}

/// A vocabulary of random merges over a few letters: it may hold merges that no text reaches.
fn random_vocab(random: &mut Random, ranks: bool) -> Vocab {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    let letters = LETTERS.as_bytes();
    for _ in 0..random.below(30) {
        let mut pick = || match random.below(4) {
            0 => vec![letters[random.below(letters.len())]],
            // Mostly no token: then the merge is left out.
            1 if ranks => characters(random, 1),
            _ => tokens[tokens.len() - 1 - random.below(tokens.len() - 255)].clone(),
        };
        let (left, right) = (pick(), pick());
        let token = [left.as_slice(), &right].concat();
        if merges.contains(&(left.clone(), right.clone())) || token.len() > 20 {
            continue;
        }
        if !tokens.contains(&token) {
            tokens.push(token);
        }
        merges.push((left, right));
    }
    let merges = if ranks { None } else { Some(merges) };
    Vocab::new(&(0..).zip(tokens).collect::<Vec<_>>(), merges.as_deref(), &[]).unwrap()
}

#[test]
fn every_cache_gives_what_the_definition_says() {
    let mut random = Random::new(1);
    for round in 0..100 {
        let vocab = random_vocab(&mut random, round % 2 == 0);
        let bpe = oracle::Bpe::new(&vocab);
        let whole = || Pretokenizer { pattern: Pattern::Whole, unmatched: Unmatched::Keep };
        let texts: Vec<Vec<u8>> = (0..20)
            .map(|_| {
                let longest = if random.below(4) == 0 { 80 } else { 18 };
                let len = 1 + random.below(longest);
                if random.below(2) == 0 {
                    random.text(LETTERS.as_bytes(), len)
                } else {
                    characters(&mut random, len)
                }
            })
            .collect();
        let shared = Encoder::new(vocab.clone(), whole()).unwrap();
        for text in &texts {
            shared.encode_to_vec(text, true, &Control::none()).unwrap();
        }
        // Two threads share the seeds, with what was added to them.
        shared.count_batch(&[&[b'c'; 1 << 18][..]; 2], true, 2, &Control::none()).unwrap();
        let encoders = [
            shared,
            Encoder::new(vocab.clone(), whole()).unwrap(),
            Encoder::with_small_cache(vocab.clone(), whole(), 1),
            Encoder::with_small_cache(vocab.clone(), whole(), 4),
        ];
        // With the seeds; after enough text for a copy of shared ones, twice; and after enough for a cache of
        // full size.
        for bytes in [0, 1 << 15, 0, 1 << 20] {
            for encoder in &encoders {
                encoder.encode_to_vec(&vec![b'c'; bytes], true, &Control::none()).unwrap();
            }
            for text in &texts {
                let expected = bpe.encode(text);
                for encoder in &encoders {
                    let ids = encoder.encode_to_vec(text, true, &Control::none()).unwrap();
                    assert_eq!(ids, expected, "{}", text.escape_ascii());
                    let count = encoder.count(text, true, &Control::none()).unwrap();
                    assert_eq!(count, expected.len(), "{}", text.escape_ascii());
                }
            }
        }
    }
}

/// A vocabulary of characters with long runs of one letter, of which some are special tokens: a merge can
/// make them, or seem to.
fn random_character_vocab(random: &mut Random) -> Vocab {
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.extend([b"a", b"b", b"c"].map(|letter| letter.to_vec()));
    for _ in 0..random.below(4) {
        let run = vec![b"ab"[random.below(2)]; [7, 15, 16, 17, 63, 64, 65, 1023, 1024][random.below(9)]];
        if !tokens.contains(&run) {
            tokens.push(run);
        }
    }
    let mut merges: Vec<(u32, u32)> = Vec::new();
    for _ in 0..random.below(12) {
        let mut pick = || 256 + random.below(tokens.len() - 256) as u32;
        let pair = (pick(), pick());
        let token = [tokens[pair.0 as usize].as_slice(), &tokens[pair.1 as usize]].concat();
        if !merges.contains(&pair) && token.len() < 2100 {
            merges.push(pair);
            if !tokens[256..].contains(&token) {
                tokens.push(token);
            }
        }
    }
    let ids: Vec<(u32, &[u8])> = (0..).zip(tokens.iter().map(Vec::as_slice)).collect();
    let chosen = ids.iter().filter(|(_, token)| token.len() > 1 && random.below(2) == 0);
    let specials: Vec<_> = chosen.map(|&(id, token)| (token.to_vec(), Some(id))).collect();
    let ties = (1..merges.len() as u32).filter(|_| random.below(3) == 0).collect();
    let characters = CharacterTokens { bytes: (0..256).collect(), ties, ..CharacterTokens::default() };
    Vocab::of_characters(ids, &merges, characters, &specials).unwrap()
}

#[test]
fn a_special_token_that_merges_need_is_made_by_merging_alone() {
    let mut random = Random::new(33);
    for _ in 0..300 {
        let vocab = random_character_vocab(&mut random);
        let bpe = oracle::Bpe::new(&vocab);
        let encoder =
            Encoder::new(vocab.clone(), Pretokenizer { pattern: Pattern::Whole, unmatched: Unmatched::Keep })
                .unwrap();
        let of_tokens = vocab.tokens().iter().filter(|(id, _)| *id > 255).map(|(_, token)| token.to_vec());
        let texts: Vec<Vec<u8>> = of_tokens.chain((0..5).map(|_| random.text(b"aabc", 40))).collect();
        for text in &texts {
            let ids = encoder.encode_to_vec(text, false, &Control::none()).unwrap();
            assert_eq!(ids, bpe.merge(text), "{}", text.escape_ascii());
        }
    }
}

const SPECIALS: [&str; 6] = ["<s>", "<s><s>", "s> ", "a b", "\n", "b"];

fn encoder(pattern: Pattern, random: &mut Random) -> Encoder {
    let plain = random_vocab(random, false);
    let tokens: Vec<(u32, Vec<u8>)> = plain.tokens().iter().map(|(id, t)| (id, t.to_vec())).collect();
    let bytes = |id: u32| plain.token_bytes(id).unwrap().to_vec();
    let merges: Vec<_> = plain.merges().into_iter().map(|(a, b)| (bytes(a), bytes(b))).collect();
    let specials: Vec<_> =
        SPECIALS.iter().enumerate().map(|(i, s)| (s.as_bytes().to_vec(), Some(1000 + i as u32))).collect();
    let vocab = Vocab::new(&tokens, Some(&merges), &specials).unwrap();
    Encoder::new(vocab, Pretokenizer { pattern, unmatched: Unmatched::Keep }).unwrap()
}

#[test]
fn special_tokens_are_leftmost_then_longest() {
    let mut random = Random::new(2);
    for _ in 0..3000 {
        let count = 1 + random.below(4);
        let mut tokens: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let len = 1 + random.below(4);
                random.text(b"ab ", len)
            })
            .collect();
        tokens.sort();
        tokens.dedup();
        let len = random.below(20);
        let text = random.text(b"ab c", len);
        let specials = Specials::new(tokens.clone()).unwrap();
        let found: Vec<Segment> = specials.segments(&text, &Control::none()).map(Result::unwrap).collect();
        assert_eq!(found, oracle::segments(&tokens, &text), "{tokens:?} in {}", text.escape_ascii());
        for at in 1..text.len().max(1) {
            if text[at] == b' ' && text[at - 1] != b' ' {
                let across = |t: &Vec<u8>| {
                    (at.saturating_sub(t.len() - 1)..at).any(|s| s + t.len() > at && text[s..].starts_with(t))
                };
                let free = specials.first_uncrossed(&text, at..at + 1, Some);
                assert_eq!(free.is_none(), tokens.iter().any(across), "{tokens:?} {text:?} {at}");
            }
        }
    }
}

#[test]
fn a_stream_gives_the_ids_of_the_whole_wherever_it_is_cut() {
    let mut random = Random::new(3);
    for round in 0..400 {
        let pattern = if round % 4 == 0 { Pattern::Whole } else { Pattern::Named(Named::Gpt2, Isa::best()) };
        let encoder = Arc::new(encoder(pattern, &mut random));
        let len = random.below(60);
        let text = random.text("ab <s>\n'l1é😀".as_bytes(), len);
        for special in [true, false] {
            let whole = encoder.encode_to_vec(&text, special, &Control::none()).unwrap();
            let mut stream = EncodeStream::new(Arc::clone(&encoder), special);
            let (mut ids, mut rest) = (vec![], text.as_slice());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(1 + random.below(rest.len().min(9)));
                stream.step(Some(piece), &mut ids, &Control::none()).unwrap();
                rest = after;
            }
            stream.finish(&mut ids).unwrap();
            assert_eq!(ids, whole, "{}", text.escape_ascii());
        }
    }
}

#[test]
fn a_stream_of_single_bytes_stays_linear_and_holds_little() {
    let encoder = Arc::new(encoder(Pattern::Named(Named::Gpt2, Isa::best()), &mut Random::new(4)));
    let (mut stream, mut ids, mut most) = (EncodeStream::new(Arc::clone(&encoder), true), vec![], 0);
    for text in [vec![b'x'; 300_000], b" word".repeat(20_000)] {
        most = 0;
        for byte in &text {
            stream.step(Some(&[*byte]), &mut ids, &Control::none()).unwrap();
            most = most.max(stream.pending_bytes());
        }
    }
    assert!(most <= 600_000, "{most} bytes were held");
    stream.finish(&mut ids).unwrap();
    let decoded = toksmith::decode::decode(encoder.vocab(), &ids, &Control::none()).unwrap();
    assert_eq!(decoded.len(), 400_000);
}

#[test]
fn marked_text_is_one_text_with_trusted_specials_alone() {
    let mut random = Random::new(5);
    for _ in 0..2000 {
        let encoder = encoder(Pattern::Named(Named::Gpt2, Isa::best()), &mut random);
        let text: String = (0..random.below(32)).map(|_| char::from(b"ab <s>"[random.below(6)])).collect();
        let mut trusted: Vec<bool> = Vec::new();
        while trusted.len() < text.len() {
            let (len, is_trusted) = (1 + random.below(8), random.below(2) == 0);
            trusted.resize(text.len().min(trusted.len() + len), is_trusted);
        }
        let encode = |trust: Option<bool>| {
            let marks: Vec<u8> = trusted.iter().map(|&own| trust.unwrap_or(own).into()).collect();
            let (marked, mut ids) = (MarkedText::new(&text, &marks).unwrap(), Vec::new());
            encoder.encode_marked(&marked, &mut ids, &Control::none()).unwrap();
            ids
        };
        for trust in [true, false] {
            let whole = encoder.encode_to_vec(text.as_bytes(), trust, &Control::none()).unwrap();
            assert_eq!(encode(Some(trust)), whole);
        }
        let mut at = 0;
        for id in encode(None) {
            let end = at + encoder.vocab().token_bytes(id).unwrap().len();
            assert!(id < 1000 || trusted[at..end].iter().all(|&t| t), "special {id} from untrusted text");
            at = end;
        }
        assert_eq!(at, text.len());
    }
}

#[test]
fn a_mask_has_the_ids_that_have_a_byte_of_the_ranges() {
    let mut random = Random::new(7);
    for _ in 0..3000 {
        let encoder = encoder(Pattern::Named(Named::Gpt2, Isa::best()), &mut random);
        let (len, special) = (random.below(40), random.below(2) == 0);
        let text = random.text(b"ab <s>c", len);
        let mut cuts: Vec<usize> = (0..2 * random.below(5)).map(|_| random.below(text.len() + 1)).collect();
        cuts.sort_unstable();
        let ranges: Vec<_> = cuts.chunks(2).map(|cut| cut[0]..cut[1]).collect();
        let (mut spans, mut located) = (Spans::default(), LocatedIds::for_text(text.len()).unwrap());
        encoder.encode(&text, special, &mut spans, &Control::none()).unwrap();
        encoder.encode(&text, special, &mut located, &Control::none()).unwrap();
        assert_eq!(located.ids, spans.ids);
        let mask = located.touching(ranges.clone(), text.len(), encoder.vocab()).unwrap();
        let expected =
            spans.spans.iter().map(|span| span.clone().any(|byte| ranges.iter().any(|r| r.contains(&byte))));
        assert_eq!(mask, expected.collect::<Vec<_>>(), "{ranges:?} of {text:?}");
    }
}

#[test]
fn batches_do_not_depend_on_workers() {
    let mut random = Random::new(6);
    let encoder = encoder(Pattern::Named(Named::Gpt2, Isa::best()), &mut random);
    let texts: Vec<Vec<u8>> = (0..3000).map(|i| random.text(b"ab <s>c", i % 700)).collect();
    let views: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    for workers in [1, 2, 7] {
        let joined = encoder.encode_batch(&views, true, workers, &Control::none()).unwrap();
        let lists = joined.starts.windows(2).map(|s| &joined.ids[s[0]..s[1]]);
        let expected = views.iter().map(|text| encoder.encode_to_vec(text, true, &Control::none()).unwrap());
        assert!(lists.eq(expected), "{workers} workers");
        assert_eq!((joined.starts[0], joined.starts.len()), (0, views.len() + 1));
        let ids = joined.ids.len();
        let narrow = encoder.encode_column::<u16>(&views, true, (workers, ids), &Control::none()).unwrap();
        assert!(narrow.ids.iter().map(|&id| u32::from(id)).eq(joined.ids) && narrow.starts == joined.starts);
        let wide = encoder.encode_column::<u32>(&views, true, (workers, ids - 1), &Control::none());
        let narrow = encoder.encode_column::<u16>(&views, true, (workers, ids - 1), &Control::none());
        assert!(matches!(wide, Err(Error::TooManyIds(most)) if most == ids - 1), "{workers} workers");
        assert!(matches!(narrow, Err(Error::TooManyIds(_))), "{workers} workers");
        let counts = encoder.count_batch(&views, true, workers, &Control::none()).unwrap();
        assert!(counts.iter().map(|&count| count as usize).eq(joined.starts.windows(2).map(|s| s[1] - s[0])));
    }
    let none = encoder.encode_batch(&[], true, 2, &Control::none()).unwrap();
    assert_eq!((none.ids, none.starts), (vec![], vec![0]));
}

#[test]
fn a_control_stops_encoding_and_workers() {
    let encoder = encoder(Pattern::Named(Named::Gpt2, Isa::best()), &mut Random::new(7));
    let text = b" some words".repeat(1_000_000);
    let stop = |_| false;
    let stopped = encoder.encode_to_vec(&text, true, &Control::new(&stop));
    assert!(matches!(stopped, Err(Error::Interrupted)));
    let stopped = encoder.encode_batch(&[&text, &text, &text], true, 2, &Control::new(&stop));
    assert!(matches!(stopped, Err(Error::Interrupted)));
    let stopped = encoder.count_batch(&[&text, &text, &text], true, 2, &Control::new(&stop));
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn chosen_special_tokens_are_found_in_place_of_those_of_the_vocabulary() {
    let mut random = Random::new(31);
    let control = Control::none();
    for round in 0..300 {
        let vocab = random_vocab(&mut random, round % 2 == 0);
        let pretokenizer =
            Pretokenizer { pattern: Pattern::Named(Named::Gpt2, Isa::best()), unmatched: Unmatched::Drop };
        let encoder = Encoder::new(vocab, pretokenizer).unwrap();
        let names = [&b"ab"[..], b" a", "é".as_bytes(), b"aab", b"b a"];
        let chosen: Vec<(Vec<u8>, u32)> =
            names.iter().filter(|_| random.below(2) == 0).map(|name| (name.to_vec(), 7)).collect();
        let set = SpecialSet::new(chosen.clone()).unwrap();
        let len = random.below(40);
        let text = characters(&mut random, len);
        let (mut expected, mut at, mut start) = (Vec::new(), 0, 0);
        let mut first = None;
        while at < text.len() {
            let fits = chosen.iter().filter(|(name, _)| text[at..].starts_with(name));
            let Some((name, _)) = fits.max_by_key(|(name, _)| name.len()) else {
                at += 1;
                continue;
            };
            expected.extend(encoder.encode_to_vec(&text[start..at], false, &control).unwrap());
            expected.push(7);
            first = first.or(Some(name.as_slice()));
            at += name.len();
            start = at;
        }
        expected.extend(encoder.encode_to_vec(&text[start..], false, &control).unwrap());
        let mut ids = Vec::new();
        encoder.encode(&text, &set, &mut ids, &control).unwrap();
        assert_eq!(ids, expected);
        assert_eq!(encoder.encode_part(text.as_slice(), &set, true, Some(3), &control).unwrap(), expected);
        let batch = encoder.encode_batch(&[&text, b"a"], &set, 2, &control).unwrap();
        assert_eq!(batch.ids[..batch.starts[1]], expected);
        assert_eq!(set.first_in(&text, &control).unwrap(), first);
    }
}

#[test]
fn completions_begin_with_the_rest_of_the_text() {
    let mut random = Random::new(32);
    let control = Control::none();
    for _ in 0..200 {
        let vocab = random_vocab(&mut random, true);
        let pretokenizer =
            Pretokenizer { pattern: Pattern::Named(Named::Gpt2, Isa::best()), unmatched: Unmatched::Drop };
        let encoder = Encoder::new(vocab, pretokenizer).unwrap();
        let continuations = Continuations::new(&encoder);
        let len = random.below(12);
        let text = characters(&mut random, len);
        let text = std::str::from_utf8(&text).unwrap();
        let none = SpecialSet::default();
        let found = continuations.of_text(text, &none, &control).unwrap();
        let bytes = |ids: &[u32]| decode(encoder.vocab(), ids, &control).unwrap();
        let stable = bytes(&found.stable);
        let rest = text.as_bytes().strip_prefix(stable.as_slice()).unwrap();
        assert_eq!(found.completions.is_empty(), rest.is_empty());
        for ids in &found.completions {
            assert!(bytes(ids).starts_with(rest) || rest.starts_with(&bytes(ids)), "{text:?} {ids:?}");
        }
        let whole = encoder.encode_to_vec(rest, false, &control).unwrap();
        assert!(rest.is_empty() || found.completions.contains(&whole));
        // Cut inside a character, no byte is lost.
        let cut = &text.as_bytes()[..text.len().saturating_sub(1)];
        assert_eq!(bytes(&encoder.encode_broken(cut, &control).unwrap()), cut);
    }
}
