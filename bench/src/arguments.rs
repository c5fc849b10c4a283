//! What the program is asked for.

use clap::Parser;
use std::path::PathBuf;

/// Measures what a sandbox costs, side by side with what people use instead.
///
/// Rows are told on stderr as they are measured; the table is printed at the end.
#[derive(Parser)]
#[command(name = "agent-spaces-bench")]
pub(crate) struct Arguments {
    /// Only these groups; all of them if none is named
    #[arg(value_name = "GROUP")]
    pub(crate) groups: Vec<String>,
    /// Says which groups there are
    #[arg(long)]
    pub(crate) list: bool,
    /// A tenth of the rounds: to see that it works, not to believe its figures
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also builds the command from nothing, which takes minutes
    #[arg(long)]
    pub(crate) clean_build: bool,
    /// Writes the rows to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draws charts into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) charts: Option<PathBuf>,
    /// Puts the table, and the charts beside it, between the marks of this page
    #[arg(long, value_name = "FILE", conflicts_with = "groups")]
    pub(crate) docs: Option<PathBuf>,
    /// Keeps the ratios and counts of this run in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["groups", "check"])]
    pub(crate) record: Option<PathBuf>,
    /// Compares with what was recorded in this file, and fails where something got worse
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
}
