//! Decisions with `agent-spaces approvals` and the approver token.

use crate::approvals::support::{FILE_SYSTEM, Home, PipedRun, RunOutput, finish, wait_until};
use serde_json::{Value, json};

/// Makes the approver token of a home.
pub(crate) fn token(home: &Home) -> String {
    home.finish(&["approvals", "token", "--json"]).json()["token"].as_str().unwrap().to_owned()
}

/// Returns the pending requests of the store.
pub(crate) fn listed(home: &Home) -> Vec<Value> {
    home.finish(&["approvals", "list", "--json"]).json().as_array().unwrap().clone()
}

/// Waits for this number of pending requests and returns their ids.
pub(crate) fn pending_ids(home: &Home, count: usize) -> Vec<String> {
    let ids = |listed: Vec<Value>| listed.iter().map(|request| request["id"].as_str().unwrap().to_owned()).collect();
    wait_until("requests wait", || Some(listed(home)).filter(|listed| listed.len() == count).map(ids))
}

/// Runs `approvals` with a token, if there is one.
pub(crate) fn approvals(home: &Home, token: Option<&str>, arguments: &[&str]) -> RunOutput {
    let mut command = home.command(&[&["approvals"], arguments, &["--json"]].concat());
    command.envs(token.map(|token| ("AGENT_SPACES_APPROVER_TOKEN", token)));
    finish(command)
}

/// Starts a run whose call waits for approval, in a home with an approver token.
pub(crate) fn start_waiting_run(source: &str) -> (Home, String, PipedRun) {
    let home = FILE_SYSTEM.home();
    let token = token(&home);
    let run = PipedRun::stored(&home, source, &[]);
    (home, token, run)
}

const LOOP: &str = "const done = [];
    for (const path of ['a', 'a', 'b', 'a']) done.push(await fileSystem.deleteFile({ path }));
    export default done;";

#[test]
fn approval_with_the_token_makes_the_call() {
    let (home, token, run) = start_waiting_run(&FILE_SYSTEM.attempt());
    let ids = pending_ids(&home, 1);
    let text = home.finish(&["approvals", "list"]).stdout;
    for shown in [&ids[0], "fileSystem.deleteFile", r#"{"path":"notes/old.txt"}"#, FILE_SYSTEM.message, "script.ts:2"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let done = approvals(&home, Some(&token), &["approve", &ids[0], "--by", "ada"]);
    assert_eq!(done.json(), json!({ "id": ids[0], "decision": "approve" }), "{done:?}");
    let ended = run.ends();
    assert_eq!(ended.value(), FILE_SYSTEM.value());
    assert_eq!(ended.events("approvalDecided")[0]["by"], "ada");
    assert_eq!(listed(&home), Vec::<Value>::new());
}

#[test]
fn denial_with_the_token_reaches_the_script_with_its_reason() {
    let (home, token, run) = start_waiting_run(&FILE_SYSTEM.attempt());
    home.write("token.txt", &token);
    let ids = pending_ids(&home, 1);
    let options = ["deny", &ids[0], "--reason", "not today", "--token-file", "token.txt"];
    assert_eq!(approvals(&home, None, &options).status, Some(0));
    assert_eq!(run.ends().value(), "call.approval_denied: fileSystem.deleteFile was not approved: not today");
}

#[test]
fn an_approval_covers_its_scope() {
    std::thread::scope(|scope| {
        for (lasts, asks) in [("once", 4), ("arguments", 2), ("run", 1)] {
            scope.spawn(move || {
                let (home, token, mut run) = start_waiting_run(&FILE_SYSTEM.script(LOOP));
                for _ in 0..asks {
                    let (id, _) = run.asks();
                    let done = approvals(&home, Some(&token), &["approve", &id, "--for", lasts]);
                    assert_eq!(done.status, Some(0), "{done:?}");
                }
                let ended = run.ends();
                assert_eq!(ended.value(), json!(["deleted a", "deleted a", "deleted b", "deleted a"]));
                assert_eq!(ended.events("approvalRequired").len(), asks);
            });
        }
    });
}

#[test]
fn a_wrong_token_decides_nothing() {
    let (home, token, run) = start_waiting_run(&FILE_SYSTEM.attempt());
    let stranger = self::token(&Home::new());
    let id = &pending_ids(&home, 1)[0];
    let mut almost = token.clone();
    let last = if almost.pop() == Some('A') { 'E' } else { 'A' };
    almost.push(last);
    let none = approvals(&home, None, &["approve", id]);
    assert_eq!((none.status, none.code().as_str()), (Some(2), "config.approver"), "{none:?}");
    for wrong in [&stranger, &almost, "", "ast_", "approve", &token[4..]] {
        let refused = approvals(&home, Some(wrong), &["approve", id]);
        assert_ne!(refused.status, Some(0), "{wrong}: {refused:?}");
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(!said.contains(&token[4..40]), "a token was repeated: {said}");
    }
    assert_eq!(pending_ids(&home, 1), std::slice::from_ref(id), "it was decided");
    assert_eq!(approvals(&home, Some(&token), &["deny", id]).status, Some(0));
    assert!(run.ends().value().as_str().unwrap().starts_with("call.approval_denied"));
}

#[test]
fn the_second_of_two_decisions_is_reported() {
    let both = FILE_SYSTEM.script(
        "const attempt = (path) => fileSystem.deleteFile({ path }).catch((error) => error.code);
         export default await Promise.all(['a', 'b'].map(attempt));",
    );
    let (home, token, mut run) = start_waiting_run(&both);
    let asked = [run.asks(), run.asks()];
    let id = |path: &str| &asked.iter().find(|(_, event)| event["params"]["path"] == path).unwrap().0;
    run.signal(rustix::process::Signal::STOP);
    assert_eq!(approvals(&home, Some(&token), &["deny", id("a")]).status, Some(0));
    let second = approvals(&home, Some(&token), &["approve", id("a")]);
    assert_eq!(second.status, Some(4), "{second:?}");
    assert!(second.stdout.contains("is already decided: the first decision counts"), "{second:?}");
    assert_eq!(pending_ids(&home, 1), std::slice::from_ref(id("b")));
    run.signal(rustix::process::Signal::CONT);
    assert_eq!(run.next("approvalDecided")["decision"], "deny");
    let third = approvals(&home, Some(&token), &["approve", id("a")]);
    assert!(third.status == Some(4) && third.stdout.contains("no pending request"), "{third:?}");
    assert_eq!(approvals(&home, Some(&token), &["approve", id("b")]).status, Some(0));
    assert_eq!(run.ends().value(), json!(["call.approval_denied", "deleted b"]));
}

#[test]
fn expired_and_withdrawn_requests_cannot_be_decided() {
    let home = FILE_SYSTEM.home_with(&json!({ "expires": "2s" }));
    let token = token(&home);
    let mut run = PipedRun::stored(&home, &FILE_SYSTEM.attempt(), &[]);
    let (id, _) = run.asks();
    assert_eq!(run.next("approvalDecided")["decision"], "expire");
    assert!(run.ends().value().as_str().unwrap().starts_with("call.approval_expired"));
    assert_eq!(approvals(&home, Some(&token), &["approve", &id]).status, Some(4));

    let mut run = PipedRun::stored(&home, &FILE_SYSTEM.attempt(), &["--timeout", "200ms"]);
    let (killed, _) = run.asks();
    drop(run);
    wait_until("what a killed run left behind is removed", || listed(&home).is_empty().then_some(()));
    assert_eq!(approvals(&home, Some(&token), &["approve", &killed]).status, Some(4));
}

#[test]
fn the_token_is_not_stored_and_must_precede_the_run() {
    let home = FILE_SYSTEM.home();
    let refused = home.run(&FILE_SYSTEM.attempt(), &["--approvals", "store"]);
    assert_eq!((refused.status, refused.code().as_str()), (Some(2), "config.approver"), "{refused:?}");
    let token = token(&home);
    let mut files = 0;
    let mut folders = vec![home.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    files += 1;
                    let bytes = std::fs::read(entry.path()).unwrap();
                    assert!(!String::from_utf8_lossy(&bytes).contains(&token[4..]), "{}", entry.path().display());
                }
            }
        }
    }
    assert!(files > 3, "the home was looked through");
}

#[test]
fn a_new_token_invalidates_the_old_one() {
    let home = FILE_SYSTEM.home();
    let old = token(&home);
    let new = token(&home);
    let mut run = PipedRun::stored(&home, &FILE_SYSTEM.attempt(), &[]);
    let (id, _) = run.asks();
    let refused = approvals(&home, Some(&old), &["approve", &id]);
    assert!(refused.status == Some(4) && refused.stdout.contains("another approver token"), "{refused:?}");
    assert_eq!(approvals(&home, Some(&new), &["approve", &id]).status, Some(0));
    assert_eq!(run.ends().value(), FILE_SYSTEM.value());
}

/// With `--json` or `--events` the report comes last, also if a signal ends the run during a prompt.
#[test]
fn a_signal_during_an_approval_ends_the_run_with_one_json_object() {
    let (home, _, mut run) = start_waiting_run(&FILE_SYSTEM.attempt());
    run.asks();
    run.signal(rustix::process::Signal::INT);
    let ended = run.ends();
    assert_eq!((ended.status, ended.code()), (Some(130), "run.cancelled".to_owned()), "{ended:?}");
    assert_eq!(ended.events("runFinished")[0]["error"]["code"], "run.cancelled");
    assert_eq!(listed(&home), Vec::<Value>::new(), "it waits no more");
}
