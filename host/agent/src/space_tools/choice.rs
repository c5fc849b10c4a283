//! Which mode suits a space: one tool a function, or programs.
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
use agent_spaces_types::standard::SPECIFIER as STANDARD_LIBRARY;
use std::collections::BTreeSet;

/// Most functions that are given to a model as tools of their own.
pub const MAX_DIRECT_FUNCTIONS: usize = 20;

/// Most tokens of such tools (`o200k_base`).
pub const MAX_DIRECT_TOKENS: usize = 4_000;

/// Chooses between [`ToolMode::Direct`] and [`ToolMode::Code`] by the number of functions and the tokens of their tools.
/// A space without functions still runs programs.
pub fn choose(functions: usize, tokens: usize) -> ToolMode {
    match (1..=MAX_DIRECT_FUNCTIONS).contains(&functions) && tokens <= MAX_DIRECT_TOKENS {
        true => ToolMode::Direct,
        false => ToolMode::Code,
    }
}

/// Returns true if tools show every module that programs can import, but for the standard library. Hand-written
/// interfaces have no schemas and cannot be tools.
pub(super) fn is_shown(tools: &Overview, programs: &Overview) -> bool {
    let shown: BTreeSet<&str> = tools.modules.iter().map(|module| module.module.as_str()).collect();
    programs.modules.iter().all(|module| module.module == STANDARD_LIBRARY || shown.contains(module.module.as_str()))
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
        assert!(is_shown(&tools, &overview(&["@capabilities/crm", STANDARD_LIBRARY])));
        assert!(!is_shown(&tools, &overview(&["@capabilities/crm", "@test/desk"])));
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
