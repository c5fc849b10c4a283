//! Check that a program can be started, by a lookup in `PATH`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Default search path of the system if `PATH` is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Returns an error if the program certainly cannot be started.
pub(super) fn check(
    program: &str,
    cwd: Option<&Path>,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<(), String> {
    if let Some(cwd) = cwd
        && !cwd.is_dir()
    {
        return Err(format!("its working directory `{}` does not exist", cwd.display()));
    }
    let base = cwd.unwrap_or(Path::new(""));
    if program.is_empty() {
        return Err("its name is empty".to_owned());
    }
    if program.contains('/') {
        return match runnable(&base.join(program)) {
            Some(true) => Ok(()),
            Some(false) => Err("it is not an executable file".to_owned()),
            None => Err("there is no such file".to_owned()),
        };
    }
    let path = environment.get(OsStr::new("PATH")).map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str);
    let found: Vec<bool> =
        std::env::split_paths(path).filter_map(|folder| runnable(&base.join(folder).join(program))).collect();
    if found.contains(&true) {
        Ok(())
    } else if found.is_empty() {
        Err(match program.contains(char::is_whitespace) {
            true => "not found in PATH; put its arguments into `args`, one per item".to_owned(),
            false => "not found in PATH; install it, or give its full path".to_owned(),
        })
    } else {
        Err("found in PATH, but not an executable file".to_owned())
    }
}

/// Returns whether the file is executable, or `None` if there is no file.
fn runnable(path: &Path) -> Option<bool> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_servers_path_and_by_their_own_path() {
        let folder = tempfile::tempdir().unwrap();
        let (tool, data) = (folder.path().join("tool"), folder.path().join("data"));
        for (file, mode) in [(&tool, 0o755), (&data, 0o644)] {
            std::fs::write(file, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = BTreeMap::from([("PATH".into(), folder.path().into())]);
        let message = |program: &str| check(program, None, &path).err().unwrap_or_default();
        assert_eq!(message("tool"), "");
        assert_eq!(message(tool.to_str().unwrap()), "");
        assert!(message("data").contains("not an executable"));
        assert!(message("sh").contains("not found in PATH"));
        assert!(message("/nowhere/tool").contains("no such file"));
        assert!(message(data.to_str().unwrap()).contains("not an executable"));
        assert!(message("").contains("empty"));
        assert_eq!(check("./tool", Some(folder.path()), &BTreeMap::new()), Ok(()));
        assert_eq!(check("sh", None, &BTreeMap::new()), Ok(()));
        assert!(check("sh", Some(Path::new("/nowhere")), &path).unwrap_err().contains("`/nowhere`"));
    }
}
