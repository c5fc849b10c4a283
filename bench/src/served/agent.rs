//! MCP client of the command over stdio.

use crate::home;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Instant;
use tempfile::TempDir;

/// Home folder with a configuration, which needs no trust there.
pub(super) struct Home {
    folder: TempDir,
    command: PathBuf,
}

impl Home {
    pub(super) fn with(command: &Path, config: &Value) -> Result<Home> {
        let folder = tempfile::tempdir()?;
        let own = folder.path().join("config/agent-spaces");
        std::fs::create_dir_all(&own)?;
        std::fs::write(own.join("agent-spaces.config.json"), config.to_string())?;
        let home = Home { folder, command: command.to_owned() };
        // The engine is compiled once per machine, which is not measured here.
        home::first_run(command, home.folder.path())?;
        Ok(home)
    }

    /// Starts and initializes the server.
    pub(super) fn agent(&self) -> Result<Agent> {
        let started = Instant::now();
        let mut server = home::within(&self.command, self.folder.path())
            .args(["mcp", "serve"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = server.stdin.take().context("no input")?;
        let output = BufReader::new(server.stdout.take().context("no output")?).lines();
        let mut agent = Agent { server, input: Some(input), output, next: 0, instructions: String::new(), started };
        let client = json!({ "name": "bench", "version": "1" });
        let greeting = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let greeted = agent.ask("initialize", &greeting)?;
        agent.instructions = greeted["instructions"].as_str().context("instructions")?.to_owned();
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(agent)
    }
}

/// Initialized server, stopped on drop.
pub(super) struct Agent {
    server: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    next: u64,
    pub(super) instructions: String,
    /// Start time of its process.
    pub(super) started: Instant,
}

impl Agent {
    /// Calls a tool and returns its text.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let result = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        ensure!(result["isError"] != true, "{result}");
        Ok(result["content"][0]["text"].as_str().context("text")?.to_owned())
    }

    pub(super) fn search(&mut self, query: &str) -> Result<String> {
        self.call("search_capabilities", &json!({ "query": query }))
    }

    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }))?;
        loop {
            let line = self.output.next().context("the server went away")??;
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.next {
                ensure!(answer.get("error").is_none(), "{answer}");
                return Ok(answer["result"].take());
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        Ok(writeln!(self.input.as_mut().context("closed")?, "{message}")?)
    }
}

impl Drop for Agent {
    /// Closing its input stops the server and the servers behind it.
    fn drop(&mut self) {
        self.input = None;
        let _ = self.server.wait();
    }
}
