//! Place of counters: a file that the processes of a machine share, or a store that hosts share.

use super::reserve::Reserves;
use super::{CountError, private_file};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

/// Change of a counter's text: the next one, `None` to leave it, or why it is not valid.
pub type Change<'a> = dyn FnMut(Option<&[u8]>) -> Result<Option<String>, String> + 'a;

/// Store of counters that several hosts share: texts by name. Its methods may block, but not for long.
pub trait CountStore: Send + Sync {
    /// Returns the time by a clock that all hosts go by.
    fn now(&self) -> Result<SystemTime, String>;

    /// Lets `change` make the next text of a counter from its present one, and stores it. If another host stored one
    /// meanwhile, nothing is stored, and `change` is called again with that one. A text that `change` left is the one
    /// that the store has at that time.
    fn change(&self, name: &str, change: &mut Change<'_>) -> Result<(), String>;

    /// Returns what this process counted ahead in a counter.
    fn reserves(&self, name: &str) -> Arc<Reserves>;

    /// Removes a counter that is not used again.
    fn forget(&self, name: &str);

    /// Returns the time by this host's own clock that never goes back.
    fn monotonic(&self) -> Instant {
        Instant::now()
    }
}

/// Place of the counters of a space.
#[derive(Clone)]
pub(super) enum Place {
    File(PathBuf),
    Store { store: Arc<dyn CountStore>, name: String },
}

impl Place {
    /// Returns the time that its counters go by.
    pub(super) fn now(&self, counted: &'static str) -> Result<SystemTime, CountError> {
        match self {
            Place::File(_) => Ok(SystemTime::now()),
            Place::Store { store, .. } => store.now().map_err(|error| CountError::Store { error, counted }),
        }
    }

    /// Returns what was counted ahead, and the store, if hosts share it.
    pub(super) fn shared(&self) -> Option<(Arc<Reserves>, &dyn CountStore)> {
        match self {
            Place::File(_) => None,
            Place::Store { store, name } => Some((store.reserves(name), &**store)),
        }
    }

    /// Changes the text, with nobody else between reading and writing it. `change` also returns what the caller wants to
    /// know; its last call counts.
    pub(super) fn change<T>(
        &self,
        counted: &'static str,
        mut change: impl FnMut(Option<&[u8]>) -> Result<(T, Option<String>), String>,
    ) -> Result<T, CountError> {
        match self {
            Place::File(path) => {
                let _lock = private_file::lock(path, counted)?;
                let text = private_file::read(path, counted)?;
                let changed = change(text.as_deref());
                let (value, next) =
                    changed.map_err(|reason| CountError::Corrupt { path: path.clone(), reason, counted })?;
                if let Some(next) = next {
                    private_file::replace(path, next.as_bytes(), counted)?;
                }
                Ok(value)
            }
            Place::Store { store, name } => {
                let mut made = None;
                let changed = store.change(name, &mut |text: Option<&[u8]>| {
                    let (value, next) = change(text)?;
                    made = Some(value);
                    Ok(next)
                });
                let made = changed.and_then(|()| made.ok_or_else(|| "nothing was counted".to_owned()));
                made.map_err(|error| CountError::Store { error, counted })
            }
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => formatter.debug_tuple("File").field(path).finish(),
            Place::Store { name, .. } => formatter.debug_tuple("Store").field(name).finish(),
        }
    }
}
