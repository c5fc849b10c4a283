//! `wit-dylib` library of a binding, with JSON marks in place of names.
//!
//! The names of fields and cases are only data in the library's tables: nothing of the canonical ABI depends on
//! them. So for the types of compiled capabilities the tables hold the JSON mark of each name, and the engine needs
//! no other table to map values.

use super::world::World;
use crate::marks::Marks;
use wit_parser::{InterfaceId, Resolve, TypeDefKind};

/// Creates the library of a world's binding.
pub(super) fn library(world: &World, marks: &[(InterfaceId, Marks)]) -> Vec<u8> {
    if marks.is_empty() {
        return wit_dylib::create(&world.resolve, world.binding, None);
    }
    let mut resolve = world.resolve.clone();
    for (interface, marks) in marks {
        mark(&mut resolve, *interface, marks);
    }
    wit_dylib::create(&resolve, world.binding, None)
}

fn mark(resolve: &mut Resolve, interface: InterfaceId, marks: &Marks) {
    let types: Vec<_> = resolve.interfaces[interface].types.iter().map(|(name, id)| (name.clone(), *id)).collect();
    for (name, id) in types {
        let Some(members) = marks.get(&name) else { continue };
        let rename = |member: &mut String| {
            if let Some(mark) = members.get(member.as_str()) {
                mark.clone_into(member);
            }
        };
        match &mut resolve.types[id].kind {
            TypeDefKind::Record(record) => record.fields.iter_mut().for_each(|field| rename(&mut field.name)),
            TypeDefKind::Enum(cases) => cases.cases.iter_mut().for_each(|case| rename(&mut case.name)),
            TypeDefKind::Variant(variant) => variant.cases.iter_mut().for_each(|case| rename(&mut case.name)),
            _ => {}
        }
    }
}
