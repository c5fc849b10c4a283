//! Name of this host among those that share a store: `--host-name`, the variable `AGENT_SPACES_HOST_NAME`, or the
//! machine's.

use super::failure::Failure;
use super::terminal;
use agent_spaces::Code;
use std::sync::OnceLock;

/// Environment variable with the name.
const VARIABLE: &str = "AGENT_SPACES_HOST_NAME";

/// Most bytes of a name, as of all names in a configuration.
const MAX_BYTES: usize = 64;

/// Name of the command line.
static OPTION_VALUE: OnceLock<String> = OnceLock::new();

/// Takes note of the option.
pub(super) fn choose(option: Option<String>) {
    if let Some(name) = option {
        // It is parsed once.
        let _ = OPTION_VALUE.set(name);
    }
}

/// Returns the name that this host was given; `None` if it was given none.
pub(super) fn given() -> Result<Option<String>, Failure> {
    match OPTION_VALUE.get() {
        Some(name) => Ok(Some(name.clone())),
        None => of_variable(std::env::var(VARIABLE).ok().as_deref()),
    }
}

/// Returns the name that this host was given, else that of the machine.
pub(super) fn name() -> Result<String, Failure> {
    if let Some(name) = given()? {
        return Ok(name);
    }
    let machine = of_machine().unwrap_or_default();
    parse(&machine).map_err(|_| {
        let message =
            format!("the name of this machine cannot be that of a host: `{}`", terminal::clean_line(&machine));
        Failure::new(Code::ConfigUsage, message, Some("give the host a name of its own with --host-name"))
    })
}

fn of_variable(text: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    parse(text).map(Some).map_err(|error| {
        let message = format!("{VARIABLE}: `{}`: {error}", terminal::clean_line(text));
        Failure::new(Code::ConfigVariable, message, Some("set it to a name such as host-1"))
    })
}

/// Checks a name.
pub(super) fn parse(text: &str) -> Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let begins_well = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    match begins_well && text.len() <= MAX_BYTES && text.bytes().all(is_part) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "expected at most {MAX_BYTES} letters, digits, `.`, `_` and `-`, with a letter or a digit first"
        )),
    }
}

#[cfg(unix)]
fn of_machine() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

#[cfg(not(unix))]
fn of_machine() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, of_machine, of_variable, parse};

    #[test]
    fn a_name_is_short_and_printable() {
        for name in ["a", "host-1", "10.0.0.1", "Files_2.internal", &"x".repeat(MAX_BYTES)] {
            assert_eq!(parse(name).as_deref(), Ok(name));
        }
        for wrong in ["", "-a", ".a", "a b", "a/b", "ä", "a\n", &"x".repeat(MAX_BYTES + 1)] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_variable_is_a_name_or_missing() {
        let read = |text| of_variable(text).ok();
        assert_eq!((read(None), read(Some(" "))), (Some(None), Some(None)));
        assert_eq!((read(Some(" host-1 ")), read(Some("a b"))), (Some(Some("host-1".to_owned())), None));
    }

    #[test]
    fn a_machine_has_a_name() {
        assert!(of_machine().is_some_and(|name| !name.is_empty()));
    }
}
