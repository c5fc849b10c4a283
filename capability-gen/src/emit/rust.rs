//! Rust types and calls of a module, for hosts that embed the library.
//!
//! The generated file depends only on `serde`, `serde_json` and the host library's `TypedCall`. Types that Rust cannot
//! express (overlapping alternatives, tuples of varying length) are `serde_json::Value`. serde refuses an integer that
//! a provider writes with a fraction (`1.0`); a `number` is an `f64`.

mod cycles;
mod server;
mod text;
mod types;

use crate::model::{Capability, Function, Module};
use std::fmt::Write;
use text::{Distinct, RESERVED_MODULES, docs, literal, pascal, raw, snake};
use types::Writer;

const HEADER: &str =
    "#![allow(clippy::all, clippy::pedantic, rustdoc::all, dead_code, missing_docs, unreachable_pub, unused_imports)]

";

const PRESENT: &str = "/// A member that is there, `null` or not: so that `null` and absent stay apart.
fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A member that must be there, `null` or not.
fn required<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::deserialize(from)
}

";

const NEVER: &str = "/// No value at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Never {}

";

/// Generates one Rust file: the module's types, and for each capability a module of functions that create calls.
pub fn rust(module: &Module) -> String {
    let mut writer = Writer::new(module);
    writer.definitions();
    let mut scope = Distinct::default();
    for name in RESERVED_MODULES {
        scope.add(name);
    }
    let mut calls = String::new();
    for capability in &module.capabilities {
        let name = scope.add(&snake(&capability.interface));
        write_capability(&mut calls, &mut writer, capability, &name);
    }
    let about = format!("`{}` {}: its types, and functions that make calls to it.", module.specifier, module.version);
    let mut out = docs("", "//!", &[about, "Generated: changes are lost.".to_owned()]);
    out.push_str(HEADER);
    out.push_str("use agent_spaces::TypedCall;\nuse serde::{Deserialize, Serialize};\n");
    out.push_str("use serde_json::Value;\nuse std::collections::BTreeMap;\n");
    out.push('\n');
    out.push_str(&writer.items);
    if writer.uses_never {
        out.push_str(NEVER);
    }
    if writer.uses_present {
        out.push_str(PRESENT);
    }
    out.push_str(calls.trim_end());
    out.push('\n');
    out
}

fn write_capability(out: &mut String, writer: &mut Writer<'_>, capability: &Capability, name: &str) {
    out.push_str(&docs("", "///", std::slice::from_ref(&capability.description)));
    let _ = writeln!(out, "pub mod {} {{\n    use super::*;", raw(name));
    let mut scope = Distinct::default();
    for function in &capability.functions {
        let function_name = scope.add(&snake(&function.wit_name));
        write_function(out, writer, capability, function, &function_name);
    }
    server::write(out, capability);
    out.push_str("}\n\n");
}

fn write_function(
    out: &mut String,
    writer: &mut Writer<'_>,
    capability: &Capability,
    function: &Function,
    function_name: &str,
) {
    let type_name = pascal(&function.wit_name);
    let result = writer.of_function(&function.result, &format!("{type_name}Result"));
    let takes_nothing = function.takes_nothing(writer.types());
    let (parameters, value) = if takes_nothing {
        (String::new(), "&serde_json::Map::new()")
    } else {
        (format!("params: &{}", writer.of_function(&function.params, &format!("{type_name}Params"))), "params")
    };
    let title = function.title.clone().unwrap_or_default();
    out.push('\n');
    out.push_str(&docs("    ", "///", &[title, function.description.clone()]));
    let _ = writeln!(
        out,
        "    pub fn {}({parameters}) -> Result<TypedCall<{result}>, serde_json::Error> {{",
        raw(function_name)
    );
    let (capability_name, wire_name) = (literal(&capability.name), literal(&function.name));
    let _ = writeln!(out, "        TypedCall::new({capability_name}, {wire_name}, {value})\n    }}");
}
