//! What an agent reads: tokens before its first call, and tokens of a task, tool by tool and in code.
//!
//! Tokens are those of `o200k_base`. `AGENT_SPACES_CORPUS` is a folder with `servers/*.json`, answers to `tools/list`;
//! without it those rows are left out.

use crate::report::Report;
use crate::spaces;
use agent_spaces::config::TypeCheck;
use agent_spaces::project::{DefinitionFile, Outlines, SpaceModules, definitions_at};
use agent_spaces::serve::check::TypeChecker;
use agent_spaces::serve::{Client, CodeMode, ElicitedDecisions, Mode, Offer, Offers, serve_streams};
use agent_spaces::{Caller, Engine, EngineConfig, Limits, Space};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tiktoken_rs::CoreBPE;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

const TASK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/three-servers");
const SERVERS: [&str; 3] = ["tickets", "chat", "sheets"];

pub(crate) async fn measure(report: &mut Report) -> Result<()> {
    let tokens = tiktoken_rs::o200k_base()?;
    let engine = spaces::engine(EngineConfig::default())?;
    task(report, &engine, &tokens).await?;
    match std::env::var_os("AGENT_SPACES_CORPUS").map(PathBuf::from) {
        Some(corpus) => catalogue(report, &engine, &tokens, &corpus.join("servers")).await,
        None => {
            eprintln!("skipped: AGENT_SPACES_CORPUS names no folder of tool lists");
            Ok(())
        }
    }
}

/// Everything of a catalogue, listed tool by tool and behind three tools.
async fn catalogue(report: &mut Report, engine: &Engine, tokens: &CoreBPE, folder: &Path) -> Result<()> {
    let (mut listed, mut functions) = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let list: Value = serde_json::from_slice(&std::fs::read(entry?.path())?)?;
        functions += list["tools"].as_array().map_or(0, Vec::len);
        listed += count(tokens, &read_of(&list).to_string());
    }
    let definitions = definitions_at(folder, &Outlines::none())?;
    let servers = definitions.len();
    let begun = Instant::now();
    let mut agent = Agent::of(definitions, engine).await?;
    let ready = begun.elapsed();
    let taught = agent.taught(tokens).await?;
    report
        .add(&format!("read before the first call: {servers} servers, {functions} functions"), taught as f64, "tokens")
        .against("their tool lists", listed as f64);
    report.add(&format!("index of {functions} functions, from definitions on"), ready.as_secs_f64() * 1e3, "ms");
    Ok(())
}

/// A task over three servers: what an agent has read and written when it is done.
async fn task(report: &mut Report, engine: &Engine, tokens: &CoreBPE) -> Result<()> {
    let definitions = definitions_at(Path::new(TASK), &Outlines::none())?;
    let space = SpaceModules::all(&definitions).assemble(engine)?;
    let by_tools = tool_by_tool(&space, tokens).await?;
    let mut agent = Agent::of(definitions, engine).await?;
    let mut by_code = agent.taught(tokens).await?;
    let program = std::fs::read_to_string(format!("{TASK}/program.ts"))?;
    let steps = [
        ("search_capabilities", json!({ "query": "open tickets of a project, people, message, row of a sheet" })),
        (
            "describe_capabilities",
            json!({ "names": ["tickets.listTickets", "chat.listUsers", "chat.postMessage", "sheets.appendRow"] }),
        ),
        ("run_code", json!({ "code": program })),
    ];
    for (tool, arguments) in steps {
        let result = agent.call(tool, &arguments).await?;
        by_code += count(tokens, &arguments.to_string()) + count(tokens, &result);
    }
    report.add("task over three servers, in code", by_code as f64, "tokens").against("tool by tool", by_tools as f64);
    Ok(())
}

/// The same task with each call and each answer in the agent's context.
async fn tool_by_tool(space: &Space, tokens: &CoreBPE) -> Result<usize> {
    let mut all = 0;
    for server in SERVERS {
        let list: Value = serde_json::from_slice(&std::fs::read(format!("{TASK}/{server}.json"))?)?;
        all += count(tokens, &read_of(&list).to_string());
    }
    let mut transcript = Transcript { space, tokens, all };
    let open = transcript.call("tickets", "listTickets", json!({ "project": "OPS", "state": "open" })).await?;
    let users = transcript.call("chat", "listUsers", json!({})).await?;
    let name = |id: &Value| {
        let users = users["users"].as_array().into_iter().flatten();
        users.filter(|user| user["id"] == *id).map(|user| user["name"].clone()).next().unwrap_or_default()
    };
    let tickets = open["tickets"].as_array().context("tickets")?;
    let is_overdue = |ticket: &&Value| ticket["due"].as_str().is_some_and(|due| due < "2026-11-15");
    let overdue: Vec<&Value> = tickets.iter().filter(is_overdue).collect();
    ensure!(overdue.len() == 12, "the task is another one: {} overdue", overdue.len());
    for ticket in overdue {
        let [id, due, title] = ["id", "due", "title"].map(|key| ticket[key].as_str().unwrap_or_default());
        let text = format!("{id} was due on {due}: {title}");
        transcript.call("chat", "postMessage", json!({ "to": ticket["assignee"], "text": text })).await?;
        let cells = json!([id, name(&ticket["assignee"]), due]);
        transcript.call("sheets", "appendRow", json!({ "sheet": "overdue", "cells": cells })).await?;
    }
    Ok(transcript.all)
}

struct Transcript<'a> {
    space: &'a Space,
    tokens: &'a CoreBPE,
    all: usize,
}

impl Transcript<'_> {
    async fn call(&mut self, capability: &str, function: &str, arguments: Value) -> Result<Value> {
        self.all += count(self.tokens, &arguments.to_string());
        let answer = self.space.call_value(capability, function, arguments, Caller::default()).await?;
        self.all += count(self.tokens, &answer.to_string());
        Ok(answer)
    }
}

/// A client of code mode in this process.
struct Agent {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next: u64,
}

impl Agent {
    async fn of(definitions: Vec<DefinitionFile>, engine: &Engine) -> Result<Agent> {
        let space = SpaceModules::all(&definitions).assemble(engine)?;
        let offers = Offers::new(Outlines::none());
        offers.put(Offer {
            space,
            definitions,
            limits: Limits::default(),
            time_limit: None,
            notes: Vec::new(),
            checker: TypeChecker::new(TypeCheck::Off, None),
            has_files: false,
            has_network: false,
            is_growing: false,
        })?;
        let mode = Mode::Code(CodeMode::new(offers, ElicitedDecisions::default()));
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(serve_streams(mode, Client::of_process(Caller::default()), input, output));
        let (output, input) = tokio::io::split(ours);
        Ok(Agent { input, output: BufReader::new(output).lines(), next: 0 })
    }

    /// What it reads before it has done anything: instructions, and the tools as a model is given them.
    async fn taught(&mut self, tokens: &CoreBPE) -> Result<usize> {
        let client = json!({ "name": "bench", "version": "1" });
        let greeting = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let greeted = self.ask("initialize", greeting).await?;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.input.write_all(format!("{initialized}\n").as_bytes()).await?;
        let listed = self.ask("tools/list", json!({})).await?;
        let instructions = greeted["instructions"].as_str().context("instructions")?;
        Ok(count(tokens, instructions) + count(tokens, &read_of(&listed).to_string()))
    }

    /// The text that a tool answers.
    async fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        ensure!(result["isError"] != true, "{result}");
        Ok(result["content"][0]["text"].as_str().context("text")?.to_owned())
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.input.write_all(format!("{request}\n").as_bytes()).await?;
        loop {
            let line = self.output.next_line().await?.context("the server went away")?;
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.next {
                ensure!(answer.get("error").is_none(), "{answer}");
                return Ok(answer["result"].take());
            }
        }
    }
}

/// What a model is given of a tool list.
fn read_of(list: &Value) -> Value {
    let tools = list["tools"].as_array().into_iter().flatten();
    let read = |tool: &Value| json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] });
    tools.map(read).collect()
}

fn count(tokens: &CoreBPE, text: &str) -> usize {
    tokens.encode_ordinary(text).len()
}
