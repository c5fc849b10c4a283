//! Scopes and name resolution.
//!
//! Only as much of TypeScript's binder as erasure needs: uses of imported names as values, and bare names inside an
//! enum or a reopened namespace that refer to its members.

use std::collections::{HashMap, HashSet};

/// Index of a scope; 0 is the module.
pub(super) type ScopeId = u32;
/// Index of a [`Group`].
pub(super) type GroupId = usize;

#[derive(Debug)]
struct Scope {
    parent: Option<ScopeId>,
    /// True if `var` declarations belong to this scope.
    holds_var: bool,
    /// The body of an enum or namespace: its group, and the name of the object inside this body.
    body: Option<(GroupId, String)>,
}

/// All declarations of one enum or namespace, however often it is reopened.
#[derive(Debug, Default)]
struct Group<'a> {
    members: HashSet<&'a str>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum GroupKey<'a> {
    Local(ScopeId, &'a str),
    /// Exported from a namespace, so shared by all its bodies.
    Member(GroupId, &'a str),
}

#[derive(Debug)]
struct Reference<'a> {
    name: &'a str,
    scope: ScopeId,
    start: u32,
    /// `{ name }`, which must become `{ name: object.name }`.
    shorthand: bool,
}

/// Meaning of a name where it is used.
enum Meaning<'s> {
    Declared(ScopeId),
    /// A member of the enum or namespace around it, whose object has this name.
    Member(&'s str),
    /// Not declared in the source, except by an import.
    Free,
}

/// A bare name that has to be written as a member.
#[derive(Debug)]
pub(super) struct Qualified {
    pub(super) start: u32,
    /// Text to insert before the name.
    pub(super) prefix: String,
}

/// Resolved names of a source.
#[derive(Debug, Default)]
pub(super) struct Resolved<'a> {
    /// Names used as values that the source does not declare, except by an import.
    pub(super) free: HashSet<&'a str>,
    /// Declared names used as values.
    pub(super) bound: HashSet<(ScopeId, &'a str)>,
    pub(super) qualified: Vec<Qualified>,
}

/// The scopes of a source, built while it is walked.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    list: Vec<Scope>,
    current: ScopeId,
    declared: HashSet<(ScopeId, &'a str)>,
    /// Names declared in a scope other than the module's. The rest need no search.
    inner: HashSet<&'a str>,
    references: Vec<Reference<'a>>,
    groups: Vec<Group<'a>>,
    group_keys: HashMap<GroupKey<'a>, GroupId>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new() -> Self {
        Self {
            list: vec![Scope { parent: None, holds_var: true, body: None }],
            current: 0,
            declared: HashSet::new(),
            inner: HashSet::new(),
            references: Vec::new(),
            groups: Vec::new(),
            group_keys: HashMap::new(),
        }
    }

    pub(super) fn enter(&mut self, holds_var: bool) {
        self.push(holds_var, None);
    }

    /// Enters the body of an enum or namespace.
    pub(super) fn enter_body(&mut self, group: GroupId, object: &str) {
        self.push(true, Some((group, object.to_owned())));
    }

    fn push(&mut self, holds_var: bool, body: Option<(GroupId, String)>) {
        self.list.push(Scope { parent: Some(self.current), holds_var, body });
        self.current = self.list.len() as ScopeId - 1;
    }

    pub(super) fn leave(&mut self) {
        self.current = self.scope(self.current).and_then(|scope| scope.parent).unwrap_or(0);
    }

    fn scope(&self, id: ScopeId) -> Option<&Scope> {
        self.list.get(id as usize)
    }

    pub(super) fn current(&self) -> ScopeId {
        self.current
    }

    /// True if `var` belongs to the current scope.
    pub(super) fn holds_var(&self) -> bool {
        self.scope(self.current).is_none_or(|scope| scope.holds_var)
    }

    pub(super) fn declare(&mut self, name: &'a str) {
        self.declare_in(self.current, name);
    }

    fn declare_in(&mut self, scope: ScopeId, name: &'a str) {
        self.declared.insert((scope, name));
        if scope != 0 {
            self.inner.insert(name);
        }
    }

    /// Declares a `var`, which belongs to the function around it.
    pub(super) fn declare_var(&mut self, name: &'a str) {
        let mut id = self.current;
        while let Some(scope) = self.scope(id)
            && !scope.holds_var
            && let Some(parent) = scope.parent
        {
            id = parent;
        }
        self.declare_in(id, name);
    }

    /// True if the module itself declares a value of this name.
    pub(super) fn module_declares(&self, name: &'a str) -> bool {
        self.declared.contains(&(0, name))
    }

    pub(super) fn refer(&mut self, name: &'a str, start: u32, shorthand: bool) {
        self.references.push(Reference { name, scope: self.current, start, shorthand });
    }

    /// The group of an enum or namespace declared in the current scope.
    pub(super) fn group(&mut self, name: &'a str, exported: bool) -> GroupId {
        let around = self.scope(self.current).and_then(|scope| scope.body.as_ref());
        let key = match around {
            Some((group, _)) if exported => GroupKey::Member(*group, name),
            _ => GroupKey::Local(self.current, name),
        };
        let groups = &mut self.groups;
        *self.group_keys.entry(key).or_insert_with(|| {
            groups.push(Group::default());
            groups.len() - 1
        })
    }

    pub(super) fn add_member(&mut self, group: GroupId, name: &'a str) {
        if let Some(group) = self.groups.get_mut(group) {
            group.members.insert(name);
            self.inner.insert(name);
        }
    }

    /// Adds a member to the namespace whose body the current scope is.
    pub(super) fn add_member_here(&mut self, name: &'a str) {
        if let Some(group) = self.scope(self.current).and_then(|scope| scope.body.as_ref()).map(|(group, _)| *group) {
            self.add_member(group, name);
        }
    }

    /// Resolves every reference.
    pub(super) fn resolve(&self) -> Resolved<'a> {
        let mut resolved = Resolved::default();
        for reference in &self.references {
            self.resolve_one(reference, &mut resolved);
        }
        resolved
    }

    fn resolve_one(&self, reference: &Reference<'a>, resolved: &mut Resolved<'a>) {
        let name = reference.name;
        match self.meaning(name, reference.scope) {
            Meaning::Declared(scope) => {
                resolved.bound.insert((scope, name));
            }
            Meaning::Member(object) => {
                let key = if reference.shorthand { format!("{name}: ") } else { String::new() };
                resolved.qualified.push(Qualified { start: reference.start, prefix: format!("{key}{object}.") });
            }
            Meaning::Free => {
                resolved.free.insert(name);
            }
        }
    }

    /// True if a name that is used in a scope is not declared in the source, except by an import.
    pub(super) fn is_free(&self, name: &'a str, scope: ScopeId) -> bool {
        matches!(self.meaning(name, scope), Meaning::Free)
    }

    fn meaning(&self, name: &'a str, scope: ScopeId) -> Meaning<'_> {
        let mut id = Some(if self.inner.contains(name) { scope } else { 0 });
        while let Some(at) = id {
            if self.declared.contains(&(at, name)) {
                return Meaning::Declared(at);
            }
            let scope = self.scope(at);
            if let Some((group, object)) = scope.and_then(|scope| scope.body.as_ref())
                && self.groups.get(*group).is_some_and(|group| group.members.contains(name))
            {
                return Meaning::Member(object);
            }
            id = scope.and_then(|scope| scope.parent);
        }
        Meaning::Free
    }
}
