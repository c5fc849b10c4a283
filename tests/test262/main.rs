//! test262, the conformance suite of ECMAScript: every test in a fresh sandbox.
mod entry;
mod execute;
mod front_matter;
mod run;
mod suite;
use agent_spaces::{Workspace};
use std::path::PathBuf;
use std::sync::Arc;
fn main() {
    let Some(checkout) = std::env::var_os("TEST262").map(PathBuf::from) else {
        println!("test262: skipped, TEST262 names no checkout");
        return;
    };
    let filter = std::env::var("TEST262_FILTER").unwrap_or_default();
    let suite = Arc::new(suite::Suite::read(&checkout).unwrap());
    let space = agent_spaces_tests::empty_space().with_workspace(Workspace::open(&checkout.join("test")).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let outcomes = runtime.block_on(run::run(Arc::new(space), suite.clone(), &filter));
    let pass = outcomes.iter().filter(|o| o.is_pass).count();
    println!("{pass} of {}", outcomes.len());
    if let Some(p) = std::env::var_os("TEST262_REPORT") {
        let all: Vec<_> = outcomes.iter().map(|o| { let t=&suite.tests[o.test]; serde_json::json!({"path": t.path, "mode": o.mode.name(), "pass": o.is_pass, "ending": o.ending.describe(), "features": t.front.features}) }).collect();
        std::fs::write(p, serde_json::to_string(&all).unwrap()).unwrap();
    }
}
