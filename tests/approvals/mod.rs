//! Approvals end to end: the command in real processes, at real terminals, with real files in its store.
//!
//! Each test has a home of its own and decides as a person at a terminal would (`support::Person`), as another program
//! (`support::Piped`), or with another command. A program for which nobody decides is denied, so a test that expects
//! an approval fails when there is none, and one that expects a refusal has a twin that is approved.

mod accepted;
mod asked;
mod crowd;
mod decisions;
mod event;
mod examples;
mod forged;
mod lasting;
mod outside;
mod screen;
mod secrets;
mod self_approval;
mod servers;
mod store;
mod support;
mod time;
