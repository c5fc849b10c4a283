//! Error codes: one table, with the meaning, the audience and the exit status of each.
//!
//! Errors carry their code as text, because a provider may have codes of its own; the host's own codes are these, and
//! nothing in the host branches on the text of a message. `docs/reference-codes.md` is written from this table.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Audience of an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A script, as a `CapabilityError` that it can catch.
    Script,
    /// The report of a run.
    Report,
    /// The person at the command line.
    Command,
    /// The program that embeds the library.
    Embedder,
    /// A client of the MCP server.
    McpClient,
}

impl Audience {
    /// Returns the audience as the documentation names it.
    pub fn name(self) -> &'static str {
        match self {
            Audience::Script => "script",
            Audience::Report => "run report",
            Audience::Command => "command",
            Audience::Embedder => "embedder",
            Audience::McpClient => "MCP client",
        }
    }
}

macro_rules! codes {
    ($($variant:ident = $text:literal, $exit:expr, [$($audience:ident),+], $meaning:literal;)+) => {
        /// An error code of the host.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $text, "`: ", $meaning, ".")] $variant,)+
        }

        impl Code {
            /// Every code, sorted by its text.
            pub const ALL: &[Code] = &[$(Code::$variant),+];

            /// Returns the code as errors carry it: `call.denied`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $text,)+
                }
            }

            /// Returns the code with this text.
            pub fn parse(text: &str) -> Option<Code> {
                match text {
                    $($text => Some(Code::$variant),)+
                    _ => None,
                }
            }

            /// Returns its meaning, in one line.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Code::$variant => $meaning,)+
                }
            }

            /// Returns its audience.
            pub const fn audience(self) -> &'static [Audience] {
                match self {
                    $(Code::$variant => &[$(Audience::$audience),+],)+
                }
            }

            /// Returns the exit status of a command that ends with it.
            pub const fn exit_status(self) -> u8 {
                match self {
                    $(Code::$variant => $exit,)+
                }
            }
        }
    };
}

codes! {
    CallApprovalDenied = "call.approval_denied", 4, [Script, Report],
        "a person denied the call, or no approver is available (`details.reason` is `no_approver`)";
    CallApprovalExpired = "call.approval_expired", 4, [Script, Report],
        "the approval request expired without a decision";
    CallApprovalPending = "call.approval_pending", 1, [McpClient],
        "a tool call in toolbox or proxy mode still waits for approval; call again with the same arguments";
    CallAuditUnavailable = "call.audit_unavailable", 5, [Script, Report],
        "the audit log is required and cannot be written; `retryable`";
    CallDenied = "call.denied", 4, [Script, Report],
        "no such function, or the caller may not call it; grant revoked; argument not allowed; maximum number of calls reached; MCP tool or server not accepted";
    CallFailed = "call.failed", 5, [Script, Report],
        "the provider failed, or its result does not match its type";
    CallInDoubt = "call.in_doubt", 5, [Script, Report],
        "the host of a durable run died after it sent the call and before it was answered; it may have taken effect";
    CallInvalid = "call.invalid", 1, [Script, Report],
        "the arguments do not match the declaration; `details.issues` lists the paths";
    CallProtocol = "call.protocol", 5, [Script, Report],
        "the provider's answer is malformed, or the server refused the request";
    CallRateLimited = "call.rate_limited", 4, [Script, Report],
        "rate limit exceeded, of the policy or of the server; `details.retryAfter` in seconds where known; `retryable`";
    CallTimeout = "call.timeout", 5, [Script, Report],
        "the call took too long; it may have taken effect";
    CallUnavailable = "call.unavailable", 5, [Script, Report],
        "no provider, or its server or program cannot be reached or started; runs nested too deep";
    ConfigApprover = "config.approver", 2, [Command],
        "the approver token is missing or not set up";
    ConfigDefinition = "config.definition", 2, [Command],
        "a definition cannot be parsed or compiled";
    ConfigDuplicate = "config.duplicate", 2, [Command],
        "two modules or capabilities have the same name";
    ConfigExpose = "config.expose", 2, [Command],
        "`--expose` or `serve.expose` missing, or used outside of proxy mode";
    ConfigFile = "config.file", 2, [Command],
        "a configuration, lock, script or other input file is invalid or cannot be read";
    ConfigHandlers = "config.handlers", 2, [Command],
        "a function has no handler, a handler has no function, or handlers cannot be prepared";
    ConfigLimits = "config.limits", 2, [Command, Embedder],
        "a limit is beyond what the host supports";
    ConfigOff = "config.off", 2, [Command],
        "`mcp.server.enabled` or `mcp.enabled` is `false`";
    ConfigOutput = "config.output", 2, [Command],
        "the output file cannot be written";
    ConfigPolicy = "config.policy", 2, [Command, Embedder],
        "a policy rule is ambiguous";
    ConfigSearchModel = "config.search-model", 2, [Command],
        "the folder of `codeMode.searchModel` is not a supported model";
    ConfigToken = "config.token", 2, [Command],
        "a token of the HTTP server is missing, too short or not private";
    ConfigUnknown = "config.unknown", 2, [Command],
        "a name in the configuration or on the command line does not exist, or variables are used in a file that is not accepted";
    ConfigUsage = "config.usage", 2, [Command],
        "invalid combination of options or arguments";
    ConfigVariable = "config.variable", 2, [Command],
        "an environment variable with a caller's token is not set";
    ConfigWit = "config.wit", 2, [Command, Embedder],
        "WIT of an interface is invalid";
    ConfigWorkspace = "config.workspace", 2, [Command],
        "the folder cannot be a workspace";
    HostAudit = "host.audit", 5, [Command],
        "the audit log is required and cannot be opened";
    HostConfine = "host.confine", 5, [Command],
        "confinement was requested and cannot be enforced";
    HostEngine = "host.engine", 5, [Report, Command],
        "internal failure of the sandbox or of wasmtime";
    HostEngineFault = "host.engine_fault", 5, [Report],
        "memory fault or impossible state in the JavaScript engine; always reported to the operator";
    HostFile = "host.file", 5, [Command],
        "`init` cannot read or write a file";
    HostFolder = "host.folder", 5, [Command],
        "the current folder cannot be determined";
    HostJournal = "host.journal", 5, [Report, Command],
        "the journal of durable runs cannot be opened, read or written";
    HostMcp = "host.mcp", 5, [Command],
        "an MCP server cannot be started or reached, or its tools cannot be recorded";
    HostMemory = "host.memory", 5, [Report],
        "the process's memory budget is exhausted";
    HostOutput = "host.output", 5, [Command],
        "stdout cannot be written";
    HostProgram = "host.program", 5, [Command],
        "`init` cannot determine the path of this program";
    HostRuntime = "host.runtime", 5, [Command],
        "the async runtime failed";
    HostServe = "host.serve", 5, [Command],
        "the HTTP address cannot be bound, or no server answers there";
    HostState = "host.state", 5, [Command],
        "there is no home or state folder, or the audit log cannot be checked";
    HostTokens = "host.tokens", 5, [Command],
        "the stored logins cannot be changed";
    HostTrust = "host.trust", 5, [Command],
        "the list of accepted files cannot be read or written";
    HostUnauthorized = "host.unauthorized", 5, [Command],
        "the MCP server requires a login, or the login failed";
    ImportDenied = "import.denied", 4, [Script, Report],
        "the module exists and is not granted, its server is disabled, or it is not imported by a literal name";
    ImportUnknown = "import.unknown", 1, [Report],
        "no such module, file or export; the hint names the nearest";
    LimitBytes = "limit.bytes", 3, [Report],
        "arguments or result of one call too large";
    LimitCalls = "limit.calls", 3, [Report],
        "too many calls";
    LimitConsole = "limit.console", 3, [Report],
        "too much console output";
    LimitFailures = "limit.failures", 3, [Report],
        "too many consecutive failed calls";
    LimitFuel = "limit.fuel", 3, [Report],
        "too much work; most often an infinite loop";
    LimitInFlight = "limit.inflight", 3, [Report],
        "too many concurrent calls or component handles";
    LimitMemory = "limit.memory", 3, [Report],
        "too much memory, in the sandbox or on the host for the run's values";
    LimitResult = "limit.result", 3, [Report],
        "the value is too large";
    LimitSource = "limit.source", 3, [Report],
        "the script and its imported files are too large";
    LimitStack = "limit.stack", 3, [Report],
        "stack overflow; most often infinite recursion";
    LimitTime = "limit.time", 3, [Report],
        "too much time, waiting included";
    RunBusy = "run.busy", 1, [McpClient],
        "code mode: too many programs of this caller, or of all, run already";
    RunCancelled = "run.cancelled", 1, [Report],
        "the run was cancelled; by a signal the exit status is 130 or 143";
    RunDiverged = "run.diverged", 1, [Report],
        "a replayed script did something else than its journal records; the run is kept as it was";
    RunParked = "run.parked", 6, [Report],
        "the durable run waits for an approval, an answer or a timer, and left memory";
    ScriptError = "script.error", 1, [Report],
        "the script threw an error that it did not catch";
    ScriptPending = "script.pending", 1, [Report],
        "the script waits for a promise that can never settle";
    ScriptResult = "script.result", 1, [Report],
        "the value cannot be represented as JSON";
    ScriptSyntax = "script.syntax", 1, [Report],
        "syntax error, unsupported syntax, or source too complex to parse";
    ScriptTypes = "script.types", 1, [McpClient],
        "code mode: the type check refused the program";
}

impl Code {
    /// Returns true if the code means that the host refused a call. A provider's error has such a code only if the host
    /// refused a call that the provider made.
    pub const fn is_refusal(self) -> bool {
        matches!(
            self,
            Code::CallApprovalDenied
                | Code::CallApprovalExpired
                | Code::CallApprovalPending
                | Code::CallAuditUnavailable
                | Code::CallDenied
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<Code> for String {
    fn from(code: Code) -> String {
        code.as_str().to_owned()
    }
}

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        let text = String::deserialize(deserializer)?;
        Code::parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is not a code")))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl PartialEq<str> for Code {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == text
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

impl PartialEq<Code> for str {
    fn eq(&self, code: &Code) -> bool {
        self == code.as_str()
    }
}

impl PartialEq<Code> for String {
    fn eq(&self, code: &Code) -> bool {
        self == code.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn codes_are_sorted_and_parse_back() {
        assert!(Code::ALL.is_sorted_by_key(|code| code.as_str()));
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            assert!(!code.audience().is_empty() && !code.meaning().is_empty(), "{code}");
        }
        assert_eq!(Code::parse("call.Denied"), None);
    }

    /// The exit status follows from the family of a code but for a few.
    #[test]
    fn families_have_their_exit_status() {
        for code in Code::ALL {
            let expected = match code.as_str().split_once('.') {
                Some(("limit", _)) => Some(3),
                Some(("config", _)) => Some(2),
                Some(("host", _)) => Some(5),
                _ => None,
            };
            assert!(expected.is_none_or(|status| status == code.exit_status()), "{code}");
        }
    }

    /// A rate limit denies a call for a while, a maximum number of calls for good: both are the policy's.
    #[test]
    fn denials_share_an_exit_status() {
        let approvals = [Code::CallApprovalDenied, Code::CallApprovalExpired];
        for code in [Code::CallDenied, Code::CallRateLimited, Code::ImportDenied].iter().chain(&approvals) {
            assert_eq!(code.exit_status(), 4, "{code}");
        }
    }
}
