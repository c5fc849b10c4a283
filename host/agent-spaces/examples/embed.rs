//! Example of an embedding host: a capability in Rust, a policy, and a script as a model might write it.
//!
//! `cargo run --release -p agent-spaces --example embed`

use agent_spaces::policy::{Policy, Preset, Settings};
use agent_spaces::{
    Capability, CapabilityError, Engine, EngineConfig, Handlers, Interfaces, NativeFunction, RunOptions, Space,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// A line of the inventory.
#[derive(Clone, Serialize, JsonSchema)]
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

/// Capability that scripts import as `@capabilities/inventory`.
fn inventory(items: Vec<Item>) -> Capability {
    let items = Arc::new(Mutex::new(items));
    let shelf = items.clone();
    Capability::new("inventory")
        .description("What is in the warehouse")
        .function("find_items", "Items by name", move |search: Search| {
            let items = shelf.clone();
            async move {
                let items = items.lock().map_err(|_| "the inventory is locked")?;
                let name = search.name.unwrap_or_default();
                Ok::<_, CapabilityError>(
                    items.iter().filter(|item| item.name.contains(&name)).cloned().collect::<Vec<_>>(),
                )
            }
        })
        .function_with(
            NativeFunction::new("order", "Orders more of an item")
                .requires_approval()
                .approval_message("Order {{count}} of {{name}}?"),
            move |order: Order, call| {
                let items = items.clone();
                async move {
                    call.progress.tell(0.0, Some(1.0), Some("asking the supplier".to_owned()));
                    let mut items = items.lock().map_err(|_| "the inventory is locked")?;
                    let item = items.iter_mut().find(|item| item.name == order.name);
                    let item = item.ok_or_else(|| format!("there is no item {:?}", order.name))?;
                    item.count += order.count;
                    Ok::<_, CapabilityError>(item.clone())
                }
            },
        )
}

const SCRIPT: &str = "
    import { inventory } from '@capabilities/inventory';

    const items = await inventory.findItems();
    const scarce = items.filter((item) => item.count < 10);
    export default await Promise.all(scarce.map((item) => inventory.order({ name: item.name, count: 10 })));
";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let item = |name: &str, count| Item { name: name.to_owned(), count };
    let inventory = inventory(vec![item("bolts", 4), item("nuts", 120)]);
    println!("{}", inventory.declarations()?);

    let (mut interfaces, mut handlers) = (Interfaces::new()?, Handlers::new());
    inventory.add_to(&mut interfaces, &mut handlers)?;
    let policy = Policy::new(Settings { preset: Some(Preset::Permissive), ..Settings::default() });
    let space = Space::new(Engine::new(EngineConfig::default())?, interfaces, handlers)?
        .with_policy(Arc::new(policy), |note| eprintln!("{note}"));
    // Approved in advance; a real host would ask a person.
    space.approvals().approve(space.identify("inventory.order")?);

    let program = space.prepare("restock.ts", SCRIPT)?;
    let report = program.run(RunOptions::default()).await;
    println!("{}", serde_json::to_string_pretty(&report.outcome?)?);
    Ok(())
}
