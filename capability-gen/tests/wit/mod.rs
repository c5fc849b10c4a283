//! Mapping to WIT: each rule on a small model, and properties of random models.

mod cross;
mod random;
mod rules;
mod server;
mod support;
