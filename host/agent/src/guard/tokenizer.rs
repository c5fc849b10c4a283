//! Tokenizers of models.
//!
//! Two vocabularies are in the program, both OpenAI's. The tokens of other models are counted with the newer of them and
//! multiplied: an estimate that is too large moves a result into a handle, one that is too small loses a whole request.
//! The usage that providers report corrects it from the first answer on.

use crate::model::ModelTarget;
use agent_spaces_models::Api;

/// Percent of `o200k_base` for Anthropic's models. Their newest tokenizer takes 1.13 to 1.47 times the tokens of the one
/// before, which takes somewhat more than 1.15 times those of `o200k_base`: at most some 1.75 times together.
const CLAUDE: u64 = 175;

/// Percent of `o200k_base` for Google's models. Prose takes about as many tokens; every digit is one, which makes tables
/// and JSON longer.
const GEMINI: u64 = 125;

/// Percent of `o200k_base` for models that nothing is known of: most have smaller vocabularies, and many split digits.
const UNKNOWN: u64 = 125;

/// Tenths of a byte for a token of a model that nothing is known of; its tokens are never estimated below this.
const UNKNOWN_TENTHS_OF_BYTES: u64 = 35;

/// A vocabulary that texts are counted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Vocabulary {
    /// `o200k_base`.
    O200k,
    /// `cl100k_base`.
    Cl100k,
}

impl Vocabulary {
    /// Tokens of a text. The time is proportional to its length; see [`super::counts`] for the bound.
    pub(super) fn count(self, text: &str) -> u64 {
        let tokenizer = match self {
            Vocabulary::O200k => bpe_openai::o200k_base(),
            Vocabulary::Cl100k => bpe_openai::cl100k_base(),
        };
        tokenizer.count(text) as u64
    }
}

/// Tokenizer of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tokenizer {
    /// OpenAI's since 2024.
    O200k,
    /// OpenAI's before.
    Cl100k,
    /// Anthropic's.
    Claude,
    /// Google's.
    Gemini,
    /// Any other.
    Unknown,
}

impl Tokenizer {
    /// Chooses the tokenizer of a target: as configured, by the model's name, by the wire format.
    pub(super) fn of(target: &ModelTarget) -> Tokenizer {
        let configured = target.window.tokenizer.as_deref().and_then(named);
        configured.or_else(|| of_model(&target.model)).unwrap_or(match target.provider.api {
            Api::OpenaiResponses => Tokenizer::O200k,
            Api::Anthropic => Tokenizer::Claude,
            Api::Gemini => Tokenizer::Gemini,
            // Models of everybody speak these.
            Api::OpenaiChat | Api::Ollama => Tokenizer::Unknown,
        })
    }

    /// The vocabulary that its texts are counted with.
    pub(super) fn vocabulary(self) -> Vocabulary {
        match self {
            Tokenizer::Cl100k => Vocabulary::Cl100k,
            _ => Vocabulary::O200k,
        }
    }

    /// Its tokens for a text that has `counted` tokens of the vocabulary and `bytes` bytes.
    pub(super) fn scaled(self, counted: u64, bytes: usize) -> u64 {
        let times = |percent: u64| counted.saturating_mul(percent).div_ceil(100);
        match self {
            Tokenizer::O200k | Tokenizer::Cl100k => counted,
            Tokenizer::Claude => times(CLAUDE),
            Tokenizer::Gemini => times(GEMINI),
            Tokenizer::Unknown => {
                let by_bytes = (bytes as u64).saturating_mul(10).div_ceil(UNKNOWN_TENTHS_OF_BYTES);
                times(UNKNOWN).max(by_bytes)
            }
        }
    }
}

/// The tokenizer of a configured name. `None`: another one, which the model or the wire format may tell.
fn named(name: &str) -> Option<Tokenizer> {
    let name = name.trim().to_ascii_lowercase();
    if let Some(encoding) = name.strip_prefix("tiktoken") {
        return Some(openai(encoding.trim_start_matches(':')));
    }
    if name.starts_with("anthropic") || name.starts_with("claude") {
        return Some(Tokenizer::Claude);
    }
    (name.starts_with("gemini") || name.starts_with("google")).then_some(Tokenizer::Gemini)
}

/// The tokenizer of a model by its name. Resellers put the vendor before it: `anthropic/claude-…`.
fn of_model(model: &str) -> Option<Tokenizer> {
    let model = model.to_ascii_lowercase();
    if model.contains("claude") {
        return Some(Tokenizer::Claude);
    }
    if model.contains("gemini") || model.contains("gemma") {
        return Some(Tokenizer::Gemini);
    }
    let name = model.rsplit('/').next().unwrap_or_default();
    // o1, o3-mini, …
    let is_reasoning = name.strip_prefix('o').is_some_and(|rest| {
        let rest = rest.trim_start_matches(|next: char| next.is_ascii_digit());
        rest.len() + 1 < name.len() && (rest.is_empty() || rest.starts_with('-'))
    });
    let is_openai = is_reasoning || name.starts_with("gpt-") || name.starts_with("chatgpt-");
    is_openai.then(|| openai(name))
}

/// OpenAI's tokenizer, by the name of an encoding or a model. Encodings older than `cl100k_base` are nearest to it.
fn openai(name: &str) -> Tokenizer {
    const OLD: [&str; 6] = ["cl100k", "p50k", "r50k", "gpt2", "gpt-3", "gpt-4-"];
    let is_old = name == "gpt-4" || OLD.iter().any(|old| name.starts_with(old));
    if is_old { Tokenizer::Cl100k } else { Tokenizer::O200k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::tests::target;

    fn chosen(api: Api, model: &str, tokenizer: Option<&str>) -> Tokenizer {
        let mut target = target(api, model);
        target.window.tokenizer = tokenizer.map(str::to_owned);
        Tokenizer::of(&target)
    }

    #[test]
    fn names_of_the_configuration_come_first() {
        for (name, expected) in [
            ("tiktoken:o200k_base", Tokenizer::O200k),
            ("tiktoken:cl100k_base", Tokenizer::Cl100k),
            ("tiktoken:gpt-4", Tokenizer::Cl100k),
            ("tiktoken:gpt-4o", Tokenizer::O200k),
            ("tiktoken:gpt-4.1", Tokenizer::O200k),
            ("anthropic", Tokenizer::Claude),
            ("Claude-3", Tokenizer::Claude),
            ("gemini", Tokenizer::Gemini),
            ("google:gemini-2.5", Tokenizer::Gemini),
            ("sentencepiece:mine", Tokenizer::Unknown),
        ] {
            assert_eq!(chosen(Api::Ollama, "qwen3", Some(name)), expected, "{name}");
        }
        assert_eq!(chosen(Api::Anthropic, "claude-x", Some("tiktoken:o200k_base")), Tokenizer::O200k);
    }

    #[test]
    fn then_the_model_and_the_wire_format_decide() {
        for (api, model, expected) in [
            (Api::OpenaiChat, "anthropic/claude-sonnet-5", Tokenizer::Claude),
            (Api::OpenaiChat, "google/gemini-3-pro", Tokenizer::Gemini),
            (Api::OpenaiChat, "openai/gpt-5", Tokenizer::O200k),
            (Api::OpenaiChat, "gpt-3.5-turbo", Tokenizer::Cl100k),
            (Api::OpenaiChat, "o4-mini", Tokenizer::O200k),
            (Api::OpenaiChat, "o1", Tokenizer::O200k),
            (Api::OpenaiChat, "olmo-2", Tokenizer::Unknown),
            (Api::OpenaiChat, "o", Tokenizer::Unknown),
            (Api::Ollama, "llama4", Tokenizer::Unknown),
            (Api::OpenaiResponses, "mine", Tokenizer::O200k),
            (Api::Anthropic, "mine", Tokenizer::Claude),
            (Api::Gemini, "mine", Tokenizer::Gemini),
        ] {
            assert_eq!(chosen(api, model, None), expected, "{model}");
        }
    }

    #[test]
    fn counts_are_openais() {
        assert_eq!(Vocabulary::O200k.count("hello world"), 2);
        assert_eq!(Vocabulary::Cl100k.count("hello world"), 2);
        assert_eq!(Vocabulary::O200k.count(""), 0);
        // Long runs of spaces end other tokenizers.
        assert!(Vocabulary::O200k.count(&" ".repeat(200_000)) > 0);
    }

    #[test]
    fn other_models_have_more_tokens() {
        assert_eq!(Tokenizer::O200k.scaled(100, 400), 100);
        assert_eq!(Tokenizer::Claude.scaled(100, 400), 175);
        assert_eq!(Tokenizer::Gemini.scaled(3, 9), 4);
        assert_eq!(Tokenizer::Unknown.scaled(100, 70), 125);
        // A vocabulary that fits the text well says nothing of another's.
        assert_eq!(Tokenizer::Unknown.scaled(1, 700), 200);
    }
}
