//! Semantic search over functions, with queries in natural language.
//!
//! A query is matched against names, descriptions and parameters by words (with stemming, typo tolerance and similar
//! words) and as a whole (by cosine similarity). Word vectors are built in: there is no network access and no model to
//! load. An optional sentence embedding [`Model`] finds more.
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
//! // Documents that are not visible do not affect the results.
//! let hits = index.search("make a new folder", 5, |document| document != 0);
//! assert!(hits.iter().all(|hit| hit.document == 1));
//!
//! // An index can be serialized.
//! let again = Index::from_bytes(&index.to_bytes())?;
//! assert_eq!(again.len(), 2);
//! # Ok::<(), agent_spaces_search::IndexError>(())
//! ```
//!
//! # Layout
//!
//! - `document`, `limits`, `error`: input, limits and errors
//! - `tokenize`, `stop_words`, `stem`, `edit_distance`: from text to words, and matching of words
//! - `table`, `vectors`: word vectors; `table/` has the built-in table and the scripts that make it
//! - `model`, `sentences`: embeddings of whole texts by a sentence model
//! - `bm25f`, `index`, `bytes`: weights of words, the index, and its serialization
//! - `visible`, `lookup`, `search`, `relevance`: visible documents, matching, ranking and the relevance threshold

mod bm25f;
mod bytes;
mod document;
mod edit_distance;
mod error;
mod index;
mod limits;
mod lookup;
mod model;
mod relevance;
mod search;
mod sentences;
mod stem;
mod stop_words;
mod table;
mod tokenize;
mod vectors;
mod visible;

pub use document::{Document, Parameter};
pub use error::IndexError;
pub use index::Index;
pub use limits::{MAX_DOCUMENTS, MAX_QUERY_CHARACTERS, MAX_QUERY_WORDS, SUMMARY_CHARACTERS};
pub use model::{Model, ModelError, ModelFiles};
pub use search::Hit;
pub use sentences::Sentences;
