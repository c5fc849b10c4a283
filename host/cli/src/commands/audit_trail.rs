//! Audit log of a command, opened as the configuration says.

use super::failure::Failure;
use super::{folders, host_name, terminal};
use agent_spaces::Code;
use agent_spaces::config::{Audit, AuditSetting};
use agent_spaces::project::Project;
use agent_spaces::{AuditBudget, AuditMode, AuditTrail};
use agent_spaces_audit_log::{Rotation, Settings, Shipping};
use std::time::Duration;

/// Default size at which a log file is rotated: quick to read, and few files.
const FILE_BYTES: u64 = 64 << 20;

/// Default interval of `fsync`. Entries survive a crash of this process before that, but not of the machine.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Opens this user's log with the settings of the project; `None` if they switch it off. `mode` is the default.
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
        // Only a name that was given: a host that is alone needs none.
        host: host_name::given()?,
    };
    let default = AuditBudget::default();
    let budget = AuditBudget {
        bytes: audit.run_bytes.unwrap_or(default.bytes),
        lines: audit.run_lines.unwrap_or(default.lines),
    };
    let opened = AuditTrail::open(settings, mode, budget);
    opened.map(Some).map_err(|error| unwritable(&error.to_string()))
}

/// Second place that heads are sent to. Paths are relative to the project.
fn shipping(project: &Project, audit: &Audit) -> Option<Shipping> {
    let heads = audit.heads.as_ref()?;
    let mut command = heads.command.clone();
    if let Some(program) = command.first_mut().filter(|program| program.contains('/')) {
        *program = project.path(program).to_string_lossy().into_owned();
    }
    Some(Shipping { every: heads.every, file: heads.file.as_ref().map(|file| project.path(file)), command })
}

fn unwritable(why: &str) -> Failure {
    let hint = "make it writable, or set `\"audit\": \"bestEffort\"` in an accepted configuration to allow calls that are \
                not logged";
    Failure::new(Code::HostAudit, format!("the audit log cannot be written, but is required: {why}"), Some(hint))
}
