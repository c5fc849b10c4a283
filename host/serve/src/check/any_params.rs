//! Copies of module declarations whose functions accept any arguments.

use agent_spaces_script::{twin_of, with_enough_stack};
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    FormalParameters, TSExternalModuleDeclaration, TSInterfaceDeclaration, TSLiteral, TSPropertySignature, TSSignature,
    TSType, TSTypeAliasDeclaration, TSTypeName, TSTypeReference,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::{SourceType, Span};
use std::collections::{HashMap, HashSet};

/// Replacement for the parameter list of every function.
const ANY_PARAMETERS: &str = "(...params: any[])";

/// Types and members found in module declarations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DeclaredTypes {
    /// Member names of all types.
    pub(super) members: HashSet<String>,
    /// Names of literal union types: `type Unit = 'celsius' | 'fahrenheit'`.
    pub(super) literal_types: HashSet<String>,
    /// Members by type name; empty if modules have different types of that name.
    pub(super) types: HashMap<String, Vec<String>>,
}

/// Maximum number of members in a hint.
const MAX_MEMBERS: usize = 20;

impl DeclaredTypes {
    /// Returns a hint with the members of the type in a message: `'a' does not exist in type 'GetItemParams'.`
    pub(super) fn expected(&self, message: &str) -> Option<String> {
        let name = message.split_once("' does not exist in type '")?.1.split_once('\'')?.0;
        let members = self.types.get(name).filter(|members| !members.is_empty())?;
        let shown: Vec<String> = members.iter().take(MAX_MEMBERS).map(|member| format!("`{member}`")).collect();
        let more = if members.len() > MAX_MEMBERS { ", …" } else { "" };
        Some(format!("Expected one of {}{more}.", shown.join(", ")))
    }

    fn define(&mut self, name: &str, members: Vec<String>) {
        let known = self.types.entry(name.to_owned()).or_insert_with(|| members.clone());
        if *known != members {
            known.clear();
        }
    }
}

/// Returns the member names of a type.
fn member_names(signatures: &[TSSignature<'_>]) -> Vec<String> {
    let name = |signature: &TSSignature<'_>| match signature {
        TSSignature::TSPropertySignature(it) => it.key.static_name().map(|name| name.to_string()),
        _ => None,
    };
    signatures.iter().filter_map(name).collect()
}

/// Returns the declarations of a module under its twin name ([`twin_of`]), with functions that accept any arguments;
/// types used only by parameters become `any`. Empty if they cannot be parsed: then every diagnostic counts as one
/// about arguments.
pub(super) fn with_any_params(declarations: &str, declared: &mut DeclaredTypes) -> String {
    with_enough_stack(declarations, || rewrite(declarations, declared)).unwrap_or_default()
}

fn rewrite(declarations: &str, declared: &mut DeclaredTypes) -> String {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, declarations, SourceType::d_ts()).parse();
    if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
        return String::new();
    }
    let mut finder = Finder {
        declared,
        edits: Vec::new(),
        parameter_types: HashSet::new(),
        other_types: HashSet::new(),
        types: HashMap::new(),
        depth: 0,
    };
    finder.visit_program(&parsed.program);
    let Finder { mut edits, parameter_types, other_types, types, .. } = finder;
    for name in parameter_types.difference(&other_types) {
        if let Some(span) = types.get(name) {
            // A definition contains no functions, so no other edit overlaps.
            edits.push((*span, format!("type {name} = any;")));
        }
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut text = String::with_capacity(declarations.len());
    let mut at = 0;
    for (span, replacement) in edits {
        text.push_str(declarations.get(at..span.start as usize).unwrap_or_default());
        text.push_str(&replacement);
        at = span.end as usize;
    }
    text.push_str(declarations.get(at..).unwrap_or_default());
    text
}

struct Finder<'d> {
    declared: &'d mut DeclaredTypes,
    edits: Vec<(Span, String)>,
    /// Types named by parameters, and types named elsewhere.
    parameter_types: HashSet<String>,
    other_types: HashSet<String>,
    /// Definitions of types.
    types: HashMap<String, Span>,
    /// Nesting depth of parameter lists.
    depth: usize,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        let span = Span::new(it.id.span.start + 1, it.id.span.end.saturating_sub(1));
        self.edits.push((span, twin_of(it.id.value.as_str())));
        walk::walk_ts_external_module_declaration(self, it);
    }

    fn visit_formal_parameters(&mut self, it: &FormalParameters<'a>) {
        if self.depth == 0 {
            self.edits.push((it.span, ANY_PARAMETERS.to_owned()));
        }
        self.depth += 1;
        walk::walk_formal_parameters(self, it);
        self.depth -= 1;
    }

    fn visit_ts_type_reference(&mut self, it: &TSTypeReference<'a>) {
        if let TSTypeName::IdentifierReference(name) = &it.type_name {
            let names = if self.depth > 0 { &mut self.parameter_types } else { &mut self.other_types };
            names.insert(name.name.to_string());
        }
        walk::walk_ts_type_reference(self, it);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.types.insert(it.id.name.to_string(), it.span);
        if it.extends.is_empty() {
            self.declared.define(it.id.name.as_str(), member_names(&it.body.body));
        }
        walk::walk_ts_interface_declaration(self, it);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        let name = it.id.name.to_string();
        if let TSType::TSTypeLiteral(literal) = &it.type_annotation {
            self.declared.define(&name, member_names(&literal.members));
        }
        if is_literal(&it.type_annotation) {
            self.declared.literal_types.insert(name.clone());
        }
        if it.type_parameters.is_none() {
            self.types.insert(name, it.span);
        }
        walk::walk_ts_type_alias_declaration(self, it);
    }

    fn visit_ts_property_signature(&mut self, it: &TSPropertySignature<'a>) {
        if let Some(name) = it.key.static_name() {
            self.declared.members.insert(name.to_string());
        }
        walk::walk_ts_property_signature(self, it);
    }
}

/// Returns true if a type is a literal or a union of literals.
fn is_literal(ty: &TSType<'_>) -> bool {
    match ty {
        TSType::TSLiteralType(it) => !matches!(it.literal, TSLiteral::TemplateLiteral(_)),
        TSType::TSUnionType(it) => it.types.iter().all(is_literal),
        TSType::TSParenthesizedType(it) => is_literal(&it.type_annotation),
        TSType::TSNullKeyword(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::check::any_params::*;

    #[test]
    fn functions_accept_any_arguments_and_keep_their_result_types() {
        let declarations = "declare module '@capabilities/weather' {
  export type Unit = 'celsius' | 'fahrenheit';
  export interface GetParams { location: string; unit?: Unit }
  export interface Result { temperature: number; near: Shared }
  export interface Shared { id: string }
  export const weather: {
    get(params: GetParams): Promise<Result>;
    share(params: Shared): Promise<void>;
  };
  export function list(params?: { limit?: number }): CapabilityPromise<Result[]>;
}
";
        let mut declared = DeclaredTypes::default();
        let open = with_any_params(declarations, &mut declared);
        assert_eq!(
            open,
            "declare module '%capabilities/weather' {
  export type Unit = 'celsius' | 'fahrenheit';
  export type GetParams = any;
  export interface Result { temperature: number; near: Shared }
  export interface Shared { id: string }
  export const weather: {
    get(...params: any[]): Promise<Result>;
    share(...params: any[]): Promise<void>;
  };
  export function list(...params: any[]): CapabilityPromise<Result[]>;
}
"
        );
        assert_eq!(declared.literal_types, HashSet::from(["Unit".to_owned()]));
        assert!(["location", "temperature", "limit", "id"].iter().all(|it| declared.members.contains(*it)));
        assert_eq!(with_any_params("declare module {{{", &mut declared), "");
    }
}
