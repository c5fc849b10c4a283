//! Finds functions by what they do, asked in plain words.
//!
//! A query is compared with names, descriptions and parameters by words (their forms, their mistakes, and words of like meaning)
//! and as a whole. What words mean is in a small table that is built in: there is no network and no model to load. A sentence
//! [`Model`] finds more, for who has one.
//!
//! ```
//! use agent_spaces_search::{Document, Index};
//!
//! let function = |server: &str, name: &str, description: &str| Document {
//!     server: server.into(),
//!     name: name.into(),
//!     description: description.into(),
//!     ..Document::default()
//! };
//! let index = Index::build(&[
//!     function("files", "createDirectory", "Creates a directory."),
//!     function("travel", "search_flights", "Lists connections by plane between two airports."),
//! ])?;
//! let hits = index.search("make a new folder", 5, |_| true);
//! assert_eq!(hits[0].document, 0);
//!
//! // What somebody may not see is as if it were not there.
//! let hits = index.search("make a new folder", 5, |document| document != 0);
//! assert!(hits.iter().all(|hit| hit.document == 1));
//!
//! // An index can be kept.
//! let again = Index::from_bytes(&index.to_bytes())?;
//! assert_eq!(again.len(), 2);
//! # Ok::<(), agent_spaces_search::IndexError>(())
//! ```
//!
//! # Layout
//!
//! - `document`, `limits`, `error`: what goes in, how much of it, and what comes instead
//! - `words`, `stop`, `stem`, `typo`: from text to words, and which words are the same
//! - `table`, `vectors`: what words mean; `table/` has the table and what makes it
//! - `model`, `sentences`: what whole texts mean, where there is a sentence model
//! - `fields`, `index`, `bytes`: what is kept of documents, in memory and on disk
//! - `visible`, `lookup`, `search`: what a query finds

mod bytes;
mod document;
mod error;
mod fields;
mod index;
mod limits;
mod lookup;
mod model;
mod relevance;
mod search;
mod sentences;
mod stem;
mod stop;
mod table;
mod typo;
mod vectors;
mod visible;
mod words;

pub use document::{Document, Parameter};
pub use error::IndexError;
pub use index::Index;
pub use limits::{MAX_DOCUMENTS, MAX_QUERY_CHARACTERS, MAX_QUERY_WORDS, SUMMARY_CHARACTERS};
pub use model::{Model, ModelError, ModelFiles};
pub use search::Hit;
pub use sentences::Sentences;
