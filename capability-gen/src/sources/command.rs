//! Parser of `command`: a program started for each call of a function.
//!
//! Everything that can be checked is checked here, so that a call fails only because of its values.

use super::error::{SourceError, quoted};
use super::implementation::path;
use super::node::Node;
use super::parameters::{MAX_TEMPLATE_BYTES, Parameters};
use crate::implementation::{CommandArgument, CommandInput, CommandOutput, CommandTemplate, ExitMeaning};
use crate::names::nearest;
use serde_json::Value;
use std::collections::BTreeMap;

const KEYS: [&str; 8] = ["program", "args", "stdin", "output", "cwd", "timeout", "env", "exitCodes"];

/// Maximum number of arguments, and of environment variables.
const MAX_WORDS: usize = 256;

/// Maximum timeout of a call. Longer work belongs in a background process.
const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) fn read(node: &Node<'_>, parameters: &Value) -> Result<CommandTemplate, SourceError> {
    node.object("\"command\"")?;
    node.check_keys(&KEYS, "command")?;
    let parameters = &Parameters::of(parameters);
    let Some(program) = node.get("program") else {
        return Err(node.error("the command has no \"program\"", "Name the program to start."));
    };
    Ok(CommandTemplate {
        program: literal(&program, "\"program\"")?,
        args: list(node, "args", |item| argument(item, parameters))?,
        stdin: node.get("stdin").map(|node| input(&node, parameters)).transpose()?,
        output: node.get("output").map(|node| output(&node)).transpose()?.unwrap_or_default(),
        cwd: node.get("cwd").map(|node| literal(&node, "\"cwd\"")).transpose()?,
        timeout_ms: node.get("timeout").map(|node| milliseconds(&node)).transpose()?,
        env: list(node, "env", variable)?,
        exit_codes: node.get("exitCodes").map(|node| exit_codes(&node)).transpose()?.unwrap_or_default(),
    })
}

/// Path or name without placeholders.
fn literal(node: &Node<'_>, what: &str) -> Result<String, SourceError> {
    let text = path(node, what)?;
    check_text(node, &text)?;
    match text.contains("{{") {
        true => Err(node.error(format!("{what} cannot have a placeholder"), "Write it as literal text.")),
        false => Ok(text),
    }
}

/// Checks the length of a text, and that it contains no NUL byte.
fn check_text(node: &Node<'_>, text: &str) -> Result<(), SourceError> {
    if text.contains('\0') {
        return Err(node.error("NUL byte in text for a program", "Remove it."));
    }
    if text.len() > MAX_TEMPLATE_BYTES {
        let message = format!("this has {} bytes, more than {MAX_TEMPLATE_BYTES}", text.len());
        return Err(node.error(message, "Shorten it."));
    }
    Ok(())
}

fn list<T>(
    node: &Node<'_>,
    key: &str,
    read: impl Fn(&Node<'_>) -> Result<T, SourceError>,
) -> Result<Vec<T>, SourceError> {
    let Some(list) = node.get(key) else { return Ok(Vec::new()) };
    match list.value.as_array() {
        None => Err(list.mistyped(&quoted(key), "an array")),
        Some(items) if items.len() > MAX_WORDS => {
            let message = format!("there are {} of them, more than {MAX_WORDS}", items.len());
            Err(list.error(message, "Write fewer, or pass a list as one \"{{parameter}}\"."))
        }
        Some(_) => list.items().map(|item| read(&item)).collect(),
    }
}

/// Text, `{"literal": text}` or `{"value": template, "mayBeginWithDash": true}`.
fn argument(node: &Node<'_>, parameters: &Parameters<'_>) -> Result<CommandArgument, SourceError> {
    if !node.value.is_object() {
        return filled(node, false, parameters);
    }
    node.check_keys(&["literal", "value", "mayBeginWithDash"], "argument")?;
    match (node.get("literal"), node.get("value")) {
        (Some(literal), None) if !node.has("mayBeginWithDash") => {
            let text = literal.text("\"literal\"")?;
            check_text(&literal, text)?;
            Ok(CommandArgument::Literal(text.to_owned()))
        }
        (None, Some(value)) => filled(&value, node.get_bool("mayBeginWithDash")?.unwrap_or_default(), parameters),
        _ => {
            let fix = "Write text, {\"literal\": text} or {\"value\": text, \"mayBeginWithDash\": true}.";
            Err(node.error("invalid argument", fix))
        }
    }
}

fn filled(
    node: &Node<'_>,
    may_begin_with_dash: bool,
    parameters: &Parameters<'_>,
) -> Result<CommandArgument, SourceError> {
    let text = node.text("an argument")?;
    check_text(node, text)?;
    let value = parameters.template(node, text)?;
    let is_filled = value.parameters().next().is_some();
    Ok(match is_filled {
        true => CommandArgument::Template { value, may_begin_with_dash },
        false => CommandArgument::Literal(value.into()),
    })
}

/// `"params"`, `{"json": template}` or `{"text": template}`.
fn input(node: &Node<'_>, parameters: &Parameters<'_>) -> Result<CommandInput, SourceError> {
    let fix = "Write \"params\", {\"json\": …} or {\"text\": …}.";
    if node.value == "params" {
        return Ok(CommandInput::Params);
    }
    if !node.value.is_object() {
        return Err(node.error("invalid standard input", fix));
    }
    node.check_keys(&["json", "text"], "stdin")?;
    // `get` treats `null` as absent, but here it is JSON.
    let json = node.value.get("json").map(|value| node.member("json", value));
    match (json, node.get("text")) {
        (Some(json), None) => {
            parameters.check_json(&json)?;
            Ok(CommandInput::Json(json.value.clone()))
        }
        (None, Some(node)) => Ok(CommandInput::Text(parameters.template(&node, node.text("\"text\"")?)?)),
        _ => Err(node.error("\"stdin\" has one of \"json\" and \"text\"", fix)),
    }
}

fn output(node: &Node<'_>) -> Result<CommandOutput, SourceError> {
    Ok(match node.text("\"output\"")? {
        "json" => CommandOutput::Json,
        "text" => CommandOutput::Text,
        "lines" => CommandOutput::Lines,
        other => {
            let fix = match nearest(other, ["json", "text", "lines"].into_iter()) {
                Some(near) => format!("Did you mean {near:?}?"),
                None => "Write json, text or lines.".to_owned(),
            };
            return Err(node.error(format!("unknown output format {}", quoted(other)), fix));
        }
    })
}

/// `250ms`, `30s`, `2min`; a bare number is seconds.
fn milliseconds(node: &Node<'_>) -> Result<u64, SourceError> {
    let text = match node.value {
        Value::Number(number) => number.to_string(),
        _ => node.text("\"timeout\"")?.to_owned(),
    };
    let (digits, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len()));
    let scale = match unit.trim() {
        "ms" => Some(1),
        "s" | "" => Some(1_000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let time = digits.parse::<u64>().ok().zip(scale).and_then(|(count, scale)| count.checked_mul(scale));
    time.filter(|time| (1..=MAX_TIMEOUT_MS).contains(time)).ok_or_else(|| {
        let message = format!("invalid timeout {}", quoted(&text));
        node.error(message, "Write a whole number with ms, s, min or h, of at most 24h, such as \"30s\".")
    })
}

fn variable(node: &Node<'_>) -> Result<String, SourceError> {
    let name = node.text("the name of a variable")?;
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = name.len() <= 256
        && name.bytes().all(is_known)
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    match is_name {
        true => Ok(name.to_owned()),
        false => {
            let fix = "Write the name alone; the configuration gives it its value, under \"providers\".";
            Err(node.error(format!("invalid name of an environment variable: {}", quoted(name)), fix))
        }
    }
}

fn exit_codes(node: &Node<'_>) -> Result<BTreeMap<u8, ExitMeaning>, SourceError> {
    node.object("\"exitCodes\"")?;
    let mut codes = BTreeMap::new();
    for (key, member) in node.members() {
        let code = key.parse::<u8>().ok().filter(|code| *code > 0 && code.to_string() == key).ok_or_else(|| {
            let message = format!("invalid exit status of a failure: {}", quoted(key));
            member.error(message, "Write a number from 1 to 255 in quotation marks.")
        })?;
        codes.insert(code, meaning(&member)?);
    }
    Ok(codes)
}

fn meaning(node: &Node<'_>) -> Result<ExitMeaning, SourceError> {
    node.object("an exit status")?;
    node.check_keys(&["message", "retryable", "isAnswer"], "exit status")?;
    let meaning = ExitMeaning {
        message: node.get_text("message")?.map(str::to_owned),
        retryable: node.get_bool("retryable")?.unwrap_or_default(),
        is_answer: node.get_bool("isAnswer")?.unwrap_or_default(),
    };
    match meaning.is_answer && (meaning.message.is_some() || meaning.retryable) {
        true => {
            Err(node
                .error("\"isAnswer\" contradicts \"message\" and \"retryable\"", "Remove \"isAnswer\", or the others."))
        }
        false => Ok(meaning),
    }
}
