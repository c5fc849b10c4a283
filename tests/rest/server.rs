//! Server in a temporary project.

use crate::approvals::support::Home;
use crate::mcp::support::{eventually, signal};
use crate::rest::client::Api;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Token of the operator.
pub(crate) const OPERATOR: &str = "the-token-of-the-operator";

/// Callers that may have a token.
const MAX_CALLERS: usize = 200;

/// Script whose call waits for approval. Its value is that of the call, or the error's code.
pub(crate) const REMOVES: &str = "import { files } from '@capabilities/files';
let said; try { said = await files.remove({ path: 'a' }); } catch (error) { said = error.code; }
export default said;";

/// Script that waits for five minutes.
pub(crate) const SLEEPS: &str = "await new Promise((done) => setTimeout(done, 300_000)); export default 'slept';";

/// Running server, stopped on drop.
pub(crate) struct RestServer {
    pub(crate) home: Home,
    child: Child,
    /// Held open for as long as the server writes to it.
    _stdout: BufReader<ChildStdout>,
    port: u16,
}

impl RestServer {
    /// Starts a server in a project with this configuration.
    pub(crate) fn configured(config: &Value) -> RestServer {
        RestServer::start(&home(config), &[])
    }

    /// The same with [`config`].
    pub(crate) fn new() -> RestServer {
        RestServer::configured(&config())
    }

    /// Starts a server with these options.
    pub(crate) fn start(home: &Home, options: &[&str]) -> RestServer {
        RestServer::start_with(home, options, &[])
    }

    /// The same with these variables.
    pub(crate) fn start_with(home: &Home, options: &[&str], variables: &[(&str, &str)]) -> RestServer {
        // Several servers may run in a project.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut command = home.command(&[&["serve", "--listen", "127.0.0.1:0", "--json"], options].concat());
        command.env("AGENT_SPACES_TOKEN", OPERATOR);
        command.envs((0..MAX_CALLERS).map(|number| (variable(number), token(number))));
        command.envs(variables.iter().copied());
        let errors = home.path(&format!("serve-{}.stderr", NEXT.fetch_add(1, Ordering::SeqCst)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("it does not start: {}", std::fs::read_to_string(&errors).unwrap()));
        let port = said["url"].as_str().and_then(|url| url.strip_prefix("http://127.0.0.1:")).unwrap();
        RestServer { home: home.clone(), child, _stdout: stdout, port: port.parse().unwrap() }
    }

    /// The operator.
    pub(crate) fn operator(&self) -> Api {
        self.with_token(OPERATOR)
    }

    /// A caller of [`callers`].
    pub(crate) fn caller(&self, number: usize) -> Api {
        self.with_token(&token(number))
    }

    /// Whoever has this token.
    pub(crate) fn with_token(&self, token: &str) -> Api {
        Api { port: self.port, token: token.to_owned() }
    }

    /// Kills the server, as a crash would, and starts it again.
    pub(crate) fn killed_and_started(self) -> RestServer {
        let home = self.home.clone();
        self.kill();
        RestServer::start(&home, &[])
    }

    /// Kills the server, as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        signal(self.child.id(), "TERM");
    }

    /// Sends SIGTERM and returns the time until the server ended, which must be with status 0.
    pub(crate) fn terminated(mut self) -> Duration {
        let begun = Instant::now();
        self.terminate();
        let mut status = None;
        eventually(Duration::from_secs(30), || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.expect("it goes on").code(), Some(0));
        begun.elapsed()
    }

    /// Workspace folders of spaces that were made at run time.
    pub(crate) fn workspaces(&self) -> Vec<PathBuf> {
        let folder = self.home.path("data/agent-spaces-workspaces");
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for RestServer {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            signal(self.child.id(), "TERM");
            if !eventually(Duration::from_secs(10), || self.child.try_wait().unwrap().is_some()) {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
    }
}

/// Name of the environment variable with the token of a caller.
fn variable(number: usize) -> String {
    format!("TOKEN_OF_CALLER_{number}")
}

fn token(number: usize) -> String {
    format!("the-token-of-caller-{number:04}")
}

/// Configuration of callers: number 0 may approve, all others may not.
pub(crate) fn callers(count: usize) -> Value {
    let caller = |number: usize| json!({ "token": { "env": variable(number) }, "mayApprove": number == 0 });
    (0..count).map(|number| (format!("caller-{number}"), caller(number))).collect::<serde_json::Map<_, _>>().into()
}

/// Configuration with two capabilities, a space that has one more limit, and three callers.
pub(crate) fn config() -> Value {
    let mut callers = callers(3);
    callers["caller-2"]["spaces"] = json!(["support"]);
    json!({
        "capabilities": { "global": ["./tools/files.json", "./tools/mail.json"] },
        "spaces": { "support": { "limits": { "calls": 50 } }, "reports": {} },
        // So that an infinite loop outlives its test, whatever the machine does meanwhile.
        "limits": { "fuel": 1_000_000_000_000_u64, "time": "5m" },
        // Runs that wait leave memory soon, and a killed server's runs are soon continued by the next one.
        "durable": { "parkAfter": "300ms", "lease": "1s" },
        "serve": { "callers": callers },
    })
}

/// Project with this configuration, and with the capabilities of [`config`].
pub(crate) fn home(config: &Value) -> Home {
    let home = Home::new();
    let path = json!({ "path": "string" });
    let files = json!([
        { "name": "remove", "returns": "string", "parameters": path, "requiresApproval": true },
        { "name": "look", "returns": "string", "parameters": path },
    ]);
    home.write("tools/files.json", &json!({ "name": "files", "functions": files }).to_string());
    home.write(
        "tools/files.ts",
        "export const remove = ({ path }) => `removed ${path}`; export const look = ({ path }) => `saw ${path}`;",
    );
    let mail = json!([{ "name": "send", "returns": "string", "parameters": { "to": "string" } }]);
    home.write("tools/mail.json", &json!({ "name": "mail", "functions": mail }).to_string());
    home.write("tools/mail.ts", "export const send = ({ to }) => `sent to ${to}`;");
    home.configure(config);
    home
}
