//! Classification of settings as secret.

use super::embedded::secrets_in_url;
use super::expand::Expanded;
use super::names::{is_likely, looks_secret};
use super::parts::after_scheme;
use super::secret::{MAX_SECRET, MIN_SECRET, Secret};

/// Boolean values, which are never secret.
const SWITCHES: [&str; 9] = ["", "0", "1", "true", "false", "yes", "no", "on", "off"];

/// Value of an environment variable, header or argument, classified.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The value.
    pub value: Secret,
    /// True if it must not be shown.
    pub is_secret: bool,
    /// Texts to add to the redactor; empty if the value is not secret.
    pub secrets: Vec<Secret>,
}

/// Error for a secret that cannot be redacted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// Too short: it would match everywhere.
    #[error(
        "`{name}` is secret by its name, and a secret must have at least {MIN_SECRET} characters: \
         use a longer one, or list `{name}` as public"
    )]
    TooShort {
        /// The name of the setting.
        name: String,
    },
    /// Too short for a credential: it would match everywhere.
    #[error(
        "`{name}` is a credential, which must have at least {MIN_SECRET} characters to be redacted: use a longer \
         one, or put a value that is not secret into the definition"
    )]
    ShortCredential {
        /// The name of the header or query parameter.
        name: String,
    },
    /// Too long to search for.
    #[error("the secret in `{name}` is longer than {MAX_SECRET} bytes: put it in a file that the server reads")]
    TooLong {
        /// The name of the setting.
        name: String,
    },
}

/// Decides whether a value is secret.
///
/// - Secret if its name is that of a secret: see [`looks_secret`]. It must then have at least [`MIN_SECRET`]
///   characters, unless it is a boolean: `USE_AUTH=true`.
/// - Secret if its name contains `PASS`, `DSN`, `WEBHOOK`, `CONNECTION` or `TOK`, or has the word `PAT`, or if it is a
///   URL with a password. A value of less than [`MIN_SECRET`] characters is then not secret.
/// - Secret if it contains a variable other than the plain ones: `DATABASE=${MY_DATABASE}`. Plain ones are `PATH`,
///   `HOME`, `LANG`, `LOGNAME`, `SHELL`, `TERM`, `USER`, `PWD` and `TMPDIR`. A shorter value is then not secret:
///   `LOG_LEVEL=${LOG_LEVEL}`.
/// - Not secret if its name is in `public`, in any case of letters.
///
/// The values of variables in it are secrets too, each on its own.
pub fn secret_value(name: &str, expanded: Expanded, public: &[String]) -> Result<Resolved, SecretError> {
    let Expanded { text, is_secret, values } = expanded;
    let is_public = public.iter().any(|public| public.eq_ignore_ascii_case(name));
    let by_name = looks_secret(name) && !SWITCHES.iter().any(|switch| switch.eq_ignore_ascii_case(text.trim()));
    let is_secret = is_secret || is_likely(name) || !secrets_in_url(&text).is_empty();
    let is_short = text.trim().chars().count() < MIN_SECRET;
    if by_name && is_short && !is_public {
        return Err(SecretError::TooShort { name: name.to_owned() });
    }
    let is_secret = !is_public && !is_short && (by_name || is_secret);
    if is_secret && text.len() > MAX_SECRET {
        return Err(SecretError::TooLong { name: name.to_owned() });
    }
    let value = Secret::new(text);
    let mut secrets = Vec::new();
    if is_secret {
        secrets.push(value.clone());
        secrets.extend(values);
    }
    Ok(Resolved { value, is_secret, secrets })
}

/// Classifies a credential: always secret, whatever its name.
///
/// # Errors
/// If it is too short or too long to be redacted.
pub fn credential_value(name: &str, expanded: Expanded) -> Result<Resolved, SecretError> {
    let Expanded { text, values, .. } = expanded;
    if after_scheme(&text).unwrap_or(text.trim()).chars().count() < MIN_SECRET {
        return Err(SecretError::ShortCredential { name: name.to_owned() });
    }
    if text.len() > MAX_SECRET {
        return Err(SecretError::TooLong { name: name.to_owned() });
    }
    let mut secrets = values;
    if name.eq_ignore_ascii_case("cookie") {
        let cookies = text.split(';').filter_map(|cookie| cookie.split_once('='));
        secrets.extend(cookies.map(|(_, value)| Secret::new(value.trim())));
    }
    let value = Secret::new(text);
    secrets.push(value.clone());
    Ok(Resolved { value, is_secret: true, secrets })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Variables, expand};

    fn resolve(name: &str, text: &str) -> Result<Resolved, SecretError> {
        let map = [("LEVEL", "debug"), ("DATABASE", "the database"), ("HOME", "/home/somebody")];
        let map = map.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        secret_value(name, expand(text, &Variables::from_map(map)).expect(text), &["PUBLIC_KEY".to_owned()])
    }

    fn is_secret(name: &str, text: &str) -> bool {
        resolve(name, text).expect(name).is_secret
    }

    #[test]
    fn a_value_is_secret_by_its_name_or_by_what_went_into_it() {
        assert!(is_secret("API_KEY", "literal text"));
        assert!(is_secret("ANYTHING", "${DATABASE}"));
        assert!(!is_secret("ANYTHING", "literal text"));
        assert!(!is_secret("ANYTHING", "${HOME}/data"));
        assert!(!is_secret("LOG_LEVEL", "${LEVEL}"));
        assert!(!is_secret("public_key", "${DATABASE}"));
        assert!(!is_secret("USE_AUTH", "True"));
        assert!(!is_secret("API_KEY", ""));
    }

    #[test]
    fn a_secret_that_is_too_short_or_too_long_is_refused_with_the_rule() {
        let short = resolve("API_KEY", "1234567").expect_err("short");
        assert_eq!(
            short.to_string(),
            "`API_KEY` is secret by its name, and a secret must have at least 8 characters: \
             use a longer one, or list `API_KEY` as public"
        );
        assert!(resolve("API_KEY", "12345678").is_ok());
        let long = resolve("API_KEY", &"x".repeat(MAX_SECRET + 1)).expect_err("long");
        assert!(matches!(long, SecretError::TooLong { .. }));
    }

    #[test]
    fn the_values_inside_a_secret_are_secrets_too() {
        let resolved = resolve("HEADER", "x ${DATABASE} y").expect("fine");
        assert_eq!(resolved.value.expose(), "x the database y");
        let secrets: Vec<&str> = resolved.secrets.iter().map(Secret::expose).collect();
        assert_eq!(secrets, ["x the database y", "the database"]);
        assert!(resolve("ANYTHING", "literal text").expect("fine").secrets.is_empty());
    }

    #[test]
    fn a_credential_is_secret_whatever_its_name_and_never_too_short() {
        let given = |name: &str, text: &str| {
            let expanded = Expanded { text: text.to_owned(), is_secret: false, values: Vec::new() };
            let resolved = credential_value(name, expanded).map_err(|error| error.to_string())?;
            Ok::<_, String>(resolved.secrets.iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(given("X-Tenant", "tenant-of-ours"), Ok(vec!["tenant-of-ours".to_owned()]));
        let cookie = given("Cookie", "lang=de; sid=abcdef123456").unwrap();
        assert!(cookie.contains(&"abcdef123456".to_owned()), "{cookie:?}");
        for (name, text) in [("X-Version", "2"), ("Authorization", "Bearer short"), ("key", " abcdefg "), ("key", "")] {
            let error = given(name, text).unwrap_err();
            assert!(error.contains("at least 8 characters") && error.contains(name), "{error}");
        }
        assert!(given("key", &"x".repeat(MAX_SECRET + 1)).unwrap_err().contains("longer than"));
    }
}
