//! Lies that are written down, each with how its run ends, and many that are random.

use super::HostileGuest;
use crate::run::RunReport;
use std::time::{Duration, Instant};

/// A word of an instruction, as the interpreter reads it.
#[derive(Clone, Copy)]
enum Word {
    Small(u8),
    Any(u32),
    /// So far before the end of memory.
    MemoryEnd(u8),
    Last,
    /// A pointer to scratch memory, in units of eight bytes.
    Scratch(u8),
    /// A pointer to scratch memory that need not be aligned.
    Odd(u16),
}
use Word::{Any, Last, MemoryEnd, Odd, Scratch, Small};

/// Instructions, put together.
struct Lie<'a> {
    guest: &'a HostileGuest,
    bytes: Vec<u8>,
}

impl Lie<'_> {
    fn word(mut self, word: Word) -> Self {
        match word {
            Small(value) => self.bytes.extend([0, value]),
            Any(value) => self.bytes.extend([&[1][..], &value.to_le_bytes()].concat()),
            MemoryEnd(before) => self.bytes.extend([2, before]),
            Last => self.bytes.push(4),
            Scratch(at) => self.bytes.extend([5, at]),
            Odd(at) => self.bytes.extend([&[7][..], &at.to_le_bytes()].concat()),
        }
        self
    }

    fn function(mut self, name: &str) -> Self {
        let index = self.guest.imports().iter().position(|import| import.ends_with(name));
        self.bytes.push(index.unwrap_or_else(|| panic!("no {name} among {:?}", self.guest.imports())) as u8);
        self
    }

    fn words(self, words: &[Word]) -> Self {
        words.iter().fold(self, |lie, word| lie.word(*word))
    }

    fn call(mut self, name: &str, words: &[Word]) -> Self {
        self.bytes.push(9);
        self.function(name).words(words)
    }

    /// Calls a function 64 times to a count.
    fn repeat(mut self, count: u8, name: &str, words: &[Word]) -> Self {
        self.bytes.extend([8, count]);
        self.function(name).words(words)
    }

    fn write(mut self, place: u8, bytes: &[u8]) -> Self {
        self.bytes.extend([1, place, bytes.len() as u8]);
        self.bytes.extend(bytes);
        self
    }

    fn realloc(mut self, mode: u8, value: Word) -> Self {
        self.bytes.extend([2, mode]);
        self.word(value)
    }

    fn op(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }
}

/// `ok` or the code of its error.
fn ending(report: &RunReport) -> &str {
    report.outcome.as_ref().map_or_else(|error| error.code.as_str(), |_| "ok")
}

const CONSOLE: &str = "console@0.1.0 write";
const RETURN: &str = "[task-return]run";
const NEW_SET: &str = "[waitable-set-new]";
const SLEEP: &str = "[async-lower]sleep";
const REFUSE: &str = "refusals@0.1.0 refuse";

/// What a guest refuses, with so many issues.
fn refusal(issues: Word) -> [Word; 10] {
    let name = [Scratch(1), Small(3)];
    [name[0], name[1], name[0], name[1], Small(0), Small(0), Small(0), Scratch(1), issues, Scratch(40)]
}

/// Every run on the same engine; an honest one after each group still gives its value.
#[tokio::test]
async fn every_lie_that_is_written_down_ends_as_it_says() {
    let guest = HostileGuest::new().unwrap();
    let lie = || Lie { guest: &guest, bytes: Vec::new() };
    let wait = &[5][..];
    let cases: Vec<(&str, &str, Lie<'_>)> = vec![
        ("an honest end", "ok", lie()),
        ("honest output", "ok", lie().call(CONSOLE, &[Small(0), Scratch(1), Small(3)])),
        ("no answer", "host.engine_fault", lie().op(&[7])),
        ("two answers", "host.engine", lie().call(RETURN, &[Scratch(0)]).call(RETURN, &[Scratch(0)])),
        ("an answer beyond memory", "host.engine", lie().call(RETURN, &[MemoryEnd(4)])),
        ("an answer that is not aligned", "host.engine", lie().call(RETURN, &[Odd(1)])),
        ("an answer of no case", "host.engine", lie().write(0, &[9]).call(RETURN, &[Scratch(0)])),
        ("an answer that is not JSON", "host.engine", lie().write(0, &[0]).call(RETURN, &[Scratch(0)]).op(&[7])),
        ("nonsense returned", "host.engine_fault", lie().op(&[4]).word(Any(0xffff_ffff))),
        ("a level that there is not", "host.engine", lie().call(CONSOLE, &[Small(200), Scratch(0), Small(1)])),
        ("text beyond memory", "host.engine", lie().call(CONSOLE, &[Small(0), MemoryEnd(4), Small(8)])),
        ("text without end", "host.engine", lie().call(CONSOLE, &[Small(0), Scratch(0), Any(u32::MAX)])),
        (
            "text that is not UTF-8",
            "host.engine",
            lie().write(0, b"\xff\xfe\xfd").call(CONSOLE, &[Small(0), Scratch(0), Small(3)]),
        ),
        ("output without end", "limit.console", lie().repeat(40, CONSOLE, &[Small(0), Scratch(0), Small(40)])),
        ("a record that is not aligned", "host.engine", lie().call(" echo-still", &[Odd(3), Scratch(0)])),
        ("a result beyond memory", "host.engine", lie().call("all@1.0.0 give", &[Small(3), MemoryEnd(2)])),
        (
            "a list without end",
            "host.engine",
            lie().call("all@1.0.0 texts", &[Scratch(0), Any(0x2000_0000), Scratch(40)]),
        ),
        ("JSON that is none", "host.engine", lie().call("all@1.0.0 parse", &[Scratch(0), Small(2), Scratch(40)])),
        (
            "a character that is none",
            "host.engine",
            lie().call(
                "all@1.0.0 fail",
                &[
                    Small(2),
                    Any(0xd800),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Scratch(40),
                ],
            ),
        ),
        (
            "an allocation beyond memory",
            "host.engine",
            lie().realloc(1, MemoryEnd(1)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation that is not aligned",
            "host.engine",
            lie().realloc(7, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation over what there is",
            "ok",
            lie().realloc(6, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation that calls the host",
            "host.engine_fault",
            lie().realloc(3, Small(3)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation that traps",
            "host.engine_fault",
            lie().realloc(5, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation without end",
            "limit.fuel",
            lie().realloc(4, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        ("memory without end", "limit.memory", lie().op(&[3, 255])),
        ("a set that there is not", "host.engine", lie().op(&[4]).word(Any(7 << 4 | 2))),
        (
            "a set that is dropped twice",
            "host.engine",
            lie().call(NEW_SET, &[]).call("[waitable-set-drop]", &[Last]).call("[waitable-set-drop]", &[Last]),
        ),
        ("a set joined to itself", "host.engine", lie().call(NEW_SET, &[]).call("[waitable-join]", &[Last, Last])),
        ("a subtask that there is not", "host.engine", lie().call("[subtask-drop]", &[Small(77)])),
        ("a cancelled subtask that there is not", "host.engine", lie().call("$root [subtask-cancel]", &[Small(77)])),
        (
            "sets without end",
            "limit.inflight",
            lie().repeat(255, NEW_SET, &[]).repeat(255, NEW_SET, &[]).repeat(255, NEW_SET, &[]),
        ),
        (
            "sleeps without end",
            "limit.inflight",
            lie().repeat(255, SLEEP, &[Any(u32::MAX), Any(u32::MAX)]).repeat(
                255,
                SLEEP,
                &[Any(u32::MAX), Any(u32::MAX)],
            ),
        ),
        ("calls without end", "limit.inflight", lie().repeat(8, "[async-lower]late", &[Any(u32::MAX), Scratch(40)])),
        ("waiting for a set with nothing in it", "host.engine_fault", lie().call(NEW_SET, &[]).op(wait)),
        (
            "a snapshot that nobody takes",
            "host.engine",
            lie().call("snapshots@0.1.0 take", &[Scratch(0), Any(0x10000)]),
        ),
        ("a module that there is not", "ok", lie().call("modules@0.1.0 load", &[Scratch(1), Small(3), Scratch(40)])),
        (
            "a module's name beyond memory",
            "host.engine",
            lie().call("modules@0.1.0 load", &[MemoryEnd(1), Small(3), Scratch(40)]),
        ),
        ("a refusal of a function that there is not", "host.engine", lie().call(REFUSE, &refusal(Small(0)))),
        ("a refusal with issues beyond memory", "host.engine", lie().call(REFUSE, &refusal(Any(u32::MAX)))),
        (
            "failures without end",
            "call.failed",
            lie().repeat(
                1,
                "all@1.0.0 fail",
                &[
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Small(0),
                    Scratch(40),
                ],
            ),
        ),
        ("yielding for ever", "ok", lie().op(&[6; 40])),
    ];
    let mut wrong = Vec::new();
    for (name, expected, lie) in &cases {
        let report = guest.run(&lie.bytes).await;
        if ending(&report) != *expected {
            wrong.push(format!("{name}: expected {expected}, ended with {:?}", report.outcome));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let honest = guest.run_honestly().await;
    assert_eq!(honest.outcome.unwrap(), serde_json::json!(["as", "ever"]));
}

/// How many random inputs there are, unless `AGENT_SPACES_FUZZ_SECONDS` says for how long to go on.
const RANDOM_INPUTS: u64 = 1_500;

/// Far more than the limits of one such run allow, however slow the machine.
const MAX_RUN: Duration = Duration::from_secs(60);

/// Nothing that is random panics, hangs, or ends in a way that has no name.
#[tokio::test]
async fn random_lies_end_with_a_report() {
    let guest = HostileGuest::new().unwrap();
    let seconds = std::env::var("AGENT_SPACES_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // With a time to go on for, every run of the tests has other inputs.
    let mut seed = if until.is_some() { getrandom::u64().unwrap() } else { 0 };
    let (mut inputs, mut fine) = (0, 0);
    while until.map_or(inputs < RANDOM_INPUTS, |until| Instant::now() < until) {
        let input = random(seed);
        let begun = Instant::now();
        let report = guest.run(&input).await;
        assert!(begun.elapsed() < MAX_RUN, "seed {seed} took {:?}", begun.elapsed());
        match report.outcome {
            Ok(_) => fine += 1,
            Err(error) => {
                assert!(!error.message.is_empty() || !error.code.starts_with("host."), "seed {seed}: {error:?}")
            }
        }
        (inputs, seed) = (inputs + 1, seed.wrapping_add(1));
    }
    // Inputs that all fail at once, or that all do nothing, would try nothing.
    assert!(fine > 0 && fine < inputs, "{fine} of {inputs} inputs ended well");
    assert!(guest.run_honestly().await.outcome.is_ok(), "an honest run after {inputs} hostile ones");
}

/// Instructions of one seed: some dozens of bytes, low ones more often, so that most words mean something.
fn random(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    };
    let length = next() % 120;
    (0..length).map(|_| if next() % 3 == 0 { next() as u8 } else { (next() % 48) as u8 }).collect()
}
