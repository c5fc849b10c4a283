//! Tests of a checkout, and the harness files they include.

use crate::front_matter::FrontMatter;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The parts of `test/` that are run.
pub(crate) const SCOPE: [&str; 4] = ["annexB", "built-ins", "harness", "language"];

/// The parts that are not run, and why.
pub(crate) const OUT_OF_SCOPE: [(&str, &str); 2] =
    [("intl402", "ECMA-402: a sandbox has a part of Intl"), ("staging", "not yet reviewed by test262's maintainers")];

/// A checkout.
pub(crate) struct Suite {
    /// In order of their paths.
    pub(crate) tests: Vec<Test>,
    /// Files that tests import, by path.
    fixtures: BTreeSet<String>,
    harness: BTreeMap<String, String>,
}

/// One file.
pub(crate) struct Test {
    /// From `test/` on, with slashes: `language/types/…/name.js`.
    pub(crate) path: String,
    pub(crate) source: String,
    pub(crate) front: FrontMatter,
}

/// Mode of a test; many have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Mode {
    Sloppy,
    Strict,
    Module,
    Raw,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Sloppy => "sloppy",
            Mode::Strict => "strict",
            Mode::Module => "module",
            Mode::Raw => "raw",
        }
    }
}

impl Test {
    pub(crate) fn modes(&self) -> &'static [Mode] {
        match () {
            () if self.front.has_flag("raw") => &[Mode::Raw],
            () if self.front.has_flag("module") => &[Mode::Module],
            () if self.front.has_flag("onlyStrict") => &[Mode::Strict],
            () if self.front.has_flag("noStrict") => &[Mode::Sloppy],
            () => &[Mode::Sloppy, Mode::Strict],
        }
    }

    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

impl Suite {
    /// Reads all tests in scope.
    pub(crate) fn read(checkout: &Path) -> io::Result<Suite> {
        let mut suite = Suite { tests: Vec::new(), fixtures: BTreeSet::new(), harness: BTreeMap::new() };
        for part in SCOPE {
            suite.read_tests(&checkout.join("test").join(part), part)?;
        }
        suite.tests.sort_by(|left, right| left.path.cmp(&right.path));
        suite.read_harness(&checkout.join("harness"), "")?;
        Ok(suite)
    }

    /// The harness of a test as one script.
    pub(crate) fn harness(&self, test: &Test, mode: Mode) -> String {
        if mode == Mode::Raw {
            return String::new();
        }
        let done = test.front.has_flag("async").then_some("doneprintHandle.js");
        let names =
            ["assert.js", "sta.js"].into_iter().chain(done).chain(test.front.includes.iter().map(String::as_str));
        let missing = |name: &str| format!("throw new Error('there is no harness file {name}');");
        let texts = names.map(|name| self.harness.get(name).cloned().unwrap_or_else(|| missing(name)));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// True if a test can import the file at this path.
    pub(crate) fn has_fixture(&self, path: &str) -> bool {
        self.fixtures.contains(path)
    }

    fn read_tests(&mut self, folder: &Path, path: &str) -> io::Result<()> {
        for (name, file, is_folder) in entries(folder)? {
            let path = format!("{path}/{name}");
            if is_folder {
                self.read_tests(&file, &path)?;
            } else if name.contains("_FIXTURE") {
                self.fixtures.insert(path);
            } else if name.ends_with(".js") {
                let source = text(&file)?;
                self.tests.push(Test { path, front: FrontMatter::read(&source), source });
            }
        }
        Ok(())
    }

    fn read_harness(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for (name, file, is_folder) in entries(folder)? {
            if is_folder {
                self.read_harness(&file, &format!("{prefix}{name}/"))?;
            } else if name.ends_with(".js") {
                self.harness.insert(format!("{prefix}{name}"), outlive_eval(&text(&file)?));
            }
        }
        Ok(())
    }
}

/// A harness file whose declarations are still there when an `eval` of it has ended: of a script they
/// all are, of an `eval` only those with `var` and `function`.
fn outlive_eval(source: &str) -> String {
    let line = |line: &str| match line.strip_prefix("const ").or_else(|| line.strip_prefix("let ")) {
        Some(rest) => format!("var {rest}"),
        None => line.to_owned(),
    };
    source.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn entries(folder: &Path) -> io::Result<Vec<(String, PathBuf, bool)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.path(), entry.file_type()?.is_dir()))
    };
    fs::read_dir(folder)?.map(entry).collect()
}

fn text(file: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}
