//! What a file would start, in words for the one who accepts it.

use crate::config::{Auth, BearerSource, McpServer, Raw, Transport};
use crate::project::DefinedCommand;
use capability_gen::counted::counted;
use capability_gen::implementation::{CommandArgument, CommandInput};
use capability_gen::shown::Shown;
use std::collections::{BTreeMap, BTreeSet};

/// Most servers, and most characters of one word and of one line. What is cut says how much is not shown: the end of a
/// long command is as dangerous as its beginning.
const MAX_SERVERS: usize = 100;
const MAX_WORD: usize = 300;
pub(super) const MAX_LINE: usize = 3_000;

/// One line for every server that a file would start or reach: its command or its address, and the names of the
/// variables that go there. Words of a command are shown as they stand; what is in a variable, in `env`, in a header or
/// in an address beyond its path never is.
pub fn waiting(servers: &BTreeMap<String, McpServer>) -> String {
    let mut usable = servers.iter().filter(|(_, server)| server.enabled);
    let mut lines: Vec<String> = usable.by_ref().take(MAX_SERVERS).map(|(name, server)| line(name, server)).collect();
    match usable.count() {
        0 => {}
        more => lines.push(format!("… and {}", counted(more, "more server"))),
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// One line for every program that a definition would start when its function is called: its line with the
/// placeholders that parameters take the place of, and the names of the variables that it asks the configuration for.
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
    // What it is told to do and the names come last and are never cut away by a long command.
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
            // A variable that is passed on under its own name is named once.
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
    // The names come last and are never cut away by a long command.
    cut(format!("{name}: {does}"), MAX_LINE) + &cut(notes, MAX_LINE)
}

/// What gives a token, and the texts that may hold variables for it.
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

/// The words of a command as a person can read them apart.
pub(crate) fn command_line<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// The names in `${NAME}` and `${NAME:-default}`.
pub(super) fn variables<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let name = |part: &str| -> String {
        part.chars().take_while(|character| character.is_ascii_alphanumeric() || *character == '_').collect()
    };
    let names = texts.flat_map(|text| text.split("${").skip(1).map(name).collect::<Vec<_>>());
    names.filter(|name| !name.is_empty()).map(|name| word(&name)).collect()
}

/// An address as far as it says where to: no name, password, query or fragment.
fn address(url: &str) -> String {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match shown.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), shown),
    };
    let (host, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    word(&format!("{scheme}{host}{path}"))
}

/// A word of a command: bounded, visible, and in quotes where it would look like several or like none.
pub(super) fn word(text: &str) -> String {
    let visible = visible(text);
    let is_plain =
        !visible.is_empty() && !visible.contains(|character: char| character.is_whitespace() || character == '"');
    let shown = cut(visible, MAX_WORD);
    if is_plain { shown } else { format!("\"{}\"", shown.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// What is hidden is shown: it would be part of the command.
fn visible(text: &str) -> String {
    Shown::exact(text, usize::MAX).into()
}

/// The first so many characters, and how many more there are.
pub(super) fn cut(text: String, most: usize) -> String {
    let more = text.chars().count().saturating_sub(most);
    if more == 0 {
        return text;
    }
    let kept: String = text.chars().take(most).collect();
    format!("{kept}… ({more} more characters)")
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
