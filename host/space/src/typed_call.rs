//! Typed calls by the host, for the types that `agent-spaces capabilities show NAME --rust` generates.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// Call of a capability's function with a result of type `R`, for [`Space::call`](crate::space::Space::call).
#[derive(Clone, Debug, PartialEq)]
pub struct TypedCall<R> {
    /// Capability, by the name that scripts use.
    pub capability: &'static str,
    /// Function, by the name that scripts use.
    pub function: &'static str,
    /// Parameters as JSON.
    pub params: Value,
    result: PhantomData<fn() -> R>,
}

impl<R: DeserializeOwned> TypedCall<R> {
    /// Creates a call with these parameters.
    pub fn new(
        capability: &'static str,
        function: &'static str,
        params: &impl Serialize,
    ) -> Result<TypedCall<R>, serde_json::Error> {
        Ok(TypedCall { capability, function, params: serde_json::to_value(params)?, result: PhantomData })
    }
}
