//! Shortcuts of the engine's patches give what the general way gives: for plain arrays, maps, sorting and properties.
//!
//! `engine_shortcuts/` has a script each. It compares what takes the shortcut with what cannot (proxies, subclasses, lists),
//! throws at the first difference, and exports how many comparisons it made.

use agent_spaces::{Limits, RunOptions};
use agent_spaces_tests::empty_space;

const SCRIPTS: [(&str, &str, u64); 4] = [
    ("arrays", include_str!("engine_shortcuts/arrays.js"), 24_000),
    ("maps", include_str!("engine_shortcuts/maps.js"), 20_000),
    ("properties", include_str!("engine_shortcuts/properties.js"), 1_200),
    ("sort", include_str!("engine_shortcuts/sort.js"), 2_500),
];

#[tokio::test]
async fn shortcuts_give_what_the_general_way_gives() {
    let space = empty_space();
    for (name, source, least) in SCRIPTS {
        let limits = Limits { fuel: 50_000_000_000, ..Limits::default() };
        let program = space.prepare("agent.js", source).unwrap();
        let report = program.run(RunOptions { limits: Some(limits), ..RunOptions::default() }).await;
        let checks = report.outcome.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(checks.as_u64().is_some_and(|checks| checks >= least), "{name}: {checks} comparisons");
    }
}

/// Ten times as much work of the same kind takes some ten times the fuel, not a hundred times.
#[tokio::test]
async fn work_takes_fuel_with_its_size() {
    let fuel = async |source: &str, count: u32| {
        let source = format!("const count = {count}; {source}");
        let report = agent_spaces_tests::run(&empty_space(), &source).await;
        assert_eq!(report.outcome.unwrap(), serde_json::json!(count), "{source}");
        report.usage.fuel
    };
    for source in [
        "const m = new Map(); for (let i = 0; i < count; i++) m.set(i, i); export default m.size;",
        // Objects that have no shape in common.
        "const o = []; for (let i = 0; i < count; i++) o.push({ [`k${i}`]: i, v: 1, w: 2 }); export default o.length;",
        "let o; for (let i = 0; i < count; i++) { o = {}; o[`k${i}`] = i; o.b = 2; } export default o[`k${count - 1}`] + 1;",
    ] {
        let (small, large) = (fuel(source, 2_000).await, fuel(source, 20_000).await);
        assert!(large < 15 * small, "{source}: 2,000 take {small}, 20,000 take {large}");
    }
}

/// A shape frees its parent when the prototype or the properties change: there is no leak.
#[tokio::test]
async fn shapes_keep_nothing_that_objects_have_left() {
    let limits = Limits { memory: 16 << 20, fuel: 50_000_000_000, ..Limits::default() };
    let space = empty_space();
    for source in [
        "let last = null; for (let i = 0; i < 400_000; i++) { const o = Object.create(last); o.x = 1; Object.setPrototypeOf(o, null); last = o; } export default 1;",
        "const kept = []; for (let i = 0; i < 4_000; i++) { const o = {}; for (let k = 0; k < 16; k++) o[`${i}-${k}`] = k; delete o[`${i}-3`]; kept.push(o); } export default 1;",
    ] {
        let program = space.prepare("agent.js", source).unwrap();
        let report = program.run(RunOptions { limits: Some(limits.clone()), ..RunOptions::default() }).await;
        assert_eq!(report.outcome.unwrap(), serde_json::json!(1), "{source}");
    }
}
