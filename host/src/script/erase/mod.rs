//! The walk over the syntax tree that erases types and gives enums, namespaces and parameter properties their code, and
//! statements their landmarks.
//!
//! One file per kind of syntax; each adds methods to [`Eraser`]. The walk only records edits. What depends on the
//! whole source (which imports are used, what the value of a script is) comes after it, in `modules` and `value`.

mod classes;
mod enums;
mod expressions;
mod failing;
mod functions;
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

use super::draft::{Fault, Site, Unused};
use super::edits::Edits;
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
    pub(super) elided: Vec<String>,
    pub(super) scopes: Scopes<'a>,
    pub(super) uses: Uses<'a>,
    /// What the names mean; known once the walk is over.
    pub(super) resolved: Resolved<'a>,
    /// Names the module declares as types only.
    pub(super) type_names: HashSet<&'a str>,
    /// `import name = Some.entity`, by scope and name: kept only where the name is used.
    aliases: Vec<(ScopeId, &'a str, u32, u32)>,
    /// Where a `return` stands outside of any function.
    pub(super) top_level_returns: Vec<u32>,
    function_depth: u32,
    /// How many blocks with a `catch` are around the current statement.
    caught_depth: u32,
    /// Calls of `require` with a literal.
    pub(super) requires: Vec<Require<'a>>,
    landmarks: Landmarks,
    /// The objects of the namespaces around the current statement, innermost last.
    namespace_objects: Vec<String>,
    /// What the statement lists around the current statement declare, innermost last.
    lists: Vec<List<'a>>,
    /// Whether enums or namespaces occur at all; most sources skip all that serves them.
    has_objects: bool,
    /// Which members of an enum hold strings.
    enum_strings: HashMap<GroupId, HashMap<&'a str, bool>>,
    enum_groups: HashMap<&'a str, GroupId>,
    /// A name that the source does not contain, and how many were made from it.
    fresh: Option<(String, u32)>,
    /// `var` declarations belong to the function, not to the block.
    declaring_var: bool,
    fault: Option<Fault>,
}

/// What a walk leaves.
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

/// Most names of each kind that are kept: a script has some tens of globals.
const MAX_NAMES: usize = 1_000;

/// What a list of statements declares, as far as enums and namespaces merge with it.
#[derive(Default)]
struct List<'a> {
    /// Classes and functions of the list.
    hosts: HashSet<&'a str>,
    /// Enums and namespaces met so far.
    met: HashSet<&'a str>,
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

    /// What the walk found, or the first thing that does not run here.
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
            .take(MAX_NAMES)
            .collect();
        free.sort_unstable();
        self.elided.truncate(MAX_NAMES);
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

    /// Refuses the source; the first place in it wins.
    pub(super) fn refuse(&mut self, fault: Fault) {
        let is_first = self.fault.as_ref().is_none_or(|known| fault.start < known.start);
        if is_first {
            self.fault = Some(fault);
        }
    }

    /// Notes that a name is used as a value; `shorthand` as in `{ name }`.
    fn refer(&mut self, it: &IdentifierReference<'a>, shorthand: bool) {
        self.scopes.refer(it.name.as_str(), it.span.start, shorthand);
        self.uses.name(it.name.as_str(), self.scopes.current(), it.span);
    }

    /// Erases a whole statement or class member. A semicolon takes its place, because it may have been what kept the
    /// lines before and after it apart: `a` ⏎ `type T = x` ⏎ `(b)` must not become the call `a(b)`.
    pub(super) fn remove(&mut self, start: u32, end: u32) {
        self.edits.blank_from(start, end, b';');
    }

    /// Whether a range holds a newline of any kind.
    fn spans_lines(&self, start: u32, end: u32) -> bool {
        let text = self.source.get(start as usize..end as usize).unwrap_or_default();
        text.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    /// A new name for an object that generated code needs.
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
