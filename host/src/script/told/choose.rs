//! Which of the operations at a place failed.

use super::{Meant, Operation, Site, Told};

/// How something failed, as far as the engine says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing<'m> {
    /// Something else than a function was called.
    NotAFunction,
    /// This property of nothing was read.
    Read(&'m str),
    /// This property of nothing was written.
    Write(&'m str),
    NotIterable,
    /// It failed inside a function of this name.
    Inside(&'m str),
    /// An error of this class was made.
    Made(&'m str),
}

/// What a callee begins with that is a function for certain, unless somebody took pains.
const KNOWN: [&str; 20] = [
    "console.",
    "JSON.",
    "Math.",
    "Object.",
    "Array.",
    "Promise.",
    "Number.",
    "String.",
    "Date.",
    "Reflect.",
    "Symbol.",
    "Number",
    "String",
    "Boolean",
    "BigInt",
    "structuredClone",
    "parseInt",
    "parseFloat",
    "setTimeout",
    "fetch",
];

impl<'m> Failing<'m> {
    /// What the message of an error of a class says; nothing where the place that is told is the right one.
    pub(crate) fn of(class: &'m str, message: &'m str) -> Option<Failing<'m>> {
        let property = |before: &str| message.strip_prefix(before)?.rsplit_once("' of ").map(|(name, _)| name);
        match (class, message) {
            ("TypeError", "not a function" | "not a constructor") => Some(Failing::NotAFunction),
            ("TypeError", message) if message.ends_with(" is not a constructor") => Some(Failing::NotAFunction),
            ("TypeError", "value is not iterable") => Some(Failing::NotIterable),
            ("ReferenceError", message) if message.ends_with(" is not defined") => None,
            ("ReferenceError", message) if message.ends_with(" is not initialized") => None,
            _ => {
                let read = property("cannot read property '").map(Failing::Read);
                let write = || property("cannot set property '").map(Failing::Write);
                Some(read.or_else(write).unwrap_or(Failing::Made(class)))
            }
        }
    }
}

impl Told<'_> {
    /// What failed at an offset; nothing where that cannot be told better than by the offset itself.
    pub(crate) fn meant(&self, told: u32, failing: Failing<'_>) -> Option<Meant> {
        match failing {
            Failing::NotAFunction => self.not_a_function(told),
            Failing::Read(name) => self.property(told, Operation::Read, name),
            Failing::Write(name) => self.property(told, Operation::Write, name),
            Failing::NotIterable => self.at(told, |site| site.operation == Operation::Iterate).next().map(one),
            Failing::Inside(function) => self.inside(told, function),
            Failing::Made(class) => {
                let is_made = |site: &&Site| site.name.is_some_and(|name| is_error(self.text(name), class));
                self.calls(told).find(is_made).map(one)
            }
        }
    }

    fn at(&self, told: u32, is_it: impl Fn(&Site) -> bool) -> impl Iterator<Item = &Site> {
        self.sites.iter().filter(move |site| site.told == told && is_it(site))
    }

    fn calls(&self, told: u32) -> impl Iterator<Item = &Site> {
        self.at(told, |site| matches!(site.operation, Operation::Call | Operation::New))
    }

    /// A call within the arguments of another is told where that is. What is a function for certain is left out.
    fn not_a_function(&self, told: u32) -> Option<Meant> {
        let all: Vec<&Site> = self.calls(told).collect();
        let doubtful: Vec<&Site> = all.iter().copied().filter(|site| !self.is_function(site)).collect();
        let found = if doubtful.is_empty() { all } else { doubtful };
        let first = found.first()?;
        let subjects = found.iter().map(|site| site.subject).collect();
        Some(Meant { subjects, ..one(first) })
    }

    fn is_function(&self, site: &Site) -> bool {
        let callee = self.text(site.subject);
        let is_known = |known: &str| match known.ends_with('.') {
            true => callee.strip_prefix(known).is_some_and(|rest| !rest.contains(['.', '(', '['])),
            false => callee == known,
        };
        KNOWN.into_iter().any(is_known) || self.declared.contains(&callee)
    }

    fn property(&self, told: u32, operation: Operation, name: &str) -> Option<Meant> {
        let is_named = |site: &Site| site.operation == operation && site.name.is_some_and(|it| self.text(it) == name);
        let is_computed = |site: &Site| site.operation == operation && site.name.is_none();
        self.at(told, is_named).next().or_else(|| self.at(told, is_computed).next()).map(one)
    }

    /// The call of a function; where none has its name, the only one, or the first to be made.
    fn inside(&self, told: u32, function: &str) -> Option<Meant> {
        if let Some(name) = function.strip_prefix("get ") {
            return self.property(told, Operation::Read, name);
        }
        let name = function.rsplit('.').next().unwrap_or(function);
        let is_it = |site: &&Site| site.name.is_some_and(|it| self.text(it).trim_start_matches('#') == name);
        self.calls(told).find(is_it).or_else(|| self.calls(told).next()).map(one)
    }
}

fn one(site: &Site) -> Meant {
    Meant { offset: site.meant, subjects: vec![site.subject], is_new: site.operation == Operation::New }
}

/// Whether a callee of this name makes errors of a class.
fn is_error(name: &str, class: &str) -> bool {
    name == class || name.ends_with("Error") || name.ends_with("Exception")
}
