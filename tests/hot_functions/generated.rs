//! Generated programs, with and without compiled functions: a differential fuzzer.
//!
//! `AGENT_SPACES_FUZZ_SECONDS` sets how long it runs, `AGENT_SPACES_FUZZ_SEED` the first seed. A failure names the seed of its
//! program, which is printed.

mod writer;

use super::{LONG, Pair, heat, observable, pair, run};
use agent_spaces::Limits;
use std::time::{Duration, Instant};
use writer::program;

/// Programs without a duration; each has [`writer::FUNCTIONS`] functions.
const PROGRAMS: u64 = 12;

/// The same for a program that may have no functions to compile.
const PATIENCE: Duration = Duration::from_secs(3);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Programs between two lines that tell how far it is.
const PROGRESS: u64 = 500;

/// Runs one program both ways. Returns how many of its functions were compiled; if none was, nothing is compared.
async fn check(pair: &Pair, seed: u64) -> usize {
    let source = program(seed);
    let (on, off) = (pair.on.prepare("agent.js", &source), pair.off.prepare("agent.js", &source));
    let (on, off) = (on.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}")), off.unwrap());
    if !heat(&on, PATIENCE).await {
        return 0;
    }
    // The second limit ends it somewhere.
    for fuel in [60_000_000, 200_000 + seed.wrapping_mul(7_919) % 3_000_000] {
        let limits = Limits { fuel, time: LONG, ..Limits::default() };
        let (expected, found) = (observable(&run(&off, &limits).await), observable(&run(&on, &limits).await));
        if expected != found {
            let (expected, found) = (expected.to_string(), found.to_string());
            let same = expected.bytes().zip(found.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(200);
            let shown = |text: &str| text.get(same..).map(|rest| rest.chars().take(600).collect::<String>());
            panic!(
                "seed {seed}, fuel {fuel}:\n{:?}\nis without compiled functions\n{:?}\n{source}",
                shown(&found),
                shown(&expected)
            );
        }
    }
    on.compiled_functions()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_programs_behave_the_same() {
    let pair = pair();
    let duration = number("AGENT_SPACES_FUZZ_SECONDS").map(Duration::from_secs);
    let first = number("AGENT_SPACES_FUZZ_SEED").unwrap_or(1);
    let started = Instant::now();
    let (mut seed, mut programs, mut compiled) = (first, 0, 0);
    while duration.map_or(programs < PROGRAMS, |duration| started.elapsed() < duration) {
        let found = check(&pair, seed).await;
        seed = seed.wrapping_add(1);
        let tried = seed.wrapping_sub(first);
        assert!(
            tried < PROGRAMS || programs >= tried / 4,
            "of {tried} programs, functions of {programs} were compiled"
        );
        compiled += found;
        programs += u64::from(found > 0);
        if found > 0 && programs % PROGRESS == 0 {
            say(programs, compiled, first, seed);
        }
    }
    say(programs, compiled, first, seed);
}

/// Tells how many programs were compared, and their seeds.
fn say(programs: u64, compiled: usize, first: u64, end: u64) {
    let functions = programs * writer::FUNCTIONS as u64;
    eprintln!(
        "{programs} programs with {functions} functions, of which {compiled} were compiled; seeds from {first} to {end}"
    );
}
