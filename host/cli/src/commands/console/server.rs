//! Probe of the server: whether it answers, and accepts links of this token.

use crate::commands::failure::Failure;
use agent_spaces::Code;
use agent_spaces::http_server::CONSOLE_HEADER;
use serde_json::json;
use std::io::{Error, ErrorKind, Read, Result as IoResult, Write};
use std::net::TcpStream;
use std::time::Duration;
use url::{Position, Url};

/// Time to connect, and between parts of the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Longest part of the answer that is read: its first line says enough.
const MAX_ANSWER: u64 = 1024;

/// Signs in with the code of a link, and forgets the session: whoever opens the next link then knows that it works.
pub(super) fn check(page: &Url, code: &str) -> Result<(), Failure> {
    let server = &page[..Position::BeforePath];
    let failed = |code: Code, text: &str, hint: &str| Err(Failure::new(code, format!("{server}: {text}"), Some(hint)));
    match ask(page, code) {
        Ok(200) => Ok(()),
        Ok(401) => {
            let hint = "name the server's token with --token-file or AGENT_SPACES_TOKEN, or its folder with --data";
            failed(Code::ConfigToken, "the server does not know this token", hint)
        }
        Ok(404 | 405) => {
            failed(Code::HostServe, "there is no console", "start `agent-spaces serve` without --no-console")
        }
        Ok(429) => failed(Code::HostServe, "too many failed sign-ins", "try again in a minute"),
        Ok(status) => {
            let hint = "name an address that the server allows with --url; see --allow-host of `agent-spaces serve`";
            failed(Code::HostServe, &format!("the server refuses with status {status}"), hint)
        }
        Err(error) => {
            let hint = "start the server with `agent-spaces serve`, or name its URL with --url";
            failed(Code::HostServe, &format!("no server answers: {error}"), hint)
        }
    }
}

/// Sends a sign-in, and returns the status of the answer.
fn ask(page: &Url, code: &str) -> IoResult<u16> {
    let mut stream = connect(page)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let body = json!({ "link": code }).to_string();
    let (host, path, length) = (&page[Position::BeforeHost..Position::AfterPort], page.path(), body.len());
    let head = format!(
        "POST {path}session HTTP/1.1\r\nhost: {host}\r\n{CONSOLE_HEADER}: 1\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes())?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer);
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    status.ok_or_else(|| Error::new(ErrorKind::InvalidData, "the answer is not HTTP"))
}

fn connect(page: &Url) -> IoResult<TcpStream> {
    let mut failed = Error::new(ErrorKind::NotFound, "the host has no address");
    for address in page.socket_addrs(|| None)? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
