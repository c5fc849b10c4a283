//! `agent-spaces approvals`

mod journal_requests;
mod options;

pub(super) use options::ApprovalOptions;

use super::failure::Failure;
use super::{folders, host_key, output, session, store_choice, terminal};
use agent_spaces::Code;
use agent_spaces::durable::channel::DurableChannel;
use agent_spaces::durable::host_key::HostKey;
use agent_spaces::durable::shared_approver;
use agent_spaces::project::DurableSettings;
use agent_spaces_approvals::{
    ApproverKey, ApproverToken, Channel, Decision, Lasts, Request, Store, StoreChannel, StoreError,
};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::{Args, Subcommand, ValueEnum};
use journal_requests::JournalRequests;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Environment variable of the approver token.
const TOKEN: &str = "AGENT_SPACES_APPROVER_TOKEN";

/// Approve or deny calls of runs that wait for approval (`agent-spaces run --approvals store`, or `--durable`).
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces approvals token                    # once; keep the token that it prints
  agent-spaces approvals list
  agent-spaces approvals approve apr_7f3c --for run
  agent-spaces approvals deny apr_7f3c --reason 'not on a Friday'

approve and deny read the token from AGENT_SPACES_APPROVER_TOKEN, or from a file with --token-file.
Exit status: 0 ok, 2 bad usage, 4 the decision was refused.")]
pub(super) struct ApprovalsCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List pending approvals
    List {
        /// Print one JSON value
        #[arg(long)]
        json: bool,
    },
    /// Approve a call
    Approve {
        #[command(flatten)]
        choice: Choice,

        /// Scope of the approval: this call, all calls of the function in this run, or those with the same arguments
        #[arg(long = "for", value_enum, value_name = "WHAT", default_value = "once")]
        lasts: ApprovalSpan,
    },
    /// Deny a call
    Deny {
        #[command(flatten)]
        choice: Choice,
    },
    /// Create the approver token; an earlier one becomes invalid
    Token {
        /// Print one JSON value
        #[arg(long)]
        json: bool,
    },
}

/// Call, approver and reason.
#[derive(Args)]
struct Choice {
    /// ID of the pending approval: `apr_…`
    id: String,

    /// Reason, which is passed to the script
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Name of the approver [default: the current user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,

    /// File with the token, instead of the variable
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ApprovalSpan {
    Once,
    Run,
    Arguments,
}

impl ApprovalsCommand {
    pub(super) fn execute(self) -> u8 {
        let (answer, is_json) = match self.verb {
            Verb::List { json } => (list(), json),
            Verb::Approve { choice, lasts } => (decide(&choice, |by| approval(by, &choice, lasts)), choice.json),
            Verb::Deny { choice } => (decide(&choice, |by| Decision::deny(by, choice.reason.clone())), choice.json),
            Verb::Token { json } => (token(), json),
        };
        match answer {
            Ok((value, _)) if is_json => output::print_line(&value),
            Ok((_, text)) => output::print(&text),
            Err(failure) => failure.report(is_json),
        }
    }
}

fn approval(by: String, choice: &Choice, lasts: ApprovalSpan) -> Decision {
    let lasts = match lasts {
        ApprovalSpan::Once => Lasts::Once,
        ApprovalSpan::Run => Lasts::Run,
        ApprovalSpan::Arguments => Lasts::Arguments,
    };
    Decision { reason: choice.reason.clone(), ..Decision::approve(by).lasting(lasts) }
}

fn list() -> Result<(Value, Shown), Failure> {
    let listing = store()?.list().map_err(failed)?;
    listing.unreadable.iter().for_each(|error| terminal::warn(&error.to_string()));
    let mut requests = listing.requests;
    if let Some(journal) = JournalRequests::open() {
        requests.extend(journal.list()?);
    }
    let mut text = Shown::default();
    for request in &requests {
        describe(&mut text, request);
    }
    if requests.is_empty() {
        text.push("No pending approvals.\n");
    }
    Ok((json!(requests), text))
}

fn describe(text: &mut Shown, request: &Request) {
    let line = terminal::clean_line;
    let left = request.time_left().unwrap_or_default().as_secs();
    let space = request.space.as_ref().map(|space| shown!(" in {}", line(space))).unwrap_or_default();
    text.push(shown!("{}  {}{}  {} s left\n", line(&request.id), line(&request.label()), space, left));
    text.push(shown!("  function   {}\n", line(&request.function_id.to_string())));
    text.push(shown!("  module     {}, provider {}\n", line(&request.module), line(&request.source)));
    // Not cut: the approver must see all arguments.
    text.push(shown!("  arguments  {}\n", Shown::line(&request.params.to_string(), usize::MAX)));
    if !request.message.is_empty() {
        // Text of the definition, which is not verified.
        text.push(shown!("  message    {}\n", request.message));
    }
    for (index, place) in request.places.iter().enumerate() {
        text.push(shown!("{}{}", if index == 0 { "  used at    " } else { ", " }, place));
    }
    if !request.places.is_empty() {
        text.push("\n");
    }
}

fn decide(choice: &Choice, decision: impl FnOnce(String) -> Decision) -> Result<(Value, Shown), Failure> {
    let token = choice.token()?;
    let decision = decision(choice.by.clone().unwrap_or_else(user));
    let word = json!(decision)["decision"].as_str().unwrap_or_default().to_owned();
    let request = match JournalRequests::open().and_then(|journal| Some((journal.get(&choice.id)?, journal))) {
        Some((request, journal)) => {
            if journal.decide(&request, decision, &token)? {
                let run = terminal::clean_line(&request.run_id);
                terminal::note(shown!("continue its run: agent-spaces runs resume {}", run));
            }
            request
        }
        None => {
            let store = store()?;
            let request = store.get(&choice.id).map_err(failed)?;
            store.decide(&request, decision, &token).map_err(failed)?;
            request
        }
    };
    let done = if word == "approve" { "approved" } else { "denied" };
    let (id, label) = (terminal::clean_line(&request.id), terminal::clean_line(&request.label()));
    let function = terminal::clean_line(&request.function_id.to_string());
    let text = shown!("{}  {} ({}) {}\n", id, label, function, done);
    Ok((json!({ "id": request.id, "decision": word }), text))
}

fn token() -> Result<(Value, Shown), Failure> {
    let token = ApproverToken::new().map_err(failed)?;
    token.key().save(&key_file()?).map_err(failed)?;
    publish(&token.key())?;
    terminal::note(
        "The token is shown only once. Anyone who has it can approve calls: keep it away from agents and their scripts.",
    );
    let text = shown!("{}\n", terminal::clean_line(&token.reveal()));
    Ok((json!({ "token": token.reveal() }), text))
}

impl Choice {
    fn token(&self) -> Result<ApproverToken, Failure> {
        let text = match &self.token_file {
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| Failure::new(Code::ConfigFile, format!("{}: {error}", file.display()), None))?,
            None => std::env::var(TOKEN).map_err(|_| {
                let hint = format!("set {TOKEN}, or name a file with --token-file");
                Failure::new(Code::ConfigApprover, "the approver token is missing", Some(&hint))
            })?,
        };
        text.trim().parse().map_err(failed)
    }
}

/// Returns the name of the current user, for the audit log.
fn user() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "unknown".into())
}

fn store() -> Result<Store, Failure> {
    Store::open(&folder()?.join("approvals")).map_err(failed)
}

/// Returns the channel that waits for `agent-spaces approvals`. The approver's key may be created later.
pub(super) fn store_channel() -> Option<Arc<dyn Channel>> {
    let look_up = || key().ok();
    Some(Arc::new(StoreChannel::looking_up(store().ok()?, look_up, terminal::warn::<Shown>)))
}

/// Returns the channel of durable runs: decisions are in the journal, because a run may be in another process by then.
/// They are signed by the approver, or by a server that knows who decides.
pub(super) fn journal_channel(
    journal: Arc<dyn agent_spaces::journal::Store>,
    server: Option<ApproverKey>,
) -> Result<Arc<dyn Channel>, Failure> {
    let host_key = shared_key(&*journal)?;
    let own = own_key(host_key.is_none());
    let keys = move || own().into_iter().chain(server.clone()).collect();
    Ok(Arc::new(DurableChannel::new(journal, keys, None).with_host_key(host_key)))
}

/// Returns the source of the approver's public key on this host. Hosts that share a journal go by the one that is there: it
/// replaces those of all hosts.
fn own_key(is_alone: bool) -> impl Fn() -> Option<ApproverKey> + Send + Sync + 'static {
    move || if is_alone { key().ok() } else { None }
}

/// Reads the key of hosts, if they share the journal.
fn shared_key(journal: &dyn agent_spaces::journal::Store) -> Result<Option<HostKey>, Failure> {
    match journal.is_shared() {
        true => host_key::read(),
        false => Ok(None),
    }
}

/// Puts the public key of the approver into the store that hosts share, if there is one.
fn publish(key: &ApproverKey) -> Result<(), Failure> {
    let Some(store) = store_choice::open(&DurableSettings::default(), Duration::ZERO)? else { return Ok(()) };
    match shared_key(&*store)? {
        Some(host_key) => {
            let publishing = shared_approver::publish(&*store, &host_key, key);
            Ok(session::runtime()?.block_on(publishing)?)
        }
        None => {
            terminal::note(host_key::MISSING);
            Ok(())
        }
    }
}

/// Loads the public key of the approver.
fn key() -> Result<ApproverKey, Failure> {
    ApproverKey::load(&key_file()?).map_err(failed)?.ok_or_else(no_token)
}

fn no_token() -> Failure {
    let hint = "create one with `agent-spaces approvals token`";
    Failure::new(Code::ConfigApprover, "there is no approver token yet", Some(hint))
}

fn key_file() -> Result<PathBuf, Failure> {
    Ok(folder()?.join("approver.json"))
}

fn folder() -> Result<PathBuf, Failure> {
    folders::state().ok_or_else(|| Failure::new(Code::HostState, "there is no home folder", Some("set XDG_STATE_HOME")))
}

fn failed(error: StoreError) -> Failure {
    Failure::new(Code::CallDenied, error.to_string(), None)
}
