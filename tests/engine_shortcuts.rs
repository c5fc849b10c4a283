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

/// Ten times as many whole numbers as keys take some ten times the fuel, not a hundred times.
#[tokio::test]
async fn a_map_takes_fuel_with_its_size() {
    let fuel = async |count: u32| {
        let source =
            format!("const m = new Map(); for (let i = 0; i < {count}; i++) m.set(i, i); export default m.size;");
        let report = agent_spaces_tests::run(&empty_space(), &source).await;
        assert_eq!(report.outcome.unwrap(), serde_json::json!(count));
        report.usage.fuel
    };
    let (small, large) = (fuel(2_000).await, fuel(20_000).await);
    assert!(large < 15 * small, "2,000 keys take {small}, 20,000 take {large}");
}
