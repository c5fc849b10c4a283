//! Properties of random models.

use crate::wit::cross::cross;
use crate::wit::support::{function, module, parse, record, server_parts};
use capability_gen::emit::wit::wit;
use capability_gen::model::{Docs, Field, Module, Presence, Record, Rest, Type, TypeDefinition, TypeId, Types};
use capability_gen::wit::{Kind, WitType, plan};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

const NAMED: usize = 5;

fn text() -> impl Strategy<Value = String> {
    let nasty = ["", "type", "kind", "extras", "a", "A", "a-1", "a1", "Trip", "result", "json", "capability-error"];
    let hostile = ["\0", "*/ }", "\u{202e}", "\n}\n", "__proto__", "f", "params", "-", "é", "\u{149}", "// \u{7f}"];
    prop_oneof![
        6 => select(nasty.to_vec()).prop_map(str::to_owned),
        2 => select(hostile.to_vec()).prop_map(str::to_owned),
        2 => "[a-zA-Z_]{1,8}",
        1 => any::<String>(),
        1 => "[a-z]{60,90}",
    ]
}

fn literal() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => (-3i64..3).prop_map(Value::from),
        1 => select(vec![json!(0.5), json!(u64::MAX)]),
    ]
}

fn ty() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        1 => select(vec![Type::Any, Type::Never, Type::Null]),
        4 => select(vec![Type::Boolean, Type::Integer, Type::Number, Type::String]),
        2 => vec(literal(), 1..4).prop_map(distinct_literals),
        2 => vec(text(), 1..4).prop_map(|texts| distinct_literals(texts.into_iter().map(Value::from).collect())),
        3 => (0..NAMED).prop_map(|index| Type::Named(TypeId(index))),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let presence = select(vec![Presence::Required, Presence::Optional, Presence::Expected]);
        let field = (text(), inner.clone(), presence, text());
        let rest = prop_oneof![
            Just(Rest::Closed),
            Just(Rest::Undeclared),
            inner.clone().prop_map(|ty| Rest::Declared(Box::new(ty)))
        ];
        prop_oneof![
            2 => inner.clone().prop_map(|item| Type::List(Box::new(item))),
            1 => inner.clone().prop_map(|item| Type::Map(Box::new(item))),
            1 => (vec(inner.clone(), 0..4), 0usize..4, proptest::option::of(inner.clone())).prop_map(
                |(items, required, rest)| Type::Tuple {
                    required: required.min(items.len()),
                    items,
                    rest: rest.map(Box::new),
                }
            ),
            5 => (vec(field, 0..5), rest).prop_map(|(fields, rest)| Type::Record(Record { fields: distinct_fields(fields), rest })),
            3 => vec(inner, 2..5).prop_map(Type::Union),
        ]
    })
}

fn distinct_literals(values: Vec<Value>) -> Type {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    Type::Literals(distinct)
}

fn distinct_fields(fields: Vec<(String, Type, Presence, String)>) -> Vec<Field> {
    let mut distinct: Vec<Field> = Vec::new();
    for (name, ty, presence, description) in fields {
        if distinct.iter().all(|field| field.name != name) {
            distinct.push(Field { name, ty, presence, docs: Docs { description, ..Docs::default() } });
        }
    }
    distinct
}

fn any_module() -> impl Strategy<Value = Module> {
    let types = vec((text(), text(), ty()), NAMED);
    let functions = vec((text(), text(), ty(), ty()), 1..4);
    let server = subsequence(server_parts(), 0..=2);
    let interface = select(&["train-schedule", "resources", "prompts"][..]);
    let parts = (types, functions, text(), text(), server, interface);
    parts.prop_map(|(types, functions, description, version, server, interface)| {
        let functions = functions.into_iter().map(|(name, description, params, result)| {
            let mut function = function(&name, params, result);
            function.description = description;
            function
        });
        let mut module = module(functions.collect(), vec![]);
        module.capabilities[0].description = description;
        module.capabilities[0].server = server;
        module.capabilities[0].interface = interface.to_owned();
        module.version = version;
        let definitions = types.into_iter().map(|(name, description, ty)| TypeDefinition {
            name,
            docs: Docs { description, ..Docs::default() },
            ty,
        });
        module.types = Types(definitions.collect());
        module
    })
}

fn without_descriptions(module: &Module) -> Module {
    fn empty(ty: &mut Type) {
        match ty {
            Type::List(inner) | Type::Map(inner) => empty(inner),
            Type::Tuple { items, rest, .. } => items.iter_mut().chain(rest.as_deref_mut()).for_each(empty),
            Type::Record(record) => {
                for field in &mut record.fields {
                    field.docs = Docs::default();
                    empty(&mut field.ty);
                }
            }
            Type::Union(members) => members.iter_mut().for_each(empty),
            _ => {}
        }
    }
    let mut module = module.clone();
    for capability in &mut module.capabilities {
        capability.description.clear();
        for function in &mut capability.functions {
            function.description.clear();
            empty(&mut function.params);
            empty(&mut function.result);
        }
    }
    for definition in &mut module.types.0 {
        definition.docs = Docs::default();
        empty(&mut definition.ty);
    }
    module
}

/// A value of the type; `None` if there is none.
fn value(types: &Types, ty: &Type, seed: &mut u64, depth: usize) -> Option<Value> {
    if depth > 12 {
        return None;
    }
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let dice = (*seed >> 33) as usize;
    let items = |ty: &Type, count: usize, seed: &mut u64| -> Vec<Value> {
        (0..count).map_while(|_| value(types, ty, seed, depth + 1)).collect()
    };
    Some(match ty {
        Type::Any => json!([null, {"any": 1}]),
        Type::Never => return None,
        Type::Null => Value::Null,
        Type::Boolean => json!(dice.is_multiple_of(2)),
        Type::Integer => json!(dice as i64 - 5),
        Type::Number => {
            if dice.is_multiple_of(2) {
                json!(0.25)
            } else {
                json!(3)
            }
        }
        Type::String => json!("some text"),
        Type::Literals(values) => values[dice % values.len()].clone(),
        Type::List(item) => Value::Array(items(item, dice % 3, seed)),
        Type::Map(item) => items(item, 1, seed).into_iter().map(|item| ("any name".to_owned(), item)).collect(),
        Type::Tuple { items: types_of_items, required, rest } => {
            let count = required + dice % (types_of_items.len() - required + 1);
            let first = types_of_items[..count].iter().map(|item| value(types, item, seed, depth + 1));
            let mut array: Vec<Value> = first.collect::<Option<_>>()?;
            if let (Some(rest), true) = (rest, count == types_of_items.len()) {
                array.extend(items(rest, dice % 3, seed));
            }
            Value::Array(array)
        }
        Type::Record(record) => {
            let mut members = Map::new();
            for (index, field) in record.fields.iter().enumerate() {
                let is_left_out = field.presence != Presence::Required && (dice >> index).is_multiple_of(2);
                match value(types, &field.ty, seed, depth + 1) {
                    Some(value) if !is_left_out => drop(members.insert(field.name.clone(), value)),
                    None if field.presence == Presence::Required => return None,
                    _ => {}
                }
            }
            let extra = match &record.rest {
                Rest::Closed => None,
                Rest::Undeclared => Some(json!({"extra": [1]})),
                Rest::Declared(ty) => value(types, ty, seed, depth + 1),
            };
            members.extend(extra.map(|extra| ("a member of no name".to_owned(), extra)));
            Value::Object(members)
        }
        Type::Union(members) => {
            let count = members.len();
            return (0..count).find_map(|turn| value(types, &members[(dice + turn) % count], seed, depth + 1));
        }
        Type::Named(id) => return value(types, &types.get(*id).ty, seed, depth + 1),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_text_parses_and_descriptions_change_nothing(module in any_module()) {
        let plan = plan(&module);
        let text = wit(&module, &plan);
        let parsed = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let plain = without_descriptions(&module);
        let plain_plan = capability_gen::wit::plan(&plain);
        prop_assert_eq!(parsed, parse(&wit(&plain, &plain_plan)).unwrap());
        prop_assert_eq!(plan.interfaces[0].marks(), plain_plan.interfaces[0].marks());
    }

    #[test]
    fn every_member_has_the_mark_of_its_kind(module in any_module()) {
        for interface in plan(&module).interfaces {
            prop_assert_eq!(interface.marks().len(), interface.definitions.len(), "type names differ");
            for definition in &interface.definitions {
                prop_assert!(!definition.members.is_empty());
                prop_assert_eq!(interface.marks()[&definition.name].len(), definition.members.len());
                for member in &definition.members {
                    let is_option = matches!(member.ty, Some(WitType::Option(_)));
                    let is_right = match (definition.kind, &member.mark[..1]) {
                        (Kind::Record, "=") => true,
                        (Kind::Record, "?") => is_option,
                        (Kind::Record, "*") => member.mark == "*" && is_option,
                        (Kind::Enum, "=") => member.ty.is_none(),
                        (Kind::Variant, "~") => member.ty.is_some() && !is_option,
                        _ => false,
                    };
                    prop_assert!(is_right, "{:?}", member);
                }
            }
        }
    }

    #[test]
    fn every_value_that_a_type_allows_crosses_unchanged(ty in ty(), types in vec(ty(), NAMED), seed: u64) {
        let mut seed = seed;
        let names: Vec<String> = (0..NAMED).map(|index| format!("Type{index}")).collect();
        let types = names.iter().map(String::as_str).zip(types).collect();
        let module = module(vec![function("f", record(vec![]), ty.clone())], types);
        let plan = plan(&module);
        let interface = &plan.interfaces[0];
        for _ in 0..8 {
            if let Some(value) = value(&module.types, &ty, &mut seed, 0) {
                prop_assert_eq!(cross(interface, &interface.functions[0].result, &value), Ok(value));
            }
        }
    }
}
