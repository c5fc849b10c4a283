//! Private folders and lock files of one user.
//!
//! # Layout
//! - [`folder`]: folders with mode 0700
//! - [`lock`]: advisory locks between processes

pub mod folder;
pub mod lock;
