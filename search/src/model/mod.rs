//! A sentence model: what a whole text means, where the table knows words alone. It is large, slow and optional.
//!
//! A model is a folder as it is published: `config.json` (`shape`), `vocab.txt` (`pieces`) and `model.safetensors` (`files`,
//! `network`). The files may be damaged or a stranger's: whatever they are, reading them ends with a model that answers or with
//! an error.

mod error;
mod files;
mod network;
mod pieces;
mod shape;

pub use error::ModelError;

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
    fingerprint: u64,
}

impl Model {
    /// Reads the model in a folder.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let shape = Shape::read(&folder.join("config.json"))?;
        let pieces = Pieces::read(&folder.join("vocab.txt"), shape.words)?;
        let mut tensors = Tensors::open(&folder.join("model.safetensors"))?;
        let network = Network::read(&mut tensors, &shape)?;
        let fingerprint = tensors.fingerprint() ^ pieces.fingerprint();
        Ok(Self { pieces, network, width: shape.width, fingerprint })
    }

    /// Tells this model from others: what they made of texts is not comparable.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
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
