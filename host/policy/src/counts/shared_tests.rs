//! Counters of several hosts: each has reserves of its own, and all have one text.

use super::{Change, CountStore, DayCounts, DayFile, RateFile, Reserves, Taken, Wanted, WantedRate};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What all hosts share.
struct Texts {
    texts: Mutex<BTreeMap<String, String>>,
    asked: AtomicU64,
    /// Milliseconds since the Unix epoch.
    clock: AtomicU64,
    begun: Instant,
}

impl Texts {
    fn new() -> Arc<Texts> {
        let clock = AtomicU64::new(5 * 24 * 60 * 60 * 1000);
        Arc::new(Texts { texts: Mutex::default(), asked: AtomicU64::new(0), clock, begun: Instant::now() })
    }
}

/// One host.
struct Host {
    shared: Arc<Texts>,
    reserves: Mutex<BTreeMap<String, Arc<Reserves>>>,
}

impl CountStore for Host {
    fn now(&self) -> Result<SystemTime, String> {
        Ok(UNIX_EPOCH + Duration::from_millis(self.shared.clock.load(Ordering::SeqCst)))
    }

    fn change(&self, name: &str, change: &mut Change<'_>) -> Result<(), String> {
        self.shared.asked.fetch_add(1, Ordering::SeqCst);
        let mut texts = self.shared.texts.lock().unwrap();
        if let Some(next) = change(texts.get(name).map(String::as_bytes))? {
            texts.insert(name.to_owned(), next);
        }
        Ok(())
    }

    fn reserves(&self, name: &str) -> Arc<Reserves> {
        self.reserves.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }

    fn forget(&self, name: &str) {
        self.shared.texts.lock().unwrap().remove(name);
    }

    fn monotonic(&self) -> Instant {
        self.shared.begun + Duration::from_millis(self.shared.clock.load(Ordering::SeqCst))
    }
}

fn hosts(shared: &Arc<Texts>) -> [Arc<dyn CountStore>; 3] {
    std::array::from_fn(|_| {
        let host: Arc<dyn CountStore> = Arc::new(Host { shared: shared.clone(), reserves: Mutex::default() });
        host
    })
}

/// Three hosts in a hurry.
#[test]
fn a_daily_limit_holds_over_all_hosts_and_seldom_asks() {
    let shared = Texts::new();
    let wanted = [Wanted { key: "narrow", most: 800 }, Wanted { key: "wide", most: 5000 }];
    let made: usize = std::thread::scope(|scope| {
        let takers: Vec<_> = hosts(&shared)
            .into_iter()
            .map(|host| {
                scope.spawn(move || {
                    let file = DayFile::shared(host, "space");
                    (0..1000).filter(|_| file.take(&wanted).unwrap() == Taken::Counted).count()
                })
            })
            .collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    // What one host counted ahead and did not make is missing to the others: a sixteenth at most.
    assert!((800 - 3 * 50..=800).contains(&made), "{made}");
    assert!(shared.asked.load(Ordering::SeqCst) < 200, "{:?}", shared.asked);
}

/// Whatever was counted ahead, and whenever it is made.
#[test]
fn no_period_of_all_hosts_exceeds_a_rate() {
    const MOST: u64 = 160;
    let shared = Texts::new();
    let files = hosts(&shared).map(|host| RateFile::shared(host, "space"));
    let wanted = [WantedRate { key: "a", most: MOST, period: Duration::from_secs(60) }];
    let mut made = Vec::new();
    for step in 0..4000_u64 {
        let now = 1_000_000_000 + step * 50;
        shared.clock.store(now, Ordering::SeqCst);
        let file = &files[usize::try_from(step * 7 % 3).unwrap()];
        if file.take(&wanted).unwrap() == [None] {
            made.push(now);
        }
    }
    for begin in &made {
        let within = made.iter().filter(|time| (*begin..begin + 60_000).contains(time)).count();
        assert!(within as u64 <= MOST, "{within} from {begin}");
    }
    assert!(made.len() as u64 > MOST, "{}", made.len());
}

#[test]
fn a_host_that_gives_up_its_space_removes_the_counter() {
    let shared = Texts::new();
    let [host, other, _] = hosts(&shared);
    let one = [Wanted { key: "a", most: 1 }];
    assert_eq!(DayFile::shared(host.clone(), "x").take(&one).unwrap(), Taken::Counted);
    assert_eq!(DayFile::shared(other, "x").take(&one).unwrap(), Taken::Full(0));
    host.forget("x");
    assert!(shared.texts.lock().unwrap().is_empty());
}
