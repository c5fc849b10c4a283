//! What the emitters print, and what real TypeScript makes of it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod definitions;
mod hostile;
mod models;
mod outputs;
mod seeds;
mod typescript;
