//! Functions as search and listings show them.

use super::declared::{DeclaredExport, DeclaredMember, DeclaredModule};
use crate::package::interface_name;
use crate::pipeline::{KnownFunction, STANDARD};
use crate::sandbox::label_of;
use agent_spaces_policy::FunctionId;
use capability_gen::definition::SourceKind;
use capability_gen::emit::dts;
use capability_gen::model::{Capability, Function, Module};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most characters that are kept of a description and of what is said of one parameter, and most parameters.
const MAX_DESCRIPTION: usize = 2_000;
const MAX_PARAMETER: usize = 200;
const MAX_PARAMETERS: usize = 100;

/// Most parameters of an example.
const MAX_EXAMPLE: usize = 5;

/// Most characters of a signature on one line, and of what is said of a function there.
const MAX_SIGNATURE: usize = 200;
const MAX_SUMMARY: usize = 160;

/// One function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Card {
    /// What scripts import it from: `@capabilities/mcp-slack`.
    pub(super) module: String,
    /// The capability as its source names it: `slack`.
    pub(super) capability: String,
    /// As scripts call it: `slack.listChannels`.
    pub(super) label: String,
    /// As its source names it: `slack_list_channels`.
    pub(super) name: String,
    /// A title for people.
    pub(super) title: Option<String>,
    /// Its declaration on one line.
    pub(super) signature: String,
    /// What it does.
    pub(super) description: String,
    /// Names of its parameters and what is said of them.
    pub(super) parameters: Vec<(String, String)>,
    /// Arguments that it could be called with, for an example: `{ owner: '…' }`.
    pub(super) example: String,
    /// Which function it is.
    pub(super) id: FunctionId,
    requires_approval: Option<bool>,
    scopes: Vec<String>,
    is_server_tool: bool,
    is_read_only: bool,
}

/// Those of a compiled module.
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

/// Those of declarations of our own. `identify` knows the members of exports.
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
    // A function may be declared for several kinds of arguments.
    cards.dedup_by(|second, first| second.label == first.label);
    cards
}

fn parameters(schema: &Value) -> Vec<(String, String)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let said = |schema: &Value| schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let each = properties.into_iter().flatten().take(MAX_PARAMETERS);
    each.map(|(name, schema)| (cut(name, MAX_PARAMETER), cut(&said(schema), MAX_PARAMETER))).collect()
}

/// Every parameter that must be there, as an example would give it.
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

/// The first so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl Card {
    /// What it does, in the first sentence of that, on one line.
    pub(super) fn summary(&self) -> String {
        let words = self.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = words.find(". ").map_or(words.len(), |at| at + 1);
        cut(words.get(..end).unwrap_or(&words), MAX_SUMMARY)
    }

    /// Its declaration on one line, as a program calls it.
    pub(super) fn call(&self) -> String {
        match self.label.split_once('.') {
            Some((capability, _)) => format!("{capability}.{}", self.signature),
            None => self.signature.clone(),
        }
    }

    /// How well it does as an example, less being better: something of the user's own that only reads and takes little.
    pub(super) fn rank_as_example(&self) -> (bool, usize) {
        (self.is_server_tool && !self.is_read_only, self.example.len())
    }

    /// Whether it is of the standard library.
    pub(super) fn is_standard(&self) -> bool {
        self.id.interface().starts_with(STANDARD)
    }

    /// What scripts import: `slack`.
    pub(super) fn export(&self) -> &str {
        self.label.split('.').next().unwrap_or_default()
    }

    /// Whether an agent means it, alone or with others: by its label (`slack.postMessage`), the name that its source has for it,
    /// its capability, its module, or its module and one of these (`@capabilities/mcp-slack#postMessage`).
    pub(super) fn is_meant(&self, name: &str) -> bool {
        let own = [self.label.as_str(), &self.name];
        match name.split_once('#') {
            Some((module, function)) => {
                let is_module = module == self.module || Some(module) == self.module.rsplit('/').next();
                (is_module && (own.contains(&function) || function == self.member())) || self.id.to_string() == name
            }
            None => own.contains(&name) || [self.module.as_str(), &self.capability, self.export()].contains(&name),
        }
    }

    /// Whether its declaration does not say what it gives, as far as its line goes.
    pub(super) fn has_unknown_result(&self) -> bool {
        self.signature.ends_with("Promise<unknown>") || self.signature.ends_with('…')
    }

    /// The function without its capability: `postMessage`.
    pub(super) fn member(&self) -> &str {
        self.label.rsplit('.').next().unwrap_or_default()
    }

    /// What rules ask of it.
    pub(super) fn known(&self) -> KnownFunction<'_> {
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
