//! Address of a store: a `postgres://` URL with options of ours.

use crate::connection::Prepares;
use agent_spaces_journal::StoreError;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode, TargetSessionAttrs};

/// Longest URL: some hosts and options fit.
const MAX_URL: usize = 4096;

/// Schema of the tables, unless the address names one.
const SCHEMA: &str = "agent_spaces";

/// Longest name of a schema: longer ones are cut by Postgres.
const MAX_SCHEMA: usize = 63;

/// Connections of a process, unless the address says how many: ten hosts fit the 100 that a server allows by default.
const CONNECTIONS: usize = 10;

/// Fewest and most connections: one to write and one to read; more than any server likes from one process.
const MIN_CONNECTIONS: usize = 2;
const MAX_CONNECTIONS: usize = 200;

/// Port that is not shown.
const DEFAULT_PORT: u16 = 5432;

/// Time limit of an attempt to connect, unless the address has one.
const CONNECT: Duration = Duration::from_secs(5);

/// Time after which a silent connection is probed, and after which one that does not answer is given up.
const IDLE: Duration = Duration::from_secs(30);

/// Names of options that addresses have, for errors.
const OPTIONS: &str = "schema, connections, listen, prepare, sslmode, sslrootcert, connect_timeout, application_name, options, \
                       hostaddr, keepalives, keepalives_interval, keepalives_retries, channel_binding";

/// Address of a store, which may have a password. It is not shown.
#[derive(Clone)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    /// True if changes of other hosts are announced by `NOTIFY`.
    pub(crate) listens: bool,
    pub(crate) prepares: Prepares,
    /// File with root certificates, instead of the system's.
    pub(crate) root_certificates: Option<PathBuf>,
}

impl Address {
    /// True if a text is the address of a Postgres server.
    pub fn is_postgres(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Reads a URL. Errors do not repeat any part of it, because a password with special characters may be anywhere.
    pub fn parse(url: &str) -> Result<Address, StoreError> {
        if url.len() > MAX_URL || !Address::is_postgres(url) {
            return Err(invalid("write postgres://USER@HOST:PORT/DATABASE"));
        }
        // Otherwise a part of the password would pass for a host, and be shown.
        let (_, behind) = url.split_once("://").unwrap_or_default();
        let begin = behind.split(['/', '?']).next().unwrap_or_default();
        if behind.matches('@').count() > 1 || behind.contains('@') != begin.contains('@') {
            return Err(invalid("percent-encode @, / and ? in user and password, and @ elsewhere"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut schema, mut connections, mut listens, mut root_certificates) =
            (SCHEMA.to_owned(), CONNECTIONS, false, None);
        let (mut prepares, mut is_secured) = (Prepares::default(), false);
        let mut rest: Vec<String> = Vec::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "schema" => schema = schema_name(value)?,
                "connections" => connections = connection_count(value)?,
                "listen" => listens = flag(name, value)?,
                "prepare" if value == "auto" => prepares = Prepares::Directly,
                "prepare" => prepares = if flag(name, value)? { Prepares::Always } else { Prepares::Never },
                "sslrootcert" => {
                    let path = percent_decode_str(value).decode_utf8();
                    let path = path.map_err(|_| invalid("`sslrootcert` is not UTF-8"))?;
                    root_certificates = Some(PathBuf::from(path.into_owned()));
                }
                // Certificates are always verified, with the name of the host.
                "sslmode" if matches!(value, "verify-ca" | "verify-full") => {
                    is_secured = true;
                    rest.push("sslmode=require".to_owned());
                }
                // `prefer` would send the password without encryption to whoever says that it has no TLS.
                "sslmode" if matches!(value, "prefer" | "allow") => {
                    return Err(invalid("write sslmode=require, or sslmode=disable on a private network"));
                }
                "sslmode" => {
                    is_secured = true;
                    rest.push(option.to_owned());
                }
                _ => rest.push(option.to_owned()),
            }
        }
        let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        let mut config: Config = url.parse().map_err(|_| {
            let text = "percent-encode special characters of user and password, and check the options";
            invalid(&format!("{text}: {OPTIONS}"))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(invalid("it names no host; a socket is written ?host=/var/run/postgresql"));
        }
        if !is_secured {
            let mode = if is_local(&config) { SslMode::Disable } else { SslMode::Require };
            config.ssl_mode(mode);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("agent-spaces");
        }
        if config.get_target_session_attrs() == TargetSessionAttrs::Any {
            // Of several servers one takes writes. One that is about to be promoted does not yet: it is waited for.
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        if config.get_hosts().len() > 1 {
            // One that accepts connections and does not answer is not always the first.
            config.load_balance_hosts(LoadBalanceHosts::Random);
        }
        config.keepalives_idle(IDLE).tcp_user_timeout(IDLE);
        Ok(Address { config, schema, connections, listens, prepares, root_certificates })
    }

    /// True if it has a password.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// Returns the file with root certificates, if it names one.
    pub fn root_certificates(&self) -> Option<&Path> {
        self.root_certificates.as_deref()
    }

    /// Returns it with another schema.
    pub fn with_schema(mut self, schema: &str) -> Result<Address, StoreError> {
        self.schema = schema_name(schema)?;
        Ok(self)
    }
}

/// Without password and options.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        });
        let mut hosts: Vec<String> = names.collect();
        if hosts.is_empty() {
            hosts = self.config.get_hostaddrs().iter().map(IpAddr::to_string).collect();
        }
        // One port is that of all hosts.
        let ports = self.config.get_ports();
        for (index, host) in hosts.iter_mut().enumerate() {
            if let Some(port) = ports.get(index).or(ports.first()).filter(|port| **port != DEFAULT_PORT) {
                host.push_str(&format!(":{port}"));
            }
        }
        formatter.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(formatter, "{user}@")?;
        }
        formatter.write_str(&hosts.join(","))?;
        write!(formatter, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({self})")
    }
}

/// True if all servers are on this machine, where nobody listens on the wire.
fn is_local(config: &Config) -> bool {
    let is_local_name = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_local_name) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

fn schema_name(text: &str) -> Result<String, StoreError> {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if begins && text.len() <= MAX_SCHEMA && text.bytes().all(is_part) && !text.starts_with("pg_") {
        return Ok(text.to_owned());
    }
    Err(invalid(&format!("`schema` has 1 to {MAX_SCHEMA} characters of a-z, 0-9 and _, and begins with a letter")))
}

fn connection_count(text: &str) -> Result<usize, StoreError> {
    let count = text.parse().ok().filter(|count| (MIN_CONNECTIONS..=MAX_CONNECTIONS).contains(count));
    count.ok_or_else(|| invalid(&format!("`connections` is a number from {MIN_CONNECTIONS} to {MAX_CONNECTIONS}")))
}

fn flag(name: &str, text: &str) -> Result<bool, StoreError> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(invalid(&format!("`{name}` is true or false"))),
    }
}

fn invalid(fix: &str) -> StoreError {
    StoreError::Invalid(format!("the address of the store is not valid: {fix}"))
}

#[cfg(test)]
mod tests {
    use crate::address::Address;
    use crate::connection::Prepares;
    use std::path::Path;
    use tokio_postgres::config::{SslMode, TargetSessionAttrs};

    #[test]
    fn options_of_ours_are_read_and_others_passed_on() {
        let url = "postgres://ann:s3cret-word@db.example:6432/agents?schema=a_1&connections=4&listen=true\
                   &sslrootcert=%2Fetc%2Fca.pem&connect_timeout=2";
        let address = Address::parse(url).unwrap();
        assert_eq!((address.schema.as_str(), address.connections, address.listens), ("a_1", 4, true));
        assert_eq!(address.root_certificates.as_deref(), Some(Path::new("/etc/ca.pem")));
        assert_eq!(address.config.get_connect_timeout().unwrap().as_secs(), 2);
        assert!(address.has_password());
        assert_eq!(address.to_string(), "postgres://ann@db.example:6432/agents");
        assert!(!format!("{address:?}").contains("s3cret"));
        let plain = Address::parse("postgres://ann@one,two:6000/agents").unwrap();
        assert!(!plain.has_password());
        assert_eq!(plain.to_string(), "postgres://ann@one,two:6000/agents");
        for (option, prepares) in [("auto", Prepares::Directly), ("true", Prepares::Always), ("false", Prepares::Never)]
        {
            let address = Address::parse(&format!("postgres://ann@one/agents?prepare={option}")).unwrap();
            assert_eq!(address.prepares, prepares);
        }
        assert_eq!(plain.prepares, Prepares::Directly);
    }

    #[test]
    fn the_wire_to_other_machines_is_encrypted() {
        let mode = |url: &str| Address::parse(url).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgres://db.example/a"), SslMode::Require);
        assert_eq!(mode("postgres://db.example/a?sslmode=verify-full"), SslMode::Require);
        assert_eq!(mode("postgres://db.example/a?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://localhost,db.example/a"), SslMode::Require);
        assert_eq!(mode("postgres://localhost/a"), SslMode::Disable);
        assert_eq!(mode("postgres://127.0.0.1/a"), SslMode::Disable);
        assert_eq!(mode("postgres://localhost/a?sslmode=require"), SslMode::Require);
    }

    #[test]
    fn of_several_servers_the_one_that_takes_writes_is_meant() {
        for url in ["postgres://one,two/a", "postgres://one/a"] {
            let address = Address::parse(url).unwrap();
            assert_eq!(address.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite, "{url}");
        }
    }

    #[test]
    fn errors_do_not_repeat_the_address() {
        let long = format!("postgres://ann:hidden@h/{}", "x".repeat(5000));
        for url in [
            "mysql://ann:hidden@h/a",
            "postgres:///a?password=hidden",
            "postgres://ann:hidden@h/a?schema=A-hidden",
            "postgres://ann:hidden@h/a?schema=pg_hidden",
            "postgres://ann:hidden@h/a?connections=1",
            "postgres://ann:hidden@h/a?listen=hidden",
            "postgres://ann:hidden@h/a?prepare=hidden",
            "postgres://ann:hid?den=hidden@h/a",
            "postgres://ann:hid/hidden@h/a",
            "postgres://ann:hid@hidden@h/a",
            "postgres://ann:hidden@h/a?sslmode=hidden",
            "postgres://ann:hidden@h/a?sslmode=prefer",
            "postgres://ann:hidden@h/a?sslmode=allow",
            long.as_str(),
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains("the address of the store is not valid") && !error.contains("hidden"), "{error}");
        }
    }
}
