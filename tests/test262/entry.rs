//! Script that runs one test in the sandbox.

use crate::suite::{Mode, Suite, Test};

const HOST: &str = include_str!("host.js");

/// The name of the script. It lies beside `language/` and the others, where no test is.
pub(crate) const NAME: &str = "entry.js";

/// The script for a test in one of its modes.
pub(crate) fn entry(suite: &Suite, test: &Test, mode: Mode) -> String {
    let harness = literal(&suite.harness(test, mode));
    let is_async = test.front.has_flag("async");
    if mode == Mode::Module {
        let path = literal(&format!("./{}", test.path));
        return format!("{HOST}export default () => runModule({harness}, () => import({path}), {is_async});\n");
    }
    let mut source = test.source.clone();
    let imported = resolve_imports(suite, test, &mut source);
    if mode == Mode::Strict {
        source.insert_str(0, "\"use strict\";\n");
    }
    // The imports are never called: they name what the run may reach.
    let reach: String = imported.iter().map(|path| format!("() => import({});\n", literal(path))).collect();
    format!("{HOST}{reach}export default () => runScript({harness}, {}, {is_async});\n", literal(&source))
}

/// Gives the files that a script imports the names under which the engine knows them, as the host
/// does in every file that it reads; the text of an `eval` is none. Returns the files.
fn resolve_imports(suite: &Suite, test: &Test, source: &mut String) -> Vec<String> {
    let mut files = Vec::new();
    if !source.contains("import") {
        return files;
    }
    for quote in ['\'', '"'] {
        let opening = format!("{quote}./");
        let mut resolved = String::with_capacity(source.len());
        let mut rest = source.as_str();
        while let Some((before, after)) = rest.split_once(&opening) {
            let name = after.split(quote).next().unwrap_or_default();
            let path = format!("{}/{name}", test.folder());
            resolved.push_str(before);
            if path == test.path || suite.has_fixture(&path) {
                resolved.push_str(&format!("{quote}{}/", test.folder()));
                files.push(format!("./{path}"));
            } else {
                resolved.push_str(&opening);
            }
            rest = after;
        }
        resolved.push_str(rest);
        *source = resolved;
    }
    files
}

/// A string as JavaScript writes it.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
