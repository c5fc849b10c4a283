//! Conversion of a server's configuration to client settings. Expands `${VAR}` when a session is opened.

use super::configured_server::ConfiguredServer;
use super::space_folders::{DATA, HOMES, space_folder};
use crate::confinement::{Profile, ServerLaunch, server_profile};
use agent_spaces_config as config;
use agent_spaces_config::{Confine, ConfineLevel, Raw, RemoteKind, Transport};
use agent_spaces_mcp::auth::learn_file;
use agent_spaces_mcp::{
    Auth, BearerSource, ConnectError, Context, Elicitation, Endpoint, OAuthClient, ProcessSpec, Protocol,
    RemoteEndpoint, ServerSettings,
};
use agent_spaces_private_fs::folder;
use agent_spaces_secrets::{
    Expanded, Redactor, Secret, Variables, expand, secret_value, secrets_in_args, secrets_in_url,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variable that holds the path of a folder for this server and space.
const SPACE_FOLDER: &str = "SPACE_DIR";

/// Settings of a server for one space. Secrets are registered with the redactor first. `confine` is the default
/// confinement of a server that is a program.
pub(super) fn settings(
    server: &ConfiguredServer,
    variables: &Variables,
    state_folder: Option<&Path>,
    space: Option<&str>,
    redactor: &Redactor,
    confine: Option<&Confine>,
) -> Result<ServerSettings, ConnectError> {
    let own_folder = state_folder.map(|folder| space_folder(folder, DATA, server, space));
    let variables = known_variables(server, variables, own_folder.as_deref());
    let expansion = Expansion { server, variables, redactor, own_folder: own_folder.as_deref() };
    let config = &server.config;
    let endpoint = match &config.transport {
        Transport::Stdio { program, args, env, cwd } => {
            let args = args.iter().enumerate().map(|(index, arg)| expansion.text(&format!("args[{index}]"), arg));
            let args = args.collect::<Result<Vec<_>, _>>()?;
            secrets_in_args(&args).iter().for_each(|secret| redactor.add(secret));
            let cwd = cwd.as_deref().map(|cwd| expansion.path("cwd", cwd)).transpose()?;
            let mut endpoint = ProcessSpec {
                program: expansion.program("command", program)?,
                args: args.into_iter().map(Secret::new).collect(),
                env: expansion.values("env", env)?,
                cwd: Some(cwd.unwrap_or_else(|| server.folder.clone())),
                confine: None,
            };
            let confine = config.confine.as_ref().or(confine).filter(|confine| confine.level != ConfineLevel::Off);
            if let Some(confine) = confine {
                let home = state_folder.map(|folder| space_folder(folder, HOMES, server, space));
                endpoint.confine = Some(expansion.profile(confine, &mut endpoint, home, state_folder)?);
            }
            Endpoint::Stdio(endpoint)
        }
        Transport::Remote { kind, url, headers, auth } => {
            let url = expansion.text("url", url)?;
            secrets_in_url(&url).iter().for_each(|secret| redactor.add(secret));
            let remote = RemoteEndpoint {
                url: Secret::new(url),
                headers: expansion.values("headers", headers)?,
                auth: expansion.auth(auth)?,
            };
            match kind {
                RemoteKind::Http => Endpoint::Http(remote),
                RemoteKind::Sse => Endpoint::Sse(remote),
                RemoteKind::WebSocket => Endpoint::WebSocket(remote),
            }
        }
    };
    let mut settings = ServerSettings::new(&server.name, endpoint);
    settings.timeout = config.timeout.unwrap_or(settings.timeout);
    settings.connect_timeout = config.connect_timeout.unwrap_or(settings.connect_timeout);
    settings.progress_timeout = config.progress_timeout;
    settings.tool_timeouts = config.tool_timeouts.clone();
    settings.max_message =
        config.max_message_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(settings.max_message);
    settings.roots = config.roots.iter().map(|root| expansion.path("roots", root)).collect::<Result<_, _>>()?;
    settings.elicitation = match config.elicitation {
        config::Elicitation::Refuse => Elicitation::Refuse,
        config::Elicitation::Defaults => Elicitation::Defaults,
    };
    settings.protocol = match config.protocol {
        config::Protocol::Auto => Protocol::Auto,
        config::Protocol::Session => Protocol::Session,
        config::Protocol::Stateless => Protocol::Stateless,
    };
    Ok(settings)
}

/// Registers the secrets of a server's settings with the redactor, before anything is started, also if a variable is
/// missing. The output of a token command is registered when the command runs.
pub(super) fn learn(server: &ConfiguredServer, variables: &Variables, state_folder: Option<&Path>, context: &Context) {
    let redactor = &context.redactor;
    let own_folder = state_folder.map(|folder| space_folder(folder, DATA, server, None));
    let variables = known_variables(server, variables, own_folder.as_deref());
    // Without `own_folder` no folder is created here.
    let expansion = Expansion { server, variables, redactor, own_folder: None };
    // A missing variable is an error when the server is started.
    let text = |raw: &Raw| expansion.text("", raw).ok();
    let values = |raw: &BTreeMap<String, Raw>| {
        raw.iter().for_each(|(name, raw)| drop(expansion.value("", name, raw)));
    };
    match &server.config.transport {
        Transport::Stdio { program, args, env, cwd } => {
            let args: Vec<String> = args.iter().filter_map(text).collect();
            secrets_in_args(&args).iter().for_each(|secret| redactor.add(secret));
            std::iter::once(program).chain(cwd).for_each(|path| drop(text(&Raw::new(path))));
            values(env);
        }
        Transport::Remote { url, headers, auth, .. } => {
            let url = text(url).unwrap_or_default();
            secrets_in_url(&url).iter().for_each(|secret| redactor.add(secret));
            values(headers);
            if let Ok(Auth::Bearer(BearerSource::File(file))) = expansion.auth(auth) {
                learn_file(&file, redactor);
            }
            context.tokens.learn(|name| name == server.name, redactor);
        }
    }
}

/// Variables that a server's settings may use. Public ones are never secret.
fn known_variables(server: &ConfiguredServer, variables: &Variables, own_folder: Option<&Path>) -> Variables {
    let mut variables = variables.clone();
    for name in &server.config.public {
        // Variables added with `with` are never secret.
        if let Ok(value) = expand(&format!("${{{name}:-}}"), &variables)
            && !value.text.is_empty()
        {
            variables = variables.with(name, value.text);
        }
    }
    match own_folder {
        Some(folder) => variables.with(SPACE_FOLDER, folder.display().to_string()),
        None => variables,
    }
}

/// Expansion of the variables in one server's configuration.
struct Expansion<'a> {
    server: &'a ConfiguredServer,
    variables: Variables,
    redactor: &'a Redactor,
    own_folder: Option<&'a Path>,
}

impl Expansion<'_> {
    fn fail(&self, member: &str, message: impl std::fmt::Display) -> ConnectError {
        let (file, place) = (self.server.file.display(), &self.server.config.place);
        ConnectError::Failed(format!("{file}: {place}.{member}: {message}"))
    }

    /// Expands the variables in a text. Their values are secrets, unless they are public.
    fn text(&self, member: &str, raw: &Raw) -> Result<String, ConnectError> {
        let expanded = self.expand(member, raw)?;
        expanded.values.iter().for_each(|secret| self.redactor.add(secret));
        Ok(expanded.text)
    }

    fn expand(&self, member: &str, raw: &Raw) -> Result<Expanded, ConnectError> {
        let text = raw.expose();
        if text.contains(SPACE_FOLDER)
            && let Some(folder) = self.own_folder
        {
            folder::make(folder).map_err(|error| self.fail(member, format!("{}: {error}", folder.display())))?;
        }
        expand(text, &self.variables).map_err(|error| self.fail(member, error))
    }

    /// Expands environment variables or headers. Empty ones are left out.
    fn values(&self, member: &str, raw: &BTreeMap<String, Raw>) -> Result<BTreeMap<String, Secret>, ConnectError> {
        let mut values = BTreeMap::new();
        for (name, raw) in raw {
            if let Some(value) = self.value(member, name, raw)? {
                values.insert(name.clone(), value);
            }
        }
        Ok(values)
    }

    /// Expands one environment variable or header.
    fn value(&self, member: &str, name: &str, raw: &Raw) -> Result<Option<Secret>, ConnectError> {
        let member = format!("{member}.{name}");
        let expanded = self.expand(&member, raw)?;
        if expanded.text.is_empty() {
            return Ok(None);
        }
        let resolved = secret_value(name, expanded, &self.server.config.public);
        let resolved = resolved.map_err(|error| self.fail(&member, error))?;
        resolved.secrets.iter().for_each(|secret| self.redactor.add(secret));
        Ok(Some(resolved.value))
    }

    fn path(&self, member: &str, path: &str) -> Result<PathBuf, ConnectError> {
        let text = self.text(member, &Raw::new(path))?;
        let path = match text.strip_prefix("~/").zip(std::env::home_dir()) {
            Some((rest, home)) => home.join(rest),
            None => self.server.folder.join(text),
        };
        Ok(std::path::absolute(&path).unwrap_or(path))
    }

    /// Sandbox profile of a server. Unless its variables set others, it gets its own `HOME` and `TMPDIR`: files that
    /// programs keep in a home, such as packages that `npx` and `uvx` fetch, are not shared with unconfined programs.
    fn profile(
        &self,
        confine: &Confine,
        endpoint: &mut ProcessSpec,
        home: Option<PathBuf>,
        state: Option<&Path>,
    ) -> Result<Profile, ConnectError> {
        let read = self.confined_paths("read", &confine.read, state)?;
        let write = self.confined_paths("write", &confine.write, state)?;
        if let Some(home) = &home {
            let temporary = home.join("tmp");
            folder::make(&temporary).map_err(|error| self.fail("confine", error))?;
            for (name, folder) in [("HOME", home), ("TMPDIR", &temporary)] {
                let value = || Secret::new(folder.display().to_string());
                endpoint.env.entry(name.to_owned()).or_insert_with(value);
            }
        }
        let path = endpoint.env.get("PATH").map(|path| path.expose().into()).or_else(|| std::env::var_os("PATH"));
        let launch = ServerLaunch {
            program: &endpoint.program,
            path: path.as_deref(),
            cwd: endpoint.cwd.as_deref().unwrap_or(&self.server.folder),
            own: home.into_iter().chain(self.own_folder.map(Path::to_owned)).collect(),
            state,
        };
        Ok(server_profile(confine, launch, read, write))
    }

    /// Existing paths for a profile. Refuses a path that exposes the state folder, which holds logins and acceptances.
    fn confined_paths(
        &self,
        member: &str,
        paths: &[String],
        state: Option<&Path>,
    ) -> Result<Vec<PathBuf>, ConnectError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = |(index, path): (usize, &String)| {
            let member = format!("confine.{member}[{index}]");
            let found = self.path(&member, path)?;
            if !found.exists() {
                return Err(self.fail(&member, format!("{} does not exist; create it first", found.display())));
            }
            let (whole, state) = (real(&found), state.map(real));
            let is_own = self.own_folder.is_some_and(|own| whole.starts_with(real(own)));
            if state.is_some_and(|state| state.starts_with(&whole) || whole.starts_with(&state)) && !is_own {
                let message =
                    format!("{} would expose the folder of stored logins; name folders outside it", found.display());
                return Err(self.fail(&member, message));
            }
            Ok(found)
        };
        paths.iter().enumerate().map(path).collect()
    }

    /// Resolves a program. `./`, `../` and `~/` begin a path; other names are looked up when it is started.
    fn program(&self, member: &str, program: &str) -> Result<String, ConnectError> {
        let text = self.text(member, &Raw::new(program))?;
        let is_path = text.starts_with("./") || text.starts_with("../") || text.starts_with("~/");
        if is_path { Ok(self.path(member, program)?.display().to_string()) } else { Ok(text) }
    }

    fn secret(&self, member: &str, raw: &Raw) -> Result<Secret, ConnectError> {
        let secret = Secret::new(self.text(member, raw)?);
        self.redactor.add(&secret);
        Ok(secret)
    }

    fn auth(&self, auth: &config::Auth) -> Result<Auth, ConnectError> {
        Ok(match auth {
            config::Auth::None => Auth::None,
            config::Auth::OAuth(client) => Auth::OAuthClient(OAuthClient {
                client_id: client.client_id.as_ref().map(|id| self.text("auth.clientId", &Raw::new(id))).transpose()?,
                client_secret: client
                    .client_secret
                    .as_ref()
                    .map(|secret| self.secret("auth.clientSecret", secret))
                    .transpose()?,
                scopes: client.scopes.clone(),
            }),
            config::Auth::Bearer(source) => Auth::Bearer(self.bearer(source)?),
        })
    }

    fn bearer(&self, source: &config::BearerSource) -> Result<BearerSource, ConnectError> {
        Ok(match source {
            config::BearerSource::Token(token) => BearerSource::Token(self.secret("auth.token", token)?),
            config::BearerSource::Env(name) => {
                BearerSource::Token(self.secret("auth.env", &Raw::new(format!("${{{name}}}")))?)
            }
            config::BearerSource::File(file) => BearerSource::File(self.path("auth.file", file)?),
            config::BearerSource::Command(words) => {
                let (program, args) = words.split_first().ok_or_else(|| self.fail("auth.command", "it is empty"))?;
                let args = args.iter().map(|word| self.text("auth.command", word).map(Secret::new));
                BearerSource::Command(ProcessSpec {
                    program: self.program("auth.command", program.expose())?,
                    args: args.collect::<Result<_, _>>()?,
                    env: BTreeMap::new(),
                    cwd: Some(self.server.folder.clone()),
                    confine: None,
                })
            }
        })
    }
}
