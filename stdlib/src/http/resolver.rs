//! Names to addresses, none of them inner ones.

use super::address::{Reach, reach};
use super::refused::RefusalReason;
use agent_spaces_policy::NetworkPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A name has an address that scripts may not reach. Which one is not said: it would tell of the network.
#[derive(Debug, thiserror::Error)]
#[error("an address may not be reached")]
pub(super) struct PrivateAddress(pub(super) RefusalReason);

/// A name has no address.
#[derive(Debug, thiserror::Error)]
#[error("there is no address")]
struct NoAddress;

/// Lookups under way at once. One cannot be stopped, though nobody waits for it any more: without a bound, a script with
/// short timeouts and slow names could take all threads that the process has for such work.
const MAX_LOOKUPS: usize = 16;

/// Looks names up as all programs of this machine do.
pub(super) struct System {
    lookups: Arc<Semaphore>,
}

impl System {
    pub(super) fn new() -> System {
        System { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Resolve for System {
    fn resolve(&self, name: Name) -> Resolving {
        let lookups = Arc::clone(&self.lookups);
        Box::pin(async move {
            let slot = lookups.acquire_owned().await?;
            let found = tokio::task::spawn_blocking(move || {
                let found = (name.as_str(), 0).to_socket_addrs();
                drop(slot);
                found
            });
            let addresses: Addrs = Box::new(found.await??);
            Ok(addresses)
        })
    }
}

/// Hands on what another resolver finds, if all of it may be reached. Connections are made to just these addresses.
pub(super) struct Guarded {
    pub(super) names: Arc<dyn Resolve>,
    pub(super) policy: Arc<NetworkPolicy>,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.policy.allows_private(name.as_str());
        let found = self.names.resolve(name);
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = found.await?.collect();
            if addresses.is_empty() {
                return Err(NoAddress.into());
            }
            // One that is refused refuses the name: who owns it chooses which of them is used.
            for address in &addresses {
                check(reach(address.ip()), allows_private).map_err(PrivateAddress)?;
            }
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}

/// Whether an address may be reached, for a host that may be private or may not.
pub(super) fn check(reach: Reach, allows_private: bool) -> Result<(), RefusalReason> {
    match reach {
        Reach::Private if !allows_private => Err(RefusalReason::Private),
        Reach::Public | Reach::Private => Ok(()),
        Reach::Never => Err(RefusalReason::Never),
    }
}
