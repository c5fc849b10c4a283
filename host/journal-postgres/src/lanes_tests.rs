use crate::fair_queue::Source;
use crate::lanes::{Append, Job, Lane, MAX_APPENDS, Message, Statement};
use agent_spaces_journal::{Claim, Entry, StoreError, Ticket};
use std::time::Instant;
use tokio::sync::oneshot;

/// Claim of a run with one letter, whose key is that letter too.
fn claim(caller: &str, run: char) -> Claim {
    Claim::new(run.to_string().into(), caller.into(), 1, 0, Instant::now())
}

fn write(source: Source, run: char, job: Job) -> Message {
    Message::Write { source, key: u64::from(u32::from(run)), job }
}

fn append(claim: &Claim, seq: u64) -> Message {
    let (completion, _) = Ticket::pair();
    let append = Append { claim: claim.clone(), seq, entries: vec![Entry::new("note", 0, "x")], completion, cost: 1 };
    write(Source::of(claim), claim.run.chars().next().unwrap(), Job::Append(append))
}

fn work(claim: &Claim) -> Message {
    write(Source::of(claim), claim.run.chars().next().unwrap(), Job::Work(Box::pin(async {})))
}

/// Takes the next statement: its run, its first number and its number of entries.
fn next(lane: &mut Lane) -> Option<(String, u64, usize)> {
    Some(match lane.next_statement()? {
        Statement::Append(merged) => (merged.parts[0].0.run.to_string(), merged.seq, merged.entries.len()),
        Statement::Work(_) => ("work".to_owned(), 0, 0),
    })
}

fn drain(lane: &mut Lane) -> Vec<(String, u64, usize)> {
    std::iter::from_fn(|| next(lane)).collect()
}

fn statement(run: &str, seq: u64, entries: usize) -> (String, u64, usize) {
    (run.to_owned(), seq, entries)
}

#[test]
fn appends_of_a_run_are_one_statement_though_others_write_between() {
    let (mut lane, a, b) = (Lane::new(), claim("ann", 'a'), claim("bob", 'b'));
    for seq in 0..3 {
        lane.accept(append(&a, seq));
        lane.accept(append(&b, seq));
    }
    assert_eq!(drain(&mut lane), [statement("a", 0, 3), statement("b", 0, 3)]);
}

#[test]
fn what_does_not_go_on_is_another_statement() {
    let (mut lane, a, other) = (Lane::new(), claim("ann", 'a'), claim("ann", 'o'));
    let failed = claim("ann", 'f');
    let later = Claim::new(a.run.clone(), a.caller.clone(), 2, 0, Instant::now());
    lane.accept(append(&a, 0));
    lane.accept(append(&other, 1));
    lane.accept(append(&a, 1));
    lane.accept(work(&a));
    lane.accept(append(&a, 2));
    lane.accept(append(&a, 4));
    lane.accept(append(&later, 5));
    lane.accept(append(&failed, 0));
    lane.accept(append(&failed, 1));
    failed.fail(&StoreError::Busy);
    let expected = [("a", 0_u64), ("o", 1), ("a", 1), ("work", 0), ("a", 2), ("a", 4), ("a", 5), ("f", 0), ("f", 1)];
    let found: Vec<(String, u64)> = drain(&mut lane).into_iter().map(|(run, seq, _)| (run, seq)).collect();
    assert_eq!(found, expected.map(|(run, seq)| (run.to_owned(), seq)));
}

#[test]
fn a_statement_has_a_limit_and_the_rest_takes_another_turn() {
    let (mut lane, a, b) = (Lane::new(), claim("ann", 'a'), claim("bob", 'b'));
    for seq in 0..MAX_APPENDS as u64 + 10 {
        lane.accept(append(&a, seq));
    }
    lane.accept(append(&b, 0));
    let most = MAX_APPENDS as u64;
    assert_eq!(drain(&mut lane), [statement("a", 0, MAX_APPENDS), statement("b", 0, 1), statement("a", most, 10)]);
}

#[test]
fn a_mark_waits_for_all_before_it() {
    let (mut lane, a, b) = (Lane::new(), claim("ann", 'a'), claim("bob", 'b'));
    let (sender, mut marked) = oneshot::channel();
    for message in [work(&a), work(&a), Message::Mark(sender), work(&b), work(&a)] {
        lane.accept(message);
    }
    for is_answered in [false, false, false, true] {
        lane.answer_marks();
        assert_eq!(marked.try_recv().is_ok(), is_answered);
        next(&mut lane);
    }
    let (sender, mut marked) = oneshot::channel();
    lane.accept(Message::Mark(sender));
    lane.answer_marks();
    assert!(marked.try_recv().is_ok(), "nothing is queued");
}
