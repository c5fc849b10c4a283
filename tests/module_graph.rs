//! Module graph: no circle between the top-level modules of a crate.
//!
//! A folder is one module. The crate root, which names every module, and test modules are left out. A name that the root
//! re-exports counts as a use of the module that has it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Uses of one top-level module by another, each with an example: `src/head.rs: crate::line::Position`.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// A module with a file of its own.
struct Source {
    file: PathBuf,
    /// Path from the crate's root; empty for the root.
    module: Vec<String>,
    /// Paths that it names, from the crate's root, with the name of each in a `use` declaration's scope.
    uses: Vec<(Vec<String>, String)>,
}

/// Words, literals and marks of a source, without comments. A literal is the token `"`.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if let Some(length) = literal(rest) {
            tokens.push("\"".to_owned());
            length
        } else if first == '_' || first.is_alphanumeric() {
            let length = rest.find(|next: char| next != '_' && !next.is_alphanumeric()).unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            tokens.extend((!first.is_whitespace()).then(|| first.to_string()));
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Length of the block comment at the start.
fn comment(text: &str) -> usize {
    let (mut depth, mut index) = (0, 0);
    while let Some(next) = text[index..].chars().next() {
        let rest = &text[index..];
        if rest.starts_with("/*") {
            (depth, index) = (depth + 1, index + 2);
        } else if rest.starts_with("*/") {
            (depth, index) = (depth - 1, index + 2);
            if depth == 0 {
                break;
            }
        } else {
            index += next.len_utf8();
        }
    }
    index
}

/// Length of the string or character at the start, or of the quote of a lifetime.
fn literal(text: &str) -> Option<usize> {
    if let Some(after) = text.strip_prefix('\'') {
        let is_escaped = after.starts_with('\\');
        let character = after.strip_prefix('\\').unwrap_or(after);
        let first = usize::from(is_escaped) + character.chars().next()?.len_utf8();
        // `'\u{41}'` ends later than `'a'`; after `'a` without a second quote there is no end.
        return Some(match after[first..].find('\'') {
            Some(more) if is_escaped || more == 0 => 1 + first + more + 1,
            _ => 1,
        });
    }
    let is_raw = |prefix: &str| prefix.ends_with('r');
    let begins = |prefix: &&str| {
        let rest = text.strip_prefix(prefix);
        let rest = if is_raw(prefix) { rest.map(|rest| rest.trim_start_matches('#')) } else { rest };
        rest.is_some_and(|rest| rest.starts_with('"'))
    };
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(begins)?;
    let body = &text[prefix.len()..];
    if is_raw(prefix) {
        let start = body.find('"')? + 1;
        let end = format!("\"{}", "#".repeat(start - 1));
        return Some(prefix.len() + start + body[start..].find(&end)? + end.len());
    }
    let mut is_escaped = false;
    let is_end = |&(_, next): &(usize, char)| {
        let ends = next == '"' && !is_escaped;
        is_escaped = next == '\\' && !is_escaped;
        ends
    };
    let (end, _) = body.char_indices().skip(1).find(is_end)?;
    Some(prefix.len() + end + 1)
}

/// Length of the brackets that begin here, or a little later.
fn group(tokens: &[String]) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

fn begins(tokens: &[String], with: &[&str]) -> bool {
    tokens.len() >= with.len() && tokens.iter().zip(with).all(|(token, expected)| token == expected)
}

/// Removes the items that only tests compile.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let rest = &tokens[index..];
        if begins(rest, &["#", "[", "cfg", "(", "test"]) || begins(rest, &["#", "[", "cfg", "(", "all", "(", "test"]) {
            index += item(rest);
        } else {
            kept.push(tokens[index].clone());
            index += 1;
        }
    }
    kept
}

/// Length of the item, field or arm at the start, with its attributes.
fn item(tokens: &[String]) -> usize {
    let token = |index: usize| tokens.get(index).map(String::as_str).unwrap_or_default();
    let mut index = 0;
    while token(index) == "#" {
        index += group(&tokens[index..]);
    }
    if token(index) == "pub" {
        index += if token(index + 1) == "(" { 1 + group(&tokens[index + 1..]) } else { 1 };
    }
    // The braces of `use a::{b};` and `const A: B = { … };` are not their end.
    let is_constant = token(index) == "const" && !["fn", "async", "unsafe"].contains(&token(index + 1));
    let ends_at_semicolon = is_constant || ["let", "static", "type", "use"].contains(&token(index));
    let items = ["async", "const", "enum", "extern", "fn", "impl", "mod", "struct", "trait", "unsafe"];
    let may_have_commas = ends_at_semicolon || items.contains(&token(index));
    while index < tokens.len() {
        match token(index) {
            ";" => return index + 1,
            "," if !may_have_commas => return index + 1,
            ")" | "]" | "}" => return index,
            "{" if !ends_at_semicolon => return index + group(&tokens[index..]),
            "(" | "[" | "{" => index += group(&tokens[index..]),
            _ => index += 1,
        }
    }
    index
}

/// Paths of a `use` tree: `a::{b, c as d}` is `a::b` and `a::c as d`.
fn expanded(tree: &[String], prefix: &[String]) -> Vec<Vec<String>> {
    let (mut paths, mut path, mut index) = (Vec::new(), prefix.to_vec(), 0);
    let mut is_expanded = false;
    while index < tree.len() {
        match tree[index].as_str() {
            "{" => {
                let end = index + group(&tree[index..]);
                paths.extend(expanded(&tree[index + 1..end - 1], &path));
                (index, is_expanded) = (end, true);
                continue;
            }
            "," => {
                let done = std::mem::replace(&mut path, prefix.to_vec());
                paths.extend((!is_expanded).then_some(done));
                is_expanded = false;
            }
            "::" => {}
            word => path.push(word.to_owned()),
        }
        index += 1;
    }
    paths.extend((!is_expanded && path.len() > prefix.len()).then_some(path));
    paths
}

/// The path from the crate's root and the name in scope, if the path is one of the crate. `module` has it.
fn absolute(mut path: Vec<String>, module: &[String]) -> Option<(Vec<String>, String)> {
    let mut name = path.last()?.clone();
    if let Some(renamed) = path.iter().position(|word| word == "as") {
        path.truncate(renamed);
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
        name = if name == "self" { path.last()?.clone() } else { name };
    }
    let supers = path.iter().take_while(|word| *word == "super").count();
    let (base, own) = match path.first()?.as_str() {
        "crate" => (0, 1),
        "self" => (module.len(), 1),
        "super" => (module.len().checked_sub(supers)?, supers),
        // The root names its modules without a prefix.
        _ if module.is_empty() => (0, 0),
        _ => return None,
    };
    Some((module[..base].iter().chain(&path[own..]).cloned().collect(), name))
}

/// Reads a module and those below it. Their files are in `folder`.
fn read(file: &Path, folder: &Path, module: Vec<String>, sources: &mut Vec<Source>) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let tokens = without_tests(&tokens(&text));
    let token = |index: usize| tokens.get(index).map(String::as_str).unwrap_or_default();
    let mut uses = Vec::new();
    // Modules inside this file that are open, with their depth.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let (mut depth, mut index) = (0_usize, 0);
    while index < tokens.len() {
        let here: Vec<String> = module.iter().chain(inside.iter().map(|(name, _)| name)).cloned().collect();
        match token(index) {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inside.pop_if(|(_, opened)| *opened == depth);
            }
            "mod" if token(index + 2) == "{" => {
                inside.push((token(index + 1).to_owned(), depth));
            }
            "mod" if token(index + 2) == ";" => {
                let name = token(index + 1);
                let within = inside.iter().fold(folder.to_owned(), |path, (name, _)| path.join(name));
                let own = within.join(name);
                let flat = within.join(format!("{name}.rs"));
                let child = if flat.exists() { flat } else { own.join("mod.rs") };
                let path = here.into_iter().chain([name.to_owned()]).collect();
                read(&child, &own, path, sources);
            }
            // `use<'a>` is a bound.
            "use" if token(index + 1) != "<" => {
                let length = tokens[index..].iter().position(|token| token == ";").unwrap_or_default();
                let paths = expanded(&tokens[index + 1..index + length.max(1)], &[]);
                uses.extend(paths.into_iter().filter_map(|path| absolute(path, &here)));
                index += length;
            }
            "crate" | "super" if token(index + 1) == "::" => {
                let mut path = vec![token(index).to_owned()];
                while token(index + 1) == "::" && token(index + 2).starts_with(|first: char| first.is_alphabetic()) {
                    path.push(token(index + 2).to_owned());
                    index += 2;
                }
                uses.extend(absolute(path, &here));
            }
            _ => {}
        }
        index += 1;
    }
    sources.push(Source { file: file.to_owned(), module, uses });
}

/// Reads the module graph of a crate from its root, `src/lib.rs` or `src/main.rs`.
fn graph(root: &Path) -> Graph {
    let (mut sources, folder) = (Vec::new(), root.parent().unwrap());
    read(root, folder, Vec::new(), &mut sources);
    let modules: BTreeSet<&String> = sources.iter().filter_map(|source| source.module.first()).collect();
    let of_root = sources.iter().filter(|source| source.module.is_empty()).flat_map(|source| &source.uses);
    let exported: BTreeMap<&String, &String> = of_root
        .filter_map(|(path, name)| Some((name, path.first()?)))
        .filter(|(_, module)| modules.contains(module))
        .collect();
    let mut graph = Graph::new();
    for source in &sources {
        let Some(user) = source.module.first() else { continue };
        let uses = graph.entry(user.clone()).or_default();
        for (path, _) in &source.uses {
            let Some(first) = path.first() else { continue };
            let used = if modules.contains(first) { Some(&first) } else { exported.get(first) };
            if let Some(used) = used.filter(|used| **used != user) {
                let file = source.file.strip_prefix(folder.parent().unwrap()).unwrap().display();
                let example = format!("{file}: crate::{}", path.join("::"));
                uses.entry(String::clone(used)).or_insert(example);
            }
        }
    }
    graph
}

/// The shortest circle, if there is one: each module uses the next, and the last the first.
fn circle(graph: &Graph) -> Option<Vec<&str>> {
    graph.keys().filter_map(|start| way_back(graph, start)).min_by_key(Vec::len)
}

fn way_back<'a>(graph: &'a Graph, start: &'a str) -> Option<Vec<&'a str>> {
    let (mut seen, mut open) = (BTreeSet::new(), VecDeque::from([vec![start]]));
    while let Some(way) = open.pop_front() {
        for next in graph.get(*way.last()?).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                return Some(way);
            }
            if seen.insert(next) {
                open.push_back(way.iter().copied().chain([next.as_str()]).collect());
            }
        }
    }
    None
}

/// One line for each use on the circle.
fn printed(graph: &Graph) -> Option<String> {
    let circle = circle(graph)?;
    let line = |(user, used): (&&str, &&str)| format!("module {user} -> {used} ({})\n", graph[*user][*used]);
    Some(circle.iter().zip(circle.iter().cycle().skip(1)).map(line).collect())
}

#[test]
fn top_level_modules_form_no_circle() {
    let crates = fs::read_dir(Path::new(ROOT).join("host")).unwrap().map(|entry| entry.unwrap().path());
    let mut crates: Vec<PathBuf> = crates.chain([Path::new(ROOT).join("capability-gen")]).collect();
    crates.sort();
    let (mut uses, mut circles) = (0, String::new());
    for root in crates.iter().flat_map(|path| ["src/lib.rs", "src/main.rs"].map(|root| path.join(root))) {
        if root.exists() {
            let graph = graph(&root);
            uses += graph.values().map(BTreeMap::len).sum::<usize>();
            circles.extend(printed(&graph).map(|circle| format!("{}\n{circle}", root.display())));
        }
    }
    assert!(uses > 500, "only {uses} uses between modules were read");
    assert!(circles.is_empty(), "move what two modules share into a module below both:\n{circles}");
}

/// Graph of a made-up crate with these files in `src/`.
fn made_up(files: &[(&str, &str)]) -> Graph {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join("src").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    graph(&folder.path().join("src/lib.rs"))
}

#[test]
fn a_circle_is_found_and_printed() {
    let files = [
        ("lib.rs", "mod letters;\nmod parcels;\nmod stamps;\npub use stamps::{Album, Stamp as Postage};\n"),
        ("letters.rs", "use crate::parcels::{self, Parcel};\npub(crate) struct Letter;\n"),
        ("parcels/mod.rs", "mod wrapped;\npub(crate) struct Parcel;\n"),
        ("parcels/wrapped.rs", "use super::super::{Postage as P};\n"),
        ("stamps.rs", "pub struct Stamp;\nmod glued {\n    fn on() -> super::super::letters::Letter { todo!() }\n}\n"),
    ];
    let graph = made_up(&files);
    let expected = "module letters -> parcels (src/letters.rs: crate::parcels)\n\
                    module parcels -> stamps (src/parcels/wrapped.rs: crate::Postage)\n\
                    module stamps -> letters (src/stamps.rs: crate::letters::Letter)\n";
    assert_eq!(printed(&graph).as_deref(), Some(expected), "{graph:?}");
}

#[test]
fn tests_comments_and_texts_are_no_uses() {
    let stamps = r##"
        //! See [`crate::letters`].
        /* crate::letters /* nested */ crate::letters */
        const TEXT: &str = "crate::letters \" crate::letters";
        const RAW: &str = r#"" crate::letters"#;
        const QUOTE: char = '"';
        fn borrowed<'a>(text: &'a str) -> char { if text == "'" { '\'' } else { '\u{41}' } }
        pub(crate) struct Stamp;
        struct Counted {
            #[cfg(test)]
            letters: Vec<crate::letters::Letter>,
        }
        #[cfg(test)]
        use crate::letters::{Letter, Post};
        #[cfg(all(test, unix))]
        #[allow(dead_code)]
        fn only<A, B>(letter: crate::letters::Letter) {}
        #[cfg(test)]
        #[path = "stamps_tests.rs"]
        mod tests;
    "##;
    let files = [
        ("lib.rs", "mod letters;\nmod stamps;\n"),
        ("letters.rs", "use crate::stamps::Stamp;\n"),
        ("stamps.rs", stamps),
        ("stamps_tests.rs", "use crate::letters::Letter;\n"),
    ];
    let graph = made_up(&files);
    assert_eq!(printed(&graph), None);
    assert_eq!((graph["letters"].len(), graph["stamps"].len()), (1, 0), "{graph:?}");
}
