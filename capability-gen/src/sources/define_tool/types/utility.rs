//! Utility types: `Partial`, `Pick`, `Record` and the like, `keyof`, `T[K]`.
//!
//! They work on schemas, so that named, inline and substituted types are treated alike.

use super::{FIX, Types, object_schema, schema};
use crate::sources::define_tool::fault::Fault;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

impl Types<'_, '_, '_> {
    /// Resolves an object schema, without its name; `None` if it is still being built.
    fn plain(&mut self, schema: &Value, what: &str, at: u32, depth: u32) -> Result<Option<Value>, Fault> {
        let Some(mut object) = self.resolve(schema, at, depth)? else {
            self.remark(at, format!("`{what}` is used on a type inside its own definition, so it is any value"));
            return Ok(None);
        };
        if !schema::is_plain_object(&object) {
            return Err(Fault::unsupported(
                at,
                format!("`{what}` is used on something other than one object type"),
                FIX,
            ));
        }
        if let Value::Object(object) = &mut object {
            ["title", "description", "deprecated"].iter().for_each(|key| drop(object.shift_remove(*key)));
        }
        Ok(Some(object))
    }

    pub(super) fn partial(&mut self, of: &Value, what: &str, at: u32, depth: u32) -> Result<Value, Fault> {
        let Some(mut object) = self.plain(of, what, at, depth)? else { return Ok(json!({})) };
        if let Value::Object(object) = &mut object {
            object.insert("required".to_owned(), json!([]));
        }
        Ok(object)
    }

    pub(super) fn all_required(&mut self, of: &Value, what: &str, at: u32, depth: u32) -> Result<Value, Fault> {
        let Some(mut object) = self.plain(of, what, at, depth)? else { return Ok(json!({})) };
        let names: Vec<Value> = schema::properties(&object).keys().map(|name| json!(name)).collect();
        if let (Value::Object(object), false) = (&mut object, names.is_empty()) {
            object.insert("required".to_owned(), Value::Array(names));
        }
        Ok(object)
    }

    /// `Pick` and `Omit`.
    pub(super) fn pick(&mut self, of: &Value, keys: &Value, what: &str, at: u32, depth: u32) -> Result<Value, Fault> {
        let Some(names) = self.literals(keys, at, depth)? else {
            return Err(Fault::unsupported(
                at,
                format!("the names in `{what}` are not literals"),
                "write them out: `'a' | 'b'`",
            ));
        };
        let Some(object) = self.plain(of, what, at, depth)? else { return Ok(json!({})) };
        let all = schema::properties(&object);
        let is_pick = what == "Pick";
        if let Some(missing) = names.iter().find(|name| is_pick && !all.contains_key(*name)) {
            return Err(Fault::new(at, format!("there is no member `{missing}` to pick"), "name one that there is"));
        }
        let names: HashSet<String> = names.into_iter().collect();
        let is_kept = |name: &str| names.contains(name) == is_pick;
        let properties: Map<String, Value> = all.into_iter().filter(|(name, _)| is_kept(name)).collect();
        let required = schema::required(&object).into_iter().filter(|name| is_kept(name)).map(Value::String).collect();
        Ok(Value::Object(object_schema(properties, required)))
    }

    pub(super) fn record(&mut self, keys: &Value, values: Value, at: u32, depth: u32) -> Result<Value, Fault> {
        let Some(names) = self.literals(keys, at, depth)? else {
            return Ok(json!({ "type": "object", "additionalProperties": values }));
        };
        self.reader.charge(at, names.len().saturating_mul(schema::measure(&values).0))?;
        let required = names.iter().map(|name| json!(name)).collect();
        let properties = names.into_iter().map(|name| (name, values.clone())).collect();
        Ok(Value::Object(object_schema(properties, required)))
    }

    /// `Exclude` and `Extract`.
    pub(super) fn exclude(
        &mut self,
        from: &Value,
        what: &Value,
        is_extract: bool,
        at: u32,
        depth: u32,
    ) -> Result<Value, Fault> {
        let what = self.alternatives(what, at, depth)?;
        let exactly: HashSet<String> = what.iter().map(Value::to_string).collect();
        let mut kept = Vec::new();
        for alternative in self.alternatives(from, at, depth)? {
            let mut is_among = exactly.contains(&alternative.to_string());
            // Literals were compared above, since there may be thousands.
            for one in what.iter().filter(|one| one.get("const").is_none()) {
                is_among = is_among || self.is_assignable(&alternative, one, at, depth)?;
            }
            if is_among == is_extract {
                kept.push(alternative);
            }
        }
        Ok(schema::union(kept))
    }

    /// Returns true if every value of one type is of the other, judged by constants, kinds and members.
    fn is_assignable(&mut self, from: &Value, to: &Value, at: u32, depth: u32) -> Result<bool, Fault> {
        super::check_depth(at, depth)?;
        self.reader.charge(at, 1)?;
        if from == to || *to == json!({}) {
            return Ok(true);
        }
        let (Some(from), Some(to)) = (self.resolve(from, at, depth)?, self.resolve(to, at, depth)?) else {
            return Ok(false);
        };
        if let Some(values) = schema::scalars(&from) {
            let kinds = match schema::scalars(&to) {
                Some(others) => {
                    let others: HashSet<String> = others.iter().map(Value::to_string).collect();
                    return Ok(values.iter().all(|value| others.contains(&value.to_string())));
                }
                None => to.get("type").and_then(Value::as_str),
            };
            return Ok(to.get("pattern").is_none() && values.iter().all(|value| schema::kind(value) == kinds));
        }
        if !(schema::is_plain_object(&from) && schema::is_plain_object(&to)) {
            return Ok(from.get("type").is_some() && to == json!({ "type": from["type"] }));
        }
        let names = |schema: &Value| schema::required(schema).into_iter().collect::<HashSet<_>>();
        let (members, required, wanted) = (schema::properties(&from), names(&from), names(&to));
        for (name, member) in schema::properties(&to) {
            let is_there = match members.get(&name) {
                Some(own) => {
                    (required.contains(&name) || !wanted.contains(&name))
                        && self.is_assignable(own, &member, at, depth + 1)?
                }
                None => !wanted.contains(&name),
            };
            if !is_there {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The alternatives of a union, each literal separately.
    pub(super) fn alternatives(&mut self, schema: &Value, at: u32, depth: u32) -> Result<Vec<Value>, Fault> {
        let resolved = self.resolve(schema, at, depth)?.unwrap_or_else(|| schema.clone());
        if let Some(values) = schema::scalars(&resolved) {
            return Ok(values.into_iter().map(schema::constant).collect());
        }
        let Some(parts) = resolved.get("anyOf").and_then(Value::as_array) else { return Ok(vec![schema.clone()]) };
        let mut all = Vec::new();
        for part in parts {
            super::check_depth(at, depth)?;
            all.extend(self.alternatives(part, at, depth + 1)?);
        }
        Ok(all)
    }

    /// The strings that a type of keys lists; `None` if it is any string or number.
    pub(super) fn literals(&mut self, keys: &Value, at: u32, depth: u32) -> Result<Option<Vec<String>>, Fault> {
        let mut names = Vec::new();
        for alternative in self.alternatives(keys, at, depth)? {
            match alternative.get("const") {
                Some(Value::String(name)) => names.push(name.clone()),
                Some(Value::Number(number)) => names.push(number.to_string()),
                // `keyof` of an object without members.
                None if alternative == json!({ "not": {} }) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(names))
    }

    pub(super) fn key_of(&mut self, object: &Value, at: u32, depth: u32) -> Result<Value, Fault> {
        let Some(object) = self.plain(object, "keyof", at, depth)? else { return Ok(json!({ "type": "string" })) };
        if object.get("additionalProperties").is_some() {
            return Ok(json!({ "type": "string" }));
        }
        let names = schema::properties(&object).into_iter().map(|(name, _)| schema::constant(json!(name)));
        Ok(schema::union(names.collect()))
    }

    /// `Trip['id']`, `Trips[number]`
    pub(super) fn indexed(&mut self, of: &Value, index: &Value, at: u32, depth: u32) -> Result<Value, Fault> {
        let Some(of) = self.resolve(of, at, depth)? else {
            self.remark(at, "a member of a type inside its own definition is any value".to_owned());
            return Ok(json!({}));
        };
        if of == json!({}) {
            return Ok(of);
        }
        let mut found = Vec::new();
        match self.literals(index, at, depth)? {
            Some(names) => {
                let (members, others) = (of.get("properties"), of.get("additionalProperties"));
                let by_position = |name: &str| of.get("prefixItems")?.get(name.parse::<usize>().ok()?);
                for name in names {
                    let member = members.and_then(|members| members.get(&name)).or(others);
                    let Some(member) = member.or_else(|| by_position(&name)) else {
                        if !schema::is_plain_object(&of) {
                            let what = format!("the member `{name}` of this type is not supported");
                            return Err(Fault::unsupported(at, what, FIX));
                        }
                        return Err(Fault::new(at, format!("there is no member `{name}`"), "name one that there is"));
                    };
                    self.reader.charge(at, schema::measure(member).0)?;
                    found.push(member.clone());
                }
            }
            None => {
                found.extend(of.get("prefixItems").and_then(Value::as_array).into_iter().flatten().cloned());
                found.extend(of.get("items").filter(|items| items.is_object()).cloned());
                found.extend(of.get("additionalProperties").cloned());
                if found.is_empty() {
                    return Err(Fault::unsupported(at, "this type has no members by number or name", FIX));
                }
            }
        }
        Ok(schema::union(found))
    }
}
