//! `--confine`: sandboxing of the command itself, with Landlock and seccomp.
//!
//! A profile applies to a thread and its descendants, and it depends on the configuration, whose reading may start
//! threads. So the command reads the configuration, enters the profile in one thread, and re-executes itself (`execve`)
//! from there: every thread of the new image is confined, and only the arguments are passed on.

use super::failure::Failure;
use super::folders;
use super::space_choice::{Found, SpaceChoice};
use super::{host_key, store_choice};
use agent_spaces::Code;
use agent_spaces::config::{Confine, ConfineLevel};
use agent_spaces::confinement::{HostNeeds, Profile, confined, host_profile};
use agent_spaces::mcp::McpClients;
use agent_spaces::project::Project;
use agent_spaces_mcp::secrets::Variables;
use agent_spaces_mcp::{Auth, BearerSource, Context, Endpoint};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// First argument of a re-executed command; the second is the level, the rest are the original arguments.
const MARKER: &str = "__agent-spaces-confined";

/// Level that this process was re-executed with.
static CONFINED: OnceLock<Level> = OnceLock::new();

/// Confinement of a command.
#[derive(Args)]
pub(super) struct ConfineChoice {
    /// Sandbox this command and the MCP servers that it starts, with Landlock and seccomp (Linux)
    /// [default: `confine` of the configuration]
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "required")]
    confine: Option<Level>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Fail if the kernel lacks support
    Required,
    /// As far as the kernel supports it
    BestEffort,
    /// Off, whatever the configuration says
    Off,
}

impl Level {
    fn configured(self) -> ConfineLevel {
        match self {
            Level::Required => ConfineLevel::Required,
            Level::BestEffort => ConfineLevel::BestEffort,
            Level::Off => ConfineLevel::Off,
        }
    }

    fn of(level: ConfineLevel) -> Level {
        match level {
            ConfineLevel::Required => Level::Required,
            ConfineLevel::BestEffort => Level::BestEffort,
            ConfineLevel::Off => Level::Off,
        }
    }
}

/// Returns the arguments as the user wrote them, and records the level of a re-executed process.
pub(super) fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, marker, level, ..] = arguments.as_slice()
        && marker == MARKER
        && let Some(level) = level.to_str().and_then(|level| Level::from_str(level, false).ok())
    {
        let _ = CONFINED.set(level);
        arguments.drain(1..3);
    }
    arguments
}

/// Returns the default confinement of MCP servers: that of this process.
pub(super) fn of_servers() -> Option<Confine> {
    CONFINED.get().map(|level| Confine::at(level.configured()))
}

impl ConfineChoice {
    /// Returns true if [`ConfineChoice::enter`] may confine this process, without parsing the configuration.
    pub(super) fn may_enter(&self, choice: &SpaceChoice) -> bool {
        let is_decided = CONFINED.get().is_some() || self.confine == Some(Level::Off);
        !is_decided && (self.confine.is_some() || choice.may_say("confine"))
    }

    /// Confines this process if requested, with access to everything that a command in this space needs. Does not
    /// return in that case. Must be called before stdin is read.
    pub(super) fn enter(
        &self,
        choice: &SpaceChoice,
        beside: Option<&Path>,
        mut needs: HostNeeds,
    ) -> Result<(), Failure> {
        if !self.may_enter(choice) {
            return Ok(());
        }
        let engine = folders::engine(true)?;
        let found = choice.find_beside(beside, &engine)?;
        let project = match &found {
            Found::Project(project) => Some(project.as_ref()),
            Found::Definitions(_) => None,
        };
        let configured = project.and_then(Project::confine).map(|confine| confine.level);
        let level = self.confine.or(configured.map(Level::of)).unwrap_or(Level::Off);
        // Other systems have no confinement, and best effort accepts that.
        let is_nothing = level == Level::BestEffort && cfg!(not(target_os = "linux"));
        if level == Level::Off || is_nothing {
            return Ok(());
        }
        let refused = |message: String| Failure::new(Code::HostConfine, message, None);
        needs.read.extend(choice.definitions_folder(beside));
        let needs = with_own(needs, &found);
        let servers = project.map(|project| profiles(project, choice.space(), level)).unwrap_or_default();
        let profile = host_profile(level.configured(), needs, project, &servers).map_err(refused)?;
        Err(start_again(&profile, level))
    }
}

/// Adds the user's folders and the definitions. The user's configuration is read-only: files there need no acceptance,
/// so a confined process must not write them.
fn with_own(mut needs: HostNeeds, found: &Found) -> HostNeeds {
    let own = folders::all().into_iter();
    needs.kept.extend(own.filter(|(what, _)| *what != "configuration").map(|(_, folder)| folder));
    needs.kept.extend(folders::temporary());
    needs.read.extend(folders::user_config());
    let configured = match found {
        Found::Project(project) => project.durable(None).store,
        Found::Definitions(_) => None,
    };
    let store = store_choice::files(configured.as_ref().map(|address| address.as_str()));
    needs.read.extend(store.into_iter().chain(host_key::file()));
    if let Found::Definitions(definitions) = found {
        needs.read.extend(definitions.iter().flat_map(|definition| definition.protected(Path::new("."))));
    }
    needs
}

/// Returns the profiles of the servers with valid settings. Starting the others reports their errors.
fn profiles(project: &Project, space: Option<&str>, level: Level) -> Vec<Profile> {
    let clients = McpClients::with_variables(Context::default(), Variables::of_process(), folders::state());
    clients.confine_by_default(Confine::at(level.configured()));
    let toolboxes = project.toolboxes().values().flat_map(|toolbox| toolbox.servers.values());
    let settings =
        project.servers().values().chain(toolboxes).filter_map(|server| clients.settings(server, space).ok());
    let profile = |endpoint: Endpoint| match endpoint {
        Endpoint::Stdio(endpoint) => endpoint.confine,
        Endpoint::Http(remote) | Endpoint::Sse(remote) | Endpoint::WebSocket(remote) => match remote.auth {
            Auth::Bearer(BearerSource::File(file)) => Some(Profile { read: vec![file], ..Profile::default() }),
            _ => None,
        },
    };
    settings.filter_map(|settings| profile(settings.endpoint)).collect()
}

/// Re-executes this program under the profile. Returns only on failure.
#[cfg(unix)]
fn start_again(profile: &Profile, level: Level) -> Failure {
    use std::os::unix::process::CommandExt;
    let mut arguments = arguments().into_iter();
    let mut command = std::process::Command::new("/proc/self/exe");
    command.arg0(arguments.next().unwrap_or_default());
    let word = level.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    command.arg(MARKER).arg(word).args(arguments);
    if let Some(folder) = folders::temporary() {
        command.env("TMPDIR", folder);
    }
    let message = match confined(profile, move || command.exec()) {
        Ok(error) => format!("this program cannot re-execute itself: {error}"),
        Err(error) => error.to_string(),
    };
    let hint = "`agent-spaces doctor` shows what the kernel supports; --confine=best-effort uses that much";
    Failure::new(Code::HostConfine, message, Some(hint))
}

#[cfg(not(unix))]
fn start_again(_: &Profile, _: Level) -> Failure {
    let hint = "remove --confine and `confine`";
    Failure::new(Code::HostConfine, "confinement needs Landlock and seccomp, which only Linux has", Some(hint))
}
