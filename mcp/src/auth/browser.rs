//! What shows a page to the person who logs in.

use std::io;

/// Shows pages to a person.
pub trait Browser: Send + Sync {
    /// Shows the page at this address, without waiting for what becomes of it. A login goes on when this fails: the
    /// person may have been given the address in another way.
    fn open(&self, url: &str) -> io::Result<()>;
}

/// The browser that this machine is set up with.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemBrowser;

impl Browser for SystemBrowser {
    fn open(&self, url: &str) -> io::Result<()> {
        open::that_detached(url)
    }
}
