//! MCP resources: the declarations and the WIT of each module.

use crate::served_space::ServedSpace;
use agent_spaces_http_server::Client;
use rmcp::model::{Resource, ResourceContents};

/// Prefix of resource URIs.
const SCHEME: &str = "agent-spaces:///";

/// File of a module.
enum File {
    Declarations,
    Wit,
}

/// Lists the resources that a client may read.
pub(crate) fn resources(served: &ServedSpace, client: &Client) -> Vec<Resource> {
    let modules = served.catalogue.modules(|card| served.is_visible(card, client.caller()));
    let files = modules.into_iter().flat_map(|specifier| {
        let name = specifier.rsplit('/').next().unwrap_or_default();
        let declarations = Resource::new(address(specifier, "index.d.ts"), format!("{specifier}: declarations"))
            .with_mime_type("text/x-typescript")
            .with_description("TypeScript declarations of the functions that programs may call");
        let wit = Resource::new(address(specifier, &format!("{name}.wit")), format!("{specifier}: WIT"))
            .with_mime_type("text/x-wit")
            .with_description("WIT package of the same functions, for auditors and other languages");
        [declarations, wit]
    });
    files.collect()
}

/// Reads a resource, limited to the functions that the client may see.
pub(crate) fn read(served: &ServedSpace, client: &Client, uri: &str) -> Result<Option<ResourceContents>, String> {
    let Some((specifier, file)) = parse(uri) else { return Ok(None) };
    let is_visible = |card: &_| served.is_visible(card, client.caller());
    let (text, kind) = match file {
        File::Declarations => (served.catalogue.declarations(&specifier, is_visible), "text/x-typescript"),
        File::Wit => (served.catalogue.wit(&specifier, is_visible), "text/x-wit"),
    };
    let text = text.map_err(|error| error.to_string())?;
    Ok(text.map(|text| ResourceContents::text(text, uri).with_mime_type(kind)))
}

/// `agent-spaces:///capabilities/mcp-slack/index.d.ts`
fn address(specifier: &str, file: &str) -> String {
    format!("{SCHEME}{}/{file}", specifier.trim_start_matches('@'))
}

fn parse(uri: &str) -> Option<(String, File)> {
    let (module, file) = uri.strip_prefix(SCHEME)?.rsplit_once('/')?;
    let file = match file.rsplit_once('.')? {
        ("index.d", "ts") => File::Declarations,
        (name, "wit") if module.rsplit('/').next() == Some(name) => File::Wit,
        _ => return None,
    };
    Some((format!("@{module}"), file))
}
