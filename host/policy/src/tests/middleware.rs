use super::{function, rule};
use crate::{Middleware, Rule};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn the_most_specific_rule_with_a_setting_wins() {
    let rules = vec![
        Rule { timeout: Some(MINUTE * 2), ..rule("search.slow") },
        Rule {
            idempotent: Some(true),
            cache: Some(MINUTE * 5),
            retries: Some(2),
            timeout: Some(MINUTE),
            ..rule("search.*")
        },
        Rule { concurrency: Some(4), ..rule("*") },
    ];
    let slow = function(rules.clone(), "search.slow").middleware();
    let expected = Middleware {
        idempotent: true,
        cache: Some(MINUTE * 5),
        retries: 2,
        concurrency: Some(4),
        timeout: Some(MINUTE * 2),
    };
    assert_eq!(slow, expected);
    assert_eq!(function(rules.clone(), "search.query").middleware().timeout, Some(MINUTE));
    assert_eq!(function(rules, "other.x").middleware(), Middleware { concurrency: Some(4), ..Middleware::default() });
}

#[test]
fn of_equal_rules_the_later_one_wins() {
    let rules = vec![
        Rule { retries: Some(1), idempotent: Some(true), ..rule("a.b") },
        Rule { retries: Some(3), ..rule("a.b") },
    ];
    assert_eq!(function(rules, "a.b").middleware().retries, 3);
}

#[test]
fn only_idempotent_functions_are_cached_or_retried() {
    let rules = vec![
        Rule { idempotent: Some(true), cache: Some(MINUTE), retries: Some(2), ..rule("a.*") },
        Rule { idempotent: Some(false), ..rule("a.send") },
    ];
    let send = function(rules.clone(), "a.send").middleware();
    assert_eq!((send.idempotent, send.cache, send.retries), (false, None, 0));
    assert_eq!(function(rules, "a.get").middleware().retries, 2);
}
