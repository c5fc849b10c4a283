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
    /// Nothing was taken apart by the names of its members.
    NotAnObject,
    /// This constant was written.
    ReadOnly(&'m str),
    /// It failed inside a function of this name.
    Inside(&'m str),
    /// An error of this class was made, and thrown.
    Made(&'m str),
    /// An error of this class was made for another one.
    MadeInside(&'m str),
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

/// What the engine says after the name of a constant that is written.
const READ_ONLY: &str = "' is read-only";

impl<'m> Failing<'m> {
    /// What the message of an error of a class says; nothing where the place that is told is the right one.
    pub(crate) fn of(class: &'m str, message: &'m str) -> Option<Failing<'m>> {
        let property = |before: &str| message.strip_prefix(before)?.rsplit_once("' of ").map(|(name, _)| name);
        match (class, message) {
            ("TypeError", "not a function" | "not a constructor") => Some(Failing::NotAFunction),
            ("TypeError", message) if message.ends_with(" is not a constructor") => Some(Failing::NotAFunction),
            ("TypeError", "value is not iterable") => Some(Failing::NotIterable),
            ("TypeError", "Cannot convert undefined or null to object") => Some(Failing::NotAnObject),
            ("TypeError", message) if message.ends_with(READ_ONLY) => {
                let name = message.strip_suffix(READ_ONLY)?;
                Some(Failing::ReadOnly(name.trim_start_matches('\'')))
            }
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
            Failing::NotAnObject => self.at(told, |site| site.operation == Operation::TakeApart).next().map(one),
            Failing::ReadOnly(name) => self.write(told, name),
            Failing::Made(class) => self.made(told, class).last().map(one),
            Failing::MadeInside(class) => self.made(told, class).next().map(one),
        }
    }

    /// Whether an error that is told here is one that a class makes of itself: in the call of `super`, or where the line
    /// of the class starts if it has no constructor.
    pub(crate) fn is_own_constructor(&self, told: u32) -> bool {
        let line = |start: u32| {
            let before = self.code.get(..start as usize).unwrap_or_default();
            before.rfind(['\n', '\r']).map_or(0, |end| end as u32 + 1)
        };
        self.classes.iter().any(|start| *start == told || line(*start) == told)
            || self.calls(told).any(|site| self.text(site.subject) == "super")
    }

    /// What makes errors here. The arguments of one come before it: `new Error('a', { cause: new TypeError('b') })`.
    fn made(&self, told: u32, class: &str) -> impl Iterator<Item = &Site> {
        let named = |site: &Site, is_it: &dyn Fn(&str) -> bool| site.name.is_some_and(|name| is_it(self.text(name)));
        let has_exact = self.calls(told).any(|site| named(site, &|name| name == class));
        let is_made = move |name: &str| if has_exact { name == class } else { is_error(name) };
        self.calls(told).filter(move |site| named(site, &is_made))
    }

    /// The write of a constant. The engine tells it late, at the statement after it or at a loop's head.
    fn write(&self, told: u32, name: &str) -> Option<Meant> {
        let mut writes = self.writes.iter().filter(|write| self.text(**write) == name);
        let first = writes.next()?;
        let nearest = writes.take_while(|(start, _)| *start <= told).last().unwrap_or(first);
        Some(Meant { offset: nearest.0, subjects: vec![*nearest], is_new: false })
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

/// Whether a callee of this name makes errors, as far as names go.
fn is_error(name: &str) -> bool {
    name.ends_with("Error") || name.ends_with("Exception")
}
