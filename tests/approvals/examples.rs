//! Documented approval examples, decided at a terminal and by another program.

use crate::approvals::support::{CRM, Example, PipedRun, TerminalUser, both};
use serde_json::json;

const EXPIRED: &str = "call.approval_expired: the approval request for ";

/// Two calls without approval end before the one that needs it; events show the order.
fn beside(example: &Example) -> String {
    let Example { call, other, .. } = example;
    example.script(&format!(
        "const order = [];
         const waiting = {call}.then(() => order.push('asked'));
         await Promise.all([{other}, {other}]).then((all) => order.push(`others ${{all.length}}`));
         await new Promise((resolve) => setTimeout(resolve, 10));
         order.push('timer');
         console.log('others are done');
         await waiting;
         console.log(`order <${{order.join()}}>`);
         export default order;"
    ))
}

#[test]
fn approval_at_the_terminal_makes_the_call() {
    both(|example| {
        let person = TerminalUser::starts(&example.home(), &example.attempt(), &[]);
        person.answers(1, "y\n");
        let (status, text) = person.ends();
        assert!(text.contains(&format!("said <{}>", example.value())), "{text}");
        for shown in [&format!("│ {}", example.label), &format!("│ {}", example.message), "│ script.ts:2"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        assert_eq!(status, Some(0));
    });
}

#[test]
fn denial_at_the_terminal_reaches_the_script_with_its_reason() {
    both(|example| {
        let person = TerminalUser::starts(&example.home(), &example.attempt(), &[]);
        person.answers(1, "n not today\n");
        let (_, text) = person.ends();
        let said = format!("said <call.approval_denied: {} was not approved: not today>", example.label);
        assert!(text.contains(&said), "{text}");
    });
}

#[test]
fn an_unanswered_prompt_expires() {
    both(|example| {
        let person = TerminalUser::starts(&example.home_with(&json!({ "expires": "1s" })), &example.attempt(), &[]);
        let (_, text) = person.ends();
        assert!(text.contains("Expired: the call was not made."), "{text}");
        assert!(text.contains(&format!("said <{EXPIRED}{} expired without a decision>", example.label)), "{text}");
    });
}

#[test]
fn other_calls_continue_during_a_prompt() {
    both(|example| {
        let person = TerminalUser::starts(&example.home(), &beside(example), &[]);
        person.answers(1, "y\n");
        let (status, text) = person.ends();
        assert!(text.contains("order <others 2,timer,asked>"), "{text}");
        assert_eq!(status, Some(0));
    });
}

#[test]
fn approval_by_another_program_makes_the_call() {
    both(|example| {
        let mut run = PipedRun::starts(&example.home(), &example.attempt(), &[]);
        let (id, asked) = run.asks();
        assert_eq!(asked["message"], example.message);
        run.decides(&id, "approve");
        let ended = run.ends();
        assert_eq!(ended.value(), example.value());
        let decided = &ended.events("approvalDecided")[0];
        assert_eq!((&decided["approvalId"], &decided["decision"]), (&json!(id), &json!("approve")));
        assert_eq!(decided["by"], "ada");
        let call = asked["callId"].as_u64();
        assert!(ended.place("approvalDecided", call) < ended.place("callResult", call));
    });
}

#[test]
fn denial_by_another_program_reaches_the_script_with_its_reason() {
    both(|example| {
        let mut run = PipedRun::starts(&example.home(), &example.attempt(), &[]);
        let (id, _) = run.asks();
        run.writes(&json!({ "id": id, "decision": "deny", "reason": "not today", "by": "ada" }).to_string());
        let ended = run.ends();
        assert_eq!(ended.value(), format!("call.approval_denied: {} was not approved: not today", example.label));
        let decided = &ended.events("approvalDecided")[0];
        assert_eq!((&decided["decision"], &decided["reason"]), (&json!("deny"), &json!("not today")));
        assert_eq!(ended.events("callResult").len(), 0);
    });
}

#[test]
fn a_request_unanswered_by_another_program_expires() {
    both(|example| {
        let mut run = PipedRun::starts(&example.home_with(&json!({ "expires": "1s" })), &example.attempt(), &[]);
        run.asks();
        assert_eq!(run.next("approvalDecided")["decision"], "expire");
        assert_eq!(run.ends().value(), format!("{EXPIRED}{} expired without a decision", example.label));
    });
}

#[test]
fn other_calls_complete_before_a_program_decides() {
    both(|example| {
        let mut run = PipedRun::starts(&example.home(), &beside(example), &[]);
        let (id, asked) = run.asks();
        assert_eq!(run.next("console")["text"], "others are done");
        run.decides(&id, "approve");
        let ended = run.ends();
        assert_eq!(ended.value(), json!(["others 2", "timer", "asked"]));
        let decided = ended.place("approvalDecided", None);
        let own = &asked["callId"];
        let results = ended.events("callResult");
        let (own, others): (Vec<_>, Vec<_>) = results.iter().partition(|result| result["callId"] == *own);
        assert_eq!((own.len(), others.len()), (1, 2), "{results:?}");
        assert!(own[0]["seq"].as_u64() > Some(decided), "{results:?}");
        assert!(others.iter().all(|result| result["seq"].as_u64() < Some(decided)), "{results:?}");
    });
}

#[test]
fn the_documented_script_runs_unchanged() {
    let home = CRM.home();
    home.write("agent.ts", include_str!("../../examples/company-crm/agent.ts"));
    let mut run = PipedRun::starts_file(&home, "agent.ts", &[]);
    let (id, asked) = run.asks();
    assert_eq!(asked["params"], json!({ "customerId": "cus_1", "subject": "Integration issue", "priority": "high" }));
    run.decides(&id, "approve");
    let ended = run.ends();
    assert_eq!(ended.events("console")[0]["text"], "Created ticket: tkt_1");
    assert_eq!(ended.status, Some(0));
}

#[test]
fn without_an_approver_a_call_is_denied_unless_preapproved() {
    both(|example| {
        let home = example.home();
        for options in [&[][..], &["--approvals", "none"]] {
            let said = home.run(&example.attempt(), options).value();
            let expected = format!("call.approval_denied: {} requires approval", example.label);
            assert!(said.as_str().unwrap().starts_with(&expected), "{said}");
        }
        assert_eq!(home.run(&example.attempt(), &["--approve", example.label]).value(), example.value());
    });
}
