//! Summary of the programs and connections that a file would start, for the user who accepts it.

use crate::commands::DefinedCommand;
use agent_spaces_config::{Auth, BearerSource, McpServer, Raw, Transport};
use agent_spaces_types::command_line::{command_line, cut, visible, word};
use agent_spaces_types::counted::counted;
use capability_gen::implementation::{CommandArgument, CommandInput};
use std::collections::{BTreeMap, BTreeSet};

/// Most servers, and most characters of one line. A cut line says how much is not shown: the end of a long command is
/// as dangerous as its beginning.
const MAX_SERVERS: usize = 100;
pub(super) const MAX_LINE: usize = 3_000;

/// Lists the servers that a file would start or connect to, one line each: the command or address, and the names of the
/// variables that it receives. Words of a command are shown unchanged; values of variables, `env`, headers and URL
/// queries are never shown.
pub fn waiting(servers: &BTreeMap<String, McpServer>) -> String {
    let mut usable = servers.iter().filter(|(_, server)| server.enabled);
    let mut lines: Vec<String> = usable.by_ref().take(MAX_SERVERS).map(|(name, server)| line(name, server)).collect();
    match usable.count() {
        0 => {}
        more => lines.push(format!("… and {}", counted(more, "more server"))),
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Lists the programs that functions of a definition would start, one line each: the command line with its
/// placeholders, and the names of the variables that it asks for.
pub fn waiting_commands(commands: &[DefinedCommand]) -> String {
    let mut lines: Vec<String> = commands.iter().take(MAX_SERVERS).map(command_of).collect();
    match commands.len().saturating_sub(MAX_SERVERS) {
        0 => {}
        more => lines.push(format!("… and {more} more programs")),
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn command_of(command: &DefinedCommand) -> String {
    let template = &command.template;
    let place = template.cwd.as_ref().map(|cwd| format!(" in {}", word(cwd))).unwrap_or_default();
    let input = template.stdin.as_ref().map(|input| match input {
        CommandInput::Params => ", which reads the parameters".to_owned(),
        CommandInput::Json(value) => format!(", which reads {}", word(&value.to_string())),
        CommandInput::Text(text) => format!(", which reads {}", word(text.text())),
    });
    let reads = note("reads", template.env.iter().map(|name| word(name)));
    let dashes = template.args.iter().filter_map(|argument| match argument {
        CommandArgument::Template { value, may_begin_with_dash: true } => Some(word(value.text())),
        _ => None,
    });
    let dashes = note("may become an option:", dashes);
    let notes = reads.into_iter().chain(dashes).collect::<Vec<_>>().join("; ");
    let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
    let does = format!("{}: runs {}{place}", word(&command.label), command_line(template.words()));
    // Input and variable names come last, and a long command cannot push them out.
    cut(does, MAX_LINE) + &input.unwrap_or_default() + &cut(notes, MAX_LINE)
}

fn line(name: &str, server: &McpServer) -> String {
    let name = word(name);
    if let Some(reason) = &server.unsupported {
        return cut(format!("{name}: cannot be started: {}", visible(reason)), MAX_LINE);
    }
    let (does, notes) = match &server.transport {
        Transport::Stdio { program, args, env, cwd } => {
            let texts = args.iter().chain(env.values()).map(Raw::expose);
            let read = variables([program.as_str()].into_iter().chain(texts).chain(cwd.as_deref()));
            // A variable that is passed on under its own name is listed once.
            let is_passed_on = |(name, value): &(&String, &Raw)| value.expose() == format!("${{{name}}}");
            let set = env.iter().filter(|pair| !is_passed_on(pair)).map(|(name, _)| word(name)).collect::<Vec<_>>();
            let command = command_line([program.as_str()].into_iter().chain(args.iter().map(Raw::expose)));
            let place = cwd.as_ref().map(|cwd| format!(" in {}", word(cwd))).unwrap_or_default();
            (format!("runs {command}{place}"), [note("reads", read), note("sets", set)])
        }
        Transport::Remote { url, headers, auth, .. } => {
            let (token, texts) = token(auth);
            let texts = texts.into_iter().chain([url.expose()]).chain(headers.values().map(Raw::expose));
            let mut sent = variables(texts);
            if let Auth::Bearer(BearerSource::Env(name)) = auth {
                sent.insert(word(name));
            }
            (format!("connects to {}{token}", address(url.expose())), [note("sends", sent), None])
        }
    };
    let notes = notes.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
    // Variable names come last, and a long command cannot push them out.
    cut(format!("{name}: {does}"), MAX_LINE) + &cut(notes, MAX_LINE)
}

/// Source of the bearer token, and the texts that may contain variables for it.
fn token(auth: &Auth) -> (String, Vec<&str>) {
    match auth {
        Auth::Bearer(BearerSource::Token(token)) => (String::new(), vec![token.expose()]),
        Auth::Bearer(BearerSource::File(file)) => (format!(", reads {} for its token", word(file)), vec![file]),
        Auth::Bearer(BearerSource::Command(words)) => {
            let words: Vec<&str> = words.iter().map(Raw::expose).collect();
            (format!(", runs {} for its token", command_line(words.iter().copied())), words)
        }
        Auth::OAuth(client) => {
            let secret = client.client_secret.as_ref().map(Raw::expose);
            (String::new(), secret.into_iter().chain(client.client_id.as_deref()).collect())
        }
        Auth::Bearer(BearerSource::Env(_)) | Auth::None => (String::new(), Vec::new()),
    }
}

pub(super) fn note(what: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("{what} {names}"))
}

/// Variable names in `${NAME}` and `${NAME:-default}`.
pub(super) fn variables<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let name = |part: &str| -> String {
        part.chars().take_while(|character| character.is_ascii_alphanumeric() || *character == '_').collect()
    };
    let names = texts.flat_map(|text| text.split("${").skip(1).map(name).collect::<Vec<_>>());
    names.filter(|name| !name.is_empty()).map(|name| word(&name)).collect()
}

/// Address without user name, password, query and fragment.
pub(super) fn address(url: &str) -> String {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match shown.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), shown),
    };
    let (host, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    word(&format!("{scheme}{host}{path}"))
}

#[cfg(test)]
#[path = "startup_tests.rs"]
mod tests;
