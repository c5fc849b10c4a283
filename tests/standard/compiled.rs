//! Compiled scripts that use the standard library.

use crate::standard::support::{Project, script};
use serde_json::Value;

#[test]
fn the_audit_of_a_component_shows_its_standard_library_imports() {
    let project = Project::empty();
    project.write("script.ts", script("await fs.readFile('a'); time.now();"));
    let done = project.agent_spaces(&["compile", "script.ts", "-o", "script.wasm"]);
    assert_eq!(done.status, Some(0), "{done:?}");
    let found = project.agent_spaces(&["audit", "script.wasm", "--json"]).json();
    let imports = found["imports"].as_array().unwrap();
    let of = |name: &str| imports.iter().find(|import| import["name"] == format!("agent-spaces:std/{name}@1.0.0"));
    let functions = |name: &str| of(name).unwrap()["functions"].as_array().unwrap().clone();
    assert!(functions("fs").contains(&Value::from("read-file")), "{found}");
    assert!(functions("time").contains(&Value::from("now")), "{found}");
    for absent in ["http", "csv", "crypto", "json"] {
        assert!(of(absent).is_none(), "{absent} is imported and not used: {found}");
    }
    let shown = project.agent_spaces(&["audit", "script.wasm"]).stdout;
    assert!(shown.contains("  agent-spaces:std/fs@1.0.0\n"), "{shown}");
    assert!(shown.contains("read-file: async func(path: string) -> result<string, capability-error>;"), "{shown}");
}

#[test]
fn a_component_without_the_standard_library_imports_none_of_it() {
    let project = Project::empty();
    project.write("script.ts", "export default 1;");
    assert_eq!(project.agent_spaces(&["compile", "script.ts", "-o", "script.wasm"]).status, Some(0));
    let shown = project.agent_spaces(&["audit", "script.wasm"]).stdout;
    assert!(shown.contains("imports:") && !shown.contains("agent-spaces:std"), "{shown}");
}
