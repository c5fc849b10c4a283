//! Head folder and its current heads.

use crate::error::{AuditError, Tampered};
use crate::files;
use crate::head::{Head, Kind};
use crate::key::Key;
use crate::line::Position;
use std::path::{Path, PathBuf};

/// Upper bound of a head's size.
const MAX_HEAD: u64 = 4096;

/// Paths of a head folder.
pub(crate) struct HeadFolder {
    pub(crate) path: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) lock: PathBuf,
    /// Folder of presence files.
    pub(crate) open: PathBuf,
    durable: PathBuf,
    live: PathBuf,
}

/// Current heads. Read and changed only under the lock.
pub(crate) struct Heads {
    /// Position of `head.json`: on disk, as are the lines before it.
    pub(crate) durable: Position,
    /// Position of `live.json`, if there was no reboot since.
    pub(crate) live: Option<Position>,
    /// Position of `live.json` after a reboot: the lines before it may never have reached the disk.
    pub(crate) hint: Option<Position>,
    /// True if there was no reboot since anything unsynced was written.
    pub(crate) is_same_boot: bool,
}

impl Heads {
    /// Returns the last position that is certainly signed.
    pub(crate) fn signed(&self) -> &Position {
        match &self.live {
            Some(live) if live.count > self.durable.count => live,
            _ => &self.durable,
        }
    }
}

impl HeadFolder {
    pub(crate) fn new(path: &Path) -> HeadFolder {
        let file = |name| path.join(name);
        HeadFolder {
            path: path.to_owned(),
            key: file("key"),
            lock: file("lock"),
            open: file("open"),
            durable: file("head.json"),
            live: file("live.json"),
        }
    }

    /// True if anything was ever signed here.
    pub(crate) fn has_head(&self) -> Result<bool, AuditError> {
        Ok(files::open(&self.durable, files::Access::Read)?.is_some())
    }

    /// Reads the heads; `None` if nothing was ever signed. `boot` is the current boot id.
    pub(crate) fn heads(&self, key: &Key, boot: Option<&str>) -> Result<Option<Heads>, AuditError> {
        let Some(durable) = files::read(&self.durable, MAX_HEAD)? else { return Ok(None) };
        let durable = Head::read(&durable, Kind::Durable, key).ok_or_else(|| changed(&self.durable))?;
        let is_same_boot = boot.is_some() && durable.boot.as_deref() == boot;
        let mut heads = Heads { durable: durable.position, live: None, hint: None, is_same_boot };
        let Some(live) = files::read(&self.live, MAX_HEAD)? else { return Ok(Some(heads)) };
        match Head::read(&live, Kind::Live, key) {
            Some(live) if is_same_boot && live.boot.as_deref() == boot => heads.live = Some(live.position),
            _ if is_same_boot => return Err(changed(&self.live).into()),
            // It was never synced, so it may be anything.
            live => heads.hint = live.map(|live| live.position),
        }
        Ok(Some(heads))
    }

    /// Signs a position that is already on disk.
    pub(crate) fn sign_durable(&self, key: &Key, boot: Option<&str>, position: Position) -> Result<(), AuditError> {
        let head = Head { position, boot: boot.map(str::to_owned) };
        files::replace(&self.durable, head.sign(Kind::Durable, key).as_bytes(), true)
    }

    /// Signs a position that need not be on disk.
    pub(crate) fn sign_live(&self, key: &Key, boot: &str, position: Position) -> Result<(), AuditError> {
        let head = Head { position, boot: Some(boot.to_owned()) };
        files::overwrite(&self.live, head.sign(Kind::Live, key).as_bytes())
    }

    /// Removes a live head from before a reboot.
    pub(crate) fn forget_live(&self) -> Result<(), AuditError> {
        files::remove(&self.live)?;
        files::sync_folder(&self.path)
    }
}

fn changed(path: &Path) -> Tampered {
    Tampered::new(format!("the head {path:?} was changed, or belongs to another key"))
}
