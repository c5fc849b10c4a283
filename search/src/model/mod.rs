//! A sentence model: what a whole text means, where the table knows words alone. It is large, slow and optional.
//!
//! A model is a folder as it is published: `config.json` (`shape`), `vocab.txt` (`pieces`), `model.safetensors` (`files`,
//! `network`), and what says how it is used (`usage`). The files may be damaged or a stranger's: whatever they are, reading them ends
//! with a model that answers or with an error.

mod error;
mod files;
mod network;
mod pieces;
mod shape;
mod usage;

pub use error::ModelError;

use blake3::Hasher;
use files::Tensors;
use network::Network;
use pieces::Pieces;
use shape::Shape;
use std::path::Path;

/// Pieces of a text that are read: some forty words. The cost grows with them.
const MAX_PIECES: usize = 64;

/// A sentence model that was read into memory, which takes as much as its files.
pub struct Model {
    pieces: Pieces,
    network: Network,
    width: usize,
    fingerprint: String,
}

/// The files of a sentence model, which were found to fit each other. What takes long, to read its numbers, is still to be done.
pub struct ModelFiles {
    shape: Shape,
    pieces: Pieces,
    tensors: Tensors,
}

impl ModelFiles {
    /// Looks at the model in a folder.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let mut hasher = Hasher::new();
        let shape = Shape::read(&folder.join("config.json"), &mut hasher)?;
        usage::check(folder)?;
        let pieces = Pieces::read(&folder.join("vocab.txt"), shape.words, &mut hasher)?;
        let tensors = Tensors::open(&folder.join("model.safetensors"), hasher)?;
        Network::check(&tensors, &shape)?;
        Ok(Self { shape, pieces, tensors })
    }

    /// Reads the numbers.
    pub fn read(mut self) -> Result<Model, ModelError> {
        let network = Network::read(&mut self.tensors, &self.shape)?;
        let fingerprint = self.tensors.fingerprint();
        Ok(Model { pieces: self.pieces, network, width: self.shape.width, fingerprint })
    }
}

impl Model {
    /// Reads the model in a folder.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        ModelFiles::open(folder)?.read()
    }

    /// Tells this model from others, whose meanings of texts are not comparable: made of all that was read of its files.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How many numbers a meaning has.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// What a text means; only the direction counts.
    pub(crate) fn meaning(&self, text: &str) -> Vec<f32> {
        let most = MAX_PIECES.min(self.network.places());
        self.network.mean(&self.pieces.of(text, most))
    }
}

#[cfg(test)]
mod tests;
