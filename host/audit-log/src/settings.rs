//! Settings of a recorder.

use crate::rotate::Rotation;
use crate::ship::Shipping;
use std::path::PathBuf;
use std::time::Duration;

/// Most bytes of the name of a host. A longer one is left out.
pub const MAX_HOST: usize = 64;

/// Settings of a recorder.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The log.
    pub log: PathBuf,
    /// The folder of its head and key.
    pub heads: PathBuf,
    /// Sync interval; see [`AuditLog::sync_every`](crate::AuditLog::sync_every).
    pub sync_every: Duration,
    /// Rotation settings.
    pub rotation: Option<Rotation>,
    /// Shipping settings.
    pub shipping: Option<Shipping>,
    /// Name of this host, which every entry gets as its member `host`: at most [`MAX_HOST`] bytes.
    pub host: Option<String>,
}
