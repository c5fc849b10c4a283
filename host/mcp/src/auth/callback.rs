//! Redirect target of an OAuth login: a small HTTP server on loopback, for one authorization response.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use url::Url;

/// Size limit of a request head.
const MAX_HEAD: usize = 32 << 10;
/// Timeout for reading a request, and for sending a response.
const VISIT: Duration = Duration::from_secs(10);
/// Limit on connections. Browsers open some ahead of time and send nothing on them.
const MAX_VISITORS: usize = 16;

/// HTTP server for the redirect of a login.
pub(super) struct Callback {
    listener: TcpListener,
    address: SocketAddr,
}

/// Authorization response, as the browser delivers it.
pub(super) struct Answer {
    /// Authorization code, or the error.
    pub(super) result: Result<String, String>,
    /// `iss` of the response.
    pub(super) issuer: Option<String>,
    /// Connection to the browser, which waits for a page.
    pub(super) page: Page,
}

/// Connection to a browser that waits for a page.
pub(super) struct Page(TcpStream);

impl Callback {
    /// Listens on a free port.
    pub(super) async fn bind() -> io::Result<Callback> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Callback { listener, address })
    }

    /// Returns the redirect URI.
    pub(super) fn redirect_uri(&self) -> String {
        format!("http://{}/callback", self.address)
    }

    /// Waits for the authorization response with this `state`. Other requests get an error page.
    pub(super) async fn answer(&self, state: &str) -> Answer {
        let mut visitors = JoinSet::new();
        loop {
            tokio::select! {
                visitor = self.listener.accept(), if visitors.len() < MAX_VISITORS => match visitor {
                    Ok((stream, _)) => {
                        visitors.spawn(read_request(stream));
                    }
                    // For example too many open files, which may be temporary.
                    Err(_) => sleep(Duration::from_millis(50)).await,
                },
                Some(visit) = visitors.join_next() => {
                    let Ok(Some((page, target))) = visit else { continue };
                    match self.judge(&target, state) {
                        Ok((result, issuer)) => return Answer { result, issuer, page },
                        Err((status, text)) => page.send(status, "Agent Spaces", text).await,
                    }
                }
            }
        }
    }

    fn judge(&self, target: &str, state: &str) -> Result<(Result<String, String>, Option<String>), Refusal> {
        const ELSEWHERE: Refusal = ("404 Not Found", "Page not found.");
        const STRANGER: Refusal = ("400 Bad Request", "This response belongs to another login (unknown state).");
        let url = Url::parse(&format!("http://{}{target}", self.address)).map_err(|_| ELSEWHERE)?;
        if !target.starts_with('/') || url.path() != "/callback" {
            return Err(ELSEWHERE);
        }
        let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if value("state").as_deref() != Some(state) {
            return Err(STRANGER);
        }
        let result = match (value("error"), value("code")) {
            (Some(error), _) => Err(match value("error_description") {
                Some(description) => format!("{error}: {description}"),
                None => error,
            }),
            (None, Some(code)) => Ok(code),
            (None, None) => return Err(STRANGER),
        };
        Ok((result, value("iss")))
    }
}

type Refusal = (&'static str, &'static str);

impl Page {
    /// Shows the person the outcome.
    pub(super) async fn show(self, title: &str, text: &str) {
        self.send("200 OK", title, text).await;
    }

    async fn send(mut self, status: &str, title: &str, text: &str) {
        let (title, text) = (escape(title), escape(text));
        let body = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><h1>{title}</h1><p>{text}</p></html>"
        );
        let response = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nContent-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\n\r\n{body}",
            body.len()
        );
        // Failing to show the page does not affect the login.
        let _ = timeout(VISIT, async {
            self.0.write_all(response.as_bytes()).await?;
            self.0.shutdown().await
        })
        .await;
    }
}

/// Reads a request; returns its target, or `None` if it is unreadable.
async fn read_request(mut stream: TcpStream) -> Option<(Page, String)> {
    let mut head = Vec::new();
    let reading = async {
        // A GET request has no body.
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() >= MAX_HEAD || stream.read_buf(&mut head).await.ok()? == 0 {
                return None;
            }
        }
        Some(())
    };
    timeout(VISIT, reading).await.ok()??;
    let line = String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next()?).into_owned();
    let mut words = line.split(' ');
    match (words.next(), words.next(), words.next()) {
        (Some("GET"), Some(target), Some("HTTP/1.1" | "HTTP/1.0")) => Some((Page(stream), target.to_owned())),
        // Answered with 404.
        _ => Some((Page(stream), String::new())),
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
#[path = "callback_tests.rs"]
mod tests;
