//! Open toolboxes by caller.

use super::errors::ToolboxError;
use crate::cards::Card;
use agent_spaces_http_server::Client;
use agent_spaces_mcp::Server;
use agent_spaces_space::space::Space;
use agent_spaces_types::limits::Limits;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Open toolbox of a caller.
pub(super) struct OpenToolbox {
    pub(super) space: Arc<Space>,
    pub(super) limits: Limits,
    /// Tools by server.
    pub(super) tools: BTreeMap<String, Vec<OpenTool>>,
    /// Sessions to close with the toolbox.
    pub(super) sessions: Vec<Arc<Server>>,
}

/// Tool of a server.
pub(super) struct OpenTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input_schema: Value,
    pub(super) card: Card,
}

/// Toolbox slot, locked while it is opened, so that concurrent requests share the result.
type Slot = Arc<tokio::sync::Mutex<Option<Arc<OpenToolbox>>>>;

/// Open toolboxes by caller and name.
#[derive(Default)]
pub(super) struct OpenToolboxes(Mutex<BTreeMap<(Arc<str>, String), Slot>>);

impl OpenToolboxes {
    /// Returns a toolbox of a caller, if it is open.
    pub(super) async fn get(&self, client: &Client, toolbox: &str) -> Option<Arc<OpenToolbox>> {
        let slot = self.slots().get(&key(client, toolbox)).cloned()?;
        slot.lock().await.clone()
    }

    /// Returns a toolbox of a caller, and opens it if needed.
    pub(super) async fn get_or_open(
        &self,
        client: &Client,
        toolbox: &str,
        open: impl Future<Output = Result<OpenToolbox, ToolboxError>>,
    ) -> Result<Arc<OpenToolbox>, ToolboxError> {
        let slot = self.slots().entry(key(client, toolbox)).or_default().clone();
        let mut known = slot.lock().await;
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let opened = Arc::new(open.await?);
        *known = Some(opened.clone());
        Ok(opened)
    }

    /// Closes all toolboxes of a caller.
    pub(super) async fn close_all(&self, client: &Client) {
        let mut gone = Vec::new();
        self.slots().retain(|(owner, _), slot| {
            let is_own = owner == client.identity();
            if is_own {
                gone.push(slot.clone());
            }
            !is_own
        });
        for slot in gone {
            if let Some(opened) = slot.lock().await.take() {
                close(&opened.sessions).await;
            }
        }
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<(Arc<str>, String), Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes sessions and their servers.
pub(super) async fn close(sessions: &[Arc<Server>]) {
    futures_util::future::join_all(sessions.iter().map(|session| session.close())).await;
}

fn key(client: &Client, toolbox: &str) -> (Arc<str>, String) {
    (client.identity().clone(), toolbox.to_owned())
}
