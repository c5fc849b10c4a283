//! Time limit of a test, relative to the speed and load of the machine.

use capability_gen::validate::{Invalid, Validator};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Maximum time of a test, in budgets of one check. The longest, all default bombs together, takes about 25; unbounded
/// work would take billions.
const MOST_BUDGETS: u32 = 200;

/// Stack of a worker thread.
const STACK: usize = 2 << 20;

/// Definitions `c0` to `c40`, each an `anyOf` of the previous one twice: checking `c40` takes 2⁴⁰ steps.
pub(crate) fn exponential() -> Map<String, Value> {
    let of_level = |level: u32| {
        let inner = json!({ "$ref": format!("#/$defs/c{}", level.saturating_sub(1)) });
        let schema = if level == 0 { json!({ "type": "null" }) } else { json!({ "anyOf": [inner, inner] }) };
        (format!("c{level}"), schema)
    };
    (0..=40).map(of_level).collect()
}

/// Runs a check on the stack of a worker thread, and asserts that it ends soon.
pub(crate) fn ends_soon(name: &str, check: impl FnOnce() + Send + 'static) {
    let before = whole_budget();
    let start = Instant::now();
    std::thread::Builder::new().stack_size(STACK).spawn(check).unwrap().join().unwrap();
    let taken = start.elapsed();
    println!("{name}: {taken:?}");
    let budget = before.max(whole_budget());
    assert!(taken < budget * MOST_BUDGETS, "{name} took {taken:?}, one budget {budget:?}");
}

/// Time of one check that exhausts its fuel, on this machine.
fn whole_budget() -> Duration {
    let validator = Validator::new(&json!({ "$ref": "#/$defs/c40", "$defs": exponential() })).unwrap();
    let start = Instant::now();
    assert_eq!(validator.validate(&json!("a")), Err(Invalid::Budget));
    start.elapsed()
}
