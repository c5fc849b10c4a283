//! What a server learns of our environment: next to nothing.

use crate::StdioEndpoint;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The variables that programs need to run and that hold no secret.
#[cfg(not(windows))]
pub(crate) const BASE: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// The variables that programs need to run and that hold no secret.
#[cfg(windows)]
pub(crate) const BASE: &[&str] = &[
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

/// The whole environment of a server: the base set, where `lookup` has it, and what is configured.
///
/// A configured variable without a value counts as not configured.
pub(super) fn environment(
    endpoint: &StdioEndpoint,
    lookup: impl Fn(&str) -> Option<OsString>,
) -> Result<BTreeMap<OsString, OsString>, String> {
    let base = BASE.iter().filter_map(|name| Some((OsString::from(name), lookup(name)?)));
    let mut environment: BTreeMap<_, _> = base.filter(|(_, value)| !is_function(value)).collect();
    for (name, value) in &endpoint.env {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("`{}` cannot be the name of a variable", name.escape_debug()));
        }
        if value.expose().contains('\0') {
            return Err(format!("the value of the variable `{name}` holds a zero byte"));
        }
        if !value.expose().is_empty() {
            environment.insert(name.into(), value.expose().into());
        }
    }
    Ok(environment)
}

/// Old shells export functions as variables: code, not a value.
fn is_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::Secret;

    fn environment_of(configured: &[(&str, &str)], ours: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let env = configured.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
        let endpoint = StdioEndpoint { program: "p".to_owned(), args: Vec::new(), env, cwd: None, confine: None };
        let lookup = |name: &str| ours.iter().find(|(ours, _)| *ours == name).map(|(_, value)| value.into());
        let text = |(name, value): (OsString, OsString)| format!("{}={}", name.display(), value.display());
        Ok(environment(&endpoint, lookup)?.into_iter().map(text).collect())
    }

    #[test]
    fn s1_05_only_the_base_and_what_is_configured_is_given() {
        let ours = [("PATH", "/bin"), ("TERM", "() { :; }"), ("AWS_SECRET_ACCESS_KEY", "canary"), ("LD_PRELOAD", "x")];
        let given = environment_of(&[("TOKEN", "t"), ("EMPTY", "")], &ours).unwrap();
        assert_eq!(given, ["PATH=/bin", "TOKEN=t"]);
    }

    #[test]
    fn s1_05_configured_variables_win_and_empty_ones_are_not_configured() {
        let given = environment_of(&[("PATH", "/opt"), ("HOME", "")], &[("PATH", "/bin"), ("HOME", "/root")]).unwrap();
        assert_eq!(given, ["HOME=/root", "PATH=/opt"]);
    }

    #[test]
    fn names_and_values_that_no_process_can_have_are_refused() {
        assert!(environment_of(&[("A=B", "x")], &[]).unwrap_err().contains("`A=B`"));
        assert!(environment_of(&[("", "x")], &[]).is_err());
        let refused = environment_of(&[("A", "secret\0value")], &[]).unwrap_err();
        assert!(refused.contains("`A`") && !refused.contains("secret"), "{refused}");
    }
}
