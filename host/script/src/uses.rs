//! Uses of imports in a source: members that it calls, and those that it only mentions.
//!
//! The walk reports each name, and then each expression around it that continues the chain: a member, a cast, a call.
//! An expression is identified by its span, which no expression with another value shares. Shadowing is resolved after
//! the walk, when all declarations are known.

use std::borrow::Cow;
use std::collections::HashMap;

use oxc_ast::ast::{
    BindingPattern, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, Program, Statement,
};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::identifier::is_identifier_name;

use super::scopes::{ScopeId, Scopes};
use agent_spaces_types::call_site::CallKind;

/// Limit on [`Prepared::calls`](crate::Prepared::calls). A script of thousands of lines has hundreds.
pub const MAX_CALL_SITES: usize = 10_000;

/// Length limit of a module name and of a path, in bytes. Names of capabilities and functions have at most 64; without
/// a limit a source could cause ten thousand copies of a name of megabytes.
const MAX_TEXT_BYTES: usize = 1_024;

/// A use of an import, as plain data.
#[derive(Debug)]
pub(super) struct ImportUse {
    pub(super) module: String,
    pub(super) path: String,
    pub(super) kind: CallKind,
    pub(super) start: u32,
}

/// Uses of a source's imports, up to a limit.
#[derive(Debug)]
pub(super) struct ImportUses {
    pub(super) list: Vec<ImportUse>,
    pub(super) has_more: bool,
}

/// One export of a module, or all of it.
#[derive(Debug, Clone, Copy)]
struct Export<'a> {
    module: &'a str,
    name: Option<&'a str>,
}

impl<'a> Export<'a> {
    /// `None` for names that are too long or no identifiers, which no capability has.
    fn new(module: &'a str, name: Option<&'a str>) -> Option<Self> {
        let is_reported = module.len() <= MAX_TEXT_BYTES
            && name.is_none_or(|name| name.len() <= MAX_TEXT_BYTES && is_identifier_name(name));
        is_reported.then_some(Self { module, name })
    }
}

/// Start of a chain.
#[derive(Debug, Clone, Copy)]
enum Root<'a> {
    /// An imported name, unless its scope shadows it.
    Name(&'a str, ScopeId),
    /// An export or a module without a local name.
    Export(Export<'a>),
}

#[derive(Debug, Clone, Copy)]
struct Use<'a> {
    root: Root<'a>,
    /// The last name of the chain; `None` for the root itself.
    member: Option<MemberId>,
    span: Span,
    kind: CallKind,
}

/// Index of a [`Member`].
type MemberId = u32;

/// A name after a dot. Chains share common prefixes.
#[derive(Debug)]
struct Member<'a> {
    name: &'a str,
    of: Option<MemberId>,
    /// Length of all names up to here, with their dots.
    path_bytes: usize,
}

/// The uses of a source, collected while it is walked.
#[derive(Debug, Default)]
pub(super) struct Uses<'a> {
    /// Value imports by local name; `None` for those that are not reported.
    imports: HashMap<&'a str, Option<Export<'a>>>,
    list: Vec<Use<'a>>,
    members: Vec<Member<'a>>,
}

impl<'a> Uses<'a> {
    /// Collects the imports of a program first, because names may be used above them.
    pub(super) fn of_imports(program: &Program<'a>) -> Self {
        let mut uses = Self::default();
        for statement in &program.body {
            if let Statement::ImportDeclaration(it) = statement
                && it.import_kind == ImportOrExportKind::Value
            {
                uses.import(it);
            }
        }
        uses
    }

    fn import(&mut self, it: &ImportDeclaration<'a>) {
        for specifier in it.specifiers.iter().flatten() {
            let name = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) if it.import_kind == ImportOrExportKind::Type => {
                    continue;
                }
                ImportDeclarationSpecifier::ImportSpecifier(it) => Some(it.imported.name().as_str()),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Some("default"),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
            };
            self.imports.insert(specifier.local().name.as_str(), Export::new(it.source.value.as_str(), name));
        }
    }

    /// True if a name is imported as a value.
    pub(super) fn has_import(&self, name: &str) -> bool {
        self.imports.contains_key(name)
    }

    /// Records a use of a name.
    pub(super) fn name(&mut self, name: &'a str, scope: ScopeId, span: Span) {
        if matches!(self.imports.get(name), Some(Some(_))) {
            self.list.push(Use { root: Root::Name(name, scope), member: None, span, kind: CallKind::Mention });
        }
    }

    /// Records a use of an export, or of a whole module, without a local name: `export … from`, `import()`.
    pub(super) fn export(&mut self, module: &'a str, name: Option<&'a str>, start: u32) {
        if let Some(export) = Export::new(module, name) {
            // No expression has this span: `import()` gives a promise, which starts no chain.
            let span = Span::new(start, start);
            self.list.push(Use { root: Root::Export(export), member: None, span, kind: CallKind::Mention });
        }
    }

    /// Returns the chain that ends with this expression.
    fn chain(&mut self, expression: Span) -> Option<&mut Use<'a>> {
        self.list.last_mut().filter(|last| last.span == expression)
    }

    /// `outer` has the value of `inner`: parentheses, casts.
    pub(super) fn same(&mut self, inner: Span, outer: Span) {
        if let Some(chain) = self.chain(inner) {
            chain.span = outer;
        }
    }

    /// `outer` is a member of `object`.
    pub(super) fn member(&mut self, object: Span, outer: Span, name: &'a str) {
        let Some(of) = self.chain(object).map(|chain| chain.member) else { return };
        let member = self.add_member(of, name);
        if let (Some(member), Some(chain)) = (member, self.chain(object)) {
            chain.member = Some(member);
            chain.span = outer;
        }
    }

    /// `callee` is called.
    pub(super) fn call(&mut self, callee: Span) {
        if let Some(chain) = self.chain(callee) {
            chain.kind = CallKind::Call;
        }
    }

    /// `value` is destructured: `const { member } = value` reads that member rather than all of it.
    pub(super) fn destructure(&mut self, value: Span, pattern: &BindingPattern<'a>) {
        if let Some(whole) = self.list.pop_if(|last| last.span == value) {
            self.destructure_use(whole, pattern);
        }
    }

    fn destructure_use(&mut self, whole: Use<'a>, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::AssignmentPattern(it) => self.destructure_use(whole, &it.left),
            BindingPattern::ObjectPattern(it) if !it.properties.is_empty() => {
                for property in &it.properties {
                    let member = match property.key.static_name() {
                        Some(Cow::Borrowed(name)) => self.add_member(whole.member, name),
                        _ => None,
                    };
                    match member {
                        Some(_) => {
                            let span = property.key.span();
                            self.destructure_use(Use { member, span, ..whole }, &property.value);
                        }
                        None => self.list.push(whole),
                    }
                }
                if it.rest.is_some() {
                    self.list.push(whole);
                }
            }
            _ => self.list.push(whole),
        }
    }

    /// Adds a member to a chain; `None` if its path is too long or its name no identifier.
    fn add_member(&mut self, of: Option<MemberId>, name: &'a str) -> Option<MemberId> {
        let before = of.and_then(|of| self.members.get(of as usize)).map_or(0, |of| of.path_bytes);
        let path_bytes = before + ".".len() + name.len();
        let is_reported = path_bytes <= MAX_TEXT_BYTES && is_identifier_name(name);
        is_reported.then(|| {
            self.members.push(Member { name, of, path_bytes });
            self.members.len() as MemberId - 1
        })
    }

    /// Returns the uses of imports, in the order of the source.
    pub(super) fn finish(mut self, scopes: &Scopes<'a>) -> ImportUses {
        self.list.sort_by_key(|it| it.span.start);
        let mut uses = self.list.iter().filter_map(|it| self.import_use(it, scopes));
        let list = uses.by_ref().take(MAX_CALL_SITES).collect();
        ImportUses { list, has_more: uses.next().is_some() }
    }

    fn import_use(&self, it: &Use<'a>, scopes: &Scopes<'a>) -> Option<ImportUse> {
        let export = match it.root {
            Root::Export(export) => export,
            Root::Name(name, scope) if scopes.is_free(name, scope) => (*self.imports.get(name)?)?,
            Root::Name(..) => return None,
        };
        let member = |id: Option<MemberId>| self.members.get(id? as usize);
        let mut names: Vec<&str> =
            std::iter::successors(member(it.member), |last| member(last.of)).map(|member| member.name).collect();
        names.extend(export.name);
        names.reverse();
        let module = export.module.to_owned();
        Some(ImportUse { module, path: names.join("."), kind: it.kind, start: it.span.start })
    }
}
