//! Selection of our servers for each scenario.

/// Code mode and proxy mode, over HTTP and over stdio.
pub(crate) const CODE: &str = "code";
pub(crate) const PROXY: &str = "proxy";
pub(crate) const CODE_STDIO: &str = "code-stdio";
pub(crate) const PROXY_STDIO: &str = "proxy-stdio";

/// The servers that a scenario is run against.
pub(crate) fn servers(scenario: &str) -> &'static [&'static str] {
    match scenario {
        // What every server does, however it is reached.
        "server-initialize" | "ping" | "tools-list" | "completion-complete" | "prompts-list" => {
            &[CODE, PROXY, CODE_STDIO, PROXY_STDIO]
        }
        // What every server does over HTTP, about which stdio has nothing to say.
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
        // What these tools ask of a client is not passed on: once is enough to see it.
        "tools-call-elicitation" | "tools-call-sampling" | "tools-call-with-logging" => &[PROXY],
        _ if scenario.starts_with("elicitation-") || scenario.starts_with("input-required-result-") => &[PROXY],
        _ if scenario.starts_with("tools-call-") => &[PROXY, PROXY_STDIO],
        _ => &[CODE],
    }
}
