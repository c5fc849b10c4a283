//! The smallest host: runs a script and prints its value.
//!
//! `cargo run --release -p agent-spaces --example smallest`

use agent_spaces::{Engine, EngineConfig, RunOptions, Space};

const SCRIPT: &str = "
    const words: string[] = ['hello', 'from', 'the', 'sandbox'];
    export default words.join(' ');
";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let engine = Engine::new(EngineConfig::default())?;
    let space = Space::builder(&engine).build()?;
    let program = space.prepare("agent.ts", SCRIPT)?;
    let report = program.run(RunOptions::default()).await;
    println!("{}", report.outcome?);
    Ok(())
}
