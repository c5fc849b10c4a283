//! Kind of provider of each function, as `spaces::assemble` chooses it, and the npm packages that providers need.

use super::{DefinedModule, DefinitionBody, DefinitionFile, npm_package};
use crate::error::ProjectError;
use agent_spaces_linker::package::PackageInterface;
use agent_spaces_providers::http;
use agent_spaces_types::provider_kind::ProviderKind;
use capability_gen::implementation::Implementation;
use capability_gen::model::Module;

impl DefinitionFile {
    /// Kind of provider of a function of a compiled interface; `None` if there is no provider.
    pub fn provider_kind(&self, interface: &PackageInterface, function: &str) -> Option<ProviderKind> {
        if self.agents.is_some() {
            return Some(ProviderKind::Agent);
        }
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

    /// npm packages that its provider needs: dependencies of its package, or imports of its handlers.
    pub fn dependencies(&self) -> Vec<String> {
        if let DefinitionBody::Module(module) = &self.body
            && let Some(package) = &module.recipe.package
        {
            return package.dependencies.clone();
        }
        self.handlers.as_deref().map(npm_package::imported).unwrap_or_default()
    }

    /// Compiles a module and adds its dependencies and the kind of provider of each function.
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

    /// Cache key of everything that its generated files depend on.
    pub fn output_key(&self, module: &DefinedModule) -> String {
        let kinds = module.outline.interfaces.iter().flat_map(|interface| {
            let kind = |function: &String| match self.provider_kind(interface, function) {
                Some(kind) => kind.to_string(),
                None => "nobody".to_owned(),
            };
            interface.functions.iter().map(kind).collect::<Vec<_>>()
        });
        let texts: Vec<String> = std::iter::once(module.key()).chain(kinds).chain(self.dependencies()).collect();
        crate::Outlines::key(texts.iter().map(String::as_str))
    }
}
