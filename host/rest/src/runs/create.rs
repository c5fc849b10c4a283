//! Start of a run.

use super::request::NewRunRequest;
use super::{RunOrigin, execute};
use crate::audit::{Action, ApiAction, Subject};
use crate::problem::Problem;
use crate::service::Service;
use crate::spaces::SpaceRecord;
use crate::who::Who;
use agent_spaces_durable::RunInfo;
use agent_spaces_journal::Ticket;
use agent_spaces_sandbox::program::Program;
use agent_spaces_sandbox::run::RunOptions;
use serde_json::Value;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tracing::Instrument;

/// Module with the input of a run.
pub const INPUT_MODULE: &str = "@agent-spaces/input";

/// File name of a source without a name.
const DEFAULT_NAME: &str = "program.ts";

/// Part of the standard library that reads and writes files.
const FILES: &str = "fs";

/// Source of a run, and where it comes from.
pub(crate) struct Source {
    pub(crate) text: String,
    /// Stored program: `report@3`.
    pub(crate) program: Option<String>,
}

impl Service {
    /// Starts a run, or queues it if its caller has as many as it may, or it uses files of another host. Returns the
    /// receipt of its creation and its task, if it was started.
    pub(super) async fn start_run(
        &self,
        who: &Who,
        space: &SpaceRecord,
        id: Arc<str>,
        new: &NewRunRequest,
        source: Source,
    ) -> Result<Option<(Ticket, JoinHandle<()>)>, Problem> {
        self.check_run_quotas(who).await?;
        let assembled = self.assembled(space).await?;
        let limits = space.limits().within(&assembled.limits, assembled.longest)?;
        let limits = new.limits.within(&limits, limits.time)?;
        let name = file_name(new.name.as_deref(), source.program.as_deref());
        let mut permit = self.try_enter(who.owner());
        let mut reserved = None;
        if permit.is_none() {
            reserved = Some(self.reserve_queued(who).await?);
        }
        let (program, spent) = self.prepare(who, assembled, name, source.text).await?;
        let caller = Arc::new(who.0.caller().clone());
        if let Some(error) = program.source().and_then(|source| source.refusal(&program, &caller)) {
            return Err(Problem::script(error));
        }
        let host = self.host_of_files(space).filter(|_| program.uses_standard(FILES)).map(str::to_owned);
        if permit.is_some() && host.as_deref().is_some_and(|host| self.is_other_host(host)) {
            // It waits for that host in the queue.
            permit = None;
            reserved = Some(self.reserve_queued(who).await?);
        }
        let program = with_input(program, new.input.as_ref());
        let live = self.0.live.add(&id).ok_or_else(|| Problem::conflict("conflict", "The run is in progress"))?;
        let options = RunOptions {
            limits: Some(limits),
            cancel: live.cancel.clone(),
            caller,
            spent,
            run_id: Some(id.clone()),
            events: permit.as_ref().filter(|_| space.has_webhook()).map(|_| self.0.webhooks.approval_listener(&id)),
            ..RunOptions::default()
        };
        let subject =
            Subject { space_id: Some(space.id.clone()), program: source.program.clone(), ..Subject::run(&id) };
        self.record(ApiAction::new(who, Action::RunCreated, subject)).await?;
        let origin = RunOrigin {
            config: self.0.settings.config.clone(),
            name: new.name.clone(),
            program: source.program,
            given: space.given(),
            host,
        };
        let info = RunInfo {
            space: Some(space.id.clone()),
            project: self.0.settings.project.clone(),
            policy: None,
            command: origin.command(),
        };
        let Some(permit) = permit else {
            self.0.runs.enqueue(&program, &options, info).await?;
            if let Some(reserved) = reserved {
                reserved.added(&id);
            }
            return Ok(None);
        };
        let (created, execution) = self.0.runs.start(&program, options, info)?;
        let (service, active) = (self.clone(), self.0.callers.active_run(who.owner()));
        let has_webhook = space.has_webhook();
        let task = async move {
            let _in_memory = (live, active);
            let report = permit.execute(execution).await;
            drop(permit);
            execute::report(&id, Ok(&report.state));
            service.0.followers.look_now();
            if has_webhook {
                service.0.webhooks.notice_end(&id).await;
            }
        };
        // Its span is below that of the request, which it may outlive.
        Ok(Some((created, tokio::spawn(task.in_current_span()))))
    }
}

/// Gives a program its input.
fn with_input(program: Program, input: Option<&Value>) -> Program {
    match input {
        Some(input) if !input.is_null() => program.with_given(INPUT_MODULE, input.to_string()),
        _ => program,
    }
}

/// Returns the file name of a script, which errors show.
pub(crate) fn file_name(name: Option<&str>, program: Option<&str>) -> String {
    let named = name.or_else(|| program.map(|program| program.split('@').next().unwrap_or(program)));
    match named {
        None => DEFAULT_NAME.to_owned(),
        Some(name) if [".ts", ".js", ".mts", ".mjs"].iter().any(|end| name.ends_with(end)) => name.to_owned(),
        Some(name) => format!("{name}.ts"),
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_script_has_the_name_of_its_run_or_program() {
        assert_eq!(file_name(None, None), "program.ts");
        assert_eq!(file_name(Some("daily"), Some("report@3")), "daily.ts");
        assert_eq!(
            (file_name(None, Some("report@3")), file_name(Some("a.js"), None)),
            ("report.ts".into(), "a.js".into())
        );
    }
}
