//! A bound on the work of a test that does not depend on how fast or how busy the machine is.

use capability_gen::validate::{Invalid, Validator};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Budgets of one check that a test may take. The longest, all bombs of defaults together, takes about 25; what has no
/// bound would take billions.
const MOST_BUDGETS: u32 = 200;

/// Stack of a worker thread.
const STACK: usize = 2 << 20;

/// Definitions `c0` to `c40`, each an `anyOf` of twice the one before: to check `c40` takes 2⁴⁰ steps.
pub(crate) fn exponential() -> Map<String, Value> {
    let of_level = |level: u32| {
        let inner = json!({ "$ref": format!("#/$defs/c{}", level.saturating_sub(1)) });
        let schema = if level == 0 { json!({ "type": "null" }) } else { json!({ "anyOf": [inner, inner] }) };
        (format!("c{level}"), schema)
    };
    (0..=40).map(of_level).collect()
}

/// Runs on the stack of a worker thread, and must come to an end soon.
pub(crate) fn ends_soon(name: &str, check: impl FnOnce() + Send + 'static) {
    let before = whole_budget();
    let start = Instant::now();
    std::thread::Builder::new().stack_size(STACK).spawn(check).unwrap().join().unwrap();
    let taken = start.elapsed();
    println!("{name}: {taken:?}");
    let budget = before.max(whole_budget());
    assert!(taken < budget * MOST_BUDGETS, "{name} took {taken:?}, one budget {budget:?}");
}

/// How long this machine takes now for one check that uses up its whole budget.
fn whole_budget() -> Duration {
    let validator = Validator::new(&json!({ "$ref": "#/$defs/c40", "$defs": exponential() })).unwrap();
    let start = Instant::now();
    assert_eq!(validator.validate(&json!("a")), Err(Invalid::Budget));
    start.elapsed()
}
