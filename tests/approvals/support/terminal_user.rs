//! Simulated person at a pseudo-terminal.

use super::home::wait_with_timeout;
use super::{Home, TIMEOUT};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// End of a prompt.
pub(crate) const PROMPT: &str = "Your answer (y, r, a or n): ";
/// A prompt ignores keys for half a second.
const READING: Duration = Duration::from_millis(800);
/// Rows and columns, as terminals usually have and as the emulator has by default.
const SIZE: (u16, u16) = (24, 80);

/// Simulated user, a terminal, and a command that runs in it.
pub(crate) struct TerminalUser {
    keys: File,
    seen: Arc<Mutex<Seen>>,
    child: Child,
    device: PathBuf,
    /// Keeps the terminal open.
    keeper: Option<File>,
    reader: Option<std::thread::JoinHandle<()>>,
    _home: Home,
}

struct Seen {
    text: Vec<u8>,
    screen: vt100::Parser,
}

impl TerminalUser {
    /// Starts a script of the project.
    pub(crate) fn starts(home: &Home, source: &str, options: &[&str]) -> TerminalUser {
        home.write("script.ts", source);
        TerminalUser::starts_file(home, "script.ts", options)
    }

    /// Starts a file of the project.
    pub(crate) fn starts_file(home: &Home, file: &str, options: &[&str]) -> TerminalUser {
        TerminalUser::typing(home, "", file, options)
    }

    /// The same, with keys typed ahead.
    pub(crate) fn typing(home: &Home, keys: &str, file: &str, options: &[&str]) -> TerminalUser {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: SIZE.0, ws_col: SIZE.1, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let device = PathBuf::from(ptsname(&master, Vec::new()).unwrap().into_string().unwrap());
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let keeper = File::from(open(&device, flags, Mode::empty()).unwrap());
        let mut master = File::from(master);
        master.write_all(keys.as_bytes()).unwrap();

        let seen = Arc::new(Mutex::new(Seen { text: Vec::new(), screen: vt100::Parser::default() }));
        let reader = read(master.try_clone().unwrap(), Arc::clone(&seen));
        // The first terminal that a session leader opens becomes its controlling terminal.
        let script = r#"tty=$1; shift; exec "$@" 0<>"$tty" 1>&0 2>&0"#;
        let run = home.command(&["run", file]);
        let mut command = Command::new("setsid");
        command.args(["sh", "-c", script, "sh"]).arg(&device);
        command.arg(run.get_program()).args(run.get_args()).args(options);
        home.set_environment(&mut command);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.expect("setsid and sh are on every Linux");
        let (keeper, reader) = (Some(keeper), Some(reader));
        TerminalUser { keys: master, seen, child, device, keeper, reader, _home: home.clone() }
    }

    /// Path of the terminal.
    pub(crate) fn device(&self) -> &Path {
        &self.device
    }

    /// All output so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().text).into_owned()
    }

    /// Rows of the current screen.
    pub(crate) fn rows(&self) -> Vec<String> {
        self.seen.lock().unwrap().screen.screen().rows(0, SIZE.1).collect()
    }

    /// Waits until a text was shown this many times.
    pub(crate) fn waits_for(&self, text: &str, times: usize) {
        let end = Instant::now() + TIMEOUT;
        while self.text().matches(text).count() < times {
            assert!(Instant::now() < end, "{text} was not shown {times} times, but: {}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Presses keys.
    pub(crate) fn types(&self, keys: &str) {
        (&self.keys).write_all(keys.as_bytes()).unwrap();
    }

    /// Reads the prompt with this number, and answers it.
    pub(crate) fn answers(&self, prompt: usize, keys: &str) {
        self.waits_for(PROMPT, prompt);
        std::thread::sleep(READING);
        self.types(keys);
    }

    /// Waits for the end; returns the exit status and all output.
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let status = wait_with_timeout(&mut self.child);
        self.keeper = None;
        self.reader.take().unwrap().join().unwrap();
        (status, self.text())
    }
}

impl Drop for TerminalUser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(mut from: File, seen: Arc<Mutex<Seen>>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        // Ends with the last process that has the terminal open.
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let mut seen = seen.lock().unwrap();
            seen.text.extend_from_slice(&bytes[..count]);
            seen.screen.process(&bytes[..count]);
        }
    })
}
