//! Declarations of the standard library, against its WIT and a real compiler.

use crate::standard::support::Project;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use wit_parser::{Resolve, UnresolvedPackageGroup};

const WIT: &str = include_str!("../../wit/std.wit");
const HOST_WIT: &str = include_str!("../../wit/host.wit");
const DECLARATIONS: &str = include_str!("../../host/stdlib/types/std.d.ts");

/// A function: its parameters, and how many of these can be left out.
type Arity = (Vec<String>, usize);

fn camel_case(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + &part[..1].to_uppercase() + &part[1..])
}

/// The functions of the WIT, as scripts call them.
fn of_wit() -> BTreeMap<String, Arity> {
    let mut resolve = Resolve::default();
    resolve.push_group(UnresolvedPackageGroup::parse("host.wit", HOST_WIT).unwrap()).unwrap();
    let package = resolve.push_group(UnresolvedPackageGroup::parse("std.wit", WIT).unwrap()).unwrap();
    let mut found = BTreeMap::new();
    for (interface, id) in &resolve.packages[package].interfaces {
        for function in resolve.interfaces[*id].functions.values() {
            let names: Vec<String> = function.params.iter().map(|param| camel_case(&param.name)).collect();
            let is_option = |ty: &wit_parser::Type| match ty {
                wit_parser::Type::Id(id) => matches!(resolve.types[*id].kind, wit_parser::TypeDefKind::Option(_)),
                _ => false,
            };
            let optional = function.params.iter().filter(|param| is_option(&param.ty)).count();
            found.insert(format!("{interface}.{}", camel_case(&function.name)), (names, optional));
        }
    }
    assert!(!found.is_empty(), "std.wit has no functions");
    found
}

/// The functions of the declarations. Where one is declared several times, the parameters of all must be the same.
fn of_declarations() -> BTreeMap<String, Arity> {
    let mut found: BTreeMap<String, Arity> = BTreeMap::new();
    let mut interface = None;
    for line in DECLARATIONS.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("export const ").and_then(|rest| rest.strip_suffix(": {")) {
            interface = Some(name.to_owned());
        } else if line == "};" {
            interface = None;
        } else if let (Some(interface), Some((name, rest))) = (&interface, line.split_once('('))
            && name.chars().all(|letter| letter.is_ascii_alphanumeric())
        {
            let (names, optional) = parameters(rest);
            let known = found.entry(format!("{interface}.{name}")).or_insert_with(|| (names.clone(), optional));
            assert_eq!(known.0, names, "{interface}.{name}");
            known.1 = known.1.max(optional);
        }
    }
    found
}

/// The names before the bracket that closes a list of parameters, and how many of them are optional.
fn parameters(text: &str) -> Arity {
    let (mut depth, mut names, mut optional, mut word) = (0, Vec::new(), 0, String::new());
    for letter in text.chars() {
        match letter {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' if depth == 0 => break,
            ')' | '}' | ']' | '>' => depth -= 1,
            ':' if depth == 0 => {
                let name = word.trim();
                optional += usize::from(name.ends_with('?'));
                names.push(name.trim_end_matches('?').to_owned());
            }
            ',' if depth == 0 => word.clear(),
            _ if depth == 0 => word.push(letter),
            _ => {}
        }
    }
    (names, optional)
}

#[test]
fn the_declarations_have_the_functions_of_the_wit_and_no_others() {
    let (wit, declared) = (of_wit(), of_declarations());
    assert_eq!(wit.len(), 37, "{:?}", wit.keys());
    assert_eq!(declared, wit);
}

/// The module in scripts has the same functions.
#[test]
fn scripts_get_the_functions_of_the_wit_and_no_others() {
    let project = Project::empty();
    let source = "import * as std from '@agent-spaces/std';
        const names = (name) => Object.keys(std[name]).map((key) => name + '.' + key);
        export default Object.keys(std).flatMap(names).sort();";
    let mut names: Vec<String> = of_wit().into_keys().collect();
    names.sort();
    assert_eq!(project.run_with(source, &["--json"]).value(), serde_json::json!(names));
}

#[test]
fn a_build_writes_the_declarations_and_the_wit() {
    let project = built();
    assert_eq!(project.read(".agent-spaces/std.d.ts").as_deref(), Some(DECLARATIONS));
    assert_eq!(project.read(".agent-spaces/std.wit").as_deref(), Some(WIT));
}

/// A project after `agent-spaces capabilities build`.
fn built() -> Project {
    let project = Project::empty();
    project.write("agent-spaces.config.json", "{}");
    let done = project.agent_spaces(&["capabilities", "build"]);
    assert_eq!(done.status, Some(0), "{done:?}");
    project
}

/// Returns a real compiler's errors for a script, line by line; `None` without a compiler.
fn compiler(project: &Project, script: &str) -> Option<Vec<String>> {
    let Some(tsc) = std::env::var_os("AGENT_SPACES_TSC").map(PathBuf::from) else {
        assert!(std::env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "AGENT_SPACES_TSC names no tsc");
        println!("skipped: AGENT_SPACES_TSC does not name a tsc");
        return None;
    };
    project.write("script.ts", script);
    let output = Command::new("node").arg(tsc).arg("--strict").arg("-p").arg(project.path("")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.success(), text.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text.lines().filter(|line| line.contains("error TS")).map(str::to_owned).collect())
}

/// Every function, with every type that is written down.
const RIGHT: &str = include_str!("right.ts");

#[test]
fn tsc_accepts_a_script_that_uses_every_function() {
    let project = built();
    for name in of_wit().keys() {
        assert!(RIGHT.contains(&format!("{name}(")), "the script does not use {name}");
    }
    let Some(said) = compiler(&project, RIGHT) else { return };
    assert_eq!(said, Vec::<String>::new());
}

#[test]
fn tsc_refuses_every_misuse() {
    let wrong = [
        "await fs.readFile();",
        "await fs.readFile(1);",
        "await fs.writeFile('a', new Uint8Array());",
        "await fs.writeBytes('a', 'text');",
        "await fs.delete('a', { recursiv: true });",
        "await fs.rename('a', 'b');",
        "const text: string = fs.readFile('a');",
        "(await fs.list())[0]!.path;",
        "await http.get('u', { body: 'x' });",
        "await http.get('u', { responseType: 'blob' });",
        "await http.request('u');",
        "await http.head('u');",
        "json.parse({});",
        "const soon: Promise<string> = json.stringify(1);",
        "csv.parse('a', { header: false })[0]!.name.first;",
        "csv.stringify({ a: 1 });",
        "crypto.hash('md5', 'a');",
        "crypto.hmac('blake3', new Uint8Array(), 'a');",
        "crypto.uuid(4);",
        "crypto.encode('utf8', new Uint8Array());",
        "time.since('a');",
        "time.parts('a').dayOfYear;",
        "const slept: number = await time.sleep(1);",
        "await fetch();",
        "await fetch('http://a', { body: { a: 1 } });",
        "await fetch('http://a', { redirect: 'manual' });",
        "(await fetch('http://a')).blob();",
    ];
    let lines: String = wrong.iter().map(|line| format!("{{ {line} }}\n")).collect();
    let script =
        format!("import {{ fs, http, json, csv, crypto, time }} from '@agent-spaces/std';\n{lines}export {{}};\n");
    let Some(said) = compiler(&built(), &script) else { return };
    for (at, line) in wrong.iter().enumerate() {
        let place = format!("script.ts({},", at + 2);
        assert!(said.iter().any(|error| error.contains(&place)), "accepted: {line}\n{}", said.join("\n"));
    }
}
