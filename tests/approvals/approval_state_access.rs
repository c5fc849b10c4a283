//! Attempts of scripts to reach approval state: files, terminals, modules and addresses.

use crate::approvals::store::token;
use crate::approvals::support::{FILE_SYSTEM, Home, PROMPT, TerminalUser};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;

/// A project with a folder for a workspace.
fn home_with_workspace() -> Home {
    let home = FILE_SYSTEM.home();
    fs::create_dir(home.project("workspace")).unwrap();
    home
}

const ATTEMPTS: &str =
    "const attempt = (work) => work.then((value) => ({ value }), (error) => ({ refused: error.code ?? error.name }));";

#[test]
fn no_workspace_overlaps_state_or_configuration() {
    let home = home_with_workspace();
    token(&home);
    let script = "import { fs } from '@agent-spaces/std';\nexport default await fs.list();";
    let run = |folder: &str| home.run(script, &["--workspace", home.path(folder).to_str().unwrap()]);
    assert_eq!(run("project/workspace").value(), json!([]));
    symlink(home.state(), home.project("link")).unwrap();
    for folder in
        ["", "state", "state/agent-spaces", "state/agent-spaces/audit", "project", "project/link", "data", "config"]
    {
        let refused = run(folder);
        assert_eq!(refused.status, Some(2), "{folder}: {refused:?}");
        let why = if folder.is_empty() { "it is the home folder" } else { "overlap" };
        assert!(refused.stdout.contains(why), "{folder}: {refused:?}");
    }
    // The same where a configuration names it.
    for (folder, is_refused) in [("./workspace", false), ("../state/agent-spaces", true), ("..", true), (".", true)] {
        home.configure(&json!({ "spaces": { "one": { "workspace": folder } } }));
        let ended = home.run(script, &["--space", "one"]);
        let is_told = ended.stdout.contains("overlap") || ended.stdout.contains("it is the home folder");
        assert_eq!(is_told, is_refused, "{folder}: {ended:?}");
        assert_eq!(ended.status, Some(if is_refused { 2 } else { 0 }), "{folder}: {ended:?}");
    }
}

#[test]
fn symlinks_in_a_workspace_do_not_escape() {
    let home = home_with_workspace();
    token(&home);
    fs::write(home.project("workspace/own.txt"), "own").unwrap();
    let key = fs::read(home.state().join("approver.json")).unwrap();
    symlink(home.state(), home.project("workspace/state")).unwrap();
    symlink(home.state().join("approver.json"), home.project("workspace/key.json")).unwrap();
    symlink("/proc/self", home.project("workspace/self")).unwrap();
    let script = format!(
        "import {{ fs }} from '@agent-spaces/std';
         {ATTEMPTS}
         const up = '../../state/agent-spaces/approver.json';
         const paths = ['key.json', 'state/approver.json', 'state/approvals/decided/x.json', up, `./${{up}}`, 'self/environ', 'self/fd/0', '/proc/self/environ', '/dev/tty'];
         const said = [];
         for (const path of paths) for (const work of [fs.readFile(path), fs.writeFile(path, 'x'), fs.appendFile(path, 'x'), fs.delete(path)])
             said.push({{ path, ...await attempt(work) }});
         for (const path of ['state', 'self', '..']) said.push({{ path, ...await attempt(fs.list(path)) }});
         export default {{ own: await fs.readFile('own.txt'), said }};"
    );
    let value = home.run(&script, &["--workspace", home.project("workspace").to_str().unwrap()]).value();
    assert_eq!(value["own"], "own");
    let said = value["said"].as_array().unwrap();
    // A link itself lies in the workspace, and may be deleted.
    let is_outside = |said: &&Value| said.get("refused").is_none() && said["path"] != "key.json";
    assert_eq!(said.iter().filter(is_outside).collect::<Vec<_>>(), Vec::<&Value>::new());
    assert!(said.len() > 30 && said.iter().filter(|said| said["path"] == "key.json").count() == 4);
    assert!(said.iter().all(|said| said["value"].as_str().is_none()), "something was read: {value}");
    assert_eq!(fs::read(home.state().join("approver.json")).unwrap(), key);
    assert!(!home.state().join("approvals/decided/x.json").exists());
}

#[test]
fn a_script_cannot_read_or_write_the_terminal() {
    let home = home_with_workspace();
    let body = format!(
        "import {{ fs }} from '@agent-spaces/std';
         {ATTEMPTS}
         const waiting = attempt(fileSystem.deleteFile({{ path: 'a' }}));
         await new Promise((resolve) => setTimeout(resolve, 700));
         const said = [];
         for (const path of ['tty', 'pts', '/dev/tty'])
             said.push(await attempt(fs.writeFile(path, 'y\\n')), await attempt(fs.appendFile(path, 'y\\n')), await attempt(fs.readFile(path)));
         console.log(`refused ${{said.filter((one) => one.refused).length}} of ${{said.length}}`);
         console.log(`asked ${{(await waiting).refused}}`);"
    );
    symlink("/dev/tty", home.project("workspace/tty")).unwrap();
    let script = FILE_SYSTEM.script(&body);
    let person = TerminalUser::starts(&home, &script, &["--workspace", "workspace"]);
    symlink(person.device(), home.project("workspace/pts")).unwrap();
    person.waits_for(PROMPT, 1);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let text = person.text();
    assert!(text.ends_with(PROMPT), "something was written, or decided: {text}");
    person.types("n\n");
    let (_, text) = person.ends();
    assert!(text.contains("refused 9 of 9") && text.contains("asked call.approval_denied"), "{text}");
}

#[test]
fn modules_outside_the_scripts_folder_cannot_be_imported() {
    let home = home_with_workspace();
    token(&home);
    symlink(home.state(), home.project("link")).unwrap();
    symlink("/dev/tty", home.project("workspace/tty")).unwrap();
    home.write("beside.json", "{\"beside\": true}");
    let state = home.state();
    let state = state.to_str().unwrap();
    let absolute = format!("{state}/approver.json");
    let url = format!("file://{absolute}");
    for (path, is_there) in [
        ("./beside.json", true),
        ("../state/agent-spaces/approver.json", false),
        ("./link/approver.json", false),
        (&absolute, false),
        (&url, false),
        ("./workspace/tty", false),
        ("node:process", false),
        ("@agent-spaces/approvals", false),
    ] {
        let script = format!("import it from '{path}' with {{ type: 'json' }};\nexport default it;");
        let ended = home.run(&script, &[]);
        assert_eq!(ended.status == Some(0), is_there, "{path}: {ended:?}");
        assert!(!ended.stdout.contains("publicKey"), "{path}: {ended:?}");
    }
}

#[test]
fn local_servers_are_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "import {{ http }} from '@agent-spaces/std';
         const said = [];
         for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '2130706433', '127.1', '[::ffff:127.0.0.1]'])
             said.push(await http.get(`http://${{host}}:{port}/approve`).then(() => 'answered', (error) => error.code));
         export default said;"
    );
    for http in [json!({}), json!({ "domains": ["*"] }), json!({ "domains": ["127.0.0.1", "localhost"] })] {
        let home = Home::configured(&json!({ "policy": { "preset": "permissive", "http": http } }));
        let said = home.run(&script, &[]).value();
        assert!(said.as_array().unwrap().iter().all(|said| said == "call.denied"), "{http}: {said}");
        assert!(listener.accept().is_err(), "somebody came");
    }
    // An address listed as private is reachable.
    let http = json!({ "domains": ["127.0.0.1"], "private": ["127.0.0.1"], "timeout": "1s" });
    let home = Home::configured(&json!({ "policy": { "preset": "permissive", "http": http } }));
    let said = home.run(&script, &[]).value();
    assert_ne!(said[0], "call.denied");
    assert!(listener.accept().is_ok(), "nobody came: {said}");
}
