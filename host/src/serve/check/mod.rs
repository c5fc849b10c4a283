//! Programs are looked at before they run, so that a mistake comes back as a line of the program and not as a surprise in
//! the middle of a run.
//!
//! Where there is a TypeScript compiler it checks the types, against the declarations of the modules that a program
//! imports. Where there is none, or it cannot be used, names are checked against what is linked. Neither protects
//! anything: every call is checked again when it is made.
//!
//! **Only the use of capabilities is refused.** A program need not be strict to be right, and what it does with its own
//! values is its own affair. It is read three times (`readings`), and by what differs each diagnostic is one about the use of
//! a capability or a warning beside the result (`judge`). Values that a module's declarations call `unknown` are used as they
//! come (`loosen`). `@ts-ignore` counts for its line, `@ts-nocheck` does not count.
//!
//! **The program is a stranger's.** The compiler reads a folder with our files and its own libraries, and nothing else: what
//! leads it elsewhere is taken out of the program ([`checkable`](crate::script)), and it is told to resolve nothing. Its
//! time, memory and output are bounded (`process`).
//!
//! - `compiler`: which one there is
//! - `folder`, `readings`, `twin`, `loosen`: what it is given
//! - `process`: running it
//! - `output`, `message`, `places`: what it said, and where that is in the program
//! - `judge`: what becomes of it
//! - `awaits`: what is checked in any case
//! - `members`: what is checked without one
//! - `diagnostic`: what was found

mod awaits;
mod compiler;
mod diagnostic;
mod folder;
mod judge;
mod loosen;
mod members;
mod message;
mod output;
mod places;
mod process;
mod readings;
#[cfg(test)]
mod tests;
mod twin;
mod unavailable;

pub use diagnostic::{Diagnostic, Diagnostics};
pub use folder::ModuleDeclaration;
pub use judge::Findings;
pub use unavailable::Unavailable;

use crate::config::TypeCheck;
use crate::program::Program;
use crate::script::{Checkable, checkable};
use compiler::Compiler;
use folder::Folder;
use judge::judge;
use output::Output;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long a check may take, with the wait for its turn. A small program takes a second with the slower compiler; a
/// client that waits for a minute still gets an answer after this.
const DEADLINE: Duration = Duration::from_secs(20);

/// Compilers that run at once. Each takes a core or more, and as much memory as `process` lets it.
const MAX_CONCURRENT: usize = 2;

/// Checks programs; clones are one.
#[derive(Clone, Debug)]
pub struct TypeChecker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    level: TypeCheck,
    /// What the configuration names.
    configured: Option<PathBuf>,
    /// What was found when it was first needed.
    compiler: OnceLock<Result<Compiler, Unavailable>>,
    /// Why the one that was found is of no use for any program.
    unfit: OnceLock<Unavailable>,
    turns: Semaphore,
    deadline: Duration,
}

/// What is known of a program before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What was found.
    pub findings: Findings,
    /// Why only names were checked, where that is so.
    pub unavailable: Option<Unavailable>,
}

/// The modules that a program names, for values or for types: those whose declarations a check needs. None of a program
/// that cannot be read.
pub fn imported_modules(code: &str) -> BTreeSet<String> {
    checkable(code, "").map(|checkable| checkable.modules).unwrap_or_default()
}

impl TypeChecker {
    /// A checker with the compiler that an accepted configuration names, or with what the `PATH` has. Nothing is looked
    /// for before it is needed.
    pub fn new(level: TypeCheck, compiler: Option<PathBuf>) -> TypeChecker {
        TypeChecker::within(level, compiler, DEADLINE)
    }

    fn within(level: TypeCheck, configured: Option<PathBuf>, deadline: Duration) -> TypeChecker {
        let inner = Inner {
            level,
            configured,
            compiler: OnceLock::new(),
            unfit: OnceLock::new(),
            turns: Semaphore::new(MAX_CONCURRENT),
            deadline,
        };
        TypeChecker { inner: Arc::new(inner) }
    }

    /// What becomes of a program in which something was found.
    pub fn level(&self) -> TypeCheck {
        self.inner.level
    }

    /// The compiler that is used, as its path; nothing is started to find that out.
    ///
    /// # Errors
    /// Why there is none.
    pub fn compiler(&self) -> Result<String, Unavailable> {
        self.found().map(|compiler| compiler.to_string())
    }

    /// Checks a program that is ready to run, with the declarations of the modules that it imports. Imports of others,
    /// files of the workspace among them, can be anything. Where types cannot be checked, names are.
    ///
    /// `hidden` are functions that the caller may not know of, as scripts call them.
    pub async fn check(
        &self,
        program: &Program,
        code: &str,
        modules: Vec<ModuleDeclaration>,
        hidden: BTreeSet<String>,
    ) -> Checked {
        if self.inner.level == TypeCheck::Off {
            return Checked::default();
        }
        let (known, text) = (program.clone(), code.to_owned());
        let read = move || {
            let checkable = checkable(&text, known.name()).ok()?;
            let unawaited = awaits::check(&known, &checkable.habits);
            let (guarded, callees) = (checkable.guarded.clone(), checkable.habits.callees.clone());
            Some((checkable, unawaited, members::Written { guarded, callees }))
        };
        // Whoever prepared the program has read it.
        let Ok(Some((checkable, unawaited, written))) = tokio::task::spawn_blocking(read).await else {
            return Checked::default();
        };
        let (mut findings, unavailable) = match self.check_programs(vec![checkable], modules).await {
            Ok(found) => (found.into_iter().next().unwrap_or_default(), None),
            Err(unavailable) => {
                let program = program.clone();
                let found = tokio::task::spawn_blocking(move || members::check(&program, &written, &hidden)).await;
                // It fails only where the process ends.
                let misuse = found.unwrap_or_default();
                (Findings { misuse, warnings: Diagnostics::default() }, Some(unavailable))
            }
        };
        findings.misuse = std::mem::take(&mut findings.misuse).and_new(unawaited);
        Checked { findings, unavailable }
    }

    /// What the compiler says of a program, which must be one that can be parsed.
    ///
    /// # Errors
    /// Why it says nothing.
    pub async fn check_types(&self, code: &str, modules: Vec<ModuleDeclaration>) -> Result<Findings, Unavailable> {
        Ok(self.check_all_types(&[code], modules).await?.into_iter().next().unwrap_or_default())
    }

    /// The same of several programs that import from the same modules, in one run of the compiler.
    ///
    /// # Errors
    /// Why it says nothing of any.
    pub async fn check_all_types(
        &self,
        programs: &[&str],
        modules: Vec<ModuleDeclaration>,
    ) -> Result<Vec<Findings>, Unavailable> {
        let read = |code: &&str| checkable(code, "").map_err(|_| Unavailable::Unread);
        let programs = programs.iter().map(read).collect::<Result<_, _>>()?;
        self.check_programs(programs, modules).await
    }

    async fn check_programs(
        &self,
        programs: Vec<Checkable>,
        modules: Vec<ModuleDeclaration>,
    ) -> Result<Vec<Findings>, Unavailable> {
        let compiler = self.found()?;
        let checking = async {
            let _turn = self.inner.turns.acquire().await;
            let make = move || Folder::make(&programs, &modules).map(|folder| (programs, folder));
            let made = tokio::task::spawn_blocking(make).await;
            let (programs, folder) = made.map_err(|error| Unavailable::Folder(error.to_string()))??;
            let ended = process::run(compiler, folder.path()).await?;
            Ok((programs, folder, ended))
        };
        let checked = timeout(self.inner.deadline, checking).await;
        let (programs, folder, ended) = checked.unwrap_or(Err(Unavailable::TooSlow { after: self.inner.deadline }))?;
        let decide = move || {
            let said = Output::read(&ended, programs.len()).programs()?;
            Ok(programs.iter().zip(said).map(|(program, said)| judge(&said, program, &folder.declared)).collect())
        };
        // It fails only where the process ends.
        let decided = tokio::task::spawn_blocking(decide).await;
        let decided = decided.unwrap_or_else(|error| Err(Unavailable::NoAnswer(error.to_string())));
        if let Err(unfit @ Unavailable::Unfit(_)) = &decided {
            let _known_already = self.inner.unfit.set(unfit.clone());
        }
        decided
    }

    fn found(&self) -> Result<&Compiler, Unavailable> {
        if let Some(unfit) = self.inner.unfit.get() {
            return Err(unfit.clone());
        }
        let find = || Compiler::find(self.inner.configured.as_deref(), std::env::var_os("PATH").as_deref());
        self.inner.compiler.get_or_init(find).as_ref().map_err(Clone::clone)
    }
}
