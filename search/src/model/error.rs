//! Why there is no model.

use std::path::PathBuf;

/// Why a sentence model could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file of it is not there or cannot be read.
    #[error(
        "cannot read {}: {source}; a model is a folder with `config.json`, `vocab.txt` and `model.safetensors`",
        file.display()
    )]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file is damaged or of a kind that is not understood.
    #[error(
        "{}: {what}; use a small BERT sentence model without case, with the mean over all pieces and 32-bit weights, such as \
         all-MiniLM-L6-v2",
        file.display()
    )]
    Unfit {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}
