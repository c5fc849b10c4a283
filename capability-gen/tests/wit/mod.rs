//! From the model to WIT: each rule on a small model, and what holds for every model.

mod cross;
mod random;
mod rules;
mod server;
mod support;
