use crate::fair_queue::{FairQueue, MAX_REMEMBERED, Source};

fn caller(name: &str) -> Source {
    Source::Caller(name.into())
}

/// Queue with values of callers, each with a key of its own.
fn queue(values: &[(&str, u64)]) -> FairQueue<u64> {
    let mut queue = FairQueue::new();
    values.iter().for_each(|(name, value)| queue.push(caller(name), *value, *value));
    queue
}

fn drain(queue: &mut FairQueue<u64>) -> Vec<u64> {
    std::iter::from_fn(|| queue.pop()).collect()
}

#[test]
fn callers_take_turns_and_keep_their_own_order() {
    let mut queue = queue(&[("a", 1), ("a", 2), ("a", 3), ("b", 11), ("b", 12), ("c", 21)]);
    assert_eq!(drain(&mut queue), [1, 11, 21, 2, 12, 3]);
    assert_eq!(queue.pop(), None);
}

#[test]
fn a_newcomer_goes_before_a_backlog() {
    let mut queue = queue(&[]);
    (0..1000).for_each(|value| queue.push(caller("flood"), value, value));
    (0..3).for_each(|value| assert_eq!(queue.pop(), Some(value)));
    queue.push(caller("quiet"), 5000, 5000);
    assert_eq!((queue.pop(), queue.pop()), (Some(5000), Some(3)));
}

/// One that always has one write queued must not be a newcomer each time.
#[test]
fn who_comes_back_at_once_does_not_overtake_those_who_wait() {
    let mut queue = queue(&[("a", 1), ("b", 11), ("b", 12), ("b", 13)]);
    let mut order = Vec::new();
    for value in 2..6 {
        let taken = queue.pop().unwrap();
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
    let order: Vec<&str> = std::iter::from_fn(|| queue.pop()).collect();
    assert_eq!(order, ["a 1", "other signal", "create", "signal", "claim"]);
    // Nothing of the run is queued, so it takes the turn of its source.
    queue.push(caller("a"), 1, "a 2");
    queue.push(Source::Claims, run, "claim again");
    queue.push(caller("a"), 3, "a 3");
    assert_eq!((queue.pop(), queue.pop()), (Some("claim again"), Some("a 2")));
}

#[test]
fn a_turn_goes_on_with_the_same_source_only() {
    let mut queue = queue(&[("a", 1), ("b", 11), ("a", 2), ("a", 3)]);
    assert_eq!(queue.pop_if(|_| true), None, "nobody has a turn yet");
    assert_eq!(queue.pop(), Some(1));
    assert_eq!(queue.pop_if(|value| *value == 11), None);
    assert_eq!(queue.pop_if(|value| *value == 2), Some(2));
    assert_eq!(queue.pop(), Some(11));
    assert_eq!(queue.pop_if(|_| true), None, "the line of b is empty");
    assert_eq!(queue.pop(), Some(3));
    // The whole line in one turn leaves no empty turn behind.
    queue.push(caller("a"), 4, 4);
    queue.push(caller("a"), 5, 5);
    queue.push(caller("b"), 12, 12);
    assert_eq!(queue.pop(), Some(12), "the last turn of b is longer ago");
    assert_eq!((queue.pop(), queue.pop_if(|_| true)), (Some(4), Some(5)));
    assert_eq!(queue.pop(), None);
}

#[test]
fn a_mark_is_passed_when_all_before_it_were_taken() {
    let mut queue = queue(&[("a", 1), ("a", 2), ("b", 11)]);
    let mark = queue.pushed();
    queue.push(caller("c"), 21, 21);
    queue.push(caller("b"), 12, 12);
    let mut passed = Vec::new();
    while let Some(value) = queue.pop() {
        passed.push((value, queue.has_passed(mark)));
    }
    assert_eq!(passed, [(1, false), (11, false), (21, false), (2, true), (12, true)]);
    assert!(queue.has_passed(queue.pushed()));
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut queue = FairQueue::new();
    for value in 0..3 * MAX_REMEMBERED as u64 {
        queue.push(caller(&value.to_string()), value, value);
        assert_eq!(queue.pop(), Some(value));
    }
    assert!(queue.remembered.len() <= MAX_REMEMBERED);
    assert!(queue.lines.is_empty() && queue.ranks.is_empty() && queue.keys.is_empty());
}
