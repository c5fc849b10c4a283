//! One file to an output, each a pure function of the model.
//!
//! No output is read back by another: what two of them must agree on (quoting, ids, hidden characters) is in
//! `text`, and what scripts may rely on besides the capabilities is in `typescript/`.

pub mod bundle;
pub mod dts;
pub mod globals;
pub mod js;
pub mod rust;
pub mod schema_json;
pub mod tsconfig;
pub mod wit;

mod text;
