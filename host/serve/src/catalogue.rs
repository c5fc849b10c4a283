//! Catalogue of the functions of a space: search, declarations, WIT.

use super::cards::{Card, cards, declared_cards};
use super::declarations::{Declaration, ServerParts, declare, wit};
use super::dts_parser::DeclaredModule;
use super::embedding::Embedder;
use super::function_details::{FunctionDetails, details};
use super::offer_error::OfferError;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_policy::FunctionId;
use agent_spaces_project::{DefinedModule, DefinitionBody, DefinitionFile, Outlines, ProjectError};
use agent_spaces_search::{Document, Index, Parameter, SUMMARY_CHARACTERS, Sentences};
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::standard;
use capability_gen::model::Module;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// Maximum number of unknown names per request that get a suggestion: each takes milliseconds with thousands of
/// functions.
const MAX_CORRECTED: usize = 10;

/// Functions of a space, with their search index.
pub struct Catalogue {
    cards: Vec<Card>,
    index: Index,
    /// Embeddings of the functions, once they are computed.
    sentences: Arc<OnceLock<Sentences>>,
    modules: Vec<KnownModule>,
}

/// Module that programs can import.
struct KnownModule {
    specifier: String,
    body: ModuleBody,
}

enum ModuleBody {
    /// Compiled from its definition on first use.
    Compiled(Box<CompiledModule>),
    /// Declarations and WIT given as text.
    Declared { text: String, wit: String },
}

struct CompiledModule {
    defined: DefinedModule,
    compiled: OnceLock<Arc<Module>>,
}

/// Result of [`Catalogue::describe`].
pub(super) struct Described {
    /// Declarations, one per module.
    pub(super) declared: Vec<Declaration>,
    /// Functions that match the names.
    pub(super) functions: Vec<Card>,
    /// Unknown names; the first ones with the nearest known name.
    pub(super) unknown: Vec<(String, Option<String>)>,
}

impl Catalogue {
    /// Builds the catalogue of definitions and of the available parts of the standard library. Compiled cards are
    /// cached by the hash of their source.
    pub fn of(
        definitions: Vec<DefinitionFile>,
        has_part: impl Fn(&str) -> bool,
        outlines: &Outlines,
    ) -> Result<Catalogue, OfferError> {
        let mut catalogue = CatalogueBuilder { cards: Vec::new(), keys: Vec::new(), modules: Vec::new(), outlines };
        for definition in definitions {
            match definition.body {
                DefinitionBody::Module(module) => catalogue.compiled(module)?,
                DefinitionBody::Wit(text) => catalogue.by_hand(&definition.path.display().to_string(), text)?,
            }
        }
        catalogue.standard(has_part)?;
        catalogue.finish()
    }

    /// Returns the best matches among the visible functions.
    pub fn search(&self, query: &str, limit: usize, is_visible: impl Fn(&Card) -> bool) -> Vec<&Card> {
        let is_visible = |number: usize| self.cards.get(number).is_some_and(&is_visible);
        let hits = self.index.search_with(self.sentences.get(), query, limit, is_visible);
        hits.into_iter().filter_map(|hit| self.cards.get(hit.document)).collect()
    }

    /// Starts to compute embeddings in the background; search uses them once they are complete.
    pub(super) fn embed_with(&self, embedder: &Embedder) {
        embedder.start(self.cards.iter().map(beginning).collect(), &self.sentences);
    }

    /// Iterates over the visible functions.
    pub fn cards<'a>(&'a self, is_visible: impl Fn(&Card) -> bool + 'a) -> impl Iterator<Item = &'a Card> {
        self.cards.iter().filter(move |card| is_visible(card))
    }

    /// Returns the declarations of functions, capabilities or modules by name.
    pub(super) fn describe(
        &self,
        names: &[String],
        is_visible: impl Fn(&Card) -> bool,
    ) -> Result<Described, ProjectError> {
        let (mut wanted, mut unknown) = (BTreeSet::new(), Vec::new());
        let visible: Vec<&Card> = self.cards(is_visible).collect();
        for name in names {
            let of = |is_meant: &dyn Fn(&Card) -> bool| -> Vec<(&str, &str)> {
                let meant = visible.iter().filter(|card| is_meant(card));
                meant.map(|card| (card.module.as_str(), card.label.as_str())).collect()
            };
            let mut found = of(&|card| card.matches(name));
            if found.is_empty() {
                // A name without its capability matches in every capability that has it.
                found = of(&|card| card.member() == name);
            }
            if found.is_empty() {
                let is_corrected = unknown.len() < MAX_CORRECTED;
                let labels = || visible.iter().map(|card| card.label.as_str());
                let near = is_corrected.then(|| nearest(name, labels())).flatten();
                unknown.push((name.clone(), near.map(str::to_owned)));
            }
            wanted.extend(found);
        }
        let mut declared = Vec::new();
        for module in &self.modules {
            // Match the module too: of two functions with the same label, one may be hidden.
            let specifier = module.specifier.as_str();
            declared.extend(module.declare(ServerParts::IfComplete, |label| wanted.contains(&(specifier, label)))?);
        }
        let functions = visible
            .into_iter()
            .filter(|card| wanted.contains(&(card.module.as_str(), card.label.as_str())))
            .cloned()
            .collect();
        Ok(Described { declared, functions, unknown })
    }

    /// Returns the labels of hidden functions of these modules.
    pub(super) fn hidden(&self, modules: &BTreeSet<String>, is_visible: impl Fn(&Card) -> bool) -> BTreeSet<String> {
        let own = self.cards.iter().filter(|card| modules.contains(&card.module) && !is_visible(card));
        own.map(|card| card.label.clone()).collect()
    }

    /// Returns the modules that have visible functions, in order.
    pub(super) fn modules(&self, is_visible: impl Fn(&Card) -> bool) -> Vec<&str> {
        let seen: BTreeSet<&str> = self.cards(is_visible).map(|card| card.module.as_str()).collect();
        let known = self.modules.iter().map(|module| module.specifier.as_str());
        known.filter(|specifier| seen.contains(specifier)).collect()
    }

    /// Returns the TypeScript declarations of the visible functions of a module.
    pub fn declarations(
        &self,
        specifier: &str,
        is_visible: impl Fn(&Card) -> bool,
    ) -> Result<Option<String>, ProjectError> {
        let Some((module, seen)) = self.seen(specifier, is_visible) else { return Ok(None) };
        Ok(module.declare(ServerParts::Always, |label| seen.contains(label))?.map(|declared| declared.dts))
    }

    /// Returns the WIT of the visible functions of a module. Hand-written WIT is returned only if all its functions are
    /// visible.
    pub fn wit(&self, specifier: &str, is_visible: impl Fn(&Card) -> bool) -> Result<Option<String>, ProjectError> {
        let Some((module, seen)) = self.seen(specifier, is_visible) else { return Ok(None) };
        let is_whole =
            self.cards.iter().filter(|card| card.module == specifier).all(|card| seen.contains(card.label.as_str()));
        Ok(match &module.body {
            ModuleBody::Compiled(module) => wit(&*module.compiled()?, |label| seen.contains(label)),
            // Hand-written WIT cannot be filtered.
            ModuleBody::Declared { wit, .. } => is_whole.then(|| wit.clone()),
        })
    }

    /// Returns the schemas of the visible functions of a module, by label. Hand-written WIT and the standard library have
    /// none.
    pub fn details(
        &self,
        specifier: &str,
        is_visible: impl Fn(&Card) -> bool,
    ) -> Result<BTreeMap<String, FunctionDetails>, ProjectError> {
        let Some((module, seen)) = self.seen(specifier, is_visible) else { return Ok(BTreeMap::new()) };
        Ok(match &module.body {
            ModuleBody::Compiled(module) => details(&*module.compiled()?, |label| seen.contains(label)),
            ModuleBody::Declared { .. } => BTreeMap::new(),
        })
    }

    /// Returns a module and the labels of its visible functions, if there are any.
    fn seen(&self, specifier: &str, is_visible: impl Fn(&Card) -> bool) -> Option<(&KnownModule, BTreeSet<&str>)> {
        let module = self.modules.iter().find(|module| module.specifier == specifier)?;
        let own = self.cards.iter().filter(|card| card.module == specifier && is_visible(card));
        let seen: BTreeSet<&str> = own.map(|card| card.label.as_str()).collect();
        (!seen.is_empty()).then_some((module, seen))
    }
}

impl KnownModule {
    /// Returns the declarations of the functions with these labels, or `None` if it has none of them.
    fn declare(
        &self,
        parts: ServerParts,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Declaration>, ProjectError> {
        match &self.body {
            ModuleBody::Compiled(module) if module.defined.outline.function_labels().any(|label| is_wanted(&label)) => {
                Ok(declare(&*module.compiled()?, parts, is_wanted))
            }
            ModuleBody::Compiled(_) => Ok(None),
            ModuleBody::Declared { text, .. } => {
                Ok(DeclaredModule::read(text).and_then(|module| module.declare(is_wanted)))
            }
        }
    }
}

impl CompiledModule {
    fn compiled(&self) -> Result<Arc<Module>, ProjectError> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled.clone());
        }
        let compiled = Arc::new(self.defined.compile()?);
        Ok(self.compiled.get_or_init(|| compiled).clone())
    }
}

/// Builder of a catalogue.
struct CatalogueBuilder<'a> {
    cards: Vec<Card>,
    /// Cache keys of everything that the cards depend on.
    keys: Vec<String>,
    modules: Vec<KnownModule>,
    outlines: &'a Outlines,
}

impl CatalogueBuilder<'_> {
    fn compiled(&mut self, module: Box<DefinedModule>) -> Result<(), OfferError> {
        let key = format!("{}.cards", module.key());
        let known = match self.outlines.read(&key) {
            Some(known) => known,
            None => {
                let made = cards(&module.compile()?);
                self.outlines.write(&key, &made);
                made
            }
        };
        self.cards.extend(known);
        self.keys.push(key);
        let specifier = module.outline.specifier.clone();
        let module = CompiledModule { defined: *module, compiled: OnceLock::new() };
        self.modules.push(KnownModule { specifier, body: ModuleBody::Compiled(Box::new(module)) });
        Ok(())
    }

    fn by_hand(&mut self, file: &str, wit: String) -> Result<(), OfferError> {
        let fail = |error| OfferError::Project(ProjectError::from(error));
        let mut interfaces = Interfaces::new().map_err(fail)?;
        interfaces.add(file, &wit).map_err(fail)?;
        for (module, text) in interfaces.declarations() {
            self.declared(text, wit.clone(), |export, member| interfaces.member(&module, export, member));
        }
        Ok(())
    }

    fn standard(&mut self, has_part: impl Fn(&str) -> bool) -> Result<(), OfferError> {
        let fail = |error| OfferError::Project(ProjectError::from(error));
        let mut interfaces = Interfaces::new().map_err(fail)?;
        interfaces.add_standard().map_err(fail)?;
        self.declared(
            agent_spaces_std::TYPES.to_owned(),
            agent_spaces_linker::standard_wit::WIT.to_owned(),
            |export, member| interfaces.member(standard::SPECIFIER, export, member).filter(|_| has_part(export)),
        );
        Ok(())
    }

    fn declared(&mut self, text: String, wit: String, identify: impl Fn(&str, &str) -> Option<FunctionId>) {
        let Some(module) = DeclaredModule::read(&text) else { return };
        let cards = declared_cards(&module, identify);
        self.keys.extend(cards.iter().map(|card| format!("{} {}", card.label, card.description)));
        self.cards.extend(cards);
        let specifier = module.specifier.to_owned();
        self.modules.push(KnownModule { specifier, body: ModuleBody::Declared { text, wit } });
    }

    fn finish(self) -> Result<Catalogue, OfferError> {
        let key = format!("{}.index", Outlines::key(self.keys.iter().map(String::as_str)));
        let kept = self.outlines.read_bytes(&key).and_then(|bytes| Index::from_bytes(&bytes).ok());
        let index = match kept.filter(|index| index.len() == self.cards.len()) {
            Some(index) => index,
            None => {
                let index = Index::build(&self.cards.iter().map(document).collect::<Vec<_>>())?;
                self.outlines.write_bytes(&key, &index.to_bytes());
                index
            }
        };
        Ok(Catalogue { cards: self.cards, index, sentences: Arc::default(), modules: self.modules })
    }
}

/// Returns the part of a card that the embedding model reads.
fn beginning(card: &Card) -> Document {
    Document {
        server: card.capability.clone(),
        name: card.name.clone(),
        title: card.title.clone().unwrap_or_default(),
        description: card.description.chars().take(SUMMARY_CHARACTERS).collect(),
        parameters: Vec::new(),
    }
}

fn document(card: &Card) -> Document {
    let parameter =
        |(name, description): &(String, String)| Parameter { name: name.clone(), description: description.clone() };
    Document {
        server: card.capability.clone(),
        name: card.name.clone(),
        title: card.title.clone().unwrap_or_default(),
        description: card.description.clone(),
        parameters: card.parameters.iter().map(parameter).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::catalogue::{Catalogue, MAX_CORRECTED};
    use agent_spaces_search::Index;
    use serde_json::json;

    #[test]
    fn only_the_first_unknown_names_get_a_suggestion() {
        let card = |number: usize| {
            serde_json::from_value(json!({
                "module": "@capabilities/mcp-crm", "capability": "crm", "label": format!("crm.listTickets{number}"),
                "name": format!("list_tickets_{number}"), "title": null, "signature": "", "description": "",
                "parameters": [], "example": "", "id": format!("capabilities:mcp-crm/crm@1.0.0#list-tickets-{number}"),
                "requires_approval": null, "scopes": [], "is_server_tool": true, "is_read_only": true,
            }))
            .unwrap()
        };
        let cards = (0..1_000).map(card).collect();
        let index = Index::build(&[]).unwrap();
        let catalogue = Catalogue { cards, index, sentences: std::sync::Arc::default(), modules: Vec::new() };
        let names: Vec<String> = (0..100).map(|number| format!("crm.lisTickets{number}")).collect();
        let described = catalogue.describe(&names, |_| true).unwrap();
        assert_eq!(described.unknown.len(), 100);
        assert_eq!(described.unknown[0].1.as_deref(), Some("crm.listTickets0"));
        assert_eq!(described.unknown.iter().filter(|(_, near)| near.is_some()).count(), MAX_CORRECTED);
    }
}
