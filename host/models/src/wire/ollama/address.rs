//! Base URL of Ollama's own API.

use url::Url;

use crate::{ModelError, ModelErrorKind};

/// Reads the address of an Ollama server and gives the base URL of its own API, which ends with `/api`. The address may
/// be that of the server, of its own API, or of its interface for clients of OpenAI (`/v1`, which becomes `/api`).
///
/// # Errors
/// `Configuration`, if the text is not an `http` or `https` URL. The error does not quote it: it may hold a password.
pub fn base_url(text: &str) -> Result<Url, ModelError> {
    let refuse = |fault: &str| {
        let message = format!("base URL of Ollama: {fault}; write one like http://localhost:11434");
        ModelError::new(ModelErrorKind::Configuration, message)
    };
    let mut url = Url::parse(text.trim()).map_err(|error| refuse(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refuse("not an http or https URL"));
    }
    let mut segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
    if segments.last() == Some(&"v1") {
        segments.pop();
    }
    if segments.last() != Some(&"api") {
        segments.push("api");
    }
    let path = format!("/{}", segments.join("/"));
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::base_url;
    use crate::ModelErrorKind;

    #[test]
    fn addresses_end_with_api() {
        for (text, expected) in [
            ("http://localhost:11434", "http://localhost:11434/api"),
            ("http://localhost:11434/", "http://localhost:11434/api"),
            ("http://localhost:11434/v1", "http://localhost:11434/api"),
            ("http://localhost:11434/v1/", "http://localhost:11434/api"),
            ("http://localhost:11434/api", "http://localhost:11434/api"),
            ("http://localhost:11434/api/", "http://localhost:11434/api"),
            ("http://localhost:11434/api/v1", "http://localhost:11434/api"),
            (" https://models.example/ollama/ ", "https://models.example/ollama/api"),
            ("https://models.example/a%20b/v1", "https://models.example/a%20b/api"),
            ("https://api.example/v1beta", "https://api.example/v1beta/api"),
            ("https://models.example/v1?tenant=a", "https://models.example/api?tenant=a"),
        ] {
            assert_eq!(base_url(text).unwrap().as_str(), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_without_being_quoted() {
        for text in ["", "localhost:11434", "secret-host", "ftp://me:secret@host/", "http://"] {
            let error = base_url(text).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Configuration, "{text}");
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
    }
}
