//! `agent-spaces audit verify`

use crate::commands::failure::Failure;
use crate::commands::{folders, output};
use agent_spaces_audit_log::{Verified, verify};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Check that nobody changed the log of what runs did.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces audit verify
  agent-spaces audit verify --log copy.jsonl --heads /media/usb/audit

Exit status: 0 nothing was changed, 1 something was.")]
pub(super) struct Verify {
    /// The log [default: this user's]
    #[arg(long, value_name = "FILE", requires = "heads")]
    log: Option<PathBuf>,

    /// The folder of the signed head and its key [default: this user's]
    #[arg(long, value_name = "DIR", requires = "log")]
    heads: Option<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(super) fn execute(self) -> u8 {
        let files = match (&self.log, &self.heads) {
            (Some(log), Some(heads)) => Some((log.clone(), heads.clone())),
            _ => folders::audit_files(),
        };
        let Some((log, heads)) = files else {
            return Failure::new("host.state", "there is no home folder", Some("name --log and --heads"))
                .report(self.json);
        };
        let shown = log.display();
        match verify(&log, &heads) {
            Ok(Verified { entries, recovered, .. }) if self.json => {
                output::print_line(&json!({ "ok": true, "log": log, "entries": entries, "recovered": recovered }))
            }
            Ok(Verified { entries, recovered, .. }) => {
                let noted = match recovered {
                    0 => String::new(),
                    count => format!("; {count} of them were written by a process that was killed"),
                };
                output::print(&format!("{shown}: {entries} entries, unchanged{noted}\n"))
            }
            Err(tampered) if self.json => {
                output::print_line(&json!({
                    "ok": false, "log": log, "line": tampered.line, "message": tampered.message,
                }));
                1
            }
            Err(tampered) => {
                let line = tampered.line.map(|line| format!(":{line}")).unwrap_or_default();
                output::print(&format!("{shown}{line}: {}\n", tampered.message));
                1
            }
        }
    }
}
