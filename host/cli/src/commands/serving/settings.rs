//! Mode, name and concurrency of the server, read before the project is loaded.

use crate::commands::config_choice::{ConfigChoice, ConfigLocation};
use crate::commands::failure::Failure;
use crate::commands::space_choice::SpaceChoice;
use agent_spaces::Code;
use agent_spaces::DEFAULT_CONCURRENCY;
use agent_spaces::project::Project;
use clap::ValueEnum;

/// Form in which agents get the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::commands) enum ModeChoice {
    /// Three tools: search, describe, run a program
    Code,
    /// Two tools: open a toolbox, use a tool of it
    Toolbox,
    /// Every exposed function as a tool of its own
    Proxy,
}

/// Settings of the server.
pub(in crate::commands) struct ServeSettings {
    pub(in crate::commands) mode: ModeChoice,
    /// Server name of the configuration.
    pub(in crate::commands) name: Option<String>,
    /// Concurrent runs or calls per caller.
    pub(in crate::commands) concurrency: usize,
}

impl ServeSettings {
    /// Settings of the REST API: see [`ServeSettings::of`].
    pub(in crate::commands) fn of_rest(choice: &SpaceChoice, concurrency: Option<u16>) -> ServeSettings {
        let (config, is_accepted) = choice.configuration().and_then(ConfigChoice::peek).unwrap_or_default();
        let most = if is_accepted { usize::MAX } else { DEFAULT_CONCURRENCY };
        let configured = config.serve.concurrency.rest.map(|count| usize::from(count).min(most));
        let concurrency = concurrency.map(usize::from).or(configured).unwrap_or(DEFAULT_CONCURRENCY);
        ServeSettings { mode: ModeChoice::Code, name: config.mcp.server_name.filter(|_| is_accepted), concurrency }
    }

    /// Combines flags with the configuration; flags win. A configuration that is not accepted cannot raise the
    /// concurrency above the default, set the name or expose functions.
    pub(in crate::commands) fn of(
        choice: &SpaceChoice,
        mode: Option<ModeChoice>,
        concurrency: Option<u16>,
    ) -> ServeSettings {
        let (config, is_accepted) = choice.configuration().and_then(ConfigChoice::peek).unwrap_or_default();
        let is_exposed = is_accepted && config.mcp.expose_handlers == Some(true);
        let usual = if is_exposed { ModeChoice::Proxy } else { ModeChoice::Code };
        let mode = mode.unwrap_or(usual);
        let of_modes = config.serve.concurrency;
        let configured = match mode {
            ModeChoice::Code => of_modes.code,
            ModeChoice::Toolbox => of_modes.toolbox,
            ModeChoice::Proxy => of_modes.proxy,
        };
        let most = if is_accepted { usize::MAX } else { DEFAULT_CONCURRENCY };
        let configured = configured.map(|count| usize::from(count).min(most));
        let concurrency = concurrency.map(usize::from).or(configured).unwrap_or(DEFAULT_CONCURRENCY);
        ServeSettings { mode, name: config.mcp.server_name.filter(|_| is_accepted), concurrency }
    }
}

/// Describes the configuration that is served, and why; `None` if it is missing: loading it reports the error.
pub(in crate::commands) fn used(choice: &SpaceChoice) -> Option<String> {
    Some(match choice.configuration().map(ConfigChoice::locate) {
        Some(Ok(Some(ConfigLocation::Named(file)))) if !file.is_file() => return None,
        Some(Ok(Some(located))) => format!("serves {} ({})", located.shown(), located.reason()),
        // Loading it reports the error.
        Some(Err(_)) => "serves the configuration here".to_owned(),
        Some(Ok(None)) => {
            "serves no configuration: none found here, in parent folders, or in your configuration folder".to_owned()
        }
        None => "serves the folder of --capabilities".to_owned(),
    })
}

/// Returns an error if the configuration switches serving off, accepted or not.
pub(in crate::commands) fn check_switch(project: &Project) -> Result<(), Failure> {
    let Some(place) = &project.config().mcp.server_off else { return Ok(()) };
    let message = format!("{}: {place}: serving is disabled", project.config().file);
    Err(Failure::new(Code::ConfigOff, message, Some("enable it, or name another configuration with --config")))
}
