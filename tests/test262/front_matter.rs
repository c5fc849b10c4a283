//! Front matter parser: the subset of YAML that test262 uses.

/// Metadata of a test, as far as a runner needs it.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter {
    pub(crate) flags: Vec<String>,
    pub(crate) includes: Vec<String>,
    pub(crate) features: Vec<String>,
    pub(crate) negative: Option<Negative>,
}

/// Expected failure of a test.
#[derive(Debug)]
pub(crate) struct Negative {
    /// `parse`, `resolution` or `runtime`.
    pub(crate) phase: String,
    /// The name of the error's constructor.
    pub(crate) error: String,
}

impl FrontMatter {
    /// Reads what stands between `/*---` and `---*/`.
    pub(crate) fn read(source: &str) -> FrontMatter {
        let text = source.split_once("/*---").and_then(|(_, rest)| rest.split_once("---*/"));
        let text = text.map_or("", |(text, _)| text);
        let list = |key| value(text, key).map(|value| items(&value)).unwrap_or_default();
        FrontMatter {
            flags: list("flags"),
            includes: list("includes"),
            features: list("features"),
            negative: value(text, "negative")
                .and_then(|value| Some(Negative { phase: word(&value, "phase:")?, error: word(&value, "type:")? })),
        }
    }

    pub(crate) fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }
}

/// Returns the text of a top-level key, up to the next one.
fn value(text: &str, key: &str) -> Option<String> {
    // Some tests end their lines with a carriage return alone.
    let mut lines = text.split(['\n', '\r']);
    let first = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let mut value = first.to_owned();
    for line in lines.take_while(|line| line.is_empty() || line.starts_with([' ', '\t', '-', '#', ']'])) {
        value.push('\n');
        value.push_str(line);
    }
    Some(value)
}

/// The items of `[a, b]`, or of lines that begin with a dash.
fn items(value: &str) -> Vec<String> {
    let lines = value.lines().map(|line| line.split(" #").next().unwrap_or_default().trim());
    let lines = lines.map(|line| line.strip_prefix("- ").unwrap_or(line));
    lines
        .flat_map(|line| line.split([',', '[', ']']))
        .map(|item| item.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

fn word(value: &str, key: &str) -> Option<String> {
    let rest = &value[value.find(key)? + key.len()..];
    rest.split([' ', '\n', ',', '}']).find(|word| !word.is_empty()).map(str::to_owned)
}
