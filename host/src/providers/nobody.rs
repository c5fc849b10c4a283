//! A capability that nothing answers yet: its types can be looked at and written against.

use super::{Answering, Provider, ProviderKind};
use crate::handlers::{Call, CapabilityError};
use std::sync::Arc;

pub(crate) struct Nobody;

impl Provider for Nobody {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Native
    }

    fn description(&self) -> String {
        "nothing".to_owned()
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        let message = format!("{}.{} has nothing that answers it", call.capability, call.function);
        Box::pin(std::future::ready(Err(CapabilityError::new("call.unavailable", message))))
    }
}
