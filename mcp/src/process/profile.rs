//! How the profile of a program gets to its supervisor: in a variable, which other users cannot read.

use super::PROFILE;
use agent_spaces_confine::{Profile, confined};
use std::io;
use std::process::{Child, Command};

/// A profile as text.
pub(super) fn text(profile: &Profile) -> Result<String, String> {
    serde_json::to_string(profile).map_err(|error| format!("its profile cannot be passed on: {error}"))
}

/// The profile that this process was given for its program, if any.
pub(super) fn given() -> Result<Option<Profile>, String> {
    let Some(text) = std::env::var_os(PROFILE) else { return Ok(None) };
    let text = text.to_str().ok_or("the profile is no text")?;
    serde_json::from_str(text).map(Some).map_err(|error| format!("the profile is not known: {error}"))
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
