//! A project with agents, and the command in it with a home of its own.

use crate::agent::model_server::ModelServer;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// Key that must not appear in any output.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

pub(crate) struct Project {
    folder: TempDir,
}

/// A capability that can be a tool of its own: a hand-written interface cannot.
const BANK: &str = "import { defineTool } from '@agent-spaces/capabilities';
export const bank = defineTool({
  name: 'bank',
  description: 'Bank account of the shop',
  functions: {
    balance: {
      description: 'Money in the account',
      parameters: {},
      returns: {} as { amount: number },
      annotations: { readOnlyHint: true },
      handler: async () => ({ amount: 100 }),
    },
  },
});
";

impl Project {
    /// A project whose agent `helper` asks this server, accepted by its user.
    pub(crate) fn new(server: &ModelServer) -> Project {
        Project::with(server, json!({}))
    }

    /// The same, with other settings of the agent.
    pub(crate) fn with(server: &ModelServer, settings: Value) -> Project {
        let project = Project::unaccepted(server, settings);
        let trusted = project.run(&["trust", "agent-spaces.config.json"], "");
        assert!(trusted.status.success(), "{trusted:?}");
        project
    }

    pub(crate) fn unaccepted(server: &ModelServer, settings: Value) -> Project {
        let project = Project { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(project.folder.path().join("home")).unwrap();
        let mut agent = json!({ "models": ["local/m"], "prompt": "You help.", "tools": "code" });
        for (key, value) in settings.as_object().unwrap() {
            agent[key] = value.clone();
        }
        let capabilities = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/quickstart/capabilities");
        let local = json!({ "api": "openai-chat", "baseUrl": server.base_url(), "apiKey": "${MODEL_KEY}" });
        let config = json!({
            "capabilities": { "global": [capabilities, "./bank.ts"] },
            "models": { "local": local },
            "agents": { "helper": agent },
        });
        project.write("bank.ts", BANK);
        project.write("agent-spaces.config.json", &config.to_string());
        project
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> Output {
        let mut child = self.spawn(arguments);
        // A command that refuses its arguments reads nothing.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// State folder of the command.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("home/state/agent-spaces")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let home = self.folder.path().join("home");
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("MODEL_KEY", KEY)
            .env_remove("AGENT_SPACES_DATA");
        command
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
