use super::{CREDIT, LATE, Lateness, MAX_REMEMBERED, State, VERY_LATE};
use crate::places::processors::priority::ThreadId;
use std::sync::Arc;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
const THREAD: ThreadId = ThreadId::NONE;

fn wait(state: &mut State<u32>, tenant: &str, work: u32, now: Instant) {
    state.wait(&tenant.into(), Arc::new(work), now);
}

fn next(state: &mut State<u32>, now: Instant) -> Option<(u64, u32)> {
    state.next(THREAD, now).map(|begun| (begun.number, *begun.work))
}

fn is_lowered(state: &State<u32>, number: u64) -> bool {
    state.polls.get(&number).unwrap().is_lowered
}

#[test]
fn the_tenant_that_has_computed_the_least_is_next() {
    let (mut state, now) = (State::new(1), Instant::now());
    wait(&mut state, "noisy", 1, now);
    wait(&mut state, "noisy", 2, now);
    wait(&mut state, "noisy", 3, now);
    assert_eq!(next(&mut state, now), Some((1, 1)));
    wait(&mut state, "quiet", 11, now);
    wait(&mut state, "quiet", 12, now);
    assert_eq!(next(&mut state, now), None, "the processor is in use");
    state.end(1, now + MS);
    assert_eq!(next(&mut state, now), Some((2, 11)));
    let now = now + MS + MS / 4;
    state.end(2, now);
    assert_eq!(next(&mut state, now), Some((3, 12)), "it has used a quarter of what the other has");
    state.end(3, now + MS);
    assert_eq!(next(&mut state, now + MS), Some((4, 2)));
}

#[test]
fn a_poll_that_takes_long_makes_room_for_those_who_wait() {
    let (mut state, now) = (State::new(1), Instant::now());
    wait(&mut state, "noisy", 1, now);
    next(&mut state, now);
    assert_eq!(state.take_late(now), Lateness::Irrelevant, "nobody waits");
    wait(&mut state, "quiet", 11, now);
    assert_eq!(state.take_late(now + LATE / 2), Lateness::NotBefore(now + LATE));
    assert!(!state.has_turn() && state.is_crowded());
    assert_eq!(state.take_late(now + LATE), Lateness::Late(Some(THREAD)), "it has computed more");
    assert!(state.has_turn());
    let (number, work) = next(&mut state, now + LATE).unwrap();
    assert_eq!(work, 11);
    wait(&mut state, "noisy", 2, now);
    let due = now + LATE + VERY_LATE;
    assert_eq!(state.take_late(now + LATE * 2), Lateness::NotBefore(due), "who waits has computed more");
    assert_eq!(state.take_late(due), Lateness::Late(None), "it still has: both computed");
    assert!(state.end(number, due) && state.end(1, due), "both were late");
    assert_eq!(next(&mut state, now), Some((3, 2)));
    assert!(!state.end(3, now));
    for name in ["noisy", "quiet"] {
        state.forget_if_idle(&name.into());
    }
    assert!(state.is_idle());
}

/// Polls the work whose turn it is for a millisecond.
fn step(state: &mut State<u32>, now: &mut Instant) -> u32 {
    let (number, work) = next(state, *now).unwrap();
    *now += MS;
    state.end(number, *now);
    for name in ["noisy", "quiet"] {
        state.forget_if_idle(&name.into());
    }
    work
}

#[test]
fn who_computes_little_is_not_cut_into_pieces_and_who_was_idle_has_no_more_than_its_credit() {
    let (mut state, mut now) = (State::new(1), Instant::now());
    (0..2_000).for_each(|_| wait(&mut state, "noisy", 1, now));
    (0..1_000).for_each(|_| assert_eq!(step(&mut state, &mut now), 1));
    // Short runs with pauses between.
    for _ in 0..3 {
        for _ in 0..10 {
            wait(&mut state, "quiet", 11, now);
            assert_eq!(step(&mut state, &mut now), 11);
        }
        (0..100).for_each(|_| assert_eq!(step(&mut state, &mut now), 1));
    }
    // One that never ends has its credit, and then half.
    let mut steps = 0;
    while {
        wait(&mut state, "quiet", 11, now);
        step(&mut state, &mut now) == 11
    } {
        steps += 1;
    }
    assert!(MS * steps <= CREDIT + MS * 2, "{steps}");
}

#[test]
fn a_poll_that_goes_on_counts() {
    let (mut state, mut now) = (State::new(1), Instant::now());
    (0..2).for_each(|work| wait(&mut state, "noisy", work, now));
    next(&mut state, now);
    now += VERY_LATE;
    assert_eq!(state.take_late(now), Lateness::Late(None));
    wait(&mut state, "quiet", 11, now);
    assert_eq!(next(&mut state, now), Some((2, 11)), "the first poll of the other has not ended");
    // Each has half of the processor.
    now += MS * 10;
    state.count(now);
    let used = ["noisy", "quiet"].map(|name| state.used(&name.into()));
    assert_eq!(used, [VERY_LATE + MS * 5, MS * 5]);
}

/// Computes for so many milliseconds with all processors. Whoever had a poll waits again. Returns the first step at
/// which work had a turn.
fn compute(state: &mut State<u32>, now: &mut Instant, steps: u32, wanted: u32) -> Option<u32> {
    let mut first = None;
    for at in 0..steps {
        let begun: Vec<_> = std::iter::from_fn(|| state.next(THREAD, *now)).collect();
        if first.is_none() && begun.iter().any(|begun| *begun.work == wanted) {
            first = Some(at);
        }
        *now += MS;
        for begun in begun {
            let name = state.polls.get(&begun.number).unwrap().tenant.clone();
            state.wait(&name, begun.work, *now);
            state.end(begun.number, *now);
        }
    }
    first
}

#[test]
fn who_cannot_use_its_share_gains_nothing_for_others() {
    let (mut state, mut now) = (State::new(8), Instant::now());
    // One run that computes is an eighth of the machine, however long.
    wait(&mut state, "single", 1, now);
    (0..100).for_each(|_| wait(&mut state, "noisy", 2, now));
    compute(&mut state, &mut now, 20_000, 0);
    assert!(state.used(&"single".into()) + CREDIT >= state.begin);
    (0..100).for_each(|_| wait(&mut state, "new", 3, now));
    assert_eq!(compute(&mut state, &mut now, 10, 3), Some(0), "it has its credit");
    let back = compute(&mut state, &mut now, 1_000, 2);
    assert!(back.is_some_and(|step| MS * step < CREDIT), "{back:?}");
    assert_eq!(compute(&mut state, &mut now, 10, 1), Some(0), "a share of its own is there at all times");
}

#[test]
fn who_comes_has_its_credit_beside_a_poll_that_has_gone_on_for_long() {
    let (mut state, mut now) = (State::new(2), Instant::now());
    wait(&mut state, "long", 1, now);
    next(&mut state, now);
    now += MS * 60_000;
    (0..10).for_each(|_| wait(&mut state, "new", 2, now));
    let new = state.used(&"new".into());
    assert_eq!(state.used(&"long".into()) - new, CREDIT);
}

#[test]
fn polls_that_were_held_up_are_not_lowered() {
    let (mut state, mut now) = (State::new(1), Instant::now());
    wait(&mut state, "runs of quiet", 11, now);
    let (held_up, _) = next(&mut state, now).unwrap();
    now += LATE - MS;
    (0..2).for_each(|_| wait(&mut state, "requests of quiet", 21, now));
    now += MS / 2;
    assert_eq!(state.take_late(now), Lateness::NotBefore(now + MS / 2));
    // It gives its processor away once it was late, and is lowered once it has computed for as long.
    state.polls.get_mut(&held_up).unwrap().used -= MS;
    now += MS / 2;
    assert_eq!(state.take_late(now), Lateness::Late(None));
    let (other, _) = next(&mut state, now).unwrap();
    assert!(!is_lowered(&state, held_up));
    now += MS;
    assert_eq!(state.take_late(now), Lateness::NotBefore(now + MS), "each has half of the processor");
    now += MS;
    assert_eq!(state.take_late(now), Lateness::Late(Some(THREAD)));
    assert!(is_lowered(&state, held_up) && !is_lowered(&state, other));
}

#[test]
fn late_polls_are_lowered_when_a_tenant_begins_that_has_computed_less() {
    let (mut state, mut now) = (State::new(1), Instant::now());
    (0..2).for_each(|_| wait(&mut state, "noisy", 1, now));
    let (late, _) = next(&mut state, now).unwrap();
    now += VERY_LATE;
    assert_eq!(state.take_late(now), Lateness::Late(None), "its own work waits");
    let (own, _) = next(&mut state, now).unwrap();
    state.end(own, now);
    assert!(!is_lowered(&state, late));
    wait(&mut state, "quiet", 11, now);
    assert_eq!(state.next(THREAD, now).unwrap().lowered.len(), 1);
    assert!(is_lowered(&state, late));
}

#[test]
fn what_is_remembered_is_bounded() {
    let (mut state, now) = (State::new(1), Instant::now());
    for number in 0..MAX_REMEMBERED * 2 + 1 {
        let name: Arc<str> = number.to_string().into();
        state.wait(&name, Arc::new(1_u32), now);
        let poll = state.next(THREAD, now).unwrap().number;
        state.end(poll, now);
        state.forget_if_idle(&name);
    }
    assert!(state.remembered.len() <= MAX_REMEMBERED && state.is_idle());
}

#[test]
fn a_late_poll_is_lowered_when_another_tenant_comes() {
    let (mut state, mut now) = (State::new(1), Instant::now());
    (0..2).for_each(|work| wait(&mut state, "noisy", work, now));
    next(&mut state, now);
    now += VERY_LATE * 2;
    assert_eq!(state.take_late(now), Lateness::Late(None), "only its own tenant waits");
    assert_eq!(next(&mut state, now), Some((2, 1)));
    wait(&mut state, "quiet", 11, now);
    assert_eq!(state.take_late(now), Lateness::Late(Some(THREAD)), "the first");
    assert!(!state.has_turn(), "it has no processor to give");
    assert_eq!(state.take_late(now), Lateness::NotBefore(now + LATE), "once is enough");
    assert_eq!(state.take_late(now + LATE), Lateness::Late(Some(THREAD)), "the second");
    assert_eq!(next(&mut state, now + LATE), Some((3, 11)));
    for number in 1..=3 {
        state.end(number, now + LATE);
    }
    for name in ["noisy", "quiet"] {
        state.forget_if_idle(&name.into());
    }
    assert!(state.is_idle());
}

#[test]
fn late_polls_of_a_tenant_are_bounded() {
    let (mut state, now) = (State::new(1), Instant::now());
    (0..5).for_each(|work| wait(&mut state, "noisy", work, now));
    assert_eq!(next(&mut state, now), Some((1, 0)));
    assert_eq!(state.take_late(now + LATE), Lateness::NotBefore(now + VERY_LATE), "its own work waits");
    let now = now + VERY_LATE;
    assert_eq!(state.take_late(now), Lateness::Late(None));
    assert_eq!(next(&mut state, now), Some((2, 1)));
    assert_eq!(state.take_late(now + VERY_LATE), Lateness::Irrelevant);
    wait(&mut state, "quiet", 11, now);
    let late = [state.take_late(now + LATE), state.take_late(now + LATE)];
    assert_eq!(late, [const { Lateness::Late(Some(THREAD)) }; 2]);
    assert_eq!(next(&mut state, now), Some((3, 11)));
}
