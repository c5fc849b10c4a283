//! What kind of thing answers the functions of a definition, as `spaces::assemble` will choose it, and what that needs.

use super::{DefinedModule, DefinitionBody, DefinitionFile, npm_package};
use crate::package::PackageInterface;
use crate::project::error::ProjectError;
use crate::providers::ProviderKind;
use agent_spaces_providers::http;
use capability_gen::implementation::Implementation;
use capability_gen::model::Module;

impl DefinitionFile {
    /// What kind of thing answers a function of a compiled interface; nothing where nobody does.
    pub fn provider_kind(&self, interface: &PackageInterface, function: &str) -> Option<ProviderKind> {
        let said = interface.implementations.get(function);
        if interface.commands.iter().any(|command| command == function) {
            return Some(ProviderKind::Command);
        }
        match said {
            Some(Implementation::Script(_)) => return Some(ProviderKind::Space),
            _ if self.handlers.is_some() => return Some(ProviderKind::TypeScript),
            Some(Implementation::Http(operation)) if http::origin(operation).is_some() => {
                return Some(ProviderKind::Http);
            }
            _ => {}
        }
        match (&interface.component, &self.server) {
            (Some(_), _) => Some(ProviderKind::Component),
            (None, Some(_)) => Some(ProviderKind::Mcp),
            (None, None) => None,
        }
    }

    /// The npm packages that what answers it needs: those that its package names, or that its handlers import.
    pub fn dependencies(&self) -> Vec<String> {
        if let DefinitionBody::Module(module) = &self.body
            && let Some(package) = &module.recipe.package
        {
            return package.dependencies.clone();
        }
        self.handlers.as_deref().map(npm_package::imported).unwrap_or_default()
    }

    /// Its compiled module with what is known of what answers it.
    pub fn described(&self, module: &DefinedModule) -> Result<Module, ProjectError> {
        let mut compiled = module.compile()?;
        compiled.dependencies = self.dependencies();
        let tools = module.outline.interfaces.iter().filter(|interface| interface.part.is_none());
        for (capability, interface) in compiled.capabilities.iter_mut().zip(tools) {
            for function in &mut capability.functions {
                function.provider = self.provider_kind(interface, &function.wit_name);
            }
        }
        Ok(compiled)
    }

    /// Stands for everything that its outputs depend on.
    pub(crate) fn output_key(&self, module: &DefinedModule) -> String {
        let kinds = module.outline.interfaces.iter().flat_map(|interface| {
            let kind = |function: &String| match self.provider_kind(interface, function) {
                Some(kind) => kind.to_string(),
                None => "nobody".to_owned(),
            };
            interface.functions.iter().map(kind).collect::<Vec<_>>()
        });
        let texts: Vec<String> = std::iter::once(module.key()).chain(kinds).chain(self.dependencies()).collect();
        crate::project::Outlines::key(texts.iter().map(String::as_str))
    }
}
