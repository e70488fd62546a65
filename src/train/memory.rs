//! Whether learning merges fits into memory, and what would.

use super::learn::least_memory;
use super::options::Options;
use crate::count::Frequent;

/// Says by how much learning takes more than `available` bytes, and what would fit; `None` if it fits.
///
/// With `min_count` the counts have to fit as well, into three quarters, without those that occur less often.
/// `has_vocab` is that of `least_memory`; `is_limit` says whether a limit was chosen.
pub fn memory_excess(
    frequencies: &[Frequent],
    has_vocab: bool,
    options: &Options,
    available: u64,
    min_count: Option<u64>,
    is_limit: bool,
) -> Option<String> {
    let need = |step: &Frequent| {
        let counts = min_count.map_or(0, |_| step.memory.saturating_mul(4).div_ceil(3));
        least_memory(step.pretokens, step.bytes, has_vocab, options).max(counts)
    };
    let least_count = min_count.unwrap_or(1).max(1);
    let all = frequencies.iter().rfind(|step| step.min_count <= least_count)?;
    if need(all) <= available {
        return None;
    }
    let mut advice = String::from(if is_limit { "raise it" } else { "count fewer files" });
    if let Some(fit) = frequencies.iter().find(|step| step.pretokens > 0 && need(step) <= available) {
        advice += &format!(
            ", or leave rare ones out with min_pretoken_count={}, which keeps {} and changes the result",
            fit.min_count,
            grouped(fit.pretokens)
        );
    }
    Some(format!(
        "there are {} different pretokens: training on them takes at least {} MB, and {} {} MB: {advice}",
        grouped(all.pretokens),
        megabytes(need(all)),
        if is_limit { "memory_limit is" } else { "there are" },
        megabytes(available),
    ))
}

fn megabytes(bytes: u64) -> String {
    grouped((bytes as f64 / 1e6).round_ties_even() as u64)
}

/// The digits of a number in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(megabytes(2_500_000), "2");
        assert_eq!(megabytes(1_234_500_001), "1,235");
    }
}
