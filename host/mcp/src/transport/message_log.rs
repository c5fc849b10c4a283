//! Log of messages sent to and received from a server, for the trace.

use super::describe::describe;
use super::excerpt::shown;
use crate::trace::one_line;
use crate::{Context, ServerSettings};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Length limit of an excerpt of other data, in characters.
const SHOWN: usize = 300;

/// Log of the messages of one server.
#[derive(Clone)]
pub(super) struct MessageLog {
    server: Arc<str>,
    context: Context,
    noise_is_known: Arc<AtomicBool>,
}

impl MessageLog {
    pub(super) fn new(settings: &ServerSettings, context: &Context) -> MessageLog {
        MessageLog {
            server: settings.name.as_str().into(),
            context: context.clone(),
            noise_is_known: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Logs a message that we send.
    pub(super) fn sent(&self, message: &TxJsonRpcMessage<RoleClient>) {
        self.note(|| format!("→ {}", describe(&self.context.redactor, message)));
    }

    /// Logs a message from the server.
    pub(super) fn received(&self, message: &RxJsonRpcMessage<RoleClient>) {
        self.note(|| format!("← {}", describe(&self.context.redactor, message)));
    }

    /// Logs another event.
    pub(super) fn note(&self, text: impl FnOnce() -> String) {
        self.context.trace.line(&self.server, text);
    }

    /// Logs data from the server that is not a message; warns of the first one.
    pub(super) fn noise(&self, beginning: &str) {
        let text = format!("it sent data that is not JSON-RPC: {}", self.shown(beginning));
        if self.noise_is_known.swap(true, Ordering::Relaxed) {
            self.note(|| text);
        } else {
            self.warn(&text);
        }
    }

    /// Emits a warning to the operator.
    pub(super) fn warn(&self, text: &str) {
        self.context.warn(&self.server, text);
    }

    /// Returns the beginning of a text from the server, as one line without secrets.
    pub(super) fn shown(&self, text: &str) -> String {
        one_line(&shown(&self.context.redactor, text.trim(), SHOWN))
    }
}

impl fmt::Debug for MessageLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("MessageLog").field(&self.server).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;
    use crate::{Auth, Endpoint, RemoteEndpoint, Warnings, secrets::Secret};
    use agent_spaces_secrets::Redactor;
    use std::sync::Mutex;

    #[test]
    fn noise_is_warned_of_once() {
        let (lines, warnings) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let (line_sink, warning_sink) = (lines.clone(), warnings.clone());
        let context = Context {
            trace: Trace::to(Redactor::default(), move |line| line_sink.lock().unwrap().push(line.to_string())),
            warnings: Warnings::to(move |_| *warning_sink.lock().unwrap() += 1),
            ..Context::default()
        };
        let endpoint = RemoteEndpoint { url: Secret::new(""), headers: Default::default(), auth: Auth::None };
        let log = MessageLog::new(&ServerSettings::new("s", Endpoint::Http(endpoint)), &context);
        log.noise("one");
        log.clone().noise("two");
        assert_eq!(*warnings.lock().unwrap(), 1);
        assert!(lines.lock().unwrap().len() == 2 && lines.lock().unwrap()[1].contains("two"));
    }
}
