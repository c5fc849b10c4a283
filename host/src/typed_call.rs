//! Calls that a host makes itself, typed by what `agent-spaces capabilities show NAME --rust` generates.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// A call of a capability's function whose result is an `R`. [`Space::call`](crate::Space::call) makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedCall<R> {
    /// The capability as scripts name it.
    pub capability: &'static str,
    /// The function as scripts name it.
    pub function: &'static str,
    /// The parameters.
    pub params: Value,
    result: PhantomData<fn() -> R>,
}

impl<R: DeserializeOwned> TypedCall<R> {
    /// A call with these parameters.
    pub fn new(
        capability: &'static str,
        function: &'static str,
        params: &impl Serialize,
    ) -> Result<TypedCall<R>, serde_json::Error> {
        Ok(TypedCall { capability, function, params: serde_json::to_value(params)?, result: PhantomData })
    }
}
