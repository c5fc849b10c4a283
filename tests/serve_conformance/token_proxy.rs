//! HTTP server behind a proxy that adds the token, which the suite lacks.

use crate::servers::Home;
use serde_json::Value;
use std::error::Error;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;

/// The longest head that the suite sends.
const MAX_HEAD: usize = 64 << 10;

/// A server, until this is dropped.
pub(crate) struct TokenProxy {
    /// Address of the proxy.
    pub(crate) url: String,
    pub(crate) server: Child,
}

impl TokenProxy {
    /// Serves with these options.
    pub(crate) async fn start(home: &Home, options: &[&str]) -> Result<TokenProxy, Box<dyn Error>> {
        let mut server = home.serve(options).args(["--http", "127.0.0.1:0", "--json"]).spawn()?;
        let mut line = String::new();
        BufReader::new(server.stdout.take().ok_or("it prints nothing")?).read_line(&mut line).await?;
        let said: Value = serde_json::from_str(&line)?;
        let member = |name: &str| said.get(name).and_then(Value::as_str).ok_or("it does not say where it is");
        let address = member("url")?.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        let token = std::fs::read_to_string(member("tokenFile")?)?.trim().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (address, token) = (address.clone(), token.clone());
                // A connection closed on one side is closed on the other.
                tokio::spawn(async move { pass_on(stream, &address, &token).await.ok() });
            }
        });
        Ok(TokenProxy { url, server })
    }
}

/// Forwards one request with the token, and its response. Each request has its own connection.
async fn pass_on(mut client: TcpStream, address: &str, token: &str) -> std::io::Result<()> {
    let mut head = Vec::new();
    let end = loop {
        if let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end;
        }
        if head.len() > MAX_HEAD || client.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    };
    let mut body = head.split_off(end + 4);
    let text = String::from_utf8_lossy(&head[..end]).into_owned();
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok()).flatten()
    });
    // Read the body first: closing with unread data would reset the connection before the response is read.
    while body.len() < length.unwrap_or(0) {
        if client.read_buf(&mut body).await? == 0 {
            return Ok(());
        }
    }
    let lines = text.lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    lines.push(format!("authorization: Bearer {token}"));
    lines.push("connection: close".to_owned());
    let mut server = TcpStream::connect(address).await?;
    server.write_all(&[format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes(), &body].concat()).await?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
