//! `index.d.ts`: TypeScript declarations of a module.

mod cycles;
mod docs;
mod server;
mod types;

use crate::definition::SourceKind;
use crate::model::{Capability, Docs, Function, Module, Type, TypeId};
use std::collections::HashSet;
use types::Printer;

/// The declarations of a module: `declare module '@capabilities/train-schedule' { … }`. Requires `globals.d.ts`.
///
/// Only referenced named types are included. A module of single functions is in call order (parameters, then result);
/// other modules have data types first and the parameters next to the functions.
pub fn dts(module: &Module) -> String {
    print(module, blocks(module))
}

/// Self-contained declarations: `index.d.ts`.
pub fn standalone(module: &Module) -> String {
    let mut blocks = blocks(module);
    if blocks.iter().any(|block| without_comments(block).contains(PROMISE)) {
        blocks.push(promise());
    }
    print(module, blocks)
}

fn blocks(module: &Module) -> Vec<String> {
    let printer = Printer::new(&module.types);
    let mut results = Vec::new();
    let mut params = Vec::new();
    let mut exports = Vec::new();
    let mut roots = Vec::new();
    let is_single = module.capabilities.iter().all(|capability| capability.is_single_function);
    for capability in &module.capabilities {
        let signatures = Signatures { params: &mut params, results: &mut results };
        exports.push(export(&printer, capability, signatures));
        if is_single {
            roots.append(&mut params);
            roots.append(&mut results);
        }
    }
    roots.append(&mut results);
    roots.append(&mut params);

    definitions(&printer, roots).into_iter().chain(server::content(module)).chain(exports).collect()
}

fn print(module: &Module, blocks: Vec<String>) -> String {
    let mut out = String::from("declare module ");
    super::text::push_quoted(&mut out, &module.specifier);
    out.push_str(" {\n");
    let mut is_first = true;
    for block in blocks {
        if !is_first {
            out.push('\n');
        }
        is_first = false;
        out.push_str(&block);
    }
    out.push_str("}\n");
    out
}

/// Promise type of lists.
const PROMISE: &str = "CapabilityPromise<";

/// The declaration of [`PROMISE`], as in `globals.d.ts`. Repeated in the module, so that its declarations are
/// self-contained.
fn promise() -> String {
    let globals = super::globals::globals_dts();
    let start = globals.find("interface CapabilityPromise<").unwrap_or_default();
    let end = globals.get(start..).and_then(|rest| rest.find("\n}\n")).map_or(start, |end| start + end + 3);
    let mut out = String::from("  /** A promise of a list, which takes the methods of arrays. */\n");
    for line in globals.get(start..end).unwrap_or_default().lines() {
        out.push_str(&format!("  {line}\n"));
    }
    out
}

/// Writes a comment with a source's text at this indentation, if there is any.
pub fn comment(out: &mut String, indent: usize, text: &str) {
    docs::push(out, indent, &Docs { description: text.to_owned(), ..Docs::default() });
}

/// A member's name, quoted if necessary: `name`, or `'a name'`.
pub fn property(name: &str) -> String {
    let mut out = String::new();
    super::text::push_property(&mut out, name);
    out
}

/// Declaration of a function on one line: `getSchedule(params?: GetScheduleParams): Promise<Trip[]>`.
pub fn line(module: &Module, capability: &Capability, function: &Function) -> String {
    let printer = Printer::new(&module.types);
    let mut out = String::new();
    let (mut params, mut results) = (Vec::new(), Vec::new());
    let mut signatures = Signatures { params: &mut params, results: &mut results };
    signature(&mut out, &printer, capability, function, 0, &mut signatures);
    let bare = without_comments(&out);
    let words: Vec<&str> = bare.trim_end().trim_end_matches(';').split_whitespace().collect();
    words.join(" ")
}

/// Removes comments from printed declarations. Comments never contain their end: see [`docs`].
fn without_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/**") {
        bare.push_str(before);
        rest = comment.split_once("*/").map(|(_, after)| after).unwrap_or_default();
    }
    bare + rest
}

/// The named types that functions refer to, in order of appearance.
struct Signatures<'a> {
    params: &'a mut Vec<TypeId>,
    results: &'a mut Vec<TypeId>,
}

/// Definitions reachable from the roots, each before those it refers to.
fn definitions(printer: &Printer<'_>, mut waiting: Vec<TypeId>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut blocks = Vec::new();
    waiting.reverse();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let mut references = Vec::new();
        let mut block = String::new();
        printer.definition(&mut block, id, &mut references);
        blocks.push(block);
        waiting.extend(references.into_iter().rev());
    }
    blocks
}

fn export(printer: &Printer<'_>, capability: &Capability, mut signatures: Signatures<'_>) -> String {
    let mut out = String::new();
    if capability.is_single_function {
        for function in &capability.functions {
            let otherwise = if function.description.is_empty() { &capability.description } else { "" };
            let parts = [otherwise, &function.description, inline(printer, capability, function).1];
            push_description(&mut out, 1, &parts, remark(capability, function));
            out.push_str("  export function ");
            signature(&mut out, printer, capability, function, 1, &mut signatures);
        }
        return out;
    }
    push_description(&mut out, 1, &[&capability.description], "");
    out.push_str(&format!("  export const {}: {{\n", capability.export));
    for function in &capability.functions {
        let parts = [&function.description, inline(printer, capability, function).1];
        push_description(&mut out, 2, &parts, remark(capability, function));
        out.push_str("    ");
        signature(&mut out, printer, capability, function, 2, &mut signatures);
    }
    server::members(&mut out, capability);
    out.push_str("  };\n");
    out
}

/// Remark about a result without a declared schema.
fn remark(capability: &Capability, function: &Function) -> &'static str {
    if server::is_result_unknown(capability, function) { server::RESULT } else { "" }
}

fn push_description(out: &mut String, indent: usize, parts: &[&str], remark: &str) {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    docs::push_with(out, indent, &Docs { description: parts.join("\n\n"), ..Docs::default() }, remark);
}

/// Parameters in the signature. Those of an MCP tool are inlined if they are few and simple; then their description
/// comes second. Descriptions do not affect the choice: text must never change the declarations.
fn inline<'a>(printer: &Printer<'a>, capability: &Capability, function: &'a Function) -> (&'a Type, &'a str) {
    if let (SourceKind::Mcp, Type::Named(id)) = (capability.source, &function.params) {
        let definition = printer.types.get(*id);
        if matches!(&definition.ty, Type::Record(record) if types::is_brief(record)) {
            return (&definition.ty, &definition.docs.description);
        }
    }
    (&function.params, "")
}

/// `getSchedule(params?: GetScheduleParams): CapabilityPromise<Trip[]>;`
fn signature(
    out: &mut String,
    printer: &Printer<'_>,
    capability: &Capability,
    function: &Function,
    indent: usize,
    signatures: &mut Signatures<'_>,
) {
    let name = if capability.is_single_function { &capability.export } else { &function.js_name };
    super::text::push_property(out, name);
    out.push('(');
    if !function.takes_nothing(printer.types) {
        out.push_str(if function.is_params_optional(printer.types) { "params?: " } else { "params: " });
        printer.ty(out, inline(printer, capability, function).0, indent, signatures.params);
    }
    out.push_str("): ");
    if !function.has_result_schema {
        out.push_str("Promise<unknown>");
    } else {
        let is_list = matches!(printer.types.resolve(&function.result), Type::List(_));
        out.push_str(if is_list { "CapabilityPromise<" } else { "Promise<" });
        printer.ty(out, &function.result, indent, signatures.results);
        out.push('>');
    }
    out.push_str(";\n");
}
