//! `agent-spaces init` end to end: files of other programs in a temporary home, and the built command.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A home with a project folder, and a space in its path.
struct Home(tempfile::TempDir);

const CONFIG: &str = ".config/agent-spaces/agent-spaces.config.json";

impl Home {
    fn new() -> Home {
        let home = Home(tempfile::Builder::new().prefix("a home ").tempdir().unwrap());
        fs::create_dir_all(home.path("project")).unwrap();
        home
    }

    /// With servers of all programs.
    fn full() -> Home {
        let home = Home::new();
        let github =
            json!({ "command": "npx", "args": ["-y", "github-mcp"], "env": { "GITHUB_TOKEN": "canary-of-github" } });
        home.write(".claude.json", &json!({
            "history": [1, 2.50],
            "mcpServers": {
                "github": github,
                "sentry": { "type": "http", "url": "https://sentry.example/mcp?key=canary", "headers": { "Authorization": "Bearer canary" } },
            },
            "projects": { home.path("project").to_str().unwrap(): { "mcpServers": { "notes": { "command": "./notes", "args": ["--token", "canary-argument"] } } } },
        }).to_string());
        home.write(".cursor/mcp.json", CURSOR);
        home.write(
            ".config/Claude/claude_desktop_config.json",
            &json!({ "mcpServers": { "hub": github } }).to_string(),
        );
        home.write(
            ".config/Code/User/mcp.json",
            r#"{"inputs":[],"servers":{"asks":{"command":"x","args":["${input:k}"]}}}"#,
        );
        home.write("project/.mcp.json", r#"{"mcpServers":{"shared":{"command":"./run","args":["--fast"]}}}"#);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    /// The one copy that was kept of a file.
    fn backup(&self, name: &str) -> String {
        let path = self.path(name);
        let start = format!("{}.backup-", path.file_name().unwrap().to_str().unwrap());
        let beside = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap());
        let copies: Vec<_> = beside.filter(|entry| entry.file_name().to_str().unwrap().starts_with(&start)).collect();
        assert_eq!(copies.len(), 1, "{copies:?}");
        fs::read_to_string(copies[0].path()).unwrap()
    }

    /// The command, in the project's folder. Nothing that it says is a secret.
    fn agent_spaces(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-spaces"));
        for variable in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env_remove(variable);
        }
        command.args(arguments).current_dir(self.path("project")).env("HOME", self.path("")).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(!text(&output.stdout).contains("canary") && !text(&output.stderr).contains("canary"), "{output:?}");
        output
    }

    /// Returns its JSON output, asserting success.
    fn init(&self, arguments: &[&str]) -> Value {
        let output = self.agent_spaces(&[&["init", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

const CURSOR: &str = "{
  // mine
  \"mcpServers\": {
    \"github\": { \"command\": \"docker\", \"args\": [\"run\"] }, // another one
    \"off\": { \"command\": \"x\", \"disabled\": true },
  },
  \"n\": 1.0,
}
";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn servers_of_all_programs_are_copied_once_under_unique_names() {
    let home = Home::full();
    let before: Vec<String> = [".claude.json", ".cursor/mcp.json"].map(|file| home.read(file)).to_vec();
    let data = home.init(&[]);
    let config = home.json(CONFIG);
    assert_eq!(names(&config["mcpServers"]), ["hub", "sentry", "github", "notes"], "{config}");
    assert_eq!(config["capabilities"]["global"], json!(["mcp:hub", "mcp:sentry", "mcp:github", "mcp:notes"]));
    assert_eq!(config["mcpServers"]["hub"]["env"]["GITHUB_TOKEN"], "canary-of-github");
    assert_eq!(config["mcpServers"]["notes"]["cwd"], home.path("project").to_str().unwrap());
    assert_eq!(config["mcpServers"]["notes"]["command"], home.path("project/notes").to_str().unwrap());
    assert_eq!((home.mode(CONFIG), home.mode(".config/agent-spaces")), (0o600, 0o700));
    assert_eq!(data["config"]["literalSecrets"]["hub"], json!(["GITHUB_TOKEN"]));
    assert_eq!([".claude.json", ".cursor/mcp.json"].map(|file| home.read(file)).to_vec(), before);
    // The project's own reader takes it, and needs no acceptance.
    let config = home.path(CONFIG);
    let listed = home.agent_spaces(&["mcp", "list", "--json", "--config", config.to_str().unwrap()]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let states: Vec<&str> = listed.as_array().unwrap().iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["not asked yet"; 4]);
}

#[test]
fn a_second_run_adds_nothing() {
    let home = Home::full();
    home.init(&[]);
    let before = home.read(CONFIG);
    let again = home.init(&[]);
    assert_eq!(again["config"]["state"], "unchanged");
    assert_eq!(home.read(CONFIG), before);
    let said = text(&home.agent_spaces(&["init"]).stdout);
    assert!(said.contains("Nothing to add") && said.contains("already in your configuration, as `hub`"), "{said}");
}

#[test]
fn existing_configuration_is_preserved() {
    let home = Home::full();
    let ours = "{\n    \"limits\": { \"time\": \"7s\" },\n    \"mcpServers\": { \"github\": { \"command\": \"mine\" } },\n    \"spaces\": {  \"a\": {} }\n}\n";
    home.write(CONFIG, ours);
    home.init(&["--from", home.path(".cursor/mcp.json").to_str().unwrap()]);
    let text = home.read(CONFIG);
    for kept in ["{\n    \"limits\": { \"time\": \"7s\" },\n", "    \"spaces\": {  \"a\": {} },\n"] {
        assert!(text.contains(kept), "{text}");
    }
    assert_eq!(names(&home.json(CONFIG)["mcpServers"]), ["github", "github-cursor"]);
    assert_eq!(home.json(CONFIG)["capabilities"]["global"], json!(["mcp:github-cursor"]));
}

#[test]
fn a_configuration_that_is_not_json_is_not_touched() {
    let home = Home::full();
    let toml = "# mine\n[limits]\ntime = \"7s\"\n";
    home.write(".config/agent-spaces/agent-spaces.config.toml", toml);
    let said = text(&home.agent_spaces(&["init", "--remove-originals"]).stdout);
    assert!(said.contains("is not JSON. Add this to it:") && said.contains("${GITHUB_TOKEN}"), "{said}");
    assert_eq!(home.read(".config/agent-spaces/agent-spaces.config.toml"), toml);
    assert!(!home.path(CONFIG).exists());
    // Servers that were not imported must not be lost.
    assert_eq!(home.read(".cursor/mcp.json"), CURSOR);
}

#[test]
fn a_broken_configuration_of_ours_stops_everything() {
    let home = Home::full();
    home.write(CONFIG, "{ \"limts\": {} }");
    let output = home.agent_spaces(&["init", "--replace"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `limits`?"), "{output:?}");
    assert_eq!((home.read(CONFIG), home.read(".cursor/mcp.json")), ("{ \"limts\": {} }".into(), CURSOR.into()));
}

#[test]
fn originals_are_replaced_with_a_backup() {
    let home = Home::full();
    let claude = home.read(".claude.json");
    fs::set_permissions(home.path(".claude.json"), fs::Permissions::from_mode(0o640)).unwrap();
    let data = home.init(&["--replace"]);
    assert_eq!((home.backup(".cursor/mcp.json"), home.backup(".claude.json")), (CURSOR.into(), claude));
    let cursor = home.read(".cursor/mcp.json");
    assert!(
        cursor
            .starts_with("{\n  // mine\n  \"mcpServers\": {\n    \"off\": { \"command\": \"x\", \"disabled\": true },")
    );
    assert!(cursor.ends_with("  },\n  \"n\": 1.0,\n}\n") && !cursor.contains("docker"), "{cursor}");
    let now = home.json(".claude.json");
    assert_eq!((names(&now["mcpServers"]), home.mode(".claude.json")), (vec!["agent-spaces"], 0o640));
    assert_eq!(now["mcpServers"]["agent-spaces"], data["paste"]["cursor"]["mcpServers"]["agent-spaces"]);
    assert_eq!(names(&now["projects"][home.path("project").to_str().unwrap()]["mcpServers"]), [""; 0]);
    // Servers that only the editor can start stay there, and so do those of the project folder.
    assert!(home.read(".config/Code/User/mcp.json").contains("${input:k}"));
    assert!(home.read("project/.mcp.json").contains("shared"));
    // Their programs now start us, and we are not taken in by ourselves.
    let again = home.init(&["--replace"]);
    assert_eq!((&again["config"]["state"], &again["originals"]), (&json!("unchanged"), &json!([])));
    // Without a written file, the output still says how to configure other programs.
    let said = text(&home.agent_spaces(&["init", "--replace"]).stdout);
    assert!(said.contains("claude mcp add"), "{said}");
}

#[test]
fn originals_can_be_removed_without_replacement() {
    let home = Home::full();
    home.init(&["--remove-originals"]);
    assert_eq!(home.json(".claude.json")["mcpServers"], json!({}));
    assert_eq!(home.json(".claude.json")["history"].to_string(), "[1,2.5]");
}

/// A secret need not be called one.
#[test]
fn a_configuration_with_secret_values_is_private() {
    for (server, mode) in [
        (json!({ "command": "x", "env": { "DATABASE": "postgres://me:word@host" } }), 0o600),
        (json!({ "url": "https://a.example/mcp", "headers": { "X-Team": "blue" } }), 0o600),
        (json!({ "command": "x", "env": { "DATABASE": "${DATABASE:-postgres://me:word@host}" } }), 0o600),
        (json!({ "command": "x", "env": { "DATABASE": "${USER}:hunter2hunter2@${HOST}" } }), 0o600),
        (json!({ "command": "x", "env": { "DATABASE": "${DATABASE}", "EMPTY": "" } }), 0o644),
    ] {
        let home = Home::new();
        home.write(CONFIG, r#"{ "mcpServers": {} }"#);
        fs::set_permissions(home.path(CONFIG), fs::Permissions::from_mode(0o644)).unwrap();
        home.write(".cursor/mcp.json", &json!({ "mcpServers": { "it": server } }).to_string());
        home.init(&[]);
        assert_eq!(home.json(CONFIG)["mcpServers"]["it"]["env"], server["env"]);
        assert_eq!(home.mode(CONFIG), mode, "{server}");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = Home::full();
    let said = text(&home.agent_spaces(&["init", "--dry-run", "--replace"]).stdout);
    assert!(said.contains("Would write ") && said.contains("would remove github"), "{said}");
    assert!(!home.path(".config/agent-spaces").exists());
    assert_eq!(home.read(".cursor/mcp.json"), CURSOR);
}

#[test]
fn project_files_are_not_imported_without_consent() {
    let home = Home::full();
    let has_shared = |home: &Home| home.json(CONFIG)["mcpServers"].get("shared").is_some();
    let said = text(&home.agent_spaces(&["init", "--yes"]).stdout);
    assert!(said.contains("not copied, because they came with the folder") && !has_shared(&home), "{said}");
    assert_eq!(home.agent_spaces(&["trust", ".mcp.json"]).status.code(), Some(0));
    home.init(&[]);
    assert!(has_shared(&home));
    let named = Home::full();
    named.init(&["--from", ".mcp.json"]);
    assert_eq!(names(&named.json(CONFIG)["mcpServers"]), ["shared"]);
}

#[test]
fn a_configuration_in_this_folder_needs_trust() {
    let home = Home::full();
    let said = text(&home.agent_spaces(&["init", "--here", "--from", ".mcp.json"]).stdout);
    assert!(said.contains("until you accept it: `agent-spaces trust "), "{said}");
    let config = home.json("project/agent-spaces.config.json");
    assert_eq!(config["mcpServers"]["shared"], json!({ "command": "./run", "args": ["--fast"] }));
    assert_eq!(home.mode("project/agent-spaces.config.json"), 0o600);
    let listed = text(&home.agent_spaces(&["mcp", "list"]).stdout);
    assert!(listed.contains("inert") && listed.contains("not accepted yet"), "{listed}");
}

#[test]
fn symlinks_of_a_folder_are_not_followed() {
    let home = Home::full();
    home.init(&[]);
    let before = home.read(CONFIG);
    std::os::unix::fs::symlink(home.path(CONFIG), home.path("project/agent-spaces.config.json")).unwrap();
    let output = home.agent_spaces(&["init", "--here"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(home.read(CONFIG), before);
    fs::remove_file(home.path("project/.mcp.json")).unwrap();
    home.write("elsewhere.json", r#"{"mcpServers":{"far":{"command":"x"}}}"#);
    std::os::unix::fs::symlink(home.path("elsewhere.json"), home.path("project/.mcp.json")).unwrap();
    let said = text(&home.agent_spaces(&["init"]).stdout);
    assert!(said.contains("it is a link to another place") && !said.contains("far "), "{said}");
}

#[test]
fn the_printed_command_registers_us_with_claude_code() {
    let home = Home::full();
    let line = home.init(&["--dry-run"])["paste"]["claudeCode"].as_str().unwrap().to_owned();
    let script = format!("claude() {{ printf '%s\\n' \"$@\"; }}\n{line}");
    let words = text(&Command::new("sh").args(["-c", &script]).output().unwrap().stdout);
    let (program, config) = (env!("CARGO_BIN_EXE_agent-spaces"), home.path(CONFIG));
    let config = config.to_str().unwrap();
    let program = Path::new(program).canonicalize().unwrap();
    let expected = [
        "mcp",
        "add",
        "--scope",
        "user",
        "agent-spaces",
        "--",
        program.to_str().unwrap(),
        "mcp",
        "serve",
        "--config",
        config,
    ];
    assert_eq!(words.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_empty_search_lists_the_searched_locations() {
    let home = Home::new();
    let output = home.agent_spaces(&["init"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    for part in [".claude.json", ".cursor/mcp.json", "mcpServers", "agent-spaces doctor", "agent-spaces run -"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!home.path(".config").exists());
    let missing = home.agent_spaces(&["init", "--from", "none.json"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn malformed_files_do_not_break_it() {
    let hostile: [Vec<u8>; 11] = [
        b"{\"mcpServers\":".repeat(100_000),
        b"[".repeat(1 << 20),
        vec![0xff, 0xfe, 0],
        Vec::new(),
        b"null".to_vec(),
        b"{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {}}}".to_vec(),
        b"{\"mcpServers\": {\"\\u001b[2J\": {\"command\": \"\\u001b[2J\\u202e\"}, \"__proto__\": {\"command\": \"x\"}}}".to_vec(),
        b"{\"mcpServers\": [{\"name\": \"a\", \"command\": \"x\"}, 1, null]}".to_vec(),
        b"{\"mcpServers\": {\"a\": null, \"b\": 1, \"c\": {\"command\": {}}}, \"projects\": []}".to_vec(),
        b"/* {\"mcpServers\": {}".to_vec(),
        vec![b' '; (16 << 20) + 1],
    ];
    let home = Home::full();
    let pipe = home.path("project/.vscode/mcp.json");
    fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::create_dir_all(home.path(".codeium/windsurf")).unwrap();
    std::os::unix::fs::symlink("mcp_config.json", home.path(".codeium/windsurf/mcp_config.json")).unwrap();
    for bytes in hostile {
        let shown = text(&bytes[..bytes.len().min(60)]);
        for file in [".claude.json", ".cursor/mcp.json", "project/.mcp.json"] {
            fs::write(home.path(file), &bytes).unwrap();
        }
        let output = home.agent_spaces(&["init", "--replace", "--json"]);
        assert!(matches!(output.status.code(), Some(0)), "{shown}: {output:?}");
        let said = home.agent_spaces(&["init", "--dry-run"]);
        assert_eq!(said.status.code(), Some(0), "{shown}: {said:?}");
        assert!(!said.stdout.contains(&0x1b), "{shown}");
        let _ = fs::remove_dir_all(home.path(".config/agent-spaces"));
    }
}

#[test]
fn unset_variables_are_named() {
    let home = Home::new();
    fs::create_dir_all(home.path(".cursor")).unwrap();
    let server = json!({ "command": "x", "env": { "P": "${env:NOBODY_HAS_THIS_VARIABLE}", "Q": "${NOR_THIS:-}" } });
    fs::write(home.path(".cursor/mcp.json"), json!({ "mcpServers": { "web": server } }).to_string()).unwrap();
    let data = home.init(&["--dry-run"]);
    assert_eq!(data["unsetVariables"], json!({ "web": ["NOBODY_HAS_THIS_VARIABLE"] }), "{data}");
    let said = text(&home.agent_spaces(&["init", "--dry-run"]).stdout);
    assert!(said.contains("NOBODY_HAS_THIS_VARIABLE of web") && said.contains("`${NAME:-}`"), "{said}");
}

#[test]
fn every_unset_variable_of_a_text_is_named_once() {
    let home = Home::new();
    fs::create_dir_all(home.path(".cursor")).unwrap();
    let value = "${NOT_SET_TWO}/${NOT_SET_ONE}?again=${NOT_SET_TWO}&default=${NOT_SET_THREE:-none}";
    let server = json!({ "command": "x", "env": { "P": value, "Q": "${NOT_SET_ONE}" } });
    fs::write(home.path(".cursor/mcp.json"), json!({ "mcpServers": { "web": server } }).to_string()).unwrap();
    let data = home.init(&["--dry-run"]);
    assert_eq!(data["unsetVariables"], json!({ "web": ["NOT_SET_ONE", "NOT_SET_TWO"] }), "{data}");
    let said = text(&home.agent_spaces(&["init", "--dry-run"]).stdout);
    assert!(said.contains("NOT_SET_ONE, NOT_SET_TWO of web"), "{said}");
}
