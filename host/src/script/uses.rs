//! Where a source uses what it imports: the members that it calls, and those that it only mentions.
//!
//! The walk tells each name that it meets, and then each expression around it that is still the same chain: a member of
//! it, a cast, a call. An expression is known by its span, which it shares with nothing that has another value. Whether a
//! name means the import or something nearer is asked once the walk is over and all declarations are known.

use std::borrow::Cow;
use std::collections::HashMap;

use oxc_ast::ast::{
    BindingPattern, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, Program, Statement,
};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::identifier::is_identifier_name;

use super::prepare::{CallKind, MAX_CALL_SITES};
use super::scopes::{ScopeId, Scopes};

/// The longest module name, and the longest path, in bytes. Names of capabilities and functions have at most 64; a source
/// could otherwise make ten thousand copies of a name of megabytes.
const MAX_TEXT_BYTES: usize = 1_024;

/// A use of an import, as plain data.
#[derive(Debug)]
pub(super) struct ImportUse {
    pub(super) module: String,
    pub(super) path: String,
    pub(super) kind: CallKind,
    pub(super) start: u32,
}

/// The uses of a source's imports, as many as are told.
#[derive(Debug)]
pub(super) struct ImportUses {
    pub(super) list: Vec<ImportUse>,
    pub(super) has_more: bool,
}

/// What a module gives: one export, or without a name all of it.
#[derive(Debug, Clone, Copy)]
struct Export<'a> {
    module: &'a str,
    name: Option<&'a str>,
}

impl<'a> Export<'a> {
    /// `None` for names that no capability has, and that would be no help to a reader.
    fn new(module: &'a str, name: Option<&'a str>) -> Option<Self> {
        let is_shown = module.len() <= MAX_TEXT_BYTES
            && name.is_none_or(|name| name.len() <= MAX_TEXT_BYTES && is_identifier_name(name));
        is_shown.then_some(Self { module, name })
    }
}

/// What a chain starts with.
#[derive(Debug, Clone, Copy)]
enum Root<'a> {
    /// A name that is imported, unless the scope it is used in says otherwise.
    Name(&'a str, ScopeId),
    /// A module that is named in place.
    Export(Export<'a>),
}

#[derive(Debug, Clone, Copy)]
struct Use<'a> {
    root: Root<'a>,
    /// The last name of the chain; none where the root itself is used.
    member: Option<MemberId>,
    span: Span,
    kind: CallKind,
}

/// Index of a [`Member`].
type MemberId = u32;

/// A name after a dot. Chains that begin alike share their beginning.
#[derive(Debug)]
struct Member<'a> {
    name: &'a str,
    of: Option<MemberId>,
    /// Of all names up to here, with their dots.
    path_bytes: usize,
}

/// The uses of a source, collected while it is walked.
#[derive(Debug, Default)]
pub(super) struct Uses<'a> {
    /// What is imported as a value, by its local name; none where it is not shown.
    imports: HashMap<&'a str, Option<Export<'a>>>,
    list: Vec<Use<'a>>,
    members: Vec<Member<'a>>,
}

impl<'a> Uses<'a> {
    /// Reads the imports of a program: names may be used above them.
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

    /// Whether a name is imported as a value.
    pub(super) fn has_import(&self, name: &str) -> bool {
        self.imports.contains_key(name)
    }

    /// A name is used.
    pub(super) fn name(&mut self, name: &'a str, scope: ScopeId, span: Span) {
        if matches!(self.imports.get(name), Some(Some(_))) {
            self.list.push(Use { root: Root::Name(name, scope), member: None, span, kind: CallKind::Mention });
        }
    }

    /// An export is taken without a local name, or without a name all of a module: `export … from`, `import()`.
    pub(super) fn export(&mut self, module: &'a str, name: Option<&'a str>, start: u32) {
        if let Some(export) = Export::new(module, name) {
            // No expression has this span: a promise for a module is no chain.
            let span = Span::new(start, start);
            self.list.push(Use { root: Root::Export(export), member: None, span, kind: CallKind::Mention });
        }
    }

    /// The chain up to here, if the expression is one.
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
        let member = self.reach(of, name);
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

    /// `value` becomes the value of a pattern: `const { member } = value` reads that member rather than all of it.
    pub(super) fn take_apart(&mut self, value: Span, pattern: &BindingPattern<'a>) {
        if let Some(taken) = self.list.pop_if(|last| last.span == value) {
            self.take(taken, pattern);
        }
    }

    fn take(&mut self, taken: Use<'a>, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::AssignmentPattern(it) => self.take(taken, &it.left),
            BindingPattern::ObjectPattern(it) if !it.properties.is_empty() => {
                for property in &it.properties {
                    let member = match property.key.static_name() {
                        Some(Cow::Borrowed(name)) => self.reach(taken.member, name),
                        _ => None,
                    };
                    match member {
                        Some(_) => {
                            let span = property.key.span();
                            self.take(Use { member, span, ..taken }, &property.value);
                        }
                        None => self.list.push(taken),
                    }
                }
                if it.rest.is_some() {
                    self.list.push(taken);
                }
            }
            _ => self.list.push(taken),
        }
    }

    /// A member of a member; none where its name would not be shown.
    fn reach(&mut self, of: Option<MemberId>, name: &'a str) -> Option<MemberId> {
        let before = of.and_then(|of| self.members.get(of as usize)).map_or(0, |of| of.path_bytes);
        let path_bytes = before + ".".len() + name.len();
        let is_shown = path_bytes <= MAX_TEXT_BYTES && is_identifier_name(name);
        is_shown.then(|| {
            self.members.push(Member { name, of, path_bytes });
            self.members.len() as MemberId - 1
        })
    }

    /// The uses that mean an import, in the order of the source.
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
