//! Secrets: their types, their redaction, and `${VAR}` in settings.
//!
//! # Layout
//! - `secret`: [`Secret`], a value that cannot be printed.
//! - `redactor`: [`Redactor`], which masks the secrets of a process in texts and JSON values.
//! - `parts`, `spellings`: parts of a secret that are secret on their own, and encodings to search for.
//! - `finder`, `prefilter`: search for all encodings, and a fast check that there are none.
//! - `escapes`: escapes of HTML, URLs and JSON.
//! - `encoded`: base64 over several lines, and strings that are base64 as a whole.
//! - `mask`, `values`: redaction of texts and of JSON values.
//! - `expand`: expansion of `${VAR}` in settings. `classify`: decision which settings are secret, also by their
//!   `names`.
//! - `embedded`: secrets in URLs, connection strings and command line arguments.

mod classify;
mod embedded;
mod encoded;
mod escapes;
mod expand;
mod finder;
mod mask;
mod names;
mod parts;
mod prefilter;
mod redactor;
mod secret;
mod spellings;
mod values;

pub use classify::{Resolved, SecretError, credential_value, secret_value};
pub use embedded::{secrets_in_args, secrets_in_url};
pub use expand::{ExpandError, Expanded, MAX_EXPANDED, Variables, expand};
pub use mask::MASK;
pub use names::looks_secret;
pub use redactor::Redactor;
pub use secret::{MAX_SECRET, MIN_SECRET, Secret};
