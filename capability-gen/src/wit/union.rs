//! Mapping of unions to options, and to variants whose cases differ in JSON.

use super::fallback::Reason;
use super::literals::{LiteralKind, kind};
use super::mapper::{Hint, Mapped, Mapper};
use super::plan::{Kind, Member, WitType};
use crate::model::{Presence, Record, Type};
use crate::names::Scope;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Maximum number of members of a union, with nested unions expanded.
const MAX_MEMBERS: usize = 1_024;

/// Members of a union by JSON kind.
#[derive(Default)]
struct Kinds<'a> {
    is_nullable: bool,
    boolean: bool,
    /// The members that are numbers, and whether all are integers.
    numbers: Option<bool>,
    /// Any text.
    string: bool,
    /// String literals, unless any text is allowed.
    texts: Vec<&'a str>,
    arrays: Vec<&'a Type>,
    objects: Vec<&'a Type>,
    /// All members but null.
    members: Vec<&'a Type>,
    /// Reason why it cannot be mapped.
    reason: Option<Reason>,
}

/// A case of a variant, before it has a name.
struct Case<'a> {
    wish: &'a str,
    mark: String,
    content: Content<'a>,
}

enum Content<'a> {
    Scalar(WitType),
    Texts(Vec<&'a str>),
    Type(&'a Type),
}

impl<'a> Mapper<'a> {
    pub(super) fn union(&mut self, members: &'a [Type], hint: Hint<'a>, depth: usize) -> Mapped {
        let kinds = self.kinds(members);
        if !kinds.is_nullable {
            return self.rest(kinds, hint, depth);
        }
        let inner = self.rest(kinds, hint, depth + 1);
        self.option(inner)
    }

    /// A union without its null.
    fn rest(&mut self, mut kinds: Kinds<'a>, hint: Hint<'a>, depth: usize) -> Mapped {
        if let Some(reason) = kinds.reason {
            return self.json(reason);
        }
        if let [member] = kinds.members[..] {
            return self.map(member, hint, depth);
        }
        let Some(mut cases) = self.cases(&mut kinds) else {
            return self.json(Reason::OverlappingUnion);
        };
        match cases.len() {
            0 => self.json(Reason::Null),
            1 => {
                let only = cases.remove(0);
                self.content(only.content, hint, depth)
            }
            _ => self.variant(cases, hint, depth),
        }
    }

    fn variant(&mut self, cases: Vec<Case<'a>>, hint: Hint<'a>, depth: usize) -> Mapped {
        if !self.has_room(cases.len()) {
            return self.json(Reason::TooMany);
        }
        let index = self.define(&hint, Kind::Variant, cases.len());
        let parent = self.definition_name(index);
        let names = Scope::new().add_all(cases.iter().map(|case| case.wish));
        let mut members = Vec::with_capacity(cases.len());
        let mut inside = Vec::with_capacity(cases.len());
        for (case, name) in cases.into_iter().zip(names) {
            let hint = Hint::wish(&parent, &name);
            let mapped = self.case(case.content, format!("|{name}"), hint, depth + 1);
            members.push(Member { name, ty: Some(mapped.ty.clone()), mark: case.mark, description: String::new() });
            inside.push(mapped);
        }
        self.defined(index, members, &inside)
    }

    fn case(&mut self, content: Content<'a>, segment: String, hint: Hint<'a>, depth: usize) -> Mapped {
        match content {
            Content::Type(ty) => self.at(segment, ty, hint, depth),
            other => self.within(segment, |mapper| mapper.content(other, hint, depth)),
        }
    }

    fn content(&mut self, content: Content<'a>, hint: Hint<'a>, depth: usize) -> Mapped {
        match content {
            Content::Scalar(ty) => self.scalar(ty),
            Content::Texts(texts) => self.enumeration(texts, hint),
            Content::Type(ty) => self.map(ty, hint, depth),
        }
    }

    /// The members by kind, with named unions opened and literals merged.
    fn kinds(&self, members: &'a [Type]) -> Kinds<'a> {
        let mut kinds = Kinds::default();
        let mut opened = HashSet::new();
        let mut known_texts = HashSet::new();
        let mut waiting: Vec<&'a Type> = members.iter().rev().collect();
        let mut count = 0;
        while let Some(member) = waiting.pop() {
            count += 1;
            if count > MAX_MEMBERS {
                kinds.reason = Some(Reason::TooMany);
                return kinds;
            }
            let resolved = match member {
                Type::Named(id) if !opened.insert(*id) => continue,
                Type::Named(id) => self.definition(*id).unwrap_or(&Type::Any),
                other => other,
            };
            match resolved {
                Type::Union(inner) => {
                    waiting.extend(inner.iter().rev());
                    continue;
                }
                Type::Named(_) => {
                    waiting.push(resolved);
                    continue;
                }
                Type::Never => continue,
                Type::Null => {
                    kinds.is_nullable = true;
                    continue;
                }
                Type::Any => kinds.reason = Some(Reason::Any),
                Type::Boolean => kinds.boolean = true,
                Type::Integer => kinds.number(true),
                Type::Number => kinds.number(false),
                Type::String => kinds.string = true,
                Type::Literals(values) => kinds.literals(values, &mut known_texts),
                Type::List(_) | Type::Tuple { .. } => kinds.arrays.push(member),
                Type::Record(_) | Type::Map(_) => kinds.objects.push(member),
            }
            kinds.members.push(member);
        }
        kinds
    }

    /// One case per kind; `None` if members of a kind cannot be distinguished.
    fn cases(&self, kinds: &mut Kinds<'a>) -> Option<Vec<Case<'a>>> {
        let mut cases = Vec::new();
        let mut add = |wish, mark: &str, content| cases.push(Case { wish, mark: mark.to_owned(), content });
        if kinds.boolean {
            add("boolean", "~b", Content::Scalar(WitType::Bool));
        }
        if let Some(are_integers) = kinds.numbers {
            add("number", "~n", Content::Scalar(if are_integers { WitType::S64 } else { WitType::F64 }));
        }
        if kinds.string {
            add("string", "~s", Content::Scalar(WitType::String));
        } else if !kinds.texts.is_empty() {
            let texts = std::mem::take(&mut kinds.texts);
            // A named enum keeps its name.
            let is_named = |member: &&&'a Type| {
                matches!(member, Type::Named(_))
                    && matches!(self.resolve(member), Some(Type::Literals(values))
                        if values.len() == texts.len() && values.iter().all(Value::is_string))
            };
            match kinds.members.iter().find(is_named) {
                Some(named) => add("string", "~s", Content::Type(named)),
                None => add("string", "~s", Content::Texts(texts)),
            }
        }
        match kinds.arrays[..] {
            [] => {}
            [array] => add("array", "~a", Content::Type(array)),
            _ => return None,
        }
        match kinds.objects[..] {
            [] => {}
            [object] => add("object", "~o", Content::Type(object)),
            _ => cases.extend(self.discriminated(&kinds.objects)?),
        }
        Some(cases)
    }

    /// Cases of objects that are distinguished by a required member with different texts.
    fn discriminated(&self, objects: &[&'a Type]) -> Option<Vec<Case<'a>>> {
        let tags = objects.iter().map(|object| match self.resolve(object) {
            Some(Type::Record(record)) => Some(self.tags(record)),
            _ => None,
        });
        let tags: Vec<Vec<(&'a str, Vec<&'a str>)>> = tags.collect::<Option<_>>()?;
        let by_name: Vec<HashMap<&str, &Vec<&'a str>>> =
            tags.iter().map(|tags| tags.iter().map(|(name, texts)| (*name, texts)).collect()).collect();
        let are_different = |name: &str| {
            let mut seen = HashSet::new();
            by_name.iter().all(|tags| {
                tags.get(name).is_some_and(|texts| !texts.is_empty() && texts.iter().all(|text| seen.insert(*text)))
            })
        };
        let (name, _) = tags.first()?.iter().find(|(name, _)| are_different(name))?;
        let case = |(object, tags): (&&'a Type, &HashMap<&str, &Vec<&'a str>>)| {
            let texts = tags.get(name)?;
            let mut mark = format!("~o{}:{name}", name.len());
            for text in *texts {
                mark.push_str(&format!("{}:{text}", text.len()));
            }
            Some(Case { wish: texts.first()?, mark, content: Content::Type(object) })
        };
        objects.iter().zip(&by_name).map(case).collect()
    }

    /// Required members of a record that are string literals.
    fn tags(&self, record: &'a Record) -> Vec<(&'a str, Vec<&'a str>)> {
        let required = record.fields.iter().filter(|field| field.presence == Presence::Required);
        let tags = required.filter_map(|field| match self.resolve(&field.ty) {
            Some(Type::Literals(values)) => {
                let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                let is_tag = texts.len() == values.len() && !field.name.contains('\0');
                let is_tag = is_tag && !texts.iter().any(|text| text.contains('\0'));
                is_tag.then_some((field.name.as_str(), texts))
            }
            _ => None,
        });
        tags.collect()
    }
}

impl<'a> Kinds<'a> {
    fn number(&mut self, is_integer: bool) {
        self.numbers = Some(self.numbers.unwrap_or(true) && is_integer);
    }

    fn literals(&mut self, values: &'a [Value], known: &mut HashSet<&'a str>) {
        for value in values {
            match kind(value) {
                LiteralKind::Boolean => self.boolean = true,
                LiteralKind::Integer => self.number(true),
                LiteralKind::Number => self.number(false),
                LiteralKind::String => self.texts.extend(value.as_str().filter(|text| known.insert(text))),
                LiteralKind::Other => self.reason = Some(Reason::MixedLiterals),
            }
        }
    }
}
