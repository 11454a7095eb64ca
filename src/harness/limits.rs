//! What a session may use up. Pure: what was used, what is allowed, which limit is reached.

use super::manifest::{Limit, Limits, Price, Then};
use super::session::Spent;

/// What a session and its turn have used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Tokens of the session.
    pub tokens: u64,
    /// Dollars of the session.
    pub cost: f64,
    /// Model calls of the turn.
    pub steps: u64,
    /// Milliseconds of the turn, waiting for people not counted.
    pub wall_ms: u64,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// Its name: `tokens`, `cost`, `steps` or `wall`.
    pub name: &'static str,
    /// What is true, in words.
    pub text: String,
    /// What happens.
    pub then: Then,
}

/// The first limit that is reached. `leaves` tells how often a person allowed a limit to be passed; each time allows as
/// much again.
#[must_use]
pub fn reached(limits: &Limits, used: &Used, leaves: impl Fn(&str) -> u64) -> Option<Reached> {
    let times = |name| leaves(name).saturating_add(1);
    let whole = |name, limit: Option<Limit<u64>>, used: u64, unit| {
        let limit = limit?;
        let max = limit.max.saturating_mul(times(name));
        let text = format!("{used} of {max} {unit} are used");
        (used >= max).then_some(Reached { name, text, then: limit.then })
    };
    whole("tokens", limits.tokens, used.tokens, "tokens of the session")
        .or_else(|| {
            let limit = limits.cost?;
            // A leave count is far below the integers a float holds.
            #[expect(clippy::cast_precision_loss, reason = "a count of answers by people is small")]
            let max = limit.max * times("cost") as f64;
            let text = format!("${:.2} of ${max:.2} are spent", used.cost);
            (used.cost >= max).then_some(Reached { name: "cost", text, then: limit.then })
        })
        .or_else(|| whole("steps", limits.steps, used.steps, "steps of the turn"))
        .or_else(|| whole("wall", limits.wall_ms, used.wall_ms, "milliseconds of the turn"))
}

/// What tokens cost, in dollars; nothing without a price.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "an estimate in dollars needs no more than 52 bits of tokens")]
pub fn cost(price: Option<Price>, spent: Spent) -> f64 {
    let Some(price) = price else { return 0.0 };
    let fresh = spent.input.saturating_sub(spent.cached) as f64;
    (fresh * price.input + spent.cached as f64 * price.cached_input + spent.output as f64 * price.output) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(json: &str) -> Limits {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn each_limit_is_reached_at_its_number_and_names_itself() {
        let table = [
            (r#"{"tokens": {"max": 10, "then": "stop"}}"#, Used { tokens: 10, ..Used::default() }, "tokens"),
            (r#"{"cost": {"max": 0.5, "then": "stop"}}"#, Used { cost: 0.5, ..Used::default() }, "cost"),
            (r#"{"steps": {"max": 3, "then": "stop"}}"#, Used { steps: 3, ..Used::default() }, "steps"),
            (r#"{"wall_ms": {"max": 9, "then": "stop"}}"#, Used { wall_ms: 9, ..Used::default() }, "wall"),
        ];
        for (json, used, name) in table {
            let limits = limits(json);
            let found = reached(&limits, &used, |_| 0).unwrap();
            assert_eq!((found.name, found.then), (name, Then::Stop));
            assert_eq!(reached(&limits, &Used::default(), |_| 0), None);
            assert_eq!(reached(&limits, &used, |it| u64::from(it == name)), None, "a leave allows as much again");
        }
    }

    #[test]
    fn cached_tokens_cost_their_own_price() {
        let price: Price = serde_json::from_str(r#"{"input": 2.0, "cached_input": 0.5, "output": 10.0}"#).unwrap();
        let spent = Spent { input: 1_000_000, cached: 400_000, output: 100_000 };
        assert!((cost(Some(price), spent) - (1.2 + 0.2 + 1.0)).abs() < 1e-9);
        assert!(cost(None, spent).abs() < f64::EPSILON);
    }
}
