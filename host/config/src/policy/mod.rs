//! Policy settings (`policy`), one file per section. Their meaning is in `agent-spaces-policy`.

mod approvals;
mod arguments;
mod files;
mod functions;
mod network;
mod rate;

pub(super) use network::read as read_network;

use super::reader::{Node, Result};
use agent_spaces_policy::{Preset, Settings};
use serde_json::Value;

const KEYS: &[&str] = &["preset", "fs", "http", "functions", "rateLimit", "approvals"];

/// Reads a preset's name, or an object of settings.
pub(super) fn read(node: Node<'_>) -> Result<Settings> {
    if !matches!(node.value, Value::Object(_)) {
        return Ok(Settings { preset: Some(preset(node)?), ..Settings::default() });
    }
    let object = node.object("a policy", KEYS)?;
    Ok(Settings {
        preset: object.read("preset", preset)?,
        fs: object.read("fs", files::read)?.unwrap_or_default(),
        http: object.read("http", network::read)?.unwrap_or_default(),
        functions: object.read("functions", functions::read)?.unwrap_or_default(),
        rate_limit: object.read("rateLimit", rate::read)?,
        approvals: object.read("approvals", approvals::read)?.unwrap_or_default(),
        only_tightens: false,
    })
}

fn preset(node: Node<'_>) -> Result<Preset> {
    let presets =
        [("restrictive", Preset::Restrictive), ("standard", Preset::Standard), ("permissive", Preset::Permissive)];
    node.choice("policy preset", &presets)
}

#[cfg(test)]
mod tests;
