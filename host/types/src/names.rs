//! JavaScript names of WIT names.

/// Converts a WIT name to JavaScript and JSON: `get-schedule` to `getSchedule`.
pub fn camel_case(kebab: &str) -> String {
    let mut camel = String::with_capacity(kebab.len());
    for (i, word) in kebab.split('-').enumerate() {
        let mut characters = word.chars();
        match characters.next() {
            Some(first) if i > 0 => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(characters.as_str());
    }
    camel
}

/// Message for a function that the script may not call: the same whether the policy denies it, the caller lacks a
/// scope, or it does not exist. So probing reveals no function names.
pub fn not_callable(name: &str) -> String {
    format!("{name}: no such function, or this caller may not call it")
}

/// Returns two of these names that have the same JavaScript name.
pub fn alike<'a>(names: impl Iterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut seen = std::collections::HashMap::new();
    for name in names {
        if let Some(other) = seen.insert(camel_case(name), name) {
            return Some((other, name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::camel_case;

    #[test]
    fn kebab_names_become_camel_case() {
        assert_eq!(camel_case("get-schedule"), "getSchedule");
        assert_eq!(camel_case("plain"), "plain");
        assert_eq!(camel_case("a-b2-c"), "aB2C");
    }
}
