//! Programs that definitions name, and whether their user accepted them.

use super::definitions::DefinitionFile;
use super::error::ProjectError;
use super::{Surroundings, definitions};
use crate::mcp::Acceptance;
use crate::package;
use crate::sandbox::label_of;
use crate::trust::Status;
use capability_gen::implementation::CommandTemplate;
use capability_gen::model::Module;
use std::path::{Path, PathBuf};

/// The programs that one definition names, and what its user must have accepted.
#[derive(Clone, Debug)]
pub struct DefinedCommands {
    /// The file, with the text that they were read from.
    pub acceptance: Acceptance,
    /// At least one.
    pub list: Vec<DefinedCommand>,
}

/// A program that answers one function.
#[derive(Clone, Debug)]
pub struct DefinedCommand {
    /// The function as scripts call it: `git.log`.
    pub label: String,
    /// What is started.
    pub template: CommandTemplate,
    /// The interface's full name.
    pub(crate) interface: String,
    /// The function as WIT names it.
    pub(crate) function: String,
}

impl DefinedCommands {
    /// Those of a file with this text; nothing where it names no program, or is no definition.
    pub fn read(file: &Path, text: &str) -> Option<DefinedCommands> {
        DefinedCommands::of(file, text, &definitions::compile_text(file, text).ok()?)
    }

    /// Those of a module that was compiled from this text. Nobody has accepted them yet.
    pub(super) fn of(file: &Path, text: &str, module: &Module) -> Option<DefinedCommands> {
        let list: Vec<DefinedCommand> = module
            .capabilities
            .iter()
            .flat_map(|capability| {
                package::commands(capability).map(|(function, template)| DefinedCommand {
                    label: label_of(&capability.export, &function.js_name, capability.is_single_function),
                    template: template.clone(),
                    interface: package::interface_name(module, &capability.interface),
                    function: function.wit_name.clone(),
                })
            })
            .collect();
        let acceptance = Acceptance { file: file.to_owned(), text: text.into(), status: Status::New };
        (!list.is_empty()).then_some(DefinedCommands { acceptance, list })
    }

    /// The folder that paths of commands are relative to: the one that the file really is in. A link to an accepted file
    /// must not start the programs of another folder.
    pub(crate) fn folder(&self) -> PathBuf {
        let file = &self.acceptance.file;
        let real = file.canonicalize().or_else(|_| std::path::absolute(file)).unwrap_or_else(|_| file.clone());
        real.parent().map(Path::to_owned).unwrap_or_default()
    }

    /// What their programs are: those that are named by a path or found in `PATH`, the folders that they start in, where
    /// many look for what to do, and the files among their arguments, such as a program for an interpreter.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let folder = self.folder();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut files = Vec::new();
        for DefinedCommand { template, .. } in &self.list {
            let place = template.cwd.as_ref().map_or_else(|| folder.clone(), |cwd| folder.join(cwd));
            match template.program.contains('/') {
                true => files.push(folder.join(&template.program)),
                false => files.extend(
                    std::env::split_paths(&path).map(|each| each.join(&template.program)).filter(|file| file.is_file()),
                ),
            }
            files.extend(template.words().skip(1).map(|word| place.join(word)).filter(|file| file.is_file()));
            files.extend(template.cwd.is_some().then_some(place));
        }
        files
    }
}

impl Surroundings {
    /// Finds out of definitions that name programs whether their user accepted them. Until then none is started.
    pub fn look_at(&self, definitions: &mut [DefinitionFile]) -> Result<(), ProjectError> {
        for commands in definitions.iter_mut().filter_map(|definition| definition.commands.as_mut()) {
            commands.acceptance = self.acceptance(&commands.acceptance.file, &commands.acceptance.text)?;
        }
        Ok(())
    }
}
