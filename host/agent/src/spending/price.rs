//! Cost of an answer.

use crate::model::Price;
use agent_spaces_models::Usage;

/// Tokens that a price is for.
const PRICED: f64 = 1e6;

/// Most money that one number stands for. Sums of it stay exact enough and finite.
const MAX_MONEY: f64 = 1e12;

/// A number as money: never NaN, negative or infinite. What is not a number costs nothing.
pub(super) fn money(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(0.0, MAX_MONEY) }
}

/// Cost of an answer. Tokens that were read from the provider's cache or written into it are part of the input, and have
/// prices of their own.
pub(super) fn cost(usage: &Usage, price: &Price) -> f64 {
    let cached = usage.cached_tokens.min(usage.input_tokens);
    let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
    let plain = usage.input_tokens - cached - written;
    let parts = [
        (plain, price.input),
        (cached, price.cached.unwrap_or(price.input)),
        (written, price.cache_write.unwrap_or(price.input)),
        (usage.output_tokens, price.output),
    ];
    money(parts.iter().map(|(tokens, price)| *tokens as f64 * money(*price) / PRICED).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, cached: u64, written: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            cached_tokens: cached,
            cache_write_tokens: written,
            reasoning_tokens: output,
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Price { input: 3.0, output: 15.0, cached: Some(0.3), cache_write: Some(3.75) };
        let all = cost(&usage(1_000_000, 100_000, 600_000, 200_000), &price);
        assert!((all - (0.6 + 0.18 + 0.75 + 1.5)).abs() < 1e-9, "{all}");
        let plain = Price { cached: None, cache_write: None, ..price };
        let same = cost(&usage(1_000_000, 0, 600_000, 200_000), &plain);
        assert!((same - 3.0).abs() < 1e-9, "{same}");
    }

    #[test]
    fn counts_that_do_not_add_up_cost_no_more_than_all_input() {
        let price = Price { input: 1.0, output: 0.0, cached: Some(1.0), cache_write: Some(1.0) };
        let all = cost(&usage(1_000_000, 0, 900_000, 900_000), &price);
        assert!((all - 1.0).abs() < 1e-9, "{all}");
        assert!(cost(&usage(10, 0, u64::MAX, u64::MAX), &price) < 1.0);
    }

    #[test]
    fn costs_are_finite_and_not_negative() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -5.0, f64::MAX] {
            let price = Price { input: bad, output: bad, cached: Some(bad), cache_write: Some(bad) };
            for usage in [usage(10, 10, 5, 5), usage(u64::MAX, u64::MAX, 0, 0), usage(0, 0, 0, 0)] {
                let cost = cost(&usage, &price);
                assert!(cost.is_finite() && cost >= 0.0, "{cost} of {bad}");
            }
        }
    }
}
