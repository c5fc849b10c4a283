//! Compatibility check of tokenization and pooling. Only one variant is implemented, and a model made for another would
//! give wrong embeddings. The files that describe it are optional.

use super::error::ModelError;
use super::files::read_text;
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::path::Path;

/// Size limit of a file: real ones have a few hundred bytes, or some thousands with added tokens.
const MAX_BYTES: u64 = 1024 * 1024;

pub(super) fn check(folder: &Path) -> Result<(), ModelError> {
    check_with(&folder.join("tokenizer_config.json"), |said| {
        let is_cased = ["do_lower_case", "strip_accents"].iter().any(|key| said.get(*key) == Some(&Value::Bool(false)));
        is_cased.then_some("it is cased or keeps accents")
    })?;
    check_with(&folder.join("1_Pooling").join("config.json"), |said| {
        // Older files have a flag for each pooling mode, newer ones its name.
        let is_other = said.iter().any(|(key, value)| match key.as_str() {
            "pooling_mode" => value.as_str() != Some("mean"),
            "pooling_mode_mean_tokens" => *value == Value::Bool(false),
            _ => key.starts_with("pooling_mode_") && *value == Value::Bool(true),
        });
        is_other.then_some("it uses other pooling than the mean over all tokens")
    })
}

fn check_with(file: &Path, find: impl Fn(&Map<String, Value>) -> Option<&'static str>) -> Result<(), ModelError> {
    let unfit = |what: String| ModelError::Unfit { file: file.to_owned(), what };
    let text = match read_text(file, MAX_BYTES) {
        Err(ModelError::Unreadable { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    let said = serde_json::from_str(&text).map_err(|error| unfit(error.to_string()))?;
    find(&said).map_or(Ok(()), |what| Err(unfit(what.to_owned())))
}
