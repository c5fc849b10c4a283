//! Notes for agents about unavailable servers.

use super::{Source, is_unaccepted};
use crate::commands::space_choice::Found;
use agent_spaces::project::SpaceModules;
use agent_spaces::serve::{Note, Servers};
use agent_spaces::trust::Status;
use capability_gen::counted::counted;

impl Source {
    /// Returns notes for agents about unavailable servers, and the progress of discovery.
    pub(super) fn notes(&self, modules: &SpaceModules<'_>, found: &Found) -> (Vec<Note>, Servers) {
        let attempts = self.attempts();
        let missing = |name: &str, why: &str, again| Note {
            again,
            ..Note::of_server(format!("the tools of {name} are unavailable: {why}"))
        };
        let (mut asked, mut failed) = (Vec::new(), Vec::new());
        let mut unaccepted = modules.given.iter().filter(|definition| is_unaccepted(definition)).count();
        for server in &modules.undiscovered {
            if server.acceptance.status != Status::Accepted {
                unaccepted += 1;
                continue;
            }
            let name = server.name.as_str();
            match (server.obstacle_for_agents(), attempts.get(name).and_then(|attempt| attempt.failed.as_ref())) {
                (Some(obstacle), _) => failed.push(missing(name, obstacle, None)),
                (None, Some((why, again))) => failed.push(missing(name, why, Some(*again))),
                (None, None) => asked.push(name.to_owned()),
            }
        }
        let awaited = asked.len();
        let mut notes =
            truncated(failed, |more| Note::of_server(format!("and the tools of {}", counted(more, "more server"))));
        if unaccepted > 0 {
            // Names of an unaccepted file are untrusted too.
            let servers = if unaccepted == 1 { "1 server is".to_owned() } else { format!("{unaccepted} servers are") };
            let command = self.choice.trust_command();
            let why = format!(
                "the configuration is not accepted, or has changed since: the user can review it and run `{command}`"
            );
            notes.push(Note::of_server(format!("{servers} unavailable: {why}")));
        }
        if awaited > 0 {
            let asked = truncated(asked, |more| format!("and {more} more")).join(", ");
            notes.push(Note::of_server(format!("still listing the tools of {asked}; search again in a moment")));
        }
        if let Found::Definitions(definitions) = found
            && definitions.is_empty()
        {
            let text = "nothing is configured: the user can run `agent-spaces init`".to_owned();
            notes.push(Note { text, is_of_server: false, again: None });
        }
        let known = modules.given.iter().filter(|definition| definition.server.is_some()).count();
        if let (Found::Project(project), 0, true) = (found, known, modules.undiscovered.is_empty()) {
            notes.extend(self.ungiven(project.ungiven_servers().len()));
        }
        (notes, Servers { known, awaited })
    }

    /// Returns the note for agents about servers that no space is granted, without their names.
    fn ungiven(&self, count: usize) -> Option<Note> {
        let servers = match count {
            0 => return None,
            1 => "1 MCP server is configured, but granted to no space".to_owned(),
            count => format!("{count} MCP servers are configured, but granted to no space"),
        };
        let argument = self.argument();
        let how = format!("the user can add them to `capabilities.global`: see `agent-spaces doctor{argument}`");
        Some(Note::of_server(format!("{servers}: {how}")))
    }
}

/// Truncates a list and adds the number of the rest: agents read all of it.
fn truncated<T>(mut all: Vec<T>, more: impl Fn(usize) -> T) -> Vec<T> {
    const MOST: usize = 8;
    if all.len() > MOST {
        let left = all.len() - MOST;
        all.truncate(MOST);
        all.push(more(left));
    }
    all
}
