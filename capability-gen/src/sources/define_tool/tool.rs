//! Argument of `defineTool` → [`Definition`].

use super::DefinedTool;
use super::fault::Fault;
use super::file::ToolCall;
use super::files::{Files, MAIN};
use super::names::{Named, Wanted};
use super::parameters::{self, Entry};
use super::settings::Settings;
use super::types::{self, Remark};
use super::value::{Member, Reader, found};
use crate::definition::{Annotations, Definition, FunctionDefinition, Note, SourceKind};
use crate::names::nearest;
use crate::sources::config::HINTS;
use crate::sources::tags;
use oxc_ast::ast::{Expression, TSType};
use oxc_span::GetSpan as _;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};

/// Keys of a tool.
const TOOL_KEYS: [&str; 7] = ["name", "description", "version", "owner", "tags", "functions", "config"];

/// Keys of a function, besides its settings.
const FUNCTION_KEYS: [&str; 8] =
    ["title", "description", "parameters", "returns", "handler", "annotations", "tags", "config"];

/// Maximum number of notes of one tool.
const MAX_NOTES: usize = 50;

/// Reads all tools of the definition file.
pub(super) fn read_all(files: &Files<'_, '_>) -> Result<Vec<DefinedTool>, Fault> {
    let Some(main) = files.get(MAIN) else { return Ok(Vec::new()) };
    let file = main.file();
    if file.tools.is_empty() {
        return Err(Fault::new(
            0,
            "the file exports no tool",
            "write `import { defineTool } from '@agent-spaces/capabilities'` and `export const name = defineTool({ … })`",
        ));
    }
    let reader = Reader::new(files);
    let mut names = HashSet::new();
    let mut tools = Vec::with_capacity(file.tools.len());
    for call in &file.tools {
        let tool = ToolReader { reader: &reader, remarks: BTreeSet::new() }.read(call)?;
        if !names.insert(tool.definition.name.clone()) {
            return Err(Fault::new(
                call.call.span.start,
                format!("duplicate tool name `{}` in this file", tool.definition.name),
                "give one of them another `name`",
            ));
        }
        tools.push(tool);
    }
    Ok(tools)
}

struct ToolReader<'a, 'r> {
    reader: &'r Reader<'a, 'r>,
    remarks: BTreeSet<Remark>,
}

impl<'a> ToolReader<'a, '_> {
    fn read(mut self, tool: &ToolCall<'a>) -> Result<DefinedTool, Fault> {
        let at = tool.call.span.start;
        let Some(export) = tool.export.clone() else {
            return Err(Fault::new(at, "the tool is not exported", "write `export const … = defineTool(…)`"));
        };
        if !tool.is_imported {
            let module = "'@agent-spaces/capabilities'";
            self.remarks.insert((at, format!("`defineTool` is not imported; assuming that of {module}")));
        }
        let object = match tool.call.arguments.as_slice() {
            [argument] => argument.as_expression(),
            _ => None,
        };
        let Some(object) = object else {
            return Err(Fault::new(
                at,
                "`defineTool` takes one object",
                "write `defineTool({ name, description, functions })`",
            ));
        };
        let members = self.reader.members(object)?;
        refuse_unknown(&members, &[&TOOL_KEYS])?;
        let get = |name: &str| members.iter().find(|member| member.name == name).map(|member| member.value);
        let text = |name: &str| get(name).map(|value| self.reader.text(&format!("`{name}`"), value)).transpose();
        let name = match text("name")? {
            Some(name) => name,
            None if export != "default" => export.clone(),
            None => return Err(Fault::new(at, "a tool that is the default export has no name", "give it a `name`")),
        };
        if name.is_empty() {
            return Err(Fault::new(at, "the tool's `name` is empty", "give it a `name`"));
        }
        let (description, version, owner) =
            (text("description")?.unwrap_or_default(), text("version")?, text("owner")?);
        let mut settings = Settings::default();
        if let Some(config) = get("config") {
            settings.read(self.reader, self.reader.members(config)?)?;
        }
        let functions = match get("functions") {
            Some(functions) => self.reader.members(functions)?,
            None => Vec::new(),
        };
        if functions.is_empty() {
            return Err(Fault::new(
                at,
                format!("the tool `{name}` has no functions"),
                "write `functions: { name: { … } }`",
            ));
        }
        let mut computed_approval_messages = Vec::new();
        let mut definitions = Vec::with_capacity(functions.len());
        for function in functions {
            let own = self.function(&function)?;
            let is_computed = own.1.is_message_computed;
            let inherits = own.1.config.approval_message.is_none() && settings.is_message_computed;
            if is_computed || inherits {
                computed_approval_messages.push(function.name.clone());
            }
            definitions.push(own.0);
        }
        let definition = Definition {
            name,
            description,
            version,
            source: SourceKind::Tool,
            owner,
            tags: self.tags(get("tags"))?,
            functions: definitions,
            config: settings.config,
            place: self.reader.files.place(at),
            notes: self.notes(at),
            is_single_function: false,
            is_own_format: true,
            server: None,
            component: None,
        };
        Ok(DefinedTool { export, definition, computed_approval_messages })
    }

    /// Remarks without duplicates, in the order of the files.
    fn notes(&mut self, at: u32) -> Vec<Note> {
        let remarks = std::mem::take(&mut self.remarks);
        let more = remarks.len().saturating_sub(MAX_NOTES);
        let more = (more > 0).then(|| (at, format!("and {more} more like these")));
        let shown = remarks.into_iter().take(MAX_NOTES).chain(more);
        shown.map(|(at, message)| Note { place: self.reader.files.place(at), message }).collect()
    }

    fn function(&mut self, function: &Member<'a>) -> Result<(FunctionDefinition, Settings), Fault> {
        let Member { name, at, value } = function;
        if name.is_empty() {
            return Err(Fault::new(*at, "a function has an empty name", "give it a name"));
        }
        let members = self.reader.members(value)?;
        refuse_unknown(&members, &[&FUNCTION_KEYS, &Settings::KEYS])?;
        let get = |name: &str| members.iter().find(|member| member.name == name).map(|member| member.value);
        let text = |key: &str| {
            get(key).map(|value| self.reader.text(&format!("`{key}` of the function `{name}`"), value)).transpose()
        };
        let (title, description) = (text("title")?, text("description")?.unwrap_or_default());
        check_handler(name, *at, get("handler"))?;
        let mut settings = Settings::default();
        settings.read(self.reader, members.iter().filter(|it| Settings::KEYS.contains(&it.name.as_str())).cloned())?;
        if let Some(config) = get("config") {
            settings.read(self.reader, self.reader.members(config)?)?;
        }
        let annotations = match get("annotations") {
            Some(value) => {
                refuse_unknown(&self.reader.members(value)?, &[&HINTS])?;
                serde_json::from_value(self.reader.value(value)?).map_err(|error| {
                    Fault::new(
                        value.span().start,
                        format!("`annotations`: {error}"),
                        "write hints such as `readOnlyHint: true`",
                    )
                })?
            }
            None => Annotations::default(),
        };
        let parameters = match get("parameters") {
            Some(value) => self.parameters(name, value)?,
            None => json!({ "type": "object", "properties": {} }),
        };
        let returns = get_even_undefined(self.reader, value, "returns")?.map(|it| self.schema(it)).transpose()?;
        let definition = FunctionDefinition {
            name: name.clone(),
            title,
            description,
            parameters,
            returns,
            is_result_wrapped: false,
            annotations,
            tags: self.tags(get("tags"))?,
            config: settings.config.clone(),
            implementation: None,
            place: self.reader.files.place(*at),
        };
        Ok((definition, settings))
    }

    fn tags(&self, value: Option<&'a Expression<'a>>) -> Result<Vec<String>, Fault> {
        let Some(value) = value else { return Ok(Vec::new()) };
        let read = self.reader.value(value)?;
        let tags = tags::known(&read);
        if read.as_array().is_none_or(|items| items.len() != tags.len()) {
            return Err(Fault::new(
                value.span().start,
                "`tags` is not a list of different words",
                "write `tags: ['weather']`, at most 64 of at most 128 bytes",
            ));
        }
        Ok(tags)
    }

    fn parameters(&mut self, name: &str, value: &'a Expression<'a>) -> Result<Value, Fault> {
        let schema = self.schema(value)?;
        let is_object = match schema.get("type") {
            Some(Value::String(ty)) => ty == "object",
            Some(Value::Array(types)) => types.contains(&json!("object")),
            _ => schema.is_object(),
        };
        if is_object {
            return Ok(schema);
        }
        Err(Fault::new(
            value.span().start,
            format!("the parameters of `{name}` are not an object"),
            "write `{ name: { type: 'string' } }` or a JSON Schema with `type: 'object'`; \
             a parameter called `type` is written `type: { type: 'string' }`",
        ))
    }

    /// Schema of `{} as T`, a JSON Schema, a flat map or a type name.
    fn schema(&mut self, value: &'a Expression<'a>) -> Result<Value, Fault> {
        let at = value.span().start;
        if let Some(ty) = cast(value)
            && (is_placeholder(value) || is_declared(self.reader, ty)?)
        {
            return types::schema_of(self.reader, ty, &mut self.remarks);
        }
        match value.get_inner_expression() {
            Expression::ObjectExpression(_) | Expression::Identifier(_) => {
                let mut entries = Vec::new();
                for member in self.reader.members(value)? {
                    entries.push(Entry { value: self.reader.value(member.value)?, name: member.name, at: member.at });
                }
                parameters::schema(entries)
            }
            Expression::StringLiteral(it) => parameters::type_named(it.value.as_str()).ok_or_else(|| {
                Fault::new(at, format!("unknown JSON Schema type '{}'", it.value), "write `{} as T` or a JSON Schema")
            }),
            _ => Err(Fault::new(
                at,
                format!("expected a type, found {}", found(value)),
                "write `{} as T`, or a JSON Schema",
            )),
        }
    }
}

/// A member, including `undefined as T`.
fn get_even_undefined<'a>(
    reader: &Reader<'a, '_>,
    object: &'a Expression<'a>,
    name: &str,
) -> Result<Option<&'a Expression<'a>>, Fault> {
    let member = reader.members_even_undefined(object)?.into_iter().find(|member| member.name == name);
    Ok(member.map(|member| member.value).filter(|value| cast(value).is_some() || !reader.is_undefined(value)))
}

/// The type of the outermost cast of an expression, except `as const`.
fn cast<'a>(value: &'a Expression<'a>) -> Option<&'a TSType<'a>> {
    let ty = match value {
        Expression::ParenthesizedExpression(it) => return cast(&it.expression),
        Expression::TSNonNullExpression(it) => return cast(&it.expression),
        Expression::TSSatisfiesExpression(it) => return cast(&it.expression),
        Expression::TSAsExpression(it) => &it.type_annotation,
        Expression::TSTypeAssertion(it) => &it.type_annotation,
        _ => return None,
    };
    let is_const = matches!(ty, TSType::TSTypeReference(it) if it.type_name.is_const());
    (!is_const).then_some(ty)
}

/// Returns true if a value only carries a type: `{}`, `[]`, `null`, `''`.
fn is_placeholder(value: &Expression<'_>) -> bool {
    match value.get_inner_expression() {
        Expression::ObjectExpression(it) => it.properties.is_empty(),
        Expression::ArrayExpression(it) => it.elements.is_empty(),
        Expression::Identifier(it) => it.name == "undefined",
        Expression::NullLiteral(_)
        | Expression::StringLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BooleanLiteral(_)
        | Expression::UnaryExpression(_) => true,
        _ => false,
    }
}

/// Returns true if a type is declared in the definition's files, so that a value cast to it is an example, not a
/// schema.
fn is_declared(reader: &Reader<'_, '_>, ty: &TSType<'_>) -> Result<bool, Fault> {
    match ty {
        TSType::TSArrayType(it) => is_declared(reader, &it.element_type),
        ty => match ty.get_identifier_reference() {
            Some(it) => {
                let named = reader.named(it.span.start, &[it.name.as_str()], Wanted::Type)?;
                Ok(matches!(named, Named::Type(_)))
            }
            None => Ok(false),
        },
    }
}

fn check_handler(name: &str, at: u32, handler: Option<&Expression<'_>>) -> Result<(), Fault> {
    let fix = "write `handler: async (params) => { … }`";
    let Some(handler) = handler else {
        return Err(Fault::new(at, format!("the function `{name}` has no `handler`"), fix));
    };
    let is_value = matches!(
        handler.get_inner_expression(),
        Expression::NullLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::StringLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::ObjectExpression(_)
            | Expression::ArrayExpression(_)
    );
    if is_value {
        let message = format!("the `handler` of the function `{name}` is {}, not a function", found(handler));
        return Err(Fault::new(handler.span().start, message, fix));
    }
    Ok(())
}

fn refuse_unknown(members: &[Member<'_>], known: &[&[&str]]) -> Result<(), Fault> {
    let is_known = |member: &&Member<'_>| known.iter().any(|keys| keys.contains(&member.name.as_str()));
    match members.iter().find(|member| !is_known(member)) {
        Some(member) => {
            let fix = match nearest(&member.name, known.concat().into_iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("remove it, or write one of {}", known.concat().join(", ")),
            };
            Err(Fault::new(member.at, format!("unknown key `{}`", member.name), fix))
        }
        None => Ok(()),
    }
}
