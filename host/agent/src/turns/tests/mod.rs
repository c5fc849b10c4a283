//! The loop with scripted models and tools.
//!
//! - `answers`: answers, calls and what models do wrong
//! - `failures`: fallback and retries: effects once, history clean
//! - `bounds`: turns, budgets, windows, time
//! - `resumed`: questions that go on after a crash

mod answers;
mod bounds;
mod failures;
mod resumed;
