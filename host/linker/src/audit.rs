//! Audit of a component: its imports, exports and core modules, read from the component itself.

use agent_spaces_sandbox::engine::ENGINE_SHA256;
use data_encoding::HEXLOWER;
use serde::Serialize;
use sha2::{Digest, Sha256};
use wasmparser::{Encoding, Parser, Payload};
use wit_component::{DecodedWasm, WitPrinter};
use wit_parser::{InterfaceId, Resolve, WorldId, WorldItem, WorldKey};

/// Everything a component imports and exports, with hashes.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// SHA-256 of the whole file.
    pub sha256: String,
    /// Size of the whole file in bytes.
    pub bytes: usize,
    /// Interfaces it imports: everything it can call.
    pub imports: Vec<AuditedInterface>,
    /// Interfaces it exports.
    pub exports: Vec<AuditedInterface>,
    /// The core modules inside it.
    pub modules: Vec<AuditedModule>,
}

/// An interface of a component.
#[derive(Clone, Debug, Serialize)]
pub struct AuditedInterface {
    /// The full name.
    pub name: String,
    /// Names of its functions.
    pub functions: Vec<String>,
    /// Names of its types.
    pub types: Vec<String>,
    /// WIT text of the whole interface.
    pub wit: String,
}

/// A core module inside a component.
#[derive(Clone, Debug, Serialize)]
pub struct AuditedModule {
    /// SHA-256 of the module.
    pub sha256: String,
    /// Size of the module in bytes.
    pub bytes: usize,
    /// True if it is this host's engine, byte for byte.
    pub is_engine: bool,
}

/// Error of the audit of a file.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// No WebAssembly.
    #[error("not WebAssembly")]
    NotWasm,
    /// A damaged component, or WebAssembly of another kind.
    #[error("not a valid WebAssembly component: {0}")]
    Invalid(String),
    /// A core module.
    #[error("a core module, not a component: it does not declare the interfaces that it can reach")]
    CoreModule,
}

/// Audits a component.
///
/// # Errors
/// A file that is no valid component.
pub fn audit(wasm: &[u8]) -> Result<Audit, AuditError> {
    let invalid = |error: anyhow::Error| AuditError::Invalid(format!("{error:#}"));
    if !wasm.starts_with(b"\0asm") {
        return Err(AuditError::NotWasm);
    }
    let modules = modules(wasm)?;
    let (resolve, world) = match wit_component::decode(wasm).map_err(invalid)? {
        DecodedWasm::Component(resolve, world) => (resolve, world),
        DecodedWasm::WitPackage(..) => return Err(AuditError::Invalid("a WIT package".into())),
    };
    Ok(Audit {
        sha256: hash(wasm),
        bytes: wasm.len(),
        imports: interfaces(&resolve, world, true).map_err(invalid)?,
        exports: interfaces(&resolve, world, false).map_err(invalid)?,
        modules,
    })
}

fn hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Returns the core modules at any depth.
fn modules(wasm: &[u8]) -> Result<Vec<AuditedModule>, AuditError> {
    let mut modules = Vec::new();
    let mut is_first = true;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.map_err(|error| AuditError::Invalid(error.to_string()))? {
            Payload::Version { encoding: Encoding::Module, .. } if is_first => return Err(AuditError::CoreModule),
            Payload::Version { .. } => is_first = false,
            Payload::ModuleSection { unchecked_range, .. } => {
                let bytes = wasm.get(unchecked_range).unwrap_or_default();
                let sha256 = hash(bytes);
                modules.push(AuditedModule { bytes: bytes.len(), is_engine: sha256 == ENGINE_SHA256, sha256 });
            }
            _ => {}
        }
    }
    Ok(modules)
}

fn interfaces(resolve: &Resolve, world: WorldId, imported: bool) -> anyhow::Result<Vec<AuditedInterface>> {
    let world = &resolve.worlds[world];
    let items = if imported { &world.imports } else { &world.exports };
    items.iter().map(|(key, item)| interface(resolve, key, item)).collect()
}

fn interface(resolve: &Resolve, key: &WorldKey, item: &WorldItem) -> anyhow::Result<AuditedInterface> {
    let name = resolve.name_world_key(key);
    Ok(match item {
        WorldItem::Interface { id, .. } => AuditedInterface {
            name,
            functions: resolve.interfaces[*id].functions.keys().cloned().collect(),
            types: resolve.interfaces[*id].types.keys().cloned().collect(),
            wit: print(resolve, *id)?,
        },
        WorldItem::Function(_) => {
            AuditedInterface { functions: vec![name.clone()], name, types: Vec::new(), wit: String::new() }
        }
        WorldItem::Type { .. } => {
            AuditedInterface { types: vec![name.clone()], name, functions: Vec::new(), wit: String::new() }
        }
    })
}

fn print(resolve: &Resolve, id: InterfaceId) -> anyhow::Result<String> {
    let mut printer = WitPrinter::default();
    printer.print_interface(resolve, id)?;
    Ok(printer.output.to_string())
}
