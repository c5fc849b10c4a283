//! Sentence embedding model: a vector for a whole text, while the table has vectors for words only. It is large, slow and
//! optional.
//!
//! A model is a folder as published: `config.json` (`config`), `vocab.txt` (`wordpiece`), `model.safetensors` (`files`,
//! `bert`), and the files on tokenization and pooling (`compatibility`). The files are untrusted: reading any files
//! gives a usable model, or an error.

mod bert;
mod compatibility;
mod config;
mod error;
mod files;
mod wordpiece;

pub use error::ModelError;

use bert::Bert;
use blake3::Hasher;
use config::Config;
use files::Tensors;
use std::path::Path;
use wordpiece::WordPiece;

/// Tokens of a text that are read: some forty words. The cost grows with them.
const MAX_PIECES: usize = 64;

/// Sentence model in memory, which takes as much as its files.
pub struct Model {
    pieces: WordPiece,
    network: Bert,
    width: usize,
    fingerprint: String,
}

/// Validated files of a sentence model. The slow part, reading the tensors, is left to [`ModelFiles::read`].
pub struct ModelFiles {
    shape: Config,
    pieces: WordPiece,
    tensors: Tensors,
}

impl ModelFiles {
    /// Opens and validates the model in a folder.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let mut hasher = Hasher::new();
        let shape = Config::read(&folder.join("config.json"), &mut hasher)?;
        compatibility::check(folder)?;
        let pieces = WordPiece::read(&folder.join("vocab.txt"), shape.words, &mut hasher)?;
        let tensors = Tensors::open(&folder.join("model.safetensors"), hasher)?;
        Bert::check(&tensors, &shape)?;
        Ok(Self { shape, pieces, tensors })
    }

    /// Reads the tensors.
    pub fn read(mut self) -> Result<Model, ModelError> {
        let network = Bert::read(&mut self.tensors, &self.shape)?;
        let fingerprint = self.tensors.fingerprint();
        Ok(Model { pieces: self.pieces, network, width: self.shape.width, fingerprint })
    }
}

impl Model {
    /// Reads the model in a folder.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        ModelFiles::open(folder)?.read()
    }

    /// Returns a hash of the model's files. Embeddings of models with different hashes are not comparable.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the dimension of an embedding.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the embedding of a text; only its direction matters.
    pub(crate) fn meaning(&self, text: &str) -> Vec<f32> {
        let most = MAX_PIECES.min(self.network.places());
        self.network.mean(&self.pieces.of(text, most))
    }
}

#[cfg(test)]
mod tests;
