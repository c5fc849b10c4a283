//! Settings of a connection to a provider.

use std::fmt;
use std::time::Duration;

use agent_spaces_secrets::Secret;
use serde::{Deserialize, Serialize};
use url::Url;

/// Wire format of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// OpenAI's Responses: `POST {base}/responses`.
    OpenaiResponses,
    /// Chat completions, of OpenAI and many others: `POST {base}/chat/completions`.
    OpenaiChat,
    /// Anthropic's Messages: `POST {base}/messages`.
    Anthropic,
    /// Google's Gemini: `POST {base}/models/{model}:generateContent` and `:streamGenerateContent?alt=sse`.
    Gemini,
    /// Ollama's own: `POST {base}/chat`, where the base ends with `/api`.
    Ollama,
}

/// A provider of models.
#[derive(Clone)]
pub struct Provider {
    /// Name in the configuration.
    pub name: String,
    /// Wire format.
    pub api: Api,
    /// Base URL, with `http` or `https`. Paths are appended.
    pub base_url: Url,
    /// API key, sent in the header that the format specifies.
    pub key: Option<Secret>,
    /// Headers of every request. They replace default headers of the same name.
    pub headers: Vec<Header>,
    /// Timeout of a whole answer; of each chunk of a stream, which [`crate::bounds::MAX_STREAM_TIME`] bounds in all.
    pub timeout: Duration,
    /// True if OpenRouter's attribution headers are sent, and its reasoning details are read and given back.
    pub openrouter: bool,
}

impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of the base URL only the host: the rest may hold a key.
        formatter
            .debug_struct("Provider")
            .field("name", &self.name)
            .field("api", &self.api)
            .field("host", &self.base_url.host_str())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A header of a provider.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value, which may be a key.
    pub value: Secret,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_keys() {
        let provider = Provider {
            name: "work".to_owned(),
            api: Api::OpenaiChat,
            base_url: "https://user:hush@a.example/hush/v1?key=hush".parse().unwrap(),
            key: Some(Secret::new("hush")),
            headers: vec![Header { name: "x-key".to_owned(), value: Secret::new("hush") }],
            timeout: Duration::from_secs(1),
            openrouter: false,
        };
        let shown = format!("{provider:?}");
        assert!(shown.contains("a.example") && !shown.contains("hush"), "{shown}");
    }
}
