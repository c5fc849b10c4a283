//! Types as short text, so that a test shows what it expects.

use crate::model::{Presence, Rest, Type, Types};

/// `{a: string, b?: integer | null, ...}`; `!` after a member that is expected, names as names.
pub(super) fn shape(types: &Types, ty: &Type) -> String {
    let list = |types_in: &[Type], separator: &str| {
        types_in.iter().map(|it| shape(types, it)).collect::<Vec<_>>().join(separator)
    };
    match ty {
        Type::Any => "any".to_owned(),
        Type::Never => "never".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::String => "string".to_owned(),
        Type::Literals(values) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "),
        Type::List(item) => format!("({})[]", shape(types, item)),
        Type::Tuple { items, required, rest } => {
            let rest = rest.as_ref().map(|rest| format!(", ...{}", shape(types, rest))).unwrap_or_default();
            format!("[{}{rest}; {required}]", list(items, ", "))
        }
        Type::Record(record) => {
            let mut members: Vec<String> = Vec::new();
            for field in &record.fields {
                let mark = match field.presence {
                    Presence::Required => "",
                    Presence::Optional => "?",
                    Presence::Expected => "!",
                };
                members.push(format!("{}{mark}: {}", field.name, shape(types, &field.ty)));
            }
            match &record.rest {
                Rest::Closed => {}
                Rest::Undeclared => members.push("...".to_owned()),
                Rest::Declared(ty) => members.push(format!("...: {}", shape(types, ty))),
            }
            format!("{{{}}}", members.join(", "))
        }
        Type::Map(ty) => format!("map<{}>", shape(types, ty)),
        Type::Union(branches) => list(branches, " | "),
        Type::Named(id) => types.get(*id).name.clone(),
    }
}

/// Every definition, one to a line.
pub(super) fn definitions(types: &Types) -> Vec<String> {
    types.iter().map(|(_, definition)| format!("{} = {}", definition.name, shape(types, &definition.ty))).collect()
}
