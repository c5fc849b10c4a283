//! Parameters and body → one object schema, and the place of each member in the request.
//!
//! A parameter keeps its name; if another has the same name, its location is appended.

use super::super::error::{SourceError, quoted};
use super::super::http::headers;
use super::super::node::Node;
use super::operation::{MAX_ALTERNATIVES, Operation};
use super::reference::Document;
use super::schema::Copier;
use super::{Context, body, style};
use crate::definition::Note;
use crate::implementation::{HttpPathStyle, HttpStyle};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Maximum number of parameters of one operation. The most seen are about 200.
pub(super) const MAX_PARAMETERS: usize = 1_000;

/// Headers that the host derives from the media types, besides those that no definition may set.
const HOST_HEADERS: [&str; 2] = ["accept", "content-type"];

/// Places of a document's API keys: location and name, in lower case.
pub(super) struct Credentials(HashSet<(String, String)>);

impl Credentials {
    pub(super) fn of(document: &Document<'_>) -> Result<Self, SourceError> {
        let mut places = HashSet::new();
        for (_, scheme) in document.components("securitySchemes").iter().flat_map(|schemes| schemes.members()) {
            // An unknown place would let scripts pass a key.
            let scheme = document.resolve(scheme)?;
            if let (Some("apiKey"), Some(location), Some(name)) =
                (scheme.get_text("type")?, scheme.get_text("in")?, scheme.get_text("name")?)
            {
                places.insert((location.to_owned(), name.to_lowercase()));
            }
        }
        Ok(Self(places))
    }

    fn has(&self, location: &str, name: &str) -> bool {
        let name = name.to_lowercase();
        let is_host_header =
            location == "header" && (HOST_HEADERS.contains(&name.as_str()) || headers::check(&name).is_err());
        let is_authorization = location == "cookie" && name == "authorization";
        is_host_header || is_authorization || self.0.contains(&(location.to_owned(), name))
    }
}

/// Request of a function.
pub(super) struct Request {
    pub(super) schema: Value,
    pub(super) parameters: Vec<Placed>,
    pub(super) body: Option<Body>,
}

/// Request body.
pub(super) struct Body {
    pub(super) media_type: String,
    pub(super) is_required: bool,
}

/// Parameter with its place in the request.
pub(super) struct Placed {
    /// Name of the function's parameter, without braces, so that a template can use it.
    pub(super) name: String,
    /// Name in the request.
    pub(super) wire: String,
    /// `path`, `query`, `header`, `cookie`, or `body` for a member of the body, `whole-body` for all of it.
    pub(super) location: String,
    /// Style of a list or an object.
    pub(super) style: HttpStyle,
    /// Prefix of the value in a path.
    pub(super) prefix: String,
    /// Style of a list or an object in a path, unless it is a comma-separated list.
    pub(super) path_style: Option<HttpPathStyle>,
}

/// Builder of the parameters' schema.
#[derive(Default)]
pub(super) struct Members {
    pub(super) properties: Map<String, Value>,
    required: Vec<Value>,
    pub(super) dependent: Map<String, Value>,
    parameters: Vec<Placed>,
}

impl Members {
    pub(super) fn add(&mut self, wire: &str, location: &str, schema: Value, is_required: bool) {
        let plain = wire.replace(['{', '}'], "_");
        let mut name = plain.clone();
        let mut count = 1;
        while self.properties.contains_key(&name) {
            name = if count == 1 { format!("{plain}_{location}") } else { format!("{plain}_{location}_{count}") };
            count += 1;
        }
        if is_required {
            self.required.push(Value::from(name.as_str()));
        }
        self.properties.insert(name.clone(), schema);
        let (wire, location) = (wire.to_owned(), location.to_owned());
        let (style, prefix) = (HttpStyle::default(), String::new());
        self.parameters.push(Placed { name, wire, location, style, prefix, path_style: None });
    }
}

pub(super) fn read<'a>(
    context: &Context<'a>,
    operation: &Operation<'a>,
    notes: &mut Vec<Note>,
) -> Result<Request, SourceError> {
    let mut copier = Copier::new(&context.document, context.schema_cost);
    let mut members = Members::default();
    let mut in_path = HashSet::new();
    for (location, name, node) in parameters(&context.document, operation)? {
        if context.credentials.has(location, name) {
            let message = format!("left out: the {location} parameter {} is set by the host", quoted(name));
            notes.push(node.note(message));
            continue;
        }
        if location == "path" {
            in_path.insert(name);
        }
        let is_required = location == "path" || node.get_bool("required")?.unwrap_or(false);
        let schema = parameter_schema(&mut copier, &node)?;
        members.add(name, location, schema, is_required);
        if let Some(placed) = members.parameters.last_mut() {
            style::read(&context.document, &node, placed)?;
        }
    }
    for name in template_names(operation.path) {
        if in_path.insert(name) {
            if members.parameters.len() >= MAX_PARAMETERS {
                return Err(too_many(&operation.node));
            }
            operation.node.check_name(name, "parameter")?;
            notes.push(operation.node.note(format!("{} is in the path but not described: read as text", quoted(name))));
            members.add(name, "path", json!({"type": "string"}), true);
        }
    }
    let body = body::place(context, operation, &mut copier, &mut members)?;

    let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
    schema.insert("properties".to_owned(), members.properties.into());
    if !members.required.is_empty() {
        schema.insert("required".to_owned(), members.required.into());
    }
    if !members.dependent.is_empty() {
        schema.insert("dependentRequired".to_owned(), members.dependent.into());
    }
    let definitions = copier.definitions()?;
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), definitions.into());
    }
    if copier.is_cut {
        notes.push(operation.node.note("the schema of the parameters is too large: parts of it allow any value"));
    }
    Ok(Request { schema: schema.into(), parameters: members.parameters, body })
}

/// The path's parameters and the operation's, which override those of the same name and location.
fn parameters<'a>(
    document: &Document<'a>,
    operation: &Operation<'a>,
) -> Result<Vec<(&'a str, &'a str, Node<'a>)>, SourceError> {
    let mut found: Vec<(&str, &str, Node<'_>)> = Vec::new();
    let mut indices = HashMap::new();
    for owner in [&operation.item, &operation.node] {
        let Some(list) = owner.get("parameters") else { continue };
        match list.value.as_array() {
            None => return Err(list.mistyped("\"parameters\"", "an array")),
            Some(items) if items.len() > MAX_PARAMETERS => return Err(too_many(&list)),
            Some(_) => {}
        }
        for node in list.items() {
            let Some(node) = document.find(node, "this parameter is left out")? else { continue };
            node.object("a parameter")?;
            let name = node.get_name("parameter")?;
            let location = match node.get("in").map(|location| location.text("\"in\"")).transpose()? {
                Some(location @ ("path" | "query" | "header" | "cookie")) => location,
                _ => return Err(node.error("invalid \"in\"", "Write path, query, header or cookie.")),
            };
            match indices.get(&(location, name)) {
                Some(&index) => found[index] = (location, name, node),
                None => {
                    indices.insert((location, name), found.len());
                    found.push((location, name, node));
                }
            }
        }
    }
    Ok(found)
}

fn too_many(node: &Node<'_>) -> SourceError {
    let message = format!("the operation has more than {MAX_PARAMETERS} parameters");
    node.error(message, "Describe them as members of the body.")
}

fn parameter_schema<'a>(copier: &mut Copier<'_, 'a>, node: &Node<'a>) -> Result<Value, SourceError> {
    let content = || node.get("content")?.members().take(MAX_ALTERNATIVES).find_map(|(_, media)| media.get("schema"));
    let schema = match node.get("schema").or_else(content) {
        Some(schema) => copier.copy(&schema)?,
        None => json!({}),
    };
    let Value::Object(mut schema) = schema else { return Ok(schema) };
    for key in ["description", "deprecated"] {
        if let Some(value) = node.value.get(key)
            && (value.is_string() || value == &Value::Bool(true))
            && !schema.contains_key(key)
            && copier.afford(value.as_str().map_or(0, str::len))
        {
            schema.insert(key.to_owned(), value.clone());
        }
    }
    Ok(schema.into())
}

/// The names in `/pets/{petId}`.
fn template_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty())
}
