//! Sessions that were signed out, and the end of one that is in use.

use super::spent::Spent;
use super::{locked, now};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// Longest time between two looks at the clock, which may be set or stand still while the machine sleeps.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Sessions of one caller that were signed out. Clones share them.
#[derive(Clone, Default)]
pub(super) struct SignedOut(Arc<Shared>);

#[derive(Default)]
struct Shared {
    codes: Mutex<Spent>,
    /// Tells of every sign-out.
    changes: watch::Sender<()>,
}

impl SignedOut {
    pub(super) fn contains(&self, mac: &[u8; 32]) -> bool {
        locked(&self.0.codes).contains(mac)
    }

    /// Ends a session.
    pub(super) fn end(&self, mac: [u8; 32], expiry: u64, now: u64) {
        locked(&self.0.codes).end(mac, expiry, now);
        self.0.changes.send_replace(());
    }
}

/// End of the session that a request has, for a response that outlives it.
pub(crate) struct SessionEnd {
    signed_out: SignedOut,
    mac: [u8; 32],
    expiry: u64,
}

impl SessionEnd {
    pub(super) fn new(signed_out: &SignedOut, mac: [u8; 32], expiry: u64) -> SessionEnd {
        SessionEnd { signed_out: signed_out.clone(), mac, expiry }
    }

    /// Waits until the session is signed out or expires.
    pub(crate) async fn reached(self) {
        // Before the first look, so that no sign-out is missed.
        let mut changes = self.signed_out.0.changes.subscribe();
        loop {
            let left = Duration::from_secs(self.expiry.saturating_sub(now()));
            if left.is_zero() || self.signed_out.contains(&self.mac) {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(left.min(LOOK_AGAIN)) => {}
                _sender_is_here = changes.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sessions::ended::*;

    const SOON: Duration = Duration::from_millis(50);

    async fn is_over(end: &mut (impl Future<Output = ()> + Unpin)) -> bool {
        tokio::time::timeout(SOON, end).await.is_ok()
    }

    #[tokio::test]
    async fn a_session_in_use_ends_with_its_own_sign_out() {
        let (signed_out, expiry) = (SignedOut::default(), now() + 600);
        let end = |mac| Box::pin(SessionEnd::new(&signed_out, [mac; 32], expiry).reached());
        let (mut first, mut second) = (end(1), end(2));
        assert!(!is_over(&mut first).await && !is_over(&mut second).await);
        signed_out.end([1; 32], expiry, now());
        assert!(is_over(&mut first).await && !is_over(&mut second).await);
        assert!(is_over(&mut end(1)).await, "it had ended before");
    }

    #[tokio::test]
    async fn a_session_in_use_ends_when_it_expires() {
        let end = |expiry| Box::pin(SessionEnd::new(&SignedOut::default(), [1; 32], expiry).reached());
        assert!(is_over(&mut end(now())).await);
        let mut later = end(now() + 2);
        assert!(!is_over(&mut later).await);
        tokio::time::timeout(Duration::from_secs(10), later).await.unwrap();
    }
}
