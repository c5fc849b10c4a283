//! Tests of import resolution.

use super::*;
use agent_spaces_calls::operator_notices::Notices;
use agent_spaces_policy::{FunctionId, FunctionPolicy};
use agent_spaces_types::call_site::CallKind;
use std::fs;

/// A script with these files beside it, in a space with one capability module and one of plain JavaScript.
fn resolved(files: &[(&str, &str)], source: &str) -> Resolved {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        fs::write(folder.path().join(path), text).unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap();
    let mut known = Modules::default();
    for name in ["fileSystem", "fileSystem.$resources"] {
        let interface = format!("capabilities:files/{}@1.0.0", name.replace(".$", "-").to_lowercase());
        known.bind("@capabilities/files".to_owned(), Binding { name: name.to_owned(), interface });
    }
    known.insert("plain".to_owned(), ModuleSource::JavaScript("export const fileSystem = {}".to_owned()));
    let known = Known {
        modules: &known,
        withheld: &Withheld::new(),
        denials: Denials::default(),
        has_fetch: false,
        packages: None,
        max_bytes: 1 << 20,
        memory: None,
    };
    resolve("main.ts", source, known, Some(&workspace)).unwrap()
}

/// A script's uses, as `file:line:column module path`; `~` marks mentions.
fn uses(files: &[(&str, &str)], source: &str) -> Vec<String> {
    let show = |call: &ProgramCall| {
        let Location { file, line, column } = &call.location;
        let mark = if call.kind == CallKind::Mention { "~" } else { "" };
        format!("{file}:{line}:{column} {} {mark}{}", call.module, call.path)
    };
    resolved(files, source).calls.iter().map(show).collect()
}

#[test]
fn npm_packages_are_distinguished_from_misspelt_modules() {
    for (source, is_package) in [
        ("import axios from 'axios';", true),
        ("import _ from 'lodash/fp';", true),
        ("import x from '@capabilities/zzzzzz';", false),
    ] {
        let warnings = resolved(&[], source).warnings;
        let hint = warnings[0].hint.as_deref().unwrap_or_default();
        assert_eq!(hint.starts_with("scripts cannot import npm packages; this space has "), is_package, "{hint}");
    }
}

#[test]
fn the_calls_of_a_script_are_those_of_all_its_files() {
    let files = [
        (
            "lib.ts",
            "import { fileSystem as f } from '@capabilities/files'\nexport const clean = () => f.deleteFile('a')",
        ),
        ("again.ts", "import './main'; import './lib'; export * from '@capabilities/files'"),
        ("main.ts", "import { fileSystem } from '@capabilities/files'\nexport const read = fileSystem.$resources.read"),
    ];
    let script = "import { clean } from './lib'; import './again'\nimport { fileSystem } from '@capabilities/files'
                  clean(); fileSystem.list()";
    assert_eq!(
        uses(&files, script),
        [
            "main.ts:3:28 @capabilities/files fileSystem.list",
            "lib.ts:2:28 @capabilities/files fileSystem.deleteFile",
            "again.ts:1:34 @capabilities/files ~",
            // Another text than the script's, though it has its name.
            "main.ts:2:21 @capabilities/files ~fileSystem.$resources.read",
        ]
    );
}

#[test]
fn a_script_that_its_own_file_imports_is_reported_once() {
    let script = "import './lib'; import { fileSystem } from '@capabilities/files'; fileSystem.list()";
    let files = [("main.ts", script), ("lib.ts", "import './main'")];
    assert_eq!(uses(&files, script), ["main.ts:1:67 @capabilities/files fileSystem.list"]);
}

#[test]
fn only_uses_of_capability_modules_are_reported() {
    let files = [("lib.ts", "export const fileSystem = { list() {} }")];
    for module in ["plain", "./lib"] {
        let script = format!("import {{ fileSystem }} from '{module}'; fileSystem.list()");
        assert_eq!(uses(&files, &script), [""; 0], "{module}");
    }
}

#[test]
fn all_files_together_are_bounded_as_one_is() {
    let import = "import { fileSystem } from '@capabilities/files'\n";
    let half = format!("{import}{}", "fileSystem.list()\n".repeat(MAX_CALL_SITES / 2));
    let files = [("a.ts", half.as_str()), ("b.ts", half.as_str()), ("none.ts", "export const x = 1")];
    let all = resolved(&files, &format!("import './a'; import './b'\n{half}"));
    assert_eq!(all.calls.len(), MAX_CALL_SITES);
    assert!(all.calls.iter().all(|call| call.location.file != "b.ts") && all.has_more_calls);
    assert!(!resolved(&files, &format!("import './a'\n{half}")).has_more_calls);
    // Uses of another module do not silently hide those of a capability.
    let crowd = "x;".repeat(MAX_CALL_SITES);
    let all = resolved(&files, &format!("{import}import {{ x }} from './none'\n{crowd} fileSystem.list()"));
    assert!(all.calls.is_empty() && all.has_more_calls);
}

#[test]
fn a_fetch_in_any_file_is_a_fetch_of_the_script() {
    let files =
        [("lib.ts", "export const get = () => fetch('a')"), ("none.ts", "export const get = (fetch) => fetch('a')")];
    assert!(resolved(&files, "import { get } from './lib'; get()").uses_fetch);
    assert!(!resolved(&files, "import { get } from './none'; get()").uses_fetch);
}

/// The warnings of a script, as `file:line:column message; hint`.
fn warnings(files: &[(&str, &str)], source: &str) -> Vec<String> {
    let show = |warning: &ScriptError| {
        let position = warning.position.unwrap();
        let hint = warning.hint.as_deref().unwrap_or("-");
        format!("{}:{}:{} {}: {hint}", warning.file, position.line, position.column, warning.message)
    };
    resolved(files, source).warnings.iter().map(show).collect()
}

#[test]
fn mistakes_in_unused_imports_are_warnings() {
    let files = [("helpers.ts", "export const a = 1"), ("used.ts", "import { b } from './helprs'; export const c = 2")];
    for (source, expected) in [
        (
            "import { x } from '@capabilities/flies'; 1",
            "main.ts:1:19 Cannot find module '@capabilities/flies'; nothing uses it, so it was left out: did you mean '@capabilities/files'?",
        ),
        (
            "import { x } from 'lodash'; 1",
            "main.ts:1:19 Cannot find module 'lodash'; nothing uses it, so it was left out: scripts cannot import npm packages; this space has @capabilities/files, plain",
        ),
        (
            "import { fileSystm } from '@capabilities/files'; 1",
            "main.ts:1:10 '@capabilities/files' has no export 'fileSystm'; nothing uses it, so it was left out: did you mean 'fileSystem'? it exports fileSystem",
        ),
        (
            "import { fileSystem, remove } from '@capabilities/files'; fileSystem.list()",
            "main.ts:1:22 '@capabilities/files' has no export 'remove'; nothing uses it, so it was left out: it exports fileSystem",
        ),
        (
            "import { a } from './helprs.ts'; 1",
            "main.ts:1:19 Cannot find './helprs.ts'; nothing uses it, so it was left out: did you mean './helpers.ts'?",
        ),
        (
            "import { c } from './used'; c",
            "used.ts:1:19 Cannot find './helprs'; nothing uses it, so it was left out: did you mean './helpers'?",
        ),
    ] {
        assert_eq!(warnings(&files, source), [expected], "{source}");
    }
    for fine in [
        "import { fileSystem } from '@capabilities/files'; 1",
        "import { a } from './helpers'; import { fileSystem } from 'plain'; 1",
        // Types are not resolved here.
        "import type { Entry } from '@capabilities/nothing'; const e: Entry = 1; e",
        "import { Entry } from '@capabilities/nothing'; const e: Entry = 1; e",
        "import { Entry, fileSystem } from '@capabilities/files'; fileSystem.list()",
        "import {} from 'nothing'; 1",
    ] {
        assert_eq!(warnings(&files, fine), Vec::<String>::new(), "{fine}");
    }
    let many: String = (0..100).map(|number| format!("import {{ x{number} }} from 'lodash{number}';")).collect();
    assert_eq!(warnings(&files, &many).len(), 20);
}

#[test]
fn a_missing_file_comes_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lib")).unwrap();
    for name in ["lib/helpers.ts", "lib/.secret.ts", "lib/notes.txt", "main.ts"] {
        fs::write(folder.path().join(name), "export const a = 1").unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap();
    let known = Modules::default();
    let hint = |specifier: &str| {
        let known = Known {
            modules: &known,
            withheld: &Withheld::new(),
            denials: Denials::default(),
            has_fetch: false,
            packages: None,
            max_bytes: 1 << 20,
            memory: None,
        };
        let source = format!("import {{ a }} from '{specifier}'; a");
        resolve("main.ts", &source, known, Some(&workspace)).err().and_then(|error| error.hint).unwrap()
    };
    assert_eq!(hint("./lib/helprs.ts"), "did you mean './lib/helpers.ts'?");
    assert_eq!(hint("./lib/helprs"), "did you mean './lib/helpers'?");
    for stranger in ["./lib/note", "./lib/database.ts", "./secret", "./lib/secret.ts", "./nothing/helpers.ts"] {
        assert_eq!(hint(stranger), "paths are relative to the importing file", "{stranger}");
    }
}

#[test]
fn a_module_for_some_callers_stays_closed_after_any_number_of_imports() {
    let mut known = Modules::default();
    for name in ["a", "b"] {
        let interface = format!("capabilities:{name}/{name}@1.0.0");
        known.bind(format!("@capabilities/{name}"), Binding { name: name.to_owned(), interface });
    }
    let scopes = |module: &str| BTreeSet::from([format!("use:{module}")]);
    let offers = |module: &str, _: Reading| Offer::of([scopes(module)].into_iter());
    // Only asked about exports that are single functions.
    let policies = |_: &FunctionId, _: &str| -> FunctionPolicy { unreachable!() };
    let notices = Notices::default();
    let known = Known {
        modules: &known,
        withheld: &Withheld::new(),
        denials: Denials::by(&policies, &notices, &offers),
        has_fetch: false,
        packages: None,
        max_bytes: 1 << 20,
        memory: None,
    };
    let crowd = "import '@capabilities/a';".repeat(MAX_CALL_SITES);
    let imports = resolve("main.ts", &format!("{crowd} import '@capabilities/b';"), known, None).unwrap().imports;
    assert_eq!(imports.gated.len(), 2);
    let refused = imports.refused(&scopes("@capabilities/a")).map(|gated| gated.module.as_str());
    assert_eq!(refused, Some("@capabilities/b"));
    let both: BTreeSet<String> = scopes("@capabilities/a").into_iter().chain(scopes("@capabilities/b")).collect();
    assert_eq!(imports.refused(&both), None);
}

#[test]
fn repeated_imports_bind_an_interface_once() {
    let files = [("lib.ts", "export * from '@capabilities/files'")];
    let import = "import { fileSystem } from '@capabilities/files'; fileSystem.list();\n";
    let all = resolved(&files, &format!("import './lib'; import '@capabilities/files';\n{import}"));
    let Some(ModuleSource::Bindings(bindings)) = all.modules.get("@capabilities/files") else { panic!("not bound") };
    let names: Vec<&str> = bindings.iter().map(|binding| binding.name.as_str()).collect();
    assert_eq!(names, ["fileSystem", "fileSystem.$resources"]);
    assert_eq!(all.interfaces.len(), 2);
}

#[test]
fn a_forgotten_import_is_noted_once_for_all_files() {
    let files =
        [("a.ts", "export const a = () => fileSystem.list()"), ("b.ts", "export const b = () => fileSystem.list()")];
    let all = resolved(&files, "import { a } from './a'; import { b } from './b'; a(); b(); fileSystem.list()");
    let forgotten: Vec<_> = all.imports.forgotten.iter().map(|it| (it.name.as_str(), it.module.as_str())).collect();
    assert_eq!(forgotten, [("fileSystem", "@capabilities/files")]);
}
