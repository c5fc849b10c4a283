//! Metadata and settings of a native function.

use capability_gen::definition::{Annotations, Config, FunctionDefinition, Period, Place, RateLimit};
use serde_json::Value;

/// Function of a [`Capability`](crate::Capability), with the checks before each call.
#[derive(Clone, Debug)]
pub struct NativeFunction {
    name: String,
    title: Option<String>,
    description: String,
    annotations: Annotations,
    tags: Vec<String>,
    config: Config,
}

impl NativeFunction {
    /// Creates a function with this name: `get_forecast`, which scripts call `getForecast`.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> NativeFunction {
        NativeFunction {
            name: name.into(),
            title: None,
            description: description.into(),
            annotations: Annotations::default(),
            tags: Vec::new(),
            config: Config::default(),
        }
    }

    /// Sets the title shown to people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> NativeFunction {
        self.title = Some(title.into());
        self
    }

    /// Requires a person's approval of each call.
    #[must_use]
    pub fn requires_approval(mut self) -> NativeFunction {
        self.config.requires_approval = Some(true);
        self
    }

    /// Sets the approval message; `{{name}}` is replaced by a parameter.
    #[must_use]
    pub fn approval_message(mut self, message: impl Into<String>) -> NativeFunction {
        self.config.approval_message = Some(message.into());
        self
    }

    /// Declares that it changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> NativeFunction {
        self.annotations.read_only_hint = Some(true);
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> NativeFunction {
        self.tags.push(tag.into());
        self
    }

    /// Adds a scope that callers must have.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> NativeFunction {
        self.config.scopes.push(scope.into());
        self
    }

    /// Sets the rate limit.
    #[must_use]
    pub fn requests_per_minute(mut self, requests: u64) -> NativeFunction {
        self.config.rate_limit = Some(RateLimit { requests: requests.max(1), period: Period::Minute });
        self
    }

    pub(super) fn into_definition(self, parameters: Value, returns: Value, mut place: Place) -> FunctionDefinition {
        place.path = format!("$.{}", self.name);
        FunctionDefinition {
            name: self.name,
            title: self.title,
            description: self.description,
            parameters,
            returns: Some(returns),
            is_result_wrapped: false,
            annotations: self.annotations,
            tags: self.tags,
            config: self.config,
            implementation: None,
            place,
        }
    }
}
