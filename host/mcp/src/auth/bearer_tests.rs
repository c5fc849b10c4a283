use super::*;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

const TOKEN: &str = "token-of-a-test";

fn sh(line: &str) -> ProcessSpec {
    program(&["sh", "-c", line])
}

fn program(words: &[&str]) -> ProcessSpec {
    let args = words.iter().skip(1).map(|word| Secret::new(*word)).collect();
    ProcessSpec { program: words[0].to_owned(), args, env: BTreeMap::new(), cwd: None, confine: None }
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
async fn tokens_of_all_sources_are_trimmed() {
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
async fn invalid_tokens_are_refused_without_quoting_them() {
    for (token, why) in [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("Bearer abcdefgh", "`Bearer` is put before it"),
        ("abcdefgh\r\nX-Evil: yes", "spaces, line breaks or non-ASCII"),
        ("schlüssel-wort", "spaces, line breaks or non-ASCII"),
        ("abcdefg", "shorter than 8 characters"),
    ] {
        let message = failure_of(BearerSource::Token(Secret::new(token))).await;
        assert!(message.starts_with("no bearer token from the configuration: "), "{message}");
        assert!(message.contains(why), "{token:?}: {message}");
        assert!(token.trim().is_empty() || !message.contains(token), "{message}");
    }
}

#[tokio::test]
async fn a_world_readable_file_is_refused_with_the_chmod_command() {
    let file = file(TOKEN.as_bytes(), 0o644);
    let message = failure_of(BearerSource::File(file.path().to_owned())).await;
    assert!(message.contains("mode 644") && message.contains("chmod 600"), "{message}");
}

#[tokio::test]
async fn invalid_token_files_are_refused() {
    let large = file(&vec![b'x'; MAX_OUTPUT + 1], 0o600);
    assert!(failure_of(BearerSource::File(large.path().to_owned())).await.contains("larger than"));
    let binary = file(&[0xff; 20], 0o600);
    assert!(failure_of(BearerSource::File(binary.path().to_owned())).await.contains("not text"));
    assert!(failure_of(BearerSource::File("/dev/null".into())).await.contains("not a file"));
    assert!(failure_of(BearerSource::File("/nonexistent/token".into())).await.contains("No such file"));
}

#[tokio::test]
async fn the_error_of_a_failed_program_has_its_last_stderr_line() {
    let message =
        failure_of(BearerSource::Command(sh("echo first >&2; echo 'not signed in' >&2; echo >&2; exit 3"))).await;
    assert!(message.contains("exit status: 3") && message.contains("last stderr output: not signed in"), "{message}");
    assert!(!message.contains("first"), "{message}");
    assert!(failure_of(BearerSource::Command(program(&["/nonexistent"]))).await.contains("cannot be started"));
}

#[tokio::test]
async fn a_program_gets_no_shell_and_not_our_environment() {
    let echoed = BearerSource::Command(program(&["echo", "$HOME-and-`id`"]));
    assert_eq!(bearer(&echoed, &Context::default()).await.unwrap().expose(), "$HOME-and-`id`");
    // Cargo sets this one for tests.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let seen = BearerSource::Command(sh("echo \"seen:$CARGO_MANIFEST_DIR:nothing\""));
    assert_eq!(bearer(&seen, &Context::default()).await.unwrap().expose(), "seen::nothing");
}

#[tokio::test]
async fn a_program_that_times_out_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > '{}'; wait", pid.display());
    let begun = Instant::now();
    let message = run(&sh(&script), Duration::from_secs(1), &Context::default()).await.unwrap_err();
    assert!(message.contains("timed out after 1s"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(60));
    let grandchild = std::fs::read_to_string(pid).unwrap();
    let status = format!("/proc/{}/status", grandchild.trim());
    for _ in 0..100 {
        // Gone, or a zombie.
        match std::fs::read_to_string(&status) {
            Ok(status) if !status.contains("State:\tZ") => tokio::time::sleep(Duration::from_millis(50)).await,
            _ => return,
        }
    }
    panic!("the grandchild lives on");
}

#[tokio::test]
async fn endless_output_is_drained_and_refused() {
    let message = failure_of(BearerSource::Command(sh("head -c 1000000 /dev/zero | tr '\\0' x"))).await;
    assert!(message.contains("larger than"), "{message}");
}
