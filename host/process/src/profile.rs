//! Passing of a program's profile to its supervisor: in an environment variable, which other users cannot read.

use super::PROFILE;
use agent_spaces_confine::{Profile, confined};
use std::io;
use std::process::{Child, Command};

/// Serializes a profile.
pub(super) fn text(profile: &Profile) -> Result<String, String> {
    serde_json::to_string(profile).map_err(|error| format!("cannot serialize its profile: {error}"))
}

/// Reads the profile for the program from the environment, if any.
pub(super) fn from_environment() -> Result<Option<Profile>, String> {
    let Some(text) = std::env::var_os(PROFILE) else { return Ok(None) };
    let text = text.to_str().ok_or("the profile is not UTF-8")?;
    serde_json::from_str(text).map(Some).map_err(|error| format!("invalid profile: {error}"))
}

/// Starts a program, confined if there is a profile.
pub(super) fn start(mut command: Command, profile: Option<&Profile>) -> io::Result<Child> {
    command.env_remove(PROFILE);
    match profile {
        Some(profile) => {
            let started = confined(profile, move || command.spawn()).map_err(io::Error::other)?;
            started.map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied => io::Error::other(format!(
                    "{error}: `confine` does not let the program or its interpreter be read; add their folder to \
                     `confine.read`"
                )),
                _ => error,
            })
        }
        None => command.spawn(),
    }
}
