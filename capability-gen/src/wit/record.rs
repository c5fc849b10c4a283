//! Mapping of records: names, presence, and extras.

use super::fallback::Reason;
use super::mapper::{Hint, Mapped, Mapper, segment};
use super::plan::{Kind, Member, WitType};
use crate::model::{Field, Presence, Record, Rest, Type};
use crate::names::Scope;

/// Maximum number of fields of a record; components allow 10,000.
const MAX_FIELDS: usize = 5_000;

impl<'a> Mapper<'a> {
    pub(super) fn record(&mut self, record: &'a Record, hint: Hint<'a>, depth: usize) -> Mapped {
        // An optional member without possible values is always absent.
        let is_absent = |field: &&Field| {
            field.presence != Presence::Required && matches!(self.resolve(&field.ty), Some(Type::Never))
        };
        let fields: Vec<&'a Field> = record.fields.iter().filter(|field| !is_absent(field)).collect();
        if fields.is_empty() {
            return self.json(Reason::EmptyRecord);
        }
        if fields.iter().any(|field| field.name.contains('\0')) {
            return self.json(Reason::Name);
        }
        if fields.len() > MAX_FIELDS || !self.has_room(fields.len() + 1) {
            return self.json(Reason::TooMany);
        }
        let index = self.define(&hint, Kind::Record, fields.len() + 1);
        let parent = self.definition_name(index);
        let mut scope = Scope::new();
        let names = scope.add_all(fields.iter().map(|field| field.name.as_str()));
        let mut members = Vec::with_capacity(fields.len() + 1);
        let mut inside = Vec::with_capacity(fields.len());
        for (field, name) in fields.into_iter().zip(names) {
            let may_be_absent = field.presence != Presence::Required;
            let depth = depth + 1 + usize::from(may_be_absent);
            let mut mapped = self.at(segment(&field.name), &field.ty, Hint::wish(&parent, &name), depth);
            if may_be_absent {
                mapped = self.option(mapped);
            }
            members.push(Member {
                name,
                ty: Some(mapped.ty.clone()),
                mark: format!("{}{}", presence_mark(may_be_absent, field.takes_bytes()), field.name),
                description: field.docs.description.clone(),
            });
            inside.push(mapped);
        }
        if !matches!(record.rest, Rest::Closed) {
            members.push(Member {
                name: scope.add("extras"),
                ty: Some(WitType::Option(Box::new(WitType::Json))),
                mark: "*".to_owned(),
                description: String::new(),
            });
        }
        self.defined(index, members, &inside)
    }
}

/// First character of a field's mark; the engine uses the same.
fn presence_mark(may_be_absent: bool, takes_bytes: bool) -> char {
    match (may_be_absent, takes_bytes) {
        (false, false) => '=',
        (true, false) => '?',
        (false, true) => '+',
        (true, true) => '%',
    }
}
