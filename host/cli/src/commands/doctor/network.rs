//! Check of proxy and certificate variables that are set here and not passed to servers.

use super::super::network_variables::Withheld;
use super::check::Check;
use agent_spaces::project::Project;
use serde_json::json;

/// Returns a note; `None` if none is set, or every server gets them.
pub(super) fn check(project: &Project) -> Option<Check> {
    let of_toolboxes = project.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
    let servers = project.servers().values().chain(of_toolboxes).filter(|server| server.config.enabled);
    let withheld = Withheld::of(servers.map(|server| (server.name.as_str(), &server.config)))?;
    let details = json!({
        "variables": withheld.variables, "servers": withheld.servers, "lacking": withheld.by_server(),
    });
    Some(Check::note("proxy and certificates", withheld.sentence()).fix(withheld.fix()).details(details))
}
