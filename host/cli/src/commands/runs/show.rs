//! `agent-spaces runs show`

use super::list::{json_of, status_of};
use crate::commands::failure::Failure;
use crate::commands::journal::{OpenJournal, indented, now_ms, time, waits};
use crate::commands::{output, terminal};
use agent_spaces::durable::details::{Details, details};
use agent_spaces::journal::{ApprovalRow, Status};
use capability_gen::counted::counted;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::{Value, json};

/// Longest result that is printed for people, in characters. `--json` has all of it.
const MAX_RESULT: usize = 4_000;

/// Show a run: its status, what it waits for, calls in doubt, approvals and result
#[derive(Args)]
#[command(after_help = "Example:\n  agent-spaces runs show 7f3c")]
pub(super) struct Show {
    /// The run
    run: String,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn execute(self) -> u8 {
        output::answer(self.show(), self.json)
    }

    fn show(&self) -> Result<(Value, Shown), Failure> {
        let journal = OpenJournal::open()?;
        let row = journal.find(&self.run)?;
        let details = journal.wait(details(&*journal.store, row))?;
        Ok((to_json(&details), to_text(&details)))
    }
}

fn to_json(details: &Details) -> Value {
    let mut value = json_of(&details.row, details.has_dead_host);
    let header = &details.header;
    value["version"] = json!(header.version);
    value["engine"] = json!(header.engine_sha256);
    value["policy"] = json!(header.policy);
    value["imported"] = json!(details.is_imported);
    value["limits"] = json!(header.limits);
    value["scopes"] = json!(header.caller.scopes);
    value["folder"] = header.command["folder"].clone();
    value["approvedInAdvance"] = json!(approved_in_advance(details));
    value["calls"] = json!(details.calls);
    value["inDoubt"] = json!(details.in_doubt);
    value["approvals"] = details.approvals.iter().map(approval).collect();
    value["result"] = json!(details.result);
    value
}

/// Returns the functions that the command approved in advance.
fn approved_in_advance(details: &Details) -> Vec<&str> {
    details.header.command["approve"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn approval(row: &ApprovalRow) -> Value {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    json!({
        "id": row.id,
        "callId": row.call,
        "request": read(&row.request),
        "decision": row.decision.as_deref().map(read),
        "created": time(row.created),
        "decided": row.decided_at.map(time),
    })
}

fn to_text(details: &Details) -> Shown {
    let line = terminal::clean_line;
    let (row, summary) = (&details.row, &details.row.summary);
    let mut text = shown!("{}  {}\n", line(&row.id), status_of(row, details.has_dead_host));
    let mut fact = |name: &'static str, value: &str| {
        if !value.is_empty() {
            text.push(shown!("  {:<9} {}\n", name, line(value)));
        }
    };
    fact("script", &summary.script);
    fact("project", &summary.project);
    fact("space", &summary.space);
    fact("caller", &summary.caller);
    fact("started", &format!("{} by version {}", time(row.created), details.header.version));
    fact("changed", &time(row.updated));
    let (entries, calls) = (counted(row.next_seq, "entry"), counted(details.calls, "call"));
    fact("journal", &format!("{entries}, {} bytes, {calls}", row.bytes));
    fact("folder", details.header.command["folder"].as_str().unwrap_or_default());
    fact("scopes", &details.header.caller.scopes.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    fact("approved", &approved_in_advance(details).join(", "));
    let limits = &details.header.limits;
    fact("limits", &format!("fuel {}, memory {} bytes, time {:?}", limits.fuel, limits.memory, limits.time));
    if details.is_imported {
        fact("imported", "its rights are not taken over: see `agent-spaces runs resume --help`");
    }
    if row.cancel_requested && !row.status.is_ended() {
        fact("cancelled", "requested");
    }
    let (lines, _) = waits(&row.id, &row.waits_for, row.wake_at);
    let is_parked = row.status == Status::Parked;
    let is_over = row.wake_at.is_some_and(|wake_at| wake_at <= now_ms());
    if is_parked && !is_over && !lines.is_empty() {
        text.push("\nwaits\n");
        text.push(indented(&lines));
    }
    push_doubts(&mut text, details);
    if !details.approvals.is_empty() {
        text.push("\napprovals\n");
    }
    for row in &details.approvals {
        let request: Value = serde_json::from_str(&row.request).unwrap_or_default();
        let name = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
        let function = format!("{}.{}({})", name("capability"), name("function"), request["params"]);
        let decision: Option<Value> = row.decision.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let open = if details.row.status.is_ended() { "not decided" } else { "pending" };
        let word = decision.as_ref().and_then(|decision| decision["decision"].as_str()).unwrap_or(open);
        text.push(shown!("  {}  call {}  {}  {}\n", line(&row.id), row.call, line(&function), line(word)));
    }
    if let Some(result) = &details.result {
        let shown = serde_json::to_string_pretty(result).unwrap_or_default();
        text.push(shown!("\nresult\n{}\n", Shown::text(&shown, MAX_RESULT)));
    }
    if row.status == Status::Ready || details.has_dead_host || (is_parked && is_over) {
        text.push(shown!("\ncontinue it: agent-spaces runs resume {}\n", line(&row.id)));
    }
    text
}

/// Lists the calls in doubt, and the answers that a person can give.
fn push_doubts(text: &mut Shown, details: &Details) {
    let line = terminal::clean_line;
    if details.in_doubt.is_empty() {
        return;
    }
    text.push("\nin doubt: the host died after it sent these calls; they may have taken effect\n");
    for call in &details.in_doubt {
        // Not cut: whoever answers must see all arguments.
        let params = Shown::line(&call.params.to_string(), usize::MAX);
        text.push(shown!("  call {}  {}({})\n", call.call, line(&call.function), params));
        text.push(shown!("    {}\n", line(&call.function_id)));
    }
    let id = line(&details.row.id);
    text.push(shown!("  agent-spaces runs answer {} CALL --happened JSON | --did-not-happen | --give-up\n", id));
}
