//! All tools of every server in the corpus.

use super::TypeScript;
use capability_gen::compile::{ModuleSource, compile};
use capability_gen::emit::{dts::dts, globals::globals_dts, tsconfig::tsconfig, wit::wit};
use capability_gen::model::Module;
use capability_gen::sources::{Format, Source, parse};
use capability_gen::wit::{Reason, plan};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use wit_parser::Resolve;

const HOST_WIT: &str = include_str!("../../wit/host.wit");

/// Compiled tools of a server.
struct Server {
    tools: usize,
    /// Tools that are for a user interface and not for agents, each with a note.
    left_out: usize,
    module: Module,
}

/// Returns every server of the corpus, if there is a corpus.
fn servers() -> Option<Vec<Server>> {
    let folder = std::env::var_os("AGENT_SPACES_CORPUS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"), PathBuf::from);
    let Ok(files) = std::fs::read_dir(folder.join("servers")) else {
        println!("skipped: no corpus of real tool lists in {}", folder.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    Some(paths.iter().map(|path| read(path)).collect())
}

fn read(path: &Path) -> Server {
    let text = std::fs::read_to_string(path).unwrap();
    let listed: Value = serde_json::from_str(&text).unwrap();
    let file = path.file_stem().unwrap().to_string_lossy();
    // One package name may be in two registries.
    let name = file.replace("__", "-");
    let source = Source { file: &file, text: &text, name: Some(&name), format: Some(Format::Mcp) };
    let definitions = parse(&source).unwrap_or_else(|error| panic!("{error}"));
    let module = compile(ModuleSource { specifier: None, stem: None, definitions });
    let module = module.unwrap_or_else(|error| panic!("{file}: {error}"));
    let is_left_out = |message: &str| message.contains("is for the server's user interface");
    let left_out = module.notes.iter().filter(|note| is_left_out(&note.message)).count();
    Server { tools: listed["tools"].as_array().unwrap().len(), left_out, module }
}

/// One project with all of them, checked whole (`skipLibCheck` is off).
#[test]
fn tsc_accepts_every_tool_of_every_server() {
    let (Some(tsc), Some(servers)) = (TypeScript::find(), servers()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "tsconfig.json",
        r#"{ "extends": "./.agent-spaces/tsconfig.json", "compilerOptions": { "skipLibCheck": false } }"#,
    );
    write(".agent-spaces/tsconfig.json", &tsconfig());
    write(".agent-spaces/globals.d.ts", globals_dts());
    let (mut script, mut functions, mut bytes) = (String::new(), 0, 0);
    for (index, Server { module, .. }) in servers.iter().enumerate() {
        let text = dts(module);
        bytes += text.len();
        write(&format!(".agent-spaces/capabilities/{}/index.d.ts", module.name), &text);
        let capability = &module.capabilities[0];
        functions += capability.functions.len();
        // Each module is found and exports what it should, each function is there and is one.
        script.push_str(&format!("import {{ {} as server{index} }} from '{}';\n", capability.export, module.specifier));
        for function in &capability.functions {
            script
                .push_str(&format!("server{index}[{}] satisfies Function;\n", Value::from(function.js_name.as_str())));
        }
    }
    write("all.ts", &script);
    let start = Instant::now();
    let said = tsc.check(folder.path());
    let seconds = start.elapsed().as_secs_f64();
    let shown: Vec<&str> = said.lines().take(20).collect();
    assert!(said.is_empty(), "{} lines:\n{}", said.lines().count(), shown.join("\n"));
    println!("tsc: {} servers, {functions} functions, {bytes} bytes of declarations, {seconds:.1} s", servers.len());
    assert!(functions > 3000);
}

/// Every tool is in the WIT of its server, which is valid, and says how much of it has types.
#[test]
fn every_tool_of_every_server_has_wit() {
    let Some(servers) = servers() else { return };
    let (mut tools, mut left_out, mut exact, mut exact_params) = (0, 0, 0, 0);
    let mut fallbacks: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut names = std::collections::HashSet::new();
    for server in &servers {
        let module = &server.module;
        assert!(names.insert(&module.specifier), "{} is there twice", module.specifier);
        let functions: usize = module.capabilities.iter().map(|capability| capability.functions.len()).sum();
        assert_eq!(functions + server.left_out, server.tools, "{}", module.specifier);
        let plan = plan(module);
        check_wit(module, &wit(module, &plan));
        tools += server.tools;
        left_out += server.left_out;
        for interface in &plan.interfaces {
            exact += interface.exact;
            exact_params += interface.functions.iter().filter(|function| function.is_params_exact).count();
            for fallback in &interface.fallbacks {
                *fallbacks.entry(fallback.reason).or_default() += 1;
            }
        }
    }
    let json: usize = fallbacks.values().sum();
    println!("wit: {} servers, {tools} tools, {left_out} of them for user interfaces", servers.len());
    println!("wit: parameters without any json: {exact_params} of {} functions", tools - left_out);
    println!("wit: {exact} positions mapped exactly, {json} are json:");
    for (reason, count) in &fallbacks {
        println!("wit: {count:>6}  {reason}");
    }
    assert!(tools > 3000);
    assert!(exact > 10 * (json - fallbacks.get(&Reason::NoSchema).unwrap_or(&0)), "most positions have types");
}

/// The text parses together with the host's and has an interface to each capability with all functions.
fn check_wit(module: &Module, text: &str) {
    let mut resolve = Resolve::default();
    resolve.push_str("host.wit", HOST_WIT).unwrap();
    let package = resolve.push_str("module.wit", text);
    let package = package.unwrap_or_else(|error| panic!("{}: {error:#}\n{text}", module.specifier));
    for capability in &module.capabilities {
        let interface = resolve.packages[package].interfaces[&capability.interface];
        let functions = &resolve.interfaces[interface].functions;
        let expected: Vec<&str> = capability.functions.iter().map(|function| function.wit_name.as_str()).collect();
        assert_eq!(functions.keys().map(String::as_str).collect::<Vec<_>>(), expected, "{}", module.specifier);
    }
}
