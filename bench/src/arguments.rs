//! Command-line arguments.

use clap::Parser;
use std::path::PathBuf;

/// Benchmarks the sandbox side by side with alternatives.
///
/// Rows are printed to stderr as they are measured; the table is printed at the end.
#[derive(Parser)]
#[command(name = "agent-spaces-bench")]
pub(crate) struct Arguments {
    /// Only these groups; all if none is named
    #[arg(value_name = "GROUP")]
    pub(crate) groups: Vec<String>,
    /// Lists the groups
    #[arg(long)]
    pub(crate) list: bool,
    /// A tenth of the rounds: a smoke test, not for reliable figures
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also measures a clean build of the command, which takes minutes
    #[arg(long)]
    pub(crate) clean_build: bool,
    /// Writes the rows to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draws charts into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) charts: Option<PathBuf>,
    /// Replaces the table and charts between the marks of this page
    #[arg(long, value_name = "FILE", conflicts_with = "groups")]
    pub(crate) docs: Option<PathBuf>,
    /// Records the ratios and counts of this run in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["groups", "check"])]
    pub(crate) record: Option<PathBuf>,
    /// Compares with the record in this file, and fails on regressions
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
}
