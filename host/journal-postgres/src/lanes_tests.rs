use crate::address::Address;
use crate::database::Database;
use crate::fair_queue::Source;
use crate::lanes::{Append, Job, Kind, Lanes, MAX_APPENDS, MAX_REST, Queues, SMALL, Statement, Work};
use crate::settings::Settings;
use crate::shared::Shared;
use agent_spaces_journal::{Claim, Entry, StoreError, Ticket};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Claim of a run with one letter, whose key is that letter too.
fn claim(caller: &str, run: char) -> Claim {
    Claim::new(run.to_string().into(), caller.into(), 1, 0, Instant::now())
}

fn write(lanes: &Lanes, claim: &Claim, job: Job) {
    lanes.write(Source::of(claim), u64::from(u32::from(claim.run.chars().next().unwrap())), job);
}

fn append(lanes: &Lanes, claim: &Claim, seq: u64) {
    let ((completion, _), source) = (Ticket::pair(), Source::of(claim));
    let entries = vec![Entry::new("note", 0, "x")];
    write(lanes, claim, Job::Append(Append { claim: claim.clone(), source, seq, entries, completion, cost: 1 }));
}

fn work(lanes: &Lanes, claim: &Claim) {
    write(lanes, claim, Job::Work(0, Box::pin(async {})));
}

/// Makes the next statement: its run, its first number and its number of entries.
fn next(queues: &mut Queues) -> Option<(String, u64, usize)> {
    let turn = queues.next(Kind::Write, Instant::now())?;
    let made = match &turn.statement {
        Statement::Append(merged) => (merged.parts[0].0.run.to_string(), merged.seq, merged.entries.len()),
        Statement::Work(_) => ("work".to_owned(), 0, 0),
    };
    queues.done(turn.place, Instant::now());
    Some(made)
}

fn drain(lanes: &Lanes) -> Vec<(String, u64, usize)> {
    let mut queues = lanes.queues();
    std::iter::from_fn(|| next(&mut queues)).collect()
}

fn statement(run: &str, seq: u64, entries: usize) -> (String, u64, usize) {
    (run.to_owned(), seq, entries)
}

#[test]
fn appends_of_a_run_are_one_statement_though_others_write_between() {
    let (lanes, a, b) = (Lanes::new(2), claim("ann", 'a'), claim("bob", 'b'));
    for seq in 0..3 {
        append(&lanes, &a, seq);
        append(&lanes, &b, seq);
    }
    assert_eq!(drain(&lanes), [statement("a", 0, 3), statement("b", 0, 3)]);
}

#[test]
fn what_does_not_go_on_is_another_statement() {
    let (lanes, a, other) = (Lanes::new(2), claim("ann", 'a'), claim("ann", 'o'));
    let failed = claim("ann", 'f');
    let later = Claim::new(a.run.clone(), a.caller.clone(), 2, 0, Instant::now());
    append(&lanes, &a, 0);
    append(&lanes, &other, 1);
    append(&lanes, &a, 1);
    work(&lanes, &a);
    append(&lanes, &a, 2);
    append(&lanes, &a, 4);
    append(&lanes, &later, 5);
    append(&lanes, &failed, 0);
    append(&lanes, &failed, 1);
    failed.fail(&StoreError::Busy);
    // Runs of a caller take turns; each keeps its order.
    let expected = [("a", 0_u64), ("o", 1), ("f", 0), ("work", 0), ("f", 1), ("a", 2), ("a", 4), ("a", 5)];
    let found: Vec<(String, u64)> = drain(&lanes).into_iter().map(|(run, seq, _)| (run, seq)).collect();
    assert_eq!(found, expected.map(|(run, seq)| (run.to_owned(), seq)));
}

#[test]
fn a_statement_has_a_limit_and_the_rest_takes_another_turn() {
    let (lanes, a, b) = (Lanes::new(2), claim("ann", 'a'), claim("bob", 'b'));
    for seq in 0..MAX_APPENDS as u64 + 10 {
        append(&lanes, &a, seq);
    }
    append(&lanes, &b, 0);
    let most = MAX_APPENDS as u64;
    assert_eq!(drain(&lanes), [statement("a", 0, MAX_APPENDS), statement("b", 0, 1), statement("a", most, 10)]);
}

#[test]
fn a_mark_waits_for_all_before_it() {
    let (lanes, a, b) = (Lanes::new(2), claim("ann", 'a'), claim("bob", 'b'));
    work(&lanes, &a);
    work(&lanes, &a);
    let mut marked = lanes.mark();
    work(&lanes, &b);
    work(&lanes, &a);
    for is_answered in [false, false, false, true] {
        assert_eq!(marked.try_recv().is_ok(), is_answered);
        next(&mut lanes.queues());
    }
    assert_eq!(drain(&lanes).len(), 0);
    assert!(lanes.mark().try_recv().is_ok(), "nothing is queued");
}

#[test]
fn a_tenant_leaves_statements_to_others_and_both_kinds_count() {
    let (lanes, noisy, quiet) = (Lanes::new(6), Source::Tenant("noisy".into()), Source::Tenant("quiet".into()));
    let queue = |source: &Source, key: u64| lanes.write(source.clone(), key, Job::Work(0, Box::pin(async {})));
    (0..8).for_each(|key| queue(&noisy, key));
    lanes.read(noisy.clone(), Box::pin(async {}));
    let take = |kind: Kind| lanes.queues().next(kind, Instant::now());
    let first = take(Kind::Write).unwrap();
    let more = [take(Kind::Write), take(Kind::Write), take(Kind::Write)];
    assert!(more.iter().all(Option::is_some), "it is alone");
    queue(&quiet, 10);
    queue(&quiet, 11);
    assert!(take(Kind::Read).is_none(), "it has more than half of the connections");
    let next = [take(Kind::Write).unwrap(), take(Kind::Write).unwrap()];
    assert!(next.iter().all(|turn| turn.place.taken.sources().all(|source| *source == quiet)));
    let end = |turn: super::Turn| lanes.queues().done(turn.place, Instant::now());
    end(first);
    assert!(take(Kind::Read).is_none());
    more.into_iter().flatten().for_each(end);
    assert!(take(Kind::Read).is_some());
}

#[test]
fn a_tenant_leaves_a_lane_of_each_kind_to_others() {
    let (noisy, quiet) = (Source::Tenant("noisy".into()), Source::Tenant("quiet".into()));
    let nothing = || -> Work { Box::pin(async {}) };
    let lanes = Lanes::new(10);
    for key in 0..20 {
        lanes.write(noisy.clone(), key, Job::Work(0, nothing()));
    }
    lanes.read(quiet.clone(), nothing());
    let mut queues = lanes.queues();
    let mut take = |kind: Kind| queues.next(kind, Instant::now()).map(|turn| turn.place.taken);
    let taken: Vec<_> = std::iter::from_fn(|| take(Kind::Write)).collect();
    assert_eq!(taken.len(), 4, "one of the five that write is left");
    assert!(take(Kind::Read).is_some_and(|taken| taken.sources().all(|source| *source == quiet)));
    drop(queues);
    lanes.write(quiet.clone(), 20, Job::Work(0, nothing()));
    let next = lanes.queues().next(Kind::Write, Instant::now()).unwrap();
    assert!(next.place.taken.sources().all(|source| *source == quiet));
    // The smallest store has one of each kind, which all share.
    for connections in [1, 2, 3] {
        let lanes = Lanes::new(connections);
        for source in [&noisy, &quiet] {
            lanes.write(source.clone(), 0, Job::Work(0, nothing()));
        }
        assert!(lanes.queues().next(Kind::Write, Instant::now()).is_some());
    }
}

#[test]
fn large_writes_of_a_tenant_rest_beside_small_ones_of_another() {
    let (noisy, quiet) = (Source::Tenant("noisy".into()), Source::Tenant("quiet".into()));
    let (lanes, begun) = (Lanes::new(10), Instant::now());
    for key in 0..4 {
        lanes.write(noisy.clone(), key, Job::Work(1 << 20, Box::pin(async {})));
    }
    let mut queues = lanes.queues();
    let alone = [queues.next(Kind::Write, begun).unwrap(), queues.next(Kind::Write, begun).unwrap()];
    drop(queues);
    lanes.write(quiet.clone(), 10, Job::Work(0, Box::pin(async {})));
    lanes.write(noisy.clone(), 20, Job::Work(0, Box::pin(async {})));
    let mut queues = lanes.queues();
    let small = [queues.next(Kind::Write, begun).unwrap(), queues.next(Kind::Write, begun).unwrap()];
    let mut sources: Vec<_> = small.iter().map(|turn| turn.place.taken.source().clone()).collect();
    sources.sort_by_key(|source| *source == quiet);
    assert_eq!(sources, [noisy, quiet], "small ones of both are written");
    assert!(small.iter().all(|turn| turn.place.bytes == 0));
    small.into_iter().for_each(|turn| queues.done(turn.place, begun));
    assert!(queues.next(Kind::Write, begun).is_none(), "some are at the server");
    let ended = begun + Duration::from_millis(100);
    alone.into_iter().for_each(|turn| queues.done(turn.place, ended));
    // It is 0.25 seconds ahead of its share, an eighth of the time, which makes two seconds.
    assert!(queues.next(Kind::Write, ended).is_none());
    let rest = queues.rest(Kind::Write, ended).unwrap();
    assert_eq!(rest.as_millis(), 1001, "no longer than others are known to be there");
    queues.is_closed = true;
    assert!(
        queues.next(Kind::Write, ended).is_some_and(|turn| turn.place.bytes > 0),
        "a store that ends does not wait"
    );
    queues.is_closed = false;
    assert!(queues.next(Kind::Write, ended + rest).is_some(), "the other is gone");
    assert!(queues.next(Kind::Write, ended + rest).is_none() && !queues.writes.has_ready());
}

/// Lanes where a tenant rests beside another: it has a small append and then a large one of each of two runs.
fn resting() -> Arc<Lanes> {
    let (noisy, quiet) = (Source::Tenant("noisy".into()), Source::Tenant("quiet".into()));
    let (lanes, now) = (Arc::new(Lanes::new(10)), Instant::now());
    let mut queues = lanes.queues();
    queues.pace.queue(&noisy, now);
    queues.pace.begin_large(&noisy);
    queues.pace.end_large(&noisy, Duration::from_millis(80), now);
    queues.pace.queue(&quiet, now);
    drop(queues);
    for (run, number) in [('a', 1), ('b', 2)] {
        for (seq, cost) in [(0, 1), (1, 1 << 20)] {
            let ((completion, _), claim) = (Ticket::pair(), claim("ann", run));
            let (source, entries) = (noisy.clone(), vec![Entry::new("note", 0, "x")]);
            let append = Append { claim, source: source.clone(), seq, entries, completion, cost };
            lanes.write(source, number, Job::Append(append));
        }
    }
    lanes
}

#[test]
fn small_appends_take_no_large_one_with_them_past_a_rest() {
    let lanes = resting();
    assert_eq!(drain(&lanes), [statement("a", 0, 1), statement("b", 0, 1)]);
    lanes.queues().is_closed = true;
    assert_eq!(drain(&lanes), [statement("a", 1, 1), statement("b", 1, 1)]);
}

#[test]
fn who_waits_for_all_writes_does_not_wait_for_rests() {
    let lanes = resting();
    let mut marked = lanes.mark();
    assert_eq!(drain(&lanes).len(), 4);
    assert!(marked.try_recv().is_ok());
}

#[test]
fn a_write_does_not_rest_for_as_long_as_a_lease() {
    let lanes = resting();
    drain(&lanes);
    let mut queues = lanes.queues();
    // The tenant goes on meanwhile, and the other is there all the time.
    let later = Instant::now() + MAX_REST;
    queues.pace.begin_large(&Source::Tenant("noisy".into()));
    queues.pace.end_large(&Source::Tenant("noisy".into()), Duration::from_secs(1), later - Duration::from_millis(1));
    assert!(queues.next(Kind::Write, later - Duration::from_millis(20)).is_none());
    assert!(queues.next(Kind::Write, later).is_some_and(|turn| turn.place.bytes > SMALL));
}

#[tokio::test]
async fn a_lane_goes_on_after_a_rest_without_news() {
    let (lanes, noisy) = (Arc::new(Lanes::new(10)), Source::Tenant("noisy".into()));
    let quiet = Source::Tenant("quiet".into());
    lanes.queues().pace.queue(&quiet, Instant::now());
    start(&lanes, Kind::Write);
    let begun = Instant::now();
    let (told, mut written) = tokio::sync::mpsc::unbounded_channel();
    for key in 0..2 {
        let told = told.clone();
        let work = async move {
            tokio::time::sleep(Duration::from_millis(80)).await;
            let _ = told.send(Instant::now());
        };
        lanes.write(noisy.clone(), key, Job::Work(1 << 20, Box::pin(work)));
    }
    let first = timeout(Duration::from_secs(20), written.recv()).await.unwrap().unwrap();
    let second = timeout(Duration::from_secs(20), written.recv()).await.unwrap().unwrap();
    assert!(first - begun < second - first, "{:?} {:?}", first - begun, second - first);
    assert!(second - first > Duration::from_millis(250), "{:?}", second - first);
}

#[tokio::test]
async fn a_mark_wakes_a_lane_whose_tenant_rests() {
    let (lanes, noisy) = (Arc::new(Lanes::new(10)), Source::Tenant("noisy".into()));
    {
        let (mut queues, now) = (lanes.queues(), Instant::now());
        queues.pace.queue(&noisy, now);
        queues.pace.begin_large(&noisy);
        queues.pace.end_large(&noisy, Duration::from_secs(60), now);
        queues.pace.queue(&Source::Tenant("quiet".into()), now);
    }
    lanes.write(noisy, 1, Job::Work(1 << 20, Box::pin(async {})));
    start(&lanes, Kind::Write);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(lanes.queues().writes.has_ready(), "it rests");
    // Without the news the lane would look again after a second.
    timeout(Duration::from_millis(500), lanes.mark()).await.unwrap().unwrap();
}

/// Starts a lane. Its statements must not need a server: none is there.
fn start(lanes: &Arc<Lanes>, kind: Kind) -> tokio::task::JoinHandle<()> {
    let address = Address::parse("postgres://ann@127.0.0.1:1/agents?sslmode=disable").unwrap();
    let (database, _) = Database::new(&address, Settings::default()).unwrap();
    tokio::spawn(Arc::clone(lanes).run(kind, Arc::new(database), Arc::new(Shared::new(usize::MAX))))
}

#[tokio::test]
async fn work_that_panics_takes_neither_its_lane_nor_its_run() {
    const LONG: Duration = Duration::from_secs(10);
    let (lanes, a) = (Arc::new(Lanes::new(2)), claim("ann", 'a'));
    let tasks = [start(&lanes, Kind::Write), start(&lanes, Kind::Read)];
    let panicking = || -> Work {
        Box::pin(async {
            if std::hint::black_box(true) {
                panic!("on purpose");
            }
        })
    };
    let telling = || -> (Work, oneshot::Receiver<()>) {
        let (sender, told) = oneshot::channel();
        (Box::pin(async move { sender.send(()).unwrap_or(()) }), told)
    };
    // The next write of the same run waits for the one before, and there is one lane of each kind.
    write(&lanes, &a, Job::Work(0, panicking()));
    let (next, written) = telling();
    write(&lanes, &a, Job::Work(0, next));
    timeout(LONG, written).await.unwrap().unwrap();
    lanes.read(Source::Reads, panicking());
    let (next, read) = telling();
    lanes.read(Source::Reads, next);
    timeout(LONG, read).await.unwrap().unwrap();
    // Nothing is left of it that those would wait for who flush or close the store.
    timeout(LONG, lanes.mark()).await.unwrap().unwrap();
    lanes.close();
    for task in tasks {
        timeout(LONG, task).await.unwrap().unwrap();
    }
    assert_eq!(lanes.queues().at_once, 0);
}

#[tokio::test]
async fn a_lane_that_works_does_not_take_the_news_from_one_that_waits() {
    const LONG: Duration = Duration::from_secs(10);
    // Two of them write.
    let lanes = Arc::new(Lanes::new(4));
    let tasks = [start(&lanes, Kind::Write), start(&lanes, Kind::Write)];
    let telling = |key: u64| {
        let (sender, told) = oneshot::channel();
        let work: Work = Box::pin(async move { sender.send(()).unwrap_or(()) });
        lanes.write(Source::Signals, key, Job::Work(0, work));
        told
    };
    timeout(LONG, telling(0)).await.unwrap().unwrap();
    let ((release, released), (begin, begun)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
    let long: Work = Box::pin(async move {
        begin.send(()).unwrap_or(());
        drop(released.await);
    });
    lanes.write(Source::Signals, 1, Job::Work(0, long));
    timeout(LONG, begun).await.unwrap().unwrap();
    for key in 2..8 {
        timeout(LONG, telling(key)).await.expect("the other lane is free").unwrap();
    }
    drop(release);
    lanes.close();
    for task in tasks {
        timeout(LONG, task).await.unwrap().unwrap();
    }
}
