//! Temporary Postgres cluster of a test process.
//!
//! A shell is its parent: it ends the server and removes the files when its standard input ends, and that is when the test
//! process does, in whatever way.

use agent_spaces_journal_postgres::Address;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Password of the role over TCP. Over the socket it is not asked for.
pub(crate) const PASSWORD: &str = "correct-horse";

/// Time in which the server has to start.
const START: Duration = Duration::from_secs(60);

const RUN: &str = r#""$0/postgres" -D "$1/data" -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$1" \
    -c max_connections=400 >"$1/log" 2>&1 &
read -r _
kill -INT $!
wait
rm -rf "$1""#;

/// Running cluster.
pub(crate) struct Cluster {
    programs: PathBuf,
    /// Folder of its data and its socket.
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    /// User and group that it runs as, if this process is root.
    user: Option<(u32, u32)>,
    /// Held for its standard input.
    _parent: OnceLock<Child>,
}

impl Cluster {
    /// Returns the cluster of this process, and starts it the first time. Returns `None` if it is not installed.
    pub(crate) fn get() -> Option<&'static Cluster> {
        static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
        let cluster = CLUSTER.get_or_init(|| programs().map(Cluster::start)).as_ref();
        if cluster.is_none() {
            skip("Postgres is not installed: apt-get install postgresql");
        }
        cluster
    }

    fn start(programs: PathBuf) -> Cluster {
        // The path of a socket is short.
        let folder = tempfile::Builder::new().prefix("agent-spaces-pg-").tempdir_in("/tmp").unwrap().keep();
        let password = folder.join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        let user = unprivileged(&folder);
        if let Some((user, group)) = user {
            chown(&folder, Some(user), Some(group)).unwrap();
            chown(&password, Some(user), Some(group)).unwrap();
        }
        let cluster = Cluster { programs, folder, port: free_port(), user, _parent: OnceLock::new() };
        let mut initdb = cluster.command("initdb");
        initdb.args(["-U", "tester", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--auth-local=trust"]);
        initdb.arg("--auth-host=scram-sha-256").arg("--pwfile").arg(&password);
        let made = initdb.arg("-D").arg(cluster.folder.join("data")).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut shell = Command::new("sh");
        shell.args(["-c", RUN]).arg(&cluster.programs).arg(&cluster.folder).arg(cluster.port.to_string());
        let parent = cluster.drop_rights(&mut shell).stdin(Stdio::piped()).spawn().unwrap();
        assert!(cluster._parent.set(parent).is_ok());
        let begun = Instant::now();
        while !cluster.is_ready() {
            let log = std::fs::read_to_string(cluster.folder.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < START, "the server does not start: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        cluster
    }

    fn is_ready(&self) -> bool {
        let mut ready = self.command("pg_isready");
        ready.arg("-q").arg("-h").arg(&self.folder).args(["-p", &self.port.to_string()]).status().unwrap().success()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        self.drop_rights(&mut command);
        command
    }

    /// Lets a command run as the user of the cluster.
    pub(crate) fn drop_rights<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.current_dir(&self.folder);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    /// Returns the address of a store that nobody has.
    pub(crate) fn address(&self) -> Address {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let folder = self.folder.display();
        let options = format!("host={folder}&port={}&user=tester&connections=4&schema=test_{number}", self.port);
        Address::parse(&format!("postgres:///postgres?{options}")).unwrap()
    }

    /// Executes SQL as the administrator, and returns what it prints.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let mut psql = self.command("psql");
        psql.arg("-h").arg(&self.folder).args(["-p", &self.port.to_string(), "-U", "tester", "-d", "postgres"]);
        let output = psql.args(["-v", "ON_ERROR_STOP=1", "-qAt", "-c", sql]).output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// Reports that something is missing; in CI it fails.
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "{why}");
    // Bypasses the capture of the test harness.
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Returns a port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the folder of the newest server's programs. Debian does not put them into `PATH`.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path());
    let newest = folders.max_by_key(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse::<u32>().ok()).unwrap_or_default()
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = newest.into_iter().map(|folder| folder.join("bin")).chain(std::env::split_paths(&path));
    folders.find(|folder| folder.join("initdb").is_file())
}

/// Returns the user and group of the cluster, if this process is root: a server refuses to run as root.
fn unprivileged(folder: &Path) -> Option<(u32, u32)> {
    if std::fs::metadata(folder).unwrap().uid() != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut numbers = line.split(':').skip(2).map(|number| number.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    Some(find("postgres").or_else(|| find("nobody")).expect("an unprivileged user"))
}
