//! Documented error codes match those of the program.

use agent_spaces::Code;
use std::fmt::Write as _;
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference-codes.md");

/// Set to write the table instead of comparing it.
const RECORD: &str = "AGENT_SPACES_RECORD_DOCS";

const HEAD: &str = "| code | meaning | seen by | exit status |\n|---|---|---|---:|\n";

fn table() -> String {
    let mut table = HEAD.to_owned();
    for code in Code::ALL {
        let seen_by: Vec<&str> = code.audience().iter().map(|audience| audience.name()).collect();
        let status = match seen_by.as_slice() {
            ["MCP client"] => String::new(),
            _ => code.exit_status().to_string(),
        };
        writeln!(table, "| `{code}` | {} | {} | {status} |", code.meaning(), seen_by.join(", ")).unwrap();
    }
    table
}

#[test]
fn the_documented_codes_are_the_codes_of_the_program() {
    let page = fs::read_to_string(PAGE).unwrap();
    let start = page.find(HEAD).expect("the page has the table");
    let length = page[start..].find("\n\n").map_or(page.len() - start, |end| end + 1);
    let (before, after) = (&page[..start], &page[start + length..]);
    let written = format!("{before}{}{after}", table());
    if std::env::var_os(RECORD).is_some() {
        fs::write(PAGE, &written).unwrap();
    }
    assert!(written == page || std::env::var_os(RECORD).is_some(), "run the test with {RECORD}=1 to write the table");
}
