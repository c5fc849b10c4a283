//! `run_code`

use super::{CodeMode, answer, refused};
use crate::config::TypeCheck;
use crate::error::PrepareError;
use crate::program::Program;
use crate::serve::approvals;
use crate::serve::caller::Client;
use crate::serve::cards::Card;
use crate::serve::check::{Diagnostics, ModuleDeclaration, imported_modules};
use crate::serve::offer::Offered;
use crate::serve::runs::{ServedRun, Waited};
use agent_spaces_approvals::Request;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, ElicitResult, InputRequest,
    InputRequiredResult, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// How long a request waits for a run at most. Most clients give up after a minute.
const PATIENCE: Duration = Duration::from_secs(45);

/// How often a client that wants to know hears how far a run has come, and how long it hears nothing at most: some count
/// the time from the last sign of life.
const PROGRESS: Duration = Duration::from_millis(250);
const HEARTBEAT: Duration = Duration::from_secs(5);

/// What programs are called in errors.
const PROGRAM: &str = "program.ts";

/// The longest program.
const MAX_CODE: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArguments {
    code: Option<String>,
    resume: Option<String>,
    timeout: Option<f64>,
    wait: Option<f64>,
}

impl RunArguments {
    /// How long the request waits for the run.
    fn patience(&self) -> Duration {
        let asked = self.wait.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        asked.unwrap_or(PATIENCE).min(PATIENCE)
    }
}

impl CodeMode {
    pub(super) async fn run(
        &self,
        client: &Client,
        arguments: RunArguments,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let patience = arguments.patience();
        // A client that was asked for input sends its request again, with the answers.
        if let Some(id) = &request.request_state {
            return match self.0.runs.get(client, id) {
                Some(run) => {
                    self.hear(&run, request);
                    self.follow(&run, 1, patience, context).await
                }
                None => unknown_run(id).into(),
            };
        }
        match arguments {
            RunArguments { code: Some(code), resume: None, timeout, .. } => {
                match self.begin(client, code, timeout).await {
                    Ok(run) => self.follow(&run, 1, patience, context).await,
                    Err(refused) => refused.into(),
                }
            }
            RunArguments { code: None, resume: Some(handle), timeout: None, .. } => {
                let (id, number) = match handle.split_once('/') {
                    Some((id, number)) => (id, number.parse().unwrap_or(0)),
                    None => (handle.as_str(), 1),
                };
                match self.0.runs.get(client, id) {
                    Some(run) => self.follow(&run, number, patience, context).await,
                    None => unknown_run(id).into(),
                }
            }
            _ => refused("give `code`, or `resume` without `code` and `timeout`".to_owned()).into(),
        }
    }

    async fn begin(
        &self,
        client: &Client,
        code: String,
        timeout: Option<f64>,
    ) -> Result<Arc<ServedRun>, CallToolResult> {
        if code.len() > MAX_CODE {
            return Err(refused(format!("the program has more than {MAX_CODE} bytes")));
        }
        let offered = self.known().await;
        let mut limits = offered.limits.clone();
        if let Some(seconds) = timeout {
            let asked = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
            let Some(time) = asked.filter(|time| *time <= offered.longest) else {
                let most = offered.longest.as_secs_f64();
                return Err(refused(format!("`timeout` is a number of seconds above zero, at most {most}")));
            };
            limits.time = time;
        }
        let place = self.0.places.enter().await;
        let (space, text) = (offered.space.clone(), code.clone());
        let prepared = tokio::task::spawn_blocking(move || space.prepare(PROGRAM, &text)).await;
        let program = match prepared {
            Ok(Ok(program)) => program,
            Ok(Err(PrepareError::Script(error))) => {
                return Err(answer::of_script(error, PROGRAM, &code, &offered.notes));
            }
            Ok(Err(PrepareError::Host(error))) => return Err(refused(error.to_string())),
            Err(error) => return Err(refused(error.to_string())),
        };
        let found = check(&offered, client, &program, &code).await;
        let is_refused = !found.is_empty() && offered.checker.level() == TypeCheck::Error;
        if is_refused {
            return Err(answer::of_diagnostics(&found, PROGRAM, &code));
        }
        let warnings = found.text(PROGRAM, &code);
        let begun = self.0.runs.begin(client, program, limits, warnings, place);
        begun.map_err(|error| answer::of_refused(&error, None))
    }

    /// Waits for a run. Whoever stops waiting, because its client cancelled or went away, ends it.
    async fn follow(
        &self,
        run: &Arc<ServedRun>,
        number: usize,
        patience: Duration,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let guard = CancelOnDrop(Some(run.clone()));
        let deadline = tokio::time::Instant::now() + patience;
        let progress = tell_progress(run, context);
        tokio::pin!(progress);
        let mut asking = FuturesUnordered::new();
        let answer = loop {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            let waited = tokio::select! {
                waited = run.wait(left) => waited,
                Some(()) = asking.next() => continue,
                // Never ends by itself.
                () = &mut progress => continue,
            };
            match waited {
                Waited::Ended(ended) => {
                    let none = || refused(format!("there is no part {number} of `{}`", run.id));
                    break answer::of_ended(run, &ended, number).unwrap_or_else(none).into();
                }
                Waited::Going(waiting) => match Form::of(context) {
                    // A person is asked through the client; meanwhile this request goes on waiting. What is asked belongs to
                    // the request: a client may listen nowhere else.
                    Form::Session if !left.is_zero() && run.has_unasked() => {
                        asking.extend(run.ask().into_iter().map(|request| self.ask(request, context)));
                    }
                    Form::Stateless if !waiting.is_empty() => break input_required(run, &waiting),
                    Form::None if !left.is_zero() && self.0.decisions.refuse_unasked(&waiting) => {}
                    _ => break answer::of_going(run, &waiting).into(),
                },
            }
        };
        guard.disarm();
        if !asking.is_empty() {
            // The person may still answer.
            tokio::spawn(async move { while asking.next().await.is_some() {} });
        }
        answer
    }

    /// Asks a person through the client about a call that waits.
    fn ask(
        &self,
        request: Arc<Request>,
        context: &RequestContext<RoleServer>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (peer, decisions) = (context.peer.clone(), self.0.decisions.clone());
        async move {
            let Some(form) = approvals::form(&request) else { return };
            // A request that expires needs no answer any more.
            let time = request.time_left().unwrap_or_default();
            let Ok(Ok(answer)) = tokio::time::timeout(time, peer.create_elicitation(form)).await else { return };
            if let Some(decision) = approvals::decision(&answer) {
                decisions.decide(&request.id, decision);
            }
        }
    }

    /// Takes in what a person answered to forms that a client was given.
    fn hear(&self, run: &ServedRun, request: &CallToolRequestParams) {
        for (id, answer) in request.input_responses.iter().flatten() {
            let answer: Option<ElicitResult> = serde_json::from_value(answer.clone()).ok();
            if let Some(decision) = answer.as_ref().and_then(approvals::decision).filter(|_| run.has_pending(id)) {
                self.0.decisions.decide(id, decision);
            }
        }
    }
}

/// What does not fit in a program, by the declarations of what it imports: of those functions that its caller may see.
async fn check(offered: &Arc<Offered>, client: &Client, program: &Program, code: &str) -> Diagnostics {
    if offered.checker.level() == TypeCheck::Off {
        return Diagnostics::default();
    }
    let (known, caller, text) = (offered.clone(), client.clone(), code.to_owned());
    let declare = move || {
        let is_visible = |card: &Card| known.is_visible(card, caller.caller());
        let declared = |specifier: String| {
            let dts = known.catalogue.declarations(&specifier, is_visible).ok()??;
            Some(ModuleDeclaration { specifier, dts })
        };
        imported_modules(&text).into_iter().filter_map(declared).collect()
    };
    // It fails only where the process ends.
    let modules = tokio::task::spawn_blocking(declare).await.unwrap_or_default();
    offered.checker.check(program, code, modules).await.diagnostics
}

/// How a client lets a person be asked.
enum Form {
    /// By a request of ours within its session.
    Session,
    /// By an answer that asks for input, after which it sends its request again.
    Stateless,
    /// Not at all.
    None,
}

impl Form {
    fn of(context: &RequestContext<RoleServer>) -> Form {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let has_forms = elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        match context.protocol_version() {
            _ if !has_forms => Form::None,
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Form::Stateless,
            _ => Form::Session,
        }
    }
}

/// Asks the client to ask a person and to come back. The state is the run's name: what it stands for stays here, and is its
/// caller's alone.
fn input_required(run: &ServedRun, waiting: &[Arc<Request>]) -> CallToolResponse {
    let asked = waiting.iter().filter_map(|request| {
        let form = ElicitRequest::new(approvals::form(request)?);
        Some((request.id.clone(), InputRequest::Elicitation(form)))
    });
    InputRequiredResult::new(Some(asked.collect()), Some(run.id.clone())).into()
}

/// Tells a client that wants to know how far a run has come. Ends only with its future.
async fn tell_progress(run: &ServedRun, context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return std::future::pending().await };
    let mut progress = run.progress();
    let mut step = 0.0;
    loop {
        let changed = tokio::time::timeout(HEARTBEAT, progress.changed()).await;
        if matches!(changed, Ok(Err(_))) {
            return std::future::pending().await;
        }
        let said = progress.borrow_and_update().clone();
        step += 1.0;
        let message = format!("{} of {} calls answered; {}", said.answered, said.calls, said.last);
        let param = ProgressNotificationParam::new(token.clone(), step).with_message(message);
        if context.peer.notify_progress(param).await.is_err() {
            return std::future::pending().await;
        }
        tokio::time::sleep(PROGRESS).await;
    }
}

fn unknown_run(id: &str) -> CallToolResult {
    refused(format!("there is no run `{id}` of yours; it may have ended long ago: run it again"))
}

/// Ends a run that nobody waits for any more.
struct CancelOnDrop(Option<Arc<ServedRun>>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(run) = &self.0 {
            run.cancel();
        }
    }
}
