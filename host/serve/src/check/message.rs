//! Parser of compiler messages: missing members, missing properties, assignability.
//!
//! Compilers print text only. It is English, because no other locale is set.

use super::any_params::DeclaredTypes;
use super::output::CompilerMessage;

/// Codes for a property that does not exist; the second comes with a suggestion.
pub(super) const NO_PROPERTY: u32 = 2339;
pub(super) const NO_PROPERTY_SUGGESTION: u32 = 2551;

/// Member that a type does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) of: &'a str,
}

impl<'a> CompilerMessage<'a> {
    fn first(&self) -> &'a str {
        self.message.first().copied().unwrap_or_default()
    }

    fn last(&self) -> &'a str {
        self.message.last().map(|line| line.trim_start()).unwrap_or_default()
    }

    /// Returns the member that a type does not have, if that is the fault.
    pub(super) fn missing_member(&self) -> Option<Member<'a>> {
        [NO_PROPERTY, NO_PROPERTY_SUGGESTION].contains(&self.number).then(|| missing_member(self.first())).flatten()
    }

    /// Returns the suggested name.
    pub(super) fn suggestion(&self) -> Option<&'a str> {
        self.first().split_once("Did you mean '")?.1.split_once('\'').map(|(name, _)| name)
    }

    /// Returns true if the type is a union, part of which may have the member.
    pub(super) fn is_of_union(&self) -> bool {
        self.message.get(1).is_some_and(|line| line.trim_start().starts_with("Property '"))
    }

    /// Returns the properties that an assigned type lacks: `Property 'a' is missing in type '{}' but required in type
    /// 'A'.`
    pub(super) fn lacking(&self) -> Vec<Member<'a>> {
        for line in self.message.iter().map(|line| line.trim_start()) {
            if let Some((name, rest)) =
                line.strip_prefix("Property '").and_then(|it| it.split_once("' is missing in type '"))
                && let Some((of, _)) = rest.split_once("' but required in type '")
            {
                return vec![Member { name, of }];
            }
            if let Some((of, rest)) = line
                .strip_prefix("Type '")
                .and_then(|it| it.split_once("' is missing the following properties from type '"))
                && let Some((_, names)) = rest.split_once("': ")
            {
                let names = names.trim_end_matches('.').split(", ").filter(|name| !name.starts_with("and "));
                return names.map(|name| Member { name, of }).collect();
            }
        }
        Vec::new()
    }

    /// Returns true if a `string` or `number` is assigned to a literal type. A variable has lost its literal type.
    pub(super) fn is_widened(&self, declared: &DeclaredTypes) -> bool {
        let Some((from, to)) = assigned(self.last()) else { return false };
        let is_literal = |ty: &str| {
            ty.starts_with(['"', '-'])
                || ty.starts_with(|it: char| it.is_ascii_digit())
                || declared.literal_types.contains(ty)
        };
        ["string", "number"].contains(&from) && to.split(" | ").all(is_literal)
    }

    /// Returns true if a list may not have the length of a tuple, or an optional member may be absent.
    pub(super) fn is_of_absence(&self) -> bool {
        let says = |text: &str| self.message.iter().any(|line| line.contains(text));
        says("element(s) but source ") || says("' is optional in type '")
    }

    /// Returns true if the assigned type is vague: `object`, `unknown` or a record.
    pub(super) fn is_of_vague(&self) -> bool {
        let Some((from, _)) = assigned(self.first()) else { return false };
        ["object", "unknown", "Object"].contains(&from)
            || ["Record<", "{ [", "Partial<", "ReadonlyMap<"].iter().any(|beginning| from.starts_with(beginning))
    }

    /// Returns true if a promise is used as its value.
    pub(super) fn is_of_promise(&self) -> bool {
        let mut types = self.first().split('\'').skip(1).step_by(2);
        types.next().is_some_and(is_promise) && !types.any(is_promise)
    }
}

/// Parses `Property 'b' does not exist on type '{ a: number; }'.`
pub(super) fn missing_member(line: &str) -> Option<Member<'_>> {
    let (name, rest) = line.strip_prefix("Property '")?.split_once("' does not exist on type '")?;
    let of = rest.split_once("'. Did you mean").map(|(of, _)| of).or_else(|| rest.strip_suffix("'."))?;
    Some(Member { name, of })
}

/// Returns true if a type is a promise.
pub(super) fn is_promise(ty: &str) -> bool {
    ["Promise<", "CapabilityPromise<"].iter().any(|beginning| ty.starts_with(beginning))
}

/// Parses `Type 'a' is not assignable to type 'b'.`
fn assigned(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("Type '").or_else(|| line.strip_prefix("Argument of type '"))?;
    let (from, rest) = rest.split_once("' is not assignable to ")?;
    let to = rest.strip_prefix("type '").or_else(|| rest.strip_prefix("parameter of type '"))?;
    Some((from, to.strip_suffix("'.")?))
}

#[cfg(test)]
mod tests {
    use crate::check::message::*;
    use std::collections::HashSet;

    fn said<'a>(number: u32, message: &[&'a str]) -> CompilerMessage<'a> {
        CompilerMessage { line: 2, column: 1, number, message: message.to_vec() }
    }

    #[test]
    fn missing_members_are_parsed() {
        let plain = said(2339, &["Property 'b' does not exist on type '{ a: number; }'."]);
        assert_eq!(plain.missing_member(), Some(Member { name: "b", of: "{ a: number; }" }));
        let near = said(2551, &["Property 'temprature' does not exist on type 'Weather'. Did you mean 'temperature'?"]);
        assert_eq!(near.missing_member(), Some(Member { name: "temprature", of: "Weather" }));
        assert_eq!((near.suggestion(), near.is_of_union()), (Some("temperature"), false));
        let union =
            said(2339, &["Property 'b' does not exist on type 'A | B'.", "  Property 'b' does not exist on type 'A'."]);
        assert!(union.is_of_union());
        assert_eq!(said(2304, &["Property 'b' does not exist on type 'A'."]).missing_member(), None);
        assert_eq!(said(2339, &["Property 'b"]).missing_member(), None);
    }

    #[test]
    fn reasons_are_parsed() {
        let lacking = "  Property 'a' is missing in type '{}' but required in type 'A'.";
        assert_eq!(said(2345, &["x", lacking]).lacking(), [Member { name: "a", of: "{}" }]);
        let several = "Type '{}' is missing the following properties from type 'A': a, b, and 2 more.";
        let names: Vec<&str> = said(2740, &[several]).lacking().iter().map(|it| it.name).collect();
        assert_eq!(names, ["a", "b"]);
        let literal_types = HashSet::from(["Unit".to_owned()]);
        let declared = DeclaredTypes { literal_types, ..DeclaredTypes::default() };
        for (line, expected) in [
            ("    Type 'string' is not assignable to type '\"a\" | \"b\"'.", true),
            ("Type 'number' is not assignable to type '1 | 2'.", true),
            ("Argument of type 'string' is not assignable to parameter of type 'Unit'.", true),
            ("Type '\"c\"' is not assignable to type '\"a\" | \"b\"'.", false),
            ("Type 'string' is not assignable to type 'number'.", false),
            ("Type 'string' is not assignable to type 'Channel'.", false),
        ] {
            assert_eq!(said(2322, &["x", line]).is_widened(&declared), expected, "{line}");
        }
        assert!(
            said(2345, &["Argument of type 'Record<string, any>' is not assignable to parameter of type 'A'."])
                .is_of_vague()
        );
        assert!(
            !said(2345, &["Argument of type '{ a: 1; }' is not assignable to parameter of type 'A'."]).is_of_vague()
        );
    }

    #[test]
    fn promises_used_as_values_are_detected() {
        let promise = "Type 'Promise<string>' is not assignable to type 'string'.";
        assert!(said(2322, &[promise]).is_of_promise());
        let both = "Type 'Promise<A>' is not assignable to type 'Promise<B>'.";
        assert!(!said(2322, &[both]).is_of_promise());
        assert!(
            said(2488, &["Type 'CapabilityPromise<A[]>' must have a '[Symbol.iterator]()' method."]).is_of_promise()
        );
    }
}
