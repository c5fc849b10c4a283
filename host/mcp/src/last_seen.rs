//! Last known state of a server, over all of its sessions. Reading it starts nothing.

use crate::error::ConnectError;
use crate::lock::LockedServer;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Last known state of a server, shared by its sessions.
#[derive(Debug, Default)]
pub struct LastSeen(Mutex<Option<Seen>>);

/// Outcome of the last start of a server, or of the last look at its tools.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its time.
    pub at: SystemTime,
    /// Tools of the server, or the error of its start.
    pub outcome: Result<SeenOffer, ConnectError>,
}

/// Tools of a server as it listed them, compared with those that were accepted.
#[derive(Clone, Debug, Default)]
pub struct SeenOffer {
    /// Number of tools; `None` if they were not listed.
    pub tools: Option<usize>,
    /// The whole offer, if it differs from the accepted one.
    pub changed: Option<Arc<LockedServer>>,
}

impl LastSeen {
    /// Returns what was last seen; `None` if nothing was.
    pub fn get(&self) -> Option<Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records what was seen now.
    pub fn put(&self, outcome: Result<SeenOffer, ConnectError>) {
        let seen = Seen { at: SystemTime::now(), outcome };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
    }
}
