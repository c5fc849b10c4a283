//! `run_code`

use super::arguments::{Argument, Kind};
use super::follow::{FollowOptions, HOST_WAIT, MAX_WAIT, WaitTime};
use super::progress::ProgressReporter;
use super::run_result::Visibility;
use super::{CodeMode, refused, run_result};
use crate::cards::Card;
use crate::check::Findings;
use crate::program_check::check_program;
use crate::runs::ServedRun;
use crate::served_space::ServedSpace;
use agent_spaces_config::TypeCheck;
use agent_spaces_http_server::Client;
use agent_spaces_sandbox::error::PrepareError;
use agent_spaces_sandbox::program::Program;
use agent_spaces_types::code::Code;
use agent_spaces_types::run_error::RunError;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::RequestContext;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// File name of programs in errors.
const PROGRAM: &str = "program.ts";

pub(super) const ARGUMENTS: [Argument; 4] = [
    Argument { name: "code", kind: Kind::Text, is_required: false },
    Argument { name: "resume", kind: Kind::Text, is_required: false },
    Argument { name: "timeout", kind: Kind::Number, is_required: false },
    Argument { name: "wait", kind: Kind::Number, is_required: false },
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArguments {
    code: Option<String>,
    resume: Option<String>,
    timeout: Option<f64>,
    wait: Option<f64>,
}

impl CodeMode {
    pub(super) async fn run(
        &self,
        client: &Client,
        arguments: RunArguments,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let most = if client.is_of_host() { HOST_WAIT } else { MAX_WAIT };
        let wait_time = match WaitTime::new(arguments.wait, most) {
            Ok(wait_time) => wait_time,
            Err(message) => return refused(message).into(),
        };
        let mut options = FollowOptions { part: 1, wait_time, is_form_closed: false };
        let mut reporter = ProgressReporter::new(context);
        // A client without a session repeats its request with the answers to forms.
        if let Some(id) = &request.request_state {
            return match self.0.runs.get(client, id) {
                Some(run) => {
                    options.is_form_closed = self.0.decisions.apply_responses(client, request, &run.asked);
                    self.follow(client, &run, options, &mut reporter).await
                }
                None => self.follow_recorded(client, id, options, &mut reporter).await,
            };
        }
        match arguments {
            RunArguments { code: Some(code), resume: None, timeout, .. } => {
                match self.begin(client, code, timeout, &mut reporter).await {
                    Ok(run) => self.follow(client, &run, options, &mut reporter).await,
                    Err(refused) => refused.into(),
                }
            }
            RunArguments { code: None, resume: Some(handle), timeout: None, .. } => {
                let (id, part) = match handle.split_once('/') {
                    Some((id, part)) => (id, part.parse().unwrap_or(0)),
                    None => (handle.as_str(), 1),
                };
                options.part = part;
                match self.0.runs.get(client, id) {
                    Some(run) => {
                        run.asked.forget_closed();
                        self.follow(client, &run, options, &mut reporter).await
                    }
                    None => self.follow_recorded(client, id, options, &mut reporter).await,
                }
            }
            _ => refused("pass either `code`, or `resume` without `timeout`".to_owned()).into(),
        }
    }

    async fn begin(
        &self,
        client: &Client,
        code: String,
        timeout: Option<f64>,
        reporter: &mut ProgressReporter<'_>,
    ) -> Result<Arc<ServedRun>, CallToolResult> {
        let served = self.known().await;
        let mut limits = served.limits.clone();
        if let Some(seconds) = timeout {
            let asked = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
            let Some(time) = asked.filter(|time| *time <= served.longest) else {
                let most = served.longest.as_secs_f64();
                return Err(refused(format!("`timeout` must be a number of seconds above 0, at most {most}")));
            };
            limits.time = time;
        }
        if let Some(message) = self.0.offers.refusal(client) {
            return Err(run_result::of_refused(&RunError::new(Code::RunBusy, message), None));
        }
        let limiter = self.0.caller_limiters.of(client);
        let entering = tokio::time::timeout(MAX_WAIT, limiter.enter());
        let Ok(permit) = reporter.during("waiting for another run to end", entering).await else {
            let error = RunError::new(Code::RunBusy, "Concurrency limit reached: wait for one of your programs to end");
            return Err(run_result::of_refused(&error, None));
        };
        let (space, text, begun) = (served.space.clone(), code.clone(), Instant::now());
        let prepared = self.0.offers.compute(client, move || space.prepare(PROGRAM, &text)).await;
        let ready_after = begun.elapsed();
        let redactor = served.space.redactor();
        let program = match prepared {
            Some(Ok(program)) => program,
            Some(Err(PrepareError::Script(error))) => {
                let code = redactor.starred(&code);
                return Err(run_result::of_script_error(
                    error,
                    PROGRAM,
                    &code,
                    &Visibility { served: &served, client },
                ));
            }
            Some(Err(PrepareError::Host(error))) => return Err(refused(error.to_string())),
            None => return Err(refused("the preparation of the program panicked".to_owned())),
        };
        let refused_by = program.source().and_then(|source| source.refusal(&program, client.caller()));
        if let Some(error) = refused_by {
            let code = redactor.starred(&code);
            return Err(run_result::of_script_error(error, PROGRAM, &code, &Visibility { served: &served, client }));
        }
        let Findings { misuse, warnings } =
            reporter.during("checking types", check(&served, client, &program, &code)).await;
        let warnings = run_result::of_imports(&program, &Visibility { served: &served, client }).and(warnings);
        // Redact before code frames are cut: half a secret would not be found.
        let is_clean = misuse.is_empty() && warnings.is_empty();
        let code = if is_clean { Cow::Borrowed("") } else { redactor.starred(&code) };
        if !misuse.is_empty() && served.checker.level() == TypeCheck::Error {
            return Err(run_result::of_type_errors(&misuse, &warnings, PROGRAM, &code));
        }
        let warnings = redactor.text(&misuse.and(warnings).text(PROGRAM, &code)).into_owned();
        // The type checker has its own time limit.
        let durable = served.durable.clone();
        let in_turn = |work| self.0.offers.in_turn(client, work);
        let begun = self.0.runs.begin((client, in_turn), program, (limits, ready_after), warnings, permit, durable);
        begun.map_err(|error| run_result::of_refused(&error, None))
    }
}

/// Checks a program against the functions that its caller may see.
async fn check(served: &Arc<ServedSpace>, client: &Client, program: &Program, code: &str) -> Findings {
    let (known, caller) = (served.clone(), client.clone());
    let is_visible = move |card: &Card| known.is_visible(card, caller.caller());
    let ServedSpace { checker, catalogue, .. } = &**served;
    check_program(checker, catalogue, is_visible, client.caller(), program, code).await.findings
}
