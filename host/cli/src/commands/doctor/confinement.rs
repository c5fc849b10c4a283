//! Check of confinement: Landlock and seccomp of the kernel, and their use.

use super::check::Check;
use agent_spaces::config::{ConfineLevel, Transport};
use agent_spaces::confinement::{Kernel, Network, Profile};
use agent_spaces::mcp::ConfiguredServer;
use agent_spaces::project::Project;
use serde_json::{Map, Value, json};

const SUBJECT: &str = "confinement";

/// Checks the kernel against the configured confinement.
pub(super) fn check(project: Option<&Project>) -> Check {
    let kernel = Kernel::current();
    let host = project.and_then(Project::confine).map_or(ConfineLevel::Off, |confine| confine.level);
    let servers: Vec<(&str, ConfineLevel)> = project.into_iter().flat_map(stdio_servers).collect();
    let levels = || servers.iter().map(|(_, level)| *level).chain([host]);
    let by_name: Map<String, Value> =
        servers.iter().map(|(name, level)| ((*name).to_owned(), word(*level).into())).collect();
    let details = json!({
        "landlockAbi": kernel.landlock_abi,
        "seccomp": kernel.seccomp,
        "commands": word(host),
        "servers": by_name,
    });
    // The strictest profile: limiting ports needs the newest kernels.
    let network = Network::Ports { connect: Vec::new(), bind: Vec::new() };
    let gaps = kernel.gaps(&Profile { network, ..Profile::default() });
    let has_essential = gaps.iter().any(|gap| gap.is_essential);
    let gaps = gaps.iter().map(|gap| gap.what).collect::<Vec<_>>().join("; ");
    let message = [kernel_support(kernel), gaps.clone(), confined(host, &servers)];
    let message = message.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    let check = if levels().any(|level| level == ConfineLevel::Required) && has_essential {
        let fix = "use a newer kernel with Landlock, set \"best-effort\", or remove `confine`";
        Check::broken(SUBJECT, message, 5).fix(fix)
    } else if levels().any(|level| level != ConfineLevel::Off) && !gaps.is_empty() {
        Check::warning(SUBJECT, message)
    } else if gaps.is_empty() {
        Check::fine(SUBJECT, message)
    } else {
        Check::note(SUBJECT, message)
    };
    check.details(details)
}

/// Returns the stdio servers with their level of confinement.
fn stdio_servers(project: &Project) -> impl Iterator<Item = (&str, ConfineLevel)> {
    let toolboxes = project.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
    let servers = project.servers().values().chain(toolboxes).map(|server| &**server);
    let is_stdio = |server: &&ConfiguredServer| matches!(server.config.transport, Transport::Stdio { .. });
    let level = |server: &ConfiguredServer| server.config.confine.as_ref().map_or(ConfineLevel::Off, |it| it.level);
    servers.filter(is_stdio).map(move |server| (server.name.as_str(), level(server)))
}

fn kernel_support(kernel: &Kernel) -> String {
    match (kernel.landlock_abi, kernel.seccomp) {
        (Some(abi), true) => format!("the kernel has Landlock ABI {abi} and seccomp"),
        (Some(abi), false) => format!("the kernel has Landlock ABI {abi}"),
        (None, true) => "the kernel has seccomp".to_owned(),
        (None, false) => "this system has neither Landlock nor seccomp".to_owned(),
    }
}

fn confined(host: ConfineLevel, servers: &[(&str, ConfineLevel)]) -> String {
    let names = |is_listed: fn(ConfineLevel) -> bool| {
        let listed: Vec<&str> = servers.iter().filter(|(_, level)| is_listed(*level)).map(|(name, _)| *name).collect();
        listed.join(", ")
    };
    let (confined, open) = (names(|level| level != ConfineLevel::Off), names(|level| level == ConfineLevel::Off));
    let mut parts = Vec::new();
    if host != ConfineLevel::Off {
        parts.push("`run` and `mcp serve` confine themselves".to_owned());
    }
    if !confined.is_empty() {
        parts.push(format!("confined servers: {confined}"));
    }
    if !open.is_empty() {
        parts.push(format!("unconfined servers: {open}"));
    }
    parts.join("; ")
}

fn word(level: ConfineLevel) -> &'static str {
    match level {
        ConfineLevel::Off => "off",
        ConfineLevel::BestEffort => "best-effort",
        ConfineLevel::Required => "required",
    }
}
