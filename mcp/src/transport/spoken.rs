//! What is said to and by a server, for the trace.

use super::describe::describe;
use super::excerpt::shown;
use crate::trace::one_line;
use crate::{Context, ServerSettings};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many characters of a text that is no message are shown.
const SHOWN: usize = 300;

/// Tells the trace what is said to and by one server.
#[derive(Clone)]
pub(super) struct Spoken {
    server: Arc<str>,
    context: Context,
    noise_is_known: Arc<AtomicBool>,
}

impl Spoken {
    pub(super) fn new(settings: &ServerSettings, context: &Context) -> Spoken {
        Spoken {
            server: settings.name.as_str().into(),
            context: context.clone(),
            noise_is_known: Arc::new(AtomicBool::new(false)),
        }
    }

    /// We say this.
    pub(super) fn sent(&self, message: &TxJsonRpcMessage<RoleClient>) {
        self.note(|| format!("→ {}", describe(&self.context.redactor, message)));
    }

    /// The server says this.
    pub(super) fn heard(&self, message: &RxJsonRpcMessage<RoleClient>) {
        self.note(|| format!("← {}", describe(&self.context.redactor, message)));
    }

    /// Something happened that is no message.
    pub(super) fn note(&self, text: impl FnOnce() -> String) {
        self.context.trace.line(&self.server, text);
    }

    /// The server sent something that is no message. The operator hears of the first one only.
    pub(super) fn noise(&self, beginning: &str) {
        let text = format!("it sent something that is no message: {}", self.shown(beginning));
        if self.noise_is_known.swap(true, Ordering::Relaxed) {
            self.note(|| text);
        } else {
            self.warn(&text);
        }
    }

    /// The operator should know this.
    pub(super) fn warn(&self, text: &str) {
        self.context.warn(&self.server, text);
    }

    /// How a text of the server begins, as one line without our secrets.
    pub(super) fn shown(&self, text: &str) -> String {
        one_line(&shown(&self.context.redactor, text.trim(), SHOWN))
    }
}

impl fmt::Debug for Spoken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Spoken").field(&self.server).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Redactor;
    use crate::trace::Trace;
    use crate::{Auth, Endpoint, RemoteEndpoint, Warnings, secrets::Secret};
    use std::sync::Mutex;

    #[test]
    fn the_operator_hears_of_noise_once() {
        let (lines, warnings) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let (line_sink, warning_sink) = (lines.clone(), warnings.clone());
        let context = Context {
            trace: Trace::to(Redactor::default(), move |line| line_sink.lock().unwrap().push(line.to_string())),
            warnings: Warnings::to(move |_| *warning_sink.lock().unwrap() += 1),
            ..Context::default()
        };
        let endpoint = RemoteEndpoint { url: Secret::new(""), headers: Default::default(), auth: Auth::None };
        let spoken = Spoken::new(&ServerSettings::new("s", Endpoint::Http(endpoint)), &context);
        spoken.noise("one");
        spoken.clone().noise("two");
        assert_eq!(*warnings.lock().unwrap(), 1);
        assert!(lines.lock().unwrap().len() == 2 && lines.lock().unwrap()[1].contains("two"));
    }
}
