//! Wire formats, and what is known of providers by their name.

/// Wire format of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Chat completions, of OpenAI and many others.
    OpenaiChat,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

pub(super) const APIS: [(&str, ModelApi); 5] = [
    ("openai-responses", ModelApi::OpenaiResponses),
    ("openai-chat", ModelApi::OpenaiChat),
    ("anthropic", ModelApi::Anthropic),
    ("gemini", ModelApi::Gemini),
    ("ollama", ModelApi::Ollama),
];

/// Provider that is known by its name.
#[derive(Clone, Copy)]
pub(super) struct Known {
    name: &'static str,
    pub(super) api: ModelApi,
    pub(super) base_url: &'static str,
    /// Variable in which people keep its key.
    pub(super) key_variable: Option<&'static str>,
}

const OPENAI: &str = "https://api.openai.com/v1";

const KNOWN: [Known; 6] = [
    Known { name: "openai", api: ModelApi::OpenaiResponses, base_url: OPENAI, key_variable: Some("OPENAI_API_KEY") },
    Known {
        name: "anthropic",
        api: ModelApi::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        key_variable: Some("ANTHROPIC_API_KEY"),
    },
    Known {
        name: "google",
        api: ModelApi::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        key_variable: Some("GEMINI_API_KEY"),
    },
    Known {
        name: "gemini",
        api: ModelApi::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        key_variable: Some("GEMINI_API_KEY"),
    },
    Known {
        name: "openrouter",
        api: ModelApi::OpenaiChat,
        base_url: "https://openrouter.ai/api/v1",
        key_variable: Some("OPENROUTER_API_KEY"),
    },
    Known { name: "ollama", api: ModelApi::Ollama, base_url: "http://127.0.0.1:11434/api", key_variable: None },
];

/// Returns what is known of a provider by its name.
pub(super) fn known(name: &str) -> Option<Known> {
    KNOWN.into_iter().find(|known| known.name == name)
}

/// Returns the base URL of a provider that gives none. Chat completions are spoken by many: a provider with a name of
/// its own must say where it is, or its key goes to a stranger.
pub(super) fn default_base_url(known: Option<Known>, api: ModelApi) -> Option<&'static str> {
    match known {
        Some(known) if known.api == api => Some(known.base_url),
        Some(known) if known.name == "openai" && api == ModelApi::OpenaiChat => Some(OPENAI),
        _ if api == ModelApi::OpenaiChat => None,
        _ => KNOWN.into_iter().find(|known| known.api == api).map(|known| known.base_url),
    }
}
