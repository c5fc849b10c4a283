//! Memory leaks: hostile runs leave no memory behind in the host. In its own process, since it reads the process's
//! memory.

use agent_spaces::{Handlers, Limits};
use agent_spaces_tests::{run_with, space, value};
use serde_json::json;
use std::time::Duration;

const SCRIPTS: [&str; 10] = [
    "while (true) {}",
    "const a = []; for (;;) a.push(new Uint8Array(1 << 20))",
    "const f = () => f() + 1; f()",
    "for (;;) console.log('x'.repeat(1000))",
    "'x'.repeat(9 << 20)",
    "for (;;) await 0",
    "await new Promise(() => {})",
    "import { io } from '@test/io'; for (;;) await io.echo('x'.repeat(1e5))",
    "import { io } from '@test/io'; await Promise.all(Array.from({ length: 300 }, () => io.never()))",
    "import { io } from '@test/io'; for (let i = 0; i < 100; i++) io.never(); throw new Error('gone')",
];

/// Bytes of memory that the process holds.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("resident pages");
    pages * 4096
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_hostile_runs_leave_no_memory_behind() {
    let wit = "package test:io@1.0.0; interface io { echo: async func(text: string) -> string; never: async func() -> string; }";
    let mut handlers = Handlers::new();
    handlers.add("test:io/io@1.0.0", "echo", |call| async move { Ok(call.params["text"].clone()) });
    handlers.add("test:io/io@1.0.0", "never", |_| std::future::pending());
    let space = space(wit, handlers);
    let limits = Limits { fuel: 100_000_000, time: Duration::from_secs(20), ..Limits::default() };
    let mut settled = 0;
    for round in 0..24 {
        for source in SCRIPTS {
            let report = run_with(&space, source, limits.clone()).await;
            assert!(report.outcome.is_err(), "{source}");
        }
        if round == 3 {
            settled = resident();
        }
    }
    let grown = resident().saturating_sub(settled);
    assert!(grown < 64 << 20, "200 runs grew the process by {} KiB", grown >> 10);
    assert_eq!(value(&space, "1 + 1").await, json!(2));
}
