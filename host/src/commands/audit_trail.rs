//! The audit log as a command writes it.

use super::failure::Failure;
use super::{folders, terminal};
use agent_spaces::config::{Audit, AuditSetting};
use agent_spaces::project::Project;
use agent_spaces::{AuditBudget, AuditMode, AuditTrail};
use agent_spaces_audit_log::{Rotation, Settings, Shipping};
use std::time::Duration;

/// The size at which a file ends, if nothing else is said: quick to read, and few files.
const FILE_BYTES: u64 = 64 << 20;

/// How long entries stand in the log without being on the disk, if nothing else is said. They outlive this process at once.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Opens this user's log, as a project says; none where that switches it off. `mode` holds where nothing is said.
pub(super) fn open(project: Option<&Project>, mode: AuditMode) -> Result<Option<AuditTrail>, Failure> {
    let audit = project.map(Project::audit).unwrap_or_default();
    let mode = match audit.mode {
        Some(AuditSetting::Off) => return Ok(None),
        Some(AuditSetting::BestEffort) => AuditMode::BestEffort,
        Some(AuditSetting::Required) => AuditMode::Required,
        None => mode,
    };
    let Some((log, heads)) = folders::audit_files() else {
        let why = "there is no home folder to keep it in";
        if mode == AuditMode::Required {
            return Err(unwritable(why));
        }
        terminal::warn(&format!("the audit log is not written: {why}"));
        return Ok(None);
    };
    let settings = Settings {
        log,
        heads,
        sync_every: audit.sync.unwrap_or(SYNC_EVERY),
        rotation: Some(Rotation { bytes: audit.file_bytes.unwrap_or(FILE_BYTES), keep: audit.keep }),
        shipping: project.and_then(|project| shipping(project, &audit)),
    };
    let default = AuditBudget::default();
    let budget = AuditBudget {
        bytes: audit.run_bytes.unwrap_or(default.bytes),
        lines: audit.run_lines.unwrap_or(default.lines),
    };
    let opened = AuditTrail::open(settings, mode, budget, terminal::warn);
    opened.map(Some).map_err(|error| unwritable(&error.to_string()))
}

/// Where heads are kept besides. Paths are those of the project.
fn shipping(project: &Project, audit: &Audit) -> Option<Shipping> {
    let heads = audit.heads.as_ref()?;
    let mut command = heads.command.clone();
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = project.path(program).to_string_lossy().into_owned();
    }
    Some(Shipping { every: heads.every, file: heads.file.as_ref().map(|file| project.path(file)), command })
}

fn unwritable(why: &str) -> Failure {
    let hint = "make it writable; or set `\"audit\": \"bestEffort\"` in an accepted configuration, if calls may be made that \
                are not logged";
    Failure::new("host.audit", format!("the audit log cannot be written, and it is required: {why}"), Some(hint))
}
