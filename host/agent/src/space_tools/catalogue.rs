//! Tool descriptions, server instructions and module list for the model.

use crate::tools::Instructions;
use agent_spaces_serve::{ModuleOverview, Overview, ToolOverview};
use agent_spaces_types::counted::counted;
use agent_spaces_types::shown::Shown;
use rmcp::model::{ServerPeerInfo, Tool};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Modules that are listed, and the length of all their lines. More are found by searching.
const MAX_MODULES: usize = 60;
const MAX_LINES: usize = 6_000;

/// Longest description of a tool, in characters. Servers write them.
const MAX_DESCRIPTION: usize = 8_000;

/// Name of the server in instructions, if it says none.
const SERVER: &str = "agent-spaces";

/// Returns the description of a tool, with what is known of results that have no schema.
pub(super) fn description(tool: &Tool, known: Option<&ToolOverview>) -> String {
    let said = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    let mut text = match said.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", said.get(..end).unwrap_or_default()),
        None => said.to_owned(),
    };
    if let Some(observed) = known.and_then(|known| known.observed.as_ref()) {
        let _ =
            write!(text, "\nResults of earlier calls had this type (names and types; others may differ): {observed}");
    }
    text.trim_start().to_owned()
}

/// Returns the instructions of the server that has the tools, and of the servers behind it.
pub(super) fn instructions(info: Option<&ServerPeerInfo>, overview: &Overview, is_code: bool) -> Vec<Instructions> {
    let name = info.and_then(|info| info.server_info.as_ref()).map_or(SERVER, |server| server.name.as_str());
    let mut text = info.and_then(|info| info.instructions.clone()).unwrap_or_default();
    if is_code && !overview.modules.is_empty() {
        let _ = write!(text, "\n{}", modules(&overview.modules));
    }
    let mut all = vec![Instructions { of: line(name), text: text.trim().to_owned() }];
    let mut servers: BTreeSet<(&str, &str)> =
        overview.servers.iter().map(|server| (server.server.as_str(), server.text.as_str())).collect();
    servers.retain(|(_, text)| !text.trim().is_empty());
    all.extend(servers.into_iter().map(|(server, text)| Instructions { of: line(server), text: text.to_owned() }));
    all
}

/// Lists modules, one a line.
fn modules(modules: &[ModuleOverview]) -> String {
    let mut text = "Modules to import:".to_owned();
    let mut listed = 0;
    for ModuleOverview { module, functions, names } in modules.iter().take(MAX_MODULES) {
        let more = if *functions > names.len() { ", …" } else { "" };
        let line = format!("\n- {} ({}): {}{more}", line(module), counted(*functions, "function"), names.join(", "));
        if text.len() + line.len() > MAX_LINES {
            break;
        }
        text.push_str(&line);
        listed += 1;
    }
    let rest = modules.get(listed..).unwrap_or_default();
    if !rest.is_empty() {
        let functions: usize = rest.iter().map(|module| module.functions).sum();
        let (modules, functions) = (counted(rest.len(), "more module"), counted(functions, "function"));
        let _ = write!(text, "\n- {modules} with {functions}: search for them");
    }
    text
}

fn line(text: &str) -> String {
    Shown::line(text, 200).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_serve::ServerInstructions;

    fn module(name: &str, functions: usize) -> ModuleOverview {
        let names = (0..functions.min(3)).map(|number| format!("{name}.f{number}")).collect();
        ModuleOverview { module: format!("@capabilities/{name}"), functions, names }
    }

    #[test]
    fn a_module_has_a_line() {
        let text = modules(&[module("crm", 5), module("wiki", 1)]);
        let expected = "Modules to import:\n- @capabilities/crm (5 functions): crm.f0, crm.f1, crm.f2, …\n\
                        - @capabilities/wiki (1 function): wiki.f0";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_list_of_modules_is_bounded() {
        let many: Vec<_> = (0..1_000).map(|number| module(&format!("m{number}"), 2)).collect();
        let text = modules(&many);
        assert!(text.len() < MAX_LINES + 200, "{}", text.len());
        assert!(text.ends_with(&format!("\n- {} more modules with 1880 functions: search for them", 940)), "{text}");
        let long: Vec<_> = (0..50).map(|_| module(&"x".repeat(180), 3)).collect();
        assert!(modules(&long).len() < MAX_LINES + 200);
    }

    #[test]
    fn instructions_of_servers_come_once_and_in_order() {
        let of = |server: &str, text: &str| ServerInstructions {
            server: server.into(),
            module: format!("@capabilities/mcp-{server}"),
            text: text.into(),
        };
        let servers = vec![of("wiki", "Cite."), of("crm", "Be kind."), of("crm", "Be kind."), of("git", " ")];
        let overview = Overview { servers, modules: vec![module("crm", 1)], ..Overview::default() };
        let all = instructions(None, &overview, true);
        let names: Vec<&str> = all.iter().map(|each| each.of.as_str()).collect();
        assert_eq!(names, [SERVER, "crm", "wiki"]);
        assert!(all[0].text.starts_with("Modules to import:\n- @capabilities/crm "), "{}", all[0].text);
        assert_eq!(instructions(None, &overview, false)[0].text, "");
    }

    #[test]
    fn an_inferred_result_type_is_in_the_description() {
        let tool = Tool::new("echo", "Says it again.", rmcp::model::JsonObject::new());
        let known = ToolOverview { capability: "odd".into(), observed: Some("{ said: string }".into()) };
        let text = description(&tool, Some(&known));
        assert!(text.starts_with("Says it again.\n") && text.ends_with("): { said: string }"), "{text}");
        assert_eq!(description(&tool, None), "Says it again.");
    }
}
