use super::{Account, Processors};
use agent_spaces_calls::turns::{Turns, in_turn};
use agent_spaces_journal::tenant;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

fn account(name: &str) -> Account {
    Account { name: name.into(), tenant: format!("tenant of {name}").into() }
}

/// Computes for some steps of a millisecond, with a yield after each.
async fn compute(steps: u32) {
    for _ in 0..steps {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1) {
            std::hint::spin_loop();
        }
        give_way().await;
    }
}

/// Yields as wasmtime does. tokio's own yield wakes only when the executor has nothing else to do.
async fn give_way() {
    let mut is_woken = false;
    poll_fn(|context| match std::mem::replace(&mut is_woken, true) {
        true => Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Computes for ever, and counts the steps.
async fn compute_counting(steps: Arc<AtomicUsize>) {
    loop {
        compute(1).await;
        steps.fetch_add(1, Ordering::SeqCst);
    }
}

/// Waits until something has made this many steps.
async fn at_least(steps: &AtomicUsize, count: usize) {
    while steps.load(Ordering::SeqCst) < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_tenant_with_many_computing_runs_delays_another_by_a_step_at_a_time() {
    let processors = Processors::new(1);
    let (mut noisy, steps) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
    for _ in 0..50 {
        noisy.spawn(processors.share(account("noisy"), compute_counting(steps.clone())));
    }
    at_least(&steps, 5).await;
    let before = steps.load(Ordering::SeqCst);
    processors.share(account("quiet"), compute(10)).await;
    // First come, first served is five hundred.
    let between = steps.load(Ordering::SeqCst) - before;
    assert!(between < 100, "{between}");
}

#[tokio::test]
async fn two_busy_tenants_get_the_same_however_many_runs_they_have() {
    let processors = Processors::new(1);
    let steps = [Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0))];
    let mut all = JoinSet::new();
    for (steps, name, count) in [(&steps[0], "one", 1), (&steps[1], "many", 9)] {
        for _ in 0..count {
            all.spawn(processors.share(account(name), compute_counting(steps.clone())));
        }
    }
    // Each may first use its credit.
    at_least(&steps[0], 300).await;
    let [one, many] = steps.each_ref().map(|steps| steps.load(Ordering::SeqCst));
    assert!(one * 2 > many && many * 2 > one, "{one} and {many}");
}

#[tokio::test]
async fn no_more_work_is_polled_than_there_are_processors() {
    let processors = Processors::new(2);
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            let (processors, now, most) = (processors.clone(), now.clone(), most.clone());
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(processors.share(account("one"), async move {
                    for _ in 0..20 {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_micros(200));
                        now.fetch_sub(1, Ordering::SeqCst);
                        give_way().await;
                    }
                }));
            });
        }
    });
    // A machine that is busy elsewhere makes polls late, of which a tenant may have as many.
    let most = most.load(Ordering::SeqCst);
    assert!((1..=4).contains(&most), "{most}");
}

/// Waits until no work is left.
async fn idle(processors: &Processors) {
    let waiting = async {
        while !processors.0.is_idle() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap();
}

/// Waits until nobody else has it: what is dropped goes a moment after its processor is free.
async fn alone(kept: &Arc<()>) {
    let waiting = async {
        while Arc::strong_count(kept) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("what it had is dropped");
}

#[tokio::test]
async fn work_that_is_dropped_ends_and_leaves_the_queue() {
    let processors = Processors::new(1);
    for pause in 0..4 {
        let kept = Arc::new(());
        let all: Vec<_> = (0..3)
            .map(|_| {
                let (processors, kept) = (processors.clone(), kept.clone());
                tokio::spawn(async move {
                    let work = async move {
                        compute(1_000).await;
                        drop(kept);
                    };
                    processors.share(account("one"), work).await;
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        for task in all {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
        idle(&processors).await;
        alone(&kept).await;
    }
}

#[tokio::test]
async fn a_panic_gives_back_the_processor() {
    let processors = Processors::new(1);
    let (own, work) = (processors.clone(), async { panic!("on purpose") });
    let panicked = tokio::spawn(async move { own.share(account("one"), work).await }).await;
    assert!(panicked.unwrap_err().is_panic());
    assert!(processors.compute(account("one"), || panic!("on purpose")).await.is_err());
    tokio::time::timeout(Duration::from_secs(10), processors.share(account("one"), compute(1))).await.unwrap();
    idle(&processors).await;
}

#[tokio::test]
async fn work_that_does_not_yield_does_not_keep_others_waiting() {
    let processors = Processors::new(1);
    let (own, (sender, receiver)) = (processors.clone(), std::sync::mpsc::channel::<()>());
    let noisy = tokio::spawn(async move {
        let blocked = own.compute(account("noisy"), move || receiver.recv_timeout(Duration::from_secs(10)).is_ok());
        blocked.await.unwrap()
    });
    while processors.0.is_idle() {
        tokio::task::yield_now().await;
    }
    let quiet = processors.share(account("quiet"), compute(3));
    tokio::time::timeout(Duration::from_secs(5), quiet).await.unwrap();
    sender.send(()).unwrap();
    assert!(noisy.await.unwrap());
    idle(&processors).await;
}

#[tokio::test]
async fn timers_and_tasks_are_those_of_the_runtime() {
    let processors = Processors::new(1);
    let work = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let name = std::thread::current().name().map(str::to_owned);
        (name, tenant::current(), tokio::spawn(async { 7 }).await.unwrap())
    };
    let (name, tenant, value) = processors.share(account("one"), work).await;
    assert_eq!((name.as_deref(), tenant.as_deref(), value), (Some("processor"), Some("tenant of one"), 7));
    assert_eq!(tenant::current(), None);
}

#[tokio::test]
async fn work_that_some_work_starts_takes_turns_too_and_both_fit_one_processor() {
    let processors = Processors::new(1);
    let thread = || std::thread::current().name().map(str::to_owned);
    // As a run does whose call another run answers.
    let outer = || async move {
        let below = async move { (thread(), tenant::current(), Turns::current().is_some()) };
        tokio::spawn(in_turn(Turns::current(), below)).await.unwrap().unwrap()
    };
    // More than a tenant may have polls: those that wait for others have none.
    let all: Vec<_> = (0..9).map(|_| tokio::spawn(processors.share(account("one"), outer()))).collect();
    for task in all {
        let (name, tenant, has_turns) = tokio::time::timeout(Duration::from_secs(10), task).await.unwrap().unwrap();
        assert_eq!((name.as_deref(), tenant.as_deref()), (Some("processor"), Some("tenant of one")));
        assert!(has_turns, "it may start more");
    }
    assert!(Turns::current().is_none());
    idle(&processors).await;
}

#[tokio::test]
async fn work_that_some_work_started_ends_with_it() {
    let (processors, kept) = (Processors::new(1), Arc::new(()));
    let (steps, held) = (Arc::new(AtomicUsize::new(0)), kept.clone());
    let (counted, turns) = (steps.clone(), processors.turns(account("one")));
    let outer = tokio::spawn(processors.share(account("one"), async move {
        let below = async move {
            compute_counting(counted).await;
            drop(held);
        };
        in_turn(Some(turns), below).await
    }));
    at_least(&steps, 2).await;
    outer.abort();
    assert!(outer.await.unwrap_err().is_cancelled());
    idle(&processors).await;
    alone(&kept).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn threads_that_compute_come_after_those_that_serve() {
    let own = rustix::process::getpriority_process(None).unwrap();
    let computing = Processors::new(1).compute(account("one"), || rustix::process::getpriority_process(None).unwrap());
    let computing = computing.await.unwrap();
    assert!(computing > own || computing == 19, "{computing} and {own}");
}
