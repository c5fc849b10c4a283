//! OpenAPI 3.0 and 3.1 documents: one function per operation.
//!
//! ```text
//! select       filter of operations
//! operation    operation → function
//! request      parameters and body → one object schema, and the place of each member in the request
//! body         request body as parameters
//! style        serialization of lists and objects
//! http         operation → HTTP request
//! server       base URL
//! schema       self-contained schemas: referenced components are copied into their `$defs`
//! reference    `$ref` resolution
//! ```
//!
//! Parameters that carry credentials are left out: credentials come from the configuration, not from scripts.

mod body;
mod http;
mod operation;
mod reference;
mod request;
mod schema;
mod select;
mod server;
mod style;

use super::collect::{Collected, check_any};
use super::error::{SourceError, quoted};
use super::node::Node;
use super::version;
use crate::definition::{Definition, SourceKind};
use reference::Document;
use request::Credentials;
pub use select::{OperationFilter, TOO_LARGE};

/// Operations of one document, before a filter selects some of them: ten times the functions of a module. Paths that
/// share one item by reference could otherwise list millions of operations in a few megabytes.
const MAX_OPERATIONS: usize = 100_000;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// State shared by all operations of a document.
struct Context<'a> {
    document: Document<'a>,
    credentials: Credentials,
    /// Base URL of requests, or why there is none.
    base: Result<String, String>,
    /// Cost limit of one schema.
    schema_cost: usize,
}

pub(super) fn parse(root: &Node<'_>, name: &str, filter: &OperationFilter) -> Result<Vec<Definition>, SourceError> {
    root.object("the document")?;
    check_version(root)?;
    let document = Document::new(root);
    let mut operations = Vec::new();
    let Some(paths) = root.get("paths") else {
        return Err(root.error("the document has no \"paths\"", "Give a document that describes operations."));
    };
    paths.object("\"paths\"")?;
    for (path, item) in paths.members().filter(|(path, _)| !path.starts_with("x-")) {
        let Some(item) = document.find(item, "this path is left out")? else { continue };
        item.object("a path")?;
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            operation.object("an operation")?;
            if operations.len() == MAX_OPERATIONS {
                let message = format!("the document has more than {MAX_OPERATIONS} operations");
                return Err(paths.error(message, "Split it into several documents."));
            }
            operations.push(operation::Operation { path, item: item.clone(), method, node: operation });
        }
    }
    let operations = select::select(operations, filter, &paths)?;
    check_cost(&operations)?;
    let credentials = Credentials::of(&document)?;
    let base = server::base(root)?.unwrap_or_else(|| Err("no server in the document".to_owned()));
    let mut collected = Collected::default();
    if let Err(why) = &base {
        collected.notes.push(root.note(format!("{why}: its functions cannot be called")));
    }
    let context = Context { document, credentials, base, schema_cost: schema::cost_of_one(operations.len()) };
    for operation in &operations {
        let function = operation::read(&context, operation, &mut collected.notes)?;
        collected.add(function)?;
    }
    collected.notes.extend(context.document.notes());
    check_any(&paths, &collected)?;

    let info = root.get("info");
    let text = |key: &str| info.as_ref().map_or(Ok(None), |info| info.get_text(key));
    root.check_name(name, "document")?;
    let mut definition = collected.into_definition(name, SourceKind::Sdk, root);
    definition.description = text("description")?.or(text("summary")?).unwrap_or_default().to_owned();
    definition.version = text("version")?.filter(|version| version::is_semantic(version)).map(str::to_owned);
    Ok(vec![definition])
}

/// Refuses paths that share operations by reference so often that their total size is too large.
fn check_cost(operations: &[operation::Operation<'_>]) -> Result<(), SourceError> {
    let mut left = schema::MAX_COST;
    let mut last = None;
    for operation in operations {
        // Operations of one path are adjacent; each path is counted once.
        if last == Some(operation.path) {
            continue;
        }
        last = Some(operation.path);
        let Some(cost) = schema::cost(operation.item.value, left) else {
            return Err(operation.item.error("the paths are too large with their references", TOO_LARGE));
        };
        left -= cost;
    }
    Ok(())
}

fn check_version(root: &Node<'_>) -> Result<(), SourceError> {
    let convert = "Convert it to OpenAPI 3 first, for instance with swagger2openapi.";
    if let Some(swagger) = root.get("swagger") {
        return Err(swagger.error("this is a Swagger 2.0 document", convert));
    }
    let Some(node) = root.get("openapi") else {
        return Err(root.error("\"openapi\" is missing", "Write the version: \"openapi\": \"3.1.0\"."));
    };
    let version = node.text("\"openapi\"")?;
    if !version.starts_with("3.0") && !version.starts_with("3.1") {
        let message = format!("unsupported OpenAPI version {}", quoted(version));
        return Err(node.error(message, "Convert it to OpenAPI 3.0 or 3.1."));
    }
    Ok(())
}
