//! Tuples, with optional elements and a rest element.

use super::{Scope, Types, schema};
use crate::sources::define_tool::fault::Fault;
use oxc_ast::ast::{TSTupleElement, TSTupleType};
use serde_json::{Value, json};

/// One element of a tuple.
enum Element {
    Required(Value),
    Optional(Value),
    Rest(Value),
}

impl<'a> Types<'a, '_, '_> {
    pub(super) fn tuple(&mut self, tuple: &'a TSTupleType<'a>, scope: &Scope<'a>, depth: u32) -> Result<Value, Fault> {
        let mut elements = Vec::with_capacity(tuple.element_types.len());
        for element in &tuple.element_types {
            elements.push(self.element(element, scope, depth)?);
        }
        let count = elements.iter().filter(|element| matches!(element, Element::Required(_))).count();
        let rest_index = elements.iter().position(|element| matches!(element, Element::Rest(_)));
        if rest_index.is_some_and(|index| index + 1 < elements.len()) {
            // Elements after the rest have no fixed position.
            let all = elements.into_iter().map(|element| match element {
                Element::Required(schema) | Element::Optional(schema) | Element::Rest(schema) => schema,
            });
            return Ok(json!({ "type": "array", "items": schema::union(all.collect()), "minItems": count }));
        }
        let mut items = Vec::with_capacity(elements.len());
        let mut rest = json!(false);
        for element in elements {
            match element {
                Element::Required(schema) | Element::Optional(schema) => items.push(schema),
                Element::Rest(schema) => rest = schema,
            }
        }
        Ok(match (items.is_empty(), rest == json!(false)) {
            (true, true) => json!({ "type": "array", "maxItems": 0 }),
            (true, false) => schema::list(rest),
            _ => json!({ "type": "array", "prefixItems": items, "minItems": count, "items": rest }),
        })
    }

    fn element(&mut self, element: &'a TSTupleElement<'a>, scope: &Scope<'a>, depth: u32) -> Result<Element, Fault> {
        match element {
            TSTupleElement::TSOptionalType(it) => {
                Ok(Element::Optional(self.schema(&it.type_annotation, scope, depth)?))
            }
            TSTupleElement::TSRestType(it) => {
                let list = self.schema(&it.type_annotation, scope, depth)?;
                let list = self.resolve(&list, it.span.start, depth)?.unwrap_or_default();
                // Positions of a spread tuple are not supported.
                let items = list.get("items").filter(|items| items.is_object()).cloned();
                Ok(Element::Rest(items.unwrap_or_else(|| json!({}))))
            }
            TSTupleElement::TSNamedTupleMember(it) => {
                let inner = self.element(&it.element_type, scope, depth)?;
                Ok(match inner {
                    Element::Required(schema) if it.optional => Element::Optional(schema),
                    other => other,
                })
            }
            other => match other.as_ts_type() {
                Some(ty) => Ok(Element::Required(self.schema(ty, scope, depth)?)),
                None => Ok(Element::Required(json!({}))),
            },
        }
    }
}
