//! What a configuration says of how it is served, known before all that it names is read.

use super::ModeChoice;
use crate::commands::config_choice::{ConfigChoice, Located};
use crate::commands::failure::Failure;
use crate::commands::space_choice::SpaceChoice;
use agent_spaces::DEFAULT_CONCURRENCY;
use agent_spaces::project::Project;

/// How it is served.
pub(super) struct Preset {
    pub(super) mode: ModeChoice,
    /// What the server calls itself, where the configuration says so.
    pub(super) name: Option<String>,
    /// How many runs or calls of one caller go on at one time.
    pub(super) concurrency: usize,
}

impl Preset {
    /// What the command line says, and where that says nothing the configuration. One that is not accepted lets no more go
    /// on at one time than there may be without it, and neither chooses a name nor exposes functions.
    pub(super) fn of(choice: &SpaceChoice, mode: Option<ModeChoice>, concurrency: Option<u16>) -> Preset {
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
        Preset { mode, name: config.mcp.server_name.filter(|_| is_accepted), concurrency }
    }
}

/// The configuration that is served, and why that one; nothing where it is not there, which is said by whoever reads it.
pub(super) fn used(choice: &SpaceChoice) -> Option<String> {
    Some(match choice.configuration().map(ConfigChoice::locate) {
        Some(Ok(Some(Located::Named(file)))) if !file.is_file() => return None,
        Some(Ok(Some(located))) => format!("serves {} ({})", located.shown(), located.reason()),
        // What is wrong is said by whoever reads it.
        Some(Err(_)) => "serves the configuration here".to_owned(),
        Some(Ok(None)) => {
            "serves no configuration: there is none here, above, or in your configuration folder".to_owned()
        }
        None => "serves the folder that --capabilities names".to_owned(),
    })
}

/// Refuses to serve where the configuration says so, accepted or not.
pub(super) fn check_switch(project: &Project) -> Result<(), Failure> {
    let Some(place) = &project.config().mcp.server_off else { return Ok(()) };
    let message = format!("{}: {place}: serving is switched off", project.config().file);
    Err(Failure::new("config.off", message, Some("switch it on, or name another configuration with --config")))
}
