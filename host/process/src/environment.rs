//! Environment of a server: a safe base set and the configured variables.

use crate::ProcessSpec;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables that programs need to run and that contain no secret.
#[cfg(not(windows))]
pub const BASE: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Variables that programs need to run and that contain no secret.
#[cfg(windows)]
pub const BASE: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// Returns the whole environment of a server: the base set from `lookup`, and the configured variables.
///
/// A configured variable with an empty value counts as not configured.
pub(super) fn environment(
    endpoint: &ProcessSpec,
    lookup: impl Fn(&str) -> Option<OsString>,
) -> Result<BTreeMap<OsString, OsString>, String> {
    let base = BASE.iter().filter_map(|name| Some((OsString::from(name), lookup(name)?)));
    let mut environment: BTreeMap<_, _> = base.filter(|(_, value)| !is_function(value)).collect();
    for (name, value) in &endpoint.env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("invalid environment variable name `{}`", name.escape_debug()));
        }
        if value.expose().contains('\0') {
            return Err(format!("the value of the environment variable `{name}` contains a NUL byte"));
        }
        if !value.expose().is_empty() {
            environment.insert(name.into(), value.expose().into());
        }
    }
    Ok(environment)
}

/// Returns true for a shell function, which old shells export as a variable: it is code.
fn is_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_secrets::Secret;

    fn environment_of(configured: &[(&str, &str)], ours: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let env = configured.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
        let endpoint = ProcessSpec { program: "p".to_owned(), args: Vec::new(), env, cwd: None, confine: None };
        let lookup = |name: &str| ours.iter().find(|(ours, _)| *ours == name).map(|(_, value)| value.into());
        let text = |(name, value): (OsString, OsString)| format!("{}={}", name.display(), value.display());
        Ok(environment(&endpoint, lookup)?.into_iter().map(text).collect())
    }

    #[test]
    fn only_the_base_set_and_configured_variables_are_passed() {
        let ours = [("PATH", "/bin"), ("TERM", "() { :; }"), ("AWS_SECRET_ACCESS_KEY", "canary"), ("LD_PRELOAD", "x")];
        let given = environment_of(&[("TOKEN", "t"), ("EMPTY", "")], &ours).unwrap();
        assert_eq!(given, ["PATH=/bin", "TOKEN=t"]);
    }

    #[test]
    fn configured_variables_take_precedence_unless_empty() {
        let given = environment_of(&[("PATH", "/opt"), ("HOME", "")], &[("PATH", "/bin"), ("HOME", "/root")]).unwrap();
        assert_eq!(given, ["HOME=/root", "PATH=/opt"]);
    }

    #[test]
    fn invalid_names_and_values_are_refused() {
        assert!(environment_of(&[("A=B", "x")], &[]).unwrap_err().contains("`A=B`"));
        assert!(environment_of(&[("", "x")], &[]).is_err());
        let refused = environment_of(&[("A", "secret\0value")], &[]).unwrap_err();
        assert!(refused.contains("`A`") && !refused.contains("secret"), "{refused}");
    }
}
