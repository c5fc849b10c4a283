//! Known attacks, each with the outcome of its run, and random inputs.

use super::HostileGuest;
use agent_spaces_sandbox::run::RunReport;
use std::time::{Duration, Instant};

/// A word of an instruction, as the interpreter reads it.
#[derive(Clone, Copy)]
enum Word {
    Small(u8),
    Any(u32),
    /// Offset before the end of memory.
    MemoryEnd(u8),
    Last,
    /// A pointer to scratch memory, in units of eight bytes.
    Scratch(u8),
    /// A pointer to scratch memory that need not be aligned.
    Odd(u16),
}
use Word::{Any, Last, MemoryEnd, Odd, Scratch, Small};

/// Builder of instructions.
struct Attack<'a> {
    guest: &'a HostileGuest,
    bytes: Vec<u8>,
}

impl Attack<'_> {
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
        words.iter().fold(self, |attack, word| attack.word(*word))
    }

    fn call(mut self, name: &str, words: &[Word]) -> Self {
        self.bytes.push(9);
        self.function(name).words(words)
    }

    /// Calls a function 64 times per count.
    fn repeat(mut self, count: u8, name: &str, words: &[Word]) -> Self {
        self.bytes.extend([8, count]);
        self.function(name).words(words)
    }

    fn write(mut self, offset: u8, bytes: &[u8]) -> Self {
        self.bytes.extend([1, offset, bytes.len() as u8]);
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

/// Returns `ok` or the error code.
fn ending(report: &RunReport) -> &str {
    report.outcome.as_ref().map_or_else(|error| error.code.as_str(), |_| "ok")
}

const CONSOLE: &str = "console@0.1.0 write";
const RETURN: &str = "[task-return]run";
const NEW_SET: &str = "[waitable-set-new]";
const SLEEP: &str = "[async-lower]sleep";
const REFUSE: &str = "refusals@0.1.0 refuse";

/// Returns the words of a refusal with this many issues.
fn refusal(issues: Word) -> [Word; 10] {
    let name = [Scratch(1), Small(3)];
    [name[0], name[1], name[0], name[1], Small(0), Small(0), Small(0), Scratch(1), issues, Scratch(40)]
}

/// All runs use the same engine; after each group an ordinary script still gives its value.
#[tokio::test]
async fn every_known_attack_ends_with_its_outcome() {
    let guest = HostileGuest::new().unwrap();
    let attack = || Attack { guest: &guest, bytes: Vec::new() };
    let wait = &[5][..];
    let cases: Vec<(&str, &str, Attack<'_>)> = vec![
        ("an honest end", "ok", attack()),
        ("honest output", "ok", attack().call(CONSOLE, &[Small(0), Scratch(1), Small(3)])),
        ("no answer", "host.engine_fault", attack().op(&[7])),
        ("two answers", "host.engine", attack().call(RETURN, &[Scratch(0)]).call(RETURN, &[Scratch(0)])),
        ("an answer beyond memory", "host.engine", attack().call(RETURN, &[MemoryEnd(4)])),
        ("an answer that is not aligned", "host.engine", attack().call(RETURN, &[Odd(1)])),
        ("an answer of no case", "host.engine", attack().write(0, &[9]).call(RETURN, &[Scratch(0)])),
        ("an answer that is not JSON", "host.engine", attack().write(0, &[0]).call(RETURN, &[Scratch(0)]).op(&[7])),
        ("nonsense returned", "host.engine_fault", attack().op(&[4]).word(Any(0xffff_ffff))),
        ("a level that there is not", "host.engine", attack().call(CONSOLE, &[Small(200), Scratch(0), Small(1)])),
        ("text beyond memory", "host.engine", attack().call(CONSOLE, &[Small(0), MemoryEnd(4), Small(8)])),
        ("text without end", "host.engine", attack().call(CONSOLE, &[Small(0), Scratch(0), Any(u32::MAX)])),
        (
            "text that is not UTF-8",
            "host.engine",
            attack().write(0, b"\xff\xfe\xfd").call(CONSOLE, &[Small(0), Scratch(0), Small(3)]),
        ),
        ("output without end", "limit.console", attack().repeat(40, CONSOLE, &[Small(0), Scratch(0), Small(40)])),
        ("a record that is not aligned", "host.engine", attack().call(" echo-still", &[Odd(3), Scratch(0)])),
        ("a result beyond memory", "host.engine", attack().call("all@1.0.0 give", &[Small(3), MemoryEnd(2)])),
        (
            "a list without end",
            "host.engine",
            attack().call("all@1.0.0 texts", &[Scratch(0), Any(0x2000_0000), Scratch(40)]),
        ),
        ("JSON that is none", "host.engine", attack().call("all@1.0.0 parse", &[Scratch(0), Small(2), Scratch(40)])),
        (
            "a character that is none",
            "host.engine",
            attack().call(
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
            attack().realloc(1, MemoryEnd(1)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation that is not aligned",
            "host.engine",
            attack().realloc(7, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation over what there is",
            "ok",
            attack().realloc(6, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation that calls the host",
            "host.engine_fault",
            attack().realloc(3, Small(3)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation that traps",
            "host.engine_fault",
            attack().realloc(5, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        (
            "an allocation without end",
            "limit.fuel",
            attack().realloc(4, Small(0)).call("all@1.0.0 give", &[Small(9), Scratch(40)]),
        ),
        ("memory without end", "limit.memory", attack().op(&[3, 255])),
        ("a set that there is not", "host.engine", attack().op(&[4]).word(Any(7 << 4 | 2))),
        (
            "a set that is dropped twice",
            "host.engine",
            attack().call(NEW_SET, &[]).call("[waitable-set-drop]", &[Last]).call("[waitable-set-drop]", &[Last]),
        ),
        ("a set joined to itself", "host.engine", attack().call(NEW_SET, &[]).call("[waitable-join]", &[Last, Last])),
        ("a subtask that there is not", "host.engine", attack().call("[subtask-drop]", &[Small(77)])),
        ("a cancelled subtask that there is not", "host.engine", attack().call("$root [subtask-cancel]", &[Small(77)])),
        (
            "sets without end",
            "limit.inflight",
            attack().repeat(255, NEW_SET, &[]).repeat(255, NEW_SET, &[]).repeat(255, NEW_SET, &[]),
        ),
        (
            "sleeps without end",
            "limit.inflight",
            attack().repeat(255, SLEEP, &[Any(u32::MAX), Any(u32::MAX)]).repeat(
                255,
                SLEEP,
                &[Any(u32::MAX), Any(u32::MAX)],
            ),
        ),
        ("calls without end", "limit.inflight", attack().repeat(8, "[async-lower]late", &[Any(u32::MAX), Scratch(40)])),
        ("waiting for a set with nothing in it", "host.engine_fault", attack().call(NEW_SET, &[]).op(wait)),
        (
            "a snapshot that nobody takes",
            "host.engine",
            attack().call("snapshots@0.1.0 take", &[Scratch(0), Any(0x10000)]),
        ),
        ("a module that there is not", "ok", attack().call("modules@0.1.0 load", &[Scratch(1), Small(3), Scratch(40)])),
        (
            "a module's name beyond memory",
            "host.engine",
            attack().call("modules@0.1.0 load", &[MemoryEnd(1), Small(3), Scratch(40)]),
        ),
        ("a refusal of a function that there is not", "host.engine", attack().call(REFUSE, &refusal(Small(0)))),
        ("a refusal with issues beyond memory", "host.engine", attack().call(REFUSE, &refusal(Any(u32::MAX)))),
        (
            "failures without end",
            "call.failed",
            attack().repeat(
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
        ("yielding for ever", "ok", attack().op(&[6; 40])),
    ];
    let mut wrong = Vec::new();
    for (name, expected, attack) in &cases {
        let report = guest.run(&attack.bytes).await;
        if ending(&report) != *expected {
            wrong.push(format!("{name}: expected {expected}, ended with {:?}", report.outcome));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let honest = guest.run_honestly().await;
    assert_eq!(honest.outcome.unwrap(), serde_json::json!(["as", "ever"]));
}

/// Number of random inputs, unless `AGENT_SPACES_FUZZ_SECONDS` sets a duration.
const RANDOM_INPUTS: u64 = 1_500;

/// Far more than the limits of one run allow, even on a slow machine.
const MAX_RUN: Duration = Duration::from_secs(60);

/// No random input panics, hangs, or ends with an unknown code.
#[tokio::test]
async fn random_inputs_end_with_a_report() {
    let guest = HostileGuest::new().unwrap();
    let seconds = std::env::var("AGENT_SPACES_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // With a duration set, every test run has other inputs.
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
    // If all inputs failed at once, or all did nothing, nothing would be tested.
    assert!(fine > 0 && fine < inputs, "{fine} of {inputs} inputs ended well");
    assert!(guest.run_honestly().await.outcome.is_ok(), "an honest run after {inputs} hostile ones");
}

/// Returns the instructions of one seed: some dozens of bytes, biased to low ones, so that most words are meaningful.
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
