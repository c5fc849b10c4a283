//! Provider settings of the configuration (`providers`), assigned to definitions.

use super::DefinitionFile;
use crate::error::ProjectError;
use agent_spaces_config::{Config, Provider};
use agent_spaces_types::nearest::nearest;
use std::collections::BTreeSet;

/// Settings that the configuration grants the provider of one module.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfiguredGrants {
    /// The settings, if the configuration has any for the module.
    pub provider: Option<Provider>,
    /// True if the configuration was accepted. Without that the settings have no effect.
    pub is_accepted: bool,
}

/// Assigns the provider settings of the configuration to definitions. Refuses settings for an unknown module.
pub(crate) fn grant(
    definitions: &mut [DefinitionFile],
    config: &Config,
    is_accepted: bool,
) -> Result<(), ProjectError> {
    let mut known = BTreeSet::new();
    // Definitions of the working folder get no settings of the user's configuration, even if the name is the same.
    for definition in definitions.iter_mut().filter(|definition| !definition.is_for_all) {
        let names = definition.modules()?;
        let provider = names.iter().find_map(|name| config.providers.get(name)).cloned();
        definition.granted = ConfiguredGrants { provider, is_accepted };
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
