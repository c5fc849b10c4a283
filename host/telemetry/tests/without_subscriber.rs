//! Cost of spans in a process without a subscriber: they are disabled and allocate nothing.

#![allow(unsafe_code, reason = "a counting allocator implements an unsafe trait")]

use agent_spaces_telemetry::context;
use agent_spaces_telemetry::spans::{self, McpRequest, QuestionEnd, RunEnd};
use agent_spaces_types::usage::Usage;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use tracing::Span;

thread_local! {
    /// Number of allocations of this thread.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// System allocator that counts.
struct Counting;

// SAFETY: every request goes unchanged to the system allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's layout is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer comes from `alloc` above, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations of some work.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// Opens one span of each kind, and ends it.
fn open_all() -> [Span; 9] {
    let opened = [
        spans::request("GET", "/v1/runs"),
        spans::run("run_1", false, false),
        spans::call("time.now", "run_1", 1),
        spans::approval("apr_1", false),
        spans::mcp_request("time", McpRequest::CallTool("get_time"), "pipe"),
        spans::mcp_served("run_script"),
        spans::invoke_agent("helper", Some("ses_1")),
        spans::chat("local", "qwen3"),
        spans::agent_call("run_script", "call_1"),
    ];
    let [request, run, call, approval, sent, served, question, chat, agent_call] = &opened;
    spans::end_request(request, 500);
    spans::end_run(run, RunEnd::Failed("script.error"), &Usage::default());
    spans::end_call(call, Err("call.timeout"));
    spans::end_approval(approval, "approved");
    spans::end_mcp_request(sent, Some("timeout"));
    spans::end_mcp_request(served, None);
    let (ending, is_failure, turns, input_tokens, output_tokens) = ("budget", true, 2, 10, 3);
    spans::end_invoke_agent(question, QuestionEnd { ending, is_failure, turns, input_tokens, output_tokens });
    spans::end_chat(chat, Err("timeout"));
    spans::end_agent_call(agent_call, true);
    assert!(opened.iter().all(|span| context::of(span).is_none()));
    opened
}

#[test]
fn spans_allocate_nothing_without_a_subscriber() {
    assert!(open_all().iter().all(Span::is_disabled));
    assert_eq!(allocations(|| drop(black_box(open_all()))), 0);
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1, "the allocator does not count");
}
