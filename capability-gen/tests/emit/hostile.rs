//! Hostile text from sources never becomes code.

use crate::emit::models::{self, HOSTILE};
use capability_gen::definition::SourceKind;
use capability_gen::emit::{dts::dts, js::js};
use capability_gen::model::{Docs, Field, Module, Presence, Record, Rest, Type, TypeDefinition};
use capability_gen::names::Scope;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;

/// One hidden character of each kind.
const HIDDEN: [char; 7] = ['\u{202e}', '\u{2028}', '\u{2029}', '\u{200b}', '\u{200d}', '\u{feff}', '\u{e0041}'];
/// Number of named types of a random module.
const TYPES: usize = 6;

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(HOSTILE).prop_map(str::to_owned),
        2 => prop::sample::select(&["*", "/", "@", "{", "\n", "\r", " ", "\\", "'", "\u{200d}", "\u{2028}", "a"][..])
            .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn docs() -> impl Strategy<Value = Docs> {
    (text(), prop::option::of(text()), prop::collection::vec(text(), 0..2), any::<bool>()).prop_map(
        |(description, default, limits, is_deprecated)| {
            let default = default.map(|text| json!({"text": text}));
            Docs { description, default, limits, is_deprecated }
        },
    )
}

fn literal() -> impl Strategy<Value = Value> {
    prop_oneof![text().prop_map(Value::from), any::<i64>().prop_map(Value::from), any::<bool>().prop_map(Value::from)]
}

fn ty() -> BoxedStrategy<Type> {
    let leaf = prop_oneof![
        Just(Type::Any),
        Just(Type::Never),
        Just(Type::Null),
        Just(Type::Boolean),
        Just(Type::Integer),
        Just(Type::String),
        prop::collection::vec(literal(), 1..4).prop_map(Type::Literals),
        (0..TYPES).prop_map(models::named),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed.clone().prop_map(Type::List),
            boxed.clone().prop_map(Type::Map),
            (prop::collection::vec(inner.clone(), 0..3), 0..4_usize, prop::option::of(boxed.clone()))
                .prop_map(|(items, required, rest)| Type::Tuple { items, required, rest }),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Type::Union),
            record(inner),
        ]
    })
    .boxed()
}

fn record(ty: BoxedStrategy<Type>) -> BoxedStrategy<Type> {
    let presence = prop::sample::select(&[Presence::Required, Presence::Optional, Presence::Expected][..]);
    let field = (text(), ty.clone(), presence, prop_oneof![Just(Docs::default()), docs()])
        .prop_map(|(name, ty, presence, docs)| Field { name, ty, presence, docs });
    let rest = prop_oneof![Just(Rest::Closed), Just(Rest::Undeclared), ty.prop_map(|ty| Rest::Declared(Box::new(ty))),];
    (prop::collection::vec(field, 0..4), rest)
        .prop_map(|(mut fields, rest)| {
            let mut seen = HashSet::new();
            fields.retain(|field| seen.insert(field.name.clone()));
            Type::Record(Record { fields, rest })
        })
        .boxed()
}

/// A random module, with hostile text in every field from a source. `name` must be unique among modules.
pub(crate) fn module(name: String) -> impl Strategy<Value = Module> {
    let definition = (docs(), prop_oneof![ty(), record(ty())]);
    let function = (text(), text(), prop_oneof![record(ty()), ty()], prop::option::of(ty()), text());
    let source = prop::sample::select(&[SourceKind::Tool, SourceKind::Mcp][..]);
    let server = prop::sample::subsequence(models::server_parts(), 0..=2);
    let parts = (
        prop::collection::vec(definition, TYPES),
        prop::collection::vec(function, 1..4),
        source,
        any::<bool>(),
        text(),
        server,
    );
    parts.prop_map(move |(definitions, functions, source, is_single_function, description, server)| {
        let types = definitions.into_iter().enumerate().map(|(index, (docs, ty))| {
            let ty = if let Type::Named(_) = ty { Type::Null } else { ty };
            TypeDefinition { name: format!("Type{index}"), docs, ty }
        });
        let mut scope = Scope::default();
        let functions = functions.into_iter().map(|(name, description, params, result, key)| {
            let mut function = models::function(&name, params, result);
            // Reserved words are handled by `names`.
            function.js_name =
                capability_gen::names::camel(&scope.add(&format!("call{}", capability_gen::names::pascal(&name))));
            function.description = description;
            function.params_schema = json!({"properties": {key.clone(): {"description": key, "const": key}}});
            function
        });
        let mut capability = models::capability("hostile", source, functions.collect());
        capability.description = description;
        capability.server = server;
        if let ([function], true) = (capability.functions.as_slice(), is_single_function) {
            capability.export = function.js_name.clone();
            capability.is_single_function = true;
        }
        models::module(&name, vec![capability], types.collect())
    })
}

/// The same model with every free text removed, or replaced by a word.
pub(crate) fn with_text(mut module: Module, word: Option<&str>) -> Module {
    fn replace(docs: &mut Docs, word: Option<&str>) {
        let Some(word) = word else {
            *docs = Docs::default();
            return;
        };
        docs.description = if docs.description.is_empty() { String::new() } else { word.to_owned() };
        docs.default = docs.default.take().map(|_| json!(word));
        docs.limits.iter_mut().for_each(|limit| *limit = word.to_owned());
    }
    fn visit(ty: &mut Type, word: Option<&str>) {
        match ty {
            Type::List(inner) | Type::Map(inner) => visit(inner, word),
            Type::Tuple { items, rest, .. } => {
                items.iter_mut().chain(rest.as_deref_mut()).for_each(|item| visit(item, word));
            }
            Type::Union(members) => members.iter_mut().for_each(|member| visit(member, word)),
            Type::Record(record) => {
                for field in &mut record.fields {
                    replace(&mut field.docs, word);
                    visit(&mut field.ty, word);
                }
                if let Rest::Declared(inner) = &mut record.rest {
                    visit(inner, word);
                }
            }
            _ => {}
        }
    }
    for definition in &mut module.types.0 {
        replace(&mut definition.docs, word);
        visit(&mut definition.ty, word);
    }
    for capability in &mut module.capabilities {
        capability.description = word.unwrap_or_default().to_owned();
        for function in &mut capability.functions {
            function.description = word.unwrap_or_default().to_owned();
            visit(&mut function.params, word);
            visit(&mut function.result, word);
        }
    }
    module
}

/// Code without comments and layout. Supports only strings in single quotes and `/* */`.
fn tokens(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("/*") {
            rest.find("*/").expect("an open comment") + 2
        } else if first == '\'' {
            let bytes = rest.as_bytes();
            let mut end = 1;
            while bytes[end] != b'\'' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            out.push_str(&rest[..=end]);
            end + 1
        } else {
            if !first.is_whitespace() {
                out.push(first);
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    out.replace(";}", "}")
}

proptest! {
    #[test]
    fn text_never_becomes_code(module in module("hostile".to_owned())) {
        let text = dts(&module);
        let emptied = with_text(module.clone(), None);
        prop_assert_eq!(tokens(&text), tokens(&dts(&emptied)));
        prop_assert!(!text.chars().any(|character| character != '\n' && character.is_control()));
        prop_assert!(!text.contains(HIDDEN));
        prop_assert_eq!(js(&module), js(&emptied));
        prop_assert!(!js(&module).contains("</script"));
    }
}

/// Comments have a maximum length.
#[test]
fn long_descriptions_are_truncated() {
    let mut module = models::weather();
    module.capabilities[0].functions[0].description = "long ".repeat(100_000);
    let text = dts(&module);
    assert!(text.len() < 5_000 && text.contains("long …") | text.contains("long… */"), "{}", text.len());
}
