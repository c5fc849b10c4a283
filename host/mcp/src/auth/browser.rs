//! Opening a browser for the person who logs in.

use std::io;

/// Opens web pages for a person.
pub trait Browser: Send + Sync {
    /// Opens the page at this URL without waiting for it. A login continues if this fails, because the person may have
    /// got the URL another way.
    fn open(&self, url: &str) -> io::Result<()>;
}

/// Default browser of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemBrowser;

impl Browser for SystemBrowser {
    fn open(&self, url: &str) -> io::Result<()> {
        open::that_detached(url)
    }
}
