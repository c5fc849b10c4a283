//! `agent-spaces audit verify` on a tampered log.

use crate::standard::audit_log::verified;
use crate::standard::support::{Project, script};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A project with a log of a few runs.
struct Logged {
    project: Project,
    log: PathBuf,
    text: String,
}

impl Logged {
    fn new() -> Logged {
        let project = Project::with_policy(json!("standard"));
        for _ in 0..2 {
            project.run(&script("await fs.exists('a'); await fs.exists('b'); 1")).value();
        }
        let log = project.home("state/agent-spaces/audit/log.jsonl");
        let text = fs::read_to_string(&log).unwrap();
        assert_eq!(verified(&project)["entries"], 12);
        Logged { project, log, text }
    }

    fn lines(&self) -> Vec<&str> {
        self.text.lines().collect()
    }

    /// Returns location and message of verifying a log with these lines.
    fn verify_lines(&self, lines: &[&str]) -> (Value, String) {
        fs::write(&self.log, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let said = self.verify();
        fs::write(&self.log, &self.text).unwrap();
        said
    }

    fn verify(&self) -> (Value, String) {
        let done = self.project.agent_spaces(&["audit", "verify", "--json"]);
        let report = done.json();
        assert_eq!((done.status, &report["ok"]), (Some(1), &json!(false)), "{done:?}");
        (report["line"].clone(), report["message"].as_str().unwrap().to_owned())
    }

    fn head(&self, name: &str) -> PathBuf {
        self.project.home("data/agent-spaces/audit").join(name)
    }
}

#[test]
fn a_changed_or_moved_line_is_located() {
    let logged = Logged::new();
    for number in [1, 5, 12] {
        let mut lines = logged.lines();
        let changed = lines[number - 1].replacen("2", "3", 1).replace("run_", "run-");
        lines[number - 1] = &changed;
        let (line, message) = logged.verify_lines(&lines);
        assert_eq!(line, number, "{message}");
    }
    let mut lines = logged.lines();
    let (first, second) = (lines[2], lines[8]);
    lines[2] = second;
    lines[8] = first;
    let (line, message) = logged.verify_lines(&lines);
    assert_eq!(line, 3);
    assert!(message.contains("removed, added or reordered"), "{message}");
    verified(&logged.project);
}

#[test]
fn removed_and_added_lines_are_detected() {
    let logged = Logged::new();
    let mut without = logged.lines();
    without.remove(6);
    assert_eq!(logged.verify_lines(&without).0, 7);
    let mut twice = logged.lines();
    twice.insert(6, twice[5]);
    assert_eq!(logged.verify_lines(&twice).0, 7);
    let more = [&logged.lines()[..], &["{\"seq\":13,\"entry\":{}}"]].concat();
    let (_, message) = logged.verify_lines(&more);
    assert!(!message.is_empty());
}

#[test]
fn a_truncated_log_is_detected() {
    let logged = Logged::new();
    let (line, message) = logged.verify_lines(&logged.lines()[..11]);
    assert_eq!(line, 12);
    assert!(message.contains("the log ends here, and 12 were signed"), "{message}");
    assert_eq!(logged.verify_lines(&logged.lines()[..3]).0, 4);
    assert_eq!(logged.verify_lines(&[]).0, 1);
    fs::write(&logged.log, &logged.text[..logged.text.len() - 20]).unwrap();
    assert_eq!(logged.verify().0, 12);
}

#[test]
fn a_missing_log_or_head_is_detected() {
    let logged = Logged::new();
    fs::remove_file(&logged.log).unwrap();
    assert!(logged.verify().1.contains("is missing; 12 entries were signed"));
    fs::write(&logged.log, &logged.text).unwrap();
    for name in ["head.json", "key"] {
        let kept = fs::read(logged.head(name)).unwrap();
        let permissions = fs::metadata(logged.head(name)).unwrap().permissions();
        fs::remove_file(logged.head(name)).unwrap();
        let (_, message) = logged.verify();
        assert!(message.contains("no head") || message.contains("is missing"), "{name}: {message}");
        fs::write(logged.head(name), kept).unwrap();
        fs::set_permissions(logged.head(name), permissions).unwrap();
        verified(&logged.project);
    }
    fs::remove_dir_all(logged.head("")).unwrap();
    assert!(logged.verify().1.contains("has no head"));
}

#[test]
fn a_changed_head_is_detected() {
    let logged = Logged::new();
    for name in ["head.json", "live.json"] {
        let kept = fs::read_to_string(logged.head(name)).unwrap();
        fs::write(logged.head(name), kept.replace("\"count\":12", "\"count\":11")).unwrap();
        let (_, message) = logged.verify();
        assert!(message.contains(name), "{message}");
        fs::write(logged.head(name), kept).unwrap();
    }
    verified(&logged.project);
}

/// Whoever can write to the log can forge a consistent chain, but not the signature of its head.
#[test]
fn a_rewritten_log_with_valid_hashes_is_detected() {
    let logged = Logged::new();
    let mut forged: Vec<String> = Vec::new();
    let mut last = String::new();
    for line in logged.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let (prev, hash) = (value["prev"].as_str().unwrap(), value["hash"].as_str().unwrap());
        let text = line.replace("exists", "delete").replace(&format!(",\"hash\":\"{hash}\"}}"), "");
        let text = if last.is_empty() { text } else { text.replace(prev, &last) };
        last = format!("{:x}", Sha256::digest(format!("{text}}}")));
        forged.push(format!("{text},\"hash\":\"{last}\"}}"));
    }
    let lines: Vec<&str> = forged.iter().map(String::as_str).collect();
    assert_eq!((lines[0], lines.len()), (logged.lines()[0], 12), "the hashes are made as the log makes them");
    assert_eq!(logged.verify_lines(&lines), (json!(12), "is not the line that was signed".to_owned()));
}

#[test]
fn text_output_has_file_and_line() {
    let logged = Logged::new();
    fs::write(&logged.log, logged.text.replacen("exists", "delete", 1)).unwrap();
    let done = logged.project.agent_spaces(&["audit", "verify"]);
    assert_eq!(done.status, Some(1));
    assert!(done.stdout.contains("log.jsonl:2: was changed: its hash does not match"), "{done:?}");
    fs::write(&logged.log, &logged.text).unwrap();
    let done = logged.project.agent_spaces(&["audit", "verify"]);
    assert!(done.stdout.ends_with("log.jsonl: 12 entries, unchanged\n"), "{done:?}");
}

#[test]
fn missing_entries_are_reported_and_not_called_unchanged() {
    let logged = Logged::new();
    // A line that was begun: its entry is not there.
    fs::write(&logged.log, format!("{}{{", logged.text)).unwrap();
    let done = logged.project.agent_spaces(&["audit", "verify", "--json"]);
    let report = done.json();
    assert_eq!((done.status, &report["ok"], &report["lost"]), (Some(1), &json!(false), &json!(1)), "{done:?}");
    assert_eq!((&report["entries"], &report["recovered"]), (&json!(12), &json!(0)));
    let done = logged.project.agent_spaces(&["audit", "verify"]);
    let told = "log.jsonl: 12 entries, at least 1 more are missing: lost in a crash, or truncated\n";
    assert!(done.status == Some(1) && done.stdout.ends_with(told), "{done:?}");
    fs::write(&logged.log, &logged.text).unwrap();
    assert_eq!(verified(&logged.project)["lost"], 0);
}

#[test]
fn an_unverifiable_log_is_not_called_changed() {
    let project = Project::with_policy(json!("standard"));
    let done = project.agent_spaces(&["audit", "verify", "--json"]);
    assert_eq!((done.status, &done.json()["error"]["code"]), (Some(2), &json!("config.file")), "{done:?}");
    assert!(done.error().1.starts_with("no log at"), "{done:?}");

    let logged = Logged::new();
    let heads = logged.head("");
    fs::set_permissions(&heads, fs::Permissions::from_mode(0o755)).unwrap();
    let done = logged.project.agent_spaces(&["audit", "verify", "--json"]);
    assert_eq!((done.status, &done.json()["error"]["code"]), (Some(5), &json!("host.state")), "{done:?}");
    assert!(done.error().1.contains("is not private"), "{done:?}");
    // A copy on a stick may be read by everybody.
    let named = |heads: &Path| {
        let (log, heads) = (logged.log.display().to_string(), heads.display().to_string());
        logged.project.agent_spaces(&["audit", "verify", "--json", "--log", &log, "--heads", &heads])
    };
    let done = named(&heads);
    assert_eq!((done.status, &done.json()["entries"]), (Some(0), &json!(12)), "{done:?}");
    fs::set_permissions(&heads, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(named(&heads).status, Some(5));
    fs::set_permissions(&heads, fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_file(&logged.log).unwrap();
    fs::create_dir(&logged.log).unwrap();
    let done = named(&heads);
    assert!(done.status == Some(5) && done.error().1.contains("is a folder"), "{done:?}");
}
