use super::*;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

const TOKEN: &str = "token-of-a-test";

fn sh(line: &str) -> StdioEndpoint {
    program(&["sh", "-c", line])
}

fn program(words: &[&str]) -> StdioEndpoint {
    let args = words.iter().skip(1).map(|word| Secret::new(*word)).collect();
    StdioEndpoint { program: words[0].to_owned(), args, env: BTreeMap::new(), cwd: None, confine: None }
}

async fn failure_of(source: BearerSource) -> String {
    bearer(&source, &Context::default()).await.unwrap_err().to_string()
}

fn file(contents: &[u8], mode: u32) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), contents).unwrap();
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    file
}

#[tokio::test]
async fn a_token_comes_trimmed_from_each_source() {
    let file = file(format!("  {TOKEN}\n").as_bytes(), 0o600);
    for source in [
        BearerSource::Token(Secret::new(TOKEN)),
        BearerSource::File(file.path().to_owned()),
        BearerSource::Command(sh(&format!("echo '{TOKEN}'; echo noise >&2"))),
    ] {
        assert_eq!(bearer(&source, &Context::default()).await.unwrap().expose(), TOKEN);
    }
}

#[tokio::test]
async fn what_cannot_be_a_token_is_refused_without_quoting_it() {
    for (token, why) in [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("Bearer abcdefgh", "`Bearer` is put before it"),
        ("abcdefgh\r\nX-Evil: yes", "not a token alone"),
        ("schlüssel-wort", "not a token alone"),
        ("abcdefg", "shorter than 8 characters"),
    ] {
        let message = failure_of(BearerSource::Token(Secret::new(token))).await;
        assert!(message.starts_with("no bearer token from the configuration: "), "{message}");
        assert!(message.contains(why), "{token:?}: {message}");
        assert!(token.trim().is_empty() || !message.contains(token), "{message}");
    }
}

#[tokio::test]
async fn a_file_that_everybody_can_read_is_refused_with_the_command_that_helps() {
    let file = file(TOKEN.as_bytes(), 0o644);
    let message = failure_of(BearerSource::File(file.path().to_owned())).await;
    assert!(message.contains("mode 644") && message.contains("chmod 600"), "{message}");
}

#[tokio::test]
async fn files_that_are_no_tokens_are_refused() {
    let large = file(&vec![b'x'; MAX_OUTPUT + 1], 0o600);
    assert!(failure_of(BearerSource::File(large.path().to_owned())).await.contains("larger than"));
    let binary = file(&[0xff; 20], 0o600);
    assert!(failure_of(BearerSource::File(binary.path().to_owned())).await.contains("not text"));
    assert!(failure_of(BearerSource::File("/dev/null".into())).await.contains("not a file"));
    assert!(failure_of(BearerSource::File("/nonexistent/token".into())).await.contains("No such file"));
}

#[tokio::test]
async fn a_failing_program_is_told_by_its_last_words() {
    let message =
        failure_of(BearerSource::Command(sh("echo first >&2; echo 'not signed in' >&2; echo >&2; exit 3"))).await;
    assert!(message.contains("exit status: 3") && message.contains("last wrote: not signed in"), "{message}");
    assert!(!message.contains("first"), "{message}");
    assert!(failure_of(BearerSource::Command(program(&["/nonexistent"]))).await.contains("cannot be started"));
}

#[tokio::test]
async fn a_program_gets_no_shell_and_no_environment_of_ours() {
    let echoed = BearerSource::Command(program(&["echo", "$HOME-and-`id`"]));
    assert_eq!(bearer(&echoed, &Context::default()).await.unwrap().expose(), "$HOME-and-`id`");
    // Cargo sets this one for tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let seen = BearerSource::Command(sh("echo \"seen:$CARGO_MANIFEST_DIR:nothing\""));
    assert_eq!(bearer(&seen, &Context::default()).await.unwrap().expose(), "seen::nothing");
}

#[tokio::test]
async fn a_program_that_does_not_end_is_ended_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > '{}'; wait", pid.display());
    let begun = Instant::now();
    let message = run(&sh(&script), Duration::from_secs(1), &Context::default()).await.unwrap_err();
    assert!(message.contains("did not end within 1s"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    let grandchild = std::fs::read_to_string(pid).unwrap();
    let status = format!("/proc/{}/status", grandchild.trim());
    for _ in 0..100 {
        // Gone, or waiting for somebody to notice.
        match std::fs::read_to_string(&status) {
            Ok(status) if !status.contains("State:\tZ") => tokio::time::sleep(Duration::from_millis(50)).await,
            _ => return,
        }
    }
    panic!("the grandchild lives on");
}

#[tokio::test]
async fn endless_output_is_read_away_and_refused() {
    let message = failure_of(BearerSource::Command(sh("head -c 1000000 /dev/zero | tr '\\0' x"))).await;
    assert!(message.contains("larger than"), "{message}");
}
