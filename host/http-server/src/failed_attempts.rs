//! Rate limit on wrong tokens, against guessing of those that a person made up.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of failures of one address in the time. A person mistypes a few times, and a program that is not
/// configured yet tries again.
const MAX_FAILURES: u32 = 10;
const TIME: Duration = Duration::from_secs(60);

/// Maximum number of addresses: the oldest is forgotten for a new one.
const MAX_ADDRESSES: usize = 4096;

/// Failed attempts by address.
#[derive(Default)]
pub struct FailedAttempts(Mutex<HashMap<IpAddr, Failures>>);

struct Failures {
    /// Time of the first.
    since: Instant,
    count: u32,
}

impl FailedAttempts {
    /// Returns the seconds until an address may try again; `None` if it may now.
    pub fn wait(&self, address: IpAddr, now: Instant) -> Option<u64> {
        let failures = self.locked();
        let failed = failures.get(&network(address)).filter(|failed| failed.count >= MAX_FAILURES)?;
        let left = TIME.checked_sub(now.saturating_duration_since(failed.since)).filter(|left| !left.is_zero())?;
        Some(left.as_secs() + 1)
    }

    /// Counts a failure.
    pub fn add(&self, address: IpAddr, now: Instant) {
        let mut failures = self.locked();
        failures.retain(|_, failed| now.saturating_duration_since(failed.since) < TIME);
        let address = network(address);
        if failures.len() >= MAX_ADDRESSES && !failures.contains_key(&address) {
            let oldest = failures.iter().min_by_key(|(_, failed)| failed.since).map(|(address, _)| *address);
            if let Some(oldest) = oldest {
                failures.remove(&oldest);
            }
        }
        let failed = failures.entry(address).or_insert(Failures { since: now, count: 0 });
        failed.count = failed.count.saturating_add(1);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<IpAddr, Failures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what one client has: an IPv4 address, or the 64 bits of an IPv6 network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use crate::failed_attempts::*;

    #[test]
    fn an_address_that_failed_too_often_waits_and_others_do_not() {
        let (failures, now) = (FailedAttempts::default(), Instant::now());
        let [ann, mapped, eve]: [IpAddr; 3] =
            ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        for _ in 0..MAX_FAILURES {
            assert_eq!(failures.wait(ann, now), None);
            failures.add(ann, now);
        }
        assert_eq!(
            (failures.wait(ann, now), failures.wait(mapped, now), failures.wait(eve, now)),
            (Some(61), Some(61), None)
        );
        assert_eq!(failures.wait(ann, now + TIME), None);
        failures.add(ann, now + TIME);
        assert_eq!(failures.wait(ann, now + TIME), None, "a new minute");
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_and_their_number_is_bounded() {
        let (failures, now) = (FailedAttempts::default(), Instant::now());
        for last in 0..MAX_FAILURES {
            failures.add(IpAddr::V6(Ipv6Addr::from_bits((1 << 64) | u128::from(last))), now);
        }
        assert!(failures.wait(IpAddr::V6(Ipv6Addr::from_bits((1 << 64) | 99)), now).is_some());
        assert!(failures.wait(IpAddr::V6(Ipv6Addr::from_bits(2 << 64)), now).is_none());
        for number in 0..MAX_ADDRESSES as u128 {
            failures.add(IpAddr::V6(Ipv6Addr::from_bits((number + 10) << 64)), now + Duration::from_secs(1));
        }
        assert_eq!(failures.locked().len(), MAX_ADDRESSES);
        assert!(failures.wait(IpAddr::V6(Ipv6Addr::from_bits(1 << 64)), now).is_none(), "the oldest is forgotten");
    }
}
