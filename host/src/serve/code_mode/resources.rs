//! What a client may read: the declarations and the WIT of each module.

use crate::serve::caller::Client;
use crate::serve::offer::Offered;
use rmcp::model::{Resource, ResourceContents};

/// What addresses begin with.
const SCHEME: &str = "agent-spaces:///";

/// The files of a module.
enum File {
    Declarations,
    Wit,
}

/// All that a client may read.
pub(in crate::serve) fn resources(offered: &Offered, client: &Client) -> Vec<Resource> {
    let modules = offered.catalogue.modules(|card| offered.is_visible(card, client.caller()));
    let files = modules.into_iter().flat_map(|specifier| {
        let name = specifier.rsplit('/').next().unwrap_or_default();
        let declarations = Resource::new(address(specifier, "index.d.ts"), format!("{specifier}: declarations"))
            .with_mime_type("text/x-typescript")
            .with_description("What programs may call");
        let wit = Resource::new(address(specifier, &format!("{name}.wit")), format!("{specifier}: WIT"))
            .with_mime_type("text/x-wit")
            .with_description("The same as a WIT package, for auditors and other languages");
        [declarations, wit]
    });
    files.collect()
}

/// What an address stands for, as far as the client may see it.
pub(in crate::serve) fn read(
    offered: &Offered,
    client: &Client,
    uri: &str,
) -> Result<Option<ResourceContents>, String> {
    let Some((specifier, file)) = parse(uri) else { return Ok(None) };
    let is_visible = |card: &_| offered.is_visible(card, client.caller());
    let (text, kind) = match file {
        File::Declarations => (offered.catalogue.declarations(&specifier, is_visible), "text/x-typescript"),
        File::Wit => (offered.catalogue.wit(&specifier, is_visible), "text/x-wit"),
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
