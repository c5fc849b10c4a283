//! Token with which the server signs the decisions of callers who may approve.

use crate::commands::failure::Failure;
use crate::commands::foreign_configs::file::make_folder;
use crate::commands::{folders, host_key, terminal};
use agent_spaces::Code;
use agent_spaces::journal::Store;
use agent_spaces_approvals::ApproverToken;
use std::io::Write;
use std::path::Path;

/// Largest file of a token.
const MAX_FILE: u64 = 1 << 10;

/// Returns the server's token. Runs accept decisions that it signed, also after a restart. Hosts that share a store derive
/// the same one from their key; otherwise it is the server's alone, and generated on first use.
pub(super) fn token(store: &dyn Store) -> Result<ApproverToken, Failure> {
    if store.is_shared() {
        if let Some(key) = host_key::read()? {
            let token = key.approver_token();
            return token.map_err(|error| Failure::new(Code::HostState, error.to_string(), None));
        }
        terminal::note(host_key::MISSING);
    }
    let Some(folder) = folders::state() else {
        return Err(Failure::new(
            Code::HostState,
            "there is no home folder to keep a token in",
            Some("name one with --data"),
        ));
    };
    let file = folder.join("serve.approver");
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(Code::HostState, format!("{}: {error}", file.display()), Some("delete it to have a new one made"))
    };
    if !file.exists() {
        make(&folder, &file).map_err(|error| failed(&error))?;
    }
    let text = read(&file).map_err(|error| failed(&error))?;
    text.parse().map_err(|error: agent_spaces_approvals::StoreError| failed(&error))
}

fn read(file: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    std::fs::File::open(file)?.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes a new token atomically, readable by its user only. A file created concurrently stays.
fn make(folder: &Path, file: &Path) -> std::io::Result<()> {
    make_folder(folder)?;
    let token = ApproverToken::new().map_err(std::io::Error::other)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(new, "{}", token.reveal())?;
    new.as_file().sync_all()?;
    match new.persist_noclobber(file) {
        Err(error) if error.error.kind() != std::io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}
