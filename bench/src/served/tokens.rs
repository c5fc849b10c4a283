//! Token counts: before the first call, and of a task by single tool calls and in code.
//!
//! Tokens are those of `o200k_base`.

use super::agent::{Agent, Home};
use super::many_servers::config;
use super::replay::configured;
use crate::bench::Bench;
use crate::spaces;
use agent_spaces::project::{Outlines, SpaceModules, definitions_at};
use agent_spaces::{Caller, Space};
use anyhow::{Context, Result, ensure};
use bpe_openai::Tokenizer;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder of the task.
pub(super) const TASK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/three-servers");
const SERVERS: [&str; 3] = ["tickets", "chat", "sheets"];

pub(super) async fn measure(bench: &mut Bench, command: &Path, lists: &[PathBuf]) -> Result<()> {
    let tokens = bpe_openai::o200k_base();
    catalogue(bench, command, tokens, lists)?;
    task(bench, command, tokens).await
}

/// A whole catalogue, as tool lists and behind three tools.
fn catalogue(bench: &mut Bench, command: &Path, tokens: &Tokenizer, lists: &[PathBuf]) -> Result<()> {
    let (mut listed, mut functions) = (0, 0);
    let mut servers = serde_json::Map::new();
    for (at, path) in lists.iter().enumerate() {
        let list: Value = serde_json::from_slice(&std::fs::read(path)?)?;
        functions += list["tools"].as_array().map_or(0, Vec::len);
        listed += count(tokens, &read_of(&list).to_string());
        servers.extend([configured(at, path)?]);
    }
    let home = Home::with(command, &config(servers))?;
    // The first start discovers all tools; its instructions have no example yet.
    let mut first = home.agent()?;
    while first.search("send a message to a channel")?.contains("still listing the tools of") {}
    drop(first);
    let mut agent = home.agent()?;
    agent.search("send a message to a channel")?;
    let found = agent.started.elapsed();
    let taught = taught(&mut agent, tokens)?;
    let servers = lists.len();
    bench
        .report
        .add(&format!("read before the first call: {servers} servers, {functions} functions"), taught as f64, "tokens")
        .against("their tool lists", listed as f64);
    bench.report.add(
        &format!("first search of {functions} functions, from the start"),
        found.as_secs_f64() * 1e3,
        "ms",
    );
    Ok(())
}

/// A task over three servers: tokens read and written by the agent.
async fn task(bench: &mut Bench, command: &Path, tokens: &Tokenizer) -> Result<()> {
    let definitions = definitions_at(Path::new(TASK), &Outlines::none())?;
    let space = SpaceModules::all(&definitions).assemble(&spaces::engine()?)?;
    let by_tools = tool_by_tool(&space, tokens).await?;
    let given: Vec<String> = SERVERS.iter().map(|server| format!("{TASK}/{server}.json")).collect();
    let home = Home::with(command, &json!({ "capabilities": { "global": given } }))?;
    let mut agent = home.agent()?;
    let mut by_code = taught(&mut agent, tokens)?;
    let program = std::fs::read_to_string(format!("{TASK}/program.ts"))?;
    let steps = [
        ("search_capabilities", json!({ "query": "open tickets of a project, people, message, row of a sheet" })),
        (
            "describe_capabilities",
            json!({ "names": ["tickets.listTickets", "chat.listUsers", "chat.postMessage", "sheets.appendRow"] }),
        ),
        ("run_code", json!({ "code": program })),
    ];
    let turns = steps.len();
    for (tool, arguments) in steps {
        let result = agent.call(tool, &arguments)?;
        by_code += count(tokens, &arguments.to_string()) + count(tokens, &result);
    }
    bench
        .report
        .add("task over three servers, in code", by_code as f64, "tokens")
        .against("tool by tool", by_tools.tokens as f64);
    bench
        .report
        .add("turns of that task, in code", turns as f64, "turns")
        .against("tool by tool", by_tools.turns as f64);
    Ok(())
}

/// The same task with each call and each answer in the agent's context.
async fn tool_by_tool<'a>(space: &'a Space, counter: &'a Tokenizer) -> Result<Transcript<'a>> {
    let mut tokens = 0;
    for server in SERVERS {
        let list: Value = serde_json::from_slice(&std::fs::read(format!("{TASK}/{server}.json"))?)?;
        tokens += count(counter, &read_of(&list).to_string());
    }
    let mut transcript = Transcript { space, counter, tokens, turns: 0 };
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
    Ok(transcript)
}

struct Transcript<'a> {
    space: &'a Space,
    counter: &'a Tokenizer,
    tokens: usize,
    turns: usize,
}

impl Transcript<'_> {
    async fn call(&mut self, capability: &str, function: &str, arguments: Value) -> Result<Value> {
        self.turns += 1;
        self.tokens += count(self.counter, &arguments.to_string());
        let answer = self.space.call_value(capability, function, arguments, Caller::default()).await?;
        self.tokens += count(self.counter, &answer.to_string());
        Ok(answer)
    }
}

/// Tokens before the first call: instructions, and the tools as a model gets them.
fn taught(agent: &mut Agent, tokens: &Tokenizer) -> Result<usize> {
    let listed = agent.ask("tools/list", &json!({}))?;
    Ok(count(tokens, &agent.instructions) + count(tokens, &read_of(&listed).to_string()))
}

/// The part of a tool list that a model gets.
fn read_of(list: &Value) -> Value {
    let tools = list["tools"].as_array().into_iter().flatten();
    let read = |tool: &Value| json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] });
    tools.map(read).collect()
}

fn count(tokens: &Tokenizer, text: &str) -> usize {
    tokens.count(text)
}
