//! Entry of a list of capabilities: a path, a module or an MCP server.

use super::config_path::ConfigPath;
use super::error::{ConfigError, quoted};
use super::names::{check_name, is_name, is_scoped_module};
use super::reader::{Node, Result};
use capability_gen::sources::{Format, OperationFilter};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Entry of a list of capabilities.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// A definition in a file, or all those in a folder.
    Path {
        /// File or folder, relative to the configuration's own.
        path: String,
        /// Name of the module, overriding the definition's.
        module: Option<String>,
        /// Format, overriding detection.
        format: Option<Format>,
        /// Filter for the operations of an OpenAPI document.
        operations: OperationFilter,
    },
    /// A module by name: `@company/internal-sdk`.
    Module(String),
    /// A configured MCP server: `mcp:slack`.
    Mcp(String),
    /// All configured MCP servers: `mcp:*`.
    AllMcp,
}

const FORMATS: [(&str, Format); 5] = [
    ("openapi", Format::OpenApi),
    ("mcp", Format::Mcp),
    ("openai", Format::OpenAi),
    ("anthropic", Format::Anthropic),
    ("tool", Format::Tool),
];

/// Error of parsing an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {fix}")]
pub struct EntryError {
    /// The fault.
    pub message: String,
    /// The fix.
    pub fix: String,
}

impl std::str::FromStr for Entry {
    type Err = EntryError;

    /// Parses an entry in its short form.
    fn from_str(text: &str) -> std::result::Result<Entry, EntryError> {
        let refuse = |what: &str, fix: &str| {
            Err(EntryError { message: format!("{} is not {what}", quoted(text)), fix: fix.to_owned() })
        };
        if let Some(server) = text.strip_prefix("mcp:") {
            return match is_name(server) {
                _ if server == "*" => Ok(Entry::AllMcp),
                true => Ok(Entry::Mcp(server.to_owned())),
                false => refuse(
                    "the name of an MCP server",
                    "write `mcp:` and the server's name, such as `mcp:slack`, or `mcp:*` for all servers",
                ),
            };
        }
        if text.starts_with('@') {
            return match is_scoped_module(text) {
                true => Ok(Entry::Module(text.to_owned())),
                false => refuse("the name of a module", "write scope and name, such as `@company/internal-sdk`"),
            };
        }
        if looks_like_path(text) && !text.contains('\0') {
            let (module, format, operations) = (None, None, OperationFilter::default());
            return Ok(Entry::Path { path: text.to_owned(), module, format, operations });
        }
        refuse(
            "a capability",
            "write `./file` or `./folder` for a path, `@scope/name` for a module, `mcp:name` for an MCP server",
        )
    }
}

/// Returns true if a text is certainly a path. A bare word is not: it may be a misspelt module or server.
pub(super) fn looks_like_path(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive =
        bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'/' | b'\\');
    let starts = ["./", "../", "/", "~/", ".\\", "..\\", "\\", "${"];
    drive || starts.iter().any(|start| text.starts_with(start))
}

impl Entry {
    pub(super) fn read(node: Node<'_>) -> Result<Entry> {
        match node.value {
            Value::String(text) => {
                text.parse().map_err(|EntryError { message, fix }| node.error(message).with_fix(fix))
            }
            Value::Object(_) => {
                let object = node.object("a capability", &["path", "as", "format", "operations"])?;
                let module = |node: Node<'_>| {
                    let name = node.filled_text("the name of a module")?;
                    check_name(&node.path, "a module", name).map(|()| name.to_owned())
                };
                Ok(Entry::Path {
                    path: object.need("path", |node| node.filled_text("a path").map(str::to_owned))?,
                    module: object.read("as", module)?,
                    format: object.read("format", |node| node.choice("format", &FORMATS))?,
                    operations: object.read("operations", operations)?.unwrap_or_default(),
                })
            }
            _ => Err(node.expected("a capability: a string or an object with a `path`")),
        }
    }

    /// Reads a list; refuses duplicates.
    pub(super) fn read_list(node: Node<'_>) -> Result<Vec<Entry>> {
        let mut seen = HashMap::new();
        node.list("a list of capabilities", |item| {
            let entry = Entry::read(item)?;
            match seen.insert(entry.clone(), item.path.to_string()) {
                None => Ok(entry),
                Some(first) => Err(duplicate(&item.path, &entry, &first)),
            }
        })
    }
}

fn operations(node: Node<'_>) -> Result<OperationFilter> {
    let patterns = node.list("a list of operations", |item| item.filled_text("an operation").map(str::to_owned))?;
    if patterns.is_empty() {
        return Err(node.error("it selects no operation").with_fix("remove it, or name those that scripts need"));
    }
    OperationFilter::new(patterns).map_err(|(index, message)| {
        node.error(format!("[{index}]: {message}")).with_fix("select by tag or path, or split the document")
    })
}

fn duplicate(path: &ConfigPath<'_>, entry: &Entry, first: &str) -> ConfigError {
    path.error(format!("{} is already listed at {first}", quoted(&entry.to_string()))).with_fix("keep one")
}

/// Formats the entry as it is written in a list.
impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Path { path: name, .. } | Entry::Module(name) => formatter.write_str(name),
            Entry::Mcp(server) => write!(formatter, "mcp:{server}"),
            Entry::AllMcp => formatter.write_str("mcp:*"),
        }
    }
}

/// Reads `capabilities.registry`: paths by module name.
pub(super) fn read_registry(node: Node<'_>) -> Result<BTreeMap<String, String>> {
    node.map("an object of module names and paths", |name, node| {
        if !is_scoped_module(name) {
            let error = node.error(format!("{} cannot be the name of a module", quoted(name)));
            return Err(error.with_fix("write scope and name, such as `@company/internal-sdk`"));
        }
        if name.starts_with("@agent-spaces/") {
            let error = node.error(format!("{} is in a reserved scope", quoted(name)));
            return Err(error.with_fix("choose a scope of your own, such as `@company`"));
        }
        node.filled_text("a path").map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use crate::entry::{Entry, Format, OperationFilter};
    use crate::{Config, from_value};
    use serde_json::{Value, json};

    fn path(path: &str) -> Entry {
        Entry::Path { path: path.into(), module: None, format: None, operations: OperationFilter::default() }
    }

    fn read(capabilities: Value) -> Result<Config, String> {
        from_value("f", json!({ "capabilities": capabilities })).map_err(|error| error.to_string())
    }

    #[test]
    fn the_global_list_takes_paths_modules_and_servers() {
        let config = read(json!({ "global": [
            "@agent-spaces/std", "./capabilities/company-sdk", "./weather.json", "mcp:slack", "@company/internal-sdk",
            { "path": "x.json", "as": "weather", "format": "openapi", "operations": ["tag:now"] }, { "path": "./y.json" }, "${ROOT}/z", "C:\\tools\\x"
        ] }));
        let named = Entry::Path {
            path: "x.json".into(),
            module: Some("weather".into()),
            format: Some(Format::OpenApi),
            operations: OperationFilter::new(vec!["tag:now".into()]).unwrap(),
        };
        let expected = [
            Entry::Module("@agent-spaces/std".into()),
            path("./capabilities/company-sdk"),
            path("./weather.json"),
            Entry::Mcp("slack".into()),
            Entry::Module("@company/internal-sdk".into()),
            named,
            path("./y.json"),
            path("${ROOT}/z"),
            path("C:\\tools\\x"),
        ];
        assert_eq!(config.unwrap().global, expected);
    }

    #[test]
    fn an_invalid_entry_is_refused_with_the_valid_forms() {
        assert_eq!(
            read(json!({ "global": ["./a", "weather"] })).unwrap_err(),
            "f: $.capabilities.global[1]: `weather` is not a capability; write `./file` or `./folder` for a path, \
             `@scope/name` for a module, `mcp:name` for an MCP server"
        );
        for text in [
            "",
            "mcp:",
            "mcp:a b",
            "mcp:a*",
            "mcp:../x",
            "@company",
            "@a/b/c",
            "https://x/openapi.json",
            "./a\0",
            "..",
            " ./a",
        ] {
            let message = read(json!({ "global": [text] })).unwrap_err();
            assert!(message.starts_with("f: $.capabilities.global[0]: ") && message.contains("write "), "{message}");
        }
        for entry in [
            json!(1),
            json!(null),
            json!([]),
            json!({}),
            json!({ "path": "" }),
            json!({ "path": "x", "as": "a b" }),
            json!({ "path": "x", "operations": [] }),
            json!({ "path": "x", "operations": "tag:a" }),
            json!({ "path": "x", "operations": ["x".repeat(1000)] }),
        ] {
            assert!(read(json!({ "global": [entry] })).is_err(), "{entry}");
        }
        let format = read(json!({ "global": [{ "path": "x", "format": "opnapi" }] })).unwrap_err();
        assert_eq!(format, "f: $.capabilities.global[0].format: unknown format `opnapi`; did you mean `openapi`?");
    }

    #[test]
    fn a_duplicate_entry_is_refused_with_both_paths() {
        assert_eq!(
            read(json!({ "global": ["./x", "mcp:a", { "path": "./x" }] })).unwrap_err(),
            "f: $.capabilities.global[2]: `./x` is already listed at $.capabilities.global[0]; keep one"
        );
    }

    #[test]
    fn the_registry_names_modules_outside_our_own_scope() {
        let config = read(json!({ "registry": { "@company/internal-sdk": "./sdk" } })).unwrap();
        assert_eq!(config.registry["@company/internal-sdk"], "./sdk");
        for registry in
            [json!({ "sdk": "./x" }), json!({ "@agent-spaces/std": "./evil" }), json!({ "@a/b": 1 }), json!([])]
        {
            assert!(read(json!({ "registry": registry })).is_err(), "{registry}");
        }
    }

    #[test]
    fn entries_print_as_they_are_written() {
        for text in ["./x", "@company/sdk", "mcp:slack", "mcp:*"] {
            assert_eq!(text.parse::<Entry>().unwrap().to_string(), text);
        }
    }
}
