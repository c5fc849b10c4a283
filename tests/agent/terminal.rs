//! The command in a pseudo-terminal.

use super::project::Project;
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The line editor turns bracketed paste on for every line, once it reads keys.
const PROMPT: &str = "\x1b[?2004h";

/// Time for one answer, or for the command to end.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Terminal {
    keys: File,
    device: File,
    text: Arc<Mutex<Vec<u8>>>,
    child: Child,
    prompts: usize,
}

impl Terminal {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Terminal {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let device = File::from(open(name, flags, Mode::empty()).unwrap());
        let keys = File::from(keys);
        let text = Arc::new(Mutex::new(Vec::new()));
        let (mut from, shown) = (keys.try_clone().unwrap(), text.clone());
        // Ends with the test, or when nothing has the terminal open.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                shown.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        let stdio = || Stdio::from(device.try_clone().unwrap());
        let mut command = project.command(arguments);
        command.env("TERM", "xterm-256color").stdin(stdio()).stdout(stdio()).stderr(stdio());
        let child = command.spawn().unwrap();
        Terminal { keys, device, text, child, prompts: 0 }
    }

    /// Waits for the next prompt, then presses keys.
    pub(crate) fn types(&mut self, keys: &str) {
        self.prompts += 1;
        let prompts = self.prompts;
        self.wait_until(|text| text.matches(PROMPT).count() >= prompts);
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until a text is shown.
    pub(crate) fn shows(&self, expected: &str) {
        self.wait_until(|text| text.contains(expected));
    }

    fn wait_until(&self, is_shown: impl Fn(&str) -> bool) {
        let end = Instant::now() + TIMEOUT;
        loop {
            let text = String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned();
            if is_shown(&text) {
                return;
            }
            assert!(Instant::now() < end, "{text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// PID of the command.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if the terminal reads lines and shows keys, as shells expect.
    pub(crate) fn is_cooked(&self) -> bool {
        let mode: Termios = tcgetattr(&self.device).unwrap();
        mode.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits for the end of the command; returns its exit status.
    pub(crate) fn ends(&mut self) -> Option<i32> {
        let end = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "{}", String::from_utf8_lossy(&self.text.lock().unwrap()));
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
