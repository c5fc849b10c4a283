//! Bearer tokens, from files and variables. They are never printed.

use crate::commands::failure::Failure;
use crate::commands::foreign_configs::file::make_folder;
use crate::commands::{folders, known_secrets, terminal};
use agent_spaces::Code;
use agent_spaces::config::TokenSource;
use agent_spaces::project::Project;
use agent_spaces::serve::http::Token;
use agent_spaces_mcp::secrets::Secret;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Environment variable of the token.
const VARIABLE: &str = "AGENT_SPACES_TOKEN";

/// Name of the generated token's file, in the state folder.
const FILE: &str = "serve.token";

/// Maximum size of a token file.
const MAX_FILE: u64 = 8 << 10;

/// Reads the token of `--token-file` or the variable, and returns it with its file.
pub(in crate::commands) fn given(file: Option<&Path>) -> Result<Option<(Token, Option<PathBuf>)>, Failure> {
    if let Some(file) = file {
        let token = parse(&read(file)?, &file.display().to_string())?;
        return Ok(Some((token, Some(file.to_owned()))));
    }
    match std::env::var(VARIABLE) {
        Ok(text) if !text.trim().is_empty() => Ok(Some((parse(&text, VARIABLE)?, None))),
        Ok(_) | Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => parse("\u{fffd}", VARIABLE).map(|token| Some((token, None))),
    }
}

/// Reads this user's token, which is generated on first use.
pub(in crate::commands) fn kept() -> Result<(Token, Option<PathBuf>), Failure> {
    let folder = folder()?;
    let file = folder.join(FILE);
    if !file.exists() {
        make(&folder, &file).map_err(|error| failed(&file, &error))?;
    }
    let token = parse(&read(&file)?, &file.display().to_string())?;
    Ok((token, Some(file)))
}

/// Reads this user's token if a server has generated it.
pub(in crate::commands) fn stored() -> Result<Token, Failure> {
    let file = folder()?.join(FILE);
    if !file.exists() {
        let message = format!("{}: there is no token yet", file.display());
        let hint =
            "start the server with `agent-spaces serve`, or name its token with --token-file or AGENT_SPACES_TOKEN";
        return Err(Failure::new(Code::ConfigToken, message, Some(hint)));
    }
    parse(&read(&file)?, &file.display().to_string())
}

fn folder() -> Result<PathBuf, Failure> {
    folders::state().ok_or_else(|| {
        let hint = "name a file with --token-file, or set AGENT_SPACES_TOKEN";
        Failure::new(Code::HostState, "there is no home folder to keep a token in", Some(hint))
    })
}

/// Reads the token of a configured caller.
pub(in crate::commands) fn of(source: &TokenSource, project: &Project, place: &str) -> Result<Token, Failure> {
    match source {
        TokenSource::Env(name) => {
            let text = std::env::var(name).ok().filter(|text| !text.trim().is_empty());
            let missing = || {
                let message = format!("{place}: the variable `{name}` is not set");
                Failure::new(Code::ConfigVariable, message, Some("set it to the caller's token"))
            };
            parse(&text.ok_or_else(missing)?, &format!("{place}: {name}"))
        }
        TokenSource::File(path) => {
            let file = project.path(path);
            parse(&read(&file)?, &file.display().to_string())
        }
    }
}

fn parse(text: &str, place: &str) -> Result<Token, Failure> {
    let wrong = |error| {
        Failure::new(Code::ConfigToken, format!("{place}: {error}"), Some("generate one with `openssl rand -hex 32`"))
    };
    let token = Token::new(text).map_err(wrong)?;
    // A script or a server may print it.
    known_secrets::redactor().add(&Secret::new(text.trim()));
    Ok(token)
}

fn read(file: &Path) -> Result<String, Failure> {
    let read = || -> std::io::Result<String> {
        let opened = File::open(file)?;
        warn_if_open(&opened, file)?;
        let mut text = String::new();
        opened.take(MAX_FILE).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error| failed(file, &error))
}

/// Writes a new token atomically, readable by its user only. A file created concurrently stays.
fn make(folder: &Path, file: &Path) -> std::io::Result<()> {
    make_folder(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(new, "{}", Token::generate()?)?;
    new.as_file().sync_all()?;
    match new.persist_noclobber(file) {
        Err(error) if error.error.kind() != std::io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn warn_if_open(opened: &File, file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if opened.metadata()?.permissions().mode() & 0o077 != 0 {
        let file = file.display();
        terminal::warn(&format!("{file}: other users can read this token: run `chmod 600 {file}`"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn warn_if_open(_opened: &File, _file: &Path) -> std::io::Result<()> {
    Ok(())
}

fn failed(file: &Path, error: &std::io::Error) -> Failure {
    let hint = "name a file with a token, or omit it to have one generated";
    Failure::new(Code::ConfigToken, format!("{}: {error}", file.display()), Some(hint))
}
