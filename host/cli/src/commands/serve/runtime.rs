//! Async runtime of the server, whose threads are all there from the start.
//!
//! A thread inherits the priority of the one that starts it, and cannot raise it. Runs are polled by threads of a lower
//! priority, or of a still lower one (`host/rest/src/places/processors/`). A blocking thread that one of them started would be as
//! low, and serve all tenants for as long as it is kept. So would those that wasmtime compiles with.

use crate::commands::failure::Failure;
use agent_spaces::Code;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Blocking threads: files, names of hosts, and what waits for locks. One that has nothing to do takes some kilobytes.
const BLOCKING_THREADS: usize = 256;

/// Time for which an idle one is kept: longer than any server lives.
const KEPT: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Longest wait for all of them. Where the system allows fewer, those that are missing are started when they are needed.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Steps by which threads that compile are below those that serve, like those that poll runs.
#[cfg(target_os = "linux")]
const COMPILERS_LOWER: i32 = 5;

/// Threads that have been started, and news of it.
#[derive(Default)]
struct Started(Mutex<usize>, Condvar);

/// Starts the runtime.
pub(super) fn start() -> Result<Runtime, Failure> {
    start_compilers();
    let mut builder = Builder::new_multi_thread();
    builder.enable_all().max_blocking_threads(BLOCKING_THREADS).thread_keep_alive(KEPT);
    let runtime = builder.build();
    let runtime = runtime.map_err(|error| Failure::new(Code::HostRuntime, error.to_string(), None))?;
    let started = Arc::new(Started::default());
    for _ in 0..BLOCKING_THREADS {
        let started = started.clone();
        // It waits for the others, so that none of them does the work of two.
        drop(runtime.spawn_blocking(move || started.wait(1)));
    }
    started.wait(0);
    Ok(runtime)
}

/// Starts the threads that wasmtime compiles with, all with one priority, whoever compiles first.
fn start_compilers() {
    let start = || {
        // On Linux it is of the thread, not of the process.
        #[cfg(target_os = "linux")]
        let _is_equal_otherwise = rustix::process::nice(COMPILERS_LOWER);
        let pool = rayon::ThreadPoolBuilder::new().thread_name(|number| format!("compiler-{number}"));
        // If there is one already, it compiles.
        let _is_there = pool.build_global();
    };
    // Where no thread can be started, whoever compiles first starts them.
    let _is_ended = std::thread::Builder::new().spawn(start).map(std::thread::JoinHandle::join);
}

impl Started {
    /// Counts some threads, and waits for all.
    fn wait(&self, more: usize) {
        let Started(count, news) = self;
        let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += more;
        if *count >= BLOCKING_THREADS {
            news.notify_all();
        }
        let waited = news.wait_timeout_while(count, MAX_WAIT, |count| *count < BLOCKING_THREADS);
        drop(waited);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{BLOCKING_THREADS, COMPILERS_LOWER, start};
    use rustix::process::{getpriority_process, nice};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn blocking_threads_are_not_as_low_as_those_that_ask_for_them() {
        let runtime = start().ok().unwrap();
        let (own, handle) = (getpriority_process(None).unwrap(), runtime.handle().clone());
        let (sender, priorities) = channel();
        let asking = move || {
            // Of this thread alone.
            nice(5).unwrap();
            for _ in 0..BLOCKING_THREADS / 2 {
                let sender = sender.clone();
                handle.spawn_blocking(move || {
                    // Long enough that each has a thread of its own.
                    std::thread::sleep(Duration::from_millis(50));
                    sender.send(getpriority_process(None).unwrap()).unwrap();
                });
            }
        };
        std::thread::spawn(asking).join().unwrap();
        let priorities: Vec<i32> = priorities.iter().collect();
        assert_eq!(priorities, vec![own; BLOCKING_THREADS / 2]);
        let compilers = rayon::broadcast(|_| getpriority_process(None).unwrap());
        assert!(compilers.iter().all(|priority| *priority == own + COMPILERS_LOWER), "{compilers:?} beside {own}");
    }
}
