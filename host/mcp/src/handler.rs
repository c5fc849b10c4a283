//! Handler of requests and notifications that a server sends.

use crate::context::Context;
use crate::settings::{Elicitation, ServerSettings};
use rmcp::ClientHandler;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleClient};
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Progress of a call, as the server reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Amount done; it only grows.
    pub progress: f64,
    /// Total amount, if known.
    pub total: Option<f64>,
    /// Text describing the progress.
    pub message: Option<String>,
}

pub(crate) type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// Limit on progress notifications kept for calls that are not registered yet; more are dropped.
const MAX_UNCLAIMED: usize = 64;

/// State shared by a handler and its connection.
#[derive(Default)]
pub(crate) struct Shared {
    progress: Mutex<ProgressRoutes>,
    /// Number of `tools/list_changed` notifications so far.
    tools_generation: AtomicU64,
}

#[derive(Default)]
struct ProgressRoutes {
    sinks: HashMap<ProgressToken, ProgressSink>,
    /// Progress that arrived before `follow` was called: a server may be faster than the return from sending.
    unclaimed: VecDeque<(ProgressToken, Progress)>,
}

impl Shared {
    /// Sends progress with this token to the sink from now on.
    pub(crate) fn follow(&self, token: ProgressToken, sink: ProgressSink) {
        let mut routes = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let (early, rest): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut routes.unclaimed).into_iter().partition(|(known, _)| *known == token);
        routes.unclaimed = rest;
        routes.sinks.insert(token, sink.clone());
        drop(routes);
        early.into_iter().for_each(|(_, progress)| sink(progress));
    }

    pub(crate) fn forget(&self, token: &ProgressToken) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).sinks.remove(token);
    }

    fn progressed(&self, token: ProgressToken, progress: Progress) {
        let mut routes = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match routes.sinks.get(&token).cloned() {
            Some(sink) => {
                drop(routes);
                sink(progress);
            }
            None => {
                if routes.unclaimed.len() == MAX_UNCLAIMED {
                    routes.unclaimed.pop_front();
                }
                routes.unclaimed.push_back((token, progress));
            }
        }
    }

    /// Returns the number of `tools/list_changed` notifications so far.
    pub(crate) fn tools_generation(&self) -> u64 {
        self.tools_generation.load(Ordering::Acquire)
    }

    pub(crate) fn tools_changed(&self) {
        self.tools_generation.fetch_add(1, Ordering::AcqRel);
    }
}

/// Answers requests of a server and handles its notifications.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) settings: Arc<ServerSettings>,
    pub(crate) context: Context,
    pub(crate) shared: Arc<Shared>,
}

impl Handler {
    fn trace(&self, text: impl FnOnce() -> String) {
        self.context.trace.line(&self.settings.name, text);
    }

    /// Refuses a request for something that the configuration does not grant.
    fn refuse(&self, what: &'static str) -> ErrorData {
        self.trace(|| format!("refused its request for {what}"));
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("this client does not offer {what}"), None)
    }

    #[expect(deprecated, reason = "servers from before 2026-07-28 request roots")]
    pub(crate) fn roots(&self) -> Result<ListRootsResult, ErrorData> {
        if self.settings.roots.is_empty() {
            return Err(self.refuse("roots"));
        }
        let uri = |path: &PathBuf| url::Url::from_file_path(path).ok().map(|url| Root::new(url.to_string()));
        Ok(ListRootsResult::new(self.settings.roots.iter().filter_map(uri).collect()))
    }

    pub(crate) fn elicit(&self, request: &ElicitRequestParams) -> Result<ElicitResult, ErrorData> {
        if self.settings.elicitation == Elicitation::Refuse {
            return Err(self.refuse("elicitation"));
        }
        let answer = match request {
            ElicitRequestParams::FormElicitationParams { requested_schema, .. } => defaults(requested_schema),
            _ => None,
        };
        Ok(match answer {
            Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    /// Handles a notification; ignores all other kinds.
    #[expect(deprecated, reason = "servers from before 2026-07-28 use logging")]
    pub(crate) fn notified(&self, notification: ServerNotification) {
        match notification {
            ServerNotification::ProgressNotification(progress) => self.progressed(progress.params),
            ServerNotification::ToolListChangedNotification(_) => {
                self.trace(|| "its tool list changed".into());
                self.shared.tools_changed();
            }
            ServerNotification::LoggingMessageNotification(message) => self.trace(|| {
                let LoggingMessageNotificationParam { level, logger, data, .. } = message.params;
                let logger = logger.map(|logger| format!(" ({logger})")).unwrap_or_default();
                format!("log {level:?}{logger}: {data}")
            }),
            _ => {}
        }
    }

    /// Passes progress on to the caller.
    fn progressed(&self, params: ProgressNotificationParam) {
        // Our tokens are numbers. A string could be of any length and would be kept here.
        if !matches!(params.progress_token.0, NumberOrString::Number(_)) {
            return;
        }
        let message = params.message.map(|message| crate::trace::one_line(&self.context.redactor.text(&message)));
        let progress = Progress { progress: params.progress, total: params.total, message };
        self.shared.progressed(params.progress_token, progress);
    }
}

/// Returns an answer made of the schema's defaults, or `None` if a required property has no default.
fn defaults(schema: &ElicitationSchema) -> Option<Value> {
    let mut content = Map::new();
    for (name, property) in &schema.properties {
        let property = serde_json::to_value(property).ok()?;
        match property.get("default") {
            Some(default) => {
                content.insert(name.clone(), default.clone());
            }
            None if schema.required.iter().flatten().any(|required| required == name) => return None,
            None => {}
        }
    }
    Some(Value::Object(content))
}

#[expect(deprecated, reason = "servers from before 2026-07-28 use roots and sampling")]
impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if !self.settings.roots.is_empty() {
            capabilities.roots = Some(RootsCapabilities::default());
        }
        if self.settings.elicitation == Elicitation::Defaults {
            let form = FormElicitationCapability::default();
            capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        }
        let client = Implementation::new("agent-spaces", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, client).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(self.refuse("sampling"))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.roots()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.elicit(&request)
    }
}
