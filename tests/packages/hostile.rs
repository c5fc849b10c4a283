//! Hostile packages.

use super::{Project, failure_in};
use serde_json::json;

#[test]
fn import_maps_of_a_package_cannot_escape_it() {
    let invalid = |specifier: &str, target: &str, of: &str| {
        let hint = format!("Invalid \"exports\" target \"{target}\" defined for '{of}' in the package config");
        format!("Cannot find '{specifier}' ({specifier}): {hint} /node_modules/p/package.json")
    };
    let outside =
        "'p' resolves outside its package (p): a package can import its own files, and other packages by name";
    let no_package = |specifier: &str| {
        format!("Cannot find '{specifier}' ({specifier}): name a package, or a file by its relative path")
    };
    for (package, specifier, expected) in [
        (r#"{ "exports": "./../../secret.js" }"#, "p", invalid("p", "./../../secret.js", ".")),
        (r#"{ "exports": "../../../secret.js" }"#, "p", invalid("p", "../../../secret.js", ".")),
        (r#"{ "exports": { "./*": "./../../*" } }"#, "p/secret.js", invalid("p/secret.js", "./../../secret.js", "./*")),
        (r#"{ "main": "../../secret.js" }"#, "p", outside.to_owned()),
        (r#"{ "main": "../../../secret.js" }"#, "p", outside.to_owned()),
        (
            r#"{ "module": "/secret.js" }"#,
            "p",
            "Cannot find 'p' (p): its package is installed and has no such file".to_owned(),
        ),
        (r#"{ "browser": { "./own.js": "../../secret.js" }, "main": "own.js" }"#, "p", outside.to_owned()),
        ("{}", "p/../../secret.js", no_package("p/../../secret.js")),
        ("{}", "p/../../../secret.js", no_package("p/../../../secret.js")),
        ("{}", "../secret.js", "'../secret.js' is outside the workspace: ".to_owned()),
    ] {
        let project = Project::new(&[
            ("node_modules/p/package.json", package),
            ("node_modules/p/own.js", "module.exports = 'its own'"),
            ("secret.js", "export default 'TOP SECRET'"),
        ]);
        let error = project.refusal(&format!("import it from '{specifier}'"));
        let told = format!("{}: {}", error.message, error.hint.unwrap_or_default());
        assert_eq!((error.code.as_str(), told), ("import.unknown", expected), "{package}");
    }
}

#[test]
fn package_files_cannot_import_project_files() {
    for import in
        ["../../secret.json", "../../../secret.js", "/secret.json", "file:///secret.json", "../../.git/x.js", "#up"]
    {
        let project = Project::new(&[
            ("secret.json", "\"TOP SECRET\""),
            (".git/x.js", "export default 'TOP SECRET'"),
            ("node_modules/p/package.json", r##"{ "imports": { "#up": "../../secret.json" } }"##),
            ("node_modules/p/index.mjs", &format!("import '{import}'")),
            ("node_modules/p/old.cjs", &format!("require('{import}')")),
        ]);
        for specifier in ["p/index.mjs", "p/old.cjs"] {
            let error = project.refusal(&format!("import '{specifier}'"));
            assert_eq!(error.code, "import.unknown", "{import}: {error:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn symlinks_out_of_the_project_are_refused() {
    let project =
        Project::new(&[("node_modules/inside/package.json", "{}"), ("outside.js", "export default 'wrong one'")]);
    let outside = project.outside.path().join("evil");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("index.js"), "export default 'TOP SECRET'").unwrap();
    project.link("../../evil", "node_modules/relative");
    project.link(&outside, "node_modules/absolute");
    project.link("../../../secret.js", "node_modules/inside/index.js");
    project.link("loop-b", "node_modules/loop-a");
    project.link("loop-a", "node_modules/loop-b");
    for name in ["relative", "absolute"] {
        let error = project.refusal(&format!("import '{name}'"));
        let expected = format!("the package '{name}' is a link to outside the project's folder ({name})");
        assert_eq!(error.message, expected);
    }
    for name in ["inside", "loop-a"] {
        assert_eq!(project.refusal(&format!("import '{name}'")).code, "import.unknown");
    }
}

#[tokio::test]
async fn prototype_names_are_ordinary_names() {
    let project = Project::new(&[
        (
            "node_modules/__proto__/index.js",
            "exports.polluted = 1; exports.__proto__ = { x: 1 }; exports.constructor = 2",
        ),
        ("node_modules/constructor/index.js", "module.exports = require('__proto__')"),
        ("node_modules/p/index.js", "module.exports = [require('__proto__').polluted, ({}).polluted, ({}).x]"),
    ]);
    let source =
        "import p from 'p'; import { polluted } from 'constructor'; [p, polluted, ({}).polluted === undefined]";
    assert_eq!(project.value(source).await, json!([[1, null, null], 1, true]));
}

#[test]
fn the_number_and_size_of_files_are_limited() {
    let project = Project::new(&[]);
    let all: String = (0..10_000).map(|index| format!("require('./f{index}');")).collect();
    project.write("node_modules/many/index.js", &all);
    for index in 0..10_000 {
        project.write(&format!("node_modules/many/f{index}.js"), "");
    }
    let error = project.refusal("import 'many'");
    assert!(error.message.starts_with("The packages have more than 5000 files"), "{}", error.message);
    let long = format!("//{}", "x".repeat(3 << 20));
    let all: String = (0..11).map(|index| format!("require('./b{index}');")).collect();
    for index in 0..11 {
        project.write(&format!("node_modules/big/b{index}.js"), &long);
    }
    project.write("node_modules/big/index.js", &all);
    let error = project.refusal("import 'big'");
    assert!(error.message.contains("Cannot read '/node_modules/big/b10.js': the file is longer"), "{}", error.message);
    project.write("node_modules/long/index.js", &format!("//{}", "x".repeat(4 << 20)));
    let error = project.refusal("import 'long'");
    assert!(error.message.contains("the file is longer than 4194304 bytes"), "{}", error.message);
}

#[tokio::test]
async fn an_import_that_a_file_repeats_counts_once() {
    let repeated = "import('none'),".repeat(60_000);
    let text = format!("export const one = () => import('none'); export const all = () => [{repeated}]");
    let project = Project::new(&[("node_modules/p/index.mjs", &text)]);
    let error = failure_in(&project.space(), "import { one } from 'p/index.mjs'; await one()").await;
    assert!(error.message.starts_with("Cannot find package 'none'"), "{error:?}");
}

#[test]
fn imports_of_missing_files_are_limited() {
    let many: String = (0..50_001).map(|index| format!("import('n{index}');")).collect();
    let project = Project::new(&[("node_modules/p/index.mjs", &many)]);
    let error = project.refusal("import 'p/index.mjs'");
    let expected = "The packages have more than 50000 imports (node_modules/p/index.mjs → n49999)";
    assert!(error.message.starts_with(expected), "{:.200}", error.message);

    let long: String = (0..35).map(|index| format!("import('n{index}{}');", "x".repeat(100_000))).collect();
    let all: String = (0..6).map(|index| format!("import './long{index}.mjs';")).collect();
    let project = Project::new(&[("node_modules/p/index.mjs", &all)]);
    for index in 0..6 {
        project.write(&format!("node_modules/p/long{index}.mjs"), &long);
    }
    let error = project.refusal("import 'p/index.mjs'");
    let is_told = error.message.starts_with("The packages have more than 33554432 bytes (");
    assert!(is_told && error.message.contains(".mjs → n"), "{:.200}", error.message);
}

#[test]
fn names_imported_from_commonjs_are_limited() {
    let names: String = (0..500_000).map(|index| format!("n{index},")).collect();
    let project = Project::new(&[
        ("node_modules/p/index.mjs", &format!("export {{ {names} }} from './old.cjs'")),
        ("node_modules/p/old.cjs", ""),
    ]);
    let error = project.refusal("import 'p/index.mjs'");
    assert_eq!(error.message, "The packages have more than 33554432 bytes");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_blocking() {
    let project = Project::new(&[("node_modules/p/package.json", r#"{ "main": "index.js" }"#)]);
    for path in ["node_modules/p/index.js", "node_modules/q/package.json", "pipe.js"] {
        let path = project.folder().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    }
    for (specifier, expected) in [
        ("p", "Cannot find 'p' (p)"),
        ("p/index.js", "Cannot find 'p/index.js' (p/index.js)"),
        ("q", "Cannot find 'q' (q)"),
        ("./pipe.js", "Cannot find './pipe.js'"),
    ] {
        let error = project.refusal(&format!("import '{specifier}'"));
        assert_eq!((error.code.as_str(), error.message.as_str()), ("import.unknown", expected));
    }
}

#[test]
fn a_chain_of_thousands_of_files_is_prepared() {
    let project = Project::new(&[("node_modules/deep/package.json", r#"{ "type": "module" }"#)]);
    for index in 0..3_000 {
        project.write(&format!("node_modules/deep/f{index}.js"), &format!("export * from './f{}.js'", index + 1));
    }
    project.write("node_modules/deep/f3000.js", "import 'fs'");
    let error = project.refusal("import 'deep/f0.js'");
    assert_eq!(
        error.message,
        "'fs' is a Node.js module, which is not available here (node_modules/deep/f0.js → node_modules/deep/f1.js → \
         node_modules/deep/f2.js → node_modules/deep/f3.js → … → node_modules/deep/f2998.js → \
         node_modules/deep/f2999.js → node_modules/deep/f3000.js → fs)"
    );
}

#[tokio::test]
async fn a_too_deep_import_chain_fails_only_its_run() {
    let project = Project::new(&[]);
    for index in 0..4_000 {
        project
            .write(&format!("node_modules/deep/f{index}.js"), &format!("module.exports = require('./f{}')", index + 1));
    }
    project.write("node_modules/deep/f4000.js", "module.exports = 'the end'");
    let space = project.space();
    let program = space.prepare("main.ts", "import it from 'deep/f0'; it").unwrap();
    let outcome = program.run(agent_spaces::RunOptions::default()).await.outcome;
    assert_eq!(outcome.map_err(|error| error.code), Err("limit.stack".to_owned()));
    assert_eq!(project.value("1 + 1").await, json!(2));
}

#[test]
fn a_deeply_nested_package_json_is_refused() {
    let exports = format!("{{ \"exports\": {}1{} }}", "[".repeat(100_000), "]".repeat(100_000));
    let project = Project::new(&[("node_modules/p/package.json", &exports)]);
    assert_eq!(project.refusal("import 'p'").code, "import.unknown");
}

#[test]
fn a_syntax_error_is_reported_with_its_location() {
    let project = Project::new(&[
        ("node_modules/esm/index.mjs", "export const a = 1\nexport const = 2"),
        ("node_modules/esm/package.json", r#"{ "main": "index.mjs" }"#),
        ("node_modules/cjs/index.js", "exports.a = 1\n\nfunction ( {"),
        ("node_modules/data/index.json", "{ \"a\": }"),
        ("node_modules/data/package.json", r#"{ "main": "index.json" }"#),
    ]);
    for (name, file, line) in
        [("esm", "index.mjs", Some(2)), ("cjs", "index.js", Some(3)), ("data", "index.json", None)]
    {
        let error = project.refusal(&format!("import '{name}'"));
        assert_eq!((error.code.as_str(), error.file), ("script.syntax", format!("/node_modules/{name}/{file}")));
        assert_eq!(error.position.map(|at| at.line), line);
    }
}
