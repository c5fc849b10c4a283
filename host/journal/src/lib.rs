//! Durable storage of runs and documents: the [`Store`] trait and the embedded [`SqliteStore`].
//!
//! A run's journal is a list of entries with sequence numbers. One process at a time owns the run and appends to it; a
//! parked run is a row that waits for a time or a signal, and whoever claims it next reads the journal and goes on. The
//! store gives entries no meaning and knows nothing of Wasm, policies or terminals.
//!
//! # Guarantees
//! - **Durable**: a resolved [`Ticket`] means that the write survives the loss of power.
//! - **Whole**: a run is created with its first entries and its content, or not at all; a request for approval is stored with
//!   the entries that tell of it.
//! - **Ordered**: a run's entries have no holes, and those that survive a crash are a prefix of what was appended.
//! - **Fenced**: no write of an earlier owner is stored after a later [`Claim`], whatever clocks say.
//! - **No lost wakeup**: a signal or a request to cancel that arrives before a run parks makes it ready.
//! - **No lost update**: of two puts that expect the same version of a document, one is stored.
//!
//! # Layout
//! - [`store`]: the trait; [`claim`], [`ticket`], [`error`]: its vocabulary
//! - [`run`], [`entry`], [`approval`], [`content`]: stored data of runs; [`document`]: small texts with an owner and a version
//! - [`transfer`]: portable form of one run
//! - [`sqlite`]: the embedded store; [`tenant`]: for whom a thread works
//! - `suite`: tests that any store must pass
//!
//! # Example
//! ```
//! use agent_spaces_journal::{Entry, NewRun, Settings, SqliteStore, Status, Store, Summary, Wake};
//! use std::time::Duration;
//!
//! # let folder = tempfile::tempdir()?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let store = SqliteStore::open(&folder.path().join("journal"), Settings::default())?;
//! let lease = Duration::from_secs(30);
//! let new = NewRun { id: "run_1".into(), summary: Summary::default(), lease, content: vec![] };
//! let (claim, _created) = store.create(new, store.owner(), vec![Entry::new("start", 0, "{}")]);
//! let wake = Wake { keys: vec!["answer:1".into()], ..Wake::default() };
//! store.park(&claim, 1, vec![Entry::new("ask", 1, "{}")], wake).await?;
//!
//! // Any process, at any time.
//! store.signal("run_1", "answer:1").await?;
//!
//! // Any process that looks for work.
//! assert_eq!(store.due(2, 10).await?, ["run_1"]);
//! let claim = store.claim("run_1", store.owner(), lease).await?;
//! let journal = store.read("run_1", 0, 1000).await?;
//! assert_eq!((claim.epoch, claim.next_seq, journal.len()), (2, 2, 2));
//! store.finish(&claim, 2, vec![], Status::Finished, r#"{"ok":true}"#.into()).await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod approval;
pub mod claim;
pub mod content;
pub mod document;
pub mod entry;
pub mod error;
pub mod run;
pub mod sqlite;
pub mod store;
#[doc(hidden)]
pub mod suite;
pub mod tenant;
mod text_or_base64;
pub mod ticket;
pub mod transfer;

pub use approval::{Approval, ApprovalFilter, ApprovalRow, Decided, RunOwner};
pub use claim::{Claim, ClaimError, Owner, Refused};
pub use content::Content;
pub use document::{Document, DocumentFilter, Expected, NewDocument, Put};
pub use entry::{Entry, Stored};
pub use error::StoreError;
pub use run::{Filter, NewRun, Progress, Prune, Pruned, RunRow, Signalled, Size, Status, Summary, Wake};
pub use sqlite::{Settings, SqliteStore};
pub use store::{Pending, Store};
pub use ticket::{Completion, Ticket};
pub use transfer::{ExportedRun, IMPORTED};
