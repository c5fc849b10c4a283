//! Imports and types of a world, as sections of a component.
//!
//! `wit-component` encodes a world as a component *type*. Its declarations are, one for one, the
//! sections that a component of that world begins with.

use anyhow::{Result, bail};
use std::collections::HashMap;
use std::convert::Infallible;
use wasm_encoder::ComponentBuilder;
use wasm_encoder::reencode::{Reencode, ReencodeComponent};
use wasmparser::{
    ComponentAlias, ComponentOuterAliasKind, ComponentType, ComponentTypeDeclaration, ComponentTypeRef,
    ComponentValType, InstanceTypeDeclaration, Parser, Payload, TypeBounds,
};
use wit_component::StringEncoding;
use wit_parser::{Resolve, WorldId};

/// Indices of the world's imports, and the interfaces that it must export.
#[derive(Default)]
pub(super) struct Declared {
    /// Names of the imported instances, by instance index.
    pub imports: Vec<String>,
    /// Interfaces that the component must export.
    pub exports: Vec<ExportedInterface>,
}

/// An interface that the component exports: its members by name, with their type's index.
pub(super) struct ExportedInterface {
    /// Its full name.
    pub name: String,
    /// Type indices by name.
    pub types: Vec<(String, u32)>,
    /// Function type indices by name.
    pub functions: Vec<(String, u32)>,
    /// Index of each function's result type.
    pub results: HashMap<String, u32>,
    /// A component that imports the members and exports them as the interface names them.
    pub shim: ComponentBuilder,
}

/// Encodes the world's types and imports into an empty component.
pub(super) fn declare(builder: &mut ComponentBuilder, resolve: &Resolve, world: WorldId) -> Result<Declared> {
    let encoded = wit_component::metadata::encode(resolve, world, StringEncoding::UTF8, None)?;
    let declarations = world_declarations(&encoded)?;
    let mut declared = Declared::default();
    let mut instance_types: Vec<Option<&[InstanceTypeDeclaration<'_>]>> = Vec::new();
    for declaration in &declarations {
        match declaration {
            ComponentTypeDeclaration::Type(ty) => {
                instance_types.push(match ty {
                    ComponentType::Instance(declarations) => Some(declarations),
                    _ => None,
                });
                Renamed::none().parse_component_type(builder.ty(None).1, ty.clone())?;
            }
            ComponentTypeDeclaration::Alias(alias) => {
                instance_types.push(None);
                let alias = Renamed::none().component_alias(alias.clone())?;
                builder.alias(None, alias);
            }
            ComponentTypeDeclaration::Import(import) => {
                if !matches!(import.ty, ComponentTypeRef::Instance(_)) {
                    bail!("the world imports something else than an interface: {}", import.name.name);
                }
                let ty = Renamed::none().component_type_ref(import.ty)?;
                builder.import(import.name.name, ty);
                declared.imports.push(import.name.name.to_owned());
            }
            ComponentTypeDeclaration::Export { name, ty: ComponentTypeRef::Instance(index) } => {
                let Some(Some(members)) = instance_types.get(*index as usize) else {
                    bail!("an export without a type")
                };
                declared.exports.push(exported(builder, name.name, members)?);
            }
            _ => bail!("the world declares something else than interfaces"),
        }
    }
    Ok(declared)
}

/// Returns the declarations of the world inside the encoding, which wraps it twice.
fn world_declarations(encoded: &[u8]) -> Result<Vec<ComponentTypeDeclaration<'_>>> {
    for payload in Parser::new(0).parse_all(encoded) {
        let Payload::ComponentTypeSection(section) = payload? else { continue };
        for ty in section {
            let ComponentType::Component(outer) = ty? else { continue };
            for declaration in outer.into_vec() {
                if let ComponentTypeDeclaration::Type(ComponentType::Component(world)) = declaration {
                    return Ok(world.into_vec());
                }
            }
        }
    }
    bail!("the encoded world has no type")
}

/// Encodes the types of an exported interface beside the world's own.
fn exported(
    builder: &mut ComponentBuilder,
    name: &str,
    members: &[InstanceTypeDeclaration<'_>],
) -> Result<ExportedInterface> {
    let mut interface = ExportedInterface {
        name: name.to_owned(),
        types: Vec::new(),
        functions: Vec::new(),
        results: HashMap::new(),
        shim: super::shim::shim(members)?,
    };
    let mut types = Renamed::none();
    // Results of the function types, by index in the interface.
    let mut results = HashMap::new();
    for member in members {
        match member {
            InstanceTypeDeclaration::Alias(ComponentAlias::Outer {
                kind: ComponentOuterAliasKind::Type,
                count: 1,
                index,
            }) => types.push(*index),
            InstanceTypeDeclaration::Type(ty) => {
                if let ComponentType::Func(function) = ty
                    && let Some(ComponentValType::Type(result)) = function.result
                {
                    results.insert(types.len(), types.component_type_index(result));
                }
                let (index, encoder) = builder.ty(None);
                types.parse_component_type(encoder, ty.clone())?;
                types.push(index);
            }
            InstanceTypeDeclaration::Export { name, ty: ComponentTypeRef::Type(TypeBounds::Eq(index)) } => {
                let index = types.component_type_index(*index);
                interface.types.push((name.name.to_owned(), index));
                types.push(index);
            }
            InstanceTypeDeclaration::Export { name, ty: ComponentTypeRef::Func(index) } => {
                interface.functions.push((name.name.to_owned(), types.component_type_index(*index)));
                if let Some(result) = results.get(index) {
                    interface.results.insert(name.name.to_owned(), *result);
                }
            }
            _ => bail!("the exported interface {} has something else than types and functions", interface.name),
        }
    }
    Ok(interface)
}

/// Map from type indices inside an exported interface to those of a component.
pub(super) struct Renamed(Option<Vec<u32>>);

impl Renamed {
    /// The identity map.
    pub(super) fn none() -> Renamed {
        Renamed(None)
    }

    pub(super) fn len(&self) -> u32 {
        self.0.as_ref().map_or(0, |indices| indices.len() as u32)
    }

    /// Adds the component's index of the interface's next type.
    pub(super) fn push(&mut self, index: u32) {
        self.0.get_or_insert_default().push(index);
    }
}

impl Reencode for Renamed {
    type Error = Infallible;
}

impl ReencodeComponent for Renamed {
    fn component_type_index(&mut self, index: u32) -> u32 {
        match &self.0 {
            Some(indices) => indices.get(index as usize).copied().unwrap_or(u32::MAX),
            None => index,
        }
    }
}
