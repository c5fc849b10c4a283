//! `agent-spaces serve` under load: runs through REST beside the library, runs that wait, followers of events.

use crate::bench::Bench;
use crate::{home, peers, spaces};
use agent_spaces::durable::{DurableRuns, RunInfo, Settings};
use agent_spaces::journal::SqliteStore;
use agent_spaces::{Program, RunOptions};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader as LineReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const TOKEN: &str = "token-of-the-benchmark";
/// Runs of one measurement, and clients that start them.
const RUNS: usize = 2_000;
const CLIENTS: usize = 8;
/// Runs that wait for approval, followers of events, and runs that are started meanwhile.
const WAITING: usize = 5_000;
const FOLLOWERS: usize = 500;
const MEANWHILE: usize = 300;

/// A function that asks a person.
const CAPABILITY: &str = include_str!("../../examples/company-crm/capabilities/company-crm.ts");
const WAITS: &str = "import { crm } from '@capabilities/company-crm';
    await crm.createTicket({ customerId: 'c', subject: 's', priority: 'low' })";

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let Some(command) = home::command()? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("capabilities"))?;
    std::fs::write(folder.path().join("capabilities/company-crm.ts"), CAPABILITY)?;
    let server = Server::start(&command, folder.path())?;
    let space = server.connect().await?.space().await?;
    let (library, times) = (library(bench).await?, server.runs(&space, bench.pace.rounds(RUNS)).await?);
    bench.report.add("runs a second through REST", times.per_second, "/s").more_is_better().against("library", library);
    match peers::restate(bench.pace.rounds(RUNS), CLIENTS).await {
        Ok(peer) => {
            let rate =
                bench.report.add("runs a second through REST, a durable call of Restate", times.per_second, "/s");
            drop(rate.more_is_better().against("Restate", peer.per_second));
            let run = bench.report.add("a run through REST, eight clients", times.at(0.5), "ms").p99(times.at(0.99));
            drop(run.against("Restate", peer.p50).peer_p99(peer.p99));
        }
        Err(error) => {
            bench.report.note(format!("skipped: Restate: {error:#}"));
            bench.report.add("a run through REST, eight clients", times.at(0.5), "ms").p99(times.at(0.99));
        }
    }
    let waiting = bench.pace.rounds(WAITING);
    server.wait(&space, waiting).await?;
    let followers = server.follow(&space, bench.pace.rounds(FOLLOWERS)).await?;
    let meanwhile = server.one_by_one(&space, bench.pace.rounds(MEANWHILE)).await?;
    let what = format!("starting a run beside {waiting} that wait and {} followers", followers.len());
    bench.report.add(&what, meanwhile.at(0.5), "ms").p99(meanwhile.at(0.99));
    bench.report.add("memory of the server then", server.resident_mib(), "MiB").at_most(1_024.0);
    Ok(())
}

/// Durable runs a second of the library, each on disk before the next of its task.
async fn library(bench: &mut Bench) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let store = SqliteStore::open(folder.path(), Default::default())?;
    let runs = DurableRuns::new(Arc::new(store), Settings::default());
    let program = spaces::empty(&bench.engine()?)?.prepare("bench.js", "1 + 1")?;
    let rounds = bench.pace.rounds(RUNS) / CLIENTS;
    let begun = Instant::now();
    let tasks: Vec<_> = (0..CLIENTS).map(|_| tokio::spawn(durable(runs.clone(), program.clone(), rounds))).collect();
    for task in tasks {
        task.await??;
    }
    Ok((rounds * CLIENTS) as f64 / begun.elapsed().as_secs_f64())
}

async fn durable(runs: DurableRuns, program: Program, rounds: usize) -> Result<()> {
    for _ in 0..rounds {
        runs.run(&program, RunOptions::default(), RunInfo::default()).await?.report.outcome?;
        runs.store().flush().await?;
    }
    Ok(())
}

/// Times of requests.
struct Latencies {
    /// Milliseconds, in order.
    sorted: Vec<f64>,
    per_second: f64,
}

impl Latencies {
    fn new(mut times: Vec<f64>, taken: Duration) -> Latencies {
        let per_second = times.len() as f64 / taken.as_secs_f64();
        times.sort_by(f64::total_cmp);
        Latencies { sorted: times, per_second }
    }

    /// Milliseconds that this part of the requests needed at most.
    fn at(&self, part: f64) -> f64 {
        let index = (self.sorted.len() as f64 * part) as usize;
        self.sorted.get(index.min(self.sorted.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// The server, which ends with this value.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(command: &Path, folder: &Path) -> Result<Server> {
        let mut serve = home::within(command, folder);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--json", "--concurrency", "1000"]);
        serve.env("AGENT_SPACES_TOKEN", TOKEN).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = serve.spawn()?;
        let mut line = String::new();
        LineReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let told: Value = serde_json::from_str(&line).context("the server did not start")?;
        let address =
            told["url"].as_str().and_then(|url| url.strip_prefix("http://")).context("no address")?.to_owned();
        Ok(Server { child, address })
    }

    async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), address: self.address.clone() })
    }

    /// Runs `1 + 1` so many times, with several clients.
    async fn runs(&self, space: &str, count: usize) -> Result<Latencies> {
        let (mut tasks, begun) = (Vec::new(), Instant::now());
        for _ in 0..CLIENTS {
            let (mut connection, space) = (self.connect().await?, space.to_owned());
            tasks.push(tokio::spawn(async move { connection.runs(&space, count / CLIENTS).await }));
        }
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await??);
        }
        Ok(Latencies::new(times, begun.elapsed()))
    }

    async fn one_by_one(&self, space: &str, count: usize) -> Result<Latencies> {
        let begun = Instant::now();
        let times = self.connect().await?.runs(space, count).await?;
        Ok(Latencies::new(times, begun.elapsed()))
    }

    /// Starts runs that wait for approval.
    async fn wait(&self, space: &str, count: usize) -> Result<()> {
        let mut tasks = Vec::new();
        for _ in 0..CLIENTS {
            let (mut connection, space) = (self.connect().await?, space.to_owned());
            tasks.push(tokio::spawn(async move {
                let mut left = count / CLIENTS;
                while left > 0 {
                    let path = format!("/v1/spaces/{space}/runs");
                    match connection.send("POST", &path, Some(&json!({ "source": WAITS }))).await? {
                        (202, _) => left -= 1,
                        // As many as it may have are in memory.
                        (429, _) => tokio::time::sleep(Duration::from_millis(100)).await,
                        (status, answer) => bail!("{status} {answer}"),
                    }
                }
                anyhow::Ok(())
            }));
        }
        for task in tasks {
            task.await??;
        }
        Ok(())
    }

    /// Follows the events of runs that wait, each on a connection of its own.
    async fn follow(&self, space: &str, count: usize) -> Result<Vec<Connection>> {
        let (_, page) = self.connect().await?.send("GET", &format!("/v1/runs?space={space}&limit=100"), None).await?;
        let runs = page["items"].as_array().context("no runs")?;
        let mut followers = Vec::new();
        for run in runs.iter().filter_map(|run| run["id"].as_str()).cycle().take(count) {
            let mut connection = self.connect().await?;
            connection.follow(run).await?;
            followers.push(connection);
        }
        Ok(followers)
    }

    fn resident_mib(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default();
        kib / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Connection that is kept open.
struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
}

impl Connection {
    async fn space(&mut self) -> Result<String> {
        let (_, page) = self.send("GET", "/v1/spaces", None).await?;
        Ok(page["items"][0]["id"].as_str().context("no space")?.to_owned())
    }

    /// Runs `1 + 1` so many times. Returns milliseconds.
    async fn runs(&mut self, space: &str, count: usize) -> Result<Vec<f64>> {
        let (path, body) = (format!("/v1/spaces/{space}/runs?wait=10"), json!({ "source": "1 + 1" }));
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let begun = Instant::now();
            let (status, run) = self.send("POST", &path, Some(&body)).await?;
            ensure!(status == 201 && run["value"] == 2, "{status} {run}");
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Ok(times)
    }

    async fn write(&mut self, method: &str, path: &str, accept: &str, body: &str) -> Result<()> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\naccept: {accept}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        Ok(self.stream.get_mut().write_all(head.as_bytes()).await?)
    }

    /// Reads the head of an answer. Returns its status, and the length of its body if it says so.
    async fn head(&mut self) -> Result<(u16, Option<usize>)> {
        let (mut status, mut length) = (0, None);
        loop {
            let mut line = String::new();
            ensure!(self.stream.read_line(&mut line).await? > 0, "the server closed the connection");
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                return Ok((status, length));
            }
            if let Some(text) = line.strip_prefix("http/1.1 ") {
                status = text.split(' ').next().unwrap_or_default().parse()?;
            }
            if let Some(text) = line.strip_prefix("content-length:") {
                length = Some(text.trim().parse()?);
            }
        }
    }

    async fn send(&mut self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value)> {
        let body = body.map(Value::to_string).unwrap_or_default();
        self.write(method, path, "application/json", &body).await?;
        let (status, length) = self.head().await?;
        let mut bytes = vec![0; length.context("an answer without a length")?];
        self.stream.read_exact(&mut bytes).await?;
        Ok((status, serde_json::from_slice(&bytes)?))
    }

    /// Follows the events of a run until the first has come.
    async fn follow(&mut self, run: &str) -> Result<()> {
        self.write("GET", &format!("/v1/runs/{run}/events"), "text/event-stream", "").await?;
        let (status, _) = self.head().await?;
        ensure!(status == 200, "{status}");
        loop {
            let mut line = String::new();
            ensure!(self.stream.read_line(&mut line).await? > 0, "the stream ended");
            if line.starts_with("data:") {
                return Ok(());
            }
        }
    }
}
