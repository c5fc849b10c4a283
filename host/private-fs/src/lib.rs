//! Private folders, files and locks of one user.
//!
//! # Layout
//! - [`folder`]: folders with mode 0700
//! - [`file`]: files with mode 0600, replaced atomically
//! - [`lock`]: advisory locks between processes

pub mod file;
pub mod folder;
pub mod lock;
