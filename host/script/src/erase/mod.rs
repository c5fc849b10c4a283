//! Type eraser: the walk over the syntax tree that blanks types, generates code for enums, namespaces and parameter
//! properties, and inserts landmarks.
//!
//! One file per kind of syntax; each adds methods to [`Eraser`]. The walk only records edits. Whatever depends on the
//! whole source (used imports, the value of a script) comes after it, in `modules` and `value`.

mod classes;
mod enums;
mod expressions;
mod functions;
mod infallible;
mod landmarks;
mod namespaces;
mod parameter_properties;
mod requires;
mod statements;
mod walk;

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{IdentifierReference, Program};
use oxc_ast_visit::Visit;
use oxc_parser::Kind;

use super::edits::Edits;
use super::fault::Fault;
use super::imports::{Site, Unused};
use super::language::{Language, SourceKind};
use super::scopes::{GroupId, Resolved, ScopeId, Scopes};
use super::tokens::Tokens;
use super::uses::{ImportUses, Uses};
pub(super) use expressions::literal;
use landmarks::Landmarks;
pub(super) use requires::Require;

/// Walks a program and collects its edits.
pub(super) struct Eraser<'a, 't> {
    pub(super) source: &'t str,
    pub(super) tokens: Tokens<'t>,
    pub(super) language: Language,
    kind: SourceKind,
    pub(super) edits: Edits,
    pub(super) sites: Vec<Site>,
    pub(super) unused: Vec<Unused>,
    /// Number of searches of the source for the name of an unused import.
    pub(super) unused_searches: usize,
    pub(super) elided: Vec<String>,
    pub(super) scopes: Scopes<'a>,
    pub(super) uses: Uses<'a>,
    /// Resolved names; filled after the walk.
    pub(super) resolved: Resolved<'a>,
    /// Names the module declares as types only.
    pub(super) type_names: HashSet<&'a str>,
    /// `import name = Some.entity`, by scope and name: kept only where the name is used.
    aliases: Vec<(ScopeId, &'a str, u32, u32)>,
    /// Offsets of `return` statements outside of any function.
    pub(super) top_level_returns: Vec<u32>,
    function_depth: u32,
    /// Number of blocks with a `catch` around the current statement.
    caught_depth: u32,
    /// Calls of `require` with a literal.
    pub(super) requires: Vec<Require<'a>>,
    landmarks: Landmarks,
    /// The objects of the namespaces around the current statement, innermost last.
    namespace_objects: Vec<String>,
    /// Declarations of the statement lists around the current statement, innermost last.
    lists: Vec<List<'a>>,
    /// True if enums or namespaces occur; most sources skip the work for them.
    has_objects: bool,
    /// True for the members of an enum that hold strings.
    enum_strings: HashMap<GroupId, HashMap<&'a str, bool>>,
    enum_groups: HashMap<&'a str, GroupId>,
    /// A stem that the source does not contain, and the number of names generated from it.
    fresh: Option<(String, u32)>,
    /// True inside a `var` declaration, which belongs to the function, not to the block.
    declaring_var: bool,
    fault: Option<Fault>,
}

/// Result of the walk.
pub(super) struct Erased {
    pub(super) edits: Edits,
    pub(super) sites: Vec<Site>,
    pub(super) unused: Vec<Unused>,
    pub(super) import_uses: ImportUses,
    pub(super) uses_fetch: bool,
    /// Names that are used as values and that the source neither declares nor imports, in order.
    pub(super) free: Vec<String>,
    /// Modules whose import was left out because nothing uses it as a value.
    pub(super) elided: Vec<String>,
}

/// Limit on the undeclared names that are kept: a script uses some tens of globals.
const MAX_FREE_NAMES: usize = 1_000;

/// Declarations of a statement list that enums and namespaces merge with.
#[derive(Default)]
struct List<'a> {
    /// Classes and functions of the list.
    hosts: HashSet<&'a str>,
    /// Enums and namespaces declared so far.
    declared: HashSet<&'a str>,
}

impl<'a, 't> Eraser<'a, 't> {
    pub(super) fn new(
        source: &'t str,
        tokens: Tokens<'t>,
        language: Language,
        kind: SourceKind,
        uses: Uses<'a>,
    ) -> Self {
        let has_objects =
            language == Language::TypeScript && tokens.contain(&[Kind::Enum, Kind::Namespace, Kind::Module]);
        Self {
            source,
            tokens,
            language,
            kind,
            edits: Edits::default(),
            sites: Vec::new(),
            unused: Vec::new(),
            unused_searches: 0,
            elided: Vec::new(),
            scopes: Scopes::new(),
            uses,
            resolved: Resolved::default(),
            type_names: HashSet::new(),
            aliases: Vec::new(),
            top_level_returns: Vec::new(),
            function_depth: 0,
            caught_depth: 0,
            requires: Vec::new(),
            landmarks: Landmarks::default(),
            namespace_objects: Vec::new(),
            lists: Vec::new(),
            has_objects,
            enum_strings: HashMap::new(),
            enum_groups: HashMap::new(),
            fresh: None,
            declaring_var: false,
            fault: None,
        }
    }

    /// Walks the whole program.
    pub(super) fn run(&mut self, program: &Program<'a>) {
        self.visit_program(program);
        self.resolved = self.scopes.resolve();
        for qualified in std::mem::take(&mut self.resolved.qualified) {
            self.edits.insert(qualified.start, qualified.prefix);
        }
        for (scope, name, start, end) in std::mem::take(&mut self.aliases) {
            if self.resolved.bound.contains(&(scope, name)) {
                // As long as `import`, so that nothing moves.
                self.edits.replace(start, start + "import".len() as u32, "var   ");
                self.landmark_at(start);
            } else {
                self.remove(start, end);
            }
        }
    }

    /// Returns the result of the walk.
    ///
    /// # Errors
    /// The first syntax that does not run here.
    pub(super) fn finish(mut self) -> Result<Erased, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.landmarks.write(self.source, &mut self.edits);
        let uses_fetch = self.resolved.free.contains("fetch") && !self.uses.has_import("fetch");
        let mut free: Vec<String> = self
            .resolved
            .free
            .iter()
            .filter(|name| !self.uses.has_import(name))
            .map(|name| (*name).to_owned())
            .take(MAX_FREE_NAMES)
            .collect();
        free.sort_unstable();
        Ok(Erased {
            free,
            elided: self.elided,
            edits: self.edits,
            sites: self.sites,
            unused: self.unused,
            import_uses: self.uses.finish(&self.scopes),
            uses_fetch,
        })
    }

    /// Refuses the source; the fault with the lowest offset wins.
    pub(super) fn refuse(&mut self, fault: Fault) {
        let is_first = self.fault.as_ref().is_none_or(|known| fault.start < known.start);
        if is_first {
            self.fault = Some(fault);
        }
    }

    /// Records that a name is used as a value; `shorthand` as in `{ name }`.
    fn refer(&mut self, it: &IdentifierReference<'a>, shorthand: bool) {
        self.scopes.refer(it.name.as_str(), it.span.start, shorthand);
        self.uses.name(it.name.as_str(), self.scopes.current(), it.span);
    }

    /// Erases a whole statement or class member. A semicolon takes its place, because it may have separated the lines
    /// before and after it: `a` ⏎ `type T = x` ⏎ `(b)` must not become the call `a(b)`.
    pub(super) fn remove(&mut self, start: u32, end: u32) {
        self.edits.blank_from(start, end, b';');
    }

    /// True if a range contains a newline of any kind.
    fn spans_lines(&self, start: u32, end: u32) -> bool {
        let text = self.source.get(start as usize..end as usize).unwrap_or_default();
        text.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    /// Generates a new name for an object of generated code.
    pub(super) fn fresh_name(&mut self) -> String {
        let source = self.source;
        let (stem, count) = self.fresh.get_or_insert_with(|| (unused_stem(source), 0));
        *count += 1;
        format!("{stem}{count}")
    }
}

/// `$o` and one underscore more than any `$o` in the source has, found in one pass.
fn unused_stem(source: &str) -> String {
    const STEM: &str = "$o";
    let longest = source
        .match_indices(STEM)
        .map(|(at, _)| source.as_bytes().iter().skip(at + STEM.len()).take_while(|byte| **byte == b'_').count())
        .max();
    match longest {
        Some(longest) => format!("{STEM}{}", "_".repeat(longest + 1)),
        None => STEM.to_owned(),
    }
}
