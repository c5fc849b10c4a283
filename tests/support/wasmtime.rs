//! Stock wasmtime 48, if installed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Returns `$WASMTIME` or `wasmtime` on the path; prints that the test is skipped if there is none.
pub fn wasmtime() -> Option<PathBuf> {
    let path = std::env::var_os("WASMTIME").map_or_else(|| PathBuf::from("wasmtime"), PathBuf::from);
    let version = Command::new(&path).arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if version.starts_with("wasmtime 48.") {
        return Some(path);
    }
    assert!(std::env::var_os("WASMTIME").is_none(), "$WASMTIME is not a wasmtime 48: {version:?}");
    eprintln!("skipped: no wasmtime 48 (install wasmtime-cli 48, or name one with $WASMTIME)");
    None
}

/// Component under `wasmtime serve`, killed on drop.
pub struct WasmtimeServe {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl WasmtimeServe {
    pub fn start(wasmtime: &Path, component: &[u8]) -> WasmtimeServe {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("service.wasm");
        std::fs::write(&path, component).expect("the component is written");
        let mut child = Command::new(wasmtime)
            .args(["serve", "--addr", "127.0.0.1:0"])
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("wasmtime starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        // It prints its address when it is ready.
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("http://")?.1.trim_end_matches('/').to_owned()))
            .expect("an address");
        // Drain the pipe, so that later output does not block it.
        std::thread::spawn(move || lines.for_each(drop));
        WasmtimeServe { child, address, _folder: folder }
    }

    /// Sends a request; returns status, headers in lower case, and body.
    pub fn request(&self, method: &str, path: &str, body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .expect("the request is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("headers");
        let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_lowercase(), body.to_owned())
    }
}

impl Drop for WasmtimeServe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
