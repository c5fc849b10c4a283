//! `agent-spaces audit verify`

use crate::commands::failure::Failure;
use crate::commands::{folders, output};
use agent_spaces_audit_log::{AuditError, Tampered, Verified, verify, verify_copy};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Check that nobody changed the log of what runs did.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces audit verify
  agent-spaces audit verify --log copy.jsonl --heads /media/usb/audit

Exit status: 0 nothing was changed, 1 something was, or entries are missing, 2 there is no log, 5 it cannot be read.")]
pub(super) struct Verify {
    /// The log [default: this user's]
    #[arg(long, value_name = "FILE", requires = "heads")]
    log: Option<PathBuf>,

    /// The folder of the signed head and its key, which others cannot write to [default: this user's]
    #[arg(long, value_name = "DIR", requires = "log")]
    heads: Option<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(super) fn execute(self) -> u8 {
        let named = self.log.as_ref().zip(self.heads.as_ref());
        let Some((log, heads)) = named.map(|(log, heads)| (log.clone(), heads.clone())).or_else(folders::audit_files)
        else {
            return Failure::new("host.state", "there is no home folder", Some("name --log and --heads"))
                .report(self.json);
        };
        let found = if named.is_some() { verify_copy(&log, &heads) } else { verify(&log, &heads) };
        let (value, text, status) = match found {
            Ok(verified) => whole(&log, verified),
            Err(AuditError::Tampered(tampered)) => changed(&log, &tampered),
            Err(error) => return unknown(&error).report(self.json),
        };
        let printed = if self.json { output::print_line(&value) } else { output::print(&text) };
        printed.max(status)
    }
}

/// A log in which no line was changed. What is missing may be a crash's doing, or somebody's.
fn whole(log: &Path, Verified { entries, recovered, lost }: Verified) -> (Value, String, u8) {
    let mut value = json!({ "ok": lost == 0, "log": log, "entries": entries, "recovered": recovered, "lost": lost });
    let found = match lost {
        0 => "unchanged".to_owned(),
        count => {
            let message = format!("at least {count} more are missing: a crash took them, or somebody cut them off");
            value["message"] = json!(message);
            message
        }
    };
    let noted = match recovered {
        0 => String::new(),
        count => format!("; {count} of them were written by a process that was killed"),
    };
    (value, format!("{}: {entries} entries, {found}{noted}\n", log.display()), u8::from(lost > 0))
}

fn changed(log: &Path, Tampered { line, message }: &Tampered) -> (Value, String, u8) {
    let value = json!({ "ok": false, "log": log, "line": line, "message": message });
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    (value, format!("{}{line}: {message}\n", log.display()), 1)
}

/// Whether something was changed cannot be said.
fn unknown(error: &AuditError) -> Failure {
    match error {
        AuditError::NoLog { .. } => {
            let hint = "it begins with the first run, unless the configuration has `\"audit\": false`; --log and --heads name another one";
            Failure::new("config.file", error.to_string(), Some(hint))
        }
        other => Failure::new("host.state", format!("the log was not checked: {other}"), None),
    }
}
