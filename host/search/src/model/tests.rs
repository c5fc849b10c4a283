//! Tests with a tiny generated model.

use super::*;
use crate::{Document, Index, IndexError, Sentences};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const WIDTH: usize = 4;
const INNER: usize = 6;
const PLACES: usize = 16;
const PIECES: [&str; 10] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "qux", "##zle", "a", ",", "blick", "\u{8ddd}"];

/// Writes a model of one layer with pseudo-random weights to a temporary folder.
fn tiny() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("config.json", config().to_string().as_bytes());
    write("vocab.txt", PIECES.join("\n").as_bytes());
    write("model.safetensors", &tensors());
    folder
}

fn config() -> Value {
    json!({
        "model_type": "bert", "hidden_act": "gelu", "num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": WIDTH,
        "intermediate_size": INNER, "vocab_size": PIECES.len(), "max_position_embeddings": PLACES, "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
    })
}

fn tensors() -> Vec<u8> {
    let mut shapes: Vec<(String, Vec<usize>)> = Vec::new();
    for (name, rows) in [("word", PIECES.len()), ("position", PLACES), ("token_type", 2)] {
        shapes.push((format!("embeddings.{name}_embeddings.weight"), vec![rows, WIDTH]));
    }
    let mut pair = |name: &str, weights: Vec<usize>| {
        shapes.push((format!("{name}.bias"), vec![weights[0]]));
        shapes.push((format!("{name}.weight"), weights));
    };
    pair("embeddings.LayerNorm", vec![WIDTH]);
    let layer = "encoder.layer.0";
    for part in ["self.query", "self.key", "self.value", "output.dense"] {
        pair(&format!("{layer}.attention.{part}"), vec![WIDTH, WIDTH]);
    }
    pair(&format!("{layer}.attention.output.LayerNorm"), vec![WIDTH]);
    pair(&format!("{layer}.intermediate.dense"), vec![INNER, WIDTH]);
    pair(&format!("{layer}.output.dense"), vec![WIDTH, INNER]);
    pair(&format!("{layer}.output.LayerNorm"), vec![WIDTH]);

    let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
    for (at, (name, shape)) in shapes.into_iter().enumerate() {
        let from = numbers.len();
        for number in 0..shape.iter().product() {
            let part = u16::try_from((number * 7919 + at * 104_729) % 1009).unwrap();
            numbers.extend((f32::from(part) / 1009.0 - 0.5).to_le_bytes());
        }
        header.insert(name, json!({ "dtype": "F32", "shape": shape, "data_offsets": [from, numbers.len()] }));
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &numbers].concat()
}

fn put(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    std::fs::write(folder.path().join(name), bytes).unwrap();
    folder.path().to_owned()
}

fn problem(folder: &Path) -> String {
    Model::open(folder).err().unwrap().to_string()
}

fn model() -> Model {
    Model::open(tiny().path()).unwrap()
}

/// The expected values come from `table/model.py`, an independent implementation.
#[test]
fn embeddings_match_the_reference_implementation() {
    let model = model();
    assert_eq!(model.pieces.of("Quxzle, A \u{8ddd}!", 64), [2, 4, 5, 7, 6, 9, 1, 3]);
    let meaning = model.meaning("Quxzle, A \u{8ddd}!");
    let length = meaning.iter().map(|value| value * value).sum::<f32>().sqrt();
    let expected = [-0.363_157_4, 0.777_147_6, 0.465_260_3, 0.218_383];
    for (value, expected) in meaning.iter().zip(expected) {
        assert!((value / length - expected).abs() < 1e-5, "{meaning:?}");
    }
}

#[test]
fn long_texts_are_truncated() {
    let model = model();
    let long = "qux ".repeat(10_000);
    assert_eq!(model.pieces.of(&long, PLACES).len(), PLACES);
    assert_eq!(model.meaning(&long), model.meaning(&"qux ".repeat(PLACES)));
    assert_eq!(model.pieces.of(&"a".repeat(101), 64), [2, 1, 3], "an overlong word is unknown");
    assert_eq!(model.pieces.of("", 64), [2, 3]);
}

#[test]
fn the_model_finds_what_words_do_not() {
    let model = Arc::new(model());
    let document = |name: &str| Document { name: name.into(), ..Document::default() };
    let documents = [document("blick"), document("qux")];
    let sentences = Sentences::new(model.clone(), &documents);
    let index = Index::build(&documents).unwrap();
    let near = |sentences: Option<&Sentences>, query: &str, document: usize| {
        let hits = index.search_with(sentences, query, 2, |_| true);
        hits.iter().find(|hit| hit.document == document).map_or(0.0, |hit| hit.score)
    };
    let gain = |query: &str, document: usize| near(Some(&sentences), query, document) - near(None, query, document);
    assert!(gain("qux", 1) > 0.3);
    // A model with the same embedding for everything would not distinguish them.
    assert!(gain("qux", 1) > gain("qux", 0) + 0.1, "{}", gain("qux", 0));
    assert!(
        index.search_with(Some(&sentences), "qux", 2, |document| document == 0).iter().all(|hit| hit.document == 0)
    );

    let kept = Sentences::from_bytes(model.clone(), &sentences.to_bytes()).unwrap();
    assert_eq!(near(Some(&kept), "qux", 1), near(Some(&sentences), "qux", 1));
    let mut parts = Sentences::new(model.clone(), &documents[..1]);
    parts.append(&Sentences::new(model.clone(), &documents[1..]));
    assert_eq!((parts.len(), parts.to_bytes()), (2, sentences.to_bytes()));

    let bytes = sentences.to_bytes();
    assert_eq!(Sentences::from_bytes(model.clone(), b"ASSE").err(), Some(IndexError::OtherVersion));
    assert_eq!(Sentences::from_bytes(model.clone(), &bytes[..bytes.len() - 1]).err(), Some(IndexError::Damaged));
    let mut numbers = tensors();
    *numbers.last_mut().unwrap() ^= 1;
    for (file, other) in [
        ("vocab.txt", PIECES.join("\n").replace("blick", "block").into_bytes()),
        ("config.json", config().to_string().replace("1e-12", "1e-5").into_bytes()),
        ("model.safetensors", numbers),
    ] {
        let folder = tiny();
        let other = Model::open(&put(&folder, file, other)).unwrap();
        assert_eq!(Sentences::from_bytes(Arc::new(other), &bytes).err(), Some(IndexError::OtherVersion), "{file}");
    }
}

#[test]
fn invalid_models_are_refused_with_the_reason() {
    let nothing = tempfile::tempdir().unwrap();
    let told = problem(nothing.path());
    assert!(told.contains("config.json") && told.contains("a model is a folder with"), "{told}");
    for (key, value) in [
        ("model_type", json!("gpt2")),
        ("hidden_act", json!("relu")),
        ("num_attention_heads", json!(0)),
        ("num_attention_heads", json!(3)),
        ("hidden_size", json!(1_000_000)),
        ("hidden_size", json!(768)),
        ("num_hidden_layers", json!(2)),
        ("vocab_size", json!(9)),
        ("max_position_embeddings", json!(-1)),
    ] {
        let (folder, mut config) = (tiny(), config());
        config[key] = value;
        let told = problem(&put(&folder, "config.json", config.to_string()));
        assert!(told.contains("use a small BERT sentence model"), "{key}: {told}");
    }
    let folder = tiny();
    assert!(problem(&put(&folder, "vocab.txt", "a\nb")).contains("`[CLS]` is missing"));
    assert!(problem(&put(&folder, "config.json", " ".repeat(100_000))).contains("more than 65536 bytes"));
}

#[test]
fn invalid_tensors_are_refused() {
    let whole = tensors();
    let header = String::from_utf8_lossy(&whole).into_owned();
    assert!(header.contains("\"data_offsets\":[0,160]"));
    let text = |from: &str, to: &str| {
        let (from, to) = (from.as_bytes(), format!("{to:from$}", from = from.len()));
        let at = whole.windows(from.len()).position(|window| window == from).unwrap();
        [&whole[..at], to.as_bytes(), &whole[at + from.len()..]].concat()
    };
    for (bytes, why) in [
        (whole[..whole.len() - 1].to_vec(), "is incomplete"),
        (text("[0,160]", "[9,160]"), "is incomplete"),
        (text("[160,416]", "[416,160]"), "is incomplete"),
        (text("[160,416]", "[159,415]"), "overlap"),
        (text("\"F32\"", "\"F16\""), "is F16"),
        (text("[10,4]", "[4,10]"), "should be F32 [10, 4]"),
        (text("LayerNorm", "LayerNarm"), "is missing"),
        (u64::MAX.to_le_bytes().to_vec(), "not a safetensors file"),
        (vec![0; 20], "its header"),
        (vec![1, 2], "cannot read"),
    ] {
        let folder = tiny();
        let told = problem(&put(&folder, "model.safetensors", bytes));
        assert!(told.contains(why), "{why}: {told}");
    }
}

#[test]
fn models_with_other_tokenization_or_pooling_are_refused() {
    for (file, said, why) in [
        ("tokenizer_config.json", json!({ "do_lower_case": false }), "cased"),
        ("tokenizer_config.json", json!({ "do_lower_case": true, "strip_accents": false }), "accents"),
        ("tokenizer_config.json", json!([]), "invalid type"),
        ("1_Pooling/config.json", json!({ "pooling_mode_mean_tokens": false }), "other pooling than the mean"),
        (
            "1_Pooling/config.json",
            json!({ "pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true }),
            "other pooling than the mean",
        ),
        ("1_Pooling/config.json", json!({ "pooling_mode": "cls" }), "other pooling than the mean"),
    ] {
        let folder = tiny();
        std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
        let told = problem(&put(&folder, file, said.to_string()));
        assert!(told.contains(why) && told.contains(file), "{told}");
    }
    let folder = tiny();
    std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    put(&folder, "tokenizer_config.json", json!({ "do_lower_case": true, "strip_accents": null }).to_string());
    let pooling = json!({ "pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false });
    Model::open(&put(&folder, "1_Pooling/config.json", pooling.to_string())).unwrap();
}

#[test]
fn tensors_over_the_size_limit_are_refused_before_they_are_read() {
    let folder = tiny();
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("model.safetensors")).unwrap();
    file.set_len(1024 * 1024 * 1024).unwrap();
    assert!(problem(folder.path()).contains("tensors have more than 536870912 bytes"));
}

/// Opening a named pipe would block until there is a writer.
#[cfg(unix)]
#[test]
fn a_named_pipe_is_refused_without_blocking() {
    for name in ["config.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"] {
        let folder = tiny();
        let file = folder.path().join(name);
        let _is_there = std::fs::remove_file(&file);
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let told = problem(folder.path());
        assert!(told.contains("not a regular file") && told.contains(name), "{told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_models_never_panic(
        file in prop::sample::select(&["config.json", "vocab.txt", "model.safetensors"][..]),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        text in ".{0,80}",
    ) {
        let folder = tiny();
        let mut bytes = std::fs::read(folder.path().join(file)).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(model) = Model::open(&put(&folder, file, bytes)) {
            let sentences = Sentences::new(Arc::new(model), &[Document { name: text.clone(), ..Document::default() }]);
            prop_assert!(sentences.asked(&text).iter().all(|near| near.is_finite()));
        }
    }
}
