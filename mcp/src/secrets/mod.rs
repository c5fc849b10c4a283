//! Text that must not be seen.
//!
//! # Layout
//! - `secret`: a value that cannot be printed.
//! - `redactor`: knows the secrets of a process and takes them out of texts and JSON values.
//! - `parts`, `spellings`: what of a secret is looked for, and how it may be written.
//! - `finder`, `prefilter`: where they are found, and how it is seen quickly that there are none.
//! - `escapes`: characters that are written as HTML, addresses and JSON escape them.
//! - `encoded`: base64 over several lines and base64 as a whole.
//! - `values`: the walk through a JSON value.
//! - `expand`: `${VAR}` in settings. `classify`: which settings are secret.
//! - `places`: secrets inside addresses and arguments.

mod classify;
mod encoded;
mod escapes;
mod expand;
mod finder;
mod parts;
mod places;
mod prefilter;
mod redactor;
mod secret;
mod spellings;
mod values;

pub use classify::{Resolved, SecretError, credential_value, looks_secret, secret_value};
pub use expand::{ExpandError, Expanded, MAX_EXPANDED, Variables, expand};
pub use places::{secrets_in_args, secrets_in_url};
pub use redactor::{MASK, MAX_SECRET, Redactor};
pub use secret::{MIN_SECRET, Secret};
