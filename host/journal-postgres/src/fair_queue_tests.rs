use crate::fair_queue::{FairQueue, MAX_LOOKED_AT, MAX_REMEMBERED, Permit, Source};

fn caller(name: &str) -> Source {
    Source::Caller(name.into())
}

/// Queue with values of callers, each with a key of its own.
fn queue(values: &[(&str, u64)]) -> FairQueue<u64> {
    let mut queue = FairQueue::new();
    values.iter().for_each(|(name, value)| queue.push(caller(name), *value, *value));
    queue
}

/// Takes a value, and is done with it.
fn pop<T>(queue: &mut FairQueue<T>) -> Option<T> {
    let (taken, value) = queue.take(|_, _| Permit::All, |_| true)?;
    queue.done(taken);
    Some(value)
}

fn drain<T>(queue: &mut FairQueue<T>) -> Vec<T> {
    std::iter::from_fn(|| pop(queue)).collect()
}

#[test]
fn callers_take_turns_and_keep_their_own_order() {
    let mut queue = queue(&[("a", 1), ("a", 2), ("a", 3), ("b", 11), ("b", 12), ("c", 21)]);
    assert_eq!(drain(&mut queue), [1, 11, 21, 2, 12, 3]);
    assert_eq!(pop(&mut queue), None);
}

#[test]
fn a_newcomer_goes_before_a_backlog() {
    let mut queue = queue(&[]);
    (0..1000).for_each(|value| queue.push(caller("flood"), value, value));
    (0..3).for_each(|value| assert_eq!(pop(&mut queue), Some(value)));
    queue.push(caller("quiet"), 5000, 5000);
    assert_eq!((pop(&mut queue), pop(&mut queue)), (Some(5000), Some(3)));
}

/// One that always has one write queued must not be a newcomer each time.
#[test]
fn who_comes_back_at_once_does_not_overtake_those_who_wait() {
    let mut queue = queue(&[("a", 1), ("b", 11), ("b", 12), ("b", 13)]);
    let mut order = Vec::new();
    for value in 2..6 {
        let taken = pop(&mut queue).unwrap();
        order.push(taken);
        if taken < 10 {
            queue.push(caller("a"), value, value);
        }
    }
    order.extend(drain(&mut queue));
    assert_eq!(order, [1, 11, 2, 12, 4, 13]);
}

#[test]
fn values_of_a_key_keep_their_order_whatever_their_sources() {
    let mut queue = FairQueue::new();
    let run = 7;
    queue.push(caller("a"), 1, "a 1");
    queue.push(caller("a"), run, "create");
    queue.push(Source::Signals, run, "signal");
    queue.push(Source::Signals, 2, "other signal");
    queue.push(Source::Claims, run, "claim");
    assert_eq!(drain(&mut queue), ["a 1", "other signal", "create", "signal", "claim"]);
    // Nothing of the run is queued, so it takes the turn of its source.
    queue.push(caller("a"), 1, "a 2");
    queue.push(Source::Claims, run, "claim again");
    queue.push(caller("a"), 3, "a 3");
    assert_eq!(drain(&mut queue), ["claim again", "a 2", "a 3"]);
}

#[test]
fn one_value_of_a_key_at_a_time_is_worked_on() {
    let mut queue = FairQueue::new();
    queue.push(caller("a"), 1, "first");
    queue.push(caller("a"), 1, "second");
    queue.push(caller("a"), 2, "other");
    let (first, value) = queue.take(|_, _| Permit::All, |_| true).unwrap();
    assert_eq!(value, "first");
    let (other, value) = queue.take(|_, _| Permit::All, |_| true).unwrap();
    assert_eq!((value, queue.busy(&caller("a"))), ("other", 2));
    assert!(queue.take(|_, _| Permit::All, |_| true).is_none() && !queue.has_ready());
    queue.push(caller("b"), 1, "third");
    assert!(queue.take(|_, _| Permit::All, |_| true).is_none(), "it comes after the others of its key");
    queue.done(other);
    assert!(queue.take(|_, _| Permit::All, |_| true).is_none());
    queue.done(first);
    assert_eq!(drain(&mut queue), ["second", "third"]);
    assert!(queue.is_empty() && queue.busy(&caller("a")) == 0);
}

#[test]
fn a_source_that_has_enough_waits_and_others_do_not() {
    let mut queue = queue(&[("a", 1), ("a", 2), ("b", 11), ("b", 12)]);
    let at_most_one = |_: &Source, busy: usize| if busy < 1 { Permit::All } else { Permit::Nothing };
    let (first, one) = queue.take(at_most_one, |_| true).unwrap();
    let (_second, eleven) = queue.take(at_most_one, |_| true).unwrap();
    assert_eq!((one, eleven), (1, 11));
    assert!(queue.take(at_most_one, |_| true).is_none() && queue.has_ready());
    queue.done(first);
    assert_eq!(queue.take(at_most_one, |_| true).unwrap().1, 2);
}

#[test]
fn more_of_a_key_is_taken_in_the_same_turn_if_it_is_wanted() {
    let mut queue = FairQueue::new();
    for (name, key, value) in [("a", 1, 1), ("b", 2, 11), ("a", 1, 2), ("a", 3, 3), ("a", 1, 4)] {
        queue.push(caller(name), key, value);
    }
    let (mut taken, value) = queue.take(|_, _| Permit::All, |_| true).unwrap();
    assert_eq!(value, 1);
    assert_eq!(queue.take_more(&mut taken, |value| *value == 4), None);
    assert_eq!(queue.take_more(&mut taken, |value| *value == 2), Some(2));
    assert_eq!(taken.sources().collect::<Vec<_>>(), [&caller("a"), &caller("a")]);
    assert!(!queue.has_passed(1));
    queue.done(taken);
    assert!(queue.has_passed(1) && !queue.has_passed(2));
    assert_eq!(drain(&mut queue), [11, 3, 4]);
}

#[test]
fn a_mark_is_passed_when_all_before_it_are_done() {
    let mut queue = queue(&[("a", 1), ("a", 2), ("b", 11)]);
    let mark = queue.pushed();
    queue.push(caller("c"), 21, 21);
    queue.push(caller("b"), 12, 12);
    let mut passed = Vec::new();
    while let Some((taken, value)) = queue.take(|_, _| Permit::All, |_| true) {
        let before = queue.has_passed(mark);
        queue.done(taken);
        passed.push((value, before, queue.has_passed(mark)));
    }
    let expected = [(1, false, false), (11, false, false), (21, false, false), (2, false, true), (12, true, true)];
    assert_eq!(passed, expected);
    assert!(queue.has_passed(queue.pushed()));
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut queue = FairQueue::new();
    for value in 0..3 * MAX_REMEMBERED as u64 {
        queue.push(caller(&value.to_string()), value, value);
        assert_eq!(pop(&mut queue), Some(value));
    }
    assert!(queue.remembered.len() <= MAX_REMEMBERED);
    assert!(queue.lines.is_empty() && queue.ranks.is_empty() && queue.keys.is_empty());
}

#[test]
fn a_source_that_may_take_small_values_takes_the_first_of_them() {
    let mut queue = queue(&[("a", 100), ("a", 200), ("a", 3), ("b", 400), ("b", 500)]);
    queue.push(caller("a"), 100, 4);
    let next = |queue: &mut FairQueue<u64>, permit: Permit| {
        let permit = |source: &Source, _: usize| if *source == caller("a") { permit } else { Permit::Small };
        let (taken, value) = queue.take(permit, |waiting| *waiting.value < 100)?;
        queue.done(taken);
        Some(value)
    };
    assert_eq!(next(&mut queue, Permit::Nothing), None);
    assert_eq!(next(&mut queue, Permit::Small), Some(3));
    assert_eq!(next(&mut queue, Permit::Small), None, "what is small comes after a large one of its key");
    assert_eq!(next(&mut queue, Permit::All), Some(100));
    assert_eq!((next(&mut queue, Permit::Small), next(&mut queue, Permit::Small)), (Some(4), None));
    assert_eq!(drain(&mut queue), [400, 200, 500]);
    for value in 0..=MAX_LOOKED_AT as u64 {
        queue.push(caller("a"), value, 1000 * u64::from(value != MAX_LOOKED_AT as u64));
    }
    assert_eq!(next(&mut queue, Permit::Small), None);
    assert_eq!(next(&mut queue, Permit::All), Some(1000));
    assert_eq!(next(&mut queue, Permit::Small), Some(0));
}
