//! Bounds of the messages of a space and of its owner.

use super::fixtures::{RUN, SPACE, end_run, messages, put_space, store, webhooks};
use crate::webhooks::queue::{MAX_OF_OWNER, MAX_OF_SPACE};
use crate::webhooks::stored_messages::{KIND, Storing};

#[tokio::test]
async fn a_space_has_a_bounded_number_of_messages() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    put_space(&store, "http://127.0.0.1:1/").await;
    end_run(&store, RUN).await;
    for number in 0..MAX_OF_SPACE {
        webhooks.0.queue.add(&format!("msg_{number}"), "ann", SPACE, i64::MAX);
    }
    let row = store.run(RUN).await.unwrap().unwrap();
    assert_eq!(webhooks.store_end("ann", &row).await.unwrap(), Storing::Full);
    assert!(messages(&store, KIND).await.is_empty());
    // Another process has room for it.
    let other = super::fixtures::webhooks(&store, true);
    assert_eq!(other.store_end("ann", &row).await.unwrap(), Storing::New);
    assert_eq!(other.store_end("ann", &row).await.unwrap(), Storing::Before);
}

#[tokio::test]
async fn an_owner_has_a_bounded_number_of_messages() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let webhooks = webhooks(&store, true);
    put_space(&store, "http://127.0.0.1:1/").await;
    end_run(&store, RUN).await;
    for number in 0..MAX_OF_OWNER {
        webhooks.0.queue.add(&format!("msg_{number}"), "ann", &format!("{SPACE}_{}", number / 100), i64::MAX);
    }
    let row = store.run(RUN).await.unwrap().unwrap();
    assert_eq!(webhooks.store_end("ann", &row).await.unwrap(), Storing::Full);
    assert!(messages(&store, KIND).await.is_empty());
    assert_eq!(webhooks.store_end("bob", &row).await.unwrap(), Storing::New, "another owner has room");
}
