//! Models of an agent, in the order in which they are tried.

use super::super::error::quoted;
use super::super::models::check_model;
use super::super::names::check_name;
use super::super::reader::{Node, Result};

/// Maximum number of models that are tried: each failure costs its timeouts.
const MAX_MODELS: usize = 32;

/// A model at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    /// Name of the provider.
    pub provider: String,
    /// Name of the model there.
    pub model: String,
}

impl ModelChoice {
    /// Splits `provider/model` at its first slash: names of models may have more.
    pub fn parse(text: &str) -> Option<ModelChoice> {
        let (provider, model) = text.split_once('/')?;
        let is_filled = !provider.is_empty() && !model.is_empty();
        is_filled.then(|| ModelChoice { provider: provider.to_owned(), model: model.to_owned() })
    }

    /// Reads the models of an agent. An entry with `providers` stands for its model at each of them.
    pub(super) fn read_list(node: Node<'_>) -> Result<Vec<ModelChoice>> {
        let entries = node.list("a list of models", ModelChoice::read_entry)?;
        let mut choices: Vec<ModelChoice> = Vec::new();
        for choice in entries.into_iter().flatten() {
            // The second would only fail again.
            if choices.contains(&choice) {
                let label = format!("{}/{}", choice.provider, choice.model);
                return Err(node.error(format!("{} is listed twice", quoted(&label))).with_fix("keep one"));
            }
            choices.push(choice);
        }
        match choices.len() {
            0 => Err(node.error("the list is empty").with_fix("name a model, such as \"anthropic/claude-sonnet-5\"")),
            1..=MAX_MODELS => Ok(choices),
            _ => Err(node.error(format!("more than {MAX_MODELS} models"))),
        }
    }

    fn read_entry(node: Node<'_>) -> Result<Vec<ModelChoice>> {
        if node.value.is_object() {
            let object = node.object("a model and its providers", &["model", "providers"])?;
            let model = object.need("model", |node| {
                let name = node.filled_text("the name of a model")?;
                check_model(&node, name)?;
                Ok(name.to_owned())
            })?;
            let providers = object.need("providers", |node| node.list("a list of providers", read_provider))?;
            let choice = |provider| ModelChoice { provider, model: model.clone() };
            return Ok(providers.into_iter().map(choice).collect());
        }
        let text = node.filled_text("a model, such as \"anthropic/claude-sonnet-5\"")?;
        let Some(choice) = ModelChoice::parse(text) else {
            let error = node.error(format!("{} names no provider", quoted(text)));
            return Err(error.with_fix(format!("write `provider/{}`", text.trim_matches('/'))));
        };
        check_name(&node.path, "a provider", &choice.provider)?;
        check_model(&node, &choice.model)?;
        Ok(vec![choice])
    }
}

fn read_provider(node: Node<'_>) -> Result<String> {
    let name = node.filled_text("the name of a provider")?;
    check_name(&node.path, "a provider", name)?;
    Ok(name.to_owned())
}
