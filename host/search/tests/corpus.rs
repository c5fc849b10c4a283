//! Search quality: how often the right function is in the top five, over real servers and questions.
//!
//! `AGENT_SPACES_CORPUS` is a folder with `servers/*.json` (answers to `tools/list`) and `questions.jsonl` (a question, its kind, and every
//! function that answers it). It is not a part of this repository: without it the test says that it was skipped, everywhere. With
//! `AGENT_SPACES_SEARCH_MODEL`, the folder of a sentence model, the same is done with that too.

use agent_spaces_search::{Document, Index, Model, Parameter, Sentences};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Minimum recall at five in percent, by kind of question.
const FLOORS: [(&str, f64); 5] =
    [("easy", 100.0), ("typo", 95.0), ("paraphrase", 60.0), ("indirect", 50.0), ("all", 76.0)];
const FLOORS_WITH_MODEL: [(&str, f64); 5] =
    [("easy", 100.0), ("typo", 95.0), ("paraphrase", 75.0), ("indirect", 55.0), ("all", 82.0)];

#[test]
fn the_right_function_is_in_the_top_five() {
    let Some(folder) = corpus() else { return };
    let (names, documents) = functions(&folder);
    check(&folder, &names, &documents, None, FLOORS);
}

#[test]
fn the_right_function_is_in_the_top_five_with_a_sentence_model() {
    let Some(model) = std::env::var_os("AGENT_SPACES_SEARCH_MODEL") else {
        say_skipped("AGENT_SPACES_SEARCH_MODEL names no folder of a model");
        return;
    };
    let Some(folder) = corpus() else { return };
    let (names, documents) = functions(&folder);
    let sentences = Sentences::new(Arc::new(Model::open(Path::new(&model)).unwrap()), &documents);
    check(&folder, &names, &documents, Some(&sentences), FLOORS_WITH_MODEL);
}

fn check(
    folder: &Path,
    names: &[String],
    documents: &[Document],
    sentences: Option<&Sentences>,
    floors: [(&str, f64); 5],
) {
    let index = Index::build(documents).unwrap();
    let mut found: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("questions.jsonl")).unwrap().lines() {
        let question: Value = serde_json::from_str(line).unwrap();
        let answers: Vec<&str> = question["answers"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let text = question["q"].as_str().unwrap();
        let hits = index.search_with(sentences, text, 5, |_| true);
        let is_found = hits.iter().any(|hit| answers.contains(&names[hit.document].as_str()));
        let kind = question["kind"].as_str().unwrap();
        if !is_found {
            println!("not found ({kind}): {text}");
        }
        for kind in [kind, "all"] {
            let (right, asked) = found.entry(kind.to_owned()).or_default();
            *right += f64::from(u8::from(is_found));
            *asked += 1.0;
        }
    }
    let shares: BTreeMap<_, _> =
        found.iter().map(|(kind, (right, asked))| (kind.as_str(), 100.0 * right / asked)).collect();
    println!("{} functions: {shares:?}", documents.len());
    for (kind, floor) in floors {
        assert!(shares[kind] >= floor, "{kind}: {:.1}% instead of {floor}%", shares[kind]);
    }
}

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("AGENT_SPACES_CORPUS").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join("questions.jsonl").is_file());
    if folder.is_none() {
        say_skipped("AGENT_SPACES_CORPUS names no folder with questions.jsonl");
    }
    folder
}

/// Bypasses the capture of the test harness: a skipped test has not passed.
fn say_skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Returns every function as `file/name`, with its document.
fn functions(folder: &Path) -> (Vec<String>, Vec<Document>) {
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("servers")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let list: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for tool in list["tools"].as_array().unwrap() {
            let parameters = tool["inputSchema"]["properties"].as_object();
            let document = Document {
                // Without the registry, which is not part of a server's name.
                server: stem.split_once("__").map_or(stem, |(_, name)| name).to_owned(),
                name: text(&tool["name"]),
                title: text(tool.get("title").unwrap_or(&tool["annotations"]["title"])),
                description: text(&tool["description"]),
                parameters: parameters
                    .into_iter()
                    .flatten()
                    .map(|(name, schema)| Parameter { name: name.clone(), description: text(&schema["description"]) })
                    .collect(),
            };
            all.push((format!("{stem}/{}", document.name), document));
        }
    }
    all.into_iter().unzip()
}
