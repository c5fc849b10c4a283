use super::{
    MAX_OF_OWNER, MAX_OF_SPACE, MAX_SENDING, MAX_SENDING_OF_OWNER, MAX_SENDING_OF_SPACE, Queue, RESERVED, SHARE,
    Sending,
};
use std::sync::Arc;

/// Takes all that may be taken.
fn take_all(queue: &Arc<Queue>) -> Vec<Sending> {
    std::iter::from_fn(|| queue.take(i64::MAX)).collect()
}

fn of_owner(sending: &[Sending], owner: &str) -> usize {
    sending.iter().filter(|one| one.owner == owner).count()
}

/// Adds messages to an owner's spaces, a hundred to each.
fn fill(queue: &Queue, owner: &str, count: usize) {
    for number in 0..count {
        queue.add(&format!("msg_{owner}_{number}"), owner, &format!("spc_{owner}_{}", number / 100), 0);
    }
}

#[test]
fn messages_are_taken_when_they_are_due_the_oldest_first() {
    let queue = Arc::new(Queue::default());
    for (id, due) in [("msg_1", 20), ("msg_2", 10), ("msg_3", 30), ("msg_2", 1)] {
        queue.add(id, "ann", "spc_1", due);
    }
    assert!(queue.take(9).is_none());
    let mut first = queue.take(20).unwrap();
    let second = queue.take(20).unwrap();
    assert_eq!((first.id.as_str(), second.id.as_str()), ("msg_2", "msg_1"));
    assert!(queue.take(20).is_none());
    assert_eq!(queue.state().next_after(20), Some(30));
    first.again = Some(25);
    drop((first, second));
    assert_eq!(queue.state().next_after(20), Some(25));
    assert_eq!(queue.take(40).unwrap().id, "msg_2");
    assert_eq!(queue.take(40).unwrap().id, "msg_3");
    let state = queue.state();
    assert!(state.owners.is_empty() && state.known.is_empty(), "all are gone");
}

#[test]
fn a_space_has_some_places_of_its_owner_and_an_owner_some_of_all() {
    let queue = Arc::new(Queue::default());
    for number in 0..20 {
        queue.add(&format!("msg_{number}"), "ann", "spc_1", number);
    }
    let mut sending = take_all(&queue);
    assert_eq!(sending.len(), MAX_SENDING_OF_SPACE, "a slow receiver leaves places to others of its owner");
    fill(&queue, "ann", 300);
    sending.extend(take_all(&queue));
    assert_eq!(sending.len(), MAX_SENDING_OF_OWNER);
    sending.pop();
    assert!(queue.take(i64::MAX).is_some(), "a place that is free is used");
}

#[test]
fn owners_with_slow_receivers_leave_places_to_others() {
    let queue = Arc::new(Queue::default());
    for owner in ["a", "b", "c", "d", "e", "f"] {
        fill(&queue, owner, 300);
    }
    // None of these ends.
    let slow = take_all(&queue);
    assert_eq!(slow.len(), MAX_SENDING - RESERVED);
    assert_eq!(of_owner(&slow, "a"), (MAX_SENDING - RESERVED) / 6, "all have the same number");
    let others: Vec<String> = (0..RESERVED + 2).map(|number| format!("other_{number}")).collect();
    others.iter().for_each(|owner| fill(&queue, owner, 10));
    let sending = take_all(&queue);
    assert_eq!(sending.len(), RESERVED);
    assert!(others.iter().all(|owner| of_owner(&sending, owner) <= 1), "each of them has one");
}

#[test]
fn owners_take_turns() {
    let queue = Arc::new(Queue::default());
    fill(&queue, "ann", 1_000);
    fill(&queue, "bob", 3);
    let turns: Vec<String> = (0..7).map(|_| queue.take(0).unwrap().owner.clone()).collect();
    for owner in ["ann", "bob"] {
        assert_eq!(turns[..6].iter().filter(|turn| *turn == owner).count(), 3, "{turns:?}");
    }
    assert_eq!(turns[6], "ann", "all of the other's are sent");
}

#[test]
fn one_owner_fills_its_own_part_of_the_queue() {
    let queue = Queue::default();
    fill(&queue, "ann", MAX_OF_OWNER - 1);
    assert!(queue.has_room("ann", "spc_1") && !queue.is_full("ann"));
    fill(&queue, "ann", MAX_OF_OWNER + 10);
    assert!(!queue.has_room("ann", "spc_1") && queue.is_full("ann"));
    assert_eq!(queue.state().known.len(), MAX_OF_OWNER, "the others stay in the store");
    assert!(queue.has_room("bob", "spc_2") && !queue.is_full("bob"));
    for number in 0..MAX_OF_SPACE {
        queue.add(&format!("msg_{number}"), "bob", "spc_2", 0);
    }
    assert!(!queue.has_room("bob", "spc_2") && queue.has_room("bob", "spc_3"));
}

#[test]
fn an_owner_has_a_share_of_a_queue_that_others_fill() {
    let queue = Queue::default();
    for number in 0..20 {
        fill(&queue, &format!("owner_{number}"), MAX_OF_OWNER);
    }
    fill(&queue, "late", SHARE + 1);
    assert_eq!(queue.state().owners["late"].messages, SHARE);
    assert!(queue.has_room("late", "spc_late_0"), "the store takes more of them");
}

#[test]
fn a_space_may_have_messages_until_the_store_was_read() {
    let queue = Queue::default();
    assert!(queue.may_have("ann", "spc_1"));
    queue.loaded();
    assert!(!queue.may_have("ann", "spc_1"));
    queue.add("msg_1", "ann", "spc_1", 0);
    assert!(queue.may_have("ann", "spc_1") && !queue.may_have("ann", "spc_2"));
    assert!(!queue.may_have("bob", "spc_1"));
}

#[test]
fn a_space_may_have_messages_while_some_of_its_owner_stay_in_the_store() {
    let queue = Arc::new(Queue::default());
    queue.loaded();
    fill(&queue, "ann", MAX_OF_OWNER + 1);
    assert!(queue.may_have("ann", "spc_1") && !queue.may_have("bob", "spc_1"));
    while let Some(sent) = queue.take(0) {
        drop(sent);
    }
    queue.loaded();
    assert!(queue.may_have("ann", "spc_1"), "it may have been left out while the store was read");
    queue.loaded();
    assert!(!queue.may_have("ann", "spc_1") && queue.state().owners.is_empty());
}
