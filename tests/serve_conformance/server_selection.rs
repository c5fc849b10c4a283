//! Selection of our servers for each scenario.

/// Code mode and proxy mode, over HTTP and over stdio.
pub(crate) const CODE: &str = "code";
pub(crate) const PROXY: &str = "proxy";
pub(crate) const CODE_STDIO: &str = "code-stdio";
pub(crate) const PROXY_STDIO: &str = "proxy-stdio";

/// The servers that a scenario is run against.
pub(crate) fn servers(scenario: &str) -> &'static [&'static str] {
    match scenario {
        // Behaviour of every server, over every transport.
        "server-initialize" | "ping" | "tools-list" | "completion-complete" | "prompts-list" => {
            &[CODE, PROXY, CODE_STDIO, PROXY_STDIO]
        }
        // Behaviour specific to HTTP.
        "dns-rebinding-protection"
        | "http-header-validation"
        | "server-session-lifecycle"
        | "server-sse-multiple-streams"
        | "server-stateless" => &[CODE, PROXY],
        // The resources are those of code mode.
        "caching" | "resources-list" | "sep-2164-resource-not-found" => &[CODE, CODE_STDIO],
        // The same about tools that another server has.
        "http-custom-header-server-validation" | "server-sse-polling" => &[PROXY],
        // Tools that another server has.
        "json-schema-2020-12" => &[PROXY, PROXY_STDIO],
        // Requests of these tools to the client are not forwarded: one target is enough.
        "tools-call-elicitation" | "tools-call-sampling" | "tools-call-with-logging" => &[PROXY],
        _ if scenario.starts_with("elicitation-") || scenario.starts_with("input-required-result-") => &[PROXY],
        _ if scenario.starts_with("tools-call-") => &[PROXY, PROXY_STDIO],
        _ => &[CODE],
    }
}
