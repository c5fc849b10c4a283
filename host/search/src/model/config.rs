//! `config.json` of a model: its dimensions.

use super::error::ModelError;
use super::files::{add_text, read_text};
use blake3::Hasher;
use serde::Deserialize;
use std::path::Path;

/// Size limit of `config.json`: real ones have less than a thousand bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// Limits of a model. The time of a query is proportional to the product of the first three: up to some 160 ms on a
/// slow core, four times that of all-MiniLM-L6-v2.
const MAX_LAYERS: usize = 12;
const MAX_WIDTH: usize = 512;
const MAX_INNER: usize = 2048;
const MAX_WORDS: usize = 300_000;
const MAX_POSITIONS: usize = 8192;
const MAX_KINDS: usize = 16;

/// Dimensions that the tensors are checked against.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Config {
    model_type: String,
    hidden_act: String,
    #[serde(rename = "num_hidden_layers")]
    pub(super) layers: usize,
    #[serde(rename = "num_attention_heads")]
    pub(super) heads: usize,
    #[serde(rename = "hidden_size")]
    pub(super) width: usize,
    #[serde(rename = "intermediate_size")]
    pub(super) inner: usize,
    #[serde(rename = "vocab_size")]
    pub(super) words: usize,
    #[serde(rename = "max_position_embeddings")]
    pub(super) positions: usize,
    #[serde(rename = "type_vocab_size")]
    pub(super) kinds: usize,
    #[serde(rename = "layer_norm_eps")]
    pub(super) epsilon: f32,
}

impl Config {
    pub(super) fn read(file: &Path, hasher: &mut Hasher) -> Result<Self, ModelError> {
        let unfit = |what: String| ModelError::Unfit { file: file.to_owned(), what };
        let text = read_text(file, MAX_BYTES)?;
        add_text(hasher, &text);
        let shape: Self = serde_json::from_str(&text).map_err(|error| unfit(error.to_string()))?;
        if shape.model_type != "bert" || shape.hidden_act != "gelu" {
            return Err(unfit(format!(
                "unsupported model type `{}` with activation `{}`",
                shape.model_type, shape.hidden_act
            )));
        }
        let bounds = [
            ("num_hidden_layers", shape.layers, MAX_LAYERS),
            ("num_attention_heads", shape.heads, shape.width),
            ("hidden_size", shape.width, MAX_WIDTH),
            ("intermediate_size", shape.inner, MAX_INNER),
            ("vocab_size", shape.words, MAX_WORDS),
            ("max_position_embeddings", shape.positions, MAX_POSITIONS),
            ("type_vocab_size", shape.kinds, MAX_KINDS),
        ];
        for (key, value, most) in bounds {
            if value == 0 || value > most {
                return Err(unfit(format!("`{key}` is {value} and must be from 1 to {most}")));
            }
        }
        if !shape.width.is_multiple_of(shape.heads) {
            return Err(unfit("`hidden_size` is not a multiple of `num_attention_heads`".to_owned()));
        }
        Ok(shape)
    }
}
