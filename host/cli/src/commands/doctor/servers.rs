//! Checks of MCP servers, from their settings to their tools.

use super::super::network_variables::{Withheld, is_about_certificates};
use super::super::session::{Session, tools};
use super::super::spinner;
use super::check::Check;
use super::configuration::trust;
use agent_spaces::mcp::{ConfiguredServer, locked};
use agent_spaces::project::Project;
use agent_spaces::trust::Status;
use agent_spaces_mcp::lock::compare;
use agent_spaces_mcp::process::Child;
use agent_spaces_mcp::{CallError, ConnectError, Endpoint, Listing};
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of servers that are started concurrently.
const MAX_CONCURRENT: usize = 4;

/// Timeout of closing a server.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Extent of the check of a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    /// Servers are not started.
    Skip,
    /// Each is started, with its configured timeouts.
    ConfiguredTimeout,
    /// Each is started, with this timeout.
    Timeout(Duration),
}

/// Checks each server, those of toolboxes included. `argument` is the ` --config` of suggested commands.
pub(super) fn checks(project: &Project, session: &Session, probe: Probe, argument: &str) -> Vec<Check> {
    let of_toolboxes = project.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
    let servers: Vec<&Arc<ConfiguredServer>> = project.servers().values().chain(of_toolboxes).collect();
    let bar = (probe != Probe::Skip).then(|| spinner::spin("Asking the MCP servers for their tools"));
    let checks = servers.into_iter().map(|server| {
        let server_check = ServerCheck { project, session, server, argument };
        async move { server_check.run(probe).await }
    });
    let checks = session.wait(stream::iter(checks).buffered(MAX_CONCURRENT).collect::<Vec<Check>>());
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    checks
}

/// Check of one server.
struct ServerCheck<'a> {
    project: &'a Project,
    session: &'a Session,
    server: &'a Arc<ConfiguredServer>,
    argument: &'a str,
}

impl ServerCheck<'_> {
    async fn run(&self, probe: Probe) -> Check {
        let server = self.server;
        if !server.config.enabled {
            return Check::note(self.subject(), format!("disabled at {}", server.switch()));
        }
        if server.config.unsupported.is_none() && server.acceptance.status != Status::Accepted {
            let file = server.acceptance.file.display();
            let check = Check::warning(self.subject(), format!("not started until {file} is accepted"));
            return check.fix(trust(&server.acceptance.file));
        }
        if let Some(obstacle) = server.obstacle() {
            return Check::warning(self.subject(), obstacle);
        }
        // Missing variables and programs are found without starting anything.
        let settings = match self.session.clients().settings(server, None) {
            Ok(settings) => settings,
            Err(error) => return Check::broken(self.subject(), error.to_string(), 2),
        };
        if let Endpoint::Stdio(endpoint) = &settings.endpoint
            && let Err(error) = Child::check(endpoint)
        {
            return Check::broken(self.subject(), error.to_string(), 5);
        }
        match probe {
            Probe::Skip => self.offline(),
            Probe::ConfiguredTimeout => self.ask(settings.connect_timeout + settings.timeout).await,
            Probe::Timeout(deadline) => self.ask(deadline).await,
        }
    }

    fn subject(&self) -> String {
        format!("server {}", self.server.name)
    }

    fn offline(&self) -> Check {
        match self.project.lock().servers.get(&self.server.name) {
            Some(accepted) => {
                Check::fine(self.subject(), format!("{} accepted; not started", tools(accepted.tools.len())))
            }
            None => Check::note(self.subject(), "not started; its tools are not known yet"),
        }
    }

    async fn ask(&self, deadline: Duration) -> Check {
        let begun = Instant::now();
        let server = self.session.clients().stranger(self.server);
        let listing = tokio::time::timeout(deadline, server.list()).await;
        // A server that does not exit is killed when this command ends.
        let _slow = tokio::time::timeout(CLOSE_TIMEOUT, server.close()).await;
        match listing {
            Ok(Ok(listing)) => self.compare(&listing, begun.elapsed()),
            Ok(Err(error)) => self.failed(&error),
            Err(_) => {
                let time = humantime::format_duration(deadline);
                let check = Check::broken(self.subject(), format!("timed out after {time} while listing its tools"), 5);
                check.fix(format!(
                    "try `agent-spaces mcp tools {} --trace-mcp{}`; a first start may download its package: run this \
                     again, or raise --deadline",
                    self.server.name, self.argument
                ))
            }
        }
    }

    fn failed(&self, error: &CallError) -> Check {
        let (name, argument) = (&self.server.name, self.argument);
        let text = match error {
            CallError::Unavailable(error) => error.to_string(),
            error => error.to_string(),
        };
        let certificates = is_about_certificates(&text)
            .then(|| Withheld::of(std::iter::once((name.as_str(), &self.server.config)))?.certificate_fix())
            .flatten();
        let check = Check::broken(self.subject(), text, 5);
        if let Some(fix) = certificates {
            return check.fix(fix);
        }
        match error {
            CallError::Unavailable(ConnectError::Timeout { .. }) => check.fix(format!(
                "a first start may download its package: run this again, or raise `connectTimeout` in its settings; \
                 see the messages: `agent-spaces mcp tools {name} --trace-mcp{argument}`"
            )),
            CallError::Unavailable(ConnectError::Unauthorized { .. }) => {
                check.fix(format!("agent-spaces mcp login {name}{argument}"))
            }
            // The message says what to do.
            CallError::Unavailable(ConnectError::Start(_) | ConnectError::Refused(_)) => check,
            _ => check.fix(format!("see the messages: `agent-spaces mcp tools {name} --trace-mcp{argument}`")),
        }
    }

    fn compare(&self, listing: &Listing, time: Duration) -> Check {
        let (name, argument) = (&self.server.name, self.argument);
        let answer = format!("{} in {} ms", tools(listing.tools.len()), time.as_millis());
        let Some(accepted) = self.project.lock().servers.get(name) else {
            let is_recorded = self.server.config.tools.is_some();
            let check =
                Check::fine(self.subject(), format!("{answer}; its tools are recorded in a file of the project"));
            return if is_recorded {
                check
            } else {
                Check::note(self.subject(), format!("{answer}; will be accepted on first use"))
            };
        };
        let now = match locked(self.server, listing, &self.session.context().redactor) {
            Ok(now) => now,
            Err(error) => return Check::broken(self.subject(), error.to_string(), 5),
        };
        let changes = compare(accepted, &now);
        match changes.as_slice() {
            [] => Check::fine(self.subject(), format!("{answer}, as accepted")),
            [first, rest @ ..] => {
                let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
                let message = format!("{answer}, changed since accepted: {first}{more}");
                Check::warning(self.subject(), message).fix(format!(
                    "review `agent-spaces audit --diff{argument}`, then run `agent-spaces mcp accept {name}{argument}`"
                ))
            }
        }
    }
}
