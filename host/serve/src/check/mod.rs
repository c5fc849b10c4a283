//! Type checker: reports mistakes of a program with their line, before it runs.
//!
//! If a TypeScript compiler is available, it checks the types against the declarations of the modules that a program
//! imports. Otherwise names are checked against what is linked. Neither is a security boundary: every call is checked
//! again when it is made.
//!
//! **Only misuse of capabilities is refused.** What a program does with its own values is not judged by strict rules.
//! The compiler reads the program in three passes (`passes`); from their differences, each diagnostic is classified as
//! misuse of a capability or as a warning (`classify`). Values declared `unknown` are treated as `any`
//! (`unknown_to_any`). `@ts-ignore` works for its line, `@ts-nocheck` is ignored.
//!
//! **The program is untrusted.** The compiler reads only a folder with our files and its own libraries: references to
//! other files are removed from the program ([`checkable`](agent_spaces_script)), and module resolution is off. Its
//! time, memory and output are limited (`process`).
//!
//! - `compiler`: search for a compiler
//! - `folder`, `passes`, `any_params`, `unknown_to_any`: input of the compiler
//! - `process`: compiler process with its limits
//! - `output`, `message`, `positions`: parsers of its output
//! - `classify`: misuse or warning
//! - `missing_await`: check that needs no compiler and always runs
//! - `members`: check of names without a compiler
//! - `diagnostic`: findings

mod any_params;
mod classify;
mod compiler;
mod diagnostic;
mod folder;
mod members;
mod message;
mod missing_await;
mod output;
mod passes;
mod positions;
mod process;
#[cfg(test)]
mod tests;
mod unavailable;
mod unknown_to_any;

pub use classify::Findings;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use folder::ModuleDeclaration;
pub use unavailable::Unavailable;

use agent_spaces_config::TypeCheck;
use agent_spaces_sandbox::program::Program;
use agent_spaces_script::{Checkable, checkable};
use classify::classify;
use compiler::Compiler;
use folder::Folder;
use output::Output;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Time limit of a check, including the wait for a permit. A small program takes a second with the slower compiler; a
/// client with a timeout of a minute still gets an answer.
const DEADLINE: Duration = Duration::from_secs(20);

/// Maximum number of concurrent compilers. Each takes a core or more, and up to the memory limit in `process`.
const MAX_CONCURRENT: usize = 2;

/// Checks programs. Clones share state.
#[derive(Clone, Debug)]
pub struct TypeChecker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    level: TypeCheck,
    /// Compiler path in the configuration.
    configured: Option<PathBuf>,
    /// Result of the search, done on first use.
    compiler: OnceLock<Result<Compiler, Unavailable>>,
    /// Set if the compiler that was found cannot check any program.
    unfit: OnceLock<Unavailable>,
    turns: Semaphore,
    deadline: Duration,
}

/// Result of [`TypeChecker::check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Misuse and warnings.
    pub findings: Findings,
    /// Reason why only names were checked, if so.
    pub unavailable: Option<Unavailable>,
}

/// Returns the modules that a program imports, for values or types. Empty if the program cannot be parsed.
pub fn imported_modules(code: &str) -> BTreeSet<String> {
    checkable(code, "").map(|checkable| checkable.modules).unwrap_or_default()
}

impl TypeChecker {
    /// Creates a checker with the compiler of an accepted configuration, or else one from the `PATH`. The search is
    /// done on first use.
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

    /// Returns the configured severity of misuse.
    pub fn level(&self) -> TypeCheck {
        self.inner.level
    }

    /// Returns true if the configuration switches checks off.
    pub fn is_off(&self) -> bool {
        self.inner.level == TypeCheck::Off
    }

    /// Returns the path of the compiler, without starting it.
    ///
    /// # Errors
    /// Fails if there is no usable compiler.
    pub fn compiler(&self) -> Result<String, Unavailable> {
        self.found().map(|compiler| compiler.to_string())
    }

    /// Checks a prepared program against the declarations of the modules that it imports. Imports of other modules,
    /// such as workspace files, have type `any`. If types cannot be checked, names are.
    ///
    /// `hidden` are the labels of functions that the caller must not learn about.
    pub async fn check(
        &self,
        program: &Program,
        code: &str,
        modules: Vec<ModuleDeclaration>,
        hidden: BTreeSet<String>,
    ) -> Checked {
        if self.is_off() {
            return Checked::default();
        }
        let (known, text) = (program.clone(), code.to_owned());
        let read = move || {
            let checkable = checkable(&text, known.name()).ok()?;
            let unawaited = missing_await::check(&known, &checkable.habits);
            let (guarded, callees) = (checkable.guarded.clone(), checkable.habits.callees.clone());
            Some((checkable, unawaited, members::CallSyntax { guarded, callees }))
        };
        // A prepared program can be parsed.
        let Ok(Some((checkable, unawaited, syntax))) = tokio::task::spawn_blocking(read).await else {
            return Checked::default();
        };
        let (mut findings, unavailable) = match self.check_programs(vec![checkable], modules).await {
            Ok(found) => (found.into_iter().next().unwrap_or_default(), None),
            Err(unavailable) => {
                let program = program.clone();
                let found = tokio::task::spawn_blocking(move || members::check(&program, &syntax, &hidden)).await;
                // Fails only at shutdown.
                let misuse = found.unwrap_or_default();
                (Findings { misuse, warnings: Diagnostics::default() }, Some(unavailable))
            }
        };
        findings.misuse = std::mem::take(&mut findings.misuse).and_new(unawaited);
        Checked { findings, unavailable }
    }

    /// Checks the types of a program that can be parsed.
    ///
    /// # Errors
    /// Fails if the compiler is unavailable or gives no result.
    pub async fn check_types(&self, code: &str, modules: Vec<ModuleDeclaration>) -> Result<Findings, Unavailable> {
        Ok(self.check_all_types(&[code], modules).await?.into_iter().next().unwrap_or_default())
    }

    /// Checks several programs that import the same modules, in one run of the compiler.
    ///
    /// # Errors
    /// Fails if the compiler is unavailable or gives no result.
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
            let run = process::run(compiler, folder.path()).await?;
            Ok((programs, folder, run))
        };
        let checked = timeout(self.inner.deadline, checking).await;
        let (programs, folder, run) = checked.unwrap_or(Err(Unavailable::TooSlow { after: self.inner.deadline }))?;
        let decide = move || {
            let outputs = Output::read(&run, programs.len()).programs()?;
            Ok(programs
                .iter()
                .zip(outputs)
                .map(|(program, output)| classify(&output, program, &folder.declared))
                .collect())
        };
        // Fails only at shutdown.
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
