//! Registry: all capabilities of a project with their specifications, and its MCP servers.
//!
//! ```text
//! { "capabilities": { NAME: { name, version, source, schema, bundle? , … } }, "mcpServers": { NAME: { … } } }
//! ```

use super::build::folder_of;
use super::definitions::{DefinedModule, DefinitionBody, DefinitionFile};
use super::error::ProjectError;
use crate::mcp::{ConfiguredServer, locked_endpoint};
use agent_spaces_config::{Raw, Transport};
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::package::PackageInterface;
use agent_spaces_secrets::MASK;
use capability_gen::definition::SourceKind;
use capability_gen::emit::schema_json::capability_json;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Registry entry of one capability.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryEntry {
    /// Name in its source: `trainSchedule`.
    pub name: String,
    /// Version of the capability.
    pub version: String,
    /// Kind of source that defines it.
    pub source: SourceKind,
    /// Owner, if the definition names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Compiled definition: all functions with their schemas, owners, provider kinds and tags.
    pub schema: Value,
    /// Folder of its bundle, if it was built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
    /// Module that scripts import it from.
    pub module: String,
    /// Exported name that scripts import.
    pub export: String,
    /// Full name of its WIT interface.
    pub interface: String,
    /// npm packages that its provider needs.
    pub dependencies: Vec<String>,
    /// Definition file.
    pub file: String,
    /// File of its handlers, if there is one.
    pub handlers: Option<String>,
}

/// Registry entries of these definitions. Bundles are looked up in the project's folder.
pub fn registry(folder: &Path, definitions: &[DefinitionFile]) -> Result<Vec<RegistryEntry>, ProjectError> {
    let mut entries = Vec::new();
    for definition in definitions {
        match &definition.body {
            DefinitionBody::Module(module) => entries.extend(of_module(folder, definition, module)?),
            DefinitionBody::Wit(text) => entries.extend(by_hand(folder, definition, text)?),
        }
    }
    Ok(entries)
}

fn of_module(
    folder: &Path,
    definition: &DefinitionFile,
    module: &DefinedModule,
) -> Result<Vec<RegistryEntry>, ProjectError> {
    let compiled = definition.described(module)?;
    let is_tools = |interface: &&PackageInterface| interface.part.is_none();
    let interfaces = module.outline.interfaces.iter().filter(is_tools);
    let entry = |(interface, capability): (&PackageInterface, &capability_gen::model::Capability)| RegistryEntry {
        name: capability.name.clone(),
        version: capability.version.clone(),
        source: capability.source,
        owner: capability.owner.clone(),
        schema: capability_json(capability),
        bundle: bundle(folder, &module.outline.specifier),
        module: module.outline.specifier.clone(),
        export: capability.export.clone(),
        interface: interface.name.clone(),
        dependencies: compiled.dependencies.clone(),
        file: definition.path.display().to_string(),
        handlers: definition.handlers.as_ref().map(|path| path.display().to_string()),
    };
    Ok(interfaces.zip(&compiled.capabilities).map(entry).collect())
}

/// Registry entries of hand-written interfaces: names without schemas.
fn by_hand(folder: &Path, definition: &DefinitionFile, text: &str) -> Result<Vec<RegistryEntry>, ProjectError> {
    let file = definition.path.display().to_string();
    let mut own = Interfaces::new()?;
    own.add(&file, text)?;
    let mut functions: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    let implementation =
        definition.handlers.as_ref().map(|_| agent_spaces_types::provider_kind::ProviderKind::TypeScript);
    for function in own.labelled() {
        let interface = function.id.interface().to_owned();
        functions.entry((interface, function.module)).or_default().push(json!({
            "id": function.label, "name": function.id.function(), "witName": function.id.function(),
            "implementation": implementation,
        }));
    }
    let entry = |((interface, module), functions): ((String, String), Vec<Value>)| {
        let (path, version) = interface.rsplit_once('@').unwrap_or((&interface, "0.0.0"));
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let export = capability_gen::names::camel(&name);
        RegistryEntry {
            version: version.to_owned(),
            source: SourceKind::Tool,
            owner: None,
            schema: json!({ "name": name, "export": export, "interface": name, "version": version, "functions": functions }),
            bundle: bundle(folder, &module),
            dependencies: definition.dependencies(),
            file: file.clone(),
            handlers: definition.handlers.as_ref().map(|path| path.display().to_string()),
            name: export.clone(),
            export,
            interface: interface.clone(),
            module,
        }
    };
    Ok(functions.into_iter().map(entry).collect())
}

fn bundle(folder: &Path, specifier: &str) -> Option<String> {
    let path = folder_of(specifier);
    folder.join(&path).join("bundle.json").is_file().then_some(path)
}

/// MCP servers as they are configured. Values are masked unless they are references to variables: they may be secrets.
pub fn registered_servers<'a>(servers: impl Iterator<Item = &'a ConfiguredServer>) -> Value {
    let server = |server: &ConfiguredServer| {
        let mut shown = json!(locked_endpoint(server));
        let (key, values) = match &server.config.transport {
            Transport::Stdio { env, .. } => ("env", env),
            Transport::Remote { headers, .. } => ("headers", headers),
        };
        if !values.is_empty() {
            let values = values.iter().map(|(name, value)| (name.clone(), Value::from(reference(value))));
            shown[key] = Value::Object(values.collect());
        }
        shown["enabled"] = server.config.enabled.into();
        (server.name.clone(), shown)
    };
    Value::Object(servers.map(server).collect::<Map<String, Value>>())
}

/// Returns `${TOKEN}`, with or without an authentication scheme, unchanged; a mask for everything else.
fn reference(value: &Raw) -> &str {
    let text = value.expose();
    let after = ["Bearer ", "Basic ", "token "].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    let name = after.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
    if name.is_some_and(is_name) { text } else { MASK }
}

#[cfg(test)]
mod tests {
    use crate::registry::{MASK, Raw, reference};

    #[test]
    fn only_references_to_variables_are_shown() {
        for text in ["${TOKEN}", "Bearer ${GITHUB_TOKEN}"] {
            assert_eq!(reference(&Raw::new(text)), text);
        }
        for text in ["hunter2-hunter2", "Bearer sk-123", "${TOKEN:-hunter2}", "${A}${B}", "", "${}", "x ${A}"] {
            assert_eq!(reference(&Raw::new(text)), MASK, "{text}");
        }
    }
}
