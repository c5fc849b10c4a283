//! Choice of the tool mode: `direct`, one tool a function, or `code`, programs.
//!
//! Tools are sent with every request. Over the `tools/list` answers of 121 public servers a tool takes 193 tokens in the
//! median and 304 on average. The three tools of code mode take some 550 tokens with their instructions, and 33 for each
//! module; a task then looks functions up, which takes some 600 tokens for a search, 250 for the declaration of each
//! function, and two more requests. So a list of up to some 2,500 tokens is cheaper, and one of up to 4,000 is worth the
//! two requests that it saves. 20 functions have about 4,000 tokens; beyond that number models choose worse, however short
//! the descriptions are. The test `measure` prints the numbers again.

use crate::definition::ToolMode;
use agent_spaces_models::Tool;
use agent_spaces_serve::Overview;
use agent_spaces_types::shown::Shown;
use agent_spaces_types::standard::SPECIFIER as STANDARD_LIBRARY;
use std::collections::BTreeSet;

/// Most functions that are given to a model as tools of their own.
pub const MAX_DIRECT_FUNCTIONS: usize = 20;

/// Most tokens of such tools (`o200k_base`).
pub const MAX_DIRECT_TOKENS: usize = 4_000;

/// Modules that a warning names.
const MAX_WARNED: usize = 10;

/// Chooses between [`ToolMode::Direct`] and [`ToolMode::Code`] by the number of functions and the tokens of their tools.
/// A space without functions still runs programs.
pub fn choose(functions: usize, tokens: usize) -> ToolMode {
    match (1..=MAX_DIRECT_FUNCTIONS).contains(&functions) && tokens <= MAX_DIRECT_TOKENS {
        true => ToolMode::Direct,
        false => ToolMode::Code,
    }
}

/// Modules that programs can import and that have no tools, but for the standard library. Hand-written WIT interfaces
/// have no JSON Schemas and cannot be tools.
pub(super) fn without_tools<'a>(tools: &Overview, programs: &'a Overview) -> Vec<&'a str> {
    let shown: BTreeSet<&str> = tools.modules.iter().map(|module| module.module.as_str()).collect();
    let modules = programs.modules.iter().map(|module| module.module.as_str());
    modules.filter(|module| *module != STANDARD_LIBRARY && !shown.contains(*module)).collect()
}

/// Warning about modules without tools, if there are any.
pub(super) fn warning(modules: &[&str]) -> Option<String> {
    if modules.is_empty() {
        return None;
    }
    let mut names: Vec<String> =
        modules.iter().take(MAX_WARNED).map(|module| String::from(Shown::line(module, 200))).collect();
    if modules.len() > MAX_WARNED {
        names.push("…".to_owned());
    }
    Some(format!(
        "`tools: direct` has no tools for {}: hand-written WIT interfaces have no JSON Schemas. Set `tools: code` for the \
         agent.",
        names.join(", ")
    ))
}

/// Counts the tokens of tools, as most providers put them before a model.
pub(super) fn tokens(tools: &[Tool]) -> usize {
    let count = |tool: &Tool| {
        let text = serde_json::to_string(tool).unwrap_or_default();
        bpe_openai::o200k_base().count(text.as_str())
    };
    tools.iter().map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_serve::ModuleOverview;
    use serde_json::json;

    #[test]
    fn few_functions_with_short_schemas_are_direct() {
        assert_eq!(choose(MAX_DIRECT_FUNCTIONS, MAX_DIRECT_TOKENS), ToolMode::Direct);
        assert_eq!(choose(MAX_DIRECT_FUNCTIONS + 1, 10), ToolMode::Code);
        assert_eq!(choose(2, MAX_DIRECT_TOKENS + 1), ToolMode::Code);
        assert_eq!(choose(0, 0), ToolMode::Code);
    }

    #[test]
    fn a_module_that_cannot_be_tools_asks_for_programs() {
        let overview = |modules: &[&str]| {
            let module = |name: &&str| ModuleOverview { module: (*name).to_owned(), functions: 1, names: Vec::new() };
            Overview { modules: modules.iter().map(module).collect(), ..Overview::default() }
        };
        let tools = overview(&["@capabilities/crm"]);
        assert!(without_tools(&tools, &overview(&["@capabilities/crm", STANDARD_LIBRARY])).is_empty());
        assert_eq!(without_tools(&tools, &overview(&["@capabilities/crm", "@test/desk"])), ["@test/desk"]);
        assert_eq!(warning(&[]), None);
        let many: Vec<String> = (0..1_000).map(|number| format!("@test/desk{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let text = warning(&many).unwrap();
        assert!(text.contains("@test/desk0, ") && text.contains("`tools: code`") && text.len() < 1_000, "{text}");
    }

    #[test]
    fn tokens_grow_with_schemas() {
        let tool = |description: &str| Tool {
            name: "search".into(),
            description: description.into(),
            parameters: json!({ "type": "object", "properties": { "query": { "type": "string" } } }),
        };
        let (short, long) = (tokens(&[tool("Searches.")]), tokens(&[tool(&"Searches all pages. ".repeat(100))]));
        assert!((15..60).contains(&short), "{short}");
        assert!((300..800).contains(&(long - short)), "{long}");
    }
}
