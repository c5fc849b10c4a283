//! `agent-spaces console`
//!
//! - `server`: probe of the server; `browser`: detection of a graphical session

mod browser;
mod server;

use super::failure::Failure;
use super::serving::{listener, token};
use super::{folders, output, terminal};
use agent_spaces::Code;
use agent_spaces::http_server::{Token, link};
use agent_spaces_mcp::auth::{Browser, SystemBrowser};
use capability_gen::shown;
use capability_gen::shown::Shown;
use clap::Args;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use url::Url;

/// Open the console of a running server in the browser: runs, approvals, spaces, agents and the audit log.
///
/// The link that is opened signs in as the operator, or as the caller whose token is given, once and within two minutes. The
/// token is not sent.
#[derive(Args)]
#[command(after_help = "Examples:
  agent-spaces console
  agent-spaces console --print                          # prints the link, to open it elsewhere
  agent-spaces console --url http://127.0.0.1:9000
  agent-spaces console --url https://agents.example.com --token-file ./operator.token

Start the server first, with `agent-spaces serve`.
Environment: AGENT_SPACES_LISTEN is the server's address, AGENT_SPACES_DATA stands for --data, AGENT_SPACES_TOKEN is the token.")]
pub(super) struct Console {
    /// URL of the server [default: the address in AGENT_SPACES_LISTEN, else http://127.0.0.1:7878]
    #[arg(long, value_name = "URL", value_parser = server_url)]
    url: Option<Url>,

    /// File with the token [default: the variable AGENT_SPACES_TOKEN, then the token that `serve` stored]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Folder that `serve` was given with --data [default: the user's folders]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Print the link without opening a browser
    #[arg(long)]
    print: bool,

    /// Print the link in one JSON value, without opening a browser
    #[arg(long)]
    json: bool,
}

impl Console {
    pub(super) fn execute(self) -> u8 {
        match self.prepare() {
            Ok((page, link)) if self.json => {
                output::print_line(&json!({ "ok": true, "console": page.as_str(), "link": link }))
            }
            Ok((page, link)) => self.show(&page, &link),
            Err(failure) => failure.report(self.json),
        }
    }

    /// Returns the URL of the page, and the link.
    fn prepare(&self) -> Result<(Url, String), Failure> {
        if let Some(folder) = &self.data {
            if !folder.is_dir() {
                let message = format!("--data {}: there is no such folder", folder.display());
                return Err(Failure::new(Code::ConfigUsage, message, Some("name the folder that `serve` has")));
            }
            folders::use_data(folder)?;
        }
        let url = match &self.url {
            Some(url) => url.clone(),
            None => parsed(&format!("http://{}", reachable(listener::default_address()?)))?,
        };
        let token = match token::given(self.token_file.as_deref())? {
            Some((token, _)) => token,
            None => token::stored()?,
        };
        let page = url.join("console/").map_err(|error| wrong_url(url.as_str(), &error.to_string()))?;
        // This command has no TLS, so that a server behind it cannot be asked.
        if page.scheme() == "http" {
            server::check(&page, &code(&token)?)?;
        }
        let link = format!("{page}#link={}", code(&token)?);
        Ok((page, link))
    }

    fn show(&self, page: &Url, link: &str) -> u8 {
        if !self.print && browser::has_display() && SystemBrowser.open(link).is_ok() {
            terminal::note(shown!("the browser opens {}", terminal::clean_line(page.as_str())));
            terminal::note("if it does not, print the link with `agent-spaces console --print`");
            return 0;
        }
        terminal::note("this link signs in once, within two minutes:");
        // Not cut: a partial link is useless.
        output::print(&shown!("{}\n", Shown::line(link, usize::MAX)))
    }
}

/// Says where the console of a server is that listens at an address, and how to open it.
pub(super) fn announce(address: SocketAddr) {
    let own = reachable(address);
    let page = format!("http://{own}{}", agent_spaces::console::PATH);
    let command = match own == listener::DEFAULT {
        true => "agent-spaces console".to_owned(),
        false => format!("agent-spaces console --url http://{own}"),
    };
    let (page, command) = (terminal::clean_line(&page), terminal::clean_line(&command));
    terminal::note(shown!("the console is at {} (open it with `{}`)", page, command));
}

/// Returns an address at which a browser of this machine reaches a server.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        _ => {}
    }
    address
}

fn code(token: &Token) -> Result<String, Failure> {
    link(token).map_err(|error| Failure::new(Code::HostRuntime, format!("no random numbers: {error}"), None))
}

fn parsed(text: &str) -> Result<Url, Failure> {
    server_url(text).map_err(|error| wrong_url(text, &error))
}

fn wrong_url(url: &str, error: &str) -> Failure {
    Failure::new(Code::ConfigUsage, format!("{url}: {error}"), Some("name the server's URL with --url"))
}

/// Parses the URL of a server, or of its console, to one that ends with a slash.
fn server_url(text: &str) -> Result<Url, String> {
    let is_server = |url: &Url| {
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain && url.password().is_none()
    };
    let expected = || "expected a URL such as http://127.0.0.1:7878".to_owned();
    let mut url = Url::parse(text).ok().filter(is_server).ok_or_else(expected)?;
    let path = url.path().trim_end_matches('/');
    let path = format!("{}/", path.strip_suffix("/console").unwrap_or(path));
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::{reachable, server_url};

    #[test]
    fn a_url_of_the_server_or_of_its_page_is_taken() {
        let read = |text: &str| server_url(text).ok().map(|url| url.to_string());
        for own in ["http://127.0.0.1:9000", "http://127.0.0.1:9000/", "http://127.0.0.1:9000/console/"] {
            assert_eq!(read(own).as_deref(), Some("http://127.0.0.1:9000/"), "{own}");
        }
        assert_eq!(read("https://x.example/agents/console").as_deref(), Some("https://x.example/agents/"));
        let wrong =
            ["127.0.0.1:9000", "ftp://x.example", "http://a:b@x.example", "http://x.example/?a=b", "http://x/#a", ""];
        for wrong in wrong {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_browser_reaches_all_addresses_of_a_machine_at_its_own() {
        let own = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!((own("0.0.0.0:80").as_str(), own("[::]:80").as_str()), ("127.0.0.1:80", "[::1]:80"));
        assert_eq!(own("10.0.0.1:80"), "10.0.0.1:80");
    }
}
