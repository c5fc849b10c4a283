//! What the emitters print, and what real TypeScript makes of it.

mod definitions;
mod hostile;
mod models;
mod outputs;
mod seeds;
mod typescript;
