use super::*;
use proptest::prelude::*;

fn words(line: &str) -> (String, Vec<String>) {
    let mut words = line.split(' ').map(str::to_owned);
    (words.next().unwrap(), words.collect())
}

/// Returns the package of a command line as `manager name version pinned`.
fn of(line: &str) -> String {
    let (program, args) = words(line);
    match package_of(&program, &args) {
        None => "nothing".to_owned(),
        Some(Package { manager, name, version, pinned }) => {
            let manager = format!("{manager:?}").to_lowercase();
            let version = version.unwrap_or_else(|| "-".to_owned());
            format!("{manager} {name} {version} {}", if pinned { "pinned" } else { "loose" })
        }
    }
}

fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(of(line), *expected, "{line}");
    }
}

#[test]
fn packages_of_npm() {
    check(&[
        ("npx -y @modelcontextprotocol/server-filesystem /data", "npm @modelcontextprotocol/server-filesystem - loose"),
        (
            "npx -y @modelcontextprotocol/server-slack@2025.4.25",
            "npm @modelcontextprotocol/server-slack 2025.4.25 pinned",
        ),
        ("npx @playwright/mcp@latest --headless", "npm @playwright/mcp latest loose"),
        ("npx --yes mcp-remote@0.1.29 https://a.example/sse", "npm mcp-remote 0.1.29 pinned"),
        ("npx -y name@^1.2.3", "npm name ^1.2.3 loose"),
        ("npx -y name@1", "npm name 1 loose"),
        ("npx -y name@1.2.3-beta.1+build", "npm name 1.2.3-beta.1+build pinned"),
        ("npx -y name@", "npm name - loose"),
        ("npx --registry https://r.example -y name@1.2.3", "npm name 1.2.3 pinned"),
        ("npx -p @a/b@1.2.3 command --flag", "npm @a/b 1.2.3 pinned"),
        ("npx --package=@a/b@1.2.3 --package other -c command", "npm @a/b 1.2.3 loose"),
        ("npx -y -- name@1.2.3", "npm name 1.2.3 pinned"),
        ("npx -y github:owner/repo#main", "npm github:owner/repo main loose"),
        (
            "npx owner/repo#0123456789012345678901234567890123456789",
            "npm owner/repo 0123456789012345678901234567890123456789 pinned",
        ),
        ("npx -y", "nothing"),
        ("npx ./local", "nothing"),
        ("/usr/local/bin/npx -y name@1.2.3", "npm name 1.2.3 pinned"),
        ("npm exec --yes -- name@1.2.3", "npm name 1.2.3 pinned"),
        ("npm x name", "npm name - loose"),
        ("npm run name", "nothing"),
        ("bunx --bun name@1.2.3", "npm name 1.2.3 pinned"),
        ("bun x name", "npm name - loose"),
        ("pnpm dlx @a/b@1.2.3", "npm @a/b 1.2.3 pinned"),
        ("pnpm --package=x@1.0.0 dlx y", "npm x 1.0.0 pinned"),
        ("pnpm --package x@1.0.0 dlx y", "npm x 1.0.0 pinned"),
        ("pnpm -C /tmp dlx name", "npm name - loose"),
        ("yarn dlx -q name@1.2.3", "npm name 1.2.3 pinned"),
        ("node server.js", "nothing"),
    ]);
}

#[test]
fn packages_of_npm_on_windows() {
    check(&[
        ("cmd /c npx -y @a/b@1.2.3", "npm @a/b 1.2.3 pinned"),
        (r"C:\Windows\System32\CMD.EXE /d /C C:\node\npx.cmd -y name", "npm name - loose"),
        (r"C:\nodejs\NPX.CMD -y name", "npm name - loose"),
        (r"npx C:\local", "nothing"),
        ("cmd /c", "nothing"),
        ("cmd /c cmd /c npx name", "nothing"),
        ("cmd dir", "nothing"),
    ]);
    let one_word = package_of("cmd", &["/c".to_owned(), "npx -y name@1.2.3".to_owned()]).unwrap();
    assert_eq!((one_word.name.as_str(), one_word.pinned), ("name", true));
}

#[test]
fn packages_of_python() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    check(&[
        ("uvx mcp-server-git --repository /r", "pypi mcp-server-git - loose"),
        ("uvx mcp-server-fetch==2025.4.7", "pypi mcp-server-fetch 2025.4.7 pinned"),
        ("uvx mcp-server-fetch@2025.4.7", "pypi mcp-server-fetch 2025.4.7 pinned"),
        ("uvx awslabs.core-mcp-server@latest", "pypi awslabs.core-mcp-server latest loose"),
        ("uvx --from mcp[cli]==1.2.* mcp", "pypi mcp 1.2.* loose"),
        ("uvx --from=name[extra]>=1,<2 command", "pypi name >=1,<2 loose"),
        ("uvx --python 3.12 --with other name==1.0", "pypi name 1.0 pinned"),
        (
            "uvx --from git+https://github.com/oraios/serena serena start",
            "pypi git+https://github.com/oraios/serena - loose",
        ),
        ("uvx --from git+https://github.com/a/b@v1 x", "pypi git+https://github.com/a/b v1 loose"),
        ("uvx --from ./local x", "nothing"),
        ("uv tool run name==1.0", "pypi name 1.0 pinned"),
        ("uv --directory /d tool run --from name==1.0 x", "pypi name 1.0 pinned"),
        ("uv --directory /d run server.py", "nothing"),
        ("pipx run --spec name==1.0 x", "pypi name 1.0 pinned"),
        ("pipx run name", "pypi name - loose"),
        ("pipx install name", "nothing"),
        ("python -m server", "nothing"),
    ]);
    let pinned = format!("git+https://user@github.com/a/b.git@{commit}#subdirectory=x");
    let package = package_of("uvx", &["--from".to_owned(), pinned, "x".to_owned()]).unwrap();
    assert_eq!((package.version.as_deref(), package.pinned), (Some(commit), true));
    let package = package_of("uvx", &[format!("name[x] @ git+https://github.com/a/b@{commit}")]).unwrap();
    assert_eq!((package.name.as_str(), package.pinned), ("name", true));
}

#[test]
fn packages_that_are_images() {
    let digest = format!("sha256:{}", "a".repeat(64));
    check(&[
        (
            "docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN ghcr.io/github/github-mcp-server",
            "oci ghcr.io/github/github-mcp-server - loose",
        ),
        ("docker run -i --rm mcp/slack:1.2.3 --flag", "oci mcp/slack 1.2.3 loose"),
        (
            "docker run -it --name=x --mount type=bind,src=/a,dst=/b localhost:5000/a/b:tag",
            "oci localhost:5000/a/b tag loose",
        ),
        ("docker run -itv /a:/b -eA=1 -p 80:80 --network host image", "oci image - loose"),
        ("docker --context remote container run --init image", "oci image - loose"),
        ("podman run --rm localhost:5000/image", "oci localhost:5000/image - loose"),
        ("docker ps", "nothing"),
        ("docker run --rm", "nothing"),
        ("docker mcp gateway run", "nothing"),
    ]);
    assert_eq!(of(&format!("docker run image:1@{digest}")), format!("oci image {digest} pinned"));
    assert_eq!(of("docker run image@sha256:abc"), "oci image sha256:abc loose");
}

#[test]
fn packages_of_deno() {
    check(&[
        ("deno run -A npm:@a/b@1.2.3/program --flag", "npm @a/b 1.2.3 pinned"),
        ("deno run --allow-net=a.example --config deno.json npm:name", "npm name - loose"),
        ("deno run jsr:@a/b@^1", "jsr @a/b ^1 loose"),
        ("deno run main.ts npm:name", "nothing"),
        ("deno run https://a.example/mod.ts", "nothing"),
        ("deno test", "nothing"),
    ]);
}

#[test]
fn command_lines_that_differ_in_the_version_only() {
    let same = |one: &str, other: &str| {
        let ((program, args), (_, others)) = (words(one), words(other));
        is_same_but_version(&program, &args, &others)
    };
    assert!(same("npx -y a@1.0.0 x", "npx -y a@2.0.0 x"));
    assert!(same("npx -y a x", "npx -y a@2.0.0 x"));
    assert!(same("uvx --from a[b]==1 c", "uvx --from a[b]==2 c"));
    assert!(same("docker run a:1", "docker run a:2"));
    assert!(same("deno run npm:a@1.0.0/b", "deno run npm:a@1.0.1/b"));
    assert!(!same("npx -y a@1.0.0 x", "npx -y b@1.0.0 x"));
    assert!(!same("npx -y a@1.0.0 x", "npx -y a@2.0.0 y"));
    assert!(!same("npx -y a@1.0.0", "npx a@2.0.0"));
    assert!(!same("uvx --from a==1 c", "uvx --from a[evil]==1 c"));
    assert!(!same("npx -p a@1.0.0 -p b c", "npx -p a@1.0.0 -p evil c"));
    assert!(!same("deno run npm:a@1.0.0/b", "deno run npm:a@1.0.0/c"));
    assert!(!same("node a.js", "node a.js"));
}

proptest! {
    #[test]
    fn any_command_line_is_parsed_without_panic(
        program in prop::sample::select(vec!["npx", "npm", "cmd", "uvx", "uv", "pipx", "docker", "deno", "bun"]),
        args in prop::collection::vec(
            prop_oneof![any::<String>(), "[-@/:=a-z0-9.#+]{0,12}", prop::sample::select(vec![
                "run", "x", "tool", "exec", "/c", "--from", "-p", "--", "npm:", "git+https://a@b", "é@é", "@",
            ]).prop_map(str::to_owned)],
            0..6,
        ),
    ) {
        let found = package_of(program, &args);
        prop_assert!(found.is_none_or(|package| !package.name.is_empty()));
    }
}
