//! Package that a command line runs.
//!
//! Package runners download what they run. Without an exact version the server may be another one tomorrow.

mod options;
mod specification;

use options::{Word, read, subcommand};
use serde::{Deserialize, Serialize};
use specification as spec;

/// Package that a command line runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Registry it comes from.
    pub manager: Manager,
    /// Its name in the registry, or its URL.
    pub name: String,
    /// Requested version, range, tag or digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// True for an exact version, a commit or a digest. The tag of an image is not pinned, because it may be moved.
    pub pinned: bool,
}

/// Package registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Manager {
    /// npmjs.com, by npx, bunx, pnpm, yarn or deno.
    Npm,
    /// jsr.io, by deno.
    Jsr,
    /// pypi.org, by uvx or pipx.
    Pypi,
    /// Container registry, by docker, podman or nerdctl.
    Oci,
}

/// Returns the package that a command line runs, or `None` if it runs a local program or file.
pub fn package_of(program: &str, args: &[String]) -> Option<Package> {
    find(program, args).map(|found| found.package)
}

/// Returns true if two argument lists differ only in the version of the package that they run.
pub(super) fn is_same_but_version(program: &str, args: &[String], others: &[String]) -> bool {
    let (Some(one), Some(other)) = (find(program, args), find(program, others)) else { return false };
    let is_same_package = one.package.manager == other.package.manager && one.package.name == other.package.name;
    let without = |args: &[String], found: &Found| -> Vec<String> {
        let version = found.package.version.as_deref();
        let word = |(index, word): (usize, &String)| match version {
            Some(version) if index == found.index => without_version(word, version),
            _ => word.clone(),
        };
        args.iter().enumerate().map(word).collect()
    };
    is_same_package && without(args, &one) == without(others, &other)
}

fn without_version(word: &str, version: &str) -> String {
    match word.rsplit_once(version) {
        Some((before, after)) => format!("{}{after}", before.trim_end_matches(['@', '=', ':', '#'])),
        None => word.to_owned(),
    }
}

/// Package, and the index of the argument that names it.
struct Found {
    package: Package,
    index: usize,
}

fn find(program: &str, args: &[String]) -> Option<Found> {
    let program = program_name(program);
    if program != "cmd" {
        return find_runner(&program, args, 0);
    }
    // Windows starts scripts such as npx.cmd through its shell.
    let start = args.iter().position(|word| word.eq_ignore_ascii_case("/c"))? + 1;
    let runner = args.get(start)?;
    if args.len() > start + 1 {
        return find_runner(&program_name(runner), args, start + 1);
    }
    let words: Vec<String> = runner.split_whitespace().map(str::to_owned).collect();
    let found = find_runner(&program_name(words.first()?), &words, 1)?;
    Some(Found { index: start, ..found })
}

fn find_runner(program: &str, args: &[String], start: usize) -> Option<Found> {
    let after = |names: &[&str], takes_value| subcommand(args, start, names, takes_value);
    match program {
        "npx" | "pnpx" | "bunx" => npm(args, start, start),
        "npm" => npm(args, start, after(&["exec"], options::npm).or_else(|| after(&["x"], options::npm))?),
        "pnpm" | "yarn" => npm(args, start, after(&["dlx"], options::npm)?),
        "bun" => npm(args, start, after(&["x"], options::npm)?),
        "uvx" => python(args, start, "--from"),
        "uv" => python(args, after(&["tool", "run"], options::python)?, "--from"),
        "pipx" => python(args, after(&["run"], options::python)?, "--spec"),
        "docker" | "podman" | "nerdctl" => {
            let run = after(&["run"], options::docker_itself);
            image(args, run.or_else(|| after(&["container", "run"], options::docker_itself))?)
        }
        "deno" => deno(args, after(&["run"], options::deno)?),
        _ => None,
    }
}

/// `npx --package one --package two command` may run all of them. pnpm has such options before its subcommand too.
fn npm(args: &[String], start: usize, command: usize) -> Option<Found> {
    let packages = ["-p", "--package"];
    let before = read(args.get(..command)?, start, options::npm, &packages);
    let words = read(args, command, options::npm, &packages);
    let mut named: Vec<Word<'_>> = before.named.into_iter().chain(words.named).collect();
    if named.is_empty() {
        named.extend(words.first);
    }
    let mut named = named.into_iter();
    let mut found = found(named.next()?, spec::npm)?;
    found.package.pinned &= named.all(|word| spec::npm(word.text).is_none_or(|package| package.pinned));
    Some(found)
}

fn python(args: &[String], start: usize, option: &str) -> Option<Found> {
    let words = read(args, start, options::python, &[option]);
    found(words.named.into_iter().next().or(words.first)?, spec::python)
}

fn image(args: &[String], start: usize) -> Option<Found> {
    found(read(args, start, options::docker_run, &[]).first?, spec::image)
}

fn deno(args: &[String], start: usize) -> Option<Found> {
    found(read(args, start, options::deno, &[]).first?, spec::deno)
}

fn found(word: Word<'_>, parse: fn(&str) -> Option<Package>) -> Option<Found> {
    Some(Found { package: parse(word.text)?, index: word.index })
}

/// `C:\node\NPX.cmd` is `npx`.
fn program_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".ps1"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
