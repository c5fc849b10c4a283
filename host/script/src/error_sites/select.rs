//! Selection of the operation that an error is about, among those reported at one offset.

use super::{ErrorSites, FailedOperation, Operation, Site};

/// Kind of an error of the engine, as far as its class and message tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineError<'m> {
    /// Call of a value that is no function.
    NotAFunction,
    /// Read of this property of `undefined` or `null`.
    Read(&'m str),
    /// Write of this property of `undefined` or `null`.
    Write(&'m str),
    /// Iteration over a value that is not iterable.
    NotIterable,
    /// Destructuring of `undefined` or `null` by an object pattern.
    NotAnObject,
    /// Assignment to this constant.
    ReadOnly(&'m str),
    /// Failure inside a callee of this name.
    InCallee(&'m str),
    /// An error of this class, constructed and thrown.
    Thrown(&'m str),
    /// An error of this class, constructed as the cause of another one.
    Cause(&'m str),
}

/// Prefixes and names of callees that are functions unless a script overwrites them. After a prefix comes one name.
const BUILT_IN: [&str; 20] = [
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

/// The longest name of a method of a built-in object, in bytes. Longer callees are not searched, because there may be
/// as many of them as the code has calls.
const MAX_BUILT_IN: usize = 64;

/// The engine's words after the name of a constant that is assigned to.
const READ_ONLY: &str = "' is read-only";

impl<'m> EngineError<'m> {
    /// Parses the class and message of an error; `None` where the engine reports the right position itself.
    pub fn parse(class: &'m str, message: &'m str) -> Option<EngineError<'m>> {
        let property = |before: &str| message.strip_prefix(before)?.rsplit_once("' of ").map(|(name, _)| name);
        match (class, message) {
            ("TypeError", "not a function" | "not a constructor") => Some(EngineError::NotAFunction),
            ("TypeError", message) if message.ends_with(" is not a constructor") => Some(EngineError::NotAFunction),
            ("TypeError", "value is not iterable") => Some(EngineError::NotIterable),
            ("TypeError", "Cannot convert undefined or null to object") => Some(EngineError::NotAnObject),
            ("TypeError", message) if message.ends_with(READ_ONLY) => {
                let name = message.strip_suffix(READ_ONLY)?;
                Some(EngineError::ReadOnly(name.trim_start_matches('\'')))
            }
            ("ReferenceError", message) if message.ends_with(" is not defined") => None,
            ("ReferenceError", message) if message.ends_with(" is not initialized") => None,
            _ => {
                let read = property("cannot read property '").map(EngineError::Read);
                let write = || property("cannot set property '").map(EngineError::Write);
                Some(read.or_else(write).unwrap_or(EngineError::Thrown(class)))
            }
        }
    }
}

impl ErrorSites<'_> {
    /// Returns the operation that failed with this error, of those reported at an offset; `None` where nothing better
    /// than the offset itself is known.
    pub fn failed_operation(&self, reported: u32, error: EngineError<'_>) -> Option<FailedOperation> {
        let first = |operation: Operation| self.at(reported, move |site| site.operation == operation).next().map(one);
        match error {
            EngineError::NotAFunction => self.not_a_function(reported),
            EngineError::Read(name) => self.property(reported, Operation::Read, name),
            EngineError::Write(name) => self.property(reported, Operation::Write, name),
            EngineError::NotIterable => first(Operation::Iterate),
            EngineError::InCallee(function) => self.in_callee(reported, function),
            EngineError::NotAnObject => first(Operation::Destructure),
            EngineError::ReadOnly(name) => self.write(reported, name),
            EngineError::Thrown(class) => self.constructed(reported, class).last().map(one),
            EngineError::Cause(class) => self.constructed(reported, class).next().map(one),
        }
    }

    /// True if an error reported here is constructed by its own class: in the call of `super`, or at the class or its
    /// line if it has no constructor.
    pub fn is_own_constructor(&self, reported: u32) -> bool {
        self.derived_classes.binary_search(&reported).is_ok()
            || self.calls(reported).any(|site| self.text(site.subject) == "super")
    }

    /// Calls that construct errors. The arguments of one come before it: `new Error('a', { cause: new TypeError('b')
    /// })`.
    fn constructed(&self, reported: u32, class: &str) -> impl Iterator<Item = &Site> {
        let named = |site: &Site, is_it: &dyn Fn(&str) -> bool| site.name.is_some_and(|name| is_it(self.text(name)));
        let has_exact = self.calls(reported).any(|site| named(site, &|name| name == class));
        let is_class = move |name: &str| if has_exact { name == class } else { is_error(name) };
        self.calls(reported).filter(move |site| named(site, &is_class))
    }

    /// The assignment to a constant. The engine reports it late, at the statement after it or at a loop's head.
    fn write(&self, reported: u32, name: &str) -> Option<FailedOperation> {
        let mut writes = self.writes.iter().filter(|write| self.text(**write) == name);
        let first = writes.next()?;
        let nearest = writes.take_while(|(start, _)| *start <= reported).last().unwrap_or(first);
        Some(FailedOperation { offset: nearest.0, subjects: vec![*nearest], is_new: false })
    }

    fn at(&self, reported: u32, is_it: impl Fn(&Site) -> bool) -> impl Iterator<Item = &Site> {
        let first = self.sites.partition_point(|site| site.reported < reported);
        let sites = self.sites.get(first..).unwrap_or_default();
        sites.iter().take_while(move |site| site.reported == reported).filter(move |site| is_it(site))
    }

    fn calls(&self, reported: u32) -> impl Iterator<Item = &Site> {
        self.at(reported, |site| matches!(site.operation, Operation::Call | Operation::New))
    }

    /// Calls of values that may be no function. A call within the arguments of another is reported where that is.
    /// Built-in and declared functions are left out.
    fn not_a_function(&self, reported: u32) -> Option<FailedOperation> {
        let all: Vec<&Site> = self.calls(reported).collect();
        let doubtful: Vec<&Site> = all.iter().copied().filter(|site| !self.is_known_function(site)).collect();
        let found = if doubtful.is_empty() { all } else { doubtful };
        let first = found.first()?;
        let subjects = found.iter().map(|site| site.subject).collect();
        Some(FailedOperation { subjects, ..one(first) })
    }

    fn is_known_function(&self, site: &Site) -> bool {
        let callee = self.text(site.subject);
        let is_built_in = |known: &str| match known.ends_with('.') {
            true => callee
                .strip_prefix(known)
                .is_some_and(|rest| rest.len() <= MAX_BUILT_IN && !rest.contains(['.', '(', '['])),
            false => callee == known,
        };
        // Only a bare name can be that of a declared function. The text of any other callee may be as long as the code.
        let is_name = site.name == Some(site.subject);
        BUILT_IN.into_iter().any(is_built_in) || is_name && self.declared.binary_search(&callee).is_ok()
    }

    fn property(&self, reported: u32, operation: Operation, name: &str) -> Option<FailedOperation> {
        let is_named = |site: &Site| site.operation == operation && site.name.is_some_and(|it| self.text(it) == name);
        let is_computed = |site: &Site| site.operation == operation && site.name.is_none();
        self.at(reported, is_named).next().or_else(|| self.at(reported, is_computed).next()).map(one)
    }

    /// The call of a function; where none has its name, the first call.
    fn in_callee(&self, reported: u32, function: &str) -> Option<FailedOperation> {
        if let Some(name) = function.strip_prefix("get ") {
            return self.property(reported, Operation::Read, name);
        }
        let name = function.rsplit('.').next().unwrap_or(function);
        let is_it = |site: &&Site| site.name.is_some_and(|it| self.text(it).trim_start_matches('#') == name);
        self.calls(reported).find(is_it).or_else(|| self.calls(reported).next()).map(one)
    }
}

fn one(site: &Site) -> FailedOperation {
    FailedOperation { offset: site.start, subjects: vec![site.subject], is_new: site.operation == Operation::New }
}

/// True if a callee of this name constructs errors, judged by the name alone.
fn is_error(name: &str) -> bool {
    name.ends_with("Error") || name.ends_with("Exception")
}
