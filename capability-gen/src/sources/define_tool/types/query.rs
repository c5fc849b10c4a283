//! `typeof LEVELS`, and import types.

use super::named::path_of;
use super::{FIX, Scope, Types, schema};
use crate::sources::define_tool::fault::Fault;
use crate::sources::define_tool::file::TypeKind;
use crate::sources::define_tool::names::{Named, Wanted};
use oxc_ast::ast::{TSImportType, TSImportTypeQualifier, TSTypeQueryExprName};
use serde_json::{Map, Value};

impl<'a> Types<'a, '_, '_> {
    /// `typeof LEVELS`
    pub(super) fn query(&mut self, name: &'a TSTypeQueryExprName<'a>, at: u32) -> Result<Value, Fault> {
        let (named, path) = match (name, name.as_ts_type_name().and_then(path_of)) {
            (TSTypeQueryExprName::TSImportType(it), _) => {
                let path = qualifiers(it.qualifier.as_ref());
                (self.reader.imported(at, it.source.value.as_str(), &path, Wanted::Value)?, path)
            }
            (_, Some(path)) => (self.reader.named(at, &path, Wanted::Value)?, path),
            (_, None) => return Err(Fault::unsupported(at, "`this` is not supported", FIX)),
        };
        let shown = if path.is_empty() { "import(…)".to_owned() } else { path.join(".") };
        let unsupported =
            |what: &str| Fault::unsupported(at, format!("`{shown}` is {what}, whose type is not supported"), FIX);
        match named {
            Named::Constant(constant) => {
                // Only a type checker knows the type of other expressions.
                let value = self.reader.value(constant).map_err(|fault| match fault.is_unsupported {
                    true => unsupported("a computed value"),
                    false => fault,
                })?;
                Ok(schema::of_value(&value, schema::is_const(constant)))
            }
            Named::Literal(value, is_const) => Ok(schema::of_value(&value, is_const)),
            Named::Type(declared) => match declared.declarations.first().map(|it| it.kind) {
                Some(TypeKind::Enum(it)) => {
                    let members: Map<String, Value> = self.reader.enum_members(it)?.into_iter().collect();
                    Ok(schema::of_value(&Value::Object(members), true))
                }
                _ => Err(self.reader.unknown(at, &path, "constant", &[])),
            },
            Named::Function => Err(unsupported("a function")),
            Named::Namespace(_) => Err(unsupported("a whole file")),
            Named::Other(what) => Err(unsupported(what)),
            Named::Unsupported(why) => Err(Fault::unsupported(at, format!("`{shown}` is imported, and {why}"), FIX)),
            Named::Unknown => Err(self.reader.unknown(at, &path, "constant", &[])),
        }
    }

    /// `import('./types').Customer`
    pub(super) fn import_type(
        &mut self,
        it: &'a TSImportType<'a>,
        scope: &Scope<'a>,
        depth: u32,
    ) -> Result<Value, Fault> {
        let (at, source) = (it.span.start, it.source.value.as_str());
        let path = qualifiers(it.qualifier.as_ref());
        if path.is_empty() {
            let fix = format!("name one of its exports: `import('{source}').Name`");
            return Err(Fault::new(at, format!("`import('{source}')` is a whole file, not a type"), fix));
        }
        let named = self.reader.imported(at, source, &path, Wanted::Type)?;
        if matches!(named, Named::Unknown) {
            let name = path.join(".");
            let fix = "name one of its exports, or give a JSON Schema instead";
            return Err(Fault::new(at, format!("'{source}' exports no type `{name}`"), fix));
        }
        let arguments = it.type_arguments.as_deref().map_or(&[][..], |arguments| &arguments.params);
        self.found(named, &path, arguments, at, scope, depth)
    }
}

fn qualifiers<'a>(qualifier: Option<&'a TSImportTypeQualifier<'a>>) -> Vec<&'a str> {
    match qualifier {
        None => Vec::new(),
        Some(TSImportTypeQualifier::Identifier(it)) => vec![it.name.as_str()],
        Some(TSImportTypeQualifier::QualifiedName(it)) => {
            let mut path = qualifiers(Some(&it.left));
            path.push(it.right.name.as_str());
            path
        }
    }
}
