//! Emitters, one per output, each a pure function of the model.
//!
//! No emitter reads the output of another. Shared conventions (quoting, ids, hidden characters) are in `text`;
//! declarations that do not depend on a module are in `typescript/`.

pub mod bundle;
pub mod dts;
pub mod globals;
pub mod js;
pub mod rust;
pub mod schema_json;
pub mod tsconfig;
pub mod wit;

mod text;
