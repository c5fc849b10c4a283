//! Name resolution: to a declaration of the same file, or of a file that it is imported from.

use super::fault::Fault;
use super::file::{TypeDeclaration, TypeKind};
use super::files::{FileId, Origin};
use super::links::{Export, From};
use super::types::schema::is_const;
use super::value::{Reader, is_function};
use crate::names::nearest;
use oxc_ast::ast::Expression;
use serde_json::Value;
use std::collections::HashSet;
use std::rc::Rc;

/// Kind of name: TypeScript has separate namespaces for types and values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Type,
    Value,
}

/// Resolved name.
pub(super) enum Named<'a> {
    Type(Declared<'a>),
    /// A `const`, or the value of a default export.
    Constant(&'a Expression<'a>),
    /// A member of an enum or of a constant, and whether its type is the literal value.
    Literal(Value, bool),
    Function,
    /// All exports of a file.
    Namespace(FileId),
    /// Unsupported declaration, in words.
    Other(&'static str),
    /// Import from an unsupported module, with the reason.
    Unsupported(String),
    Unknown,
}

/// Declared type.
#[derive(Clone)]
pub(super) struct Declared<'a> {
    pub(super) file: FileId,
    pub(super) name: &'a str,
    /// Several for a merged interface; never empty.
    pub(super) declarations: Rc<Vec<TypeDeclaration<'a>>>,
}

/// Name in a file: local or exported.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Step {
    Local(FileId, String),
    Export(FileId, String),
}

impl<'a> Reader<'a, '_> {
    /// Resolves a name at this place; `['t', 'Customer']` is `t.Customer`.
    pub(super) fn named(&self, at: u32, path: &[&str], wanted: Wanted) -> Result<Named<'a>, Fault> {
        let [first, rest @ ..] = path else { return Ok(Named::Unknown) };
        let found = self.find(Step::Local(self.files.at(at), (*first).to_owned()), at, wanted)?;
        self.member(found, rest, at, wanted)
    }

    /// Resolves a module's export, as in `import('./types').Customer`.
    pub(super) fn imported(&self, at: u32, source: &str, path: &[&str], wanted: Wanted) -> Result<Named<'a>, Fault> {
        match self.files.import(self.files.at(at), source, at)? {
            Origin::File(file) => self.member(Named::Namespace(file), path, at, wanted),
            Origin::Unsupported(why) => Ok(Named::Unsupported(why)),
        }
    }

    fn member(&self, found: Named<'a>, path: &[&str], at: u32, wanted: Wanted) -> Result<Named<'a>, Fault> {
        let mut found = found;
        for (index, name) in path.iter().enumerate() {
            found = match found {
                Named::Namespace(file) => self.find(Step::Export(file, (*name).to_owned()), at, wanted)?,
                Named::Type(Declared { declarations, name: of, .. }) => match declarations.first().map(|it| it.kind) {
                    Some(TypeKind::Enum(it)) => {
                        let members = self.enum_members(it)?;
                        let known = members.iter().find(|(known, _)| known == name);
                        let Some((_, value)) = known else {
                            return Err(Fault::new(
                                at,
                                format!("the enum `{of}` has no member `{name}`"),
                                did_you_mean(
                                    name,
                                    members.iter().map(|(name, _)| name.as_str()),
                                    "name one that it has",
                                ),
                            ));
                        };
                        Named::Literal(value.clone(), true)
                    }
                    _ => Named::Unknown,
                },
                Named::Constant(constant) => {
                    let mut value = self.value(constant)?;
                    for name in path.get(index..).unwrap_or_default() {
                        value = match value.get_mut(*name) {
                            Some(member) => member.take(),
                            None => {
                                return Err(Fault::new(
                                    at,
                                    format!("there is no member `{name}`"),
                                    "name one that there is",
                                ));
                            }
                        };
                    }
                    return Ok(Named::Literal(value, is_const(constant)));
                }
                other @ (Named::Other(_) | Named::Unsupported(_)) => return Ok(other),
                Named::Literal(..) | Named::Function | Named::Unknown => return Ok(Named::Unknown),
            };
        }
        Ok(found)
    }

    /// Follows a name through imports and exports to its declaration.
    fn find(&self, start: Step, at: u32, wanted: Wanted) -> Result<Named<'a>, Fault> {
        let mut seen = HashSet::new();
        let mut unsupported = None;
        let mut open = vec![start];
        while let Some(step) = open.pop() {
            // Re-exports may be circular.
            if !seen.insert(step.clone()) {
                continue;
            }
            self.charge(at, 1)?;
            let (file, from) = match &step {
                Step::Local(file, name) => {
                    if let Some(found) = self.declared(*file, name, wanted) {
                        return Ok(found);
                    }
                    (*file, self.files.get(*file).and_then(|parsed| parsed.file().links.import(name)))
                }
                Step::Export(file, name) => {
                    let Some(parsed) = self.files.get(*file) else { continue };
                    let links = &parsed.file().links;
                    match links.export(name) {
                        Some(Export::Local(local)) => {
                            open.push(Step::Local(*file, local.to_owned()));
                            continue;
                        }
                        Some(Export::Value(value)) if is_function(value) => return Ok(Named::Function),
                        Some(Export::Value(value)) => return Ok(Named::Constant(value)),
                        Some(Export::From(from)) => (*file, Some(from)),
                        None => {
                            // The first `export *` is searched first.
                            for (source, import) in links.stars.iter().rev().filter(|_| name != "default") {
                                match self.files.import(*file, source, *import)? {
                                    Origin::File(target) => open.push(Step::Export(target, name.clone())),
                                    Origin::Unsupported(why) => unsupported = Some(why),
                                }
                            }
                            continue;
                        }
                    }
                }
            };
            let Some(From { source, name, at: import }) = from else { continue };
            match (self.files.import(file, source, import)?, name) {
                (Origin::File(target), Some(name)) => open.push(Step::Export(target, name.to_owned())),
                (Origin::File(target), None) => return Ok(Named::Namespace(target)),
                (Origin::Unsupported(why), _) => unsupported = Some(why),
            }
        }
        Ok(unsupported.map_or(Named::Unknown, Named::Unsupported))
    }

    /// The declaration of this name in a file.
    fn declared(&self, id: FileId, name: &str, wanted: Wanted) -> Option<Named<'a>> {
        let parsed = self.files.get(id)?;
        let file = parsed.file();
        let is_enum = |it: &TypeDeclaration<'_>| matches!(it.kind, TypeKind::Enum(_));
        let ty = file.type_named(name).filter(|(_, all)| wanted == Wanted::Type || all.iter().all(is_enum));
        if let Some((name, declarations)) = ty {
            return Some(Named::Type(Declared { file: id, name, declarations }));
        }
        if wanted == Wanted::Value {
            match file.constant(name) {
                Some(constant) if is_function(constant) => return Some(Named::Function),
                Some(constant) => return Some(Named::Constant(constant)),
                None if file.is_function(name) => return Some(Named::Function),
                None if file.is_variable(name) => return Some(Named::Other("a variable")),
                None => {}
            }
        }
        file.other(name).map(Named::Other)
    }

    /// Error for an unknown name, with a suggestion.
    pub(super) fn unknown(&self, at: u32, path: &[&str], what: &str, others: &[&'static str]) -> Fault {
        let shown = path.join(".");
        let id = self.files.at(at);
        let (Some(parsed), Some(first)) = (self.files.get(id), path.first()) else {
            return Fault::new(at, format!("`{shown}` is not known"), "correct the name");
        };
        let file = parsed.file();
        let from = file.links.import(first);
        if let Some(From { source, name: imported, at: import }) = from
            && let Ok(Origin::File(target)) = self.files.import(id, source, import)
            && let Some(target) = self.files.get(target)
        {
            let name = imported.or_else(|| path.get(1).copied()).unwrap_or(first);
            let fix = format!("export `{name}` from {}, or give a JSON Schema instead", target.path());
            let known = target.file().links.exported();
            return Fault::new(at, format!("'{source}' exports no {what} `{name}`"), did_you_mean(name, known, &fix));
        }
        let known = file.type_names().chain(others.iter().copied());
        let fix =
            format!("declare `{first}` in this file, import it from a file beside it, or give a JSON Schema instead");
        Fault::new(at, format!("the {what} `{shown}` is not declared in this file"), did_you_mean(first, known, &fix))
    }
}

fn did_you_mean<'k>(name: &str, known: impl Iterator<Item = &'k str>, otherwise: &str) -> String {
    match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`? Otherwise {otherwise}"),
        None => otherwise.to_owned(),
    }
}
