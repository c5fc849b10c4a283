//! Agent for the conformance kit of A2A (github.com/a2aproject/a2a-tck, branch 1.0-dev).
//!
//! ```sh
//! cargo run --release -p agent-spaces-surfaces --example a2a_tck
//! PYTHONPATH=. python run_tck.py --sut-host http://127.0.0.1:9999 --transport jsonrpc,http_json
//! ```
//!
//! The kit says what it expects in the id of a message, which an agent never sees. The front puts the id into the message
//! as data, and a scripted model acts by it. Everything between them is what serves real agents. The kit sends no token,
//! so the front takes every request for that of one caller.

mod front;
mod script;

use agent_spaces_agent::AgentService;
use agent_spaces_http_server::{Callers, OriginCheck, Settings, serve};
use agent_spaces_journal::{SqliteStore, Store};
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_surfaces::{A2aRoutes, A2aSettings};
use front::Front;
use script::Script;
use std::error::Error;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Address at which the kit expects an agent.
const ADDRESS: (&str, u16) = ("127.0.0.1", 9999);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(&folder.path().join("journal"), agent_spaces_journal::Settings::default())?;
    let store: Arc<dyn Store> = Arc::new(store);
    let script = Arc::new(Script::new()?);
    let service = AgentService::new(script.clone(), script, Some(store.clone()), Accounting::default(), None);
    let settings = A2aSettings { limit: Some(64), is_open: true, ..A2aSettings::default() };
    let front = Front::new(A2aRoutes::new(&service, store, settings));
    let listener = TcpListener::bind(ADDRESS).await?;
    println!("http://{}:{}", ADDRESS.0, ADDRESS.1);
    let settings = Settings::new(Callers::default(), OriginCheck::new(false));
    serve(listener, settings, vec![Arc::new(front)], std::future::pending()).await;
    Ok(())
}
