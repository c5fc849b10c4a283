//! Own async functions and state: a script reads and changes an inventory that lives in the host.
//!
//! `cargo run --release -p agent-spaces --example state`

use agent_spaces::{Capability, CapabilityError, Engine, EngineConfig, RunOptions, Space};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::RwLock;

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Item {
    name: String,
    count: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// Part of a name; all items if it is left out
    name: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    name: String,
    /// How many
    count: u32,
}

/// State of the host, shared by all runs.
type Items = Arc<RwLock<Vec<Item>>>;

/// Capability that scripts import as `@capabilities/inventory`.
fn inventory(items: &Items) -> Capability {
    let (found, ordered) = (items.clone(), items.clone());
    Capability::new("inventory")
        .description("What is in the warehouse")
        .function("find_items", "Items by name", move |search: Search| find_items(found.clone(), search))
        .function("order", "Orders more of an item", move |wanted: Order| order(ordered.clone(), wanted))
}

async fn find_items(items: Items, search: Search) -> Result<Vec<Item>, CapabilityError> {
    let name = search.name.unwrap_or_default();
    let items = items.read().await;
    Ok(items.iter().filter(|item| item.name.contains(&name)).cloned().collect())
}

async fn order(items: Items, wanted: Order) -> Result<Item, CapabilityError> {
    let mut items = items.write().await;
    let item = items.iter_mut().find(|item| item.name == wanted.name);
    let item = item.ok_or_else(|| format!("there is no item {:?}", wanted.name))?;
    item.count += wanted.count;
    Ok(item.clone())
}

const SCRIPT: &str = "
    import { inventory } from '@capabilities/inventory';

    const items = await inventory.findItems();
    const scarce = items.filter((item) => item.count < 10);
    export default await Promise.all(scarce.map((item) => inventory.order({ name: item.name, count: 10 })));
";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let item = |name: &str, count| Item { name: name.to_owned(), count };
    let items: Items = Arc::new(RwLock::new(vec![item("bolts", 4), item("nuts", 120)]));
    let inventory = inventory(&items);
    println!("{}", inventory.declarations()?);

    let engine = Engine::new(EngineConfig::default())?;
    let space = Space::builder(&engine).capability(inventory).build()?;
    let program = space.prepare("restock.ts", SCRIPT)?;
    let report = program.run(RunOptions::default()).await;
    println!("The script returned {}", report.outcome?);
    let items = items.read().await;
    println!("The host now has {items:?}");
    Ok(())
}
