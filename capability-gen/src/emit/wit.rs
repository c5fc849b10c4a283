//! `.wit` package of a module.
//!
//! Text from a source appears in `///` lines only, sanitized so that it can neither end the line nor hide anything.

use crate::hidden::is_hidden;
use crate::model::{Module, ServerInterface};
use crate::names::{camel, is_wit_keyword};
use crate::server;
use crate::wit::{Definition, Interface, Kind, Member, Plan};

/// Interface of the shared types.
const SHARED: &str = "agent-spaces:host/types@0.1.0";

/// Package of the shared types, a dependency of every module's package.
pub const HOST: &str = include_str!("../../../wit/host.wit");

/// Prefix of references to that package.
pub(super) const HOST_PACKAGE: &str = "agent-spaces:host/";

/// Path of that package in a bundle, where WIT tools find it.
pub const HOST_FILE: &str = "deps/agent-spaces-host.wit";

const MEMBER: &str = "        ";

/// Maximum number of lines of a description.
const MAX_LINES: usize = 40;

/// Maximum length of a line of a description.
const MAX_LINE: usize = 400;

/// Generates the package of a module.
pub fn wit(module: &Module, plan: &Plan) -> String {
    let mut out = String::new();
    let (namespace, name) = (escaped(&plan.namespace), escaped(&plan.name));
    line(&mut out, "", &format!("package {namespace}:{name}@{};", plan.version));
    for (interface, capability) in plan.interfaces.iter().zip(&module.capabilities) {
        out.push('\n');
        docs(&mut out, "", &capability.description);
        line(&mut out, "", &format!("interface {} {{", escaped(&interface.name)));
        line(&mut out, "    ", &shared(interface));
        let mut definitions = interface.definitions.iter().peekable();
        for (place, (planned, function)) in interface.functions.iter().zip(&capability.functions).enumerate() {
            while let Some(definition) = definitions.next_if(|definition| definition.function <= place) {
                self::definition(&mut out, interface, definition);
            }
            out.push('\n');
            docs(&mut out, "    ", &function.description);
            let params = planned.params.as_ref().map(|params| format!("params: {}", interface.written(params)));
            let signature = format!(
                "{}: async func({}) -> result<{}, {}>;",
                escaped(&planned.name),
                params.unwrap_or_default(),
                interface.written(&planned.result),
                interface.error_name,
            );
            line(&mut out, "    ", &signature);
        }
        out.push_str("}\n");
    }
    for ServerInterface { part, interface } in &plan.server {
        out.push('\n');
        out.push_str(&server::wit(*part, &escaped(interface)));
    }
    out
}

/// A package with its dependencies nested: one document that WIT tools accept.
pub fn with_dependencies(wit: &str) -> String {
    if !wit.contains(HOST_PACKAGE) {
        return wit.to_owned();
    }
    let mut out = format!("{}\n", wit.trim_end());
    for text in HOST.lines() {
        match text.strip_prefix("package ").and_then(|package| package.strip_suffix(';')) {
            Some(package) => line(&mut out, "", &format!("\npackage {package} {{")),
            None if text.is_empty() => out.push('\n'),
            None => line(&mut out, "    ", text),
        }
    }
    out.push_str("}\n");
    out
}

/// The `use` line of the shared types; `json` only if it is used.
fn shared(interface: &Interface) -> String {
    let has_extras = |definition: &Definition| definition.members.iter().any(|member| member.mark == "*");
    let uses_json = !interface.fallbacks.is_empty() || interface.definitions.iter().any(has_extras);
    let names = [("json", &interface.json_name, uses_json), ("capability-error", &interface.error_name, true)];
    let names = names
        .iter()
        .filter(|(_, _, is_used)| *is_used)
        .map(|(name, here, _)| if name == here { (*name).to_owned() } else { format!("{name} as {here}") });
    format!("use {SHARED}.{{{}}};", names.collect::<Vec<_>>().join(", "))
}

fn definition(out: &mut String, interface: &Interface, definition: &Definition) {
    out.push('\n');
    docs(out, "    ", &definition.description);
    let keyword = match definition.kind {
        Kind::Record => "record",
        Kind::Enum => "enum",
        Kind::Variant => "variant",
    };
    line(out, "    ", &format!("{keyword} {} {{", escaped(&definition.name)));
    for member in &definition.members {
        docs(out, MEMBER, &member.description);
        if let Some(text) = other_name(definition.kind, member) {
            docs(out, MEMBER, &format!("JSON: {}", serde_json::Value::from(text)));
        }
        let name = escaped(&member.name);
        let ty = member.ty.as_ref().map(|ty| interface.written(ty));
        let text = match (ty, definition.kind) {
            (Some(ty), Kind::Variant) => format!("{name}({ty}),"),
            (Some(ty), _) => format!("{name}: {ty},"),
            (None, _) => format!("{name},"),
        };
        line(out, MEMBER, &text);
    }
    out.push_str("    }\n");
}

fn line(out: &mut String, indent: &str, text: &str) {
    for part in [indent, text, "\n"] {
        out.push_str(part);
    }
}

/// The member's name in JSON, if it cannot be derived from its WIT name.
fn other_name(kind: Kind, member: &Member) -> Option<&str> {
    let text = member.mark.strip_prefix(['=', '?', '+', '%'])?;
    let is_plain = match kind {
        Kind::Enum => text == member.name,
        _ => text == camel(&member.name),
    };
    (!is_plain).then_some(text)
}

fn escaped(name: &str) -> String {
    if is_wit_keyword(name) { format!("%{name}") } else { name.to_owned() }
}

fn docs(out: &mut String, indent: &str, text: &str) {
    let mut lines = clean_lines(text).into_iter();
    for text in lines.by_ref().take(MAX_LINES) {
        line(out, indent, if text.is_empty() { "///".to_owned() } else { format!("/// {text}") }.as_str());
    }
    if lines.next().is_some() {
        line(out, indent, "/// …");
    }
}

/// The lines of a text, without hidden characters and without blank lines around it.
fn clean_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim().lines() {
        // One more than the limit, to detect truncation.
        if lines.len() > MAX_LINES {
            break;
        }
        let mut characters = line.chars().map(|character| if character == '\t' { ' ' } else { character });
        let mut visible = characters.by_ref().filter(|character| !is_left_out(*character));
        let mut clean: String = visible.by_ref().take(MAX_LINE).collect();
        if visible.next().is_some() {
            clean.push('…');
        }
        lines.push(clean.trim_end().to_owned());
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Returns true for hidden characters and those that WIT refuses.
fn is_left_out(character: char) -> bool {
    let is_refused = matches!(character, '\u{149}' | '\u{673}' | '\u{f77}' | '\u{f79}' | '\u{17a3}' | '\u{17a4}');
    is_hidden(character) || is_refused
}
