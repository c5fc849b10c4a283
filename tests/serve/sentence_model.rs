//! Search with a sentence model.

use crate::mcp::support::Project;
use crate::serve::agent::Agent;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The pieces of a model that knows four words, and what each means: `zorp` the same as `flim`, `vask` the same as `grumm`.
const PIECES: [(&str, f32); 7] =
    [("[UNK]", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("zorp", 1.0), ("flim", 1.0), ("vask", -1.0), ("grumm", -1.0)];

#[test]
fn a_sentence_model_finds_what_words_do_not() {
    let project = project();
    write_model(&project.path("model"));
    project.trust();
    let mut agent = Agent::of(&project, &[]);
    let begun = Instant::now();
    let is_found = |agent: &mut Agent| {
        let mut is_first = |query: &str, name: &str| agent.search(query).starts_with(&format!("odd.{name}("));
        is_first("zorp", "flim") && is_first("vask", "grumm")
    };
    while !is_found(&mut agent) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", agent.search("zorp"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn an_unreadable_model_is_reported() {
    let project = project();
    project.trust();
    let said = stderr_until(&project, "error[");
    for part in ["config.search-model", "config.json", "codeMode.searchModel", "a model is a folder with"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_model_of_an_untrusted_configuration_is_not_loaded() {
    let said = stderr_until(&project(), "codeMode");
    assert!(said.contains("`codeMode.searchModel` is not used until you run `agent-spaces trust"), "{said}");
    assert!(!said.contains("config.search-model"), "{said}");
}

/// Returns the server's stderr up to this text.
fn stderr_until(project: &Project, awaited: &str) -> String {
    let mut command = project.command(&["mcp", "serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut said: Vec<String> = Vec::new();
    while !said.last().is_some_and(|line| line.contains(awaited)) {
        said.push(lines.next().unwrap_or_else(|| panic!("{said:?}")));
    }
    // Its client goes away.
    drop(child.stdin.take());
    said.extend(lines);
    child.wait().unwrap();
    said.join("\n")
}

/// Project with two functions, whose model folder does not exist yet.
fn project() -> Project {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let project = Project::empty();
    project.write("tools.json", &json!({ "tools": [tool("grumm"), tool("flim")] }).to_string());
    project.configure(json!({
        "mcpServers": { "odd": { "command": "no-such-program", "tools": "tools.json" } },
        "capabilities": { "global": ["mcp:odd"] },
        "codeMode": { "searchModel": "./model" },
    }));
    project
}

/// Two dimensions and one layer that adds nothing.
fn write_model(folder: &Path) {
    std::fs::create_dir(folder).unwrap();
    let config = json!({
        "model_type": "bert", "hidden_act": "gelu", "num_hidden_layers": 1, "num_attention_heads": 1, "hidden_size": 2,
        "intermediate_size": 2, "vocab_size": PIECES.len(), "max_position_embeddings": 64, "type_vocab_size": 1,
        "layer_norm_eps": 1e-12,
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.join("vocab.txt"), PIECES.map(|(piece, _)| piece).join("\n")).unwrap();

    let words: Vec<f32> = PIECES.iter().flat_map(|(_, value)| [*value, -value]).collect();
    let mut parts = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![PIECES.len(), 2], words),
        ("embeddings.position_embeddings.weight".to_owned(), vec![64, 2], vec![0.0; 128]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![1, 2], vec![0.0; 2]),
    ];
    let layer = "encoder.layer.0.";
    let linear = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"];
    for name in linear.iter().chain(&["intermediate.dense", "output.dense"]) {
        parts.push((format!("{layer}{name}.weight"), vec![2, 2], vec![0.0; 4]));
        parts.push((format!("{layer}{name}.bias"), vec![2], vec![0.0; 2]));
    }
    for name in ["embeddings.", &format!("{layer}attention.output."), &format!("{layer}output.")] {
        parts.push((format!("{name}LayerNorm.weight"), vec![2], vec![1.0; 2]));
        parts.push((format!("{name}LayerNorm.bias"), vec![2], vec![0.0; 2]));
    }
    let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
    for (name, shape, values) in parts {
        let from = numbers.len();
        numbers.extend(values.into_iter().flat_map(f32::to_le_bytes));
        header.insert(name, json!({ "dtype": "F32", "shape": shape, "data_offsets": [from, numbers.len()] }));
    }
    let header = Value::Object(header).to_string();
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &numbers].concat();
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
}
