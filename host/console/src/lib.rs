//! Console: the page in which people watch runs and decide approvals, as a part of the HTTP server.
//!
//! The page itself is in the folder `console/` of the repository; what it shows comes from the REST API. Here are its files,
//! as the build of that folder made them, and its sign-in, which turns a token or a link into a session of the server.
//!
//! # Layout
//! - [`ConsoleRoutes`]: `/`, `/console` and what is below it
//! - `files`: files of the page; `sign_in`: sign-in and sign-out
//! - [`SessionLog`]: record of sessions
//! - `protection`: headers of all answers; `problem`: errors

mod files;
mod problem;
mod protection;
mod routes;
mod session_log;
mod sign_in;

pub use routes::{ConsoleRoutes, PATH};
pub use session_log::{Recording, SessionChange, SessionLog};
