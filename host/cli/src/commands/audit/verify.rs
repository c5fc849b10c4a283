//! `agent-spaces audit verify`

use crate::commands::failure::Failure;
use crate::commands::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::Shown;
use agent_spaces_audit_log::{AuditError, Report, Verdict, Verification, Verified};
use capability_gen::counted::counted;
use capability_gen::shown;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Verify the integrity of the audit log.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces audit verify
  agent-spaces audit verify --log copy.jsonl --heads /media/usb/audit
  agent-spaces audit verify --shipped /mnt/backup/heads.jsonl

Exit status: 0 unchanged; 1 changed or missing entries; 2 no log; 3 unchanged, but entries could not be written; 5 log unreadable.")]
pub(super) struct Verify {
    /// Log file [default: this user's]
    #[arg(long, value_name = "FILE", requires = "heads")]
    log: Option<PathBuf>,

    /// Folder of the signed head and its key, not writable by other users [default: this user's]
    #[arg(long, value_name = "DIR", requires = "log")]
    heads: Option<PathBuf>,

    /// Compare the log with the signed heads in this file, where `audit.heads` of the configuration wrote them
    #[arg(long, value_name = "FILE")]
    shipped: Option<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(super) fn execute(self) -> u8 {
        let named = self.log.as_ref().zip(self.heads.as_ref());
        let Some((log, heads)) = named.map(|(log, heads)| (log.clone(), heads.clone())).or_else(folders::audit_files)
        else {
            return Failure::new(Code::HostState, "there is no home folder", Some("name --log and --heads"))
                .report(self.json);
        };
        let is_copy = named.is_some();
        let verification = Verification { log: &log, heads: &heads, is_copy, shipped: self.shipped.as_deref() };
        let report = match verification.report() {
            Ok(report) => report,
            Err(error) => return unknown(&error).report(self.json),
        };
        let status = match report.verdict {
            Verdict::Unchanged => 0,
            Verdict::Missing | Verdict::Changed => 1,
            Verdict::Gaps => 3,
        };
        let (value, text) = match report.verified {
            Some(verified) => whole(&log, &report, verified),
            None => changed(&log, &report),
        };
        let printed = if self.json { output::print_line(&value) } else { output::print(&text) };
        printed.max(status)
    }
}

/// Describes a log without changed lines.
fn whole(log: &Path, report: &Report, found: Verified) -> (Value, Shown) {
    let Verified { entries, recovered, lost, gaps, unwritten, waiting, removed, files, shipped } = found;
    let (verdict, message) = (report.verdict.as_str(), report.message.as_deref());
    let mut value = json!({
        "ok": report.verdict == Verdict::Unchanged, "verdict": verdict, "log": log, "entries": entries, "files": files,
        "recovered": recovered, "lost": lost, "gaps": gaps, "unwritten": unwritten, "waiting": waiting,
        "removed": removed,
    });
    let mut text = counted(entries, "entry").to_string();
    if files > 1 {
        text += &format!(" in {files} files");
    }
    text += &format!(", {}", message.unwrap_or(verdict));
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            text += &format!("; {count} {what}");
        }
    };
    note(recovered, "of them were written by a process that was killed");
    note(removed, "of them are in files that were removed, as the log states");
    note(waiting, "more are pending in processes that have the log open");
    if let Some(shipped) = shipped {
        value["shipped"] = json!({ "agree": shipped.agree, "removed": shipped.removed, "entries": shipped.entries });
        text += &format!(
            "; agrees with {} kept elsewhere, up to entry {}",
            counted(shipped.agree, "head"),
            shipped.entries
        );
        if shipped.removed > 0 {
            text += &format!(" ({} are of removed files)", shipped.removed);
        }
    }
    if let Some(message) = message {
        value["message"] = json!(message);
    }
    (value, shown!("{}: {}\n", terminal::clean_path(log), Shown::line(&text, usize::MAX)))
}

/// Describes a log that differs from what was signed.
fn changed(log: &Path, report: &Report) -> (Value, Shown) {
    let (line, message) = (report.line, report.message.as_deref().unwrap_or_default());
    let verdict = report.verdict.as_str();
    let value = json!({ "ok": false, "verdict": verdict, "log": log, "line": line, "message": message });
    let line = line.map(|line| shown!(":{}", line)).unwrap_or_default();
    (value, shown!("{}{}: {}\n", terminal::clean_path(log), line, terminal::clean_line(message)))
}

/// Error of a log that could not be checked.
fn unknown(error: &AuditError) -> Failure {
    match error {
        AuditError::NoLog { .. } => {
            let hint = "the first run creates it, unless the configuration has `\"audit\": false`; use --log and --heads for another log";
            Failure::new(Code::ConfigFile, error.to_string(), Some(hint))
        }
        other => Failure::new(Code::HostState, format!("the log could not be verified: {other}"), None),
    }
}
