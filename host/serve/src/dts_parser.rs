//! Parser of `declare module` texts that this project prints: the standard library and hand-written interfaces.
//!
//! Line based, because the layout is known: exports and types are indented by two spaces, members by four.

use super::declarations::Declaration;
use std::collections::BTreeSet;

/// Parsed `declare module`.
pub(super) struct DeclaredModule<'a> {
    pub(super) specifier: &'a str,
    pub(super) exports: Vec<DeclaredExport<'a>>,
    types: Vec<DeclaredType<'a>>,
}

/// `export const fs: { … };`
pub(super) struct DeclaredExport<'a> {
    pub(super) name: &'a str,
    docs: Vec<&'a str>,
    pub(super) members: Vec<DeclaredMember<'a>>,
}

/// Function of an export.
pub(super) struct DeclaredMember<'a> {
    pub(super) name: &'a str,
    docs: Vec<&'a str>,
    line: &'a str,
}

struct DeclaredType<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> DeclaredModule<'a> {
    /// Parses a printed module.
    pub(super) fn read(text: &'a str) -> Option<DeclaredModule<'a>> {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("declare module "));
        let specifier = lines.next()?.split('\'').nth(1)?;
        let mut lines = lines.take_while(|line| *line != "}");
        let mut module = DeclaredModule { specifier, exports: Vec::new(), types: Vec::new() };
        let mut docs = Vec::new();
        while let Some(line) = lines.next() {
            let Some(own) = line.strip_prefix("  ").filter(|own| !own.is_empty()) else { continue };
            if let Some(name) = own.strip_prefix("export const ").and_then(|rest| rest.strip_suffix(": {")) {
                let members = members(lines.by_ref().take_while(|line| *line != "  };"));
                module.exports.push(DeclaredExport { name, docs: std::mem::take(&mut docs), members });
            } else if let Some(rest) = own.strip_prefix("export ") {
                let name = rest.split(|letter| !is_word_character(letter)).nth(1).unwrap_or_default();
                let mut block = std::mem::take(&mut docs);
                block.push(line);
                if line.ends_with('{') {
                    block.extend(lines.by_ref().take_while(|line| *line != "  }"));
                    block.push("  }");
                }
                module.types.push(DeclaredType { name, lines: block });
            } else {
                docs.push(line);
            }
        }
        Some(module)
    }

    /// Returns the declarations of these functions and of the types that they need, or `None` if it has none of them.
    pub(super) fn declare(&self, is_wanted: impl Fn(&str) -> bool) -> Option<Declaration> {
        let mut exports = Vec::new();
        let mut names = Vec::new();
        for export in &self.exports {
            let wanted = |member: &&DeclaredMember<'_>| is_wanted(&format!("{}.{}", export.name, member.name));
            let members: Vec<&DeclaredMember<'_>> = export.members.iter().filter(wanted).collect();
            if members.is_empty() {
                continue;
            }
            names.push(export.name.to_owned());
            exports.extend(export.docs.iter().map(|line| (*line).to_owned()));
            exports.push(format!("  export const {}: {{", export.name));
            for member in members {
                exports.extend(member.docs.iter().chain([&member.line]).map(|line| (*line).to_owned()));
            }
            exports.push("  };".to_owned());
        }
        if names.is_empty() {
            return None;
        }
        let needed = self.needed(&exports);
        let mut lines = exports;
        // Blank line between exports and types.
        lines.push(String::new());
        lines.extend(needed);
        lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
        let dts = format!("declare module '{}' {{\n{}\n}}\n", self.specifier, lines.join("\n"));
        Some(Declaration::new(self.specifier, names, dts))
    }

    /// Returns the types that these lines name, directly or indirectly.
    fn needed(&self, lines: &[String]) -> Vec<String> {
        let mut words: BTreeSet<&str> = lines.iter().flat_map(|line| words(line)).collect();
        loop {
            let named = self.types.iter().filter(|each| words.contains(each.name));
            let more: BTreeSet<&str> =
                named.flat_map(|each| each.lines.iter().flat_map(|line| self::words(line))).collect();
            let before = words.len();
            words.extend(more);
            if words.len() == before {
                break;
            }
        }
        let needed = self.types.iter().filter(|each| words.contains(each.name));
        needed.flat_map(|each| each.lines.iter().map(|line| (*line).to_owned()).chain([String::new()])).collect()
    }
}

impl DeclaredMember<'_> {
    /// `readFile(path: string): Promise<string>`
    pub(super) fn signature(&self) -> &str {
        self.line.trim().trim_end_matches(';')
    }

    /// Returns the doc comment as plain text.
    pub(super) fn description(&self) -> String {
        let plain = |line: &&str| {
            let line = line.trim().trim_start_matches("/**").trim_end_matches("*/");
            line.trim_start_matches("//").trim_start_matches("* ").trim().to_owned()
        };
        self.docs.iter().map(plain).collect::<Vec<_>>().join(" ").trim().to_owned()
    }
}

fn members<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<DeclaredMember<'a>> {
    let mut members = Vec::new();
    let mut docs = Vec::new();
    for line in lines {
        let own = line.trim_start();
        if own.starts_with("/*") || own.starts_with('*') || own.starts_with("//") {
            docs.push(line);
        } else if let Some((name, _)) = own.split_once('(') {
            members.push(DeclaredMember { name, docs: std::mem::take(&mut docs), line });
        }
    }
    members
}

fn is_word_character(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter| !is_word_character(letter)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::dts_parser::DeclaredModule;
    use agent_spaces_linker::interfaces::Interfaces;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_of_the_standard_library_is_read() {
        let module = DeclaredModule::read(agent_spaces_std::TYPES).unwrap();
        assert_eq!(module.specifier, "@agent-spaces/std");
        let declared: BTreeSet<String> = module
            .exports
            .iter()
            .flat_map(|export| export.members.iter().map(|member| format!("{}.{}", export.name, member.name)))
            .collect();
        let mut interfaces = Interfaces::new().unwrap();
        interfaces.add_standard().unwrap();
        let missing: Vec<String> =
            interfaces.labelled().map(|each| each.label).filter(|label| !declared.contains(label)).collect();
        assert_eq!(missing, Vec::<String>::new(), "{declared:?}");
    }

    #[test]
    fn a_function_is_declared_with_the_types_that_it_needs_and_no_others() {
        let module = DeclaredModule::read(agent_spaces_std::TYPES).unwrap();
        let text = module.declare(|label| label == "fs.list").unwrap().signatures_first();
        assert!(text.starts_with("import { fs } from '@agent-spaces/std';\n\ndeclare module '@agent-spaces/std' {"));
        assert!(text.contains("list(path?: string): Promise<Entry[]>;") && !text.contains("readFile"), "{text}");
        assert!(text.contains("export interface Entry") && text.contains("export type Kind"), "{text}");
        assert!(!text.contains("HttpOptions") && !text.contains("Stats"), "{text}");
        assert!(module.declare(|_| false).is_none());
    }
}
