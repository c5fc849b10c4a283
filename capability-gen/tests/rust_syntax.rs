//! Syntax check of generated Rust, by the compiler itself.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// Fails with the compiler's errors if one of the files does not parse.
///
/// The compiler parses a disabled module, but resolves no name in it. A parser as a library would be a second user of what
/// derive macros are made of: cargo then builds those, and all that is above them, once for `cargo run` and again for tests.
pub(crate) fn assert_parses(files: &[String]) {
    assert!(!files.is_empty());
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let output = tempfile::tempdir().unwrap();
    let mut compiler = Command::new(rustc)
        .args(["--crate-name=files", "--crate-type=lib", "--edition=2024", "--emit=metadata", "--out-dir"])
        .arg(output.path())
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let modules: String = files
        .iter()
        .enumerate()
        .map(|(number, file)| format!("#[cfg(any())]\nmod file_{number} {{\n{file}\n}}\n"))
        .collect();
    compiler.stdin.take().unwrap().write_all(modules.as_bytes()).unwrap();
    let output = compiler.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn wrong_syntax_fails() {
    for wrong in ["fn a( {", "struct type;", "fn a() {} }", "const A: &str = \"a\"b\";", "use {"] {
        let failed = std::panic::catch_unwind(|| assert_parses(&["fn b() {}".to_owned(), wrong.to_owned()]));
        assert!(failed.is_err(), "{wrong}");
    }
    assert_parses(&["//! Docs.\nuse missing::Name;\nfn r#type() {}".to_owned()]);
}
