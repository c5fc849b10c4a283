//! Input, output, and what is refused before starting.

use crate::cases;
use crate::rig::{CANARY, Case, Rig};
use agent_spaces_providers::command::CommandError;
use serde_json::{Value, json};

pub(crate) const CASES: [Case; 9] = cases![
    shell_metacharacters_arrive_unchanged,
    a_list_arrives_as_several_arguments,
    a_value_that_looks_like_an_option_is_refused,
    json_goes_in_and_comes_out,
    a_program_reads_text_or_nothing,
    the_environment_has_only_named_and_given_variables,
    the_working_directory_follows_the_definition,
    output_is_decoded_as_the_definition_declares,
    invalid_output_is_an_error,
];

async fn shell_metacharacters_arrive_unchanged() {
    let rig = Rig::new();
    let command = json!({ "program": "printf", "args": ["%s|", "{{a}}", "x{{a}}"], "output": "text" });
    for text in
        ["$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "a\ntouch pwned\n", "' \" \\ *", "", "~"]
    {
        let answer = rig.call(command.clone(), json!({ "a": text })).await.unwrap();
        assert_eq!(answer, json!(format!("{text}|x{text}|")));
    }
    assert!(!rig.path("pwned").exists());
}

async fn a_list_arrives_as_several_arguments() {
    let rig = Rig::with("for word in \"$@\"; do echo \"[$word]\"; done");
    let command = json!({ "program": "./run.sh", "args": ["{{list}}", "--n={{n}}", "end"], "output": "lines" });
    let answer = rig.call(command.clone(), json!({ "list": ["a b", "", 3], "n": 1 })).await;
    assert_eq!(answer, Ok(json!(["[a b]", "[]", "[3]", "[--n=1]", "[end]"])));
    assert_eq!(rig.call(command, json!({ "list": [] })).await, Ok(json!(["[end]"])));
}

async fn a_value_that_looks_like_an_option_is_refused() {
    let rig = Rig::with("touch started; echo '{}'");
    let refused = json!({ "program": "./run.sh", "args": ["{{a}}"] });
    for params in [json!({ "a": "-rf" }), json!({ "a": ["x", "--exec=y"] }), json!({ "a": "x\0y" })] {
        let outcome = rig.call(refused.clone(), params).await;
        assert!(matches!(outcome, Err(CommandError::Invalid(_))), "{outcome:?}");
    }
    assert!(!rig.path("started").exists());
    let allowed = json!({ "program": "./run.sh", "args": [{ "value": "{{a}}", "mayBeginWithDash": true }] });
    assert_eq!(rig.call(allowed, json!({ "a": "-rf" })).await, Ok(json!({})));
}

async fn json_goes_in_and_comes_out() {
    let rig = Rig::new();
    let params = json!({ "a": "é\n\u{1f600}", "b": { "deep": [1.5, null, true] } });
    let command = json!({ "program": "cat", "stdin": "params" });
    assert_eq!(rig.call(command, params.clone()).await, Ok(params.clone()));
    let command = json!({ "program": "cat", "stdin": { "json": { "all": ["{{b}}", "{{n}}"], "text": "<{{a}}>" } } });
    assert_eq!(rig.call(command, params.clone()).await, Ok(json!({ "all": [params["b"]], "text": "<é\n\u{1f600}>" })));
    // Larger than any pipe, both ways.
    let large = json!({ "a": "x".repeat(3_000_000) });
    let command = json!({ "program": "cat", "stdin": "params" });
    assert_eq!(rig.call(command, large.clone()).await, Ok(large));
}

async fn a_program_reads_text_or_nothing() {
    let rig = Rig::new();
    let command = json!({ "program": "cat", "stdin": { "text": "to {{a}}\n" }, "output": "text" });
    assert_eq!(rig.call(command, json!({ "a": "Ada" })).await, Ok(json!("to Ada")));
    let silent = json!({ "program": "cat", "output": "text" });
    assert_eq!(rig.call(silent, json!({ "a": "Ada" })).await, Ok(json!("")));
}

async fn the_environment_has_only_named_and_given_variables() {
    assert!(std::env::var_os(CANARY).is_some(), "the host has it");
    let rig = Rig::new();
    let command = json!({ "program": "env", "env": ["TOKEN", CANARY, "LD_PRELOAD"], "output": "lines" });
    let answer = rig.call(command, json!({})).await.unwrap();
    let lines: Vec<&str> = answer.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(lines.contains(&"TOKEN=granted-token"), "{lines:?}");
    let names: Vec<&str> = lines.iter().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let base = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TOKEN"];
    assert!(names.iter().all(|name| base.contains(name)), "{names:?}");
}

async fn the_working_directory_follows_the_definition() {
    let rig = Rig::new();
    std::fs::create_dir(rig.path("sub")).unwrap();
    let real = |name: &str| json!(rig.path(name).canonicalize().unwrap());
    let pwd = |cwd: Value| json!({ "program": "pwd", "args": [{ "literal": "-P" }], "cwd": cwd, "output": "text" });
    assert_eq!(rig.call(pwd(Value::Null), json!({})).await, Ok(real("")));
    assert_eq!(rig.call(pwd(json!("./sub")), json!({})).await, Ok(real("sub")));
    let missing = rig.call(pwd(json!("./nowhere")), json!({})).await;
    assert!(matches!(&missing, Err(CommandError::Start(why)) if why.contains("nowhere")), "{missing:?}");
}

async fn output_is_decoded_as_the_definition_declares() {
    let rig = Rig::with("printf '1\\n2\\n'");
    assert_eq!(rig.run(json!({ "output": "text" })).await, Ok(json!("1\n2")));
    assert_eq!(rig.run(json!({ "output": "lines" })).await, Ok(json!(["1", "2"])));
}

async fn invalid_output_is_an_error() {
    for (script, message) in [("printf '1\\n2\\n'", "not JSON"), ("true", "is empty"), ("echo '{\"a\":'", "not JSON")] {
        let outcome = Rig::with(&format!("echo why >&2; {script}")).run(json!({})).await;
        let Err(CommandError::Output { message: said, stderr }) = outcome else { panic!("{outcome:?}") };
        assert!(said.contains(message) && stderr == "why", "{said} {stderr}");
    }
}
