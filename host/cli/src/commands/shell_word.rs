//! Shell quoting, for commands that people paste.

/// Quotes a word for the shell of this system.
pub(super) fn shell_word(word: &str) -> String {
    quoted(word, cfg!(windows))
}

fn quoted(word: &str, is_windows: bool) -> String {
    let is_plain = |character: char| {
        character.is_ascii_alphanumeric() || "_@%+=:,./-".contains(character) || (is_windows && character == '\\')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    match is_windows {
        true => format!("\"{}\"", word.replace('"', "\\\"")),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::shell_word::quoted;

    #[test]
    fn a_shell_reads_back_the_word_that_was_written() {
        for word in ["/usr/bin/agent-spaces", "/a b/c", "it's", "$HOME `x` \"y\" \\", "", "*", "ü", "a\nb", "--x=1"] {
            let script = format!("printf %s {}", quoted(word, false));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
        assert_eq!(quoted(r"C:\Program Files\x.exe", true), r#""C:\Program Files\x.exe""#);
        assert_eq!(quoted(r"C:\x.exe", true), r"C:\x.exe");
    }
}
