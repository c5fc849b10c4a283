//! OpenAPI 3.0 and 3.1 documents: one function to an operation.
//!
//! ```text
//! select       which operations, where not all
//! operation    an operation → a function
//! request      parameters and body → one object's schema, and where each member goes
//! body         the body's part in that
//! style        how lists and objects are written
//! http         all that → the request that answers the function
//! server       where requests go
//! schema       schemas made self-contained: what they refer to is copied into their `$defs`
//! reference    `$ref` → the place it names
//! ```
//!
//! Who may call an API and with which credentials is not a script's business: parameters that carry them are left out.

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

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// What all operations of a document share.
struct Context<'a> {
    document: Document<'a>,
    credentials: Credentials,
    /// Where requests go, or why that cannot be told.
    base: Result<String, String>,
    /// How much one schema may grow to.
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
            operations.push(operation::Operation { path, item: item.clone(), method, node: operation });
        }
    }
    let operations = select::select(operations, filter, &paths)?;
    check_cost(&operations)?;
    let credentials = Credentials::of(&document)?;
    let base = server::base(root)?.unwrap_or_else(|| Err("the document names no server".to_owned()));
    let mut collected = Collected::default();
    if let Err(why) = &base {
        collected.notes.push(root.note(format!("{why}: nothing answers its functions")));
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

/// Refuses paths that share their operations by reference so often that they come to more than can be read.
fn check_cost(operations: &[operation::Operation<'_>]) -> Result<(), SourceError> {
    let mut left = schema::MAX_COST;
    let mut last = None;
    for operation in operations {
        // The operations of one path stand together, and it is counted once.
        if last == Some(operation.path) {
            continue;
        }
        last = Some(operation.path);
        let Some(cost) = schema::cost(operation.item.value, left) else {
            return Err(operation.item.error("the paths refer to more than can be read", TOO_LARGE));
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
        let message = format!("OpenAPI {} is not known here", quoted(version));
        return Err(node.error(message, "Convert it to OpenAPI 3.0 or 3.1."));
    }
    Ok(())
}
