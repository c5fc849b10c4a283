//! Lists the files of the page, which `npm run build` writes, in a table.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

/// Relative to this crate's folder.
const FOLDER: &str = "dist";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={FOLDER}");
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?).join(FOLDER);
    let missing =
        |error: std::io::Error| format!("{}: {error}: run `npm ci && npm run build` in console/", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(missing)? {
        let path = entry?.path();
        // Files without an extension are not for browsers.
        if path.is_file() && path.extension().is_some() {
            files.push(path);
        }
    }
    files.sort();
    let mut table = "const TABLE: &[(&str, &[u8])] = &[\n".to_owned();
    for path in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file name is not UTF-8")?;
        let path = path.to_str().ok_or("the path is not UTF-8")?;
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    Ok(fs::write(out.join("table.rs"), table)?)
}
