//! Benchmark of redaction with twenty secrets, in nanoseconds per KiB:
//! `cargo run --release -p agent-spaces-mcp --example redaction_cost`.

use agent_spaces_mcp::secrets::{Redactor, Secret};
use serde_json::json;
use std::hint::black_box;
use std::time::Instant;

const SECRETS: usize = 20;
const SIZE: usize = 64 << 10;
const ROUNDS: usize = 400;

fn main() {
    let redactor = Redactor::default();
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[(state >> 33) as usize % 62])
    };
    for _ in 0..SECRETS {
        redactor.add(&Secret::new(format!("ghp_{}", (0..36).map(|_| letter()).collect::<String>())));
    }
    let begun = Instant::now();
    black_box(redactor.text("the first text"));
    println!("{SECRETS} secrets, first text          {:>8.1} µs", begun.elapsed().as_secs_f64() * 1e6);
    let prose = "The train to the coast leaves at nine, and the one after it at a quarter to ten; bring a coat. ";
    let page =
        "<li class=\"row\"><a href=\"/find?q=a%20b&amp;n=2\">Tom &amp; Jerry&#39;s &lt;new&gt; caf&eacute;</a></li>\n";
    let code = r#"{\"name\": \"a\\b\", \"path\": \"c:\\dir\\file\", \"text\": \"line\\u00e9\"} "#;
    for (name, sample) in [("prose", prose), ("a web page", page), ("JSON in a string", code)] {
        let text: String = sample.chars().cycle().take(SIZE).collect();
        measure(name, text.len(), || drop(black_box(redactor.text(black_box(&text)))));
    }
    let mut value = json!((0..400).map(|n| json!({ "id": n, "title": prose, "done": true })).collect::<Vec<_>>());
    let length = value.to_string().len();
    measure("a list of records", length, || redactor.value(black_box(&mut value)));
    let none = Redactor::default();
    measure("the same, no secret known", length, || none.value(black_box(&mut value)));
}

fn measure(name: &str, bytes: usize, mut work: impl FnMut()) {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        work();
        least = least.min(begun.elapsed().as_secs_f64());
    }
    println!("{name:<30} {:>8.1} ns/KiB", least * 1e9 / (bytes as f64 / 1024.0));
}
