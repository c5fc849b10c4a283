//! What can stand behind a capability: one trait, one file or folder to a kind.
//!
//! | kind | where |
//! |---|---|
//! | native | [`native`]: closures over the host's own types; over JSON, [`Handlers::add`](crate::Handlers::add) |
//! | typescript | [`typescript`]: handlers in a sandbox of their own |
//! | mcp | `crate::mcp` |
//! | http | [`http`]: requests to web servers |
//! | command | [`command`]: programs that are started for each call |
//! | component | [`component`]: a Wasm component that exports the interface |
//! | space | [`script`]: a script that runs in a space |

#[cfg(feature = "compiler")]
mod command;
#[cfg(feature = "compiler")]
mod component;
#[cfg(feature = "compiler")]
mod failure;
#[cfg(feature = "compiler")]
mod fitting;
#[cfg(feature = "compiler")]
mod grants;
#[cfg(feature = "compiler")]
mod http;
mod kind;
#[cfg(feature = "compiler")]
#[cfg(feature = "compiler")]
mod native;
#[cfg(feature = "compiler")]
mod nobody;
#[cfg(feature = "compiler")]
mod refusing;
#[cfg(feature = "compiler")]
mod script;
#[cfg(feature = "compiler")]
pub(crate) mod typescript;

#[cfg(feature = "compiler")]
pub(crate) use command::CommandProvider;
#[cfg(feature = "compiler")]
pub(crate) use component::{ComponentError, WasmComponent};
#[cfg(feature = "compiler")]
pub(crate) use failure::code as own_code;
#[cfg(feature = "compiler")]
pub(crate) use grants::{ProviderGrants, learn as learn_grants};
#[cfg(feature = "compiler")]
pub(crate) use http::{HttpFunction, HttpModule};
pub use kind::ProviderKind;
#[cfg(feature = "compiler")]
#[cfg(feature = "compiler")]
pub use native::{Capability, NativeFunction};
#[cfg(feature = "compiler")]
pub(crate) use nobody::Nobody;
#[cfg(feature = "compiler")]
pub(crate) use refusing::Refusing;
#[cfg(feature = "compiler")]
pub(crate) use script::{ScriptProvider, ScriptSpace};
#[cfg(feature = "compiler")]
pub(crate) use typescript::{HandlerKind, TypeScript};

use crate::handlers::{Answer, Call, CapabilityError};
use std::pin::Pin;
use std::sync::Arc;

/// The module that the code of a provider finds its call in.
#[cfg(feature = "compiler")]
const CALL: &str = "agent-spaces:call";

/// The answer to a call, on its way.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What answers a call, being made ready.
pub type GettingReady = Pin<Box<dyn Future<Output = Result<(), CapabilityError>> + Send>>;

/// What a person is asked about a call, on its way.
pub type Asking = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// What stands behind the functions of a capability.
///
/// Nothing before or after it depends on what it is: policy, approvals, events, accounting and errors are the same for
/// all. It is called when every step before it has passed, and is dropped when the call is given up.
pub trait Provider: Send + Sync + 'static {
    /// What kind of thing answers.
    fn kind(&self) -> ProviderKind;

    /// What answers, in words for an auditor: a file, a server, an address.
    fn description(&self) -> String;

    /// Answers one call.
    fn call(self: Arc<Self>, call: Call) -> Answering;

    /// Makes ready what answers a call, such as a server that is not running yet. Where calls may take only so long, the
    /// time begins after it.
    fn get_ready(self: Arc<Self>, call: &Call) -> GettingReady {
        let _ = call;
        Box::pin(std::future::ready(Ok(())))
    }

    /// What a person is asked about a call that needs approval, where the provider says it itself. Where it gives
    /// nothing, the definition's template is used.
    fn approval_message(self: Arc<Self>, call: Call) -> Asking {
        drop(call);
        Box::pin(std::future::ready(None))
    }
}
