//! Ids that this server makes.

use crate::problem::Problem;
use data_encoding::HEXLOWER;

/// Random bytes of an id, and characters of an id that is a hash: 96 bits, so that nobody finds one by trying.
const RANDOM_BYTES: usize = 12;

/// Longest id that is looked up.
const MAX_ID: usize = 128;

/// Generates an id: `spc_` and 96 random bits.
pub(crate) fn new(prefix: &str) -> Result<String, Problem> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Problem::internal(&error))?;
    Ok(format!("{prefix}{}", HEXLOWER.encode(&bytes)))
}

/// Returns the id of something that is known by other names: a hash of them.
pub(crate) fn derived(prefix: &str, names: &[&str]) -> String {
    let mut hash = blake3::Hasher::new();
    for name in names {
        // With its length, so that no two lists of names are the same text.
        hash.update(&(name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    let hash = hash.finalize();
    format!("{prefix}{}", HEXLOWER.encode(hash.as_bytes().get(..RANDOM_BYTES).unwrap_or_default()))
}

/// Returns true if a text may be an id with this prefix. Others are not looked up.
pub(crate) fn is_id(text: &str, prefix: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    text.len() <= MAX_ID && text.starts_with(prefix) && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::{derived, is_id, new};

    #[test]
    fn ids_differ_unless_their_names_are_the_same() {
        assert_ne!(new("spc_").unwrap(), new("spc_").unwrap());
        assert_eq!(derived("spc_", &["a", "b"]), derived("spc_", &["a", "b"]));
        assert_ne!(derived("spc_", &["a", "b"]), derived("spc_", &["ab", ""]));
        assert!(is_id(&new("spc_").unwrap(), "spc_") && is_id(&derived("spc_", &[]), "spc_"));
        assert!(
            !is_id("spc_a/b", "spc_") && !is_id("run_1", "spc_") && !is_id(&format!("spc_{}", "a".repeat(200)), "spc_")
        );
    }
}
