//! `run_code`

use super::answer::{Deciders, Seen};
use super::progress::Teller;
use super::{CodeMode, answer, refused};
use crate::config::TypeCheck;
use crate::error::PrepareError;
use crate::error_report::RunError;
use crate::program::Program;
use crate::serve::approvals::{Form, OpenForms, input_required};
use crate::serve::caller::Client;
use crate::serve::cards::Card;
use crate::serve::check::{Diagnostics, ModuleDeclaration, imported_modules};
use crate::serve::offer::Offered;
use crate::serve::runs::{ServedRun, Waited};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::RequestContext;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a request waits for a run at most. Most clients give up after a minute.
const PATIENCE: Duration = Duration::from_secs(45);

/// What programs are called in errors.
const PROGRAM: &str = "program.ts";

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
        let deadline = tokio::time::Instant::now() + arguments.patience();
        let mut teller = Teller::new(context);
        // A client that was asked for input sends its request again, with the answers.
        if let Some(id) = &request.request_state {
            return match self.0.runs.get(client, id) {
                Some(run) => {
                    self.0.decisions.hear(client, request, |id| run.has_pending(id));
                    // Who answers without a decision is not asked again at once.
                    let heard = request.input_responses.iter().flatten().map(|(id, _)| id.as_str());
                    heard.filter(|id| run.has_pending(id)).for_each(|id| run.asked.close(id));
                    self.follow(client, &run, (1, deadline), &mut teller).await
                }
                None => unknown_run(id).into(),
            };
        }
        match arguments {
            RunArguments { code: Some(code), resume: None, timeout, .. } => {
                match self.begin(client, code, timeout, &mut teller).await {
                    Ok(run) => self.follow(client, &run, (1, deadline), &mut teller).await,
                    Err(refused) => refused.into(),
                }
            }
            RunArguments { code: None, resume: Some(handle), timeout: None, .. } => {
                let (id, number) = match handle.split_once('/') {
                    Some((id, number)) => (id, number.parse().unwrap_or(0)),
                    None => (handle.as_str(), 1),
                };
                match self.0.runs.get(client, id) {
                    Some(run) => {
                        run.asked.forget_closed();
                        self.follow(client, &run, (number, deadline), &mut teller).await
                    }
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
        teller: &mut Teller<'_>,
    ) -> Result<Arc<ServedRun>, CallToolResult> {
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
        let places = self.0.places.of(client);
        let entering = tokio::time::timeout(PATIENCE, places.enter());
        let Ok(place) = teller.during("waiting for a place", entering).await else {
            let error = RunError::new(
                "run.busy",
                "All of your programs that may run at one time still do: wait for one to end",
            );
            return Err(answer::of_refused(&error, None));
        };
        let (space, text, begun) = (offered.space.clone(), code.clone(), Instant::now());
        let prepared = tokio::task::spawn_blocking(move || space.prepare(PROGRAM, &text)).await;
        let ready_after = begun.elapsed();
        let redactor = offered.space.redactor();
        let program = match prepared {
            Ok(Ok(program)) => program,
            Ok(Err(PrepareError::Script(error))) => {
                let code = redactor.starred(&code);
                return Err(answer::of_script(error, PROGRAM, &code, &Seen { offered: &offered, client }));
            }
            Ok(Err(PrepareError::Host(error))) => return Err(refused(error.to_string())),
            Err(error) => return Err(refused(error.to_string())),
        };
        let found = teller.during("checking types", check(&offered, client, &program, &code)).await;
        // What is shown of it is cut later: half a secret would no longer be found.
        let code = if found.is_empty() { Cow::Borrowed("") } else { redactor.starred(&code) };
        let is_refused = !found.is_empty() && offered.checker.level() == TypeCheck::Error;
        if is_refused {
            return Err(answer::of_diagnostics(&found, PROGRAM, &code));
        }
        let warnings = redactor.text(&found.text(PROGRAM, &code)).into_owned();
        // What the type checker takes is bounded by itself.
        let begun = self.0.runs.begin(client, program, (limits, ready_after), warnings, place);
        begun.map_err(|error| answer::of_refused(&error, None))
    }

    /// Waits for a run. Whoever stops waiting, because its client cancelled or went away, ends it.
    async fn follow(
        &self,
        client: &Client,
        run: &Arc<ServedRun>,
        (number, deadline): (usize, tokio::time::Instant),
        teller: &mut Teller<'_>,
    ) -> CallToolResponse {
        let context = teller.context();
        let guard = CancelOnDrop(Some(run.clone()));
        let progress = teller.follow(run);
        tokio::pin!(progress);
        let mut forms = OpenForms::default();
        let answer = loop {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            let waited = tokio::select! {
                waited = run.wait(left) => waited,
                () = forms.hear() => continue,
                // Never ends by itself.
                () = &mut progress => continue,
            };
            match waited {
                Waited::Ended(ended) => {
                    let none = || refused(format!("there is no part {number} of `{}`", run.id));
                    break answer::of_ended(run, &ended, number).unwrap_or_else(none).into();
                }
                Waited::Going(waiting) => {
                    let form = Form::of(client, context);
                    let unasked = run.asked.unasked(waiting.clone());
                    match form {
                        // A person is asked through the client; meanwhile this request goes on waiting.
                        Form::Session if !left.is_zero() && !unasked.is_empty() => {
                            forms.open(&self.0.decisions, client, &context.peer, (&run.asked, unasked));
                            continue;
                        }
                        Form::Stateless if !unasked.is_empty() => break input_required(&unasked, &run.id),
                        Form::None if self.0.decisions.refuse_unasked(&waiting) => match left.is_zero() {
                            // What comes of that is seen when the agent comes back.
                            true => break answer::of_going(run, &[], Deciders::default()).into(),
                            false => continue,
                        },
                        _ => {}
                    }
                    let deciders = Deciders {
                        is_client_asked: form != Form::None,
                        has_elsewhere: self.0.decisions.has_elsewhere(),
                    };
                    break answer::of_going(run, &waiting, deciders).into();
                }
            }
        };
        guard.disarm();
        answer
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
        let declared = |specifier: &String| {
            let dts = known.catalogue.declarations(specifier, is_visible).ok()??;
            Some(ModuleDeclaration { specifier: specifier.clone(), dts })
        };
        let modules = imported_modules(&text);
        // Without a compiler nobody reads them.
        let declarations = match known.checker.compiler() {
            Ok(_) => modules.iter().filter_map(declared).collect(),
            Err(_) => Vec::new(),
        };
        (declarations, known.catalogue.hidden(&modules, is_visible))
    };
    // It fails only where the process ends.
    let (modules, hidden) = tokio::task::spawn_blocking(declare).await.unwrap_or_default();
    offered.checker.check(program, code, modules, hidden).await.diagnostics
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
