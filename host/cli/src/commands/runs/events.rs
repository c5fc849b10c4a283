//! `agent-spaces runs events`

use crate::commands::failure::Failure;
use crate::commands::journal::OpenJournal;
use crate::commands::{output, terminal};
use agent_spaces::durable::details::events;
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::Value;

/// Print the recorded events of a run
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces runs events 7f3c
  agent-spaces runs events 7f3c --json | jq -r 'select(.type == \"console\").text'")]
pub(super) struct Events {
    /// The run
    run: String,

    /// Print each event as a line of JSON, as `run --events` does
    #[arg(long)]
    json: bool,
}

impl Events {
    pub(super) fn execute(self) -> u8 {
        match self.read() {
            Ok(events) if self.json => events.iter().map(output::print_line).max().unwrap_or_default(),
            Ok(events) => output::print(&events.iter().filter_map(|event| line(event)).collect()),
            Err(failure) => failure.report(self.json),
        }
    }

    fn read(&self) -> Result<Vec<String>, Failure> {
        let journal = OpenJournal::open()?;
        let row = journal.find(&self.run)?;
        journal.wait(events(&*journal.store, &row.id))
    }
}

/// Returns an event on one line: its time, type and payload.
fn line(event: &str) -> Option<Shown> {
    let mut event: Value = serde_json::from_str(event).ok()?;
    let members = event.as_object_mut()?;
    let mut take =
        |key: &str| members.shift_remove(key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
    let (time, kind, _) = (take("timestamp"), take("type"), take("runId"));
    members.shift_remove("seq");
    let payload: Vec<String> = members.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (time, kind, payload) =
        (terminal::clean_line(&time), terminal::clean_line(&kind), terminal::clean_line(&payload.join(" ")));
    Some(shown!("{}  {}  {}\n", time, kind, payload))
}

#[cfg(test)]
mod tests {
    use crate::commands::runs::events::line;

    #[test]
    fn an_event_is_one_line_without_control_characters() {
        let event = r#"{"type":"console","level":"log","text":"a\n\u001b[2J","timestamp":"t","runId":"run_1","seq":3}"#;
        assert_eq!(&*line(event).unwrap(), "t  console  level=\"log\" text=\"a\\n\\u001b[2J\"\n");
        assert_eq!(line("nothing"), None);
    }
}
