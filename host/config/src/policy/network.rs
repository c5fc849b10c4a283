//! Network settings (`policy.http`): hosts, methods, sizes.

use super::super::error::quoted;
use super::super::quantity::{read_bytes, read_duration};
use super::super::reader::{Node, Result};
use agent_spaces_policy::{DomainPattern, NetworkSettings};

const KEYS: &[&str] =
    &["enabled", "domains", "blocked", "private", "methods", "maxResponseBytes", "maxRequestBytes", "timeout"];

pub(crate) fn read(node: Node<'_>) -> Result<NetworkSettings> {
    let object = node.object("an object of settings for requests", KEYS)?;
    let domains = |node: Node<'_>| node.list("a list of hosts", domain);
    let size = |node: Node<'_>| read_bytes(node, 1, u64::MAX);
    Ok(NetworkSettings {
        enabled: object.read("enabled", |node| node.flag())?,
        domains: object.read("domains", domains)?,
        blocked: object.read("blocked", domains)?,
        private: object.read("private", domains)?,
        methods: object.read("methods", |node| node.list("a list of methods", method))?,
        max_response_bytes: object.read("maxResponseBytes", size)?,
        max_request_bytes: object.read("maxRequestBytes", size)?,
        timeout: object.read("timeout", read_duration)?,
    })
}

fn domain(node: Node<'_>) -> Result<DomainPattern> {
    let text = node.filled_text("a host")?;
    DomainPattern::parse(text).map_err(|error| node.error(format!("{} is {error}", quoted(text))))
}

fn method(node: Node<'_>) -> Result<String> {
    let text = node.filled_text("a method")?;
    if text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-') {
        return Ok(text.to_owned());
    }
    Err(node.error(format!("{} is not an HTTP method", quoted(text))).with_fix("write it in capitals, such as `GET`"))
}
