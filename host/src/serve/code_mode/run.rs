//! `run_code`

use super::answer::Seen;
use super::arguments::{Argument, Kind};
use super::follow::{Followed, MAX_WAIT, Patience};
use super::progress::Teller;
use super::{CodeMode, answer, refused};
use crate::config::TypeCheck;
use crate::error::PrepareError;
use crate::error_report::RunError;
use crate::program::Program;
use crate::serve::caller::Client;
use crate::serve::cards::Card;
use crate::serve::check::{Findings, ModuleDeclaration, imported_modules};
use crate::serve::offer::Offered;
use crate::serve::runs::ServedRun;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::RequestContext;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What programs are called in errors.
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
        let patience = match Patience::new(arguments.wait) {
            Ok(patience) => patience,
            Err(message) => return refused(message).into(),
        };
        let mut followed = Followed { part: 1, patience, is_form_closed: false };
        let mut teller = Teller::new(context);
        // A client that was asked for input sends its request again, with the answers.
        if let Some(id) = &request.request_state {
            return match self.0.runs.get(client, id) {
                Some(run) => {
                    followed.is_form_closed = self.0.decisions.hear(client, request, &run.asked);
                    self.follow(client, &run, followed, &mut teller).await
                }
                None => unknown_run(id).into(),
            };
        }
        match arguments {
            RunArguments { code: Some(code), resume: None, timeout, .. } => {
                match self.begin(client, code, timeout, &mut teller).await {
                    Ok(run) => self.follow(client, &run, followed, &mut teller).await,
                    Err(refused) => refused.into(),
                }
            }
            RunArguments { code: None, resume: Some(handle), timeout: None, .. } => {
                let (id, part) = match handle.split_once('/') {
                    Some((id, part)) => (id, part.parse().unwrap_or(0)),
                    None => (handle.as_str(), 1),
                };
                followed.part = part;
                match self.0.runs.get(client, id) {
                    Some(run) => {
                        run.asked.forget_closed();
                        self.follow(client, &run, followed, &mut teller).await
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
        let entering = tokio::time::timeout(MAX_WAIT, places.enter());
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
        if let Some(error) = program.refusal(client.caller()) {
            let code = redactor.starred(&code);
            return Err(answer::of_script(error.clone(), PROGRAM, &code, &Seen { offered: &offered, client }));
        }
        let Findings { misuse, warnings } =
            teller.during("checking types", check(&offered, client, &program, &code)).await;
        let warnings = answer::of_imports(&program, &Seen { offered: &offered, client }).and(warnings);
        // What is shown of it is cut later: half a secret would no longer be found.
        let is_clean = misuse.is_empty() && warnings.is_empty();
        let code = if is_clean { Cow::Borrowed("") } else { redactor.starred(&code) };
        if !misuse.is_empty() && offered.checker.level() == TypeCheck::Error {
            return Err(answer::of_misuse(&misuse, &warnings, PROGRAM, &code));
        }
        let warnings = redactor.text(&misuse.and(warnings).text(PROGRAM, &code)).into_owned();
        // What the type checker takes is bounded by itself.
        let begun = self.0.runs.begin(client, program, (limits, ready_after), warnings, place);
        begun.map_err(|error| answer::of_refused(&error, None))
    }
}

/// What is wrong or odd in a program, by the declarations of what it imports: of those functions that its caller may see.
async fn check(offered: &Arc<Offered>, client: &Client, program: &Program, code: &str) -> Findings {
    if offered.checker.level() == TypeCheck::Off {
        return Findings::default();
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
    let mut findings = offered.checker.check(program, code, modules, hidden).await.findings;
    for warning in &mut findings.warnings.list {
        let import = |name: &str| program.imports().import_of(name, &client.caller().scopes);
        if let Some(hint) = warning.unknown_name().and_then(import) {
            warning.message = format!("{} {hint}", warning.message);
        }
    }
    findings
}

fn unknown_run(id: &str) -> CallToolResult {
    refused(format!("there is no run `{id}` of yours; it may have ended long ago: run it again"))
}
