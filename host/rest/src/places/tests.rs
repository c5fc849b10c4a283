use super::{Places, Processors, Seat};
use futures_util::FutureExt;
use std::sync::{Arc, Mutex};

fn seat(tenant: &str, caller: &str) -> Seat {
    seat_of(tenant, caller, usize::MAX)
}

fn seat_of(tenant: &str, caller: &str, most: usize) -> Seat {
    Seat { tenant: tenant.into(), caller: caller.into(), most, is_quota: false }
}

/// Order in which runs of these callers (`tenant/caller`) start that wait for one place.
async fn starts(waiting: &[&str]) -> Vec<String> {
    let places = Places::new(1, 10, Processors::default());
    let held = places.enter(&seat("host", "first")).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for (number, name) in waiting.iter().enumerate() {
        let (places, order, name) = (places.clone(), order.clone(), (*name).to_owned());
        tasks.push(tokio::spawn({
            let places = places.clone();
            async move {
                let (tenant, caller) = name.split_once('/').unwrap();
                let _place = places.enter(&seat(tenant, caller)).await;
                order.lock().unwrap().push(name);
            }
        }));
        while places.load().waiting <= number {
            tokio::task::yield_now().await;
        }
    }
    drop(held);
    for task in tasks {
        task.await.unwrap();
    }
    Arc::try_unwrap(order).unwrap().into_inner().unwrap()
}

#[tokio::test]
async fn tenants_take_turns_and_so_do_their_callers() {
    let waiting = ["noisy/a", "noisy/a", "noisy/a", "noisy/b", "quiet/c", "other/d", "quiet/c"];
    let expected = ["noisy/a", "quiet/c", "other/d", "noisy/b", "quiet/c", "noisy/a", "noisy/a"];
    assert_eq!(starts(&waiting).await, expected);
}

#[tokio::test]
async fn runs_of_one_caller_start_in_their_order() {
    let places = Places::new(1, 10, Processors::default());
    let held = places.enter(&seat("t", "a")).await;
    let ann = seat("t", "a");
    let (mut first, mut second) = (Box::pin(places.enter(&ann)), Box::pin(places.enter(&ann)));
    assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
    drop(held);
    assert!((&mut second).now_or_never().is_none());
    let first = (&mut first).now_or_never().unwrap();
    drop(first);
    assert!((&mut second).now_or_never().is_some());
}

#[tokio::test]
async fn a_free_place_goes_to_the_tenant_with_the_fewest() {
    let places = Places::new(3, 10, Processors::default());
    let mut held = vec![places.enter(&seat("noisy", "a")).await, places.enter(&seat("noisy", "a")).await];
    let _quiet = places.enter(&seat("quiet", "c")).await;
    let (noisy, other) = (seat("noisy", "b"), seat("other", "d"));
    let (mut again, mut new) = (Box::pin(places.enter(&noisy)), Box::pin(places.enter(&other)));
    assert!((&mut again).now_or_never().is_none() && (&mut new).now_or_never().is_none());
    held.pop();
    assert!((&mut again).now_or_never().is_none(), "it has one, the other has none");
    assert!((&mut new).now_or_never().is_some());
}

#[tokio::test]
async fn callers_tenants_and_the_process_have_a_bound() {
    let places = Places::new(5, 2, Processors::default());
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|caller| seat_of("acme", caller, 3));
    let anns = [places.try_enter(&ann).unwrap(), places.try_enter(&ann).unwrap()];
    assert!(places.try_enter(&ann).is_none(), "a caller has two");
    let bobs = places.try_enter(&bob).unwrap();
    assert!(places.try_enter(&eve).is_none(), "the tenant has three");
    let others = [places.try_enter(&seat("other", "x")).unwrap(), places.try_enter(&seat("other", "y")).unwrap()];
    assert!(places.try_enter(&seat("third", "z")).is_none(), "the process has five");
    assert_eq!((places.load().places, places.load().running, places.load().waiting), (5, 5, 0));
    drop(others);
    assert!(places.try_enter(&seat("third", "z")).is_some());
    drop(bobs);
    assert!(places.try_enter(&ann).is_none() && places.try_enter(&eve).is_some());
    drop(anns);
    assert_eq!(places.load().running, 0);
    // Fewer hosts share the tenant's places.
    let more: Vec<_> =
        (0..5).filter_map(|number| places.try_enter(&seat_of("acme", &format!("c{number}"), 4))).collect();
    assert_eq!(more.len(), 4);
}

#[tokio::test]
async fn a_run_that_ends_does_not_bring_back_places_that_other_hosts_have_now() {
    let places = Places::new(5, 5, Processors::default());
    let (alone, shared) = (seat_of("acme", "ann", 3), seat_of("acme", "ann", 1));
    let mut held: Vec<_> = (0..3).filter_map(|_| places.try_enter(&alone)).collect();
    let mut waiting = Box::pin(places.enter(&shared));
    assert!((&mut waiting).now_or_never().is_none());
    held.truncate(1);
    assert!((&mut waiting).now_or_never().is_none(), "one has its only place");
    held.clear();
    assert!((&mut waiting).now_or_never().is_some());
}

#[tokio::test]
async fn a_dropped_waiter_leaves_the_queue_and_loses_no_place() {
    let places = Places::new(1, 10, Processors::default());
    let (ann, bob) = (seat("a", "ann"), seat("b", "bob"));
    let held = places.enter(&ann).await;
    let mut gone = Box::pin(places.enter(&ann));
    let mut told = Box::pin(places.enter(&bob));
    assert!((&mut gone).now_or_never().is_none() && (&mut told).now_or_never().is_none());
    assert_eq!(places.load().waiting, 2);
    drop(gone);
    assert_eq!(places.load().waiting, 1);
    // It has the place, and is dropped before it knows.
    drop(held);
    assert_eq!((places.load().waiting, places.load().running), (0, 1));
    drop(told);
    assert_eq!(places.load().running, 0);
    assert!(places.try_enter(&ann).is_some());
}

#[tokio::test]
async fn runs_that_a_quota_keeps_waiting_are_no_load() {
    let places = Places::new(5, 5, Processors::default());
    let acme = Seat { is_quota: true, ..seat_of("acme", "ann", 1) };
    let held = places.enter(&acme).await;
    let mut waiting = Box::pin(places.enter(&acme));
    assert!((&mut waiting).now_or_never().is_none());
    assert_eq!((places.load().running, places.load().waiting), (1, 0), "more hosts would not help");
    drop(held);
    assert!((&mut waiting).now_or_never().is_some());
}

#[tokio::test]
async fn the_longest_wait_is_that_of_the_first_who_waits() {
    let places = Places::new(1, 1, Processors::default());
    let held = places.enter(&seat("a", "ann")).await;
    assert_eq!(places.load().longest_wait, std::time::Duration::ZERO);
    let bob = seat("b", "bob");
    let mut waiting = Box::pin(places.enter(&bob));
    assert!((&mut waiting).now_or_never().is_none());
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    assert!(places.load().longest_wait >= std::time::Duration::from_millis(5));
    drop(held);
    assert_eq!(places.load().longest_wait, std::time::Duration::ZERO);
}
