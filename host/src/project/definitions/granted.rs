//! What a configuration gives to what answers modules.

use super::DefinitionFile;
use crate::config::{Config, Provider};
use crate::project::error::ProjectError;
use capability_gen::names::nearest;
use std::collections::BTreeSet;

/// What a configuration gives to what answers a module, and whether its user accepted that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granted {
    /// What it says; nothing where it says nothing.
    pub(crate) provider: Option<Provider>,
    /// Whether it was accepted. Before that nothing is given.
    pub(crate) is_accepted: bool,
}

/// Gives to what answers modules what the configuration has for them.
pub(in crate::project) fn grant(
    definitions: &mut [DefinitionFile],
    config: &Config,
    is_accepted: bool,
) -> Result<(), ProjectError> {
    let mut known = BTreeSet::new();
    // What a folder brings is not what the configuration means, whatever it is called.
    for definition in definitions.iter_mut().filter(|definition| !definition.is_for_all) {
        let names = definition.modules()?;
        let provider = names.iter().find_map(|name| config.providers.get(name)).cloned();
        definition.granted = Granted { provider, is_accepted };
        known.extend(names);
    }
    let Some((name, provider)) = config.providers.iter().find(|(name, _)| !known.contains(*name)) else {
        return Ok(());
    };
    let near = nearest(name, known.iter().map(String::as_str));
    Err(ProjectError::Unknown {
        place: format!("{}: {}", config.file, provider.place),
        message: format!("there is no module `{name}`"),
        fix: near.map_or_else(|| "Remove it".to_owned(), |near| format!("Did you mean `{near}`?")),
    })
}
