//! Programs that definitions run, and the acceptance that they need.

use crate::trust::{Acceptance, Status};
use agent_spaces_linker::package;
use agent_spaces_types::function::label_of;
use capability_gen::implementation::CommandTemplate;
use capability_gen::model::Module;
use std::path::{Path, PathBuf};

/// Programs that one definition runs, with the acceptance that they need.
#[derive(Clone, Debug)]
pub struct DefinedCommands {
    /// The definition file, with the text that was read.
    pub acceptance: Acceptance,
    /// The programs; at least one.
    pub list: Vec<DefinedCommand>,
}

/// A program that answers one function.
#[derive(Clone, Debug)]
pub struct DefinedCommand {
    /// The function as scripts call it: `git.log`.
    pub label: String,
    /// Command line with placeholders for parameters.
    pub template: CommandTemplate,
    /// Full name of the interface.
    pub interface: String,
    /// The function's WIT name.
    pub function: String,
}

impl DefinedCommands {
    /// Programs of a module that was compiled from this text, not accepted yet.
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

    /// Folder that paths of commands are relative to: the parent of the file after resolving symlinks. A link to an
    /// accepted file must not start the programs of another folder.
    pub fn folder(&self) -> PathBuf {
        let file = &self.acceptance.file;
        let real = file.canonicalize().or_else(|_| std::path::absolute(file)).unwrap_or_else(|_| file.clone());
        real.parent().map(Path::to_owned).unwrap_or_default()
    }

    /// Files that decide what the programs do: the programs themselves, by path or from `PATH`; their working
    /// directories, where many look for configuration; and files among their arguments, such as an interpreter's
    /// script.
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
