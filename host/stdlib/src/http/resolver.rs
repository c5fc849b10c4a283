//! DNS resolver that refuses private addresses.

use super::address::{Reach, reach};
use crate::refused::RefusalReason;
use agent_spaces_policy::NetworkPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A name resolves to a forbidden address. The address is not included: it would reveal the network.
#[derive(Debug, thiserror::Error)]
#[error("an address may not be reached")]
pub(super) struct PrivateAddress(pub(super) RefusalReason);

/// A name has no address.
#[derive(Debug, thiserror::Error)]
#[error("there is no address")]
struct NoAddress;

/// Most concurrent lookups. They cannot be cancelled: without a limit, a script with short timeouts and slow names
/// could use up all blocking threads.
const MAX_LOOKUPS: usize = 16;

/// The system's resolver.
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

/// Resolver that checks the addresses of another one. Connections use exactly these addresses.
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
            // One forbidden address refuses the name: its owner could choose which one is used.
            for address in &addresses {
                check(reach(address.ip()), allows_private).map_err(PrivateAddress)?;
            }
            let addresses: Addrs = Box::new(addresses.into_iter());
            Ok(addresses)
        })
    }
}

/// Refuses a private address unless allowed.
pub(super) fn check(reach: Reach, allows_private: bool) -> Result<(), RefusalReason> {
    match reach {
        Reach::Private if !allows_private => Err(RefusalReason::Private),
        Reach::Public | Reach::Private => Ok(()),
        Reach::Never => Err(RefusalReason::Never),
    }
}
