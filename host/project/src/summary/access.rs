//! Summary of the access that a configuration grants scripts and providers, for the user who accepts it.

use super::models::{opens_models, prompt_files};
use super::slack::opens_slack;
use super::startup::{MAX_LINE, note, variables};
use agent_spaces_config::{Audit, AuditSetting, Config, Durable, Origin, Provider, Raw};
use agent_spaces_policy::{DomainPattern, Policy, Settings};
use agent_spaces_types::command_line::{cut, word};

/// Most lines of the summary.
const MAX_LINES: usize = 200;

/// Lists the access that a configuration grants, one line each: folders, hosts, and settings of providers. Variables
/// and headers are named; their values are never shown. Servers are listed by [`waiting`](super::waiting).
pub fn opens(config: &Config) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(network(config.policy.clone()).map(|hosts| format!("scripts: {hosts}")));
    for (name, space) in &config.spaces {
        let folder = space.workspace.as_ref().map(|folder| format!("read and write files in {}", word(folder)));
        let opened: Vec<String> = folder.into_iter().chain(network(config.policy_of(name))).collect();
        if !opened.is_empty() {
            lines.push(format!("scripts of {}: {}", word(name), opened.join("; ")));
        }
    }
    for (module, provider) in &config.providers {
        let granted = granted(provider);
        if !granted.is_empty() {
            lines.push(format!("{}: {}", word(module), granted.join("; ")));
        }
    }
    if let Some(accounting) = &config.accounting {
        lines.push(format!("calls are written to {}", word(&accounting.file)));
    }
    if let Some(compiler) = &config.code_mode.typescript {
        lines.push(format!("type checking starts {}", word(compiler)));
    }
    if let Some(audit) = &config.audit {
        lines.extend(audit_log(audit));
    }
    lines.extend(journal(&config.durable).map(|kept| format!("durable runs: {kept}")));
    for (name, space) in &config.spaces {
        lines.extend(journal(&space.durable).map(|kept| format!("durable runs of {}: {kept}", word(name))));
    }
    lines.extend(config.store.as_ref().map(|_| "runs, approvals and documents are kept in another store".to_owned()));
    lines.extend(opens_models(&config.models));
    lines.extend(prompt_files(&config.agents));
    lines.extend(config.slack.as_ref().map(opens_slack));
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    lines.extend((more > 0).then(|| format!("… and {more} more lines")));
    lines.into_iter().map(|line| cut(line, MAX_LINE)).collect()
}

/// Changes to the audit log.
fn audit_log(audit: &Audit) -> Vec<String> {
    let mut lines = Vec::new();
    match audit.mode {
        Some(AuditSetting::Off) => lines.push("runs are not written to the audit log".to_owned()),
        Some(AuditSetting::BestEffort) => {
            lines.push("calls are made even while the audit log cannot be written".to_owned());
        }
        Some(AuditSetting::Required) | None => {}
    }
    lines.extend(audit.keep.map(|keep| format!("{keep} rotated files of the audit log are kept")));
    if let Some(heads) = &audit.heads {
        lines.extend(heads.file.as_ref().map(|file| format!("heads of the audit log are written to {}", word(file))));
        if !heads.command.is_empty() {
            let words = heads.command.iter().map(|part| word(part)).collect::<Vec<_>>().join(" ");
            lines.push(format!("heads of the audit log are piped to {words}, which is started for that"));
        }
    }
    lines
}

/// Retention of ended runs, which also applies to those of other projects.
fn journal(durable: &Durable) -> Option<String> {
    let age = durable.keep_for.map(|age| format!("are removed {} after their end", humantime::format_duration(age)));
    let size = durable.max_bytes.map(|bytes| format!("are removed when the journal nears {bytes} bytes"));
    let kept: Vec<String> = age.into_iter().chain(size).collect();
    (!kept.is_empty()).then(|| format!("those of all projects {}", kept.join(", and ")))
}

/// Hosts that a policy allows.
fn network(policy: Settings) -> Option<String> {
    let policy = Policy::new(policy);
    let network = policy.network();
    network.enabled.then(|| hosts("reach", &network.domains, &network.private)).flatten()
}

/// Allowed hosts, with those that may be in a private network.
fn hosts(verb: &str, hosts: &[DomainPattern], private: &[DomainPattern]) -> Option<String> {
    let names = |patterns: &[DomainPattern]| patterns.iter().map(|host| word(&host.to_string())).collect::<Vec<_>>();
    let inner = note("in private networks too:", names(private)).map(|inner| format!(" ({inner})"));
    note(verb, names(hosts)).map(|hosts| hosts + &inner.unwrap_or_default())
}

/// Settings granted to the provider of a module.
fn granted(provider: &Provider) -> Vec<String> {
    let values = || provider.env.values().map(Raw::expose);
    let read = variables(values());
    let set = provider.env.iter().filter(|(name, value)| value.expose() != format!("${{{name}}}"));
    let set = set.map(|(name, _)| word(name)).collect::<Vec<_>>();
    let origins = provider.origins.iter().map(|(origin, sent)| sends(origin, sent));
    let domains = provider.http.domains.as_deref().filter(|_| provider.http.enabled != Some(false));
    let private = provider.http.private.as_deref().unwrap_or_default();
    let reached = hosts("reaches", domains.unwrap_or_default(), private);
    note("reads", read).into_iter().chain(note("sets", set)).chain(reached).chain(origins).collect()
}

fn sends(origin: &str, sent: &Origin) -> String {
    let names = sent.headers.keys().chain(sent.query.keys()).map(|name| word(name)).collect::<Vec<_>>().join(", ");
    let used = variables(sent.headers.values().chain(sent.query.values()).map(Raw::expose));
    let used = note("reads", used).map(|used| format!(" ({used})")).unwrap_or_default();
    format!("sends {names} to {}{used}", word(origin))
}

#[cfg(test)]
mod tests {
    use super::opens;
    use agent_spaces_config::from_value;
    use serde_json::json;

    #[test]
    fn all_granted_access_is_listed_without_values() {
        let config = from_value(
            "f",
            json!({
                "policy": { "http": { "domains": ["api.example.com"] } },
                "spaces": {
                    "closed": { "capabilities": [] },
                    "work": {
                        "capabilities": [], "workspace": "./files",
                        "policy": { "http": { "domains": ["*.example.org", "10.0.0.7"], "private": ["10.0.0.7"] } },
                    },
                },
                "providers": { "@capabilities/crm": {
                    "env": { "CRM_KEY": "${CRM_KEY}", "MODE": "hunter2" },
                    "http": { "domains": ["crm.example"] },
                    "origins": { "https://crm.example": { "headers": { "Authorization": "Bearer ${TOKEN}" } } },
                } },
                "accounting": { "file": "calls.jsonl" },
                "codeMode": { "typescript": "./tsc" },
                "audit": false,
            }),
        )
        .unwrap();
        assert_eq!(
            opens(&config),
            [
                "scripts: reach api.example.com",
                "scripts of closed: reach api.example.com",
                "scripts of work: read and write files in ./files; \
                 reach *.example.org, 10.0.0.7 (in private networks too: 10.0.0.7)",
                "@capabilities/crm: reads CRM_KEY; sets MODE; reaches crm.example; \
                 sends Authorization to https://crm.example (reads TOKEN)",
                "calls are written to calls.jsonl",
                "type checking starts ./tsc",
                "runs are not written to the audit log",
            ]
        );
        assert_eq!(opens(&from_value("f", json!({ "spaces": { "a": {} } })).unwrap()), Vec::<String>::new());
    }

    #[test]
    fn retention_of_durable_runs_is_listed() {
        let opened = |value| opens(&from_value("f", value).unwrap());
        assert_eq!(opened(json!({ "durable": { "parkAfter": "5s" } })), Vec::<String>::new());
        assert_eq!(
            opened(json!({
                "durable": { "keepFor": "1h" }, "spaces": { "a": { "durable": { "maxBytes": "64MiB" } } }
            })),
            [
                "durable runs: those of all projects are removed 1h after their end",
                "durable runs of a: those of all projects are removed when the journal nears 67108864 bytes",
            ]
        );
    }

    #[test]
    fn changes_to_the_audit_log_are_listed() {
        let opened = |audit| opens(&from_value("f", json!({ "audit": audit })).unwrap());
        assert_eq!(opened(json!("required")), Vec::<String>::new());
        assert_eq!(opened(json!("bestEffort")), ["calls are made even while the audit log cannot be written"]);
        let heads = json!({ "file": "heads.jsonl", "command": ["curl", "-T", "-", "https://x"] });
        assert_eq!(
            opened(json!({ "rotate": { "keep": 3 }, "heads": heads })),
            [
                "3 rotated files of the audit log are kept",
                "heads of the audit log are written to heads.jsonl",
                "heads of the audit log are piped to curl -T - https://x, which is started for that",
            ]
        );
    }
}
