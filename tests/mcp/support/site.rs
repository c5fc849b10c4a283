//! Static web site on loopback for browser tests.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PAGE: &str = include_str!("../servers/page.html");
const DATA: &str = include_str!("../servers/data.json");

/// The site, until it is dropped.
pub(crate) struct Site {
    port: u16,
    is_over: Arc<AtomicBool>,
}

impl Site {
    pub(crate) fn open() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_over = Arc::<AtomicBool>::default();
        let over = is_over.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                // A browser opens connections that it never uses.
                std::thread::spawn(move || answer(&stream));
            }
        });
        Site { port, is_over }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn answer(mut stream: &TcpStream) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let Some(request) = lines.next() else { return };
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let (status, kind, body) = match request.split(' ').nth(1) {
        Some("/page.html") => ("200 OK", "text/html", PAGE),
        Some("/data.json") => ("200 OK", "application/json", DATA),
        _ => ("404 Not Found", "text/plain", ""),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}
