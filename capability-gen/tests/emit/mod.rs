//! Output of the emitters, checked with the real TypeScript compiler.

mod definitions;
mod hostile;
mod models;
mod outputs;
mod seeds;
mod typescript;
