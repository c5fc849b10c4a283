//! Reading of runs from the store.

use crate::error::DurableError;
use crate::header::Header;
use agent_spaces_journal::{Store, StoreError, Stored};
use agent_spaces_sandbox::program::ProgramImage;

/// Entries that are read at once.
const PAGE: usize = 1_000;

/// Reads all entries of a run.
pub async fn entries(store: &dyn Store, run: &str) -> Result<Vec<Stored>, StoreError> {
    let mut all: Vec<Stored> = Vec::new();
    loop {
        let page = store.read(run, all.len() as u64, PAGE).await?;
        let is_last = page.len() < PAGE;
        all.extend(page);
        if is_last {
            return Ok(all);
        }
    }
}

/// Reads the program image of a run, with the documents that the run was given.
pub(crate) async fn image(store: &dyn Store, header: &Header) -> Result<ProgramImage, DurableError> {
    let mut image = ProgramImage::from_bytes(&blob(store, "program", &header.program).await?)?;
    if let Some(given) = &header.given {
        image.give(&blob(store, "input", given).await?)?;
    }
    Ok(image)
}

async fn blob(store: &dyn Store, what: &'static str, hash: &str) -> Result<Vec<u8>, DurableError> {
    let missing = || DurableError::Missing { what, hash: hash.to_owned() };
    store.get_blob(hash).await?.ok_or_else(missing)
}

/// Reads the seed of a run.
pub(crate) fn seed(header: &Header) -> Result<[u8; 32], DurableError> {
    let seed = blake3::Hash::from_hex(&header.seed).map_err(|error| DurableError::Event(error.to_string()))?;
    Ok(*seed.as_bytes())
}
