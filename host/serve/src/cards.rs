//! Catalogue entries of functions, as search and listings show them.

use super::dts_parser::{DeclaredExport, DeclaredMember, DeclaredModule};
use agent_spaces_linker::package::interface_name;
use agent_spaces_pipeline::KnownFunction;
use agent_spaces_policy::FunctionId;
use agent_spaces_types::function::label_of;
use agent_spaces_types::standard::STANDARD;
use capability_gen::definition::SourceKind;
use capability_gen::emit::dts;
use capability_gen::model::{Capability, Function, Module};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of a description, of a parameter's name and description, and maximum number of parameters.
const MAX_DESCRIPTION: usize = 2_000;
const MAX_PARAMETER: usize = 200;
const MAX_PARAMETERS: usize = 100;

/// Maximum number of parameters of an example.
const MAX_EXAMPLE: usize = 5;

/// Maximum length of a one-line signature and of a summary.
const MAX_SIGNATURE: usize = 200;
const MAX_SUMMARY: usize = 160;

/// Catalogue entry of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Module specifier: `@capabilities/mcp-slack`.
    pub module: String,
    /// Capability name of its source: `slack`.
    pub capability: String,
    /// Name in scripts: `slack.listChannels`.
    pub label: String,
    /// Name in its source: `slack_list_channels`.
    pub name: String,
    /// Display title.
    pub title: Option<String>,
    /// One-line declaration.
    pub signature: String,
    /// Description.
    pub description: String,
    /// Names and descriptions of its parameters.
    pub parameters: Vec<(String, String)>,
    /// Example arguments: `{ owner: '…' }`.
    pub example: String,
    /// Function id.
    pub id: FunctionId,
    requires_approval: Option<bool>,
    scopes: Vec<String>,
    is_server_tool: bool,
    is_read_only: bool,
}

/// Returns the cards of a compiled module.
pub(super) fn cards(module: &Module) -> Vec<Card> {
    let functions = module
        .capabilities
        .iter()
        .flat_map(|capability| capability.functions.iter().map(move |function| card(module, capability, function)));
    functions.collect()
}

fn card(module: &Module, capability: &Capability, function: &Function) -> Card {
    Card {
        module: module.specifier.clone(),
        capability: capability.name.clone(),
        label: label_of(&capability.export, &function.js_name, capability.is_single_function),
        name: function.name.clone(),
        title: function.title.clone(),
        signature: cut(&dts::line(module, capability, function), MAX_SIGNATURE),
        description: cut(&function.description, MAX_DESCRIPTION),
        parameters: parameters(&function.params_schema),
        example: example(&function.params_schema),
        id: FunctionId::new(interface_name(module, &capability.interface), function.wit_name.as_str()),
        requires_approval: function.config.requires_approval.or(capability.config.requires_approval),
        scopes: [capability.config.scopes.as_slice(), &function.config.scopes].concat(),
        is_server_tool: capability.source == SourceKind::Mcp,
        is_read_only: function.annotations.read_only_hint == Some(true),
    }
}

/// Returns the cards of a parsed module. `identify` maps an export and its member to a function id.
pub(super) fn declared_cards(
    module: &DeclaredModule<'_>,
    identify: impl Fn(&str, &str) -> Option<FunctionId>,
) -> Vec<Card> {
    let card = |export: &DeclaredExport<'_>, id: FunctionId, member: &DeclaredMember<'_>| Card {
        module: module.specifier.to_owned(),
        capability: export.name.to_owned(),
        label: label_of(export.name, member.name, false),
        name: member.name.to_owned(),
        title: None,
        signature: cut(member.signature(), MAX_SIGNATURE),
        description: cut(&member.description(), MAX_DESCRIPTION),
        parameters: Vec::new(),
        example: String::new(),
        id,
        requires_approval: None,
        scopes: Vec::new(),
        is_server_tool: false,
        is_read_only: false,
    };
    let of = |export: &DeclaredExport<'_>| {
        let members = export.members.iter();
        members.filter_map(|each| Some(card(export, identify(export.name, each.name)?, each))).collect::<Vec<_>>()
    };
    let mut cards: Vec<Card> = module.exports.iter().flat_map(of).collect();
    // A function may have overloads.
    cards.dedup_by(|second, first| second.label == first.label);
    cards
}

fn parameters(schema: &Value) -> Vec<(String, String)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let said = |schema: &Value| schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let each = properties.into_iter().flatten().take(MAX_PARAMETERS);
    each.map(|(name, schema)| (cut(name, MAX_PARAMETER), cut(&said(schema), MAX_PARAMETER))).collect()
}

/// Returns example arguments with every required parameter.
fn example(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let required: Vec<&str> = required.collect();
    if required.len() > MAX_EXAMPLE {
        return "{ /* see its declaration */ }".to_owned();
    }
    let given = required.into_iter().map(|name| {
        let of = schema.get("properties").and_then(|properties| properties.get(name));
        let kind = of.and_then(|of| of.get("type")).and_then(Value::as_str);
        let value = match kind {
            Some("number" | "integer") => "1",
            Some("boolean") => "true",
            Some("array") => "[]",
            Some("object") => "{}",
            _ => "'…'",
        };
        format!("{}: {value}", dts::property(&cut(name, MAX_PARAMETER)))
    });
    let given: Vec<String> = given.collect();
    if given.is_empty() { String::new() } else { format!("{{ {} }}", given.join(", ")) }
}

/// Truncates a text to `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl Card {
    /// Returns the first sentence of the description, on one line.
    pub fn summary(&self) -> String {
        let words = self.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = words.find(". ").map_or(words.len(), |at| at + 1);
        cut(words.get(..end).unwrap_or(&words), MAX_SUMMARY)
    }

    /// Returns the one-line declaration with the capability: `slack.listChannels(…)`.
    pub(super) fn call(&self) -> String {
        match self.label.split_once('.') {
            Some((capability, _)) => format!("{capability}.{}", self.signature),
            None => self.signature.clone(),
        }
    }

    /// Returns the rank as an example, lower is better: read-only and with few arguments.
    pub(super) fn rank_as_example(&self) -> (bool, usize) {
        (self.is_server_tool && !self.is_read_only, self.example.len())
    }

    /// Returns true if it belongs to the standard library.
    pub(super) fn is_standard(&self) -> bool {
        self.id.interface().starts_with(STANDARD)
    }

    /// Returns the export name: `slack`.
    pub fn export(&self) -> &str {
        self.label.split('.').next().unwrap_or_default()
    }

    /// Returns true if a name matches: its label (`slack.postMessage`), its name in the source, its capability, its
    /// module, or its module and one of these (`@capabilities/mcp-slack#postMessage`).
    pub(super) fn matches(&self, name: &str) -> bool {
        let own = [self.label.as_str(), &self.name];
        match name.split_once('#') {
            Some((module, function)) => {
                let is_module = module == self.module || Some(module) == self.module.rsplit('/').next();
                (is_module && (own.contains(&function) || function == self.member())) || self.id.to_string() == name
            }
            None => own.contains(&name) || [self.module.as_str(), &self.capability, self.export()].contains(&name),
        }
    }

    /// Returns true if its one-line declaration has no result type.
    pub(super) fn has_unknown_result(&self) -> bool {
        self.signature.ends_with("Promise<unknown>") || self.signature.ends_with('…')
    }

    /// Returns the function name without its capability: `postMessage`.
    pub(super) fn member(&self) -> &str {
        self.label.rsplit('.').next().unwrap_or_default()
    }

    /// Returns the facts that policy rules evaluate.
    pub fn known(&self) -> KnownFunction<'_> {
        KnownFunction {
            id: &self.id,
            label: &self.label,
            requires_approval: self.requires_approval,
            scopes: &self.scopes,
            is_server_tool: self.is_server_tool,
            is_read_only: self.is_read_only,
        }
    }
}
