//! Errors of sentence models.

use std::path::PathBuf;

/// Error of reading a sentence model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is missing or cannot be read.
    #[error(
        "cannot read {}: {source}; a model is a folder with `config.json`, `vocab.txt` and `model.safetensors`",
        file.display()
    )]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// A file is damaged or of an unsupported kind.
    #[error(
        "{}: {what}; use a small BERT sentence model, uncased, with mean pooling and 32-bit weights, such as \
         all-MiniLM-L6-v2",
        file.display()
    )]
    Unfit {
        /// The file.
        file: PathBuf,
        /// The fault.
        what: String,
    },
}
