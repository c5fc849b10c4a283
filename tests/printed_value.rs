//! Printed value of a script.

use std::process::Command;

/// Returns the output of `agent-spaces run` for a script.
fn printed(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("script.ts"), script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
    for (name, part) in [("XDG_CONFIG_HOME", "config"), ("XDG_CACHE_HOME", "cache"), ("XDG_STATE_HOME", "state")] {
        command.env(name, folder.path().join(part));
    }
    let output = command.current_dir(folder.path()).args(["run", "script.ts"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Null is a value; a script without one prints nothing.
#[test]
fn null_is_printed_and_undefined_is_not() {
    assert_eq!(printed("export default null"), "null\n");
    assert_eq!(printed("export default undefined") + &printed("const a = 1"), "");
}

#[test]
fn bytes_are_printed_as_base64() {
    let value: serde_json::Value = serde_json::from_str(&printed("new Uint8Array([1, 2, 3])")).unwrap();
    assert_eq!(value, serde_json::json!({ "type": "Uint8Array", "base64": "AQID" }));
}
