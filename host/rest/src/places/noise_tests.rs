//! A noisy tenant, measured in ticks of a clock of its own: the order of starts decides, not the speed of a machine.

use super::{Place, Places, Processors, Seat};
use futures_util::FutureExt;
use std::collections::VecDeque;
use std::pin::Pin;

const PLACES: usize = 32;
/// Quiet tenants. Each starts a run every 40 ticks, so that together they need eight places.
const QUIET: usize = 16;
const INTERVAL: usize = 40;
/// Ticks that a quiet run takes.
const QUIET_TICKS: usize = 20;
/// A noisy run takes longer, so that it holds what it gets.
const NOISY_TICKS: usize = 400;
const TICKS: usize = 4_000;
/// Runs of the noisy tenant that wait at any time.
const NOISE: usize = 100;

type Entering = Pin<Box<dyn Future<Output = Place>>>;

/// Runs of one tenant.
struct Tenant {
    seat: Seat,
    ticks: usize,
    waiting: VecDeque<(usize, Entering)>,
    /// Places, and the tick at which each is given back.
    running: Vec<(usize, Place)>,
    /// Ticks from the request to the end, of each run.
    latencies: Vec<usize>,
}

impl Tenant {
    fn new(name: &str, ticks: usize, most: usize) -> Tenant {
        let seat = Seat { tenant: name.into(), caller: name.into(), most, is_quota: false };
        Tenant { seat, ticks, waiting: VecDeque::new(), running: Vec::new(), latencies: Vec::new() }
    }

    fn ask(&mut self, places: &Places, now: usize) {
        let (places, seat) = (places.clone(), self.seat.clone());
        self.waiting.push_back((now, Box::pin(async move { places.enter(&seat).await })));
    }

    fn start(&mut self, now: usize) {
        let mut still = VecDeque::new();
        for (since, mut entering) in self.waiting.drain(..) {
            match (&mut entering).now_or_never() {
                Some(place) => {
                    self.running.push((now + self.ticks, place));
                    self.latencies.push(now + self.ticks - since);
                }
                None => still.push_back((since, entering)),
            }
        }
        self.waiting = still;
    }

    fn end(&mut self, now: usize) {
        self.running.retain(|(end, _)| *end > now);
    }
}

/// Returns the 99th percentile of the quiet tenants' latencies.
fn p99(is_noisy: bool, most: usize) -> usize {
    let places = Places::new(PLACES, PLACES, Processors::default());
    let mut quiet: Vec<Tenant> =
        (0..QUIET).map(|number| Tenant::new(&format!("quiet {number}"), QUIET_TICKS, most)).collect();
    let mut noisy = Tenant::new("noisy", NOISY_TICKS, most);
    for now in 0..TICKS {
        quiet.iter_mut().chain([&mut noisy]).for_each(|tenant| tenant.end(now));
        // The noise comes first: it has whatever it can get.
        if is_noisy {
            while noisy.waiting.len() < NOISE {
                noisy.ask(&places, now);
            }
            noisy.start(now);
        }
        for (number, tenant) in quiet.iter_mut().enumerate() {
            if (now + number * 7).is_multiple_of(INTERVAL) {
                tenant.ask(&places, now);
            }
        }
        quiet.iter_mut().for_each(|tenant| tenant.start(now));
    }
    let mut latencies: Vec<usize> = quiet.iter().flat_map(|tenant| tenant.latencies.clone()).collect();
    latencies.sort_unstable();
    assert!(latencies.len() > QUIET * (TICKS / INTERVAL) / 2, "they starve: {}", latencies.len());
    assert_eq!(noisy.latencies.is_empty(), !is_noisy);
    latencies[latencies.len() * 99 / 100]
}

#[test]
fn a_noisy_tenant_changes_the_p99_of_others_by_less_than_a_fifth() {
    let half = PLACES / 2;
    let (alone, beside) = (p99(false, half), p99(true, half));
    assert_eq!(alone, QUIET_TICKS, "alone they never wait");
    assert!(beside * 100 < alone * 120, "{alone} ticks alone, {beside} beside a noisy tenant");
    // What the bound is for: turns alone do not help those who find all places held by long runs.
    assert!(p99(true, PLACES) > alone * 2);
}
