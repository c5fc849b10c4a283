//! Each rule on a small model.

use crate::wit::cross::cross;
use crate::wit::support::{field, function, list, literals, module, nullable, open, record, result_of, text_of};
use capability_gen::model::{Presence, Rest, Type, TypeId};
use capability_gen::wit::{Reason, WitType};
use serde_json::json;

fn reasons(ty: Type) -> Vec<(String, Reason)> {
    let (_, plan) = result_of(ty, vec![]);
    plan.interfaces[0].fallbacks.iter().map(|fallback| (fallback.path.clone(), fallback.reason)).collect()
}

fn written(ty: Type) -> String {
    let (_, plan) = result_of(ty, vec![]);
    plan.interfaces[0].written(&plan.interfaces[0].functions[0].result)
}

#[test]
fn a_module_is_a_readable_package() {
    let mut station = field("station?", Type::String);
    station.docs.description = "Where from\nor \"*/ }\" by number\u{202e}".into();
    let params = record(vec![station, field("date?", Type::String), field("If-Match?", nullable(Type::String))]);
    let trip = record(vec![
        field("number", Type::Integer),
        field("type", literals(json!(["express", "In Time", "IN_TIME"]))),
        field("stops", list(Type::Named(TypeId(2)))),
    ]);
    let stop = open(vec![field("name", Type::String), field("delay", nullable(Type::Number))]);
    let mut get = function("getSchedule", Type::Named(TypeId(0)), list(Type::Named(TypeId(1))));
    get.description = "Get all scheduled trains".into();
    let ping = function("ping", record(vec![]), Type::Boolean);
    let types = vec![("GetScheduleParams", params), ("Trip", trip), ("Stop", stop)];
    let (text, plan) = text_of(&module(vec![get, ping], types));
    assert_eq!(
        text,
        r#"package capabilities:train-schedule@1.0.0;

/// Get train schedule information
interface train-schedule {
    use agent-spaces:host/types@0.1.0.{json, capability-error};

    record get-schedule-params {
        /// Where from
        /// or "*/ }" by number
        station: option<string>,
        date: option<string>,
        /// JSON: "If-Match"
        if-match: option<option<string>>,
    }

    record trip {
        number: s64,
        %type: trip-type,
        stops: list<stop>,
    }

    enum trip-type {
        express,
        /// JSON: "In Time"
        in-time-xb201cdda,
        /// JSON: "IN_TIME"
        in-time,
    }

    record stop {
        name: string,
        delay: option<f64>,
        extras: option<json>,
    }

    /// Get all scheduled trains
    get-schedule: async func(params: get-schedule-params) -> result<list<trip>, capability-error>;

    ping: async func() -> result<bool, capability-error>;
}
"#
    );
    let marks = plan.interfaces[0].marks();
    assert_eq!(marks["get-schedule-params"]["if-match"], "?If-Match");
    assert_eq!(marks["trip"]["type"], "=type");
    assert_eq!(marks["trip-type"]["in-time"], "=IN_TIME");
    assert_eq!(marks["stop"]["delay"], "=delay");
    assert_eq!(marks["stop"]["extras"], "*");
    assert!(plan.interfaces[0].fallbacks.is_empty());
}

#[test]
fn scalars_literals_and_arrays_have_wit_types() {
    let tuple = |items, required, rest: Option<Type>| Type::Tuple { items, required, rest: rest.map(Box::new) };
    for (ty, expected) in [
        (Type::Integer, "s64"),
        (literals(json!([1, 2])), "s64"),
        (literals(json!([1, 2.5])), "f64"),
        (literals(json!([true])), "bool"),
        (list(nullable(Type::Number)), "list<option<f64>>"),
        (tuple(vec![Type::String, Type::Number], 2, None), "tuple<string, f64>"),
        (tuple(vec![Type::String, Type::String], 1, None), "list<string>"),
        (tuple(vec![Type::String; 17], 17, None), "list<string>"),
        (tuple(vec![Type::String], 1, Some(Type::String)), "list<string>"),
        (nullable(Type::Any), "option<json>"),
        (Type::Union(vec![Type::Integer, Type::Number]), "f64"),
        (Type::Union(vec![literals(json!(["a"])), Type::String, Type::Null]), "option<string>"),
    ] {
        assert_eq!(written(ty.clone()), expected, "{ty:?}");
    }
    let here = |reason| vec![("result".to_owned(), reason)];
    assert_eq!(reasons(tuple(vec![Type::String, Type::Number], 1, None)), here(Reason::Tuple));
    assert_eq!(reasons(tuple(vec![], 0, None)), here(Reason::Tuple));
    assert_eq!(reasons(literals(json!(["a", 1]))), here(Reason::MixedLiterals));
    assert_eq!(reasons(literals(json!([u64::MAX]))), here(Reason::MixedLiterals));
    assert_eq!(reasons(literals(json!(["a\u{0}"]))), here(Reason::Name));
    assert_eq!(reasons(Type::Map(Box::new(Type::String))), here(Reason::Map));
    assert_eq!(reasons(Type::Null), here(Reason::Null));
    assert_eq!(reasons(Type::Any), here(Reason::Any));
}

#[test]
fn a_result_without_a_schema_has_its_own_reason() {
    let mut silent = function("f", record(vec![]), Type::Any);
    silent.has_result_schema = false;
    let (_, plan) = text_of(&module(vec![silent], vec![]));
    assert_eq!(plan.interfaces[0].fallbacks[0].reason, Reason::NoSchema);
}

#[test]
fn unions_of_different_kinds_are_variants() {
    let ty = Type::Union(vec![
        Type::Boolean,
        Type::Integer,
        literals(json!(["auto", 2.5])),
        list(Type::String),
        record(vec![field("x", Type::Integer)]),
        Type::Null,
    ]);
    let (text, plan) = result_of(ty, vec![]);
    let variant = "    variant f-result {
        boolean(bool),
        number(f64),
        %string(f-result-string),
        array(list<string>),
        object(f-result-object),
    }\n";
    assert!(text.contains(variant), "{text}");
    assert!(text.contains("-> result<option<f-result>, capability-error>;"), "{text}");
    let interface = &plan.interfaces[0];
    assert_eq!(interface.marks()["f-result"].values().collect::<Vec<_>>(), ["~a", "~b", "~n", "~o", "~s"]);
    let ty = &interface.functions[0].result;
    for value in [json!(null), json!(true), json!(7), json!("auto"), json!(["a"]), json!({"x": 1})] {
        assert_eq!(cross(interface, ty, &value), Ok(value));
    }
    assert!(cross(interface, ty, &json!("other")).is_err());
    assert!(cross(interface, ty, &json!({"y": 1})).is_err());
    assert_eq!(
        reasons(Type::Union(vec![list(Type::String), list(Type::Number), Type::String])),
        [("result".to_owned(), Reason::OverlappingUnion)]
    );
}

#[test]
fn records_with_a_discriminator_are_variants() {
    let cat = record(vec![field("kind", literals(json!(["cat", "lion"]))), field("name", Type::String)]);
    let dog = record(vec![field("kind", literals(json!(["dog"]))), field("name", Type::Integer)]);
    let animal = Type::Union(vec![Type::Named(TypeId(0)), Type::Named(TypeId(1)), Type::String]);
    let (text, plan) = result_of(animal, vec![("Cat", cat.clone()), ("Dog", dog.clone())]);
    assert!(text.contains("%string(string),\n        cat(cat),\n        dog(dog),"), "{text}");
    let interface = &plan.interfaces[0];
    assert_eq!(interface.marks()["f-result"]["cat"], "~o4:kind3:cat4:lion");
    let ty = &interface.functions[0].result;
    for value in [json!("x"), json!({"kind": "lion", "name": "Leo"}), json!({"kind": "dog", "name": 7})] {
        assert_eq!(cross(interface, ty, &value), Ok(value));
    }
    assert!(cross(interface, ty, &json!({"kind": "dog", "name": "Rex"})).is_err());

    let here = [("result".to_owned(), Reason::OverlappingUnion)];
    let twin = record(vec![field("kind", literals(json!(["cat"]))), field("age", Type::Integer)]);
    assert_eq!(reasons(Type::Union(vec![cat.clone(), twin])), here);
    let optional = record(vec![field("kind?", literals(json!(["dog"])))]);
    assert_eq!(reasons(Type::Union(vec![cat, optional])), here);
}

#[test]
fn a_recursive_type_is_json_where_it_refers_to_itself() {
    let tree = record(vec![field("label", Type::String), field("children", list(Type::Named(TypeId(0))))]);
    let (text, plan) = result_of(Type::Named(TypeId(0)), vec![("Tree", tree)]);
    assert!(text.contains("children: list<json>,"), "{text}");
    assert_eq!(plan.interfaces[0].fallbacks[0].path, "result.children[]");
    assert_eq!(plan.interfaces[0].functions[0].result, WitType::Defined("tree".into()));
    assert!(!plan.interfaces[0].functions[0].is_result_exact);

    let a = record(vec![field("b", nullable(Type::Named(TypeId(1))))]);
    let b = record(vec![field("a?", Type::Named(TypeId(0)))]);
    let (text, _) = result_of(Type::Named(TypeId(0)), vec![("A", a), ("B", b)]);
    assert!(text.contains("b: option<b>,") && text.contains("a: option<json>,"), "{text}");

    let value = Type::Union(vec![Type::String, list(Type::Named(TypeId(0)))]);
    let (text, _) = result_of(Type::Named(TypeId(0)), vec![("Value", value)]);
    assert!(text.contains("%string(string),\n        array(list<json>),"), "{text}");
}

#[test]
fn presence_and_openness_are_in_the_type() {
    let mut fields = vec![
        field("a", Type::String),
        field("b", nullable(Type::String)),
        field("c?", Type::String),
        field("d?", nullable(Type::String)),
        field("extras?", Type::Boolean),
        field("gone?", Type::Never),
        field("expected", Type::Integer),
    ];
    fields[6].presence = Presence::Expected;
    let (text, plan) = result_of(open(fields), vec![]);
    let interface = &plan.interfaces[0];
    assert!(text.contains(
        "a: string,\n        b: option<string>,\n        c: option<string>,\n        d: option<option<string>>,"
    ));
    assert!(text.contains("extras: option<bool>,\n        expected: option<s64>,\n        extras-x"), "{text}");
    assert!(!text.contains("gone"));
    let ty = &interface.functions[0].result;
    for value in [
        json!({"a": "", "b": null}),
        json!({"a": "", "b": "", "c": "", "d": null, "extras": true, "expected": 1, "other": {"__proto__": []}}),
    ] {
        assert_eq!(cross(interface, ty, &value), Ok(value));
    }
    for value in [json!({"a": ""}), json!({"a": "", "b": "", "c": null})] {
        assert!(cross(interface, ty, &value).is_err(), "{value}");
    }
    let here = |reason| vec![("result".to_owned(), reason)];
    assert_eq!(reasons(record(vec![])), here(Reason::EmptyRecord));
    assert_eq!(reasons(open(vec![])), here(Reason::EmptyRecord));
    assert_eq!(reasons(record(vec![field("a?", Type::Never)])), here(Reason::EmptyRecord));
    assert_eq!(reasons(record(vec![field("a\0", Type::String)])), here(Reason::Name));
    assert_eq!(reasons(record(vec![field("a", Type::Never)])), [("result.a".to_owned(), Reason::Never)]);
}

#[test]
fn a_function_keeps_its_name_before_any_type() {
    let result = record(vec![field("x", Type::Any)]);
    let functions = vec![
        function("json", record(vec![]), Type::Named(TypeId(0))),
        function("list", Type::Any, Type::Boolean),
        function("trip", record(vec![field("when", record(vec![field("x", Type::Integer)]))]), Type::Boolean),
    ];
    let (text, _) = text_of(&module(functions, vec![("Trip", result)]));
    assert!(text.contains("    json: async func() -> result<trip-x"), "{text}");
    assert!(text.contains("json as json-x"), "{text}");
    assert!(text.contains("    %list: async func(params: json-x"), "{text}");
    assert!(text.contains("record trip-params-when {"), "{text}");
}

#[test]
fn types_beyond_component_limits_are_json() {
    let deep = (0..500).fold(Type::String, |inner, _| list(inner));
    let depths: Vec<Reason> = reasons(deep).into_iter().map(|(_, reason)| reason).collect();
    assert_eq!(depths, [Reason::TooDeep]);

    // Each type has the next one twice: written out, it is 2^60 types.
    let names: Vec<String> = (0..60).map(|index| format!("T{index}")).collect();
    let double = |index: usize| {
        let next = || if index == 59 { Type::String } else { Type::Named(TypeId(index + 1)) };
        record(vec![field("a", next()), field("b", next())])
    };
    let types: Vec<(&str, Type)> =
        names.iter().enumerate().map(|(index, name)| (name.as_str(), double(index))).collect();
    let (_, plan) = result_of(Type::Named(TypeId(0)), types);
    assert!(plan.interfaces[0].fallbacks.iter().all(|fallback| fallback.reason == Reason::TooMany));
    assert!(plan.interfaces[0].fallbacks.len() > 10);

    let alias = |index: usize| {
        let next = if index == 29 { Type::String } else { Type::Named(TypeId(index + 1)) };
        Type::Tuple { items: vec![next; 16], required: 16, rest: None }
    };
    let types: Vec<(&str, Type)> = names[..30].iter().enumerate().map(|(i, name)| (name.as_str(), alias(i))).collect();
    let (text, _) = result_of(Type::Named(TypeId(0)), types);
    assert!(text.len() < 1_000_000);

    let wide = record((0..205).map(|index| field(&format!("Parameter{index}.Name"), Type::String)).collect());
    assert_eq!(reasons(wide), []);
    let wider = record((0..6_000).map(|index| field(&format!("p{index}"), Type::String)).collect());
    assert_eq!(reasons(wider), [("result".to_owned(), Reason::TooMany)]);
}

#[test]
fn descriptions_are_never_code() {
    let text = "one\r\n}\n\u{2028}record evil { a: u8 }\u{85}\u{7}\u{feff}\n\n// /* \u{149}\u{e0041}\n".to_owned()
        + &"x".repeat(5_000);
    let mut f = function("f", record(vec![]), Type::Boolean);
    f.description = text + &"\nmore".repeat(100);
    let (wit, _) = text_of(&module(vec![f], vec![]));
    let docs: Vec<&str> = wit.lines().filter(|line| line.starts_with("    ///")).collect();
    assert_eq!(docs[..5], ["    /// one", "    /// }", "    /// record evil { a: u8 }", "    ///", "    /// // /*"]);
    assert_eq!((docs.len(), docs[5].chars().count(), docs[40]), (41, 8 + 401, "    /// …"));
}

#[test]
fn declared_additional_members_are_kept() {
    let ty = Type::Record(capability_gen::model::Record {
        fields: vec![field("a", Type::String)],
        rest: Rest::Declared(Box::new(Type::Integer)),
    });
    let (_, plan) = result_of(ty, vec![]);
    let value = json!({"a": "", "b": 1});
    let interface = &plan.interfaces[0];
    assert_eq!(cross(interface, &interface.functions[0].result, &value), Ok(value));
}
