//! Shim component that re-exports lifted functions as an exported interface.
//!
//! A component may export a function only with types that it exports too, or imports. An interface's
//! types and functions are therefore passed through a component of their own, which imports both and
//! exports both under the interface's names. `wit-component` does the same.

use super::types::Renamed;
use anyhow::{Result, bail};
use wasm_encoder::reencode::ReencodeComponent;
use wasm_encoder::{
    Alias, ComponentBuilder, ComponentExportKind, ComponentOuterAliasKind, ComponentTypeRef, TypeBounds,
};
use wasmparser::{ComponentAlias, ComponentTypeRef as ParsedRef, InstanceTypeDeclaration, TypeBounds as ParsedBounds};

/// The name under which the shim imports a type of the interface.
pub(super) fn type_import(name: &str) -> String {
    format!("import-type-{name}")
}

/// The name under which the shim imports a function of the interface.
pub(super) fn function_import(name: &str) -> String {
    format!("import-func-{name}")
}

/// Builds the shim of an interface with these members.
pub(super) fn shim(members: &[InstanceTypeDeclaration<'_>]) -> Result<ComponentBuilder> {
    let mut builder = ComponentBuilder::default();
    let imported = imports(&mut builder, members)?;
    exports(&mut builder, members, &imported)?;
    Ok(builder)
}

/// Imports every member; returns each type's index, in the interface's order.
fn imports(builder: &mut ComponentBuilder, members: &[InstanceTypeDeclaration<'_>]) -> Result<Vec<u32>> {
    let mut types = Renamed::none();
    let mut indices = Vec::new();
    for member in members {
        let index = match member {
            InstanceTypeDeclaration::Alias(ComponentAlias::Outer { count: 1, index, .. }) => {
                let alias = Alias::Outer { kind: ComponentOuterAliasKind::Type, count: 1, index: *index };
                builder.alias(None, alias)
            }
            InstanceTypeDeclaration::Type(ty) => {
                let (index, encoder) = builder.ty(None);
                types.parse_component_type(encoder, ty.clone())?;
                index
            }
            InstanceTypeDeclaration::Export { name, ty: ParsedRef::Type(ParsedBounds::Eq(index)) } => {
                let bounds = TypeBounds::Eq(types.component_type_index(*index));
                builder.import(type_import(name.name).as_str(), ComponentTypeRef::Type(bounds))
            }
            InstanceTypeDeclaration::Export { name, ty: ParsedRef::Func(index) } => {
                let ty = ComponentTypeRef::Func(types.component_type_index(*index));
                builder.import(function_import(name.name).as_str(), ty);
                continue;
            }
            _ => bail!("an exported interface has something else than types and functions"),
        };
        types.push(index);
        indices.push(index);
    }
    Ok(indices)
}

/// Exports every member under its own name, with functions in terms of the exported types.
fn exports(builder: &mut ComponentBuilder, members: &[InstanceTypeDeclaration<'_>], imported: &[u32]) -> Result<()> {
    let mut types = Renamed::none();
    let mut functions = 0;
    let mut imported = imported.iter().copied();
    for member in members {
        let index = match member {
            InstanceTypeDeclaration::Export { name, ty: ParsedRef::Func(index) } => {
                let ty = ComponentTypeRef::Func(types.component_type_index(*index));
                builder.export(name.name, ComponentExportKind::Func, functions, Some(ty));
                functions += 1;
                continue;
            }
            InstanceTypeDeclaration::Export { name, ty: ParsedRef::Type(ParsedBounds::Eq(index)) } => {
                // As the interface has it: a type with others of the interface in it has them as they are exported.
                let ty = ComponentTypeRef::Type(TypeBounds::Eq(types.component_type_index(*index)));
                let index = imported.next().unwrap_or_default();
                builder.export(name.name, ComponentExportKind::Type, index, Some(ty))
            }
            InstanceTypeDeclaration::Type(ty) => {
                imported.next();
                let (index, encoder) = builder.ty(None);
                types.parse_component_type(encoder, ty.clone())?;
                index
            }
            _ => imported.next().unwrap_or_default(),
        };
        types.push(index);
    }
    Ok(())
}
