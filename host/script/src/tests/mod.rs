//! Tests of [`prepare`](super::prepare) with whole sources, one file per guarantee.

#![allow(clippy::panic, clippy::unwrap_used)]

mod call_sites;
mod erase;
mod error_sites;
mod hostile;
mod landmarks;
mod modules;
mod objects;
mod positions;
mod value;
mod work;

use super::{Language, Prepared, SourceKind, prepare};
use agent_spaces_types::script_error::ScriptError;

fn run(source: &str, language: Language, kind: SourceKind) -> Result<Prepared, ScriptError> {
    prepare(source, "test.ts", language, kind, &mut |site| Ok(site.specifier.to_owned()))
}

/// The code of a TypeScript module without its landmarks, which would drown what most tests are about.
#[track_caller]
fn module(source: &str) -> String {
    module_with_landmarks(source).replace("0;", "")
}

/// The code of a TypeScript module.
#[track_caller]
fn module_with_landmarks(source: &str) -> String {
    match run(source, Language::TypeScript, SourceKind::Module) {
        Ok(prepared) => prepared.code,
        Err(error) => panic!("{source}\n{error:?}"),
    }
}

/// A TypeScript script.
#[track_caller]
fn script(source: &str) -> Prepared {
    match run(source, Language::TypeScript, SourceKind::Script) {
        Ok(prepared) => prepared,
        Err(error) => panic!("{source}\n{error:?}"),
    }
}

/// Returns the error of a TypeScript script that is refused.
#[track_caller]
fn refusal(source: &str) -> ScriptError {
    match run(source, Language::TypeScript, SourceKind::Script) {
        Ok(prepared) => panic!("{source}\n{}", prepared.code),
        Err(error) => error,
    }
}
