//! `docs/embedding.md` quotes the examples of the library, which the build compiles.

use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Line of a quotation that stands for lines left out.
const LEFT_OUT: &str = "// …";

/// Lines without their indentation: the document has less of it.
fn flat(text: &str) -> String {
    text.lines().map(|line| line.trim().to_owned() + "\n").collect()
}

#[test]
fn rust_in_the_embedding_guide_is_quoted_from_the_examples() {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let folder = Path::new(ROOT).join("host/agent-spaces/examples");
    let examples: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| flat(&read(&entry.unwrap().path()))).collect();
    let guide = flat(&read(&Path::new(ROOT).join("docs/embedding.md")));
    let mut quoted = 0;
    for block in guide.split("```rust\n").skip(1) {
        let (code, _) = block.split_once("```").unwrap();
        for part in code.split(&format!("{LEFT_OUT}\n")) {
            assert!(examples.iter().any(|example| example.contains(part.trim())), "in no example:\n{part}");
            quoted += 1;
        }
    }
    assert!(quoted >= examples.len(), "{quoted} quotations of {} examples", examples.len());
}
