//! Benchmark of building, serializing and searching: `cargo run --release -p agent-spaces-search --example speed --
//! 10000`. With the folder of a sentence model as a second argument, also of searching with it.
//!
//! The functions are made up of words with a realistic frequency distribution: few are common, many are rare.

use agent_spaces_search::{Document, Index, Model, Parameter, Sentences};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SYLLABLES: [&str; 16] =
    ["ka", "re", "mo", "sti", "lan", "tor", "ve", "ni", "pro", "du", "fel", "gra", "hy", "com", "ex", "ul"];
const QUERIES: [&str; 4] = [
    "find the flights that leave on Monday",
    "creat a new repositry for the team",
    "our containers keep crashing in the cluster and I want to know why",
    "give the customer who complained about a broken parcel yesterday their money back and tell them we are sorry",
];

/// Linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    fn word(&mut self) -> String {
        // A random number below a random limit: small ones are common.
        let most = 1 + self.below(20_000);
        let rank = self.below(most);
        let digits = [rank % 16, rank / 16 % 16, rank / 256 % 16, rank / 4096 % 16];
        digits
            .iter()
            .take(2 + usize::from(rank > 256) + usize::from(rank > 4096))
            .map(|digit| SYLLABLES[*digit as usize])
            .collect()
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).map_or(Ok(10_000), |argument| argument.parse())?;
    let mut numbers = Numbers(1);
    let documents: Vec<Document> = (0..count)
        .map(|at| Document {
            server: format!("server {}", at / 30),
            name: numbers.text(3),
            title: numbers.text(4),
            description: numbers.text(60),
            parameters: (0..5).map(|_| Parameter { name: numbers.text(2), description: numbers.text(8) }).collect(),
        })
        .collect();
    let started = Instant::now();
    let index = Index::build(&documents)?;
    println!("{count} functions built in {:?}", started.elapsed());
    let started = Instant::now();
    let bytes = index.to_bytes();
    println!("written in {:?}: {} bytes", started.elapsed(), bytes.len());
    let started = Instant::now();
    let index = Index::from_bytes(&bytes)?;
    println!("read in {:?}", started.elapsed());
    ask(&index, None);
    if let Some(folder) = std::env::args().nth(2) {
        let started = Instant::now();
        let model = Arc::new(Model::open(Path::new(&folder))?);
        println!("model read in {:?}", started.elapsed());
        // The cost of a search depends only on the number of functions, not on their embeddings.
        let started = Instant::now();
        let part = Sentences::new(model.clone(), documents.get(..20).unwrap_or(&documents));
        println!("model asked about {} functions in {:?}", part.len(), started.elapsed());
        let mut all = Sentences::new(model, &[]);
        while all.len() < count {
            all.append(&part);
        }
        ask(&index, Some(&all));
    }
    Ok(())
}

fn ask(index: &Index, sentences: Option<&Sentences>) {
    let with = if sentences.is_some() { "with the model" } else { "without a model" };
    let mut all = Vec::new();
    for query in QUERIES {
        let mut times: Vec<Duration> = (0..50)
            .map(|_| {
                let started = Instant::now();
                std::hint::black_box(index.search_with(sentences, query, 10, |_| true));
                started.elapsed()
            })
            .collect();
        times.sort();
        println!("{with}: {:?} (median), {:?} (slowest): {query}", times[25], times[49]);
        all.extend(times);
    }
    all.sort();
    println!("{with}, all: {:?} (median), {:?} (99th of 100)", all[all.len() / 2], all[all.len() * 99 / 100]);
}
