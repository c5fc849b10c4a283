//! Random histories, compared with a model of a store.

use super::{Fixture, LEASE, entry, fenced, new};
use crate::claim::Claim;
use crate::run::{Signalled, Status, Wake};
use crate::store::Store;
use std::collections::BTreeSet;

const SEEDS: u64 = 3;
const STEPS: usize = 80;
const RUNS: usize = 3;
const KEYS: [&str; 3] = ["a", "b", "c"];

/// One run as it should be.
struct Model {
    id: String,
    status: Status,
    epoch: u64,
    lease_until: i64,
    bodies: Vec<String>,
    waits_for: Option<&'static str>,
    signals: BTreeSet<&'static str>,
    is_cancelled: bool,
    /// All claims that there were.
    claims: Vec<Claim>,
}

/// Pseudo-random numbers: the same for the same seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// Returns a number below `sides`.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

impl Model {
    /// True if a write under the claim is to be accepted.
    fn accepts(&self, claim: &Claim, seq: usize) -> bool {
        self.owns(claim) && seq == self.bodies.len()
    }

    fn owns(&self, claim: &Claim) -> bool {
        claim.fault().is_none() && claim.epoch == self.epoch && self.status == Status::Running
    }

    fn wake(&mut self) {
        (self.status, self.waits_for) = (Status::Ready, None);
    }

    fn wakes(&mut self, is_waited_for: bool) -> Signalled {
        if self.status.is_ended() {
            return Signalled::Ended;
        }
        if self.status != Status::Parked || !is_waited_for {
            return Signalled::Noted;
        }
        self.wake();
        Signalled::Woken
    }
}

/// Claims, writes under claims new and old, waits and signals in any order, through two handles.
pub async fn random_histories_agree_with_the_model(fixture: &Fixture) {
    for seed in 1..=SEEDS {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut models = Vec::new();
        for number in 0..RUNS {
            let id = format!("run_{seed}_{number}");
            let claim = fixture.create(&id).await;
            models.push(Model {
                id,
                status: Status::Running,
                epoch: 1,
                lease_until: fixture.now() + 60_000,
                bodies: vec!["0".to_owned()],
                waits_for: None,
                signals: BTreeSet::new(),
                is_cancelled: false,
                claims: vec![claim],
            });
        }
        for step in 0..STEPS {
            let store = if dice.roll(2) == 0 { &fixture.store } else { &fixture.other };
            let model = &mut models[dice.roll(RUNS)];
            take_step(fixture, &**store, model, &mut dice, step).await;
        }
        for model in &models {
            let run = fixture.run(&model.id).await;
            assert_eq!((run.status, run.epoch), (model.status, model.epoch), "{run:?}");
            assert_eq!(run.cancel_requested, model.is_cancelled, "{run:?}");
            assert_eq!(fixture.bodies(&model.id).await, model.bodies, "seed {seed}");
        }
    }
    let (refused, _) = fixture.store.create(new("run_1_0"), fixture.store.owner(), vec![]);
    fixture.store.flush().await.unwrap();
    assert!(refused.fault().is_some());
}

async fn take_step(fixture: &Fixture, store: &dyn Store, model: &mut Model, dice: &mut Dice, step: usize) {
    // Mostly the latest claim.
    let back = if dice.roll(4) == 0 { dice.roll(model.claims.len()) } else { 0 };
    let claim = model.claims[model.claims.len() - 1 - back].clone();
    let seq = model.bodies.len() - usize::from(dice.roll(12) == 0);
    let (number, body, key) = (seq as u64, step.to_string(), KEYS[dice.roll(KEYS.len())]);
    let id = model.id.clone();
    match dice.roll(20) {
        0..7 => {
            let accepted = model.accepts(&claim, seq);
            let outcome = store.append(&claim, number, vec![entry(&body)]).await;
            assert_eq!(outcome, if accepted { Ok(()) } else { fenced(&claim) });
            model.bodies.extend(accepted.then_some(body));
        }
        7..11 => {
            let is_free = match model.status {
                Status::Ready => true,
                Status::Running => model.lease_until <= fixture.now(),
                _ => false,
            };
            let claimed = store.claim(&id, store.owner(), LEASE).await;
            assert_eq!(claimed.is_ok(), is_free, "{id} {:?}: {claimed:?}", model.status);
            if let Ok(claim) = claimed {
                model.epoch += 1;
                assert_eq!((claim.epoch, claim.next_seq), (model.epoch, model.bodies.len() as u64));
                (model.status, model.lease_until) = (Status::Running, fixture.now() + 60_000);
                model.claims.push(claim);
            }
        }
        11..14 => {
            let accepted = model.accepts(&claim, seq);
            let wake = Wake { at_ms: None, keys: vec![key.to_owned()] };
            let outcome = store.park(&claim, number, vec![entry(&body)], wake).await;
            assert_eq!(outcome, if accepted { Ok(()) } else { fenced(&claim) });
            if accepted {
                model.bodies.push(body);
                (model.status, model.waits_for) = (Status::Parked, Some(key));
                if model.is_cancelled || model.signals.contains(key) {
                    model.wake();
                }
            }
        }
        14..17 => {
            let expected = model.wakes(model.waits_for == Some(key));
            assert_eq!(store.signal(&id, key).await, Ok(expected));
            model.signals.insert(key);
        }
        17 => {
            let accepted = model.owns(&claim);
            assert_eq!(store.release(&claim).await, if accepted { Ok(()) } else { fenced(&claim) });
            if accepted {
                model.wake();
            }
        }
        18 => fixture.pass(LEASE),
        _ if dice.roll(3) == 0 => {
            let expected = model.wakes(true);
            assert_eq!(store.request_cancel(&id).await, Ok(expected));
            model.is_cancelled |= expected != Signalled::Ended;
        }
        _ if dice.roll(3) == 0 => {
            let accepted = model.accepts(&claim, seq);
            let outcome = store.finish(&claim, number, vec![entry(&body)], Status::Finished, body.clone()).await;
            assert_eq!(outcome, if accepted { Ok(()) } else { fenced(&claim) });
            if accepted {
                model.bodies.push(body);
                model.status = Status::Finished;
            }
        }
        _ => {}
    }
}
