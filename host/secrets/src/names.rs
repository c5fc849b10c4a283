//! Names of settings whose values are secret.

/// Words in the names of secrets.
const WORDS: [&str; 15] = [
    "TOKEN",
    "KEY",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PWD",
    "AUTH",
    "CREDENTIAL",
    "COOKIE",
    "PRIVATE",
    "BEARER",
    "SIGNATURE",
    "SESSION",
    "JWT",
];

/// Returns true for names whose values are often secret, and as often short and harmless.
pub(super) fn is_likely(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["PASS", "DSN", "WEBHOOK", "CONNECTION", "TOK"].iter().any(|word| name.contains(word))
        || name.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| word == "PAT")
}

/// Returns true if the name of a variable, header, parameter or option is that of a secret.
///
/// Such a name contains one of these, in any case: `TOKEN`, `KEY`, `SECRET`, `PASSWORD`, `PASSWD`, `PASSPHRASE`,
/// `PWD`, `AUTH`, `CREDENTIAL`, `COOKIE`, `PRIVATE`, `BEARER`, `SIGNATURE`, `SESSION`, `JWT`. `PWD` and `OLDPWD`
/// themselves are folders, and an `AUTHOR` is a person.
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if name == "PWD" || name == "OLDPWD" {
        return false;
    }
    let name = name.replace("AUTHORIZ", "AUTH").replace("AUTHORIS", "AUTH").replace("AUTHOR", "");
    WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in ["GITHUB_TOKEN", "x-api-key", "Authorization", "pgpassword", "DB_PWD", "Cookie", "clientSecret"] {
            assert!(looks_secret(name), "{name}");
        }
        for name in ["LOG_LEVEL", "PWD", "GIT_AUTHOR_NAME", "Accept", "HOME", "REGION"] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
